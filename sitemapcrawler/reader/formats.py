"""Reads items of RSS and Atom feeds, and text sitemaps with one URL per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.media import MEDIA, media_of
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.entries import Entries, Entry, keep
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.recovery import UNREADABLE
from sitemapcrawler.reader.strict import BASE, BASES
from sitemapcrawler.urls import resolve

ITEMS = ("item", "entry")
DATES = ("updated", "modified", "pubDate", "date", "published", "issued", "created")
"""Elements that date an item (RSS 2.0, Atom 1.0 and 0.3, Dublin Core); modification dates first."""
ATOM = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#")
"""Namespaces of Atom 1.0 (RFC 4287) and 0.3."""
DUBLIN_CORE = ("http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/")
RSS = ("", "http://purl.org/rss/1.0/", "http://backend.userland.com/rss2", "http://my.netscape.com/rdf/simple/0.9/")
"""Namespaces of RSS: 2.0 has none, 1.0 and 0.90 are RDF."""
ROOT_BASE = re.compile(r"""\sxml:base\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class FeedEntries(Entries):
    """Builds url records from feed items. Elements around the items are not faults."""

    def __init__(self, sitemap: str, base: str, faults: Faults, root_attributes: str = "") -> None:
        super().__init__(sitemap, base, faults)
        declared = ROOT_BASE.search(root_attributes)
        if declared is not None:
            self.base = resolve(base, unescape(declared[1] or declared[2] or "")) or base

    def entries_of(self, element: Element) -> Iterator[Element]:
        if self.is_entry(element):
            yield element

    def is_entry(self, element: Element) -> bool:
        return element.name in ITEMS

    def has_url(self, element: Element, whole: bool) -> bool:
        """Return whether an item has a link. Unless it is `whole`, a guid does not count: a link may be missing."""
        return any(link for link, _ in (links(element) if whole else page_links(element)))

    def build(self, element: Element) -> UrlRecord | None:
        """Return the record of an item, or None if it has no usable link."""
        raw, link = next(((raw, link) for raw, link in links(element) if raw), (None, element))
        if raw is None:
            self.faults.add("feed-item-without-link", "an item without a link was left out", element.line)
            return None
        if self.is_template(raw, element.line):
            return None
        base = self._base_of(element, self.base)
        loc, written = self.locate(raw, element.line, base if link is element else self._base_of(link, base))
        record = UrlRecord(loc, written, self.sitemap, element.line)
        record.lastmod = next((date for date in _dates(element) if date), None)
        record.lastmod_at = utc(record.lastmod) if record.lastmod else None
        self._media(record, element)
        return record

    @staticmethod
    def _base_of(element: Element, outer: str) -> str:
        """Resolve the `xml:base` values of an element (XML Base, section 4)."""
        for base in element.attributes.get(BASE, "").split(BASES):
            outer = resolve(outer, base) or outer
        return outer

    def _media(self, record: UrlRecord, item: Element) -> None:
        images, videos = media_of(item)
        record.images, record.videos = images or (), videos or ()
        for child in item.children:
            if child.uri == MEDIA:
                keep(record, child)


def links(item: Element) -> Iterator[tuple[str, Element]]:
    """Yield candidate URLs of an item with their elements, best first: links, a permalink guid, `rdf:about`."""
    yield from page_links(item)
    for child in item.children:
        if (
            child.name == "guid"
            and not child.has_children
            and child.attributes.get("isPermaLink", "true").lower() == "true"
        ):
            yield child.text, child
    about = item.attributes.get("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about", "")
    yield about if about.startswith(("http://", "https://")) else "", item


def page_links(item: Element) -> Iterator[tuple[str, Element]]:
    found = [child for child in item.children if child.name == "link" and child.uri in (*ATOM, *RSS)]
    yield from ((link.text, link) for link in found if link.uri not in ATOM and not link.has_children)
    yield from ((link.attributes["href"].strip(), link) for link in found if _is_page(link))


def _is_page(link: Element) -> bool:
    return "href" in link.attributes and link.attributes.get("rel", "alternate") == "alternate"


def _dates(item: Element) -> Iterator[str]:
    for name in DATES:
        for child in item.children:
            if child.name == name and child.uri in (*ATOM, *RSS, *DUBLIN_CORE):
                yield child.text


URL = re.compile(r"""(?:https?:)?//[^\s<>"]+""", re.IGNORECASE)
SEPARATOR = re.compile(
    r"\s+|[,;](?=\s|https?://)"
    r"|[,;](?=(?:\d{4}-\d\d(?:-\d\d(?:T[\d:.Z+-]*)?)?|[01]\.\d+|always|hourly|daily|weekly|monthly|yearly|never)(?:[\s,;]|\Z))",
    re.IGNORECASE,
)
"""What separates a URL from the next field: blanks, or a comma or semicolon followed by a blank, URL, date, priority or
frequency. Any other comma or semicolon may be part of the URL."""
COMMENT = "#"
MAX_LINE = 64 * 1024
"""Characters of one line; a longer one is not a URL."""


def read_text(texts: Iterable[str], entries: Entries, faults: Faults) -> Iterator[list[Entry]]:
    """Yield the URLs of a text sitemap, in lists as the text arrives."""
    number = 0
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        numbered = enumerate(lines, number + 1)
        yield [record for at, line in numbered for record in _records(line, at, entries, faults)]
        number += len(lines)
        rest = rest[: MAX_LINE + 1]  # enough to see that it is too long
    if rest and faults.first(*CUT_BYTES):
        faults.add("txt-cut-line", "the last line is cut and was left out", number + 1, value=rest)
        return
    yield list(_records(rest, number + 1, entries, faults))


def _records(line: str, number: int, entries: Entries, faults: Faults) -> Iterator[UrlRecord]:
    if len(line) > MAX_LINE:
        faults.add("txt-not-url-line", f"a line of more than {MAX_LINE} characters", number, value=line)
        return
    line = line.strip().strip("\ufeff")
    if not line:
        return
    if line.startswith(COMMENT):
        faults.add("txt-not-url-line", "a comment: a text sitemap holds URLs only", number, value=line)
        return
    fields = [field for field in SEPARATOR.split(line) if field]
    if not fields or not URL.fullmatch(fields[0]):
        faults.add("txt-not-url-line", "a line that is no URL", number, value=line)
        return
    split = fields[0] != line.split()[0]
    records = [_record(field, number, split, entries) for field in fields if URL.fullmatch(field)]
    if len(fields) > 1:
        faults.recent.clear()
        faults.add("txt-has-metadata", "only one URL may stand in a line of a text sitemap", number, value=fields[1])
        rules = faults.place(records[0].loc) if records else []
        for record in records:
            record.blame(rules)
    yield from records


def _record(url: str, number: int, split: bool, entries: Entries) -> UrlRecord:
    loc, raw = entries.locate(url, number)
    return UrlRecord(loc, raw, entries.sitemap, number, recovered=split or UNREADABLE in url)
