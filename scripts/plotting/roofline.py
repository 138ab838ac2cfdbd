"""Charts of kind roofline: ceilings, points, the path of a ladder, percent of roof, predicted counters."""

import itertools
from dataclasses import dataclass

from plotting.chart import (LABELLED_ROWS, Chart, Line, Panel, Series, Tag, bound_words, legend_of, series_name,
                            series_of, titles)
from plotting.points import bandwidth_text, counts_text, details, distinct, name_points, percent_text, rate, text_of
from plotting.results import BASES, PlotError, Point

# The tensor-core roof drawn above a roof of CUDA cores: the same data could be given to it.
TENSOR_ROOF = {"FP32": "TF32 tensor", "FP64": "FP64 tensor", "FP16 vector": "FP16 tensor", "BF16 vector": "BF16 tensor"}
# Which bytes a point is placed by, the first that is known. (measured, bytes instead of FLOPs) -> bases
AUTO_BASES = {(False, False): ["transaction", "loaded", "requested", "compulsory"],
              (False, True): ["transaction", "requested"],
              (True, False): ["dram", "transaction", "loaded", "requested", "compulsory"],
              (True, True): ["dram", "transaction", "requested"]}
COMPARED_COUNTERS = {"global_load_requests": "load requests", "global_load_sectors": "load sectors",
                     "global_store_sectors": "store sectors", "shared_load_wavefronts": "shared load wavefronts",
                     "shared_load_bank_conflicts": "shared load conflicts"}


@dataclass
class Mark:
    """A point where a roofline shows it."""
    point: Point
    x: float
    y: float
    measured: bool
    basis: str
    low: float = None
    high: float = None


def marks_of(point, work, basis):
    """Its measured mark and its bound, as far as they are known."""
    marks = []
    achieved = point.achieved(work)
    for measured in (True, False):
        for name in AUTO_BASES[measured, work == "bytes"] if basis == "auto" else [basis]:
            x = point.intensity(work, name)
            if measured and x and achieved:
                marks.append(Mark(point, x, achieved[0], True, name, achieved[1], achieved[2]))
                break
            y = point.attainable(work, name)
            if not measured and y and name != "dram":
                marks.append(Mark(point, x, y, False, name))
                break
    return marks


def roof_lines(roofs, used, work, options, xlim):
    """Slopes, flat roofs and labelled ridges of each device. `used` is device -> names of the peaks of its points. The
    slopes of L2 and L1 are drawn where points stand under them, or when they were asked for."""
    all_slopes = options.kind == "hierarchy" or options.ceilings == "all" or options.roof
    lines, tags = [], []
    for d, roof in enumerate(roofs):
        prefix = f"{roof.name}: " if len(roofs) > 1 else ""
        if work == "bytes":
            peaks = {roof.bandwidth: ["all bytes useful:"]}
            slopes = roof.slopes[:1]
        else:
            peaks = peaks_to_draw(roof, used[roof.name], options.ceilings)
            slopes = roof.slopes if all_slopes else roof.slopes[:1]
        top, steepest = max(peaks), max(value for _, value, _ in slopes)
        for i, (name, value, source) in enumerate(slopes):
            text = f"{prefix}{name} {bandwidth_text(value)}" + (f" ({source})" if source else "")
            x = [xlim[0], min(top / value, xlim[1])]
            lines.append(Line(x, [v * value for v in x], "roof" if i == 0 else "thin", text, d, True))
        for value, names in sorted(peaks.items()):
            text = prefix + ", ".join(names) + f" {bandwidth_text(value) if work == 'bytes' else rate(value, 'FLOP/s')}"
            source = roof.slopes[0][2] if work == "bytes" else roof.peaks[names[0]][2]
            text += f" ({source})" if source else ""
            is_used = work == "bytes" or any(name in used[roof.name] for name in names)
            lines.append(Line([value / steepest, xlim[1]], [value, value], "roof" if is_used else "thin", text, d))
            if work == "flops":
                tags += [Tag(value / slope, value, f"ridge {value / slope:.3g}") for _, slope, _ in slopes]
    return lines, tags


