"""Soak test: verifies every URL of a large site against a server that fails for one page in twenty.

    python -m bench.soak [--urls 1000000] [--faults 0.05] [--seed 1] [--result FILE]

A hash of a page's number and the seed decides how it fails (`tests/faults/plan.py`). Every record is compared with the
expected one, and every request with what the server saw. The memory of the crawl is sampled each second, and must stay
flat over the last half. Everything listens on loopback, and ends with this program. Exit code 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from ctypes import c_ubyte
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import linear_regression, mean
from typing import Any

from bench.programs import ROOT
from tests.faults.fault_server import FaultServer
from tests.faults.plan import FAULTS, Plan, difference

PER_FILE = 10_000
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
MAX_GROWTH = 0.02
"""Maximum growth of a crawl's memory over the last half, as a share."""
SHOWN = 20
"""Maximum differences shown."""
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": 0,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_TIMEOUT": 8,
    "RETRY_TIMES": 1,
    "SITEMAP_MAX_HOST_ERRORS": 0,
    "SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8",
    "LOGSTATS_INTERVAL": 0,
    "LOG_LEVEL": "WARNING",
}
"""No delays, and no host is given up: every failure is retried to the end."""


class Files(Mapping[str, bytes]):
    """Sitemaps of the site, generated on request."""

    def __init__(self, plan: Plan, urls: int) -> None:
        self._plan, self._urls = plan, urls
        self.server: FaultServer

    def get(self, path: str, default: Any = None) -> Any:
        """Return the file at a path."""
        if path == "/index.xml":
            files = (f"<sitemap><loc>{self.server.url(f'/{name}.xml')}</loc></sitemap>" for name in range(len(self)))
            return f'<sitemapindex xmlns="{NAMESPACE}">{"".join(files)}</sitemapindex>'.encode()
        if path.endswith(".xml"):
            start = int(path[1:-4]) * PER_FILE
            locs = (self.url(number) for number in range(start, min(start + PER_FILE, self._urls)))
            entries = "\n".join(f"<url><loc>{loc}</loc></url>" for loc in locs)
            return f'<urlset xmlns="{NAMESPACE}">{entries}</urlset>'.encode()
        return default

    def url(self, number: int) -> str:
        """Return the URL of a page."""
        return self.server.url(self._plan.path(number), self._plan.place(number))

    def __getitem__(self, path: str) -> bytes:
        raise KeyError(path)

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return -(-self._urls // PER_FILE)


def serve(plan: Plan, urls: int, seen: Any, again: Any, to: Connection) -> None:
    """Serve until the other end of the pipe closes. `seen`: requests per page. `again`: those that got no byte on a
    reused connection, which HTTP libraries resend by themselves."""
    silent = {name for name, fault in FAULTS.items() if fault.silent}

    def heard(_: str, path: str, used: bool) -> None:
        name, _, number = path[1:].partition("/")
        if number.isdigit():
            seen[int(number)] += 1
            again[int(number)] += used and name in silent

    files = Files(plan, urls)
    with FaultServer(files, heard) as files.server:
        to.send(files.server.url("/index.xml"))
        while to.poll(None):
            try:
                to.recv()
            except EOFError:
                return


@dataclass
class Samples:
    """Memory of a running crawl."""

    done: list[float] = field(default_factory=list)
    """Pages requested so far."""
    mb: list[float] = field(default_factory=list)
    """Resident memory at that moment, in MB."""

    def take(self, pid: int, seen: Any) -> None:
        """Take one sample."""
        status = Path(f"/proc/{pid}/status").read_text()
        if "VmRSS" in status:
            self.mb.append(int(status.partition("VmRSS:")[2].split()[0]) / 1024)
            self.done.append(len(seen) - bytes(seen).count(0))

    def last_half(self) -> tuple[float, float]:
        """Return (MB of growth per 100,000 pages, mean MB) over the last half of the pages."""
        last = max(self.done)
        pairs = [(done, mb) for done, mb in zip(self.done, self.mb, strict=True) if last / 2 <= done < last]
        slope = linear_regression(*zip(*pairs, strict=True)).slope
        return slope * 100_000, mean(mb for _, mb in pairs)


@dataclass
class Soak:
    """Soak test, and its problems."""

    plan: Plan
    urls: int
    folder: Path
    wrong: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    resent: int = 0
    """Requests that the HTTP library resent by itself."""

    def compare(self, seen: Any, again: Any) -> None:
        """Compare the records with the plan, and with what the server saw."""
        found, summary = bytearray(self.urls), None
        with (self.folder / "out.jsonl").open("rb") as feed:
            for line in feed:
                if line.startswith(b'{"type":"url"'):
                    self._record(json.loads(line), found, seen, again)
                elif line.startswith(b'{"type":"summary"'):
                    summary = json.loads(line)
        self.wrong += [f"{count} pages have no record"] if (count := found.count(0)) else []
        self._summary(summary or {})

    def _record(self, record: Mapping[str, Any], found: bytearray, seen: Any, again: Any) -> None:
        number = int(record["loc"].rpartition("/")[2])
        reply = record["reply"]
        self.kinds[reply["kind"]] += 1
        if found[number]:
            self.wrong.append(f"{record['loc']} has two records")
        found[number] = 1
        if told := difference(self.plan, number, reply, "head"):
            self.wrong.append(f"{record['loc']}: {told}")
        attempts = reply.get("attempts", 0)
        self.resent += again[number]
        if not seen[number] - again[number] <= attempts <= seen[number] + 1:
            self.wrong.append(f"{record['loc']}: {attempts} attempts, of which the server saw {seen[number]}")

    def _summary(self, summary: Mapping[str, Any]) -> None:
        if summary.get("replies") != dict(self.kinds):
            self.wrong.append(f"the summary counts {summary.get('replies')}, there are {dict(self.kinds)}")
        if summary.get("partial"):
            self.wrong.append(f"partial: {summary['partial']}")
        log = (self.folder / "log.txt").read_text("utf-8", "replace")
        if "Traceback" in log or "internal error" in log:
            self.wrong.append(f"the log: {log[-1000:]}")


def crawl(index: str, folder: Path, seen: Any) -> tuple[int, float, Samples]:
    """Run the crawl; return (exit code, seconds until all was requested and written, samples)."""
    words = [sys.executable, "-m", "sitemapcrawler.cli", "crawl", "sitemap", "-O", str(folder / "out.jsonl")]
    words += ["-a", f"sitemap={index}", "-a", "verify=head", "-a", "verify_offsite=yes"]
    words += [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
    samples, started = Samples(), time.monotonic()
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=log, stdout=log)
        try:
            while process.poll() is None:
                samples.take(process.pid, seen)
                time.sleep(1)  # between two samples
        finally:
            process.kill()
    return process.wait(), time.monotonic() - started, samples


def soak(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the soak test; return the result."""
    plan = Plan(arguments.seed, arguments.faults, int(SETTINGS["RETRY_TIMES"]))
    seen, again = (multiprocessing.RawArray(c_ubyte, arguments.urls) for _ in range(2))
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(plan, arguments.urls, seen, again, theirs), daemon=True)
    server.start()
    theirs.close()
    try:
        code, seconds, samples = crawl(ours.recv(), folder, seen)
    finally:
        server.terminate()
    made = Soak(plan, arguments.urls, folder)
    made.wrong += [f"exit code {code}"] if code else []
    made.compare(seen, again)
    slope, average = samples.last_half()
    growth = slope * arguments.urls / 2 / 100_000 / average
    made.wrong += [f"memory grows by {growth:.1%} over the last half"] if growth > MAX_GROWTH else []
    return {
        "urls": arguments.urls,
        "seconds": round(seconds),
        "urls_per_s": round(arguments.urls / seconds),
        "requests": sum(seen),
        "sent_again_by_the_library": made.resent,
        "replies": dict(made.kinds),
        "mb_average_last_half": round(average, 1),
        "mb_peak": round(max(samples.mb), 1),
        "mb_per_100_000_urls": round(slope, 3),
        "growth_last_half": round(growth, 4),
        "wrong": len(made.wrong),
        "shown": made.wrong[:SHOWN],
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="A long crawl on a bad day.")
    parser.add_argument("--urls", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--faults", type=float, default=0.05, help="share of pages that fail, default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--result", type=Path, help="a file that gets the result, too")
    parser.add_argument("--keep", type=Path, help="a folder for the feed and the log, which stays")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        told = json.dumps(soak(arguments, folder), indent=1)
    print(told)
    if arguments.result is not None:
        arguments.result.write_text(f"{told}\n", "utf-8")
    sys.exit(bool(json.loads(told)["wrong"]))


if __name__ == "__main__":
    main()
