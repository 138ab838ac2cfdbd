#!/usr/bin/env python3
"""Every shipped experiment gives the same result file, byte for byte but for the environment, on one thread and on
several: determinism_test.py GPUEXP

Experiments that would take long run with smaller sizes; one that is not listed runs as it is."""

import json
import pathlib
import subprocess
import sys
import tempfile

# Few blocks of what can be sampled, so that the choice of blocks is held too.
COMMON = ["--backend", "simt", "--device", "a100", "--budget", "100000", "--quiet"]
SMALLER = {
    "batch_sweep": ["--set", "n=200", "--set", "k=100"],
    "coarsening": ["--set", "n=100"],
    "density_sweep": ["--set", "rows=500"],
    "fast_kernels": ["--set", "m=40", "--set", "n=130", "--set", "k=40", "--set", "rows=130", "--set", "cols=130"],
    "gemv_rows": ["--set", "m=100"],
    "gemv_tuning": ["--set", "m=40", "--set", "n=260"],
    "ladder": ["--set", "n=130"],
    "matmul_tuning": ["--set", "m=130", "--set", "n=130", "--set", "k=40"],
    "register_tiling": ["--set", "n=130"],
    "sparse24": ["--set", "n=100,1024"],
    "spmv_classes": ["--set", "rows=300", "--set", "side=9"],
    "spmv_matrices": ["--set", "rows=300", "--set", "side=9"],
    "spmv_tuning": ["--set", "rows=300", "--set", "side=9"],
    "tile_sweep": ["--set", "n=100"],
    "transpose_tuning": ["--set", "rows=130", "--set", "cols=130", "--set", "n=1000"],
}
# On a GPU only: sets of gigabytes. `micro` has the same kernels in sizes for the emulator.
NOT_EMULATED = {"ceilings"}


def results(gpuexp, experiment, threads, directory):
    """The bytes of the result file without its environment, which comes last."""
    out = pathlib.Path(directory) / f"{experiment}{threads}"
    command = [gpuexp, "run", experiment, *COMMON, *SMALLER.get(experiment, []), "--threads", str(threads)]
    done = subprocess.run([*command, "--out", out], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    text = (out / f"{experiment}.simt.json").read_bytes()
    head, environment, _ = text.partition(b'\n "environment": {')
    assert environment and json.loads(text)["complete"]
    return head


def first_difference(one, other):
    lines = zip(one.decode().splitlines(), other.decode().splitlines())
    return next((f"line {i}: {a.strip()} / {b.strip()}" for i, (a, b) in enumerate(lines, 1) if a != b), "lengths")


def main():
    gpuexp = sys.argv[1]
    listed = subprocess.run([gpuexp, "list", "experiments", "--format", "json"], capture_output=True, check=True)
    experiments = [entry["name"] for entry in json.loads(listed.stdout) if entry["name"] not in NOT_EMULATED]
    assert set(SMALLER) <= set(experiments), "an experiment of this test is no longer shipped"
    differ = 0
    for experiment in experiments:
        with tempfile.TemporaryDirectory() as directory:
            one, several = (results(gpuexp, experiment, threads, directory) for threads in (1, 3))
        if one != several:
            differ += 1
            print(f"{experiment}: 1 and 3 threads differ: {first_difference(one, several)}", file=sys.stderr)
    print(f"{len(experiments)} experiments, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
