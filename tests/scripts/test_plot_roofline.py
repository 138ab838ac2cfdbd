#!/usr/bin/env python3
"""Tests scripts/plot_roofline.py on files that gpuexp writes and on files made by editing them.

The environment variable GPUEXP_BINARY names the gpuexp that writes the files. Measured files are test data made here
from emulated ones, as docs/result_files.md describes: no GPU ran.
"""

import contextlib
import copy
import csv
import io
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "plot_roofline.py"
SKIP_CODE = 77
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))

import plot_roofline  # noqa: E402
from plotting import chart as chart_module  # noqa: E402
from plotting import hierarchy, paint, points, results, roofline, sweep  # noqa: E402


def have(module):
    try:
        __import__(module)
        return True
    except ImportError:
        return False


def measured(record, seed=1, gpu="NVIDIA A100 80GB PCIe"):
    """Test data: a cuda result made from a simt one, with samples, measured counters and predicted ones."""
    rng, record = random.Random(seed), copy.deepcopy(record)
    record["plan"]["backend"] = "cuda"
    record["environment"]["gpu"] = gpu
    for point in record["points"]:
        point["backend"] = "cuda"
        known = {name: held for name, held in point["counters"].items() if held["value"] is not None}
        point["predicted"] = known
        point["counters"] = {name: {"value": held["value"], "source": "measured"} for name, held in known.items()}
        moved = point["compulsory_load_bytes"] + point["compulsory_store_bytes"]
        point["counters"]["dram_read_bytes"] = {"value": 2 * moved, "source": "measured"}
        point["counters"]["dram_write_bytes"] = {"value": moved, "source": "measured"}
        bound = point["analysis"]["bound_time_us"]["value"] * rng.uniform(1.5, 6)
        samples = [bound * factor for factor in (1.0, 1.1, 1.2, 1.3, 1.4)]
        point["timing"] = {"samples_us": samples, "cache_mode": "cold", "discarded_throttled": 0,
                           "sm_clock_mhz": 1410.0, "note": ""}
    return record


