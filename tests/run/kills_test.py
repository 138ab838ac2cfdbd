#!/usr/bin/env python3
"""A sweep of 200 points that is killed (SIGKILL) at random moments and resumed ends with the files of a run that nobody
killed, and loses no point on the way: kills_test.py GPUEXP [KILLS [SEED]]

Each kill hits somewhere between the start of the program and its end, so that reading the journal, running a point,
writing the files and cleaning up are all hit."""

import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SWEEP = {
    "name": "kills",
    "device": "a100",
    "experiments": [
        {"variant": "matmul/naive", "axes": {"n": list(range(3, 43))}},
        {"variant": "matmul/tiled", "axes": {"n": list(range(3, 43)), "TILE": [4, 8]}},
        {"variant": ["vector/add", "vector/axpy"], "axes": {"n": list(range(100, 140))}},
    ],
}
POINTS = 200


def start(gpuexp, sweep, out, *flags):
    command = [gpuexp, "run", sweep, "--backend", "simt", "--threads", "1", "--quiet", "--out", out, *flags]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(program):
    _, errors = program.communicate()
    if program.returncode != 0:
        sys.exit(f"exit code {program.returncode}: {errors}")


def results(out):
    """What a run leaves, without what depends on the machine and the clock: the environment, which comes last."""
    text = (out / "kills.simt.json").read_bytes()
    head, environment, _ = text.partition(b'\n "environment": {')
    assert environment
    return head, (out / "kills.simt.csv").read_bytes()


def saved_points(out):
    """The points that a killed run left. A last line without its end does not count; every other one must be whole."""
    if (out / "kills.simt.json").exists():
        record = json.loads((out / "kills.simt.json").read_text())
        if record["complete"]:
            return len(record["points"])
    journal = out / "kills.simt.partial.jsonl"
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return len([json.loads(line)["point"]["params"] for line in lines[1:]])


def main():
    gpuexp = sys.argv[1]
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sweep = folder / "kills.json"
        sweep.write_text(json.dumps(SWEEP))
        began = time.monotonic()
        finish(start(gpuexp, sweep, folder / "whole"))
        whole_s = time.monotonic() - began
        expected = results(folder / "whole")
        assert len(json.loads((folder / "whole" / "kills.simt.json").read_text())["points"]) == POINTS

        done = runs = 0
        hits = set()  # how many points were saved at a kill
        while done < kills:
            out = folder / f"run{runs}"
            runs += 1
            saved = 0
            while True:
                # Early, somewhere in the rest, or near the end, where the files are written.
                moment = whole_s * rng.choice((rng.uniform(0, 0.1), rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9),
                                               rng.uniform(0.9, 1.05)))
                program = start(gpuexp, sweep, out, "--resume")
                try:
                    program.wait(moment)
                    finish(program)
                    break
                except subprocess.TimeoutExpired:
                    program.send_signal(signal.SIGKILL)
                    program.communicate()
                    done += 1
                now = saved_points(out)
                assert now >= saved, f"seed {seed}, run {runs}: {saved} points were saved, and now {now}"
                saved = now
                hits.add(saved)
                if done == kills:
                    finish(start(gpuexp, sweep, out, "--resume"))
                    break
            if results(out) != expected:
                sys.exit(f"seed {seed}, run {runs}: the files differ from those of a run that was not killed")
            left = sorted(path.name for path in out.iterdir() if not path.name.startswith(".kills.simt.lock"))
            assert left == ["kills.simt.csv", "kills.simt.json"], left
        print(f"{done} kills of {runs} runs, at {len(hits)} different numbers of saved points: all files equal")


if __name__ == "__main__":
    main()
