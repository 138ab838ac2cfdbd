"""Charts of kind sweep and crossover: values over a parameter."""

import itertools
import math

from plotting.chart import LEGEND_ENTRIES, Chart, Line, Panel, Series, Tag, bound_words, titles
from plotting.points import CONFLICTS, details, distinct, name_points, short_variants, text_of, varying_params
from plotting.results import BASES, PlotError
from plotting.roofline import AUTO_BASES

SWEPT_COUNTERS = [("global_load_sectors_per_request", "loads"), ("global_store_sectors_per_request", "stores")]
SHARED_REQUESTS = ["shared_load_requests", "shared_store_requests", "shared_atomic_requests"]


def swept_parameter(points, asked, kind):
    names = varying_params(points)
    everywhere = sorted({name for p in points for name in p.params})
    if asked:
        if asked not in everywhere:
            raise PlotError(f"--x {asked}: no point has this parameter; there are {', '.join(everywhere)}")
        return asked

    def values(name):
        per_variant = {}
        for p in points:
            if isinstance(p.params.get(name), (int, float)):
                per_variant.setdefault(p.variant, set()).add(p.params[name])
        return max(map(len, per_variant.values()), default=0)
    names = [n for n in names if values(n) > 1]
    if not names:
        raise PlotError(f"{points[0].run.path}: no parameter takes two values in one variant, so there is no {kind} to "
                        "draw")
    return max(names, key=lambda n: (values(n), not n.islower(), n))


class Axis:
    """Places of a parameter's values on x: the numbers themselves, or one step per word."""

    def __init__(self, points, name):
        self.name = name
        values = distinct(p.params[name] for p in points if name in p.params)
        self.words = None if all(isinstance(v, (int, float)) for v in values) else [text_of(v) for v in values]
        self.values = sorted(values) if self.words is None else list(range(len(values)))
        self.log = self.words is None and self.values[0] > 0 and self.values[-1] >= 8 * self.values[0]

    def at(self, point):
        value = point.params.get(self.name)
        if value is None:
            return None
        return value if self.words is None else self.words.index(text_of(value))

    def ends(self):
        return self.values[0], self.values[-1]

    def panel(self, title, ylabel, ylog):
        low, high = self.ends()
        margin = (high / low) ** 0.06 if self.log and high > low else None
        span = (high - low) * 0.06 or 0.5
        xlim = (low / margin, high * margin) if margin else (low - span, high + span)
        return Panel(title, self.name, ylabel, self.log, ylog, xlim, xticks=self.values, xnames=self.words)


def sweep_groups(points, axis_name):
    """name -> points: variant and the parameters beside the swept one; k = m = n follow it where they are equal."""
    follows = [n for n in {n for p in points for n in p.params}
               if all(p.params.get(n) == p.params.get(axis_name) for p in points)]
    short, several = short_variants(points), len({p.run.path for p in points}) > 1
    groups = {}
    for p in points:
        rest = [f"{k}={v}" for k, v in p.shown.items() if k != axis_name and k not in follows]
        name = " ".join(([p.run.label + ":"] if several else []) + [short[p.variant], *rest])
        groups.setdefault(name, []).append(p)
    return groups


def swept_series(groups, axis, value, filled, hover_name):
    """One series per group with a value; a group without the parameter is a level line."""
    for style, (name, points) in enumerate(groups.items()):
        series = Series(name, style, filled, line="solid", legend=False)
        for p in sorted(points, key=lambda p: (axis.at(p) is None, axis.at(p) or 0)):
            y, x = value(p), axis.at(p)
            if y is None:
                continue
            hover = [f"{hover_name}: {y:.5g}", *details(p)]
            for at in [x] if x is not None else axis.ends():
                series.add(at, y, hover)
            series.line = "solid" if x is not None else "dashed"
        if series.x:
            yield series


def merged_groups(groups, panels):
    """Groups of one variant whose curves are equal in every panel become one, so that none hides another."""
    alike = {}
    for style, (name, points) in enumerate(groups.items()):
        curves = tuple((i, s.filled, tuple(s.x), tuple(f"{y:.6g}" for y in s.y))
                       for i, panel in enumerate(panels) for s in panel.series if s.style == style)
        alike.setdefault((points[0].variant, points[0].run.path, curves), []).append(name)
    return {joined_names(names): [p for name in names for p in groups[name]] if len(names) == 1 else groups[names[0]]
            for names in alike.values()}


