"""Compares listed pages with a long list: time and peak memory of a crawl with and without it.

    python -m bench.lists [--rows 10000000] [--listed 800000]

The list has the form of an export of Screaming Frog, and half of the listed pages. Nothing is requested.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.fix import MEASURE

HOME = "https://www.example.com"
ENTRY = "<url><loc>{}/category-{}/page-{}.html</loc></url>\n"
ROOT = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


def write(folder: Path, rows: int, listed: int) -> None:
    """Write the sitemap `listed.xml` and the list `crawl.csv`."""
    with (folder / "listed.xml").open("w", encoding="ascii") as file:
        file.write(ROOT)
        file.writelines(ENTRY.format(HOME, number % 100, number) for number in range(listed))
        file.write("</urlset>\n")
    first = listed // 2
    with (folder / "crawl.csv").open("w", encoding="ascii") as file:
        file.write('"Address","Content Type","Status Code","Indexability"\n')
        file.writelines(
            f'"{HOME}/category-{number % 100}/page-{number}.html","text/html; charset=utf-8","200","Indexable"\n'
            for number in range(first, first + rows)
        )


def main() -> None:
    """Measure, and print a line for each crawl."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--listed", type=int, default=800_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, options.rows, options.listed)
        for arguments in ([], ["-a", "compare=@crawl.csv"]):
            command = [sys.executable, "-m", "sitemapcrawler.cli", "crawl", "sitemap", "-a", "sitemap=./listed.xml",
                       "-a", "offline=yes", "-a", "agents=none", *arguments, "-O", "summary.jsonl", "-s", "JOBDIR=job",
                       "-L", "ERROR"]  # fmt: skip
            subprocess.run(["rm", "-rf", "job"], cwd=folder, check=True)
            here = os.environ | {"PYTHONPATH": str(Path.cwd())}
            done = subprocess.run(
                [sys.executable, "-c", MEASURE, *command], cwd=folder, capture_output=True, text=True, env=here
            )
            figures = json.loads(done.stderr.splitlines()[-1])
            print(
                f"{' '.join(arguments) or 'no list':24} {figures['seconds']:7.1f} s {figures['mb']:6.0f} MB", flush=True
            )
            summary = (folder / "summary.jsonl").read_text().splitlines()[-1]
            print(json.dumps(json.loads(summary).get("coverage", {}).get("lists")), done.stderr[:300], flush=True)


if __name__ == "__main__":
    main()
