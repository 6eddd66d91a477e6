"""Segments of a site, from the command line to the summary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import index, robots, urlset
from tests.crawl.site_server import Reply, SiteServer
from tests.crawl.verified import html

SHOP = [f"/shop/{number}" for number in range(8)]
BLOG = [f"/blog/{number}" for number in range(4)]
HIDDEN, GONE = ("/shop/0", "/shop/1"), "/blog/0"


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    """A site with a shop, of which two pages are noindex, and a blog, of which one page is gone."""
    with SiteServer() as server:
        pages = {path: html(body=f"Page {path}") for path in ("/", *SHOP, *BLOG)}
        pages |= {path: html("<meta name=robots content=noindex>", body="x") for path in HIDDEN}
        files = {"/a.xml": ["/", *SHOP], "/b.xml": BLOG}
        server.routes = {
            **pages,
            GONE: Reply("", 404),
            "/robots.txt": robots(server.url("/sitemap.xml")),
            "/sitemap.xml": index(*map(server.url, files)),
            **{name: urlset(*map(server.url, paths)) for name, paths in files.items()},
        }
        yield server


def segments_of(done: Crawl) -> dict[str, tuple[int, ...]]:
    fields = ("urls", "indexable", "not_indexable", "errors")
    summary: dict[str, Any] = done.summary
    return {one["segment"]: tuple(one[name] for name in fields) for one in summary.get("segments", ())}


def test_finished_job_counts_again_with_other_segments_and_requests_nothing(site: SiteServer, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"settings": {"JOBDIR": "job"}, "domain": site.url(), "verify": "get"}
    done = crawl(tmp_path, **arguments, segments="shop=/shop/**,blog=/blog/")
    assert segments_of(done) == {"shop": (8, 6, 2, 2), "blog": (4, 3, 1, 1), "other": (1, 1, 0, 0)}
    connections = site.connections
    done = crawl(tmp_path, **arguments, segments="odd=*1$")
    assert segments_of(done) == {"odd": (2, 1, 1, 1), "other": (11, 9, 2, 2)}
    assert segments_of(crawl(tmp_path, **arguments)) == {}
    assert site.connections == connections


def test_crawl_that_ends_at_a_limit_counts_what_it_has_read(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, domain=site.url(), segments="shop=/shop/", max_urls="5")
    assert done.code == 3
    assert sum(urls for urls, *_ in segments_of(done).values()) == 5