def joined_names(names):
    """["tiled n=32", "tiled n=64"] -> "tiled n=32,64"."""
    words = [name.split(" ") for name in names]
    if len({len(w) for w in words}) > 1:
        return f"{names[0]} and {len(names) - 1} like it"
    columns = [distinct(column) for column in zip(*words)]
    joined = [c[0] if len(c) == 1 else c[0].partition("=")[0] + "=" + ",".join(w.partition("=")[2] for w in c)
              for c in columns]
    return " ".join(joined)


def per_shared_request(point):
    conflicts = [point.counters.get(name) for name in CONFLICTS]
    requests = [point.counters.get(name) for name in SHARED_REQUESTS]
    if None in conflicts[:2] or None in requests[:2] or not sum(v or 0 for v in requests):
        return None
    return sum(v or 0 for v in conflicts) / sum(v or 0 for v in requests)


def swept_panels(points, groups, axis, work, options):
    basis = options.basis if options.basis != "auto" else AUTO_BASES[False, work == "bytes"][0]
    measured = any(p.run.backend == "cuda" for p in points)
    panels = []
    for counter, words in SWEPT_COUNTERS:
        panel = axis.panel(f"Sectors per request, {words}", "32-byte sectors", False)
        if measured:
            panel.series += swept_series(groups, axis, lambda p: p.predicted.get(counter), False,
                                         f"predicted {counter}")
        panel.series += swept_series(groups, axis, lambda p: p.counters.get(counter), measured, counter)
        panels += [panel] if panel.series else []
    if any(per_shared_request(p) for p in points):
        panel = axis.panel("Bank conflicts per shared request", "extra wavefronts", False)
        panel.series = [*swept_series(groups, axis, per_shared_request, measured, "bank conflicts per shared request")]
        panels.append(panel)
    title, unit = (("Intensity", "FLOP/byte") if work == "flops" else ("Useful share", "compulsory / moved bytes"))
    panel = axis.panel(title, f"{unit} ({basis})", True)
    panel.series = [*swept_series(groups, axis, lambda p: p.intensity(work, basis), False, unit)]
    panels += [panel] if panel.series else []
    achieved = [*swept_series(groups, axis, lambda p: (p.achieved(work) or [None])[0], True, "achieved, measured")]
    bound = [*swept_series(groups, axis, lambda p: p.attainable(work, basis), False, "attainable, modelled bound")]
    panel = axis.panel("Achieved and attainable" if achieved else "Attainable (modelled bound)",
                       "FLOP/s" if work == "flops" else "useful byte/s", True)
    panel.series = bound + achieved
    panels += [panel] if panel.series else []
    return panels, basis


def sweep_chart(runs, points, notes, options):
    work = options.work
    if work == "auto":
        work = "flops" if any(p.flops for p in points) else "bytes"
    name = swept_parameter(points, options.x, "sweep")
    axis, groups = Axis(points, name), sweep_groups(points, name)
    groups = merged_groups(groups, swept_panels(points, groups, axis, work, options)[0])
    panels, basis = swept_panels(points, groups, axis, work, options)
    if not panels:
        raise PlotError(f"{runs[0].path}: nothing to draw over {name}: the counters are null")
    title, subtitle = titles(runs, f"sweep of {name}")
    notes.insert(0, f"Intensity and attainable by {BASES[basis]}.")
    if any(axis.at(p) is None for p in points):
        notes.append(f"Dashed: variants without {name}.")
    filled = any(s.filled for panel in panels for s in panel.series)
    legend = [(group, i, any(s.style == i and s.filled for panel in panels for s in panel.series), "solid")
              for i, group in enumerate(groups)]
    legend = legend[:LEGEND_ENTRIES] + ([(f"and {len(legend) - LEGEND_ENTRIES} more", None, None, "none")]
                                        if len(legend) > LEGEND_ENTRIES else [])
    legend += [("filled: measured", None, True, "")] if filled else []
    bounds = bound_words([(p, basis) for p in points])
    legend += [(f"hollow: {'predicted or ' if filled else ''}emulated count, or {bounds}", None, False, "")]
    return Chart(options.title or title, subtitle, panels, notes, legend, 5.4)


def crossing_points(curve):
    """Where a and b of [(x, a, b)] cross: linear in the logarithms, as `gpuexp` computes it."""
    places = []
    for (x0, a0, b0), (x1, a1, b1) in itertools.pairwise(curve):
        before, after = math.log(a0 / b0), math.log(a1 / b1)
        if (before < 0) == (after < 0):
            continue
        share = before / (before - after)
        x = x0 * (x1 / x0) ** share if x0 > 0 else x0 + share * (x1 - x0)
        places.append((x, a0 * (a1 / a0) ** share))
    return places


