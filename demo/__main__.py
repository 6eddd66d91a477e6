"""`python -m demo serve` serves the demo site, `crawl` instead crawls it, and `audit` audits it."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from demo.server import DemoServer, serving

ALONE = ("-s", "SITEMAP_MAX_ROBOTS=0")
"""One page of the demo is on another host, to which it sends no request."""
ROOT = Path(__file__).resolve().parent.parent


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code, for `crawl` and `audit` that of the crawl."""
    parser = argument_parser()
    arguments, scrapy_arguments = parser.parse_known_args(argv)
    if arguments.command == "crawl":
        return crawl(arguments.port, arguments.out, scrapy_arguments)
    if arguments.command == "audit":
        return audit(arguments.port, arguments.out, scrapy_arguments)
    if scrapy_arguments:
        parser.error(f"serve does not know {scrapy_arguments[0]}")
    return serve(arguments.port, arguments.day)


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m demo", description=__doc__, allow_abbrev=False, epilog="crawl and audit hand other arguments on"
    )
    parser.add_argument("command", choices=("serve", "crawl", "audit"))
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--day", type=int, choices=(1, 2), default=1, help="of serve: 2 for the site on the next day")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the results (default: out/)")
    return parser


def serve(port: int, day: int) -> int:
    """Serve until Ctrl-C, with a line for each request. `day`: see `build`."""
    with DemoServer(port, log=True, day=day) as server:
        print(f"The demo site is at {server.base}/ until Ctrl-C.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def crawl(port: int, out: Path, scrapy_arguments: Sequence[str]) -> int:
    """Serve the site, crawl it into `urls.csv` and `records.jsonl` in `out`, and always stop the server. A relative
    `out` is relative to the project's folder, where Scrapy runs."""
    feeds = [f"-O{out / name}" for name in ("urls.csv", "records.jsonl")]
    with serving(port) as base:
        command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-a", f"domain={base}", *feeds, *ALONE]
        print(f"Crawling the demo site at {base}/ into {out}/", flush=True)
        return run([*command, *scrapy_arguments])


def audit(port: int, out: Path, arguments: Sequence[str]) -> int:
    """Serve the site, audit it into the folder `out`, and always stop the server. `out`: as of `crawl`."""
    with serving(port) as base:
        command = [sys.executable, "-m", "sitemapcrawler", "audit", base, "--out", str(out), *ALONE]
        return run([*command, *arguments])


def run(command: Sequence[str]) -> int:
    """Run a command in the project's folder to its end; return its exit code. The command receives Ctrl-C too, also a
    second one, and decides when to stop."""
    process = subprocess.Popen(command, cwd=ROOT)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    sys.exit(main())
