"""What travels from the reader of a crawl through the pipelines to the feeds: batches of records, and ends of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints

import msgspec

from sitemapcrawler.items import (
    ChangeRecord,
    Envelope,
    FindingRecord,
    JsonObject,
    PageRecord,
    SitemapRecord,
    Unpacked,
    UrlBatch,
    UrlRecord,
)
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules.facts.given import Counted, FileFacts
from sitemapcrawler.rules.facts.sites import REMOVED
from sitemapcrawler.rules.finding_tally import FindingTally

decoded = msgspec.json.Decoder(UrlRecord).decode
"""Decodes a url record."""
_TYPES = get_type_hints(UrlRecord)
_PLAIN = frozenset({
    "type", "loc", "sitemap", "line", "lastmod", "lastmod_at", "changefreq", "priority", "recovered", "blocked_for",
    "issues",
})  # fmt: skip
"""Fields of plain entries."""
UrlRow = msgspec.defstruct("UrlRow", [(one.name, _TYPES[one.name], one.default) for one in fields(UrlRecord)], gc=False)
"""A url record to look at: with the same attributes, and decoded in a tenth of the time."""
PlainRow = msgspec.defstruct(
    "PlainRow",
    [(one.name, _TYPES[one.name], one.default) for one in fields(UrlRecord) if one.name in _PLAIN],
    namespace={one.name: one.default for one in fields(UrlRecord) if one.name not in _PLAIN},
    forbid_unknown_fields=True,
    gc=False,
)
"""The same for a plain entry, whose other attributes are the defaults."""
_decoded_rows = msgspec.json.Decoder(UrlRow).decode_lines
_decoded_plain_rows = msgspec.json.Decoder(PlainRow).decode_lines
_REMOVED_MARK = f'"{REMOVED}"'.encode()
"""Text in the JSON of each url record of a removed URL, and perhaps of others."""


@dataclass(slots=True)
class NotedBatch(UrlBatch):
    """Base of the batches of a crawl: url records with what is known of them besides their rows."""

    notes: Notes = field(default_factory=Notes)
    """What is known of the records besides their rows."""
    lines: bytes | None = None
    """The records as JSON lines, where they were written so already; None where not, or where some have findings."""

    @property
    def judged(self) -> bool:
        """True where some record has findings."""
        return any(note.findings for note in self.notes.values())

    @property
    def rows(self) -> Sequence[Any]:  # Any: see `UrlRow`
        """The records, or what has the same attributes: for a table."""
        return self.urls

    @property
    def listed_count(self) -> int:
        """Number of records of listed URLs: without those removed since the baseline."""
        return len(self)

    def withhold(self) -> None:
        """Drop the records, which come again when they are final, and keep their findings."""
        self.notes = Notes.table(note for note in self.notes.of(self.urls) if note.findings)
        self.urls, self.lines = [], None

    def unpack(self) -> Unpacked:
        """Return the records, each followed by its findings; of a batch whose records come again, the findings."""
        if not self.judged:
            return self.urls
        if not self.urls:
            return [finding for note in self.notes.values() for finding in note.findings]
        return [row for record in self.urls for row in (record, *self.notes.findings([record]))]


class RowsOnDemand:
    """Base of a batch whose lines are given, and which decodes its records from them on first use."""

    lines: bytes | None
    """As in `NotedBatch`."""
    _count: int = 0
    """Number of records."""
    _urls: list[UrlRecord] | None = None
    """The records, once they are decoded."""
    _rows: Sequence[Any] | None = None  # Any: as in `NotedBatch`
    """The same as `PlainRow` or `UrlRow`."""

    def set_lines(self, lines: bytes, count: int) -> None:
        """Set the records, as JSON lines, and their number."""
        self._urls, self._rows, self._count, self.lines = None, None, count, lines

    @property
    def urls(self) -> list[UrlRecord]:
        if self._urls is None:
            self._urls = [decoded(line) for line in (self.lines or b"").splitlines()]
        return self._urls

    @urls.setter
    def urls(self, urls: list[UrlRecord]) -> None:
        self._urls, self._count, self.lines = urls, len(urls), None

    @property
    def rows(self) -> Sequence[Any]:  # Any: as in `NotedBatch`
        if self._rows is None and self._urls is None:
            try:
                self._rows = _decoded_plain_rows(self.lines or b"")
            except msgspec.ValidationError:  # some have other fields
                self._rows = _decoded_rows(self.lines or b"")
        return self._urls if self._urls is not None else self._rows or ()

    def __len__(self) -> int:
        return self._count if self._urls is None else len(self._urls)


@dataclass(slots=True)
class JudgedBatch(NotedBatch):
    """A batch of records as they were read and judged by what stands in the file: to be verified and stored."""

    file: FileFacts | Counted | None = None
    """What rules are given of the file; None where nothing is judged."""
    listed: list[UrlRecord] | None = None
    """All records of the batch, where some of them were held back for a sample; None where none may be."""


class FreshBatch(JudgedBatch):
    """A batch as it was read: to be judged, verified and stored. Empty on its way to the store where its records wait
    for their verification, and come again in a `JudgedBatch`. Behind the store it has findings alone: its records come
    again in a batch from the database."""

    __slots__ = ()


class EncodedBatch(RowsOnDemand, JudgedBatch):
    """A batch that a worker process read and judged, without findings: to be stored."""

    def __init__(self, sitemap: str, lines: bytes, count: int) -> None:
        super().__init__(sitemap, [])
        self.set_lines(lines, count)


class FinalBatch(NotedBatch):
    """A batch of records that were held back and have been judged: stored in their final form, and written."""

    __slots__ = ()


class StoredBatch(RowsOnDemand, NotedBatch):
    """A batch from the database."""

    def __init__(self, sitemap: str, rows: Sequence[str]) -> None:
        """`rows`: JSON of url records."""
        super().__init__(sitemap, [])
        self.set_lines("\n".join([*rows, ""]).encode(), len(rows))

    @property
    def listed_count(self) -> int:
        if _REMOVED_MARK not in (self.lines or b""):
            return len(self)
        return sum(row.change != REMOVED for row in self.rows)


@dataclass(slots=True)
class RecordBatch(Envelope):
    """Some records of the end of a crawl, all of one type: what travels through Scrapy."""

    records: list[PageRecord] | list[ChangeRecord] | list[FindingRecord]
    """The records."""

    def unpack(self) -> Unpacked:
        return self.records


class FindingBatch(RecordBatch):
    """Rows for entries that a finding on their file or site sums up, for lists: with `findings=all`, each entry has
    one, whose message is the title of the rule. Formats that report findings (SARIF, JUnit) have the sum alone."""

    __slots__ = ()


class FileTally(msgspec.Struct, omit_defaults=True):
    """What a file adds to the counts of a crawl."""

    found: FindingTally = msgspec.field(default_factory=FindingTally)
    """What the rules found in it."""
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    """Entries that arguments leave out, by argument."""
    alias: bool = False
    """True if it redirects to a file that was already read."""
    trust: JsonObject | None = None
    """Evidence on its dates (`tally.Trust.state`); None if nothing was verified."""
    missed: bool = False
    """True for a guess that is no sitemap."""
    answered: bool = False
    """Whether that was answered."""
    status: int | None = None
    """HTTP status of that answer."""


@dataclass(slots=True)
class FileResult:
    """What reading a file contributes besides records. Stored, since a resumed job does not read the file again."""

    digest: str = ""
    """Hash of the body as fetched, in hexadecimal."""
    children: list[tuple[str, str | None]] = field(default_factory=list)
    """(URL, `lastmod_at`) of the children that are followed, in order; at most `MAX_CHILDREN`."""
    tally: FileTally = field(default_factory=FileTally)
    """What it adds to the counts of the crawl."""


class SitemapEnd(SitemapRecord, Envelope):
    """The record of a file at its end in this crawl, with what is known of the file besides its row."""

    __slots__ = ("facts", "findings", "result")

    def __init__(self, *fields: Any) -> None:  # Any: each has a type of its own
        """`fields`: those of the record, in order."""
        super().__init__(*fields)
        self.facts: FileFacts | Counted | None = None
        """What rules are given of the file; None where nothing is judged."""
        self.findings: list[FindingRecord] = []
        """Findings on the file itself."""
        self.result = FileResult()
        """What reading the file contributes besides records."""

    def plain(self) -> SitemapRecord:
        """Return a copy that is the record alone."""
        return SitemapRecord(*(getattr(self, one.name) for one in fields(self) if one.init))

    def unpack(self) -> Unpacked:
        return [self, *self.findings]
