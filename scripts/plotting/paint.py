"""Paints a chart with matplotlib: PNG, SVG, PDF. Nothing overlaps: sizes and labels are laid out in pixels first."""

import itertools
import math
import os
import textwrap

from plotting.chart import COLORS, LABELLED_PLACES, LABELLED_ROWS, MARKERS
from plotting.files import write_atomically
from plotting.points import distinct, prefixed, ranges_text, text_of

DPI = 100  # of the layout; an output at other resolution only scales it
FONT, SMALL = 10, 8.5
LINE_STYLES = ["-", "--", "-.", ":"]  # per device


class Boxes:
    """Rectangles (x0, y0, x1, y1) in pixels that must not be overlapped, and places that are better not covered."""

    def __init__(self, inside):
        self.inside, self.marks, self.labels, self.soft = inside, [], [], []

    def free(self, box):
        x0, y0, x1, y1 = box
        if x0 < self.inside[0] or y0 < self.inside[1] or x1 > self.inside[2] or y1 > self.inside[3]:
            return False
        return not any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in self.marks + self.labels)

    def covered(self, box):
        return sum(box[0] < x < box[2] and box[1] < y < box[3] for x, y in self.soft)

    def crossed(self, start, end):
        """How many labels and how many marks, other than those at its start, the segment runs through."""
        steps = [(start[0] + (end[0] - start[0]) * t / 24, start[1] + (end[1] - start[1]) * t / 24) for t in range(25)]
        near = box_at(*start, 18, 18)
        marks = [b for b in self.marks if not (b[0] < near[2] and near[0] < b[2] and b[1] < near[3] and near[1] < b[3])]
        return tuple(sum(any(b[0] < x < b[2] and b[1] < y < b[3] for x, y in steps) for b in boxes)
                     for boxes in (self.labels, marks))


def box_at(x, y, width, height):
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def place_label(boxes, at, size, reach):
    """(cost, centre, box) of the best place for a label of this size near `at`, or None."""
    best = None
    width, height = size[0] + 4, size[1] + 3
    for distance in reach:
        for step in range(24):
            angle = math.pi * (step + 0.5) / 12
            x = at[0] + math.cos(angle) * (distance + width / 2)
            y = at[1] + math.sin(angle) * (distance + height / 2)
            box = box_at(x, y, width, height)
            if not boxes.free(box):
                continue
            end = nearest_on(box, at)
            labels, marks = boxes.crossed(at, end) if math.dist(end, at) > 10 else (0, 0)
            if labels:
                continue
            cost = math.dist(end, at) + 15 * boxes.covered(box) + 40 * marks
            if best is None or cost < best[0]:
                best = cost, (x, y), box
        if best is not None and best[0] < distance + 12:
            break
    return best


def nearest_on(box, at):
    return min(max(at[0], box[0]), box[2]), min(max(at[1], box[1]), box[3])


def sampled(places, step=6):
    """Pixels along a polyline."""
    for (x0, y0), (x1, y1) in itertools.pairwise(places):
        n = max(1, min(400, int(math.dist((x0, y0), (x1, y1)) / step)))
        yield from ((x0 + (x1 - x0) * i / n, y0 + (y1 - y0) * i / n) for i in range(n + 1))


def group_text(tags, all_tags, numbered):
    """What marks at one place are called together; None when it would take more than three lines."""
    points = [tag.point for tag in tags]
    if numbered:
        return "\n".join(textwrap.wrap(ranges_text([p.number for p in points]), 16))
    lines = []
    for name in distinct(p.label.partition(" " + next(iter(p.shown), "\0") + "=")[0] for p in points):
        mine = [p for p in points if p.label.startswith(name) and p.label[len(name):][:1] in ("", " ")]
        alike = [t.point for t in all_tags if t.point.variant == mine[0].variant and t.point.run is mine[0].run]
        words = [name]
        for param in mine[0].shown:
            values = distinct(p.shown.get(param) for p in mine)
            if len(values) == 1 or set(values) != {p.shown.get(param) for p in alike}:
                words.append(f"{param}={','.join(str(v) for v in values)}")
        lines.append(" ".join(words))
    return "\n".join(lines) if len(lines) <= 3 and all(len(line) <= 44 for line in lines) else None


