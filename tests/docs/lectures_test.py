#!/usr/bin/env python3
"""Keeps the documents true: runs the commands that they show and looks for the output that they show.

A block ```console whose first line is `$ gpuexp ...` holds one command or more. A command is what follows `$ `, with
its continuation lines (after a backslash); what follows is what it printed:

- a line `...` leaves out any number of lines, `...` within a line any text;
- white space is folded, and progress lines are left out on both sides, for they tell times;
- each other line must be printed, in the order shown: first the messages (standard error), then the report.

The command must end with the exit code 0, or N in a block marked ```console exit=N. A block marked ```console-gpu
shows what only a GPU can print, and is skipped. Blocks ```sh that define shell functions are for the commands of the
same document. Commands run with bash, GPUs hidden, in an empty directory that has the shipped configs/ in it.

    lectures_test.py --gpuexp PROGRAM --configs DIRECTORY DOCUMENT...
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

FENCE = re.compile(r"^(`{3,})\s*(\S*)\s*(.*)$")
PROGRESS = re.compile(r"^\[ *\d+/\d+\] ")
FUNCTION = re.compile(r"^\w+\(\) *\{", re.MULTILINE)
TIME_LIMIT_S = 120  # of one command: far more than any needs, so that a hanging one is named


class Block:
    """A fenced block: its language, the words behind it, its lines and the number of its first line."""

    def __init__(self, language, remark, first_line):
        self.language = language
        self.remark = remark
        self.first_line = first_line
        self.lines = []


class Command:
    """A shown command, where it stands, and the output shown for it as (line number, text)."""

    def __init__(self, text, line, exit_code):
        self.text = text
        self.line = line
        self.exit_code = exit_code
        self.shown = []


def blocks_of(text):
    blocks, current, closing = [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if current is None:
            if fence:
                closing = fence.group(1)
                current = Block(fence.group(2), fence.group(3), number + 1)
        elif line.rstrip() == closing:
            blocks.append(current)
            current = None
        else:
            current.lines.append(line)
    if current is not None:
        raise ValueError(f"the block before line {current.first_line} has no end")
    return blocks


def is_tested(block):
    return block.language == "console" and bool(block.lines) and block.lines[0].startswith("$ gpuexp ")


def exit_code_of(block):
    code = re.fullmatch(r"exit=(\d+)", block.remark)
    if block.remark and not code:
        raise ValueError(f"line {block.first_line - 1}: unknown mark '{block.remark}'; known: exit=N")
    return int(code.group(1)) if code else 0


def commands_of(block):
    commands, continued = [], False
    for number, line in enumerate(block.lines, block.first_line):
        if continued:
            commands[-1].text += "\n" + line
        elif line.startswith("$ "):
            commands.append(Command(line[2:], number, exit_code_of(block)))
        else:
            commands[-1].shown.append((number, line))
            continue
        continued = line.endswith("\\")
    return commands


def folded(text):
    return " ".join(text.split())


def output_lines(text):
    lines = (folded(line) for line in text.splitlines())
    return [line for line in lines if line and not PROGRESS.match(line)]


def line_matches(shown, printed):
    if shown == printed:
        return True
    pieces = shown.split("...")
    return len(pieces) > 1 and re.fullmatch(".*".join(map(re.escape, pieces)), printed) is not None


def missing_lines(shown, printed):
    """Of the shown lines those not printed in this order, each with what is wrong."""
    missing, at = [], 0
    for number, line in shown:
        text = folded(line)
        if text in ("", "...") or PROGRESS.match(text):
            continue
        found = next((i for i in range(at, len(printed)) if line_matches(text, printed[i])), None)
        if found is not None:
            at = found + 1
        elif any(line_matches(text, other) for other in printed[:at]):
            missing.append((number, line, "printed, but before the lines shown above it"))
        else:
            near = difflib.get_close_matches(text, printed, 1, 0.6)
            missing.append((number, line, f"nearest line printed: {near[0]}" if near else "nothing like it is printed"))
    return missing


class Runner:
    def __init__(self, gpuexp, configs, directory):
        self.directory = directory
        programs = directory / "bin"
        programs.mkdir()
        (programs / "gpuexp").symlink_to(gpuexp)
        self.work = directory / "work"
        self.work.mkdir()
        (self.work / "configs").symlink_to(configs)
        # The documents show what a machine without a GPU prints.
        self.environment = dict(os.environ, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", LC_ALL="C.UTF-8",
                                NO_COLOR="1", CUDA_VISIBLE_DEVICES="-1", PYTHONDONTWRITEBYTECODE="1")

    def run(self, command, functions):
        """Exit code and printed lines; raises TimeoutExpired."""
        script = f"set -o pipefail\n{functions}\n{command.text}\n"
        done = subprocess.run(["bash", "-c", script], cwd=self.work, env=self.environment, text=True,
                              encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIME_LIMIT_S, check=False)
        return done.returncode, output_lines(done.stderr) + output_lines(done.stdout)


def check_command(command, functions, runner, document):
    """The complaints about one command."""
    where = f"{document}:{command.line}: $ {command.text}"
    if not any(folded(line) not in ("", "...") for _, line in command.shown):
        return [f"{where}\n    shows no output"]
    try:
        code, printed = runner.run(command, functions)
    except subprocess.TimeoutExpired:
        return [f"{where}\n    still ran after {TIME_LIMIT_S} s"]
    complaints = []
    if code != command.exit_code:
        tail = "".join(f"\n      {line}" for line in printed[-5:])
        complaints.append(f"{where}\n    ended with exit code {code}, not {command.exit_code}; its last lines:{tail}")
    for number, line, why in missing_lines(command.shown, printed):
        complaints.append(f"{document}:{number}: not printed: {line.strip()}\n    {why}")
    return complaints


def check_document(path, runner, verbose):
    """Complaints, and how many commands were run."""
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    shell = ("\n".join(block.lines) for block in blocks if block.language == "sh")
    functions = "\n".join(text for text in shell if FUNCTION.search(text))
    complaints, count = [], 0
    for block in filter(is_tested, blocks):
        for command in commands_of(block):
            started = time.monotonic()
            complaints += check_command(command, functions, runner, path.name)
            count += 1
            if verbose:
                print(f"{time.monotonic() - started:6.2f} s  {command.text}", flush=True)
    return complaints, count


def self_test():
    """What the checks themselves must find: a test that cannot fail keeps nothing true."""
    text = "```console exit=3\n$ gpuexp a \\\n  b\nx  1\n...\n[1/2] p: ok\ny 2...z\n$ gpuexp c\nw\n```\n"
    text += "```console-gpu\n$ gpuexp d\n```\n```console\n$ ls\n```\n"
    commands = [command for block in filter(is_tested, blocks_of(text)) for command in commands_of(block)]
    assert [command.text for command in commands] == ["gpuexp a \\\n  b", "gpuexp c"], commands
    assert [command.exit_code for command in commands] == [3, 3]
    shown = commands[0].shown
    assert not missing_lines(shown, output_lines("x 1\n[ 1/20] q: ok\nother\n  y   2 and z\n"))
    assert len(missing_lines(shown, ["x 1"])) == 1
    assert len(missing_lines(shown, ["y 2 z", "x 1"])) == 1  # in the wrong order
    assert len(missing_lines(shown, ["x 11", "y 2 z w"])) == 2
    for broken in ("```console\n$ gpuexp a\n", "```console exit\n$ gpuexp a\nx\n```\n"):
        try:
            list(map(commands_of, blocks_of(broken)))
        except ValueError:
            continue
        raise AssertionError(f"accepted: {broken}")


def main():
    parser = argparse.ArgumentParser(description="Runs the commands that documents show and checks their output.")
    parser.add_argument("--gpuexp", required=True, type=pathlib.Path)
    parser.add_argument("--configs", required=True, type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="print each command with the time it took")
    parser.add_argument("documents", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    self_test()
    complaints, total = [], 0
    for document in arguments.documents:
        with tempfile.TemporaryDirectory(prefix="gpuexp-docs-") as directory:
            runner = Runner(arguments.gpuexp.resolve(), arguments.configs.resolve(), pathlib.Path(directory))
            found, count = check_document(document, runner, arguments.verbose)
        complaints += found
        total += count
        print(f"{document.name}: {count} commands, {len(found)} complaints")
    for complaint in complaints:
        print(complaint)
    if total == 0:
        print("no document shows a command: nothing was checked")
    return 1 if complaints or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
