"""Measures a fleet: the speed-up of two workers over one, and the overhead per domain.

    unshare --net python -m bench.fleet [--sites 200] [--sitemaps 20] [--urls 500] [--rounds 3] [--polite]

nginx serves many small sites, each at its own address (127.1.x.y); local clusters of one and of two workers crawl them
in turn. Ray requests the metadata of a cloud machine when it starts. Therefore this runs in a network namespace with
only `lo`, and refuses to run in any other.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import duckdb

from bench.serve import nginx

ROOT = Path(__file__).parents[1]
PORT = 8980
LOOK_S = 0.5
"""Seconds between two measurements of a fleet's memory."""
LIMIT_S = 3600
"""Seconds after which nginx stops."""
SPEEDUP = 1.7
"""Goal: minimum speed-up of two workers over one."""
OVERHEAD_S = 1.0
"""Goal: maximum mean seconds of a domain besides its crawl."""
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
"""netdevice(7)."""
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"

SITE = """  server {{ listen 0.0.0.0:{port} backlog=4096; root "{root}/$host"; }}
"""
"""nginx configuration of all sites, each at its own address."""


@dataclass(frozen=True)
class Run:
    """Measurements of one fleet."""

    workers: int
    wall: float
    """Wall time of the whole command in seconds."""
    overhead: float
    """Mean seconds of a domain besides its crawl."""
    slowest: float
    """Maximum of the same: the first domain of a worker, which starts its processes."""
    median: float
    """Median of the same."""
    crawl: float
    """Mean seconds of a crawl."""
    peak_mb: float
    """Peak memory of the largest crawl."""
    bytes: float
    """Mean bytes of a domain's files."""
    urls: int
    cpu: float = 0.0
    """Busy seconds of all cores of the machine per domain, including the fleet, Ray and nginx."""
    resident_mb: float = 0.0
    """Peak memory of all processes of the fleet in MiB, with shared pages divided among them."""


def host(number: int) -> str:
    """Return the address of a site."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


def make(folder: Path, count: int, sitemaps: int, urls: int) -> list[str]:
    """Write the sites that are missing; return the origins of all."""
    for name in map(host, range(count)):
        origin, site = f"http://{name}:{PORT}", folder / name
        if (site / "robots.txt").exists():
            continue
        site.mkdir(parents=True, exist_ok=True)
        for part in range(sitemaps):
            entries = "".join(
                f"<url><loc>{origin}/{part}/{page}.html</loc><lastmod>2026-01-01</lastmod></url>\n"
                for page in range(urls)
            )
            (site / f"{part}.xml").write_text(f'<urlset xmlns="{NAMESPACE}">\n{entries}</urlset>\n')
        children = "".join(f"<sitemap><loc>{origin}/{part}.xml</loc></sitemap>" for part in range(sitemaps))
        (site / "sitemap.xml").write_text(f'<sitemapindex xmlns="{NAMESPACE}">{children}</sitemapindex>')
        (site / "robots.txt").write_text(f"User-agent: *\nSitemap: {origin}/sitemap.xml\n")
    return [f"http://{host(number)}:{PORT}" for number in range(count)]


def alone() -> None:
    """Bring `lo` up. Raises SystemExit if there is another interface, because then the namespace is not our own."""
    if others := {name for _, name in socket.if_nameindex()} - {"lo"}:
        sys.exit(f"there is a network here ({', '.join(sorted(others))}): unshare --net python -m bench.fleet")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def measure(workers: int, domains: Path, out: Path, settings: list[str]) -> Run:
    """Run one fleet and measure it."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sitemapcrawler.cli", "fleet", f"@{domains}", "--out", str(out), "--no-progress"]
    command += ["--workers", str(workers), *(part for setting in settings for part in ("-s", setting))]
    busy, began, resident = busy_s(), time.monotonic(), 0.0
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL) as fleet:
        while fleet.poll() is None:
            resident = max(resident, resident_mb(fleet.pid))
            time.sleep(LOOK_S)  # between two measurements
    if fleet.returncode:
        sys.exit(f"the fleet ended with code {fleet.returncode}")
    wall, busy = time.monotonic() - began, busy_s() - busy
    query = f"""SELECT avg(wall_s - elapsed_s), max(wall_s - elapsed_s), median(wall_s - elapsed_s), avg(elapsed_s),
        max(peak_mb), avg(bytes), sum(urls)::BIGINT, count(*)
        FROM '{out}/domain/*/*.parquet' WHERE state = 'finished'"""
    *figures, count = duckdb.sql(query).fetchall()[0]
    return Run(workers, wall, *figures, cpu=busy / count, resident_mb=resident)


