"""Result files of `gpuexp run`, JSON and CSV (docs/result_files.md), and the roofs that their points stand under."""

import csv
import json
import math
import re
from dataclasses import dataclass, field

SCHEMA_VERSION = 1
PRECISION_LABELS = {  # id in the analysis of a point -> name of the ceiling
    "fp64": "FP64", "fp64_tensor": "FP64 tensor", "fp32": "FP32", "tf32": "TF32 tensor", "fp16": "FP16 tensor",
    "bf16": "BF16 tensor", "fp8": "FP8 tensor", "fp4": "FP4 tensor", "int8": "INT8 tensor",
    "fp16_acc16": "FP16 tensor, acc16", "fp8_acc16": "FP8 tensor, acc16", "fp16_vector": "FP16 vector",
    "bf16_vector": "BF16 vector"}
BASES = {"loaded": "bytes that all lanes load, as if there were no cache",
         "requested": "bytes that all lanes load and store, as if there were no cache",
         "transaction": "32-byte sectors that requests move",
         "compulsory": "bytes that the problem itself must move",
         "dram": "DRAM bytes counted by the GPU"}

LEVELS = {"dram": "bytes that device memory read and wrote",  # as in profiler/roofline/roofline.cpp
          "l2": "32-byte sectors that the L2 cache read and wrote",
          "l1": "32-byte sectors of global accesses, and 128 bytes for each wavefront of shared memory"}
SLOPE_NAMES = {"dram": "DRAM", "l2": "L2", "l1": "L1"}  # how the names of their ceilings begin


class PlotError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


@dataclass
class Roof:
    """Ceilings of one device: slopes are (name, byte/s, source), peaks are name -> (per second, unit, source)."""
    name: str
    slopes: list
    peaks: dict

    @property
    def bandwidth(self):
        return self.slopes[0][1]

    def slope(self, level):
        """byte/s of a memory level, or None."""
        return next((value for name, value, _ in self.slopes if name.startswith(SLOPE_NAMES[level])), None)


@dataclass
class Point:
    run: "Run"
    variant: str
    params: dict
    status: str = "ok"
    reason: str = ""
    verified: str = ""
    flops: float = 0.0
    precision: str = ""
    bytes: dict = field(default_factory=dict)     # basis -> bytes or None
    times: tuple = None                           # (median, low, high) in microseconds, or None
    counters: dict = field(default_factory=dict)  # id -> number or None
    predicted: dict = field(default_factory=dict)
    bound_by: str = ""
    warnings: list = field(default_factory=list)
    findings: str = ""                            # kinds of the checker's, "race out_of_bounds"
    number: int = 0                               # from 1, in the order of the files and plans
    label: str = ""                               # variant and the parameters that tell the points apart
    shown: dict = field(default_factory=dict)     # those parameters

    def peak(self):
        """Ceiling of the point's precision as (name, per second), or None."""
        name = PRECISION_LABELS.get(self.precision, self.precision)
        return (name, self.run.roof.peaks[name][0]) if name in self.run.roof.peaks else None

    def amount(self, work):
        """What the point gets done: FLOPs, or bytes that must be moved."""
        return self.flops if work == "flops" else self.bytes.get("compulsory")

    def top(self, work):
        if work == "bytes":
            return self.run.roof.bandwidth
        peak = self.peak()
        return peak[1] if peak else None

    def intensity(self, work, basis):
        amount, moved = self.amount(work), self.bytes.get(basis)
        return amount / moved if amount and moved else None

    def attainable(self, work, basis):
        intensity, top = self.intensity(work, basis), self.top(work)
        return min(top, intensity * self.run.roof.bandwidth) if intensity and top else None

    def attainable_at(self, level):
        """FLOP/s under the slope of a memory level, or None."""
        intensity, top, slope = self.intensity("flops", level), self.top("flops"), self.run.roof.slope(level)
        return min(top, intensity * slope) if intensity and top and slope else None

    def limit(self):
        """(name, FLOP/s) of the lowest roof whose bytes are known, as profiler/roofline/limit.cpp; None without FLOPs.
        Where nobody counted DRAM bytes the sectors stand for them, as if no cache caught one; each byte once where
        those are more, and for a point with a time, for which caches worked."""
        peak = self.peak()
        if not self.flops or not peak:
            return None
        moved, name = self.bytes.get("dram"), "DRAM"
        if moved is None:
            once, sectors = self.bytes.get("compulsory") or 0, self.bytes.get("transaction") or 0
            moved, name = (once, "DRAM once") if self.times or once >= sectors else (sectors, "DRAM sectors")
        roofs = [(name, self.flops / moved * self.run.roof.bandwidth)] if moved else []
        for level, name in (("l2", "L2"), ("l1", "L1/shared")):
            crossed, slope = self.bytes.get(level), self.run.roof.slope(level)
            roofs += [(name, self.flops / crossed * slope)] if crossed and slope else []
        return min([*roofs, ("compute", peak[1])], key=lambda roof: roof[1])

    def source_of(self, basis):
        """Where the bytes on a basis come from."""
        if basis == "compulsory":
            return "the problem's sizes"
        counted = self.run.backend == "cuda" and basis == "transaction" and \
            self.counters.get("transaction_load_bytes") is not None
        return "measured counts" if counted else "emulated counts"

    def achieved(self, work):
        """(at the median time, lowest, highest) per second, or None."""
        amount = self.amount(work)
        if not amount or self.times is None:
            return None
        median, low, high = (amount / (us * 1e-6) for us in (self.times[0], self.times[2], self.times[1]))
        return median, low, high

    def bound_us(self, basis):
        moved = self.bytes.get(basis)
        if not moved or (self.flops and not self.peak()):
            return None
        by_flops = self.flops / self.peak()[1] if self.flops else 0
        return 1e6 * max(moved / self.run.roof.bandwidth, by_flops)


