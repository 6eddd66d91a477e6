"""Fleets as a user starts them, the sites that they crawl, and what they leave."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import duckdb
import pyarrow.parquet as pq
from scrapy.settings import Settings

from sitemapcrawler import cli
from sitemapcrawler import settings as ours
from sitemapcrawler.commands.fleet import passed
from sitemapcrawler.fleet.domains import Domain, DomainRecord
from sitemapcrawler.fleet.task import FleetPlan, crawl_domain
from tests.crawl.crawling import NO_DELAYS, Crawl, Running, launch
from tests.crawl.documents import index, urlset
from tests.crawl.site_server import Route, SiteServer
from tests.processes import Process, below

COMMAND = "import sys; from sitemapcrawler.cli import main; sys.exit(main())"
"""The command, in a process that is not forked from one that has imported the package."""
WITHOUT_RAY = "import sys; from tests.fleet.fleets import without_ray; sys.exit(without_ray())"
"""The same, but it runs its tasks itself, one after the other: for what is not about processes of Ray."""
BUSY = "RAY_worker_niceness=0"
"""Ray's workers have a 30th of what other processes have, by 15 degrees of niceness: too little beside other tests."""
TABLES = ("url", "sitemap", "finding", "robots", "domain")
PAGES = 5
"""Pages of each sitemap."""
SITEMAPS = 2
"""Sitemaps of each site."""


class Site(SiteServer):
    """A small site with an address of its own: robots.txt, an index, sitemaps."""

    def __init__(self, number: int, sitemaps: int = SITEMAPS, **routes: Route) -> None:
        super().__init__(host=f"127.0.1.{number}")
        children = [f"/{part}.xml" for part in range(sitemaps)]
        self.routes = {
            "/robots.txt": f"User-agent: *\nSitemap: {self.url('/sitemap.xml')}\n",
            "/sitemap.xml": index(*map(self.url, children)),
            **{child: urlset(*(self.url(f"{child}/{page}") for page in range(PAGES))) for child in children},
            **routes,
        }
        self.listed = sitemaps * PAGES


@contextmanager
def sites(count: int, **options: Any) -> Iterator[list[Site]]:
    """So many sites, each at another address of the loopback network."""
    with ExitStack() as stack:
        yield [stack.enter_context(Site(number, **options)) for number in range(1, count + 1)]


def start(
    folder: Path,
    domains: Sequence[str],
    *options: str,
    settings: Mapping[str, object] | None = None,
    within: Sequence[str] = (),
    out: str = "out",
    command: str = COMMAND,
) -> Running:
    """Start a fleet in a folder; results go to its folder `out`. `within`: a command that runs it. For each domain, up
    to two, it has a worker."""
    (folder / "domains.txt").write_text("".join(f"{domain}\n" for domain in domains))
    words = ["env", BUSY, sys.executable, "-c", command, "fleet", "@domains.txt", "--out", out]
    words += ["--workers", str(min(len(domains), 2))]
    chosen = {**NO_DELAYS, "SITEMAP_MAX_ROBOTS": 0, **(settings or {})}
    words += [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    return launch(folder, [*within, *words, *options], group=True)


def run(folder: Path, domains: Sequence[str], *options: str, **parameters: Any) -> Crawl:
    """Run a fleet to its end; parameters as for `start`."""
    return start(folder, domains, *options, **parameters).finish()


class NoCluster:
    """In place of a cluster of Ray: runs a task where its result is wanted."""

    room = 1

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start(self, each: Domain, plan: FleetPlan, attempt: int) -> object:
        return partial(crawl_domain, each, plan, attempt)

    def wait(self, running: Sequence[object], seconds: float) -> list[object]:
        return [running[0]]

    def result(self, task: Callable[[], DomainRecord]) -> object:
        from sitemapcrawler.fleet.cluster import failure_of

        try:
            return task()
        except Exception as error:
            return failure_of(error)


def without_ray() -> None:
    """The program `WITHOUT_RAY`."""
    from sitemapcrawler.fleet import launching

    with patch.object(launching, "RayCluster", NoCluster):
        cli.main()


def wait_for(fleet: Running, site: Site, path: str, count: int = 1) -> None:
    """Return when a fleet has asked for a path so many times; one that ends or hangs before that fails with its log."""
    fleet.wait_until(lambda: site.paths.count(path) >= count)


def plan(output: str, chosen: Mapping[str, object] | None = None, **changes: Any) -> FleetPlan:
    """The plan of a task, without a fleet: its results go to a folder or bucket. `chosen`: settings."""
    settings = Settings()
    settings.setmodule(ours, "project")
    own = {"AUTOTHROTTLE_ENABLED": False, "SITEMAP_MAX_ROBOTS": 0, "SITEMAP_STOP_GRACE": 0}
    settings.setdict(own | dict(chosen or {}), "cmdline")
    made = {"arguments": {"max_time": "60"}, "max_time": 60.0, "retries": 2, **changes}
    return FleetPlan(output=output, settings=passed(settings), **made)


@dataclass
class Data:
    """What stands in a data set."""

    folder: Path

    def rows(self, table: str, columns: str = "*") -> list[dict[str, Any]]:
        """The rows of a table."""
        with duckdb.connect() as connection:
            files = f"{self.folder}/{table}/*/*.parquet"
            if not connection.execute(f"SELECT count(*) FROM glob('{files}')").fetchall()[0][0]:
                return []
            found = connection.execute(f"SELECT {columns} FROM '{files}' ORDER BY ALL")
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def urls(self) -> dict[str, list[str]]:
        """The pages of each domain, as often as they stand there."""
        found: dict[str, list[str]] = {}
        for row in self.rows("url", "domain, loc"):
            found.setdefault(row["domain"], []).append(row["loc"])
        return found

    def domains(self) -> dict[str, dict[str, Any]]:
        """The rows of domains, of which each has one."""
        rows = self.rows("domain")
        assert len({row["domain"] for row in rows}) == len(rows), [row["domain"] for row in rows]
        return {row["domain"]: row for row in rows}

    def whole(self) -> None:
        """Read every file of every table to its end."""
        for table in TABLES:
            for path in (self.folder / table).rglob("*.parquet"):
                pq.read_table(path)

    def strangers(self) -> list[str]:
        """Files that are no results, nor the fleet's own."""
        names = [path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()]
        own = ("_fleet.json", "_lock", "_logs/", "summary.parquet", "report.html")
        return [name for name in names if not name.startswith((*own, *(f"{table}/bucket=" for table in TABLES)))]


SERVER = "multiprocessing.forkserver"
"""In the command of the processes that fork crawls, and of the crawls."""


def processes_of(fleet: Running) -> dict[int, Process]:
    """The processes that fork crawls, and the crawls that run."""
    return {process.pid: process for process in below(fleet.process.pid) if SERVER in process.command}


def crawls(fleet: Running) -> list[Process]:
    """The processes of crawls that run."""
    found = processes_of(fleet)
    return [process for process in found.values() if process.parent in found]


def workers(fleet: Running) -> list[Process]:
    """The processes that run a task of Ray."""
    found = processes_of(fleet)
    parents = {process.parent for process in found.values()}
    return [process for process in below(fleet.process.pid) if process.pid in parents - found.keys()]
