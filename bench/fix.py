"""Repairs a set of sitemaps, and reads the same set alone: processor time and peak memory of both, in turn.

    python -m bench.fix [--kind multilingual] [--entries 1000000] [--rounds 3]

Reading is `read_sitemap` over each file with all rules; repairing is the command `fix` with `--out`. The set is that of
`bench.generate`, uncompressed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = 50_000
"""Entries of a file."""
HOME = "https://www.example.com/"
READ = """
import sys
from pathlib import Path
from sitemapcrawler import read_sitemap
urls = 0
for path in sorted(Path(sys.argv[1]).glob("sitemap-*.xml")):
    with read_sitemap(path, sys.argv[2] + path.name, select=sys.argv[3]) as sitemap:
        for entry in sitemap:
            urls += 1
print(urls)
"""


def measured(command: list[str]) -> tuple[float, float, str]:
    """Run a command; return its processor time in seconds, its peak memory in MB, and what it printed."""
    program = [sys.executable, "-c", MEASURE, *command]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    figures = json.loads(done.stderr.splitlines()[-1])
    return figures["seconds"], figures["mb"], done.stdout


MEASURE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}), file=sys.stderr)
sys.exit(done.returncode)
"""


def main() -> None:
    """Measure, and print a line for each round and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="multilingual")
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        subprocess.run(
            [sys.executable, "-m", "bench.generate", options.kind, str(site), "--raw", "--host", HOME.rstrip("/"),
             "--files", str(-(-options.entries // FILE)), "--entries", str(min(FILE, options.entries))],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        for path in [
            *site.glob("*.gz"),
            site / "index.xml",
            site / "index-raw.xml",
            site / "robots.txt",
            site / "set.json",
        ]:
            path.unlink(missing_ok=True)
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(options.rounds):
            out = Path(folder, "out")
            shutil.rmtree(out, ignore_errors=True)
            commands = {
                "read": [sys.executable, "-c", READ, str(site), HOME, "none"],
                "read, all rules": [sys.executable, "-c", READ, str(site), HOME, ""],
                "fix": [
                    sys.executable,
                    "-m",
                    "sitemapcrawler.cli",
                    "fix",
                    str(site),
                    "--base-url",
                    HOME,
                    "--out",
                    str(out),
                ],
            }
            for name, command in commands.items():
                seconds, mb, said = measured(command)
                found.setdefault(name, []).append((seconds, mb))
                print(f"{name:16} {seconds:7.1f} s {mb:6.0f} MB  {said.splitlines()[0]}", flush=True)
        reading = statistics.median(seconds for seconds, _ in found["read"])
        for name, rounds in found.items():
            seconds, mb = (statistics.median(values) for values in zip(*rounds, strict=True))
            print(f"median {name:16} {seconds:7.1f} s  {seconds / reading:5.2f} times reading  {mb:6.0f} MB")


if __name__ == "__main__":
    main()