@dataclass
class Run:
    """One result file."""
    path: str
    name: str
    backend: str
    roof: Roof
    gpu: str = ""
    cache_mode: str = ""
    has_samples: bool = True
    what_if: bool = False
    points: list = field(default_factory=list)
    label: str = ""


def number(value, where):
    """A finite number or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise PlotError(f"{where}: must be a finite number or null, not {value!r}")
    return value


def take(record, key, kind, where):
    if not isinstance(record, dict) or key not in record:
        raise PlotError(f"{where}: the key '{key}' is missing; is this a result file of `gpuexp run`?")
    if not isinstance(record[key], kind):
        raise PlotError(f"{where}.{key}: has the wrong type; is this a result file of `gpuexp run`?")
    return record[key]


def quantity(record, key, where):
    """The value of {"value": ..., "source": ...}; None when it or its holder is null."""
    held = (record or {}).get(key)
    if held is None:
        return None
    return number(take(held, "value", (int, float, type(None)), f"{where}.{key}"), f"{where}.{key}.value")


def read_text(path):
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except OSError as error:
        raise PlotError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PlotError(f"{path}: is not UTF-8 text") from error


def parse_json(path):
    def refuse(word):
        raise PlotError(f"{path}: {word} is no JSON number; a value that could not be had is null")
    try:
        return json.loads(read_text(path), parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise PlotError(f"{path}: line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise PlotError(f"{path}: not valid JSON: nested too deeply") from error


def percentile(ordered, share):
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def times_of_samples(samples, where):
    """(median, 5th, 95th percentile) of the usable samples."""
    usable = sorted(us for us in (number(s, where) for s in samples) if us is not None and us > 0)
    if not usable:
        return None
    return percentile(usable, 0.5), percentile(usable, 0.05), percentile(usable, 0.95)


def dram_bytes(counters):
    read, write = counters.get("dram_read_bytes"), counters.get("dram_write_bytes")
    return read + write if read is not None and write is not None else None


def with_predicted(counters, predicted):
    """Of the run or, where it has none, emulated beside it."""
    return {**predicted, **{name: value for name, value in counters.items() if value is not None}}


def level_bytes(counters, backend, must_load):
    """Bytes that crossed each memory level, None where they were not counted. `must_load`: the problem has inputs."""
    def total(*names):
        held = [counters.get(name) for name in names]
        return None if None in held else sum(held)

    sectors = total("l2_read_sectors", "l2_write_sectors")
    wavefronts = total("shared_load_wavefronts", "shared_store_wavefronts")
    moved = total("transaction_load_bytes", "transaction_store_bytes")
    unseen = backend == "cuda" and must_load and counters.get("transaction_load_bytes") == 0  # loaded by bulk copies
    if moved is not None and counters.get("transaction_atomic_bytes"):
        moved += 2 * counters["transaction_atomic_bytes"]
    elif counters.get("transaction_atomic_bytes") is None and counters.get("global_atomic_requests"):
        moved = None
    if wavefronts is not None and counters.get("shared_atomic_wavefronts"):
        wavefronts += counters["shared_atomic_wavefronts"]
    return {"dram": dram_bytes(counters), "l2": None if sectors is None else 32 * sectors,
            "l1": None if unseen or None in (moved, wavefronts) else moved + 128 * wavefronts}


def json_point(run, record, where):
    analysis = take(record, "analysis", (dict, type(None)), where) or {}
    counters = {name: quantity(take(record, "counters", dict, where), name, f"{where}.counters")
                for name in record["counters"]}
    predicted = {name: quantity(record["predicted"], name, f"{where}.predicted")
                 for name in record.get("predicted") or {}}
    moved = {}
    for basis in ("loaded", "requested", "transaction", "compulsory"):
        moved[basis] = quantity(analysis.get(basis), "bytes", f"{where}.analysis.{basis}")
    moved.update(level_bytes(with_predicted(counters, predicted), run.backend, record.get("compulsory_load_bytes")))
    timing = take(record, "timing", (dict, type(None)), where)
    if timing is not None:
        run.cache_mode = run.cache_mode or timing.get("cache_mode", "")
    times = times_of_samples(take(timing, "samples_us", list, f"{where}.timing"), where) if timing else None
    return Point(run, take(record, "variant", str, where), dict(take(record, "params", dict, where)),
                 take(record, "status", str, where), record.get("reason", ""),
                 take(record, "verification", dict, where).get("state", ""),
                 number(take(record, "flops", (int, float), where), f"{where}.flops"),
                 analysis.get("precision", ""), moved, times, counters, predicted, analysis.get("bound_by", ""),
                 record.get("warnings", []) + analysis.get("warnings", []),
                 " ".join(sorted({finding["kind"] for finding in record.get("findings", [])})))


def json_roof(path, device):
    where = f"{path}: device"
    slopes, peaks = [], {}
    for i, ceiling in enumerate(take(device, "ceilings", list, where)):
        place = f"{where}.ceilings[{i}]"
        value = quantity(ceiling, "value", place)
        if value is None or value <= 0:
            continue
        entry = (value, take(ceiling, "unit", str, place), ceiling["value"].get("source", ""))
        if entry[1] == "byte/s":
            slopes.append((take(ceiling, "name", str, place), value, entry[2]))
        else:
            peaks[take(ceiling, "name", str, place)] = entry
    slopes.sort(key=lambda slope: slope[0] != "DRAM")
    if not slopes:
        raise PlotError(f"{where}.ceilings: no memory ceiling (unit byte/s) with a value")
    return Roof(take(device, "name", str, where), slopes, peaks)


def check_schema(path, version):
    if version != SCHEMA_VERSION:
        raise PlotError(f"{path}: schema_version {version} is not known; this script reads {SCHEMA_VERSION}")


def read_json(path):
    root = parse_json(path)
    check_schema(path, take(root, "schema_version", int, path))
    plan, environment = take(root, "plan", dict, path), take(root, "environment", dict, path)
    run = Run(path, take(plan, "name", str, f"{path}: plan"), take(plan, "backend", str, f"{path}: plan"),
              json_roof(path, take(root, "device", dict, path)), environment.get("gpu", ""))
    for i, record in enumerate(take(root, "points", list, path)):
        run.points.append(json_point(run, record, f"{path}: points[{i}]"))
    return run


def cell_value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Row:
    """One row of a CSV, with its place for errors."""

    def __init__(self, path, line, cells):
        self.path, self.line, self.cells = path, line, cells

    def text(self, column):
        if self.cells.get(column) is None:
            raise PlotError(f"{self.path}: line {self.line}: the column '{column}' is missing; "
                            "is this a result file of `gpuexp run`?")
        return self.cells[column]

    def real(self, column):
        text = self.text(column)
        where = f"{self.path}: line {self.line}, column {column}"
        if text == "":
            return None
        try:
            return number(int(text) if re.fullmatch(r"-?\d+", text) else float(text), where)
        except ValueError as error:
            raise PlotError(f"{where}: '{text}' is not a number") from error


def csv_point(run, row, columns):
    params = {c[len("param:"):]: cell_value(row.text(c)) for c in columns if c.startswith("param:") and row.text(c)}
    after = columns.index("requested_over_compulsory") + 1 if "requested_over_compulsory" in columns else len(columns)
    plain = [c for c in columns[after:] if ":" not in c and not c.startswith("counters_")]
    counters = {c: row.real(c) for c in plain}
    predicted = {c[len("predicted:"):]: row.real(c) for c in columns if c.startswith("predicted:")}
    moved = {basis: row.real(f"{basis}_bytes") for basis in ("loaded", "requested", "transaction", "compulsory")}
    moved.update(level_bytes(with_predicted(counters, predicted), run.backend, row.real("compulsory_load_bytes")))
    times = tuple(row.real(f"time_us_{name}") for name in ("median", "min", "max"))
    run.cache_mode = run.cache_mode or row.text("cache_mode")
    return Point(run, row.text("variant"), params, row.text("status"), row.text("reason"), row.text("verified"),
                 row.real("flops") or 0.0, row.text("precision"), moved, None if None in times else times, counters,
                 predicted, row.text("bound_by"), [w for w in row.text("warnings").split("; ") if w],
                 row.text("findings"))


def csv_roof(path, rows):
    """A CSV keeps only the ceilings that its points were judged by."""
    bandwidth, peaks, caches = None, {}, {}
    for row in rows:
        bandwidth = bandwidth or row.real("bandwidth_byte_per_s")
        for level in ("l2", "l1"):  # a point below the peak tells the slope that it stands under
            if row.cells.get(f"attainable_flop_per_s_{level}"):
                roof, per_byte = row.real(f"attainable_flop_per_s_{level}"), row.real(f"flop_per_{level}_byte")
                if per_byte and roof < row.real("peak_flop_per_s"):
                    caches.setdefault(SLOPE_NAMES[level], roof / per_byte)
        peak, precision = row.real("peak_flop_per_s"), row.text("precision")
        if peak:
            peaks[PRECISION_LABELS.get(precision, precision)] = (peak, "FLOP/s", "spec")
    if not bandwidth:
        raise PlotError(f"{path}: no point has a memory ceiling (bandwidth_byte_per_s)")
    slopes = [("DRAM", bandwidth, "spec"), *((name, slope, "") for name, slope in caches.items())]
    return Roof(rows[0].text("device"), slopes, peaks)


def read_csv(path):
    reader = csv.reader(read_text(path).splitlines(keepends=True), strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise PlotError(f"{path}: line {reader.line_num}: not valid CSV: {error}") from error
    if not lines:
        raise PlotError(f"{path}: is empty")
    columns = lines[0][1]
    for line, cells in lines[1:]:
        if len(cells) != len(columns):
            raise PlotError(f"{path}: line {line}: {len(cells)} cells under {len(columns)} columns")
    rows = [Row(path, line, dict(zip(columns, cells))) for line, cells in lines[1:]]
    if not rows:
        raise PlotError(f"{path}: has no points")
    for row in rows:
        check_schema(path, cell_value(row.text("schema_version")))
    first = rows[0]
    run = Run(path, first.text("experiment"), first.text("backend"), csv_roof(path, rows), first.text("gpu"),
              has_samples=False)
    run.points = [csv_point(run, row, columns) for row in rows]
    return run


def read_run(path):
    if path.endswith(".jsonl"):
        raise PlotError(f"{path}: is the journal of an unfinished run; finish it with `gpuexp run --resume`")
    if not path.endswith((".json", ".csv")):
        raise PlotError(f"{path}: the name must end in .json or .csv")
    return read_json(path) if path.endswith(".json") else read_csv(path)


def read_roof(path):
    """The ceilings of `gpuexp roofline --format json`: with L2 and L1 where they are known, or measured ones."""
    root = parse_json(path)
    if not isinstance(root, dict) or not str(root.get("schema", "")).startswith("gpuexp-roofline/1"):
        raise PlotError(f"{path}: --roof takes what `gpuexp roofline --format json` prints")
    ceilings = take(root, "ceilings", dict, path)
    where = f"{path}: ceilings"
    slopes = [(take(c, "label", str, where), number(take(c, "bytes_per_s", (int, float), where), where),
               c.get("source", "")) for c in take(ceilings, "bandwidth", list, where)]
    peaks = {take(c, "label", str, where): (number(take(c, "peak_per_s", (int, float), where), where),
                                            c.get("unit", "FLOP/s"), c.get("source", ""))
             for c in take(ceilings, "compute", list, where)}
    if not slopes:
        raise PlotError(f"{where}.bandwidth: is empty")
    return Roof(take(take(root, "device", dict, path), "name", str, f"{path}: device"), slopes, peaks)


def same_card(gpu, roof_name):
    """Whether the GPU that ran may be the device of the roof: model, memory and form do not contradict each other."""
    for pattern in (r"\b(?:[A-Z]{1,2}\d{1,3}S?|\d{4})\b", r"\d+(?=GB)", r"PCIE|SXM|NVL"):
        ran, roof = (set(re.findall(pattern, text.upper().replace("-", " "))) for text in (gpu, roof_name))
        if ran and roof and not ran & roof:
            return False
    return True
