"""Clocks on bad days: the wall clock jumps a day ahead and a year back in the middle of a crawl, and a machine sleeps."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.crawl.crawling import Crawl, start
from tests.crawl.documents import dated, index, robots
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, _answer
from tests.crawl.verified import html

pytestmark = pytest.mark.slow

DAY, YEAR = 86_400, 365 * 86_400
PAGES = 12
SOURCE = Path(__file__).with_name("wall_clock.c")
WITHIN_S = 60
DELAY_S = 0.3
APART_S = 0.3 * DELAY_S
"""Seconds between two requests at least: a busy server hears one late, and the next one is close behind it then. Without a
delay they come 5 to 15 ms apart."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that moves the wall clock."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    made = tmp_path_factory.mktemp("clock") / "wall_clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE)], check=True)
    return made


def moving(clock: Path, seconds: int, then: Route) -> Route:
    """A route that moves the clock before it answers."""

    def route(exchange: Exchange) -> None:
        clock.write_text(str(seconds))
        _answer(exchange, then)

    return route


def later(clock: Path) -> Route:
    """503 once, with a date in two seconds of the client's own clock; then a page."""
    waiting = [True]

    def route(exchange: Exchange) -> None:
        if waiting:
            waiting.pop()
            now = datetime.now(UTC) + timedelta(seconds=int(clock.read_text()) + 2)
            _answer(exchange, Reply("", 503, {"Retry-After": format_datetime(now, usegmt=True)}))
        else:
            _answer(exchange, html())

    return route


@pytest.fixture(scope="module")
def jumped(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, SiteServer]]:
    """A crawl with a job, whose clock jumps while it reads and while it verifies."""
    folder = tmp_path_factory.mktemp("jumped")
    clock = folder / "clock"
    clock.write_text("0")
    within = ["env", f"LD_PRELOAD={library}", f"WALL_CLOCK={clock}"]
    with SiteServer() as site:
        now = datetime.now(UTC).strftime("%Y-%m-%d")
        first, second = ({site.url(f"/{name}{number}"): now for number in range(PAGES)} for name in "ab")
        site.otherwise = html()
        site.routes = {
            "/robots.txt": robots(site.url("/index.xml"), rules=[f"Crawl-delay: {DELAY_S}"]),
            "/index.xml": index(site.url("/1.xml"), site.url("/2.xml")),
            "/1.xml": moving(clock, DAY, Reply(dated(first))),
            "/2.xml": dated(second),
            "/a3": moving(clock, -YEAR, html()),
            "/a6": later(clock),
            "/b7": moving(clock, DAY, html()),
            "/b8": later(clock),
        }
        arguments = {"domain": site.url(), "verify": "head", "max_time": 3600}
        settings = {"JOBDIR": "job", "DOWNLOAD_TIMEOUT": 10, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        yield start(folder, settings=settings, within=within, **arguments).finish(), site


def test_nothing_hangs_and_nothing_is_lost(jumped: tuple[Crawl, SiteServer]) -> None:
    crawl, site = jumped
    assert (crawl.code, crawl.summary.get("partial")) == (0, None)
    assert crawl.seconds < WITHIN_S
    assert {one["outcome"] for one in crawl.sitemaps.values()} == {"ok"}
    long_ago = datetime.now(UTC) - timedelta(seconds=YEAR)
    assert long_ago.strftime("\n%Y-%m") in crawl.log, "the clock has jumped"
    assert crawl.summary["replies"] == {"ok": 2 * PAGES}
    for name in ("/a6", "/b8"):
        assert site.paths.count(name) == 2


def test_no_time_is_negative_or_a_day(jumped: tuple[Crawl, SiteServer]) -> None:
    crawl, _ = jumped
    assert 0 < crawl.summary["elapsed_s"] < crawl.seconds
    assert all(0 <= record["reply"]["elapsed_ms"] < 10_000 for record in crawl.of_type("url"))


def test_delay_and_retry_after_are_kept(jumped: tuple[Crawl, SiteServer]) -> None:
    _, site = jumped
    times = [exchange.at for exchange in site.exchanges][1:]
    assert all(later - earlier > APART_S for earlier, later in pairwise(times))
    for name in ("/a6", "/b8"):
        first, second = (exchange.at for exchange in site.exchanges if exchange.path == name)
        assert 0.5 < second - first < 10


def test_job_that_ran_through_it_is_finished(jumped: tuple[Crawl, SiteServer]) -> None:
    crawl, site = jumped
    before = len(site.exchanges)
    settings = {"JOBDIR": "job", "DOWNLOAD_TIMEOUT": 10, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    arguments = {"domain": site.url(), "verify": "head", "max_time": 3600}
    again = start(crawl.folder, "-O", "again.jsonl", settings=settings, **arguments).finish()
    assert again.code == 0
    assert len(site.exchanges) == before
    assert (crawl.folder / "again.jsonl").read_text().count('"type":"url"') == 2 * PAGES


def test_machine_that_sleeps_goes_on(tmp_path: Path) -> None:
    with SiteServer() as site:
        listed = {site.url(f"/{number}"): "" for number in range(PAGES)}
        asleep = []

        def sleep(exchange: Exchange) -> None:
            if not asleep:
                asleep.append(exchange)
                os.kill(running.process.pid, signal.SIGSTOP)
                exchange.connection.settimeout(1.5)
                try:
                    exchange.connection.recv(1)
                except TimeoutError:
                    os.kill(running.process.pid, signal.SIGCONT)
            _answer(exchange, html())

        site.otherwise = html()
        site.routes = {"/1.xml": dated(listed), "/5": sleep}
        settings = {"DOWNLOAD_TIMEOUT": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        running = start(tmp_path, settings=settings, sitemap=site.url("/1.xml"), verify="head")
        crawl = running.finish()
    assert crawl.code == 0
    assert crawl.summary["replies"] == {"ok": PAGES}
