"""A chart as one HTML file that works offline, with plotly."""

import html
import math
import re

from plotting.chart import COLORS, LABELLED_ROWS, MARKERS
from plotting.files import write_atomically
from plotting.points import text_of

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font-family: "DejaVu Sans", Verdana, Arial, sans-serif; margin: 1.2em; color: #222; }}
h1 {{ font-size: 1.25em; margin: 0 0 0.3em; }}
p, li {{ font-size: 0.82em; color: #444; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{subtitle}</p>
{plot}
<ul>
{notes}
</ul>
</body>
</html>
"""


def plotly_figure(chart):
    from plotly import graph_objects
    from plotly.subplots import make_subplots
    widths = [panel.width for panel in chart.panels]
    columns = len(widths) if len(widths) <= 3 else math.ceil(len(widths) / 2)
    rows = math.ceil(len(widths) / columns)
    widths = widths[:columns]
    figure = make_subplots(rows=rows, cols=columns, column_widths=[w / sum(widths) for w in widths],
                           subplot_titles=[html.escape(p.title).replace("\n", "<br>") for p in chart.panels],
                           horizontal_spacing=gap_for(row_names(chart.panels[1])) if chart.panels[-1].rows else 0.09)
    seen = set()
    for at, panel in enumerate(chart.panels):
        column = 1 + at % columns
        place = {"row": 1 + at // columns, "col": column}
        slopes = 0
        for line in panel.lines:
            figure.add_trace(line_trace(graph_objects, line, panel), **place)
            if line.text:
                figure.add_trace(line_label(graph_objects, line, slopes), **place)
                slopes += line.rising
        for series in panel.series:
            figure.add_trace(series_trace(graph_objects, series, panel, seen), **place)
        figure.update_xaxes(plotly_axis(panel.xlabel, panel.xlog, panel.xlim, panel.xticks, panel.xnames), **place)
        figure.update_yaxes(row_axis(panel, column == 2) if panel.rows is not None
                            else plotly_axis(panel.ylabel, panel.ylog, panel.ylim or y_limits(panel)), **place)
        for tag in panel.tags:
            if tag.point is None:
                figure.add_annotation(annotation(tag, panel), **place)
    figure.update_layout(
        template="plotly_white", hovermode="closest", height=int(96 * chart.height * (1 + 0.5 * (rows - 1))),
        font={"family": "DejaVu Sans, Verdana, Arial, sans-serif", "size": 12, "color": "#222222"},
        hoverlabel={"align": "left", "font": {"size": 11}, "namelength": -1},
        legend={"x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"}, margin={"l": 70, "r": 20, "t": 60, "b": 70})
    return figure


def row_names(panel):
    """Short names of the rows; the hover gives them whole. None when there are too many."""
    if len(panel.rows) > LABELLED_ROWS:
        return None
    return [p.label if len(p.label) <= 30 else f"{p.number}  {p.label[:24]}..." for p in panel.rows]


def gap_for(names):
    """Share of the width that such names take between two panels."""
    return min(0.24, 0.03 + 0.0068 * max(map(len, names))) if names else 0.06


def row_axis(panel, first):
    """Rows from top to bottom, named in the first panel that has them."""
    axis = {"range": [len(panel.rows) - 0.4, -0.6], "showticklabels": first, "zeroline": False}
    names = row_names(panel)
    if names:
        axis.update(tickvals=[*range(len(names))], ticktext=[*map(html.escape, names)])
    return axis


def line_trace(graph_objects, line, panel):
    color, width = {"roof": ("#222222", 2), "thin": ("#8a8a8a", 1.2), "path": ("#999999", 1),
                    "rule": ("#777777", 1)}[line.kind]
    dash = "dot" if line.kind == "rule" else ["solid", "dash", "dashdot", "dot"][line.device]
    y = list(y_limits(panel)) if line.y is None else line.y
    return graph_objects.Scatter(x=line.x, y=y, mode="lines", line={"color": color, "width": width, "dash": dash},
                                 showlegend=False, hoverinfo="skip")


def line_label(graph_objects, line, slopes):
    """A flat roof is named at its right end; slopes near their upper ends, one below the other."""
    share = 0.92 - 0.09 * slopes if line.rising else 1
    x, y = (start ** (1 - share) * end ** share for start, end in ((line.x[0], line.x[-1]), (line.y[0], line.y[-1])))
    return graph_objects.Scatter(x=[x], y=[y], mode="text", text=[html.escape(line.text)], showlegend=False,
                                 textposition="middle left" if line.rising else "top left",
                                 textfont={"size": 11, "color": "#222222"}, hoverinfo="skip",
                                 cliponaxis=False)


def series_trace(graph_objects, series, panel, seen):
    color = "#555555" if series.gray else COLORS[series.style % len(COLORS)]
    symbol = MARKERS[series.style % len(MARKERS)][1]
    crowded = len(panel.rows or []) > LABELLED_ROWS or sum(len(s.x) for s in panel.series) > 150
    size = 6 if crowded or series.gray and panel.rows else [13, 10, 8, 7][series.style % 4]
    if panel.xticks is not None and series.filled:
        size *= 0.6  # an equal prediction stays visible around it
    name = html.escape(series.name)
    if not series.gray:
        name += " (measured)" if series.filled else " (bound or emulated)"
    trace = {"x": series.x, "y": series.y, "name": name, "legendgroup": name,
             "mode": "lines+markers" if series.line else "markers",
             "hovertext": ["<br>".join(map(html.escape, lines)) for lines in series.hover], "hoverinfo": "text",
             "marker": {"symbol": symbol if series.filled else f"{symbol}-open", "color": color, "size": size,
                        "line": {"width": 1.6, "color": color}},
             "line": {"color": color, "width": 1.3, "dash": "dash" if series.line == "dashed" else "solid"},
             "showlegend": name not in seen and (series.legend or bool(series.line))}
    seen.add(name)
    if series.filled and any(a != b for a, b in zip(series.low, series.high)):
        trace["error_y"] = {"type": "data", "symmetric": False, "thickness": 1.2, "width": 4,
                            "array": [max(0, h - y) for y, h in zip(series.y, series.high)],
                            "arrayminus": [max(0, y - low) for y, low in zip(series.y, series.low)]}
    return graph_objects.Scatter(**trace)


def y_limits(panel):
    """What shows all marks, with a margin."""
    values = [v for s in panel.series for v in s.y] or [1.0]
    low, high = min(values), max(values)
    if not panel.ylog:
        return 0, 1.08 * high or 1
    margin = max((high / low) ** 0.06, 1.1)
    return low / margin, high * margin


def plotly_axis(label, log, limit, ticks=None, names=None):
    axis = {"title": {"text": html.escape(label).replace("\n", "<br>"), "standoff": 8}, "zeroline": False,
            "type": "log" if log else "linear", "range": [math.log10(v) for v in limit] if log else list(limit)}
    if log:
        axis.update(exponentformat="SI" if "/s" in label else "none", dtick=1 if limit[1] / limit[0] > 60 else "D2")
    if ticks is not None:
        shown = spread_ticks(ticks, log, limit)
        axis.update(tickvals=[ticks[i] for i in shown], tickangle=0,
                    ticktext=[html.escape(names[i]) if names else text_of(ticks[i]) for i in shown])
    return axis


def spread_ticks(ticks, log, limit):
    """Indices of ticks that are at least a twelfth of the axis apart, the last among them."""
    def at(value):
        return math.log(value / limit[0]) / math.log(limit[1] / limit[0]) if log else \
            (value - limit[0]) / (limit[1] - limit[0])
    kept = [0]
    for i in range(1, len(ticks) - 1):
        if at(ticks[i]) - at(ticks[kept[-1]]) > 1 / 12 and at(ticks[-1]) - at(ticks[i]) > 1 / 12:
            kept.append(i)
    return kept + [len(ticks) - 1] if len(ticks) > 1 else kept


def annotation(tag, panel):
    return {"x": math.log10(tag.x) if panel.xlog else tag.x, "y": math.log10(tag.y) if panel.ylog else tag.y,
            "text": html.escape(tag.text), "showarrow": True, "arrowhead": 0, "arrowcolor": "#999999", "ax": 30,
            "ay": 25, "font": {"size": 10, "color": "#333333"}}


def save_html(chart, path):
    plot = plotly_figure(chart).to_html(include_plotlyjs=True, full_html=False, include_mathjax=False,
                                        config={"displaylogo": False, "responsive": True})
    # The random id of the drawing would make every file differ.
    plot = re.sub(r'<div id="([0-9a-f-]{36})".*\Z', lambda rest: rest[0].replace(rest[1], "gpuexp-plot"), plot,
                  flags=re.DOTALL)
    page = PAGE.format(title=html.escape(chart.title), subtitle=html.escape(chart.subtitle), plot=plot,
                       notes="\n".join(f"<li>{html.escape(note)}</li>" for note in chart.notes))

    def write(temporary):
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(page)
    write_atomically(path, write)
