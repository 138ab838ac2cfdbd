"""A drawing as data: panels of series, lines and labels. The painters of paint.py and page.py draw any of them."""

from dataclasses import dataclass, field

from plotting.points import distinct, short_variants
from plotting.results import Point

COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444"]  # Okabe and Ito
MARKERS = [("o", "circle"), ("s", "square"), ("^", "triangle-up"), ("D", "diamond"), ("v", "triangle-down"),
           ("P", "cross"), ("X", "x"), ("*", "star"), ("<", "triangle-left"), (">", "triangle-right"),
           ("h", "hexagon")]  # matplotlib, plotly; as many as are coprime to the colours
LABELLED_ROWS = 40     # beyond, rows are not named
LABELLED_PLACES = 60   # beyond, points carry no label
LEGEND_ENTRIES = 24


@dataclass
class Series:
    name: str
    style: int
    filled: bool
    x: list = field(default_factory=list)
    y: list = field(default_factory=list)
    low: list = field(default_factory=list)    # of y; empty without error bars
    high: list = field(default_factory=list)
    hover: list = field(default_factory=list)  # lines of text per mark
    line: str = ""                             # "", "solid", "dashed"
    legend: bool = True
    gray: bool = False

    def add(self, x, y, hover, low=None, high=None):
        self.x.append(x)
        self.y.append(y)
        self.hover.append(hover)
        self.low.append(y if low is None else low)
        self.high.append(y if high is None else high)


@dataclass
class Line:
    x: list
    y: list
    kind: str               # "roof", "thin", "path", "rule"
    text: str = ""
    device: int = 0
    rising: bool = False    # the text runs along a slope


@dataclass
class Tag:
    """A label at a place: of a point (with its names) or a text."""
    x: float
    y: float
    text: str = ""
    point: Point = None


@dataclass
class Panel:
    title: str
    xlabel: str
    ylabel: str = ""
    xlog: bool = True
    ylog: bool = True
    xlim: tuple = None
    ylim: tuple = None
    xticks: list = None                          # values that are marked, when few
    xnames: list = None                          # of a parameter without numbers
    series: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    tags: list = field(default_factory=list)
    rows: list = None                            # points, when y is one row each
    texts: list = field(default_factory=list)    # (x, side, row, text): beside a mark, right (1) or left (-1)
    width: float = 1


@dataclass
class Chart:
    title: str
    subtitle: str
    panels: list
    notes: list
    legend: list                                 # (name, style or None, filled, line)
    height: float = 6.4


def bound_words(bounds):
    """What hollow marks are: bounds is (point, basis)."""
    return "modelled bound from " + " or ".join(distinct(p.source_of(basis) for p, basis in bounds))


def series_of(points):
    """(variant, file) -> index of its style, in plan order."""
    keys = distinct((p.variant, p.run.path) for p in points)
    return {key: i for i, key in enumerate(keys)}


def series_name(point, points, runs):
    short = short_variants(points)[point.variant]
    return short if runs == 1 else f"{point.run.label}: {short}"


def titles(runs, kind):
    names = ", ".join(distinct(run.name for run in runs))
    roofs = ", ".join(distinct(run.roof.name for run in runs))
    title = f"{names}: {kind}, {roofs}"
    parts = []
    for run in runs:
        if run.backend == "simt":
            parts.append("modelled bounds from emulated counts (simt backend, no time is measured)")
        else:
            cache = f", {run.cache_mode} L2" if run.cache_mode else ""
            parts.append(f"measured on {run.gpu or 'a GPU that the file does not name'}{cache}"
                         + (f" under the roof of {run.roof.name}: what-if" if run.what_if else ""))
    return title, "; ".join(distinct(parts))


def legend_of(points, styles, runs, measured, bounds):
    """`bounds`: what hollow marks are (bound_words), or "" when there are none."""
    entries = []
    for p in points:
        entry = (series_name(p, points, runs), styles[p.variant, p.run.path], p.times is not None, "")
        if entry not in entries and (entry[0], entry[1], True, "") not in entries:
            entries = [e for e in entries if e[:2] != entry[:2]] + [entry]
    more = len(entries) - LEGEND_ENTRIES
    entries = entries[:LEGEND_ENTRIES] + ([(f"and {more} more", None, None, "none")] if more > 0 else [])
    if measured:
        entries.append(("filled: measured", None, True, ""))
    if bounds:
        entries.append((f"hollow: {bounds}", None, False, ""))
    return entries
