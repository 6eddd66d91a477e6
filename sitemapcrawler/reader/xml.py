"""XML sitemaps and feeds: plain entries by one expression, all others by the strict parser, faults by recovery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.entries import Entries
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.limits import Limits
from sitemapcrawler.reader.plain import read_plain
from sitemapcrawler.reader.sniff import Head
from sitemapcrawler.reader.strict import Malformed, StrictParser, TooDeep

ENTRY = {"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "RDF": "item", "feed": "entry"}
"""Root element -> the element of its entries."""
CONTAINERS = ("channel",)
"""Elements between the root and its entries."""

CUT = ("doc-truncated", "doc-gzip-error", "doc-decompression-bomb", "limit-bytes")
"""Faults of the bytes that explain a document without end."""


class Stop(Exception):
    """Reading cannot go on; what was read is kept."""


class XmlReader:
    """Reads the entries of one document, whatever pieces its text comes in.

    The strict parser is given one entry at a time and never sees the plain ones in between, since they are complete
    and change nothing for what follows. So reading can go back and forth between the two.
    """

    def __init__(self, head: Head, line: int, entries: Entries, faults: Faults, limits: Limits) -> None:
        self._head = head
        self._line = line
        self._entries = entries
        self._faults = faults
        self._limits = limits
        self._close = f"</{head.prefix + ':' if head.prefix else ''}{ENTRY[head.name]}>"
        self._plain = head.name == "urlset" and not head.prefix
        self._buffer = ""
        self._searched = 0
        self._records: list[Any] = []
        self._strict = StrictParser(f"<{head.tag}{head.attributes}>", self._build, CONTAINERS, limits.max_depth)
        self._strict.expect_close(self._close)
        entries.core = self._strict.root_uri

    def read(self, texts: Iterable[str]) -> Iterator[list[Any]]:
        """The records, in lists as the text arrives."""
        try:
            for text in texts:
                self._feed(text)
                yield self._take()
            self._strictly(self._buffer, final=True)
        except Malformed as fault:
            self._note(fault)
        except TooDeep as fault:
            self._faults.add("limit-depth", str(fault), self._line)
        except Stop:
            pass
        yield self._take()

    @property
    def namespaces(self) -> list[str]:
        """Namespace URIs in order of appearance."""
        return list(self._strict.namespaces)

    def _take(self) -> list[Any]:
        records, self._records = self._records, []
        return records

    def _build(self, element: Element) -> None:
        record = self._entries.build(element)
        if record is not None:
            self._records.append(record)

    def _feed(self, text: str) -> None:
        buffer = self._buffer + text
        position = 0
        while True:
            if self._plain and self._strict.at_boundary:
                records: list[UrlRecord] = self._records
                position, self._line = read_plain(buffer, position, self._line, self._entries.sitemap, records)
            end = buffer.find(self._close, max(position, self._searched))
            if end < 0:
                break
            end += len(self._close)
            self._strictly(buffer[position:end])
            position = end
        self._buffer = buffer[position:]
        self._searched = max(0, len(self._buffer) - len(self._close))
        if len(self._buffer) > self._limits.max_element:
            limit = self._limits.max_element
            self._faults.add("limit-element", f"an entry of more than {limit} characters", self._line, value=str(limit))
            raise Stop

    def _strictly(self, piece: str, final: bool = False) -> None:
        self._piece = piece
        self._strict.feed(piece, self._line, final)
        self._line += piece.count("\n")

    def _note(self, fault: Malformed) -> None:
        if fault.rule == "doc-truncated" and self._faults.first(*CUT):
            return
        before = self._piece[: fault.offset]
        column = len(before) - before.rfind("\n")
        self._faults.add(fault.rule, f"not well formed: {fault}", self._line + before.count("\n"), column)
