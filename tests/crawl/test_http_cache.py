"""Scrapy's HTTP cache, which a setting turns on: what is cached is served without asking, as for any Scrapy spider."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import NO_DELAYS, Crawl, crawl, options, run
from tests.crawl.documents import beginning, index, packed, robots, urlset
from tests.crawl.job_feeds import timeless
from tests.crawl.site_server import Reply, SiteServer, conditional, cut, moved

CACHED = {"HTTPCACHE_ENABLED": True}
REVALIDATED = CACHED | {"HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy"}
LIMIT = 4000
"""DOWNLOAD_MAXSIZE in bytes, which /large.xml exceeds."""


@pytest.fixture(scope="module")
def served() -> Iterator[SiteServer]:
    """A site with files in each way that a server may send them."""
    with SiteServer() as site:
        zipped = Reply(gzip.compress(urlset(site.url("/zipped"))), headers={"Content-Encoding": "gzip"})
        files = {
            "/etag.xml": conditional(urlset(site.url("/etag")), etag='"1"'),
            "/packed.xml.gz": packed(urlset(site.url("/packed"))),
            "/zipped.xml": zipped,
            "/moved.xml": moved("/target.xml", 301),
            "/large.xml": urlset(*(site.url(f"/large/{number}") for number in range(100))),
            "/cut.xml": cut(beginning(site.url("/cut"))),
            "/missing.xml": Reply("", 404),
        }
        site.routes = {
            "/robots.txt": robots(site.url("/index.xml")),
            "/index.xml": index(*map(site.url, files)),
            "/target.xml": urlset(site.url("/target")),
            **files,
        }
        yield site


def told(done: Crawl) -> Counter[str]:
    """All records without times; files end in any order."""
    return Counter(json.dumps(timeless(record), sort_keys=True) for record in done.records)


def test_second_command_makes_no_request(served: SiteServer, tmp_path: Path) -> None:
    words = ("inspect", served.url("/index.xml"), *options(NO_DELAYS | CACHED | {"RETRY_ENABLED": False}))
    served.exchanges.clear()
    first = run(tmp_path, *words)
    assert "/index.xml" in served.paths
    served.exchanges.clear()
    second = run(tmp_path, *words)
    assert (second.returncode, second.stdout) == (first.returncode, first.stdout)
    assert set(served.paths) <= {"/cut.xml"}


def test_second_crawl_asks_for_what_was_incomplete(served: SiteServer, tmp_path: Path) -> None:
    settings = CACHED | {"RETRY_ENABLED": False, "DOWNLOAD_MAXSIZE": LIMIT, "JOBDIR": "job"}
    served.exchanges.clear()
    first = crawl(tmp_path, settings=settings, domain=served.url())
    outcomes = {record["sitemap"].rpartition("/")[2]: record["outcome"] for record in first.of_type("sitemap")}
    assert outcomes.pop("large.xml") == outcomes.pop("cut.xml") == "truncated"
    assert outcomes.pop("missing.xml") == "failed"
    assert set(outcomes.values()) == {"ok"}
    kept = set((tmp_path / "job" / "cache").iterdir())
    served.exchanges.clear()
    second = crawl(tmp_path, settings=settings, domain=served.url(), fresh="yes")
    assert sorted(served.paths) == ["/cut.xml", "/large.xml"]
    assert told(second) == told(first)
    assert set((tmp_path / "job" / "cache").iterdir()) == kept, "fix finds all bodies"


def test_policy_is_that_of_the_setting(tmp_path: Path) -> None:
    """By Scrapy's own, an answer that cannot be validated is served from the cache."""
    with SiteServer() as site:
        site.routes = {
            "/robots.txt": conditional(robots(), '"r"'),
            "/a.xml": conditional(urlset(site.url("/page")), etag='"1"'),
        }
        settings = REVALIDATED | {"RETRY_ENABLED": False}
        arguments = {"sitemap": site.url("/a.xml")}
        first = crawl(tmp_path, settings=settings, **arguments)
        site.exchanges.clear()
        second = crawl(tmp_path, settings=settings, **arguments)
        [asked] = [one for one in site.exchanges if one.path == "/a.xml"]
    assert asked.headers["if-none-match"] == '"1"'
    assert told(second) == told(first)
    third = crawl(tmp_path, settings=settings, **arguments)
    assert third.locs() == first.locs() != []
