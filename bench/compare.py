"""Runs several commands in turn and compares their time and memory.

    python -m bench.compare [--rounds 5] [--json FILE] NAME=COMMAND ...

Each round runs every command once, so that all runs of a round see a similar load of the machine. Ratios are taken
within a round; the table shows their medians. All commands are compared with the first.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

KIB = 1024
TAIL = 2000  # characters shown of a failed command's output


@dataclass(frozen=True)
class Command:
    """Program to measure."""

    name: str
    argv: Sequence[str]
    cwd: Path | None = None
    output: Path | None = None
    """File that it writes, removed before and after each run."""
    row_start: bytes = b""
    """Start of the lines of `output` that count as rows."""
    rounds: int | None = None
    """Number of rounds that it takes part in, the first ones; None: all."""


@dataclass(frozen=True)
class Run:
    """Measurements of one run."""

    wall: float
    """Wall time in seconds."""
    cpu: float
    """User and system time in seconds, of the process and the children that it waited for."""
    peak_mb: float
    """Peak resident memory of the largest process, in MiB."""
    load: float
    """Load average of the machine over the minute before."""
    rows: int | None = None
    """Rows written."""


Runs = Mapping[str, list[Run]]


def compare(commands: Sequence[Command], rounds: int) -> dict[str, list[Run]]:
    """Return the runs of each command, one per round. Raises SystemExit if a command fails."""
    runs: dict[str, list[Run]] = {command.name: [] for command in commands}
    for number in range(rounds):
        for command in commands:
            if command.rounds is None or number < command.rounds:
                runs[command.name].append(measure(command))
                print(f"round {number + 1}  {command.name}: {runs[command.name][-1].wall:.2f} s", flush=True)
    return runs


def measure(command: Command) -> Run:
    """Run a command once."""
    _remove(command.output)
    load = os.getloadavg()[0]
    with tempfile.TemporaryFile() as log:
        start = time.perf_counter()
        process = subprocess.Popen(command.argv, cwd=command.cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            log.seek(0)
            text = log.read().decode(errors="replace")[-TAIL:]
            raise SystemExit(f"{command.name} failed with code {process.returncode}:\n{text}")
    run = Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / KIB, load)
    rows = count_rows(command.output, command.row_start) if command.output else None
    _remove(command.output)
    return replace(run, rows=rows)


def count_rows(path: Path, start: bytes) -> int:
    """Count the lines of a file that start with `start`."""
    with path.open("rb") as lines:
        return sum(line.startswith(start) for line in lines)


def ratio(runs: Sequence[Run], base: Sequence[Run], value: str = "wall") -> float:
    """Median of the ratios to `base`, round by round. `value`: wall or cpu."""
    pairs = zip(runs, base, strict=False)
    return float(median(getattr(run, value) / getattr(other, value) for run, other in pairs))


COLUMNS = ("wall s", "min to max", "cpu s", "peak MB", "wall x", "cpu x", "rows", "rows/s", "runs")


def table(runs: Runs) -> str:
    """Format the medians in Markdown; `x` columns are ratios to the first command."""
    base = next(iter(runs.values()))
    lines = [f"| | {' | '.join(COLUMNS)} |", "|---" + "|---:" * len(COLUMNS) + "|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(_figures(own, base))} |" for name, own in runs.items()])


def _figures(own: Sequence[Run], base: Sequence[Run]) -> list[str]:
    walls = [run.wall for run in own]
    rows = own[-1].rows
    return [
        f"{median(walls):.2f}",
        f"{min(walls):.2f} to {max(walls):.2f}",
        f"{median(run.cpu for run in own):.2f}",
        f"{median(run.peak_mb for run in own):,.0f}",
        f"{ratio(own, base):.2f}",
        f"{ratio(own, base, 'cpu'):.2f}",
        "" if rows is None else f"{rows:,}",
        "" if rows is None else f"{rows / median(walls):,.0f}",
        f"{len(own)}",
    ]


def save(runs: Runs, path: Path) -> None:
    """Write every run as JSON: {command: [run]}."""
    path.write_text(json.dumps({name: [asdict(run) for run in own] for name, own in runs.items()}, indent=1) + "\n")


def _remove(path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)


def _commands(texts: Iterable[str]) -> list[Command]:
    pairs = (text.split("=", 1) for text in texts)
    return [Command(name, shlex.split(argv)) for name, argv in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description="Run commands in turn and compare.")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--json", type=Path, help="file for every single run")
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    runs = compare(_commands(arguments.commands), arguments.rounds)
    print(table(runs))
    if arguments.json:
        save(runs, arguments.json)


if __name__ == "__main__":
    main()