def peaks_to_draw(roof, used, ceilings):
    """Value -> names: the peaks of the points and their tensor-core counterparts, or all."""
    names = [n for n, (_, unit, _) in roof.peaks.items() if unit == "FLOP/s"] if ceilings == "all" else \
        [n for n in roof.peaks if n in used or n in {TENSOR_ROOF.get(u) for u in used}]
    peaks = {}
    for name in sorted(names, key=lambda n: n not in used):
        peaks.setdefault(roof.peaks[name][0], []).append(name)
    return peaks


def ladder_paths(marks):
    """Polylines through the points of a file that share the problem, in plan order. By convention parameters of the
    compile-time kind are written in capitals, and `block` shapes the launch: neither makes another problem."""
    paths = []
    for _, mine in itertools.groupby(marks, lambda m: m.point.run.path):
        mine = list(mine)
        common = [n for n in mine[0].point.params if n.islower() and n != "block"
                  and all(n in m.point.params for m in mine)]
        by_problem = {}
        for m in mine:
            by_problem.setdefault((m.measured, *(text_of(m.point.params[n]) for n in common)), []).append((m.x, m.y))
        for places in by_problem.values():
            places = [place for place, _ in itertools.groupby(places)]
            if len(places) > 1 and places not in paths:
                paths.append(places)
    return paths


def limits(values, below, above):
    return min(values) / below, max(values) * above


def roofline_chart(runs, points, notes, options):
    work = options.work
    if work == "auto":
        work = "flops" if any(p.flops for p in points) else "bytes"
    marks, bare = [], []
    for p in points:
        mine = marks_of(p, work, options.basis)
        marks += mine
        bare += [] if mine else [p]
    if not marks:
        why = why_bare(bare[0], work, options.basis)
        raise PlotError(f"{runs[0].path}: no point can be placed under a roof: {why}")
    if bare:
        notes.append(f"Left out: {len(bare)} that cannot be placed ({why_bare(bare[0], work, options.basis)}).")
    # The measured mark carries the label, and the path goes through it.
    first = {}
    for m in marks:
        first.setdefault(id(m.point), m)
    drawn = [m.point for m in first.values()]
    runs = [run for run in runs if any(p.run is run for p in drawn)]
    name_points(drawn, runs)
    roofs = distinct_roofs(runs)
    used = {roof.name: set() for roof in roofs}
    for p in drawn:
        if p.peak():
            used[p.run.roof.name].add(p.peak()[0])
    panel = placed_panel(roofs, used, marks, work, options)
    styles = series_of(drawn)
    panel.series = marked_series(marks, styles, drawn, len(runs))
    panel.tags += [Tag(m.x, m.y, point=m.point) for m in first.values()]
    if not options.no_path:
        add_paths(panel, list(first.values()), notes)
    panels = [panel, percent_panel(drawn, marks, work, styles, notes)]
    compared = counter_panel(drawn, notes)
    panels += [compared] if compared else []
    measured, bounds = any(m.measured for m in marks), [(m.point, m.basis) for m in marks if not m.measured]
    title, subtitle = titles(runs, "roofline" if work == "flops" else "bandwidth roofline")
    notes = basis_notes(marks, work, options.basis) + error_notes(runs, marks) + notes
    rows = len(drawn) if len(drawn) <= LABELLED_ROWS else 0
    return Chart(options.title or title, subtitle, panels, notes,
                 legend_of(drawn, styles, len(runs), measured, bound_words(bounds) if bounds else ""),
                 max(6.4, 2.6 + 0.2 * rows))


def why_bare(point, work, basis):
    if work == "flops" and not point.flops:
        return "no FLOPs: --work bytes draws it under the memory roof"
    if work == "flops" and not point.peak():
        return f"the file has no ceiling for the precision '{point.precision}'"
    if basis != "auto":
        return f"no bytes on the basis '{basis}'"
    return "its bytes are null"


