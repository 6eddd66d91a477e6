"""Sixty public sitemap files as sites published them, served as carelessly as they were, read by one crawl.

The files are no part of the repository: they are looked for next to it, in `../shared/real`. What each one is and holds
is tried in `unit/reader/test_real_files.py`; a crawl must say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import index
from tests.crawl.site_server import Reply, SiteServer
from tests.unit.reader.test_real_files import FOLDER, ROWS, real

CARELESS = ("text/html; charset=iso-8859-1", "text/plain", "binary/octet-stream", "application/x-gzip", "image/png", "")
"""Content types that say nothing true of a sitemap; the files get them in turn."""


@dataclass
class Visit:
    """The one crawl over all files."""

    crawl: Crawl
    site: SiteServer

    def url(self, name: str) -> str:
        """Where a file is served."""
        return self.site.url(f"/real/{name}")

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The url records of a file."""
        return [record for record in self.crawl.of_type("url") if record["sitemap"] == self.url(name)]


def careless(number: int, name: str) -> Reply:
    content_type = CARELESS[number % len(CARELESS)]
    return Reply((FOLDER / name).read_bytes(), headers={"Content-Type": content_type} if content_type else {})


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site:
        site.routes = {f"/real/{name}": careless(number, name) for number, name in enumerate(ROWS)}
        site.routes["/index.xml"] = index(*map(site.url, site.routes))
        own = f"^{re.escape(site.url('/real/'))}[^/]+$"
        yield Visit(crawl(tmp_path_factory.mktemp("real"), sitemap=site.url("/index.xml"), follow=own), site)


@pytest.mark.parametrize("name", ROWS)
def test_file_is_what_the_reader_says(visit: Visit, name: str) -> None:
    record, rows, reading = visit.crawl.sitemaps[visit.url(name)], visit.rows(name), real(name)
    document = reading.document
    assert (record["format"], record["outcome"]) == (document.format, document.outcome)
    assert (record["url_count"], "error" in record) == (document.url_count, document.error is not None)
    size = int(ROWS[name]["bytes_unpacked"] or ROWS[name]["bytes"])
    assert (record["bytes_fetched"], record["bytes"]) == (int(ROWS[name]["bytes"]), size)
    assert sum(record["counts"].get(kind, 0) for kind in ("images", "videos", "news", "alternates")) == sum(
        getattr(document.counts, kind) for kind in ("images", "videos", "news", "alternates")
    )
    if document.format != "xml-index":
        listed = [(entry.line, entry.lastmod, entry.recovered) for entry in reading.records]
        assert [(row["line"], row.get("lastmod"), row["recovered"]) for row in rows] == listed


def test_relative_link_of_a_feed_is_resolved(visit: Visit) -> None:
    [row] = visit.rows("54-atom.xml")
    assert (row["loc"], row["loc_raw"]) == (visit.url("October_2009.html"), "October_2009.html")


def test_whole_collection_is_read_by_one_crawl(visit: Visit) -> None:
    assert visit.crawl.code == 0
    assert len(visit.crawl.sitemaps) == len(ROWS) + 1
    assert visit.crawl.summary["urls"] == len(visit.crawl.of_type("url"))
    assert {exchange.path for exchange in visit.site.exchanges} == {"/robots.txt", *visit.site.routes}
