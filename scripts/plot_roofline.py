#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["matplotlib>=3.6", "plotly>=5.4"]
# ///
"""Draws result files of gpuexp: a roofline, a hierarchical one, a sweep over a parameter, a crossover of two variants.

    scripts/plot_roofline.py results/out/tile_sweep.simt.json -o tile_sweep.png -o tile_sweep.html
    scripts/plot_roofline.py results/out/tile_sweep.cuda.json --kind hierarchy -o levels.svg
    scripts/plot_roofline.py results/out/tile_sweep.simt.json --kind sweep --x TILE -o sweep.svg
    scripts/plot_roofline.py results/out/density_sweep.simt.json --kind crossover -o crossover.pdf

Reads the JSON and the CSV that `gpuexp run` writes (docs/result_files.md), one or several. The ending of -o chooses
the format: .png, .svg and .pdf need matplotlib, .html needs plotly and is one file that works offline.

Filled markers are measured. Hollow markers are bounds that the roof allows for counted or modelled bytes: they lie on
the roof by construction and are never performance that was achieved. Colours can be told apart by the colour-blind,
and every series has its own marker, so that it can be read in grey.

Exit codes: 0 drawn; 2 usage, or input that cannot be read or drawn; 3 a library is missing; 4 the plot cannot be
written.
"""

import argparse
import os
import sys

from plotting.hierarchy import hierarchy_chart
from plotting.page import save_html
from plotting.paint import DPI, painted
from plotting.points import usable_points
from plotting.results import BASES, PlotError, read_roof, read_run, same_card
from plotting.roofline import roofline_chart
from plotting.sweep import crossover_chart, sweep_chart


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="plot_roofline.py", description=__doc__.partition("\n")[0],
                                     epilog="Filled markers are measured, hollow ones are modelled bounds.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="<name>.<backend>.json or .csv of `gpuexp run`")
    parser.add_argument("-o", "--output", action="append", required=True, metavar="PLOT",
                        help=".png, .svg, .pdf or .html; may be given several times")
    parser.add_argument("--kind", choices=["roofline", "hierarchy", "sweep", "crossover"],
                        default="roofline",
                        help="default: %(default)s; hierarchy: each point at its DRAM, L2 and L1 intensity")
    parser.add_argument("--x", metavar="PARAMETER", help="of a sweep or crossover; default: the one with most values")
    parser.add_argument("--variants", metavar="A,B", help="of a crossover; default: the two that there are")
    parser.add_argument("--filter", action="append", default=[], metavar="WORDS",
                        help="only these points, as for gpuexp run: 'matmul/tiled TILE=16,32'")
    parser.add_argument("--basis", choices=["auto", *BASES], default="auto",
                        help="bytes that intensities and bounds are taken over; default: DRAM bytes for measured "
                        "points, sectors for bounds, compulsory bytes for a crossover")
    parser.add_argument("--work", choices=["auto", "flops", "bytes"], default="auto",
                        help="what is got done; default: useful bytes when no point has FLOPs")
    parser.add_argument("--ceilings", choices=["used", "all"], default="used",
                        help="compute ceilings: of the points with their tensor-core counterparts, or all")
    parser.add_argument("--roof", metavar="FILE",
                        help="ceilings from `gpuexp roofline --format json` in place of those in the files")
    parser.add_argument("--no-path", action="store_true", help="without the line through the points in plan order")
    parser.add_argument("--title", help="in place of experiment and device")
    parser.add_argument("--dpi", type=int, default=DPI, help="of .png; default %(default)s")
    options = parser.parse_args(arguments)
    for path in options.output:
        if os.path.splitext(path)[1].lower() not in (".png", ".svg", ".pdf", ".html"):
            raise PlotError(f"{path}: the name must end in .png, .svg, .pdf or .html")
    if not 20 <= options.dpi <= 1200:
        raise PlotError(f"--dpi {options.dpi}: must be from 20 to 1200")
    return options


def check_library(name):
    try:
        __import__(name)
    except ImportError as error:
        raise PlotError(f"{name} is missing for {sys.executable} ({error}): install the package python3-{name} "
                        f"(Debian, Ubuntu; for /usr/bin/python3) or run `pip install {name}`", 3) from error


def load(options):
    repeated = [p for p in options.files if options.files.count(p) > 1]
    if repeated:
        raise PlotError(f"{repeated[0]}: is given twice")
    runs = [read_run(path) for path in options.files]
    roof = read_roof(options.roof) if options.roof else None
    for run in runs:
        named = run.roof.name
        run.roof = roof or run.roof
        run.what_if = named != run.roof.name or bool(run.gpu) and not same_card(run.gpu, run.roof.name)
    return runs


def main(arguments=None):
    try:
        options = parse_arguments(arguments)
        html_only = all(path.lower().endswith(".html") for path in options.output)
        if not html_only:
            check_library("matplotlib")
        if any(path.lower().endswith(".html") for path in options.output):
            check_library("plotly")
        runs = load(options)
        points, notes = usable_points(runs, options.filter)
        build = {"roofline": roofline_chart, "hierarchy": hierarchy_chart, "sweep": sweep_chart,
                 "crossover": crossover_chart}[options.kind]
        chart = build(runs, points, notes, options)
        painter = None if html_only else painted(chart)
        for path in options.output:
            if path.lower().endswith(".html"):
                save_html(chart, path)
            else:
                painter.save(path, options.dpi)
    except PlotError as error:
        print(f"plot_roofline.py: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
