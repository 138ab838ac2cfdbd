#!/usr/bin/env python3
"""Makes the seed corpora of the fuzz targets: make_seeds.py DIRECTORY

One directory per target, from configs/ and results/. Results are cut to a few points, because a fuzzer changes small
inputs faster and further."""

import csv
import io
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def cut_json(text, points):
    """A result file of its first points."""
    results = json.loads(text)
    results["points"] = results["points"][:points]
    results["plan"]["points"] = results["plan"]["points"][:points]
    results["environment"]["wall_seconds"] = results["environment"]["wall_seconds"][:points]
    for point in results["points"]:
        point["sites"] = point["sites"][:2]
        point["analysis"] = None
        if point["timing"]:
            point["timing"]["samples_us"] = point["timing"]["samples_us"][:5]
    return results


def journal(results):
    """The same run before it was finished."""
    header = {key: results[key] for key in ("schema_version", "plan", "device", "environment")}
    header["environment"] = dict(header["environment"], wall_seconds=[])
    lines = [header] + [{"point": point, "wall_seconds": 0.5} for point in results["points"]]
    return "".join(json.dumps(line) + "\n" for line in lines)


def cut_csv(text, rows):
    """The header and the first rows, cells with line ends included."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for _, row in zip(range(rows + 1), csv.reader(io.StringIO(text, newline=""))):
        writer.writerow(row)
    return out.getvalue()


# The first byte by which tests/fuzz/command_line.cpp tells the flags apart.
FLAGS = {"filter": "f", "set": "s", "schedule": "r", "fail-on": "v", "allow": "a", "tolerance": "t", "min-change": "m"}


def flags():
    """Values of flags in the documents and the tests."""
    paths = [*(ROOT / "docs").glob("*.md"), *(ROOT / "tests" / "cli").glob("*.cpp")]
    values = {"rrandom:7", "vslower,traffic,missing", "fn=1,2\nlab/*", "sn=1,2\nTILE=8"}
    for path in paths:
        found = re.findall(rf"--({'|'.join(FLAGS)})[ \",]+'?([^'\"`\n]+)", path.read_text(encoding="utf-8"))
        values.update(FLAGS[flag] + value.strip() for flag, value in found)
    return sorted(values)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    count = 0

    def seed(name, text):
        nonlocal count
        folder = target / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"seed{count:03}").write_bytes(text.encode() if isinstance(text, str) else text)
        count += 1

    lab = (ROOT / "tests" / "experiment" / "plan_test.cpp").read_text(encoding="utf-8")
    for text in re.findall(r'R"\((\{.*?\})\)"', lab, flags=re.S):
        seed("experiment", text)
    for path in sorted((ROOT / "configs").glob("*.json")):
        seed("experiment", path.read_bytes())
    for path in sorted((ROOT / "configs" / "devices").glob("*.json")):
        seed("device", path.read_bytes())
    for path in sorted((ROOT / "configs" / "matrices").glob("*.mtx")):
        seed("matrix_market", path.read_bytes())
    patterns = (ROOT / "configs" / "patterns" / "h200_access_patterns.csv").read_text(encoding="utf-8")
    header, *rows = patterns.splitlines(keepends=True)
    for first in range(0, len(rows), 9):
        seed("access_patterns", header + "".join(rows[first:first + 3]))
    for path in sorted((ROOT / "results").glob("*/*.cuda.json")):
        results = cut_json(path.read_text(encoding="utf-8"), 2)
        seed("result_json", json.dumps(results))
        seed("result_json", journal(results))
    for path in sorted((ROOT / "results").glob("*/*.[cs]*.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            text = cut_csv(file.read(), 2)
        seed("result_csv", text)
        seed("diff", text)
    for text in ("-\nxterm-256color\n-\n-\n-\n-\n", "1\ndumb\n/opt/tool.so\n-\n-\n10.0.0.1\n",
                 "\n\n-\n/x/nvtx.so\n/opt/nsight/lib.so:/usr/lib/libsanitizer.so\n-\n"):
        seed("environment", text)
    for text in flags():
        seed("command_line", text)
    print(f"{count} seeds in {target}")


if __name__ == "__main__":
    main()
