#!/usr/bin/env python3
"""llvm-cov's summary (JSON on standard input) as a table of rooms."""

import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def room(path):
    parts = path.relative_to(ROOT).parts
    deep = parts[:2] == ("profiler", "backend") and len(parts) > 3
    return "/".join(parts[:3] if deep else parts[:2])


def main():
    totals = collections.defaultdict(lambda: [0, 0, 0, 0])
    for entry in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(entry["filename"]).resolve()
        if ROOT not in path.parents or path.relative_to(ROOT).parts[0] not in ("apps", "kernels", "profiler"):
            continue
        summary = entry["summary"]
        row = [summary[kind][what] for kind in ("lines", "regions") for what in ("covered", "count")]
        for name in (room(path), "all"):
            totals[name] = [a + b for a, b in zip(totals[name], row)]
    print(f"{'':24}  {'lines':>7}  {'':>7}  {'regions':>7}")
    for name in sorted(totals, key=lambda name: (name == "all", name)):
        covered, lines, regions_covered, regions = totals[name]
        shares = [100 * covered / max(lines, 1), 100 * regions_covered / max(regions, 1)]
        print(f"{name:24}  {lines:7}  {shares[0]:6.1f}%  {shares[1]:6.1f}%")


if __name__ == "__main__":
    main()
