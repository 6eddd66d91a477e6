"""Declares the formats of sitemaps. Also reads items of RSS and Atom feeds, and text sitemaps with one URL per line.

Sniffing, reading, labels and rules follow from the declarations. A plug-in adds a format with `register`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from types import MappingProxyType
from typing import Literal

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import CORE, plugins
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import MEDIA, media_of
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.entries import ENTRIES, Entry, EntryBuilder, keep
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.repair import UNREADABLE
from sitemapcrawler.urls import resolve

FILE_SUFFIXES = (".xml", ".gz", ".txt")
"""Suffixes of files that are meant to be sitemaps, in lower case."""
RSS_ITEMS, ATOM_ITEMS = ("item",), ("entry",)
ITEMS = (*RSS_ITEMS, *ATOM_ITEMS)
DATES = ("updated", "modified", "pubDate", "date", "published", "issued", "created")
"""Elements that date an item (RSS 2.0, Atom 1.0 and 0.3, Dublin Core); modification dates first."""
ATOM = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#")
"""Namespaces of Atom 1.0 (RFC 4287) and 0.3."""
DUBLIN_CORE = ("http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/")
RSS = ("", "http://purl.org/rss/1.0/", "http://backend.userland.com/rss2", "http://my.netscape.com/rdf/simple/0.9/")
"""Namespaces of RSS: 2.0 has none, 1.0 and 0.90 are RDF."""
ROOT_BASE = re.compile(r"""\sxml:base\s*=\s*(?:"([^"]*)"|'([^']*)')""")
"""Base for relative URLs in a feed. Source: https://www.w3.org/TR/xmlbase/"""


class FeedEntries(EntryBuilder):
    """Builds url records from feed items. Elements around the items are not faults."""

    def __init__(self, sitemap: str, base: str, faults: Faults, root_attributes: str = "") -> None:
        super().__init__(sitemap, base, faults, root_attributes)
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
        return any(links(element) if whole else page_links(element))

    def build(self, element: Element) -> UrlRecord | None:
        """Return the record of an item, or None if it has no usable link."""
        raw = next(filter(None, links(element)), None)
        if raw is None:
            self.faults.add("feed-item-without-link", "an item without a link was left out", element.line)
            return None
        if self.is_template(raw, element.line):
            return None
        loc, written = self.locate(raw, element.line)
        record = UrlRecord(loc, written, self.sitemap, element.line)
        record.lastmod = next((date for date in _dates(element) if date), None)
        record.lastmod_at = utc(record.lastmod) if record.lastmod else None
        self._media(record, element)
        return record

    def _media(self, record: UrlRecord, item: Element) -> None:
        images, videos = media_of(item)
        record.images, record.videos = images or (), videos or ()
        for child in item.children:
            if child.uri == MEDIA:
                keep(record, child)


def links(item: Element) -> Iterator[str]:
    """Yield candidate URLs of an item, best first: links, a permalink guid, `rdf:about`."""
    yield from page_links(item)
    for child in item.children:
        if (
            child.name == "guid"
            and not child.has_children
            and child.attributes.get("isPermaLink", "true").lower() == "true"
        ):
            yield child.text
    about = item.attributes.get("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about", "")
    yield about if about.startswith(("http://", "https://")) else ""


def page_links(item: Element) -> Iterator[str]:
    found = [child for child in item.children if child.name == "link" and child.uri in (*ATOM, *RSS)]
    yield from (link.text for link in found if link.uri not in ATOM and not link.has_children)
    yield from (link.attributes["href"].strip() for link in found if _is_page(link))


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


def read_text(texts: Iterable[str], entries: EntryBuilder, faults: Faults) -> Iterator[list[Entry]]:
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
        faults.add("txt-cut-line", "the last line is truncated and was left out", number + 1, value=rest)
        faults.lose("txt-cut-line", number + 1, rest)
        return
    yield list(_records(rest, number + 1, entries, faults))


