"""What travels from the reader of a crawl through the pipelines to the feeds: batches of records, and ends of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import msgspec

from sitemapcrawler.items import (
    AnswerRecord,
    ChangeRecord,
    Envelope,
    FindingRecord,
    JsonObject,
    PageRecord,
    RenderedRecord,
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
_decoded_lines = msgspec.json.Decoder(UrlRecord).decode_lines
_REMOVED_MARK = f'"{REMOVED}"'.encode()
"""Text in the JSON of each url record of a removed URL, and perhaps of others."""


class NotedBatch(UrlBatch):
    """Base of the batches of a crawl: url records with what is known of them besides their rows."""

    __slots__ = ("_count", "_urls", "lines", "notes")
    _urls: list[UrlRecord] | None
    """The records, once they are decoded."""
    lines: bytes | None
    """The records as JSON lines, where they were given so."""

    def __init__(self, sitemap: str, urls: list[UrlRecord], notes: Notes | None = None) -> None:
        super().__init__(sitemap, urls)
        self.notes = Notes() if notes is None else notes
        """What is known of the records besides their rows."""

    @classmethod
    def of_lines(cls, sitemap: str, lines: bytes, count: int) -> Self:
        """A batch of records that are given as JSON lines, and decoded on first use."""
        batch = cls(sitemap, [])
        batch._urls, batch._count, batch.lines = None, count, lines
        return batch

    @property
    def urls(self) -> list[UrlRecord]:
        if self._urls is None:
            self._urls = _decoded_lines(self.lines or b"")
        return self._urls

    @urls.setter
    def urls(self, urls: list[UrlRecord]) -> None:
        self._urls, self._count, self.lines = urls, len(urls), None

    def __len__(self) -> int:
        return self._count if self._urls is None else len(self._urls)

    @property
    def judged(self) -> bool:
        """True if some record has findings."""
        return any(note.findings for note in self.notes.values())

    @property
    def listed_count(self) -> int:
        """Number of records of listed URLs: without those removed since the baseline."""
        if _REMOVED_MARK not in (self.lines or b""):
            return len(self)
        return sum(record.change != REMOVED for record in self.urls)

    def withhold(self) -> None:
        """Drop the records, which come again when they are final, and keep their findings."""
        self.notes = Notes.table(note for note in self.notes.of(self.urls) if note.findings)
        self.urls = []

    def unpack(self) -> Unpacked:
        """Return the records, each followed by its findings; of a batch whose records come again, the findings."""
        if not self.judged:
            return self.urls
        if not self.urls:
            return [finding for note in self.notes.values() for finding in note.findings]
        return [row for record in self.urls for row in (record, *self.notes.findings([record]))]


class FreshBatch(NotedBatch):
    """A batch that was read: to be judged, verified and stored. Where its records wait for their verification, it goes
    on empty, and they come again in another, `is_judged`. Behind the store it has findings alone: its records come
    again in a `FinalBatch`."""

    __slots__ = ("file", "is_judged")

    def __init__(
        self,
        sitemap: str,
        urls: list[UrlRecord],
        notes: Notes | None = None,
        file: FileFacts | Counted | None = None,
        is_judged: bool = False,
    ) -> None:
        super().__init__(sitemap, urls, notes)
        self.file = file
        """What rules are given of the file; None where nothing is judged."""
        self.is_judged = is_judged
        """True if the rules on what stands in the file, and those of robots.txt, have judged the records."""


class FinalBatch(NotedBatch):
    """A batch of records in their final form: those of a sample, to be stored again, or those that come out of the
    database, to be written."""

    __slots__ = ("is_stored",)

    def __init__(
        self, sitemap: str, urls: list[UrlRecord], notes: Notes | None = None, is_stored: bool = False
    ) -> None:
        super().__init__(sitemap, urls, notes)
        self.is_stored = is_stored
        """True if the records come out of the database."""

    @classmethod
    def of_rows(cls, sitemap: str, rows: Sequence[str]) -> Self:
        """A batch from the database. `rows`: JSON of url records."""
        batch = cls.of_lines(sitemap, "\n".join([*rows, ""]).encode(), len(rows))
        batch.is_stored = True
        return batch


@dataclass(slots=True)
class RecordBatch(Envelope):
    """Some records of the end of a crawl, all of one type: what travels through Scrapy."""

    records: list[PageRecord] | list[AnswerRecord | RenderedRecord] | list[ChangeRecord] | list[FindingRecord]
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