def distinct_roofs(runs):
    roofs = []
    for run in runs:
        same = [r for r in roofs if r.name == run.roof.name]
        if same and same[0].slopes[0][:2] != run.roof.slopes[0][:2]:
            raise PlotError(f"{run.path}: its DRAM ceiling of {run.roof.name} differs from that of another file; "
                            "draw them apart, or give one to all with --roof")
        if not same:
            roofs.append(run.roof)
        elif len(run.roof.peaks) > len(same[0].peaks):
            roofs[roofs.index(same[0])] = run.roof
    if len(roofs) > 4:
        raise PlotError(f"{runs[-1].path}: the files have the roofs of {len(roofs)} devices; at most 4 fit one plot")
    return roofs


def placed_panel(roofs, used, marks, work, options):
    ridges = [1.0] if work == "bytes" else [peak / roof.bandwidth for roof in roofs
                                            for peak in peaks_to_draw(roof, used[roof.name], options.ceilings)]
    xlim = limits([m.x for m in marks] + ridges, 2.5, 4)
    if work == "bytes":
        panel = Panel("Bandwidth roofline", "compulsory bytes per byte moved", "useful bandwidth [byte/s]", width=2)
    else:
        panel = Panel("Roofline", "arithmetic intensity [FLOP/byte]", "FLOP/s", width=2)
    panel.lines, panel.tags = roof_lines(roofs, used, work, options, xlim)
    tops = [y for line in panel.lines for y in line.y if not line.rising]
    lowest = min(m.y if m.low is None else m.low for m in marks)
    panel.xlim, panel.ylim = xlim, limits([lowest, *tops], 4, 2.2)
    return panel


def marked_series(marks, styles, points, runs):
    series = {}
    for m in marks:
        style = styles[m.point.variant, m.point.run.path]
        key = (style, m.measured)
        one = series.setdefault(key, Series(series_name(m.point, points, runs), style, m.measured))
        what = "measured" if m.measured else f"{bound_words([(m.point, m.basis)])}: a roof, not performance"
        one.add(m.x, m.y, [what, *details(m.point)], m.low, m.high)
    return list(series.values())


def add_paths(panel, marks, notes):
    paths = ladder_paths(marks)
    if len(paths) > 8 or len(marks) > 80:
        notes.append("The path in plan order is left out: there are too many points.")
        return
    panel.lines += [Line([x for x, _ in path], [y for _, y in path], "path") for path in paths]


def basis_notes(marks, work, asked):
    notes = []
    for measured in (True, False):
        bases = distinct(m.basis for m in marks if m.measured == measured)
        counts = {b: sum(m.basis == b and m.measured == measured for m in marks) for b in bases}
        text = "; ".join(f"{BASES[b]} ({counts[b]} of them)" if len(bases) > 1 else BASES[b] for b in bases)
        preferred = AUTO_BASES[measured, work == "bytes"][0]
        if set(bases) - {preferred} and asked == "auto":
            text += f", where {preferred} bytes are not known"
        if bases:
            notes.append(f"{'Filled' if measured else 'Hollow'} points are placed by {text}.")
    if work == "bytes":
        notes.insert(0, "Useful (compulsory) bytes stand in place of FLOPs: the points do no floating-point "
                        "operations, or --work bytes was asked for.")
    if any(not m.measured for m in marks):
        notes.append("Hollow points lie on the roof by construction: a bound, not performance that was achieved.")
    return notes


def error_notes(runs, marks):
    if not any(m.measured for m in marks):
        return []
    ends = distinct("5th to 95th percentile of the samples" if run.has_samples else "fastest to slowest sample"
                    for run in runs if run.backend != "simt")
    return [f"Error bars: {', '.join(ends)}."] if ends else []


