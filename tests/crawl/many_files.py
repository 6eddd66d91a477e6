"""A site of several files with an index, and what an undisturbed crawl of it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.crawl.crawling import FEED, crawl
from tests.crawl.documents import index, urlset
from tests.crawl.job_feeds import rows
from tests.crawl.site_server import SiteServer

INDEX = "/index.xml"


def serve_files(site: SiteServer, files: int, urls_of: Callable[[str], Iterable[str]]) -> None:
    """Serve so many files, `/0.xml` and so on, with the URLs that `urls_of` gives for each path, and their index."""
    paths = [f"/{number}.xml" for number in range(files)]
    site.routes = {path: urlset(*urls_of(path)) for path in paths}
    site.routes[INDEX] = index(*map(site.url, paths))


def rows_of(site: SiteServer, folder: Path) -> Counter[str]:
    """The rows of the feed of a crawl of all of them."""
    crawl(folder, sitemap=site.url(INDEX))
    return rows(folder / FEED)
