"""Rules on the URL of an entry."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.facts import UrlFacts
from sitemapcrawler.rules.registry import Message, Severity, rule

PROTOCOL = "https://www.sitemaps.org/protocol.html"


@rule("loc-relative", Severity.ERROR, f"{PROTOCOL}#locdef", also={"Search Console": "Incomplete URL"})
def loc_relative(entry: UrlFacts) -> Iterator[Message]:
    """The URL is not absolute.

    Why: a search engine needs the whole URL; what a relative one is resolved against is not defined. It is
    resolved against the sitemap here, so that the crawl can go on.
    Bad: `<loc>/shop/</loc>`
    Good: `<loc>https://example.com/shop/</loc>`
    """
    written = entry.written.strip()
    if "://" not in written.split("?")[0] and not written.startswith("//") and ":" not in written.split("/")[0]:
        yield Message(f"{written!r} is not absolute", entry.line_of("loc"), value=written)
