"""Sites that lead a crawl on for ever: new indexes, or files that each take the whole timeout."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from tests.crawl.crawling import LOOPBACK, SOON_S, crawl, start
from tests.crawl.documents import CORE, URLSET_START, index, packed, robots, urlset
from tests.crawl.site_server import Exchange, SiteServer

pytestmark = pytest.mark.slow

SLOW = 200
"""Files of which none ever comes."""
WIDE = 60_000
"""Children of an index: more than one may have."""


def test_site_that_gives_nothing_is_left_alone_and_others_are_read(tmp_path: Path) -> None:
    with SiteServer() as slow, SiteServer(host="127.0.0.2") as other:
        slow.otherwise = Exchange.wait_until_client_goes
        slow.routes = {
            "/robots.txt": robots("/index.xml"),
            "/index.xml": index(*(slow.url(f"/{number}.xml") for number in range(SLOW))),
        }
        other.routes = {"/robots.txt": robots("/s.xml"), "/s.xml": urlset(other.url("/page"))}
        settings = LOOPBACK | {"SITEMAP_MAX_SITE_TIME": 4, "DOWNLOAD_TIMEOUT": 2, "RETRY_TIMES": 0}
        done = crawl(tmp_path, domain=f"{slow.url()},{other.url()}", settings=settings)
        assert done.locs() == [other.url("/page")]
        asked = len(done.sitemaps) - 2
    assert 4 <= asked < 40
    assert done.summary["skipped"]["max_site_time"] == SLOW - asked
    assert done.summary["rules"]["limit-site-time"] == 1
    assert (done.code, done.summary["partial"]) == (3, "max_site_time")


def test_indexes_without_end_cost_a_bounded_time(tmp_path: Path) -> None:
    def generated(exchange: Exchange) -> None:
        body = index(*(site.url(f"{exchange.path}{number}") for number in range(10)))
        exchange.head(Content_Length=len(body))
        exchange.send(body)

    with SiteServer() as site:
        site.otherwise = generated
        site.routes["/robots.txt"] = robots()
        done = crawl(tmp_path, sitemap=site.url("/"), settings={"SITEMAP_MAX_SITE_TIME": 0.5})
    assert done.locs() == []
    assert done.summary["skipped"]["max_site_time"] > 0
    assert done.summary["peak_mb"] < 300


def test_file_without_entries_lets_others_pass_and_ends_with_the_crawl(tmp_path: Path) -> None:
    lost = b"".join(b"<url><loc>https://pages.example/%d</url>" % number for number in range(500_000))
    body, sent = packed(URLSET_START.encode() + lost), threading.Event()
    with SiteServer() as busy, SiteServer(host="127.0.0.2") as other:

        def send(exchange: Exchange) -> None:
            exchange.head(Content_Length=len(body))
            exchange.send(body)
            sent.set()

        def level(exchange: Exchange) -> None:
            sent.wait(30)
            next_one = index(other.url(f"{exchange.path}1"))
            exchange.head(Content_Length=len(next_one))
            exchange.send(next_one)

        busy.routes["/busy.xml.gz"] = send
        other.otherwise, other.routes["/robots.txt"] = level, robots()
        named = f"{busy.url('/busy.xml.gz')},{other.url('/')}"
        with start(tmp_path, sitemap=named, settings=LOOPBACK) as running:
            other.wait_for("/1111")
            asked = time.monotonic()
            running.process.send_signal(signal.SIGTERM)
            done = running.finish()
    assert time.monotonic() - asked < SOON_S
    assert done.code == 3
    assert done.sitemaps[busy.url("/busy.xml.gz")]["error"] == "the crawl was stopped"


def test_index_of_too_many_children_costs_little_memory(tmp_path: Path) -> None:
    with SiteServer() as site:
        children = "".join(f"<sitemap><loc>{site.url()}/{number}</loc></sitemap>" for number in range(WIDE))
        site.routes["/wide.xml.gz"] = packed(f"<sitemapindex {CORE}>{children}</sitemapindex>".encode())
        done = crawl(tmp_path, sitemap=site.url("/wide.xml.gz"), max_sitemaps=20)
    assert done.sitemaps[site.url("/wide.xml.gz")]["url_count"] == WIDE
    assert done.summary["sitemaps"] == 20
    assert done.summary["skipped"]["max_sitemaps"] == WIDE - 19
    assert (done.code, done.summary["partial"]) == (3, "max_sitemaps")
    assert done.summary["peak_mb"] < 300
