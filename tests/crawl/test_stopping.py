"""A crawl that is stopped leaves whole feeds with what it has, soon; only force leaves the earlier ones."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl.crawling import FEED, SOON_S, Crawl, Running, start
from tests.crawl.documents import index, packed, pages, urlset
from tests.crawl.site_server import SiteServer, stalled

EARLIER = '{"type":"earlier"}\n'
SHORT = {"SITEMAP_STOP_GRACE": 0.3}
GRACE_S = 10
"""SITEMAP_STOP_GRACE where nobody sets it."""
MANY = 300_000
"""URLs of a file that takes some seconds to read."""
READ = ("/1.xml", "/2.xml")
STUCK = ("/3.xml", "/4.xml", "/5.xml", "/6.xml", "/7.xml", "/8.xml")


def slow(site: SiteServer) -> None:
    """Two files that can be read, and six that never answer."""
    site.routes = {path: urlset(*pages(path, 3)) for path in READ}
    site.routes |= {path: stalled() for path in STUCK}
    site.routes["/index.xml"] = index(*map(site.url, [*READ, *STUCK]))


def stuck(site: SiteServer, running: Running) -> None:
    """Return when the crawl has read what it can and waits for the rest."""
    running.wait_until(
        lambda: (
            sum(path in STUCK for path in site.paths) >= 4
            and all(f"{site.url(path)}: ok" in running.log for path in READ)
        )
    )


@dataclass
class Stopped:
    """A crawl that got a signal."""

    crawl: Crawl
    asked: set[str]
    """URLs of the files that it had asked for."""
    seconds: float
    """From the signal to the end."""

    @property
    def rows(self) -> list[dict[str, str]]:
        """The rows of the table."""
        with (self.crawl.folder / "urls.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def stopped(site: SiteServer, folder: Path, number: signal.Signals, **settings: object) -> Stopped:
    """A crawl of the slow site that gets a signal when it is stuck."""
    slow(site)
    for name in (FEED, "all.json", "urls.csv"):
        (folder / name).write_text(EARLIER)
    options = ["-O", FEED, "-O", "all.json", "-O", "urls.csv"]
    with start(folder, *options, sitemap=site.url("/index.xml"), settings=settings) as running:
        stuck(site, running)
        seconds = running.seconds
        running.process.send_signal(number)
        done = running.finish()
    return Stopped(done, set(map(site.url, site.paths)), done.seconds - seconds)


@pytest.fixture(scope="module")
def terminated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    """By SIGTERM, with the settings a user has."""
    with SiteServer() as site:
        yield stopped(site, tmp_path_factory.mktemp("terminated"), signal.SIGTERM)


@pytest.mark.slow
def test_sigterm_ends_the_crawl_in_time(terminated: Stopped) -> None:
    assert terminated.seconds < SOON_S
    assert terminated.crawl.code == 3


def test_feeds_are_in_place_and_whole(terminated: Stopped) -> None:
    expected = sorted(loc for path in READ for loc in pages(path, 3))
    assert sorted(terminated.crawl.locs()) == expected
    assert json.loads((terminated.crawl.folder / "all.json").read_bytes()) == terminated.crawl.records
    assert sorted(row["loc"] for row in terminated.rows) == expected


def test_summary_says_that_the_crawl_is_partial(terminated: Stopped) -> None:
    assert terminated.crawl.summary["partial"]
    assert terminated.crawl.summary["urls"] == 6
    assert "stopped before the end" in terminated.crawl.log.splitlines()[-1]


def test_every_file_that_was_asked_for_has_a_record(terminated: Stopped) -> None:
    records = terminated.crawl.sitemaps
    assert set(records) == terminated.asked
    stopped = [record for record in records.values() if record["outcome"] != "ok"]
    assert len(stopped) == 4
    assert all(record["outcome"] == "failed" and "stopped" in record["error"] for record in stopped)
    assert terminated.crawl.summary["sitemaps"] == 7


def test_grace_is_a_setting(site: SiteServer, tmp_path: Path) -> None:
    ended = stopped(site, tmp_path, signal.SIGINT, **SHORT)
    assert set(ended.crawl.sitemaps) == ended.asked
    assert ended.seconds < GRACE_S
    assert ended.crawl.code == 3
    assert len(ended.crawl.locs()) == 6
    assert ended.crawl.summary["partial"]


def test_earlier_feed_stays_until_the_new_one_is_whole(site: SiteServer, tmp_path: Path) -> None:
    slow(site)
    (tmp_path / FEED).write_text(EARLIER)
    with start(tmp_path, sitemap=site.url("/index.xml")) as running:
        stuck(site, running)
        assert (tmp_path / FEED).read_text() == EARLIER
        running.process.kill()
        running.process.wait()
    assert (tmp_path / FEED).read_text() == EARLIER


@pytest.mark.slow
def test_signal_while_a_large_file_is_read(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/large.xml.gz": packed(urlset(*pages("large", MANY)))}
    settings = {"JOBDIR": str(tmp_path / "job")}
    with start(tmp_path, sitemap=site.url("/large.xml.gz"), settings=settings) as running:
        running.wait_until(lambda: any(path.stat().st_size > 10**6 for path in tmp_path.glob("job/.spool/rows-*")))
        running.process.send_signal(signal.SIGTERM)
        before = running.seconds
        done = running.finish()
    assert done.seconds - before < SOON_S
    [record] = done.of_type("sitemap")
    assert (done.code, record["outcome"]) == (3, "truncated")
    assert "stopped" in record["error"]
    assert done.locs() == pages("large", len(done.locs()))
    assert 0 < done.summary["urls"] == len(done.locs()) == record["url_count"] < MANY


def test_signal_while_a_body_arrives_keeps_what_came(site: SiteServer, tmp_path: Path) -> None:
    body = urlset(*pages("part", 2000))
    site.routes = {"/part.xml": stalled(body[:100_000])}
    with start(tmp_path, sitemap=site.url("/part.xml"), settings=SHORT) as running:
        running.wait_until(lambda: bool(site.paths) and site.exchange("/part.xml").sent > 100_000)
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.sitemaps[site.url("/part.xml")]["outcome"] == "truncated"
    assert len(done.locs()) > 1000
    assert done.locs() == pages("part", len(done.locs()))
    assert done.code == 3


@pytest.mark.slow
def test_signal_during_discovery(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/robots.txt": stalled()}
    with start(tmp_path, domain=site.url(), settings=SHORT) as running:
        running.wait_until(lambda: bool(site.exchanges))
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.code == 3
    assert done.types == ["summary"]
    assert done.summary["partial"]
    assert site.paths == []
