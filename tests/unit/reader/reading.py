"""Reading a document in a test: one call, and all there is to compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader import Document, Limits

URL = "https://e.com/sitemap.xml"
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
URLSET = f'{DECLARATION}<urlset xmlns="{CORE}">\n'
INDEX = f'{DECLARATION}<sitemapindex xmlns="{CORE}">\n'
END = "</urlset>"
GOOD = "<url><loc>https://e.com/good</loc></url>\n"


@dataclass
class Reading:
    """A document that was read, and its records."""

    document: Document
    records: list[Any] = field(default_factory=list)
    elements: list[Element | None] = field(default_factory=list)
    """The XML element of each record; None where none was kept."""

    @property
    def locs(self) -> list[str]:
        return [record.loc for record in self.records]

    @property
    def lines(self) -> list[int]:
        return [record.line for record in self.records]

    @property
    def recovered(self) -> list[str]:
        return [record.loc for record in self.records if record.recovered]

    @property
    def rules(self) -> dict[str, int]:
        return dict(self.document.faults.counts)

    def facts(self) -> dict[str, Any]:
        """All that a reader of the document learns."""
        document = self.document
        names = ("format", "outcome", "error", "url_count", "bytes", "encoding", "lastmod_min", "lastmod_max")
        return {
            "records": [asdict(record) for record in self.records],
            "faults": sorted(map(repr, document.faults)),
            "fault_counts": dict(document.faults.counts),
            "counts": asdict(document.counts),
            "namespaces": document.namespaces,
            **{name: getattr(document, name) for name in names},
        }


def encoded(data: str | bytes) -> bytes:
    return data if isinstance(data, bytes) else data.encode()


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def read(data: str | bytes, size: int | None = None, limits: Limits | None = None, **keywords: Any) -> Reading:
    """Read `data`, whole or in pieces of `size` bytes."""
    body = encoded(data)
    document = Document(keywords.pop("url", URL), limits=limits or Limits(), **keywords)
    reading = Reading(document)
    for records in document.read(pieces(body, size or max(1, len(body)))):
        reading.records += records
        reading.elements += [document.notes.element(one) if isinstance(one, UrlRecord) else None for one in records]
    return reading


def urlset(*entries: str, end: str = END) -> str:
    """A urlset of the entries given; the first one begins on line 3."""
    return URLSET + "".join(entries) + end


def url(loc: str, more: str = "") -> str:
    """One entry on a line of its own."""
    return f"<url><loc>{loc}</loc>{more}</url>\n"