class Painter:
    """Draws one chart with matplotlib. Points carry "names", or "numbers" that rows explain, or "nothing"."""

    def __init__(self, chart, carry):
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib.figure import Figure
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": FONT, "text.parse_math": False,
                                    "svg.fonttype": "path", "svg.hashsalt": "gpuexp", "axes.spines.top": False,
                                    "axes.spines.right": False, "pdf.fonttype": 42})
        self.chart, self.carry, self.numbered = chart, carry, carry == "numbers"
        self.unplaced, self.label_boxes = 0, []
        self.unlabelled = []
        self.figure = Figure(dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)
        self.lay_out()
        for panel, axes in zip(chart.panels, self.axes):
            self.draw_panel(panel, axes)
        self.canvas.draw()
        for panel, axes in zip(chart.panels, self.axes):
            self.label_panel(panel, axes)

    # -- sizes in inches

    def text_size(self, text, size):
        from matplotlib.font_manager import FontProperties
        width, height = 0.0, 0.0
        for line in text.split("\n"):
            w, _, _ = self.canvas.get_renderer().get_text_width_height_descent(line, FontProperties(size=size), False)
            width, height = max(width, w), height + 1.25 * size * DPI / 72
        return width, height

    def wrapped(self, text, size, width):
        """The text in lines no wider than `width` inches."""
        per_character = self.text_size("abcdefghij klmnopqrst", size)[0] / 21 / DPI
        return textwrap.wrap(text, max(20, int(width / per_character)))

    def row_labels(self, panel):
        if len(panel.rows) > LABELLED_ROWS:
            return None
        labels = [textwrap.shorten(p.label, 200) for p in panel.rows]
        labels = [label if len(label) <= 60 else label[:38] + " ... " + label[-18:] for label in labels]
        return [f"{p.number}  {label}" for p, label in zip(panel.rows, labels)] if self.numbered else labels

    def lay_out(self):
        chart = self.chart
        self.names, boxes, width, tall = self.panel_boxes()
        counters = [panel for panel in chart.panels if panel.series and panel.series[0].gray and panel.rows is not None]
        text_width = width - 0.4 - (2.9 if counters else 0)  # the legend of the counters stands beside
        subtitle = self.wrapped(chart.subtitle, SMALL, width - 0.5)
        notes = [line for note in chart.notes for line in self.wrapped(note, SMALL, text_width)]
        self.legend_columns = self.columns(text_width)
        legend_rows = math.ceil(len(chart.legend) / self.legend_columns)
        words = 0.2 + 0.155 * len(notes) + 0.215 * legend_rows
        if counters:
            words = max(words, 0.15 + 0.18 * len(counters[0].series))
        below, above = words + 0.68, 0.68 + 0.16 * len(subtitle)
        height = below + tall + above
        self.figure.set_size_inches(width, height)
        self.axes = [self.figure.add_axes([x / width, (below + y) / height, w / width, h / height])
                     for x, y, w, h in boxes]
        text = self.figure.text
        title = self.wrapped(chart.title, 13.5, width - 0.4)
        text(0.2 / width, 1 - 0.13 / height, title[0] + (" ..." if len(title) > 1 else ""), size=13.5, weight="bold",
             va="top")
        text(0.2 / width, 1 - 0.42 / height, "\n".join(subtitle), size=SMALL, color="#444444", va="top")
        text(0.2 / width, 0.1 / height, "\n".join(notes), size=SMALL, color="#444444", va="bottom", linespacing=1.25)
        self.draw_legend(0.14 / width, (0.14 + 0.155 * len(notes)) / height)
        self.counter_legend_at = 1 - 2.75 / width, words / height

    def panel_boxes(self):
        """Names of the rows; left, bottom, width and height of each panel above the legend; both sizes. In inches."""
        panels = self.chart.panels
        rows = [panel for panel in panels if panel.rows is not None]
        if rows:
            names = self.row_labels(rows[0])
            left = 0.35 + (max(self.text_size(name, SMALL)[0] for name in names) / DPI if names else 0.45)
            boxes, x, tall = [(0.9, 0, 6.2, self.chart.height - 2.1)], 7.1, self.chart.height - 2.1
            for i, _ in enumerate(rows):
                x += 0.3 if i else left
                boxes.append((x, 0, 2.5, tall))
                x += 2.5
            return names, boxes, x + 0.25, tall
        columns = len(panels) if len(panels) <= 3 else math.ceil(len(panels) / 2)
        lines = math.ceil(len(panels) / columns)
        high, boxes = (self.chart.height - 2.3) * (1 if lines == 1 else 0.78), []
        for line in range(lines):
            x, mine = 0.0, panels[line * columns:(line + 1) * columns]
            for panel in mine:
                x += 0.9
                w = (11.7 - 0.9 * columns) * panel.width / max(columns, sum(p.width for p in mine))
                boxes.append((x, (lines - 1 - line) * (high + 1.0), w, high))
                x += w
        return None, boxes, 11.9, lines * high + (lines - 1) * 1.0

    def columns(self, width):
        """The most columns of the legend that fit; it fills them from the top."""
        sizes = [self.text_size(name, SMALL)[0] / DPI + 0.55 for name, *_ in self.chart.legend]
        for columns in range(len(sizes), 1, -1):
            rows, longer = divmod(len(sizes), columns)  # so many columns have one entry more
            ends = [0, *itertools.accumulate([rows + 1] * longer + [rows] * (columns - longer))]
            if sum(max(sizes[a:b]) for a, b in itertools.pairwise(ends)) < width - 0.3:
                return columns
        return 1

    def draw_legend(self, x, y):
        from matplotlib.lines import Line2D
        handles = []
        for name, style, filled, line in self.chart.legend:
            look = self.look(style or 0, filled, style is None) if filled is not None else {"marker": ""}
            handles.append(Line2D([], [], label=name, linestyle="-" if line == "solid" else "", **look))
        if handles:
            self.figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(x, y), ncol=self.legend_columns,
                               fontsize=SMALL, frameon=False, handletextpad=0.5, columnspacing=1.6, borderaxespad=0,
                               handlelength=1.6, labelspacing=0.45)

    # -- marks

    def look(self, style, filled, gray=False, crowd=0):
        color = "#555555" if gray else COLORS[style % len(COLORS)]
        # Marks at one place stay visible inside each other.
        size = 4.5 if crowd > 150 else 6.0 if crowd > 60 else [9.5, 7.5, 6.2, 5.2][style % 4] if crowd else 7.5
        return {"marker": MARKERS[style % len(MARKERS)][0], "color": color,
                "markerfacecolor": color if filled else "white", "markeredgecolor": color, "markeredgewidth": 1.4,
                "markersize": size}

    def draw_panel(self, panel, axes):
        if panel.xlog:
            axes.set_xscale("log", base=2 if panel.xticks else 10)
        if panel.ylog:
            axes.set_yscale("log")
        axes.set_title(panel.title, size=FONT + 0.5, loc="left")
        axes.set_xlabel(panel.xlabel, size=SMALL + 0.5 if panel.rows else FONT)
        axes.set_ylabel(panel.ylabel)
        axes.grid(True, which="major", color="#e3e3e3", linewidth=0.7)
        axes.set_axisbelow(True)
        if panel.xlim:
            axes.set_xlim(panel.xlim)
        if panel.ylim:
            axes.set_ylim(panel.ylim)
        for line in panel.lines:
            self.draw_line(line, axes)
        crowd = 1 if panel.rows is not None else sum(len(s.x) for s in panel.series)
        for series in panel.series:
            look = self.look(series.style, series.filled, series.gray, crowd)
            if panel.rows is not None:
                look["markersize"] = (4.2 if series.gray else 6.5) if len(panel.rows) <= LABELLED_ROWS else 3.5
            if panel.xticks is not None and series.filled:
                look["markersize"] *= 0.6  # an equal prediction stays visible around it
            style = {"solid": "-", "dashed": "--"}.get(series.line, "")
            axes.plot(series.x, series.y, linestyle=style, linewidth=1.2, zorder=4 + 0.01 * series.style,
                      label=series.name, **look)
            if series.filled and any(a != b for a, b in zip(series.low, series.high)):
                spread = [[max(0, y - low) for y, low in zip(series.y, series.low)],
                          [max(0, high - y) for y, high in zip(series.y, series.high)]]
                axes.errorbar(series.x, series.y, spread, fmt="none", ecolor=look["color"], elinewidth=1.1, capsize=3,
                              zorder=3.9)
        self.set_ticks(panel, axes)
        if panel.rows is not None:
            self.draw_rows(panel, axes)

    def draw_line(self, line, axes):
        if line.kind == "rule":
            if line.y is None:
                axes.axvline(line.x[0], color="#777777", linewidth=1, linestyle=":", zorder=1.5)
            else:
                axes.plot(line.x, line.y, color="#777777", linewidth=1, linestyle=":", zorder=1.5)
        elif line.kind == "path":
            axes.plot(line.x, line.y, color="#888888", linewidth=0.9, zorder=2.5)
            for (x0, y0), (x1, y1) in itertools.pairwise(zip(line.x, line.y)):
                axes.annotate("", xy=(math.sqrt(x0 * x1), math.sqrt(y0 * y1)), xytext=(x0, y0), zorder=2.6,
                              arrowprops={"arrowstyle": "-|>", "color": "#888888", "lw": 0.9, "shrinkA": 0,
                                          "shrinkB": 0})
        else:
            roof = line.kind == "roof"
            axes.plot(line.x, line.y, color="#222222" if roof else "#8a8a8a", linewidth=1.8 if roof else 1.1,
                      linestyle=LINE_STYLES[line.device], zorder=2, solid_capstyle="round")

    def set_ticks(self, panel, axes):
        from matplotlib.ticker import (FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter,
                                       NullLocator)
        if panel.xticks is not None:
            ticks = self.fitting_ticks(panel, axes)
            axes.xaxis.set_major_locator(FixedLocator([at for at, _ in ticks]))
            axes.xaxis.set_major_formatter(FixedFormatter([name for _, name in ticks]))
            axes.xaxis.set_minor_locator(NullLocator())
        elif panel.xlog:
            if panel.xlim[1] / panel.xlim[0] < 30:
                axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        if panel.ylog:
            low, high = axes.get_ylim()
            if high / low < 60:
                axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            per_second = "/s" in panel.ylabel
            axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: prefixed(v).strip() if per_second else f"{v:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        elif panel.rows is None:
            axes.set_ylim(bottom=0, top=1.08 * max([max(s.y) for s in panel.series if s.y], default=1) or 1)

    def fitting_ticks(self, panel, axes):
        """(value, name) of the first and last value, and of those between whose names do not touch."""
        low, high = panel.xlim
        width = axes.get_position().width * self.figure.get_size_inches()[0] * DPI
        names = panel.xnames or [text_of(v) for v in panel.xticks]

        def ends(i):
            v = panel.xticks[i]
            at = width * (math.log(v / low) / math.log(high / low) if panel.xlog else (v - low) / (high - low))
            half = self.text_size(names[i], FONT)[0] / 2 + 4
            return at - half, at + half
        last = len(names) - 1
        kept = [0]
        for i in range(1, last):
            if ends(i)[0] > ends(kept[-1])[1] and ends(i)[1] < ends(last)[0]:
                kept.append(i)
        return [(panel.xticks[i], names[i]) for i in (kept + [last] if last else kept)]

    def draw_rows(self, panel, axes):
        axes.set_ylim(len(panel.rows) - 0.4, -0.6)
        if self.names is None:
            axes.set_ylabel("point, in plan order" if panel is self.chart.panels[1] else "")
        elif panel is self.chart.panels[1]:
            axes.set_yticks(range(len(panel.rows)), self.names, size=SMALL)
        else:
            axes.set_yticks(range(len(panel.rows)), [""] * len(panel.rows))
        axes.tick_params(axis="y", length=0)
        for x, side, row, text in panel.texts:
            axes.annotate(text, (x, row), xytext=(6 * side, 0), textcoords="offset points", size=SMALL, va="center",
                          ha="left" if side > 0 else "right",
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})
        if panel.series and panel.series[0].gray:
            self.figure.legend(handles=axes.get_legend_handles_labels()[0], loc="upper left", frameon=False,
                               bbox_to_anchor=self.counter_legend_at, fontsize=SMALL, handletextpad=0.2,
                               labelspacing=0.25, borderaxespad=0)

    # -- labels inside a panel

    def label_panel(self, panel, axes):
        if panel.rows is not None or not (panel.tags or panel.lines):
            return
        frame = axes.get_window_extent()
        boxes = Boxes((frame.x0 + 1, frame.y0 + 1, frame.x1, frame.y1))

        def pixels(x, y):
            return tuple(axes.transData.transform((x, y)))
        self.frame = frame
        crowd = sum(len(s.x) for s in panel.series)
        for series in panel.series:
            for x, y, low, high in zip(series.x, series.y, series.low, series.high):
                px, py = pixels(x, y)
                size = self.look(series.style, series.filled, crowd=crowd)["markersize"] * DPI / 72 + 4
                boxes.marks.append(box_at(px, py, size, size))
                if series.filled and high > low:
                    boxes.marks.append((px - 3, pixels(x, low)[1], px + 3, pixels(x, high)[1]))
            if series.line:
                boxes.soft += sampled([pixels(x, y) for x, y in zip(series.x, series.y)])
        for line in panel.lines:
            ends = axes.get_ylim() if line.y is None else line.y
            boxes.soft += sampled([pixels(x, y) for x, y in zip(line.x, ends)])
        for line in sorted(panel.lines, key=lambda line: line.kind != "roof"):
            if line.text:
                self.label_line(line, axes, boxes, pixels)
        self.label_texts([t for t in panel.tags if t.point is None], axes, boxes, pixels, "#333333")
        self.label_points([t for t in panel.tags if t.point is not None], axes, boxes, pixels)

    def put(self, axes, centre, text, size, **style):
        axes.text((centre[0] - self.frame.x0) / self.frame.width, (centre[1] - self.frame.y0) / self.frame.height, text,
                  transform=axes.transAxes, size=size, ha="center", va="center", zorder=6, linespacing=1.15,
                  bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.3}, **style)

    def label_line(self, line, axes, boxes, pixels):
        """Along a slope, or at the right end of a flat roof: where nothing is covered."""
        (x0, y0), (x1, y1) = pixels(line.x[0], line.y[0]), pixels(line.x[-1], line.y[-1])
        x0, y0 = (max(x0, boxes.inside[0]), y0) if not line.rising else clip_low((x0, y0), (x1, y1), boxes.inside)
        width, height = self.text_size(line.text, SMALL)
        length = math.dist((x0, y0), (x1, y1))
        if not length:
            return
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        first, last = width / 2 + 6, length - width / 2 - 6
        starts = [last] if last <= first or not line.rising else []
        starts += [first + (last - first) * k / 24 for k in range(25)] if last > first else []
        best = None
        for along, side in itertools.product(starts, (1, -1)):
            offset = side * (height / 2 + 2)
            centre = x0 + ux * along - uy * offset, y0 + uy * along + ux * offset
            pieces = [box_at(centre[0] + ux * s, centre[1] + uy * s, height, height)
                      for s in along_text(width + 8, height)]
            if not all(boxes.free(piece) for piece in pieces):
                continue
            # Slopes are named near their middle, flat roofs at their right end, above the line.
            far = abs(along - length / 2) if line.rising else last - along
            cost = far + (0 if side > 0 else 60) + 40 * sum(boxes.covered(piece) for piece in pieces)
            if best is None or cost < best[0]:
                best = cost, centre, pieces
        if best is None:
            # Not along the line: beside it, with a leader.
            share = 0.3 if line.rising else 0.97
            at = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            found = place_label(boxes, at, (width, height),
                                [4, 14, 30, 50, 75, 100, 130, 170, 220, 280])
            if found:
                self.mark_label(axes, boxes, at, found, line.text, "#222222", 16)
            else:
                self.unlabelled.append(line.text)
            return
        boxes.labels += best[2]
        self.label_boxes.append((line.text, best[2]))
        self.put(axes, best[1], line.text, SMALL, rotation=math.degrees(math.atan2(uy, ux)), rotation_mode="anchor",
                 color="#222222")

    def label_texts(self, tags, axes, boxes, pixels, color):
        for tag in tags:
            at = pixels(tag.x, tag.y)
            if not (boxes.inside[0] <= at[0] <= boxes.inside[2] and boxes.inside[1] <= at[1] <= boxes.inside[3]):
                continue
            found = place_label(boxes, at, self.text_size(tag.text, SMALL), [4, 8, 14, 22, 34, 50])
            if found:
                self.mark_label(axes, boxes, at, found, tag.text, color, 16)

    def mark_label(self, axes, boxes, at, found, text, color, leader_from=10):
        _, centre, box = found
        boxes.labels.append(box)
        self.label_boxes.append((text, [box]))
        self.put(axes, centre, text, SMALL, color=color)
        end = nearest_on(box, at)
        if math.dist(end, at) > leader_from:
            x, y = zip(*(((px - self.frame.x0) / self.frame.width, (py - self.frame.y0) / self.frame.height)
                         for px, py in (at, end)))
            axes.plot(x, y, transform=axes.transAxes, color="#999999", linewidth=0.7, zorder=2.8)
            boxes.soft += sampled([at, end])

    def label_points(self, tags, axes, boxes, pixels):
        groups = []
        for tag in tags:
            at = pixels(tag.x, tag.y)
            near = [g for g in groups if math.dist(g[0], at) < 5]
            if near:
                near[0][1].append(tag)
            else:
                groups.append((at, [tag]))
        if self.carry == "nothing" or len(groups) > LABELLED_PLACES:
            self.unplaced = len(tags)
            return
        reach = [7, 11, 16, 24, 34, 48] + ([66, 90, 120, 160, 210, 270] if self.numbered else [])
        for at, mine in sorted(groups, key=lambda g: -sum(math.dist(g[0], other[0]) < 40 for other in groups)):
            text = group_text(mine, tags, self.numbered)
            found = text and place_label(boxes, at, self.text_size(text, SMALL), reach)
            if found:
                self.mark_label(axes, boxes, at, found, text, "#000000")
            else:
                self.unplaced += len(mine)

    def save(self, path, dpi):
        ending = os.path.splitext(path)[1][1:].lower()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
        write_atomically(path, lambda temporary: self.figure.savefig(
            temporary, format=ending, dpi=dpi, metadata=metadata, facecolor="white"))


def along_text(width, height):
    count = max(1, math.ceil(width / height))
    return [(i + 0.5) / count * width - width / 2 for i in range(count)]


def clip_low(start, end, inside):
    """The start of a rising line, moved to where it enters the frame."""
    (x0, y0), (x1, y1) = start, end
    if y0 < inside[1] and y1 > y0:
        share = (inside[1] - y0) / (y1 - y0)
        return x0 + share * (x1 - x0), inside[1]
    return start


def painted(chart):
    """Names beside the points; numbers that the rows explain when names do not fit; nothing when rows have no names."""
    painter = Painter(chart, "names")
    if painter.unlabelled:
        chart.notes.append("Lines without room for their label: " + "; ".join(painter.unlabelled) + ".")
        painter = Painter(chart, "names")
    if not painter.unplaced:
        return painter
    if sum(tag.point is not None for panel in chart.panels for tag in panel.tags) <= LABELLED_ROWS:
        painter = Painter(chart, "numbers")
    else:
        painter = Painter(chart, "nothing")
    if painter.unplaced:
        chart.notes.append(f"Points without a label: {painter.unplaced}. The .html output names each, --filter chooses "
                           "fewer.")
        painter = Painter(chart, painter.carry)
    return painter
