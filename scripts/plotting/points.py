"""Which points are drawn, and the words and numbers that they are shown with."""

import fnmatch
import itertools
import math
import os
import re
import textwrap

from plotting.results import BASES, PlotError, cell_value

CONFLICTS = ["shared_load_bank_conflicts", "shared_store_bank_conflicts", "shared_atomic_bank_conflicts"]


def passes(point, words):
    for word in words:
        name, equals, values = word.partition("=")
        if not equals:
            if not any(fnmatch.fnmatchcase(point.variant, glob) for glob in name.split(",")):
                return False
        elif text_of(point.params.get(name)) not in values.split(","):
            return False
    return True


def text_of(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_filter(points, words):
    for word in words:
        if not any(passes(point, [word]) for point in points):
            name = word.partition("=")[0]
            known = ({text_of(p.params[name]) for p in points if name in p.params} if "=" in word
                     else {p.variant for p in points})
            known = in_order(known) or sorted({k for p in points for k in p.params})
            raise PlotError(f"--filter {word}: matches no point; there are {', '.join(known)}")


def in_order(texts):
    """Numbers by their value, before words."""
    def key(text):
        value = cell_value(text)
        return (1, 0, text) if isinstance(value, str) else (0, value, text)
    return sorted(texts, key=key)


def usable_points(runs, filters):
    """Points to draw, numbered, and notes on those left out."""
    words = [word for text in filters for word in text.split()]
    check_filter([p for run in runs for p in run.points], words)
    kept, left = [], {}
    for run in runs:
        if not run.points:
            raise PlotError(f"{run.path}: has no points")
        mine = [p for p in run.points if passes(p, words)]
        for p in mine:
            why = p.status if p.status != "ok" else "failed verification" if p.verified == "failed" else p.findings
            if why:
                left.setdefault(why, []).append(p)
            else:
                kept.append(p)
        if mine and not any(p in kept for p in mine[:1]) and not any(p.run is run for p in kept):
            first = mine[0]
            raise PlotError(f"{run.path}: no point to draw: all {len(mine)} are {first.status}"
                            + (f" ({first.reason})" if first.reason else ", or failed verification"))
    if not kept:
        raise PlotError("--filter: no point matches all of the words")
    notes = [f"Left out: {len(points)} {why}." for why, points in left.items()]
    name_points(kept, runs)
    return kept, notes


def distinct(values):
    """Values in their first order, each once."""
    return list(dict.fromkeys(values))


def varying_params(points):
    """Parameters that tell points apart; of several that are always equal (m, n, k of square matrices) the last."""
    names = sorted({name for p in points for name in p.params})
    names = [n for n in names if len(distinct(text_of(p.params[n]) for p in points if n in p.params)) > 1]
    columns = {}
    for name in names:
        columns[tuple(text_of(p.params.get(name)) for p in points)] = name
    return sorted(columns.values(), key=lambda n: (n.islower(), n))


def short_variants(points):
    """Variant names without the problem where all share it."""
    problems = {p.variant.partition("/")[0] for p in points}
    return {p.variant: p.variant.partition("/")[2] or p.variant if len(problems) == 1 else p.variant for p in points}


def name_points(points, runs):
    label_runs(runs)
    short, alike = short_variants(points), {}
    for p in points:
        alike.setdefault((p.variant, p.run.path), []).append(p)
    shown = {key: varying_params(mine) for key, mine in alike.items()}
    for i, p in enumerate(points):
        p.number = i + 1
        p.shown = {name: text_of(p.params[name]) for name in shown[p.variant, p.run.path] if name in p.params}
        name = short[p.variant] if len(runs) == 1 else f"{p.run.label}: {short[p.variant]}"
        p.label = " ".join([name] + [f"{k}={v}" for k, v in p.shown.items()])


def label_runs(runs):
    """The shortest of experiment, file name and path that tells the files apart."""
    stems = [re.sub(r"\.(json|csv)$", "", run.path) for run in runs]
    for labels in ([run.name for run in runs], [os.path.basename(s) for s in stems],
                   ["/".join(s.split("/")[-2:]) for s in stems], [run.path for run in runs]):
        if len(set(labels)) == len(runs):
            break
    for run, label in zip(runs, labels):
        run.label = label


def prefixed(value, digits=4):
    """15.48e12 -> "15.48 T"."""
    if value == 0:
        return "0 "
    power = min(max(math.floor(math.log10(abs(value)) / 3), -4), 5)
    scaled = float(f"{value / 1000 ** power:.{digits}g}")
    return f"{scaled:g} " + ["p", "n", "u", "m", "", "k", "M", "G", "T", "P"][power + 4]


def rate(value, unit):
    return prefixed(value) + unit


def bandwidth_text(value):
    return f"{value / 1e9:,.0f} GB/s" if value >= 1e10 else f"{value / 1e9:.3g} GB/s"


def percent_text(value):
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.2g} %"


def counts_text(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"


def ranges_text(numbers):
    """[1, 2, 3, 7] -> "1-3, 7"."""
    parts, numbers = [], sorted(set(numbers))
    for _, group in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [str(n) for _, n in group]
        parts += run if len(run) <= 2 else [f"{run[0]}-{run[-1]}"]
    return ", ".join(parts)


def details(point):
    """Everything a reader may ask of a point, one line each."""
    lines = [f"{point.number}. {point.variant}", " ".join(f"{k}={text_of(v)}" for k, v in sorted(point.params.items()))]
    lines.append(f"{point.run.path} ({point.run.backend}), roof of {point.run.roof.name}")
    for basis, meaning in BASES.items():
        moved = point.bytes.get(basis)
        if moved is None:
            continue
        text = f"{basis}: {counts_text(moved)} byte"
        if point.flops and moved:
            text += f", {point.flops / moved:.4g} FLOP/byte"
            attainable = point.attainable("flops", basis)
            text += f", attainable {rate(attainable, 'FLOP/s')} (modelled)" if attainable and basis != "dram" else ""
        lines.append(text)
    for level in ("l2", "l1"):
        moved = point.bytes.get(level)
        if moved:
            text = f"through {level.upper()}: {counts_text(moved)} byte"
            lines.append(text + (f", {point.flops / moved:.4g} FLOP/byte" if point.flops else ""))
    if point.times:
        lines.append("time: {:.5g} us (from {:.5g} to {:.5g}), measured".format(*point.times))
        if point.flops:
            lines.append(f"achieved: {rate(point.achieved('flops')[0], 'FLOP/s')}, measured")
        if point.bytes.get("compulsory"):
            lines.append(f"achieved: {rate(point.achieved('bytes')[0], 'byte/s')} of compulsory bytes, measured")
    else:
        bound = point.bound_us("compulsory")
        lines.append("no time was measured" + (f"; bound {bound:.5g} us (compulsory bytes)" if bound else ""))
    source = "measured" if point.run.backend == "cuda" else "emulated"
    for name in ("global_load_sectors_per_request", "global_store_sectors_per_request", *CONFLICTS[:2]):
        if point.counters.get(name) is not None:
            lines.append(f"{name}: {counts_text(point.counters[name])}, {source}")
    if point.limit():
        lines.append("bound by: {}, at most {} (modelled)".format(point.limit()[0], rate(point.limit()[1], "FLOP/s")))
    elif point.bound_by:
        lines.append(f"bound by: {point.bound_by}")
    for warning in point.warnings:
        lines += textwrap.wrap(f"note: {warning}", 90)
    return [line for line in lines if line]