def with_levels(record):
    """Test data: the sectors of L2 that a chip would count, half of those that the lanes' requests moved."""
    for point in record["points"]:
        moved = point["analysis"]["transaction"]["bytes"]["value"]
        point["counters"]["l2_read_sectors"] = {"value": moved // 64, "source": "measured"}
        point["counters"]["l2_write_sectors"] = {"value": 0, "source": "measured"}
    return record


def spread(record, count, variants, seed=3):
    """Test data: `count` points of several variants, scattered over intensities."""
    rng, record = random.Random(seed), copy.deepcopy(record)
    base, record["points"] = record["points"][-1], []
    for i in range(count):
        point = copy.deepcopy(base)
        point["variant"], point["params"]["TILE"] = f"matmul/v{i % variants}", i // variants
        for basis in ("loaded", "requested", "transaction"):
            point["analysis"][basis]["bytes"]["value"] = int(point["flops"] / 10 ** rng.uniform(-1, 2.3))
        record["points"].append(point)
    return record


class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="plot_roofline."))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        binary = os.environ.get("GPUEXP_BINARY")
        if not binary:
            raise unittest.SkipTest("GPUEXP_BINARY does not name a gpuexp")
        for name, size in (("tile_sweep", "n=32"), ("transpose", "rows=64")):
            subprocess.run([binary, "run", str(ROOT / "configs" / f"{name}.json"), "--backend", "simt", "--quiet",
                            "--filter", size, "--out", str(cls.folder)], check=True, capture_output=True)
        cls.tiles = json.loads((cls.folder / "tile_sweep.simt.json").read_text())

    def file(self, record, name="edited.simt.json"):
        path = self.folder / f"{self._testMethodName}.{name}"
        path.write_text(record if isinstance(record, str) else json.dumps(record))
        return str(path)

    def run_script(self, *arguments):
        """Exit code and standard error of the command, run in this process."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            try:
                code = plot_roofline.main([*map(str, arguments)])
            except SystemExit as stop:
                code = stop.code
        return code, errors.getvalue()

    def draws(self, *arguments, ending="png"):
        out = self.folder / f"{self._testMethodName}.{ending}"
        out.unlink(missing_ok=True)
        code, errors = self.run_script(*arguments, "-o", out)
        self.assertEqual((code, errors), (0, ""))
        return out

    def refuses(self, words, *arguments, code=2, out=None):
        got, errors = self.run_script(*arguments, "-o", out or self.folder / "refused.png")
        self.assertEqual(got, code, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertNotIn("Traceback", errors)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, errors)
        self.assertFalse((self.folder / "refused.png").exists())

    def chart(self, *arguments):
        options = plot_roofline.parse_arguments([*map(str, arguments), "-o", "x.png"])
        runs = plot_roofline.load(options)
        kept, notes = points.usable_points(runs, options.filter)
        build = {"roofline": roofline.roofline_chart, "hierarchy": hierarchy.hierarchy_chart,
                 "sweep": sweep.sweep_chart, "crossover": sweep.crossover_chart}[options.kind]
        return build(runs, kept, notes, options)

    @property
    def simt(self):
        return str(self.folder / "tile_sweep.simt.json")

    # -- what is drawn

    def test_formats(self):
        self.assertEqual(self.draws(self.simt).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(self.draws(self.simt, ending="pdf").read_bytes()[:5], b"%PDF-")
        svg = xml.etree.ElementTree.parse(self.draws(self.simt, ending="svg")).getroot()
        self.assertTrue(svg.tag.endswith("svg"))

    def test_the_same_input_gives_the_same_bytes(self):
        for ending in ("png", "svg"):
            first = self.draws(self.simt, ending=ending).read_bytes()
            self.assertEqual(first, self.draws(self.simt, ending=ending).read_bytes())

    def test_the_command_itself(self):
        out = self.folder / "command.png"
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.simt, "-o", out], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertTrue(out.exists())

    def test_intensities_and_bounds_are_those_of_the_file(self):
        run = results.read_run(self.simt)
        for point, record in zip(run.points, self.tiles["points"]):
            analysis = record["analysis"]
            for basis in ("loaded", "requested", "transaction", "compulsory"):
                self.assertAlmostEqual(point.intensity("flops", basis), analysis[basis]["flop_per_byte"]["value"])
                self.assertAlmostEqual(point.attainable("flops", basis) /
                                       analysis[basis]["attainable_flop_per_s"]["value"], 1)
                self.assertAlmostEqual(point.bound_us(basis) / analysis[basis]["bound_time_us"]["value"], 1)

    def test_csv_and_json_place_points_alike(self):
        by_json, by_csv = (self.chart(self.folder / f"tile_sweep.simt.{ending}") for ending in ("json", "csv"))
        for a, b in zip(by_json.panels[0].series, by_csv.panels[0].series, strict=True):
            self.assertEqual((a.name, a.filled, a.x, a.y), (b.name, b.filled, b.x, b.y))
        self.draws(self.folder / "tile_sweep.simt.csv")

    def test_emulated_points_are_bounds_on_the_roof_and_never_filled(self):
        chart = self.chart(self.simt)
        tiled = [s for s in chart.panels[0].series if s.name == "tiled"]
        self.assertEqual(len(tiled), 1)
        sectors = [66560, 16896, 4352, 1152, 640, 384]  # TILE=2 moves 4 times naive's: no basis may hide it
        self.assertEqual(tiled[0].x, [65536 / (32 * n) for n in sectors])
        for x, y in zip(tiled[0].x, tiled[0].y):
            self.assertAlmostEqual(y / (x * 1.935e12), 1)
        self.assertFalse(any(s.filled for panel in chart.panels for s in panel.series))
        legend = " ".join(name for name, *_ in chart.legend)
        self.assertIn("hollow: modelled bound from emulated counts", legend)
        self.assertNotIn("filled", legend)
        self.assertNotIn("achieved", chart.panels[1].xlabel)
        self.assertIn("A100 80GB PCIe", chart.title)
        self.assertIn("tile_sweep", chart.title)
        self.assertIn("emulated", chart.subtitle)
        self.assertNotIn("measured on", chart.subtitle)
        self.assertEqual(len(chart.panels), 2)  # nothing measured, so nothing to compare with predictions

    def test_percent_of_the_roof(self):
        series = [s for s in self.chart(self.simt).panels[1].series if s.name == "matmul/tiled"][0]
        self.assertAlmostEqual(series.x[-1], 23.1787, places=3)  # of L1 with shared memory
        self.assertAlmostEqual(series.x[0], 0.3053, places=3)    # of the sectors from DRAM

    def test_the_lowest_roof_is_that_of_gpuexp(self):
        for record in (self.tiles, measured(self.tiles)):
            run = results.read_run(self.file(record))
            for point, wanted in zip(run.points, record["points"]):
                limit, (name, rate) = wanted["analysis"]["limit"], point.limit()
                if record is self.tiles:  # the analysis of the test's measured points is not made by gpuexp
                    self.assertAlmostEqual(rate / limit["attainable_flop_per_s"]["value"], 1)
                    self.assertEqual(name, {"dram": "DRAM sectors", "l1": "L1/shared"}[limit["roof"]])
                else:
                    self.assertIn(name, ("DRAM", "L1/shared"))
        notes = self.chart(self.simt).notes
        self.assertTrue(any("Lowest roof: DRAM sectors (5), L1/shared (2); DRAM sectors: as if no cache" in note
                            for note in notes), notes)
        by_csv = results.read_run(str(self.folder / "tile_sweep.simt.csv"))  # which has no ceiling of L1, but roofs
        for a, b in zip(by_csv.points, results.read_run(self.simt).points):
            self.assertEqual(a.limit()[0], b.limit()[0])
            self.assertAlmostEqual(a.limit()[1] / b.limit()[1], 1)

    def test_ridges_and_the_tensor_roof(self):
        panel = self.chart(self.simt).panels[0]
        self.assertEqual([t.text for t in panel.tags if t.point is None], ["ridge 10.1", "ridge 80.6"])
        texts = [line.text for line in panel.lines if line.text]
        self.assertEqual(texts, ["DRAM 1,935 GB/s (spec)", "FP32 19.5 TFLOP/s (spec)",
                                 "TF32 tensor 156 TFLOP/s (spec)"])
        every = self.chart(self.simt, "--ceilings", "all").panels[0]
        self.assertIn("FP32, FP64 tensor 19.5 TFLOP/s (spec)", [line.text for line in every.lines])

    def test_ladder_in_plan_order(self):
        paths = [line for line in self.chart(self.simt).panels[0].lines if line.kind == "path"]
        sectors = [4224, 66560, 16896, 4352, 1152, 640, 384]
        self.assertEqual([line.x for line in paths], [[65536 / (32 * n) for n in sectors]])
        plain = self.chart(self.simt, "--no-path").panels[0]
        self.assertFalse([line for line in plain.lines if line.kind == "path"])

    def test_measured_points(self):
        record = measured(self.tiles)
        chart = self.chart(self.file(record))
        point = record["points"][0]
        samples, flops = point["timing"]["samples_us"], point["flops"]
        series = [s for s in chart.panels[0].series if s.name == "naive" and s.filled][0]
        moved = 3 * (point["compulsory_load_bytes"] + point["compulsory_store_bytes"])
        self.assertAlmostEqual(series.x[0], flops / moved)
        self.assertAlmostEqual(series.y[0] / (flops / samples[2] * 1e6), 1)
        self.assertTrue(flops / samples[4] * 1e6 < series.low[0] < series.y[0] < series.high[0]
                        < flops / samples[0] * 1e6)
        self.assertTrue([s for s in chart.panels[0].series if s.name == "naive" and not s.filled])
        roof = min(flops / moved * 1.935e12, flops / (32 * 4224) * 128 * 108 * 1.41e9)  # of DRAM and of L1
        percent = [s for s in chart.panels[1].series if s.name == "matmul/naive" and s.filled][0]
        self.assertAlmostEqual(percent.x[0], 100 * series.y[0] / roof)
        ratios = {s.name: s.x for s in chart.panels[2].series}
        self.assertEqual(ratios["load sectors"], [1.0] * 7)
        self.assertAlmostEqual(ratios["DRAM / compulsory bytes"][0], 3)
        self.assertIn("hollow: modelled bound from measured counts", " ".join(name for name, *_ in chart.legend))
        self.assertIn("measured on NVIDIA A100 80GB PCIe, cold L2", chart.subtitle)
        self.assertNotIn("what-if", chart.subtitle)
        self.assertTrue(any("5th to 95th percentile" in note for note in chart.notes))
        self.draws(self.file(record))

    def test_no_errors_without_samples_and_null_counters(self):
        record = measured(self.tiles)
        for point in record["points"]:
            point["counters"] = {name: {"value": None, "source": "measured", "reason": "denied"}
                                 for name in point["counters"]}
            point["predicted"] = {}
            for basis in ("loaded", "requested", "transaction"):
                point["analysis"][basis]["bytes"] = {"value": None, "source": "measured", "reason": "denied"}
        chart = self.chart(self.file(record))
        self.assertEqual(len(chart.panels), 2)
        legend = " ".join(name for name, *_ in chart.legend)
        self.assertIn("hollow: modelled bound from the problem's sizes", legend)  # nothing was emulated or counted
        self.assertTrue(any("where dram bytes are not known" in note for note in chart.notes))
        record["points"] = record["points"][:1]
        record["points"][0]["timing"] = None
        chart = self.chart(self.file(record))
        self.assertFalse(any(s.filled for s in chart.panels[0].series))
        self.draws(self.file(record))

    def test_another_gpu_than_the_roof_is_what_if(self):
        chart = self.chart(self.file(measured(self.tiles, gpu="NVIDIA H200")))
        self.assertIn("measured on NVIDIA H200, cold L2 under the roof of A100 80GB PCIe: what-if", chart.subtitle)
        for gpu, roof, same in (("NVIDIA H200", "H200 SXM 141GB", True),
                                ("NVIDIA A100-SXM4-80GB", "A100 80GB PCIe", False),
                                ("NVIDIA A100-PCIE-40GB", "A100 80GB PCIe", False), ("NVIDIA L40S", "L40S", True),
                                ("NVIDIA GeForce RTX 4090", "RTX 3090", False), ("NVIDIA L4", "L40S", False),
                                ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM4", True)):
            self.assertEqual(results.same_card(gpu, roof), same, (gpu, roof))

    def test_points_without_flops_stand_under_the_bandwidth(self):
        chart = self.chart(self.folder / "transpose.simt.json")
        self.assertIn("bandwidth roofline", chart.title)
        self.assertIn("in place of FLOPs", chart.notes[0])
        naive = [s for s in chart.panels[0].series if s.name == "naive"][0]
        self.assertAlmostEqual(naive.x[0], 2 / 9)  # a load of 4 sectors and a store of 32 where 4 would do
        self.assertAlmostEqual(naive.y[0] / (2 / 9 * 1.935e12), 1)
        self.draws(self.folder / "transpose.simt.json")
        both = self.chart(self.simt, self.folder / "transpose.simt.json")
        self.assertTrue(any("--work bytes" in note for note in both.notes))
        self.refuses("no FLOPs", self.folder / "transpose.simt.json", "--work", "flops")

    def test_several_files_and_devices(self):
        other = measured(self.tiles, gpu="NVIDIA H100 80GB HBM3")
        other["device"]["name"] = "H100 SXM5 80GB"
        other["device"]["ceilings"][0]["value"]["value"] = 3.352e12
        other = self.file(other, "h100.cuda.json")
        chart = self.chart(self.simt, other)
        self.assertIn("A100 80GB PCIe, H100 SXM5 80GB", chart.title)
        slopes = [line.text for line in chart.panels[0].lines if line.rising]
        self.assertEqual(slopes, ["A100 80GB PCIe: DRAM 1,935 GB/s (spec)", "H100 SXM5 80GB: DRAM 3,352 GB/s (spec)"])
        self.assertEqual(len({(s.name, s.style) for s in chart.panels[0].series}), 4)
        self.draws(self.simt, other)
        conflicting = copy.deepcopy(self.tiles)
        conflicting["device"]["ceilings"][0]["value"]["value"] = 1e12
        self.refuses(["conflict", "--roof"], self.simt, self.file(conflicting, "conflict.simt.json"))
        self.refuses("given twice", self.simt, self.simt)

    def test_roof_from_the_roofline_command(self):
        done = subprocess.run([os.environ["GPUEXP_BINARY"], "roofline", "--device", "h100", "--format", "json"],
                              check=True, capture_output=True, text=True)
        roof = self.file(done.stdout, "roof.json")
        chart = self.chart(self.simt, "--roof", roof)
        self.assertIn("H100 SXM5 80GB", chart.title)
        self.assertTrue(any(line.text.startswith("L1 and shared") for line in chart.panels[0].lines))
        self.draws(self.simt, "--roof", roof, "--ceilings", "all")
        self.refuses("--roof takes", self.simt, "--roof", self.simt)

    # -- memory levels

    def test_levels_are_those_of_gpuexp(self):
        """Of emulated points as the file has them; of measured ones as `gpuexp roofline --results` places them."""
        run = results.read_run(self.simt)
        for point, record in zip(run.points, self.tiles["points"], strict=True):
            known = {level["level"]: level["bytes"]["value"] for level in record["analysis"]["levels"]}
            self.assertEqual({level: point.bytes[level] for level in results.LEVELS}, known)
            self.assertIsNotNone(known["l1"])
        for name in ("tile_sweep", "spmv", "yardsticks", "transpose"):
            path = str(ROOT / "results" / "h200" / f"{name}.cuda.csv")
            done = subprocess.run([os.environ["GPUEXP_BINARY"], "roofline", "--results", path, "--format", "json"],
                                  check=True, capture_output=True, text=True)
            placed = json.loads(done.stdout)["results"]["points"]
            ours = [p for p in results.read_run(path).points if p.status == "ok" and p.verified != "failed"]
            self.assertEqual(len(ours), len(placed))
            for point, theirs in zip(ours, placed, strict=True):
                known = {level["level"]: level["bytes"]["value"] for level in theirs["levels"]}
                self.assertEqual({level: point.bytes[level] for level in results.LEVELS}, known, theirs["point"])

    def test_hierarchy_of_measured_points(self):
        record = with_levels(measured(self.tiles))
        chart = self.chart(self.file(record), "--kind", "hierarchy")
        self.assertEqual([s.name for s in chart.panels[0].series], ["DRAM", "L2", "L1/shared"])
        self.assertTrue(all(s.filled for s in chart.panels[0].series))
        dram, l2, l1 = chart.panels[0].series
        self.assertEqual(len(dram.x), 7)
        self.assertEqual(dram.y, l1.y)  # one rate, three intensities
        for i, point in enumerate(record["points"]):
            moved = point["analysis"]["transaction"]["bytes"]["value"]
            self.assertAlmostEqual(l2.x[i] / (point["flops"] / (moved // 64 * 32)), 1)
        self.assertEqual(sum(line.kind == "rule" for line in chart.panels[0].lines), 7)
        slopes = [line.text.split(" ")[0] for line in chart.panels[0].lines if line.rising]
        self.assertEqual(slopes, ["DRAM", "L2", "L1"])
        self.assertEqual([s.name for s in chart.panels[1].series], ["DRAM", "L2", "L1/shared"])
        for ending in ("png", "svg", "pdf"):
            self.draws(self.file(record), "--kind", "hierarchy", ending=ending)

    def test_hierarchy_of_emulated_points_is_a_bound_on_l1(self):
        chart = self.chart(self.simt, "--kind", "hierarchy")
        self.assertEqual([(s.name, s.filled) for s in chart.panels[0].series], [("L1/shared", False)])
        self.assertEqual(len(chart.panels), 1)  # nothing was measured
        series = chart.panels[0].series[0]
        for x, y in zip(series.x, series.y, strict=True):
            self.assertAlmostEqual(y / (x * 128 * 108 * 1.41e9), 1)

    def test_hierarchy_without_levels_is_refused(self):
        record = measured(self.tiles)
        for point in record["points"]:
            point["counters"], point["predicted"] = {}, {}
        self.refuses("groups bytes, shared, l2 and dram", self.file(record), "--kind", "hierarchy")
        self.refuses("no point has FLOPs", self.folder / "transpose.simt.json", "--kind", "hierarchy")
        record = copy.deepcopy(self.tiles)
        record["device"]["ceilings"] = [c for c in record["device"]["ceilings"] if not c["name"].startswith("L")]
        self.refuses("--roof takes", self.file(record), "--kind", "hierarchy")
        self.draws(self.folder / "tile_sweep.simt.csv", "--kind", "hierarchy")  # whose points tell the slope of L1

    @unittest.skipUnless(have("matplotlib"), "matplotlib is missing")
    def test_hierarchy_of_one_30_and_500_points(self):
        for count, variants in ((1, 1), (30, 6), (500, 9)):
            path = self.file(with_levels(measured(spread(self.tiles, count, variants))))
            painter = paint.painted(self.chart(path, "--kind", "hierarchy"))
            self.check_labels(painter, all_placed=count == 1)
        self.draws(self.file(with_levels(measured(self.tiles))), "--kind", "hierarchy")

    # -- readable

    def check_labels(self, painter, all_placed=True):
        boxes = painter.label_boxes
        for (text, mine), (other, theirs) in itertools.combinations(boxes, 2):
            for a, b in itertools.product(mine, theirs):
                self.assertFalse(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3], (text, other))
        if all_placed:
            self.assertEqual((painter.unplaced, painter.unlabelled), (0, []))

    @unittest.skipUnless(have("matplotlib"), "matplotlib is missing")
    def test_no_labels_overlap_at_30_points(self):
        for seed in (0, 3):  # where there is no room for a label, as with 1, the notes say so
            for record in (spread(self.tiles, 30, 6, seed), measured(spread(self.tiles, 30, 6, seed), seed)):
                painter = paint.painted(self.chart(self.file(record)))
                self.check_labels(painter)
                named = [int(n) for text, _ in painter.label_boxes if re.fullmatch(r"[\d,\s-]+", text)
                         for part in text.replace("\n", " ").split(",")
                         for n in (lambda ends: range(int(ends[0]), int(ends[-1]) + 1))(part.strip().split("-"))]
                self.assertEqual(sorted(named), [*range(1, 31)])

    def test_few_points_are_named(self):
        painter = paint.painted(self.chart(self.simt))
        self.check_labels(painter)
        self.assertFalse(painter.numbered)
        self.assertIn("tiled TILE=32", [text for text, _ in painter.label_boxes])
        self.assertIn("naive\ntiled TILE=4", [text for text, _ in painter.label_boxes])

    def test_texts_stay_inside_the_figure_and_apart(self):
        for record in (self.tiles, measured(self.tiles), measured(spread(self.tiles, 30, 12))):
            painter = paint.painted(self.chart(self.file(record)))
            renderer = painter.canvas.get_renderer()
            width, height = painter.canvas.get_width_height()
            outside = [*painter.figure.texts, *painter.figure.legends]
            for axes in painter.axes:
                outside += [axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title]
                for axis in (axes.xaxis, axes.yaxis):
                    low, high = sorted(axis.get_view_interval())
                    outside += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            boxes = [(a, a.get_window_extent(renderer)) for a in outside if getattr(a, "get_text", lambda: "-")()]
            for artist, box in boxes:
                self.assertTrue(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, artist)
            for (a, one), (b, two) in itertools.combinations(boxes[:len(painter.figure.texts) + 2], 2):
                self.assertFalse(one.overlaps(two), (a, b))

    def test_series_differ_by_marker_and_colour(self):
        self.assertEqual(len({m for m, _ in chart_module.MARKERS}), len(chart_module.MARKERS))
        looks = {(i % len(chart_module.MARKERS), i % len(chart_module.COLORS)) for i in range(77)}
        self.assertEqual(len(looks), 77)

    # -- sizes

    def test_one_point(self):
        record = copy.deepcopy(self.tiles)
        record["points"] = record["points"][-1:]
        for ending in ("png", "svg", "pdf"):
            self.draws(self.file(record), ending=ending)
        self.refuses("no parameter takes two values", self.file(record), "--kind", "sweep")

    def test_500_points(self):
        for record in (spread(self.tiles, 500, 9), measured(spread(self.tiles, 500, 9))):
            chart = self.chart(self.file(record))
            painter = paint.painted(chart)
            self.check_labels(painter, all_placed=False)
            self.assertTrue(any("Points without a label: 500" in note for note in chart.notes))
        self.draws(self.file(spread(self.tiles, 500, 9)))

    def test_no_points(self):
        record = copy.deepcopy(self.tiles)
        record["points"] = []
        self.refuses("has no points", self.file(record))
        lines = (self.folder / "tile_sweep.simt.csv").read_text().splitlines(keepends=True)
        self.refuses("has no points", self.file(lines[0], "empty.csv"))
        self.refuses("is empty", self.file("", "nothing.csv"))

    def test_points_that_did_not_run_or_are_wrong(self):
        record = copy.deepcopy(self.tiles)
        for point in record["points"]:
            point.update(status="unsupported", reason="cuda only", analysis=None)
        self.refuses(["all 7 are unsupported", "cuda only", "edited"], self.file(record))
        record = copy.deepcopy(self.tiles)
        record["points"][0]["verification"]["state"] = "failed"
        chart = self.chart(self.file(record))
        self.assertIn("Left out: 1 failed verification.", chart.notes)
        self.assertNotIn("naive", [s.name for s in chart.panels[0].series])

    def test_null_counters(self):
        record = copy.deepcopy(self.tiles)
        for point in record["points"]:
            for name in point["counters"]:
                point["counters"][name] = {"value": None, "source": "emulated", "reason": "not counted"}
            for basis in ("loaded", "requested", "transaction"):
                point["analysis"][basis]["bytes"] = {"value": None, "source": "emulated", "reason": "not counted"}
        path = self.file(record)
        self.draws(path)
        self.assertTrue(any("where transaction bytes are not known" in note for note in self.chart(path).notes))
        self.refuses("nothing to draw over TILE", path, "--kind", "sweep")
        for point in record["points"]:
            point["analysis"]["compulsory"]["bytes"] = {"value": None, "source": "modelled", "reason": "none"}
        self.refuses("its bytes are null", self.file(record))
        self.refuses("no bytes on the basis 'dram'", self.simt, "--basis", "dram")

    # -- bad input

    def test_unreadable_input(self):
        text = json.dumps(self.tiles)
        self.refuses(["No such file", "absent.json"], "absent.json")
        self.refuses("line 1, column", self.file(text[:2000], "cut.json"))
        self.refuses("NaN is no JSON number", self.file(text.replace('"value": 0.25', '"value": NaN', 1), "nan.json"))
        self.refuses("schema_version 7", self.file({**self.tiles, "schema_version": 7}, "v7.json"))
        self.refuses("'schema_version' is missing", self.file("{}", "other.json"))
        self.refuses("wrong type", self.file({**self.tiles, "points": 3}, "type.json"))
        self.refuses("not UTF-8", self.binary(b"\xff\xfe\x00", "bytes.json"))
        self.refuses(".json or .csv", self.file(text, "result.txt"))
        self.refuses("--resume", self.file(text, "x.simt.partial.jsonl"))

    def binary(self, data, name):
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def test_bad_csv(self):
        with open(self.folder / "tile_sweep.simt.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))

        def changed(column, value):
            table = copy.deepcopy(rows)
            table[1][rows[0].index(column)] = value
            out = io.StringIO()
            csv.writer(out).writerows(table)
            return self.file(out.getvalue(), f"{len(value)}{column}.csv")
        self.refuses(["line 2, column loaded_bytes", "'many' is not a number"], changed("loaded_bytes", "many"))
        self.refuses("finite", changed("loaded_bytes", "inf"))
        self.refuses("schema_version 9", changed("schema_version", "9"))
        self.refuses(["line 2", "cells"], self.file(",".join(rows[0]) + "\r\n1,2\r\n", "short.csv"))
        self.refuses("'schema_version' is missing", self.file("a,b\r\n1,2\r\n", "foreign.csv"))
        self.draws(changed("loaded_bytes", ""))

    def test_bad_arguments(self):
        self.refuses([".png, .svg, .pdf or .html", "plot.gif"], self.simt, out="plot.gif")
        self.refuses("cannot be written", self.simt, code=4, out=self.folder / "no" / "folder.png")
        self.refuses(["--filter TILE=5", "there are 1, 2, 4, 8, 16, 32\n"], self.simt, "--filter", "TILE=5")
        self.refuses("matmul/naive, matmul/tiled", self.simt, "--filter", "matmul/other")
        self.refuses("no point matches all", self.simt, "--filter", "matmul/naive TILE=4")
        self.refuses(["--x SIZE", "TILE"], self.simt, "--kind", "sweep", "--x", "SIZE")
        self.refuses("--dpi", self.simt, "--dpi", "1")

    def test_a_failed_write_leaves_the_old_plot(self):
        out = self.draws(self.simt)
        before = out.read_bytes()
        self.assertEqual(self.run_script(self.file("{", "bad.json"), "-o", out)[0], 2)
        self.assertEqual(out.read_bytes(), before)
        self.assertFalse([p for p in self.folder.iterdir() if p.name.startswith(".plot_roofline")])

    def test_a_missing_library_is_named(self):
        fake = self.folder / "fake"
        fake.mkdir(exist_ok=True)
        (fake / "matplotlib.py").write_text("raise ImportError('hidden by the test')\n")
        done = subprocess.run([sys.executable, "-B", SCRIPT, self.simt, "-o", self.folder / "refused.png"],
                              env={**os.environ, "PYTHONPATH": str(fake)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("python3-matplotlib", done.stderr)

    # -- sweep and crossover

    def test_sweep(self):
        chart = self.chart(self.simt, "--kind", "sweep")
        self.assertIn("sweep of TILE", chart.title)
        panels = {panel.title: panel for panel in chart.panels}
        loads = {s.name: s for s in panels["Sectors per request, loads"].series}
        self.assertEqual(loads["tiled"].x, [1, 2, 4, 8, 16, 32])
        self.assertEqual(loads["tiled"].y, [1, 2, 4, 4, 4, 4])
        self.assertEqual((loads["naive"].line, loads["naive"].x), ("dashed", [1, 32]))
        intensity = {s.name: s.y for s in panels["Intensity"].series}
        self.assertAlmostEqual(intensity["tiled"][1], 65536 / (32 * 16896))
        loaded = self.chart(self.simt, "--kind", "sweep", "--basis", "loaded")
        intensity = {s.name: s.y for panel in loaded.panels if panel.title == "Intensity" for s in panel.series}
        self.assertEqual(intensity["tiled"], [0.25, 0.5, 1, 2, 4, 8])
        self.assertTrue(all(not s.filled for panel in chart.panels for s in panel.series))
        self.draws(self.simt, "--kind", "sweep")
        self.draws(self.folder / "transpose.simt.json", "--kind", "sweep", "--x", "dtype")

    def test_equal_curves_of_a_sweep_are_one(self):
        record = copy.deepcopy(self.tiles)
        for point in copy.deepcopy(record["points"]):
            point["params"].update(k=64, m=64, n=64)
            record["points"].append(point)
        chart = self.chart(self.file(record), "--kind", "sweep", "--x", "TILE")
        self.assertEqual([name for name, *_ in chart.legend][:2], ["naive n=32,64", "tiled n=32,64"])

    def test_measured_sweep_tells_measured_from_predicted(self):
        chart = self.chart(self.file(measured(self.tiles)), "--kind", "sweep")
        for panel in chart.panels:
            if panel.title.startswith(("Sectors", "Achieved")):
                self.assertEqual({s.filled for s in panel.series}, {True, False}, panel.title)
        self.draws(self.file(measured(self.tiles)), "--kind", "sweep")

    def test_crossings(self):
        (x, y), = sweep.crossing_points([(1, 1, 2), (4, 2, 1)])
        self.assertAlmostEqual(x, 2)
        self.assertAlmostEqual(y, 2 ** 0.5)
        self.assertEqual(sweep.crossing_points([(1, 1, 2), (4, 1, 2)]), [])
        self.assertEqual(len(sweep.crossing_points([(1, 1, 2), (2, 2, 1), (3, 1, 2)])), 2)

    def test_crossover(self):
        record = measured(self.tiles)
        naive = [p for p in record["points"] if p["variant"] == "matmul/naive"][0]
        naive["timing"]["samples_us"] = [4.0]
        for point in record["points"]:
            if point["variant"] == "matmul/tiled":
                point["timing"]["samples_us"] = [64.0 / point["params"]["TILE"]]
        chart = self.chart(self.file(record), "--kind", "crossover")
        self.assertEqual(chart.notes[0], "tiled is lower from TILE = 16 on (interpolated between points).")
        self.assertEqual([tag.text for tag in chart.panels[0].tags], ["TILE = 16"])
        self.assertTrue(all(s.filled for s in chart.panels[0].series))
        self.draws(self.file(record), "--kind", "crossover")
        bounds = self.chart(self.simt, "--kind", "crossover")
        self.assertTrue(any("No crossing: the two are equal" in note for note in bounds.notes))
        self.assertFalse(any(s.filled for s in bounds.panels[0].series))
        loaded = self.chart(self.simt, "--kind", "crossover", "--basis", "loaded")
        self.assertIn("loaded bytes", loaded.panels[0].title)

    def test_crossover_of_more_or_less_than_two(self):
        self.refuses(["--variants A,B", "matmul/v0"], self.file(spread(self.tiles, 12, 3)), "--kind", "crossover")
        self.refuses("--variants matmul/nothing", self.simt, "--kind", "crossover", "--variants",
                     "matmul/naive,matmul/nothing")

    # -- html

    @unittest.skipUnless(have("plotly"), "plotly is missing")
    def test_html_is_one_file_that_shows_the_figures(self):
        for record, kind in ((self.tiles, "roofline"), (measured(self.tiles), "roofline"), (self.tiles, "sweep"),
                             (self.tiles, "crossover"), (spread(self.tiles, 500, 9), "roofline"),
                             (with_levels(measured(self.tiles)), "hierarchy")):
            text = self.draws(self.file(record), "--kind", kind, ending="html").read_text()
            self.assertGreater(len(text), 1_000_000)  # plotly.js is inside
            outside = re.sub(r"(?s)(<script[^>]*>).*?</script>", r"\1", text)
            self.assertFalse(re.search(r"<(script|link|img)[^>]+(src|href)=", outside))
            hover = text[text.rindex("Plotly.newPlot"):]
            for word in ("attainable", "dtype=float32 k=32 m=32 n=32", "TILE=4 ", "bound by: "):
                self.assertTrue(word in hover, (kind, word))  # assertIn would print megabytes

    @unittest.skipUnless(have("plotly"), "plotly is missing")
    def test_html_in_a_browser(self):
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if browser is None:
            self.skipTest("there is no chromium")
        page = self.draws(self.file(measured(self.tiles)), ending="html")
        hover = """<script>setTimeout(function () {
            var plot = document.getElementById("gpuexp-plot");
            var shown = plot.data.findIndex(t => t.hovertext && t.name.indexOf("tiled (measured)") == 0);
            Plotly.Fx.hover(plot, [{curveNumber: shown, pointNumber: 4}], "xy");
          }, 1000);</script></body>"""
        page.write_text(page.read_text().replace("</body>", hover))
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                               f"--user-data-dir={self.folder}/browser", "--virtual-time-budget=6000", "--dump-dom",
                               page.as_uri()], capture_output=True, text=True, timeout=120)
        self.assertNotIn("CONSOLE", done.stderr)
        layer = done.stdout[done.stdout.rindex('class="hoverlayer"'):]
        self.assertIn("TILE=16 dtype=float32 k=32 m=32 n=32", layer)
        self.assertIn("achieved: ", layer)
        self.assertIn("4 FLOP/byte", layer)


if __name__ == "__main__":
    if not have("matplotlib"):
        print("skipped: matplotlib is missing for", sys.executable)
        sys.exit(SKIP_CODE)
    unittest.main()
