"""From an item of an RSS feed or an entry of an Atom feed to its url record."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.entries import Entries
from sitemapcrawler.reader.faults import Faults

ITEMS = ("item", "entry")
DATES = ("updated", "modified", "pubDate", "date", "published", "issued")
"""Elements that date an item, the one that says when it changed first."""


class FeedEntries(Entries):
    """Builds url records from feed items; elements around the items are no fault."""

    def __init__(self, sitemap: str, base: str, faults: Faults) -> None:
        super().__init__(sitemap, base, faults)
        self._noted = faults

    def build(self, element: Element) -> UrlRecord | None:
        """The record of an item; None for another element of the feed, or an item that links nowhere."""
        if element.name not in ITEMS:
            return None
        raw = next((link for link in links(element) if link), None)
        if raw is None:
            self._noted.add("feed-item-without-link", "an item without a link was left out", element.line)
            return None
        loc, written = self.locate(raw, element.line)
        record = UrlRecord(loc, written, self.sitemap, element.line)
        record.lastmod = next((date for date in _dates(element) if date), None)
        record.lastmod_at = utc(record.lastmod) if record.lastmod else None
        return record


def links(item: Element) -> Iterator[str]:
    """URLs the item may stand for, the best first: its link, then a guid that is a permalink."""
    found = [child for child in item.children if child.name == "link"]
    yield from (link.attributes["href"].strip() for link in found if _is_page(link))
    yield from (link.text for link in found)
    for child in item.children:
        if child.name == "guid" and child.attributes.get("isPermaLink", "true") == "true":
            yield child.text


def _is_page(link: Element) -> bool:
    return "href" in link.attributes and link.attributes.get("rel", "alternate") == "alternate"


def _dates(item: Element) -> Iterator[str]:
    for name in DATES:
        yield from (child.text for child in item.children if child.name == name)
