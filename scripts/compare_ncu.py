#!/usr/bin/env python3
"""Runs the points of an experiment under gpuexp and under Nsight Compute with the same metrics, and prints both.

    scripts/compare_ncu.py build/release/gpuexp configs/transpose.json --filter rows=8192

Counts of instructions, requests and sectors must be equal; DRAM bytes agree within a few percent (what is written back
after a kernel ends is counted by neither in the same way); wavefronts and bank conflicts vary from run to run, because
they include arbitration with other clients of the L1 data stage. Exits with 1 when a deterministic count differs or
DRAM bytes, read and written together, of a kernel of 1 ms or more differ by more than 2 %. (Reads and writes are shown
apart too: what a kernel leaves dirty in the L2 cache is written back later, and how much that is differs by chance.)
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time

# Counter id -> Perfworks metric; the same names that gpuexp asks for on GA100 and GH100.
METRICS = {
    "global_load_requests": "sm__sass_inst_executed_op_global_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "sm__sass_inst_executed_op_global_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "sm__sass_inst_executed_op_shared_ld.sum",
    "shared_store_requests": "sm__sass_inst_executed_op_shared_st.sum",
    "instructions": "smsp__inst_executed.sum",
    "fp32_fma_instructions": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
}
DETERMINISTIC = [name for name in METRICS if "wavefronts" not in name and "dram" not in name]
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}


def fail(message):
    print(f"compare_ncu.py: {message}", file=sys.stderr)
    sys.exit(3)


def run(command, environment=None):
    """Runs a command; its output and the seconds it took."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done, time.monotonic() - start


def run_gpuexp(arguments, folder, config):
    """The points of the experiment with gpuexp's own counters."""
    with open(config, encoding="utf-8-sig") as file:
        experiment = json.load(file)
    experiment["counters"] = list(METRICS)
    experiment["measure"] = {"max_time_s": 0.05, "min_samples": 3}
    own = os.path.join(folder, os.path.basename(config))
    with open(own, "w", encoding="utf-8") as file:
        json.dump(experiment, file)
    command = [arguments.gpuexp, "run", own, "--backend", "cuda", "--device", "auto", "--no-predict", "--quiet",
               "--out", folder]
    for term in arguments.filter:
        command += ["--filter", term]
    for edit in arguments.set:
        command += ["--set", edit]
    done, seconds = run(command)
    if done.returncode not in (0, 1):
        fail(f"gpuexp ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    with open(os.path.join(folder, f"{experiment['name']}.cuda.json"), encoding="utf-8") as file:
        return own, [p for p in json.load(file)["points"] if p["status"] == "ok"], seconds


def ncu_rows(arguments, folder, own, point):
    """What ncu counts over the first launches of one point, summed over its kernels; and the seconds it took."""
    key = " ".join([point["variant"]] + [f"{n}={v}" for n, v in sorted(point["params"].items())])
    kernels = len(point["launches"])
    if kernels == 0:
        return None, 0.0
    # One process, so that ncu sees the launches; its own kernels are told apart by their names.
    environment = dict(os.environ, GPUEXP_CUDA_IN_PROCESS="1")
    names = "|".join(sorted({launch["kernel"].split("<")[0] for launch in point["launches"]}))
    command = [arguments.ncu, "--csv", "--page", "raw", "--clock-control", "none", "--metrics",
               ",".join(METRICS.values()), "--kernel-name", f"regex:^({names})", "--launch-count", str(kernels),
               arguments.gpuexp, "run", own, "--backend", "cuda", "--device", "auto", "--no-predict", "--no-counters",
               "--no-verify", "--quiet", "--filter", key, "--out", os.path.join(folder, "ncu")]
    for edit in arguments.set:
        command += ["--set", edit]
    done, seconds = run(command, environment)
    start = done.stdout.find('"ID"')
    if start < 0:
        fail(f"ncu gave no table for {key}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    table = list(csv.DictReader(io.StringIO(done.stdout[start:])))
    units, rows = table[0], [row for row in table[1:] if row["ID"].isdigit()]
    sums = {}
    for name, metric in METRICS.items():
        scale = UNITS.get(units.get(metric, ""), 1)
        sums[name] = sum(float(row[metric].replace(",", "")) for row in rows) * scale
    return sums, seconds


def with_dram_total(values):
    """The values with read and written DRAM bytes added up; null when one is."""
    parts = [values["dram_read_bytes"], values["dram_write_bytes"]]
    return dict(values, dram_bytes=None if None in parts else sum(parts))


def compare(point, counted):
    """Prints one line per counter of a point; returns how many must agree and do not."""
    samples = sorted((point.get("timing") or {}).get("samples_us") or [0])
    median_us = samples[len(samples) // 2]
    print(f"\n{point['variant']} " + " ".join(f"{n}={v}" for n, v in sorted(point["params"].items())))
    wrong = 0
    counted = with_dram_total(counted)
    ours = with_dram_total({name: point["counters"][name]["value"] for name in METRICS})
    for name, theirs in counted.items():
        own = ours[name]
        if own is None:
            print(f"  {name:26} null: {point['counters'].get(name, {}).get('reason', 'a part of it is')}")
            wrong += 1
            continue
        relative = 0.0 if own == theirs else (own - theirs) / theirs if theirs else float("inf")
        verdict = ""
        if name in DETERMINISTIC and own != theirs:
            verdict = "DIFFERS"
        elif name == "dram_bytes" and median_us >= 1000 and abs(relative) > 0.02:
            verdict = "BEYOND 2 %"
        wrong += verdict != ""
        print(f"  {name:26} {own:>18.0f} {theirs:>18.0f} {100 * relative:>9.3f} % {verdict}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpuexp", help="the program")
    parser.add_argument("config", help="an experiment file")
    parser.add_argument("--filter", action="append", default=[], help="keep only these points, as for gpuexp run")
    parser.add_argument("--set", action="append", default=[], help="other parameter values, as for gpuexp run")
    parser.add_argument("--ncu", default="ncu", help="the Nsight Compute command")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own, points, own_seconds = run_gpuexp(arguments, folder, arguments.config)
        if not points:
            fail("no point ran; see `gpuexp doctor`")
        print(f"{'counter':28} {'gpuexp':>18} {'ncu':>18} {'difference':>11}")
        wrong, ncu_seconds = 0, 0.0
        for point in points:
            counted, seconds = ncu_rows(arguments, folder, own, point)
            ncu_seconds += seconds
            if counted is not None:
                wrong += compare(point, counted)
    print(f"\n{len(points)} points: gpuexp took {own_seconds:.1f} s for all, times included; ncu {ncu_seconds:.1f} s, "
          "a process for each.")
    print("all deterministic counts agree" if wrong == 0 else f"{wrong} counts differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
