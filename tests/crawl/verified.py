"""Crawls that ask for the URLs of a local site, and what came of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import urlset
from tests.crawl.site_server import NOT_FOUND, Exchange, Reply, Route, SiteServer

SITEMAP = "/sitemap.xml"
PATIENT = {"RETRY_TIMES": 0, "SITEMAP_MAX_HOST_ERRORS": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
"""Settings that ask every URL once, however many fail."""
WORDS = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")
"""Text of a page: enough to compare it with others."""


def own_words(url: str) -> str:
    """The words in an order of each page's own, so that no two pages are duplicates."""
    words = WORDS.split()
    return " ".join(Random(url).sample(words, len(words)))


@dataclass
class Verified:
    """A site and a crawl that verified what it lists. A URL is written as its path, where it is on the site."""

    site: SiteServer
    crawl: Crawl

    def url(self, loc: str) -> str:
        """A URL in full."""
        return self.site.url(loc) if loc.startswith("/") else loc

    def replies(self, loc: str) -> list[dict[str, Any]]:
        """The replies of all records of a URL, in order."""
        url = self.url(loc)
        return [record["reply"] for record in self.crawl.of_type("url") if record["loc"] == url]

    def reply(self, loc: str) -> dict[str, Any]:
        """The reply of a URL that is listed once."""
        [reply] = self.replies(loc)
        return reply

    def hops(self, loc: str) -> list[tuple[int, str]]:
        """Status and URL of each redirect."""
        return [(hop["status"], hop["url"]) for hop in self.reply(loc).get("redirects", [])]

    def asked(self, path: str) -> list[str]:
        """The methods by which a path was asked for, in order."""
        return [exchange.method for exchange in self.site.exchanges if exchange.path == path]

    def exchanges(self, *paths: str) -> list[Exchange]:
        """The requests of these paths, in the order in which they came."""
        return [exchange for exchange in self.site.exchanges if exchange.path in paths]


def gaps(exchanges: Iterable[Exchange]) -> list[float]:
    """Seconds between one request and the next."""
    times = sorted(exchange.at for exchange in exchanges)
    return [later - earlier for earlier, later in pairwise(times)]


def counted(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many url records have which kind of reply, or which reason of an unchecked one: as summaries count."""
    found: dict[str, int] = {}
    for record in records:
        kind = record["reply"].get("reason") or record["reply"]["kind"]
        found[kind] = found.get(kind, 0) + 1
    return found


def html(*head: str, body: str = "", status: int = 200, **headers: str) -> Reply:
    """A page with text of its own."""
    title = "" if "<title>" in "".join(head) else f"<title>{body[:20] or 'Page'}</title>"
    markup = f"<!doctype html><html><head>{title}{''.join(head)}</head><body><p>{body or WORDS}</body></html>"
    typed = {"Content-Type": "text/html; charset=utf-8"}
    return Reply(markup, status, typed | {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def verifying(
    folder: Path,
    pages: Mapping[str, Route],
    *more: str,
    hidden: Mapping[str, Route] | None = None,
    otherwise: Route = NOT_FOUND,
    settings: Mapping[str, object] | None = None,
    **arguments: Any,
) -> Iterator[Verified]:
    """A site after a crawl; it serves until the end. One sitemap lists the `pages` and `more` URLs, not the `hidden`.

    `otherwise`: the reply to all other paths.
    """
    with SiteServer() as site:
        site.otherwise = otherwise
        locs = [*pages, *more]
        site.routes = {SITEMAP: urlset(*(site.url(loc) if loc.startswith("/") else loc for loc in locs))}
        site.routes |= {**pages, **(hidden or {})}
        yield Verified(site, crawl(folder, settings=settings, sitemap=site.url(SITEMAP), **arguments))
