"""How fast and how much: the rate that is set, memory that does not grow with the list, answers that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawl import forks
from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import page, robots, urlset
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, moved
from tests.crawl.verified import PATIENT, SITEMAP, gaps, html, verifying

pytestmark = pytest.mark.slow

FEW, MANY = 1_000, 10_000
GROWTH_MB = 20
"""MiB that ten times as many URLs may take more: the cache of the answers, caches that fill, and now and then another
arena of the allocator. Where all answers are kept, 40."""
DELAY_S = 0.05
COUNT = 40
EARLY_S, EARLY = 0.02, COUNT // 20
"""Seconds by which a request may seem to come early, since the server notes when it was read, and requests of a row that
may do so by more."""


def ok(exchange: Exchange) -> None:
    """The shortest answer."""
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def peak_of(count: int, folder: Path) -> float:
    """MiB that a crawl takes at most that asks for so many URLs."""
    with SiteServer() as site:
        site.routes = {SITEMAP: urlset(*(site.url(f"/page/{number}") for number in range(count))), "/robots.txt": ""}
        site.otherwise = ok
        folder.mkdir()
        done = crawl(folder, settings=PATIENT, sitemap=site.url(SITEMAP), verify="head", select="none")
        assert done.summary["replies"] == {"ok": count}
        assert len(site.exchanges) == count + 2
        return float(done.summary["peak_mb"])


def test_memory_does_not_grow_with_the_number_of_urls(tmp_path: Path) -> None:
    with forks.fresh():
        few = peak_of(FEW, tmp_path / "few")
        assert peak_of(MANY, tmp_path / "many") < few + GROWTH_MB


def test_rate_is_the_one_that_is_set(tmp_path: Path) -> None:
    settings = {"DOWNLOAD_DELAY": DELAY_S, "DOWNLOAD_DELAY_JITTER": 0, "RANDOMIZE_DOWNLOAD_DELAY": 0}
    pages: dict[str, Route] = {f"/page/{number}": page() for number in range(COUNT)}
    with verifying(tmp_path, pages, settings=settings | {"RETRY_TIMES": 0}, verify="head") as visit:
        waited = gaps(visit.exchanges(*pages))
        assert len(waited) == COUNT - 1
        assert sum(gap < DELAY_S - EARLY_S for gap in waited) <= EARLY
        assert sum(waited) / len(waited) > DELAY_S * 0.97  # how much later they come is for bench/


# ---- answers that Scrapy keeps


def test_cached_answers_are_not_asked_again(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {
        "/": html(body="Home. " * 50),
        "/robots.txt": robots(),
        "/canonical": html('<link rel="canonical" href="/other">', X_Robots_Tag="bingbot: noindex"),
        "/noindex": html('<meta name="robots" content="noindex">'),
        "/moved": moved("/noindex"),
        "/gone": Reply("", 410),
        "/other": html(),
    }
    pages = [path for path in site.routes if path not in ("/robots.txt", "/other")]
    site.routes[SITEMAP] = urlset(*map(site.url, pages))

    def visit() -> Crawl:
        settings = {"HTTPCACHE_ENABLED": 1, "HTTPCACHE_DIR": str(tmp_path / "cache")}
        return crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP), verify="get")

    first = visit()
    assert set(pages) < set(site.paths)
    site.exchanges.clear()
    second = visit()
    assert site.paths == []
    assert [facts(record) for record in second.of_type("url")] == [facts(record) for record in first.of_type("url")]
    assert second.summary["replies"] == first.summary["replies"]


def facts(record: dict[str, object]) -> dict[str, object]:
    """A record without what depends on the time."""
    reply = record["reply"]
    assert isinstance(reply, dict)
    return {**record, "reply": {name: value for name, value in reply.items() if name not in ("elapsed_ms", "attempts")}}
