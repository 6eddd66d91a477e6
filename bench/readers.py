"""Compares what readers find in the same sitemaps: those of a folder, and hard ones.

    python -m bench.readers [FOLDER] [--peers-python VENV/bin/python] [--short]

Every input is served over loopback as a site whose robots.txt names it. Every reader starts at that robots.txt, in its
own process. bench/readers.md has the printed tables; docs/comparison.md has the one of `--short`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from textwrap import fill

from bench.folder import inputs
from bench.hard import HARD, Input
from bench.local import serving, wall
from bench.verdict import Found, Score, score

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "bench" / "peers"
TIME_LIMIT = 30  # seconds for one reader and one input
AT_ONCE = 4  # processes
WIDTH = 100  # characters of a line of text
OURS = "sitemapcrawler"
READERS = {
    OURS: "",
    "ultimate-sitemap-parser": "reading_usp.py",
    "advertools": "reading_advertools.py",
    "Scrapy SitemapSpider": "reading_scrapy_spider.py",
    "Scrapy Sitemap": "reading_scrapy_sitemap.py",
}
"""{reader: its script in `peers/`}."""
SHORT = {OURS: "ours", "ultimate-sitemap-parser": "usp", "advertools": "advertools", "Scrapy SitemapSpider": "Scrapy"}
"""Columns of the short table."""
SETTINGS = ("AUTOTHROTTLE_ENABLED=0", "DOWNLOAD_DELAY=0", "LOG_LEVEL=ERROR")
Results = Mapping[str, Sequence[tuple[Score, Found]]]
"""{reader: its result for each input}."""


def read_ours(python: str, environment: Mapping[str, str], origin: str) -> Found:
    """Run a crawl of ours."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "records.jsonl")
        argv = [python, "-m", "scrapy", "crawl", "sitemap", "-a", f"domain={origin}", "-O", str(out)]
        error = _run([*argv, *(part for setting in SETTINGS for part in ("-s", setting))], environment)
        records = [json.loads(line) for line in out.read_bytes().splitlines()] if out.exists() else []
    pages = [record["loc"] for record in records if record["type"] == "url"]
    children = [record["sitemap"] for record in records if record["type"] == "sitemap" and record["depth"]]
    return Found(_version(), pages, children, "" if records else error)


def read_peer(script: str, python: str, environment: Mapping[str, str], origin: str) -> Found:
    """Run a script of `peers/`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "found.json")
        error = _run([python, str(PEERS / script), origin, str(out)], environment)
        return Found(**json.loads(out.read_text())) if out.exists() else Found(error=error)


def _run(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a program; return the name of the exception that ended it, or that it timed out."""
    try:
        done = subprocess.run(
            argv, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {TIME_LIMIT} s"
    last = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
    return last.partition(":")[0].rpartition(".")[2] if done.returncode else ""


def _version() -> str:
    from sitemapcrawler import __version__

    return __version__


def compare(given: Sequence[Input], python: str, peers_python: str) -> dict[str, list[tuple[Score, Found]]]:
    """Return the result of every reader for every input, in the order of both."""
    results: dict[str, list[tuple[Score, Found]]] = {}
    with serving(given) as origins, wall() as environment, ThreadPoolExecutor(AT_ONCE) as pool:
        for name, script in READERS.items():
            read = partial(read_peer, script, peers_python) if script else partial(read_ours, python)
            found = list(pool.map(partial(read, environment), origins))
            results[name] = [
                (score(one, origin, its), its) for one, origin, its in zip(given, origins, found, strict=True)
            ]
            print(f"{name} has read {len(given)} inputs", file=sys.stderr)
    return results


def table(given: Sequence[Input], results: Results) -> Iterable[str]:
    """Lines of the long table, words and counts, for the inputs that some reader gets wrong."""
    yield f"| input | there | {' | '.join(results)} |"
    yield "|---|---:|" + "---|" * len(results)
    agreed = 0
    for number, one in enumerate(given):
        scores = [column[number][0] for column in results.values()]
        if all(score.verdict == "right" for score in scores):
            agreed += 1
            continue
        there = len(set(one.right if one.children is None else one.children))
        yield f"| {one.name} | {there} | {' | '.join(f'{score.verdict}: {score}' for score in scores)} |"
    yield ""
    yield f"All get the other {agreed} of the {len(given)} right."


def totals(results: Results) -> Iterable[str]:
    """One line per reader: inputs by verdict, and URLs by kind."""
    yield "| reader | right | wrong | lost | crash | URLs right | URLs wrong | URLs lost |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, column in results.items():
        scores = [score for score, _ in column]
        words = Counter(score.verdict for score in scores)
        urls = (sum(getattr(score, kind) for score in scores) for kind in ("right", "wrong", "lost"))
        counts = [*(words[word] for word in ("right", "wrong", "lost", "crash")), *urls]
        yield f"| {name} | {' | '.join(f'{count:,}' for count in counts)} |"


def short(given: Sequence[Input], results: Results) -> Iterable[str]:
    """Lines of the table in docs/comparison.md: only words."""
    yield f"| input | {' | '.join(SHORT.values())} |"
    yield "|---|" + "---|" * len(SHORT)
    for number, one in enumerate(given):
        if one.short:
            yield f"| {one.name} | {' | '.join(results[name][number][0].verdict for name in SHORT)} |"


def versions(results: Results) -> str:
    """Date and versions in one sentence, wrapped into lines."""
    named = {name: max(its.version for _, its in column) for name, column in results.items()}
    listed = ", ".join(f"{name} {version}" for name, version in named.items())
    return fill(f"{datetime.now(UTC):%Y-%m-%d}, Python {sys.version.split()[0]}: {listed}.", WIDTH)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.readers", description="Compare readers of sitemaps.")
    parser.add_argument("folder", nargs="?", type=Path, help="sitemaps to read besides the hard inputs")
    parser.add_argument("--python", default=sys.executable, help="has sitemapcrawler's dependencies")
    parser.add_argument("--peers-python", default=sys.executable, help="has bench/requirements.txt")
    parser.add_argument("--short", action="store_true", help="the hard inputs of docs/comparison.md alone, in words")
    arguments = parser.parse_args()
    hard = [one for one in HARD if one.short or not arguments.short]
    results = compare(hard, arguments.python, arguments.peers_python)
    if arguments.short:
        print(*short(hard, results), sep="\n")
        return
    print(versions(results), "\n## Hard inputs\n", *totals(results), "", *table(hard, results), sep="\n")
    if arguments.folder:
        files = inputs(arguments.folder)
        results = compare(files, arguments.python, arguments.peers_python)
        print("\n## Files of the folder\n", *totals(results), "", *table(files, results), sep="\n")


if __name__ == "__main__":
    main()