def _records(line: str, number: int, entries: EntryBuilder, faults: Faults) -> Iterator[UrlRecord]:
    if len(line) > MAX_LINE:
        faults.add("txt-not-url-line", f"a line of more than {MAX_LINE} characters", number, value=line)
        faults.lose("txt-not-url-line", number, line)
        return
    line = line.strip().strip("\ufeff")
    if not line:
        return
    if line.startswith(COMMENT):
        faults.add("txt-not-url-line", "a comment: a text sitemap has URLs only", number, value=line)
        faults.lose("txt-not-url-line", number, line)
        return
    fields = [field for field in SEPARATOR.split(line) if field]
    if not fields or not URL.fullmatch(fields[0]):
        faults.add("txt-not-url-line", "a line that is not a URL", number, value=line)
        faults.lose("txt-not-url-line", number, line)
        return
    split = fields[0] != line.split()[0]
    records = [_record(field, number, split, entries) for field in fields if URL.fullmatch(field)]
    if len(fields) > 1:
        faults.recent.clear()
        faults.add("txt-has-metadata", "a line of a text sitemap may have only one URL", number, value=fields[1])
        if len(records) < len(fields):
            faults.lose("txt-has-metadata", number, line)
        rules = faults.place(records[0].loc) if records else []
        for record in records if rules else ():
            note = entries.notes.on(record)
            note.faults = [*note.faults, *rules]
    yield from records


def _record(url: str, number: int, split: bool, entries: EntryBuilder) -> UrlRecord:
    loc, raw = entries.locate(url, number)
    return UrlRecord(loc, raw, entries.sitemap, number, recovered=split or UNREADABLE in url)


HTML_START = re.compile(r"<(?:html|head|body|script|title|meta|div|table|center|h1|p)[\s>]", re.IGNORECASE)
"""Beginning of an HTML page's content."""
HTML_ANYWHERE = re.compile(r"<html[\s>]", re.IGNORECASE)
URL_LINE = re.compile(r"""^[^\S\n]*(?:https?:)?//[^\s/<>"][^\s<>"]*+(?=\s|\Z)""", re.IGNORECASE | re.MULTILINE)
"""Line of a text sitemap."""
XML_TAG = re.compile(r"<(?:[A-Za-z_][\w.-]*+:)?+(?:url|loc|urlset|sitemap|sitemapindex)[\s/>]")
"""Start tag of the protocol, which no text sitemap contains."""
TEXT_WINDOW = 64 * 1024
"""Characters of a text file that must contain its first URL."""


@dataclass(frozen=True, slots=True)
class DocumentStart:
    """Start of a document that does not begin with a known root."""

    text: str
    """At most `Limits.max_head` characters."""
    visible: str
    """The text with comments, CDATA sections and instructions blanked. Positions are the same."""
    position: int
    """Position after white space, XML declaration, comments and DOCTYPE."""


def is_html(start: DocumentStart) -> bool:
    visible = start.visible
    return HTML_START.match(visible, start.position) is not None or HTML_ANYWHERE.search(visible) is not None


def is_text(start: DocumentStart) -> bool:
    return (
        not start.text.startswith("<", start.position)
        and URL_LINE.search(start.text, 0, TEXT_WINDOW) is not None
        and not XML_TAG.search(start.visible, 0, TEXT_WINDOW)
    )


TextReader = Callable[[Iterable[str], EntryBuilder, Faults], Iterator[list[Entry]]]
"""Yields the records of a document's texts in lists; an empty list lets other work run. Like `read_text`."""


