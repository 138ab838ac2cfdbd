"""Charts of kind hierarchy: every point at its intensity on each memory level, under the slopes of the levels."""

from plotting.chart import LABELLED_ROWS, Chart, Line, Panel, Series, Tag, titles
from plotting.points import details, name_points, percent_text, rate
from plotting.results import LEVELS, PlotError
from plotting.roofline import Mark, distinct_roofs, error_notes, placed_panel

LEVEL_NAMES = {"dram": "DRAM", "l2": "L2", "l1": "L1/shared"}


def marks_of(point):
    """A mark for each level whose bytes were counted: at the rate that was measured, else on that level's roof."""
    achieved, marks = point.achieved("flops"), []
    for level in LEVELS:
        x = point.intensity("flops", level)
        if not x:
            continue
        if achieved:
            marks.append(Mark(point, x, achieved[0], True, level, achieved[1], achieved[2]))
        elif point.attainable_at(level):
            marks.append(Mark(point, x, point.attainable_at(level), False, level))
    return marks


def why_none(points):
    if not any(p.flops for p in points):
        return "no point has FLOPs"
    if not any(p.intensity("flops", level) for p in points for level in LEVELS):
        return "no point has the counters of a level: `gpuexp run` collects them as groups bytes, shared, l2 and dram"
    return "emulated points need the L1 ceiling: --roof takes what `gpuexp roofline --format json` prints"


def hierarchy_chart(runs, points, notes, options):
    marks = [m for p in points for m in marks_of(p)]
    if not marks:
        raise PlotError(f"{runs[0].path}: no point can be placed on a memory level: {why_none(points)}")
    placed = {id(m.point) for m in marks}
    drawn = [p for p in points if id(p) in placed]
    if len(drawn) < len(points):
        notes.append(f"Left out: {len(points) - len(drawn)} without FLOPs or without counters of any level.")
    runs = [run for run in runs if any(p.run is run for p in drawn)]
    name_points(drawn, runs)
    roofs = distinct_roofs(runs)
    used = {roof.name: {p.peak()[0] for p in drawn if p.run.roof.name == roof.name and p.peak()} for roof in roofs}
    panel = placed_panel(roofs, used, marks, "flops", options)
    panel.title = "Hierarchical roofline"
    panel.series = level_series(marks)
    add_rows(panel, marks)
    title, subtitle = titles(runs, "hierarchical roofline")
    notes = level_notes(roofs, marks) + error_notes(runs, marks) + notes
    levels = [level for level in LEVELS if any(m.basis == level for m in marks)]
    legend = [(LEVEL_NAMES[level], [*LEVELS].index(level), True, "") for level in levels]
    kinds = {m.measured for m in marks}
    legend += [("filled: measured", None, True, "")] if True in kinds else []
    legend += [("hollow: on the roof of its level, a bound", None, False, "")] if False in kinds else []
    rows = len(drawn) if len(drawn) <= LABELLED_ROWS else 0
    shares = share_panel(drawn, marks)
    return Chart(options.title or title, subtitle, [panel, shares] if shares.series else [panel], notes, legend,
                 max(6.4, 2.6 + 0.2 * rows))


def level_series(marks):
    """One series per level: its colour and marker tell the level, its place and label the point."""
    series = {}
    for m in marks:
        key = (m.basis, m.measured)
        one = series.setdefault(key, Series(LEVEL_NAMES[m.basis], [*LEVELS].index(m.basis), m.measured))
        one.add(m.x, m.y, [f"{LEVEL_NAMES[m.basis]}: {m.x:.4g} FLOP/byte, {rate(m.y, 'FLOP/s')} "
                           + ("measured" if m.measured else "at most (modelled)"), *details(m.point)], m.low, m.high)
    return list(series.values())


def add_rows(panel, marks):
    """The marks of one point are joined; the rightmost carries its label."""
    by_point = {}
    for m in marks:
        by_point.setdefault(id(m.point), []).append(m)
    for mine in by_point.values():
        mine.sort(key=lambda m: m.x)
        if len(mine) > 1 and len(by_point) <= 80:
            panel.lines.append(Line([m.x for m in mine], [m.y for m in mine], "rule"))
        panel.tags.append(Tag(mine[-1].x, mine[-1].y, point=mine[-1].point))


def share_panel(points, marks):
    """A row per point: what it reached of the roof of each level."""
    panel = Panel("Percent of each level's roof", "measured, % of that roof", xlog=False,
                  ylog=False, rows=points)
    row_of = {id(p): row for row, p in enumerate(points)}
    series, longest, best = {}, 100.0, {}
    for m in marks:
        roof = m.point.attainable_at(m.basis)
        if not m.measured or not roof:
            continue
        row, share = row_of[id(m.point)], 100 * m.y / roof
        one = series.setdefault(m.basis, Series(LEVEL_NAMES[m.basis], [*LEVELS].index(m.basis), True, legend=False))
        one.add(share, row, [f"{percent_text(share)} of the {LEVEL_NAMES[m.basis]} roof", *details(m.point)])
        longest = max(longest, share)
        best[row] = max(best.get(row, 0), share)
    panel.series = list(series.values())
    panel.lines = [Line([100, 100], [-0.7, len(points) - 0.3], "rule")]
    named = len(points) <= LABELLED_ROWS
    panel.texts = [(share, 1, row, percent_text(share)) for row, share in best.items()] if named else []
    panel.xlim = (-3, 1.28 * longest if named else 1.05 * longest)
    return panel


def level_notes(roofs, marks):
    notes = [f"{LEVEL_NAMES[level]}: {meaning}." for level, meaning in LEVELS.items()
             if any(m.basis == level for m in marks)]
    for roof in roofs:
        lacking = [LEVEL_NAMES[level] for level in LEVELS if roof.slope(level) is None
                   and any(m.basis == level and m.point.run.roof.name == roof.name for m in marks)]
        if lacking:
            notes.append(f"No ceiling of {', '.join(lacking)} for {roof.name}: --roof takes what `gpuexp roofline "
                         "--format json` prints, if that knows one.")
    return notes