def busy_s() -> float:
    """Seconds that all cores of this machine have been busy since boot."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Memory of a process and its descendants in MiB, with shared pages divided among them."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found, total = [pid], 0
    while found:
        one = found.pop()
        found += parents.get(one, [])
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            total += int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return total / 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description="Measure a fleet.")
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--sitemaps", type=int, default=20, help="of each site")
    parser.add_argument("--urls", type=int, default=500, help="of each sitemap")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--polite", action="store_true", help="keep the delays of a crawl")
    parser.add_argument("--data", type=Path, default=ROOT / "out" / "bench", help="default: %(default)s")
    arguments = parser.parse_args()
    alone()
    data = arguments.data.resolve()
    folder = data / f"fleet-{arguments.sitemaps}x{arguments.urls}"
    origins = make(folder, arguments.sites, arguments.sitemaps, arguments.urls)
    domains = folder / "domains.txt"
    domains.write_text("".join(f"{origin}\n" for origin in origins))
    settings = ["SITEMAP_MAX_ROBOTS=0", *([] if arguments.polite else ["AUTOTHROTTLE_ENABLED=0", "DOWNLOAD_DELAY=0"])]
    with nginx(SITE.format(port=PORT, root=folder), [PORT], LIMIT_S):
        rounds = (workers for _ in range(arguments.rounds) for workers in arguments.workers)
        runs = [measure(workers, domains, data / "fleet-out", settings) for workers in rounds]
    report(runs, arguments.sites * arguments.sitemaps * arguments.urls)
    (data / "results").mkdir(exist_ok=True)
    (data / "results" / f"{folder.name}.json").write_text(json.dumps([asdict(run) for run in runs], indent=1))


def report(runs: list[Run], urls: int) -> None:
    """Print a table, and which goals are met. Raises SystemExit if URLs are missing."""
    besides = "besides the crawl: mean, median, max s"
    print(f"Load average: {os.getloadavg()[0]:.2f}\n")
    print(f"| workers | wall s | {besides} | crawl s | busy s a domain | peak MB | all MB | bytes a domain |")
    print("|---:" * 8 + "|")
    for run in runs:
        rest = f"{run.overhead:.2f}, {run.median:.2f}, {run.slowest:.2f} | {run.crawl:.2f} | {run.cpu:.2f}"
        sizes = f"{run.peak_mb:.0f} | {run.resident_mb:.0f} | {run.bytes:,.0f}"
        print(f"| {run.workers} | {run.wall:.1f} | {rest} | {sizes} |")
        if run.urls != urls:
            sys.exit(f"{run.urls} URLs instead of {urls}: these figures do not count")
    one, two = ([run.wall for run in runs if run.workers == count] for count in (1, 2))
    overhead = median(run.overhead for run in runs)
    said = ("MISSED", "met")
    if one and two:
        speedup = median(slow / fast for slow, fast in zip(one, two, strict=True))
        print(f"\n- {said[speedup >= SPEEDUP]}: two workers over one: {speedup:.2f}, at least {SPEEDUP}")
    print(f"- {said[overhead <= OVERHEAD_S]}: seconds besides the crawl: {overhead:.2f}, at most {OVERHEAD_S:g}")


if __name__ == "__main__":
    main()