@dataclass(frozen=True, slots=True)
class InputFormat:
    """A format of files. XML formats declare `roots`, others `sniff` and `read`."""

    name: str
    """Value of `SitemapRecord.format`: lower-case letters, digits and hyphens."""
    label: str
    """Name in reports."""
    long_label: str
    """Name on the `inspect` screen."""
    lists: Literal["pages", "sitemaps", "nothing"]
    """What its entries are. A format that lists nothing is no sitemap."""
    roots: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Root elements -> elements read as entries, by local name."""
    entries: Callable[[str, str, Faults, str], EntryBuilder] = EntryBuilder
    """Builds the records, from the URL of the file, its base URL, its faults and the attributes of its root."""
    namespace: str = ""
    """Namespace of its elements, for a root whose declarations cannot be read; empty for none."""
    protocol_entry: str = ""
    """Element of the sitemap protocol (sitemaps.org) that is an entry; empty for formats outside the protocol."""
    sniff: Callable[[DocumentStart], bool] | None = None
    """Recognises a document without a known root."""
    read: TextReader | None = None
    """Reads a document without a root."""
    is_feed: bool = False
    """True for a feed for readers, which lists the latest pages only."""
    has_dates: bool = True
    """False if entries cannot have a date."""
    has_relative_urls: bool = False
    """True if the format allows relative URLs."""
    error: str = ""
    """Error of a file in this format, if it is no sitemap."""

    @property
    def is_sitemap(self) -> bool:
        """False for formats that are not sitemaps."""
        return self.lists != "nothing"

    @property
    def is_index(self) -> bool:
        """True if entries are sitemaps."""
        return self.lists == "sitemaps"


FORMATS: dict[str, InputFormat] = {}
"""All formats by name. Those that a plug-in adds come last."""
ROOTS: dict[str, InputFormat] = {}
"""Formats by root element."""
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def register(format: InputFormat) -> InputFormat:
    """Add a format. Raises ValueError if its name or a root is taken or invalid, or if it cannot be read."""
    if not NAME.fullmatch(format.name) or format.name in FORMATS:
        raise ValueError(f"format {format.name!r}: the name is taken, or not lower-case letters, digits and hyphens")
    if taken := format.roots.keys() & ROOTS.keys():
        raise ValueError(f"format {format.name!r}: the root {min(taken)} is that of {ROOTS[min(taken)].name}")
    if format.is_sitemap and not format.roots and not (format.sniff and format.read):
        raise ValueError(f"format {format.name!r}: has neither roots, nor both sniff and read")
    FORMATS[format.name] = format
    ROOTS.update(dict.fromkeys(format.roots, format))
    root_start.cache_clear()
    return format


@cache
def root_start() -> re.Pattern[str]:
    """Return the expression for the beginning of a known root's start tag."""
    declared()
    names = "|".join(map(re.escape, ROOTS))
    return re.compile(rf"<(?:(?P<prefix>[A-Za-z_][\w.-]*):)?(?P<name>{names})(?=[\s/>])")


def declared() -> dict[str, InputFormat]:
    """Return all formats by name, those of installed plug-ins included. Raises ValueError if one cannot be imported."""
    plugins.load(plugins.FORMATS)
    return FORMATS


def format_named(name: str) -> InputFormat:
    """Return a format; `UNKNOWN` for a name that is not registered, as in the database of a crawl with a plug-in."""
    return declared().get(name, UNKNOWN)


def format_names(test: Callable[[InputFormat], bool]) -> list[str]:
    """Return the names of the formats that pass a test."""
    return [format.name for format in declared().values() if test(format)]


def format_label(name: str) -> str:
    """Return the name of a format in reports."""
    format = declared().get(name)
    return name if format is None else format.label


def long_format_label(name: str) -> str:
    """Return the name of a format on the `inspect` screen."""
    format = declared().get(name)
    return name if format is None else format.long_label


URLSET = register(
    InputFormat("xml-urlset", "XML", "urlset", "pages", {"urlset": ENTRIES}, namespace=CORE, protocol_entry="url"),
)
INDEX = register(
    InputFormat(
        "xml-index", "index", "index", "sitemaps", {"sitemapindex": ENTRIES}, namespace=CORE, protocol_entry="sitemap"
    ),
)
RSS_FEED = register(
    InputFormat("rss", "RSS", "RSS feed", "pages", {"rss": RSS_ITEMS, "RDF": RSS_ITEMS}, FeedEntries, is_feed=True),
)
ATOM_FEED = register(
    InputFormat(
        "atom",
        "Atom",
        "Atom feed",
        "pages",
        {"feed": ATOM_ITEMS},
        FeedEntries,
        namespace=ATOM[0],
        is_feed=True,
        has_relative_urls=True,
    ),
)
TEXT = register(InputFormat("text", "text", "text", "pages", sniff=is_text, read=read_text, has_dates=False))
HTML = register(
    InputFormat("html", "HTML", "HTML page", "nothing", sniff=is_html, error="an HTML page, not a sitemap"),
)
UNKNOWN = register(InputFormat("unknown", "unknown", "unknown", "nothing", error="no sitemap"))
LIST = register(InputFormat("list", "list of URLs", "list", "nothing", has_dates=False))
"""List of URLs of the argument `urls`; `reader.lists` reads it."""
