"""Runs the benchmark: creates the data, serves it, measures, and reports which targets are met.

    python -m bench.run [PART ...] [--rounds 5] [--peers-python VENV/bin/python]

Each part prints a Markdown table and writes every single run to DATA/results/<part>.json. bench/README.md explains the
parts and has measured figures.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.compare import Runs, compare, ratio, save, table
from bench.generate import ensure
from bench.programs import PARTS, RECIPES, ROOT, Tools
from bench.serve import serving

OURS = "sitemapcrawler"
PARSER = "ultimate-sitemap-parser"
WAYS = (OURS, f"{OURS}, all rules")
WALL_TARGETS = {
    "lxml loop": 1.6,
    "lxml loop, uncompressed files": 1.6,
    "ultimate-sitemap-parser": 0.27,
    "advertools": 0.32,
}
"""Maximum ratio of our wall time to that of another program, on the plain set."""
RULES_TARGET = 2.2
"""The same to the lxml loop, with all rules on."""
JUDGED_TARGETS = {"a small robots.txt": 1.15, "500 rules": 1.6}
"""Maximum ratio of wall time with verdicts to that without."""
JOB_TARGETS = {
    "a job without rules on the site": ("no database", 1.3),
    "again": ("the first time", 0.4),
    "again, only=changes": ("the first time", 0.2),
    "a CSV feed": ("healthy entries", 1.1),
    "a wrong date each": ("healthy entries", 1.7),
    "sitemapcrawler": ("one awaited request an item", 1.0),
}
"""Maximum ratio of the wall time of one program to that of another."""
RICH_TARGETS = {WAYS[0]: 0.6, WAYS[1]: 1.2}
"""Maximum ratio of our wall time to that of ultimate-sitemap-parser, on the multilingual set."""
RULES_MEMORY = 1.2
"""Maximum ratio of peak memory with all rules to that without."""
ONE_ROW = 1
"""Rows counted in a crawl without changes: its summary."""
PEAK_MB = 200
SAME_MEMORY = 1.1  # ratio up to which two peaks count as the same


def verdicts(part: str, runs: Runs) -> Iterator[str]:
    """Yield one line per target that these runs can decide."""
    for way in WAYS:
        if part == "plain" and way in runs:
            for base in filter(runs.__contains__, WALL_TARGETS):
                what = f"wall time of {way} over that of {base}"
                target = RULES_TARGET if way != OURS and base == "lxml loop" else WALL_TARGETS[base]
                yield _verdict(what, ratio(runs[way], runs[base]), target)
        if part == "multilingual" and way in runs and PARSER in runs:
            yield _verdict(
                f"wall time of {way} over that of {PARSER}", ratio(runs[way], runs[PARSER]), RICH_TARGETS[way]
            )
    for name, target in JUDGED_TARGETS.items():
        if name in runs:
            yield _verdict(
                f"wall time with {name} over that for none", ratio(runs[name], runs[f"{name}, for none"]), target
            )
    for name, (base, target) in JOB_TARGETS.items():
        if name in runs and base in runs:
            yield _verdict(f"wall time of {name} over that of {base}", ratio(runs[name], runs[base]), target)
    peaks = {name: median(run.peak_mb for run in own) for name, own in runs.items() if name.startswith(OURS)}
    for name, peak in peaks.items():
        yield _verdict(f"peak MB of {name}", peak, PEAK_MB)
    for name, peak in peaks.items():
        judged = peaks.get(name.replace(OURS, WAYS[1], 1))
        if judged and WAYS[1] not in name:
            yield _verdict(f"peak of all rules over that of {name}", judged / peak, RULES_MEMORY)
    for way in WAYS:
        few, many = (peaks.get(f"{way}, {files} files") for files in (5, 100))
        if few and many:
            yield _verdict(f"peak of {way} with 100 files over that with 5", many / few, SAME_MEMORY)


def _verdict(what: str, value: float, limit: float) -> str:
    return f"- {'met' if value <= limit else 'MISSED'}: {what}: {value:.3g}, at most {limit:g}"


def run_part(name: str, arguments: argparse.Namespace) -> None:
    """Create the data, measure, and print."""
    part, data = PARTS[name], arguments.data
    urls = {ensure(RECIPES[folder], data / folder)["urls"] for folder in part.sets}
    commands = part.commands(Tools(arguments.python, arguments.peers_python, data))
    if arguments.only:
        commands = [command for command in commands if command.name in arguments.only]
    if arguments.rounds:
        commands = [replace(command, rounds=None) for command in commands]
    print(f"\n## {name}\n{part.commands.__doc__} Load average before: {os.getloadavg()[0]:.2f}\n", flush=True)
    with serving([data / folder for folder in part.sets]):
        runs = compare(commands, arguments.rounds or part.rounds)
    print("", table(runs), "", *verdicts(name, runs), sep="\n", flush=True)
    results = data / "results"
    results.mkdir(exist_ok=True)
    save(runs, results / f"{name}.json")
    check_rows(runs, urls)


def check_rows(runs: Runs, expected: set[int]) -> None:
    """Raise SystemExit if a program wrote fewer or more rows than there are URLs."""
    for name, own in runs.items():
        if wrong := {run.rows for run in own} - expected - {ONE_ROW if "only=changes" in name else None}:
            sys.exit(f"{name} wrote {wrong} rows, not {expected}: its figures do not count")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description="Run the benchmark.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, help="for every program (default: what each part says)")
    parser.add_argument("--only", action="append", metavar="NAME", help="a program of the table; may be repeated")
    parser.add_argument("--data", type=Path, default=ROOT / "out" / "bench", help="default: %(default)s")
    parser.add_argument("--python", default=sys.executable, help="has sitemapcrawler's dependencies")
    parser.add_argument("--peers-python", default=sys.executable, help="has bench/requirements.txt")
    arguments = parser.parse_args()
    arguments.data = arguments.data.resolve()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in arguments.parts or PARTS:
        run_part(name, arguments)


if __name__ == "__main__":
    main()