def percent_panel(points, marks, work, styles, notes):
    """One row per point: its lowest roof in percent of the peak, and what was achieved in percent of that roof. Without
    FLOPs the useful share of the bytes, and of the DRAM peak."""
    panel = Panel("Percent of roof", "%", xlog=False, ylog=False, rows=points)
    bounds = {m.point.number: m for m in marks if not m.measured}
    series, named, longest = {}, len(points) <= LABELLED_ROWS, 100.0
    for row, p in enumerate(points):
        achieved, shares = p.achieved(work), []
        roof = bounds[p.number].y if work == "bytes" and p.number in bounds else (p.limit() or ("", None))[1]
        if roof:
            shares.append((False, 100 * roof / p.top(work)))
        if achieved and (roof or work == "bytes"):
            shares.append((True, 100 * achieved[0] / (p.top("bytes") if work == "bytes" else roof)))
        for measured, share in shares:
            style = styles[p.variant, p.run.path]
            one = series.setdefault((style, measured), Series(p.variant, style, measured, legend=False))
            one.add(share, row, details(p))
            longest = max(longest, share)
        if shares and named:
            panel.texts.append((*beside([s for _, s in shares], longest), row, percent_text(shares[-1][1])))
    panel.series = list(series.values())
    panel.lines = [Line([100, 100], [-0.7, len(points) - 0.3], "rule")]
    panel.xlim = (-3, 1.28 * longest if named else 1.05 * longest)
    measured = any(s.filled for s in panel.series)
    modelled = any(not s.filled for s in panel.series)
    words = []
    if modelled:
        words.append("hollow: lowest roof, % of peak" if work == "flops" else "hollow: useful share, % of DRAM peak")
    if measured:
        words.append("filled: achieved, % of lowest roof" if work == "flops" else "filled: achieved, % of DRAM peak")
    panel.xlabel = "\n".join(words)
    if work == "flops":
        notes.append(limit_note(points))
    if longest > 100:
        notes.append("Above 100 %: the bytes did not all come from DRAM, the clock was higher, or the roof is of "
                     "another device.")
    return panel


def limit_note(points):
    """Which roofs are the lowest, and what their names say."""
    names = [p.limit()[0] for p in points if p.limit()]
    text = "Lowest roof: " + ", ".join(f"{name} ({names.count(name)})" for name in distinct(names))
    words = {"DRAM sectors": "as if no cache caught one", "DRAM once": "each byte moves once"}
    return text + "".join(f"; {name}: {what}" for name, what in words.items() if name in names) + "."


def beside(shares, longest):
    """Where the last of the shares is written: right of its mark, left of it when another mark is in the way there,
    right of both when there is no room on the left. Returns x and the side."""
    own, room = shares[-1], 0.24 * max(longest, 100)
    if not any(own < other < own + room for other in shares):
        return own, 1
    return (own, -1) if own > room else (max(shares), 1)


def counter_panel(points, notes):
    """Measured over predicted counters, where both are known; None where none are."""
    panel = Panel("Measured / predicted", "1 = as predicted", ylog=False, rows=points)
    one_sided = 0
    for i, (name, words) in enumerate([*COMPARED_COUNTERS.items(), ("dram", "DRAM / compulsory bytes")]):
        series = Series(words, i, False, gray=True)
        for row, p in enumerate(points):
            if name == "dram":
                measured, predicted = p.bytes.get("dram"), p.bytes.get("compulsory")
            else:
                measured, predicted = p.counters.get(name), p.predicted.get(name)
            if measured is None or predicted is None or p.run.backend != "cuda":
                continue
            if (measured == 0) != (predicted == 0):
                one_sided += 1
                continue
            ratio = measured / predicted if predicted else 1.0
            hover = [f"{words}: measured {counts_text(measured)}, predicted {counts_text(predicted)}", *details(p)[:2]]
            series.add(ratio, row + 0.11 * (i - 2.5), hover)
        panel.series += [series] if series.x else []
    if not any(s.style < len(COMPARED_COUNTERS) for s in panel.series):
        return None
    ratios = [x for s in panel.series for x in s.x]
    panel.xlim = (min(0.5, min(ratios) / 1.5), max(2.0, max(ratios) * 1.5))
    panel.lines = [Line([1, 1], [-0.7, len(points) - 0.3], "rule")]
    if one_sided:
        notes.append(f"Not in the ratios: {one_sided} counters that are zero on one side only.")
    return panel