def chosen_pair(points, groups, options):
    """The two groups to compare."""
    short = short_variants(points)
    wanted = options.variants.split(",") if options.variants else distinct(p.variant for p in points)
    names = ", ".join(distinct(p.variant for p in points))
    if len(wanted) != 2:
        raise PlotError(f"--kind crossover: compares two variants; choose them with --variants A,B among {names}")
    pair = []
    for variant in wanted:
        found = [name for name, mine in groups.items() if variant in (mine[0].variant, short[mine[0].variant])]
        if len(found) > 1:
            raise PlotError(f"--kind crossover: {variant} has several curves ({'; '.join(found[:4])}"
                            f"{', ...' if len(found) > 4 else ''}); choose one with --filter NAME=VALUE")
        pair.append(found[0])
    return pair


def those_of(points, variants):
    """The points of the variants, which may be given without their problem where it is the same for all."""
    short = short_variants(points)
    for variant in variants:
        if variant not in short and variant not in short.values():
            raise PlotError(f"--variants {variant}: is not in the files; there are {', '.join(short)}")
    return [p for p in points if p.variant in variants or short[p.variant] in variants]


def crossover_chart(runs, points, notes, options):
    if options.variants:
        points = those_of(points, options.variants.split(","))
        name_points(points, runs)
    name = swept_parameter(points, options.x, "crossover")
    axis, groups = Axis(points, name), sweep_groups(points, name)
    pair = chosen_pair(points, groups, options)
    if axis.words is not None:
        raise PlotError(f"--x {name}: a crossover needs a parameter with numbers")
    basis = options.basis if options.basis != "auto" else "compulsory"
    mine = [p for group in pair for p in groups[group]]
    timed = all(p.times for p in mine)

    def time(p):
        return p.times[0] if timed else p.bound_us(basis)
    curves = [level_curve(groups[group], axis, time) for group in pair]
    shared = sorted(set(curves[0]) & set(curves[1]))
    if len(shared) < 2:
        raise PlotError(f"{runs[0].path}: {pair[0]} and {pair[1]} share fewer than two values of {name} with a "
                        f"{'time' if timed else 'bound'}")
    what = "measured time" if timed else f"modelled bound on the time ({basis} bytes)"
    panel = axis.panel(what[0].upper() + what[1:], "us", True)
    panel.width = 1.7
    panel.series = [*swept_series({g: groups[g] for g in pair}, axis, time, timed, what)]
    ratio = axis.panel(f"{pair[0]}\nover {pair[1]}", "ratio", True)
    one = Series(f"{pair[0]} / {pair[1]}", 0, timed, line="solid", legend=False, gray=True)
    for x in shared:
        one.add(x, curves[0][x] / curves[1][x], [f"{name}={text_of(x)}: {curves[0][x] / curves[1][x]:.4g}"])
    ratio.series, ratio.lines = [one], [Line(list(ratio.xlim), [1, 1], "rule")]
    mark_crossings(panel, ratio, [(x, curves[0][x], curves[1][x]) for x in shared], name, pair, notes)
    title, subtitle = titles(runs, f"crossover over {name}")
    if any(p.times for p in mine) and not timed:
        notes.append("Bounds are compared: not every point has a measured time.")
    if not timed:
        notes.append(f"Bounds by {BASES[basis]}: what the roof allows, not times.")
    legend = [(group, i, timed, "solid") for i, group in enumerate(pair)]
    legend += [("filled: measured", None, True, "") if timed else
               (f"hollow: {bound_words([(p, basis) for p in mine])}", None, False, "")]
    return Chart(options.title or title, subtitle, [panel, ratio], notes, legend, 5.2)


def level_curve(points, axis, time):
    """x -> time; the same at every x for a variant that does not take the parameter."""
    curve = {}
    for p in points:
        t = time(p)
        if t is not None:
            curve.update({x: t for x in ([axis.at(p)] if axis.at(p) is not None else axis.values)})
    return curve


def mark_crossings(panel, ratio, curve, name, pair, notes):
    crossings = crossing_points(curve)
    for x, y in crossings:
        panel.lines.append(Line([x, x], None, "rule"))
        ratio.lines.append(Line([x, x], None, "rule"))
        panel.tags.append(Tag(x, y, f"{name} = {x:.4g}"))
    if not crossings:
        lower = pair[0] if curve[0][1] < curve[0][2] else pair[1]
        same = all(a == b for _, a, b in curve)
        notes.insert(0, f"No crossing: {'the two are equal' if same else lower + ' is lower'} throughout.")
    elif curve[-1][1] != curve[-1][2]:
        lower = pair[0] if curve[-1][1] < curve[-1][2] else pair[1]
        notes.insert(0, f"{lower} is lower from {name} = {crossings[-1][0]:.4g} on (interpolated between points).")
