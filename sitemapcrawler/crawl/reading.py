"""Reads one sitemap file: turns a response into url records and the record of the file."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sitemapcrawler.crawl.frontier import Frontier, Selection, Visit
from sitemapcrawler.crawl.local_files import Published, file_beside, missing_files
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import FileResult, FileTally, FreshBatch, SitemapEnd
from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.jobs.job import STORE_LOST
from sitemapcrawler.reader import ChildRecord, Document, Limits
from sitemapcrawler.reader.faults import FULL
from sitemapcrawler.reader.formats import HTML, format_named
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.replies.page.body import charset_of
from sitemapcrawler.rules.facts.given import MAX_CHILDREN, FileFacts
from sitemapcrawler.rules.finding_tally import add_counts
from sitemapcrawler.urls import authority
from sitemapcrawler.urls.display import counted
from sitemapcrawler.urls.expressions import Expression

logger = logging.getLogger(__name__)

NO_MEMORY = "memory"
"""Reason for the end of a crawl when memory runs out."""
OUT_OF_MEMORY = "out of memory"
"""Reason for an incomplete file when memory runs out."""
START_BYTES = 16 * 1024
"""Bytes from the start of a file that suffice to recognise an HTML page."""
BATCH_SIZE = 1000
"""Url records of a batch at most: an item costs Scrapy more than an entry costs the reader."""
BATCH_BYTES = 2**20
"""Uncompressed bytes of a file after which a batch ends: about 300 entries with 30 languages. A single entry may be a
thousand times larger."""
COLLECTED_AFTER = (20_000, 20, 50)
"""Thresholds of the garbage collector while files are read: objects, then collections of each younger generation.
Records hold no cycles; with Python's 700 objects, a third of the time for entries with languages and images went into
searching them for some, at the same peak of memory (bench/README.md)."""
SLICE_S = 0.02
"""Seconds of work on a file before other tasks get their turn."""


@dataclass(slots=True)
class Children:
    """Queues listed sitemaps, or the local files that stand for them, beside the file that lists them."""

    frontier: Frontier
    follow: Expression | None = None
    """What URLs in indexes must match; None follows all."""
    offline: bool = False
    """True if only local files are read."""
    published: Published | None = None
    """The folder that is published as a whole; None: local indexes and their sitemaps are in the same folder."""
    files: set[str] = field(default_factory=set)
    """`file:` URLs that may be read: each listed sitemap that is beside its index is added."""
    indexes: Counter[str] = field(default_factory=Counter)
    """Indexes read so far, by site."""

    def follows(self, url: str) -> bool:
        """True for a URL in an index that the argument `follow` lets pass; others are counted as skipped."""
        if self.follow is None or self.follow.matches(url):
            return True
        self.frontier.skip("follow")
        return False

    def queue(self, index: Visit, url: str, listed_at: str | None) -> bool:
        """Queue a sitemap that an index lists, or the local file beside the index; returns False if it is skipped."""
        return self._queue(index, url, lambda found, place: index.child(found, listed_at, place))

    def queue_named(self, robots: Visit, url: str) -> bool:
        """Queue a sitemap that a robots.txt names, in the same way as `queue`."""
        return self._queue(robots, url, robots.named)

    def _queue(self, parent: Visit, url: str, visit_of: Callable[[str, str | None], Visit]) -> bool:
        beside = file_beside(parent.url, parent.place, url, self.published)
        if beside is None and self.offline:
            self.frontier.skip("offline")
            return False
        if beside is None:
            return self.frontier.add(visit_of(url, None))
        self.files.add(beside)
        return self.frontier.add(visit_of(beside, None if parent.place is None else url))

    def count_index(self, visit: Visit, number: int = 1) -> None:
        """Count indexes of the site of a file that was read, now or in an earlier run."""
        self.indexes[visit.judged_with] += number

    def describe(self, index: Visit, facts: FileFacts) -> None:
        """Add to the facts about an index what is known of its site and of the files it lists."""
        facts.indexes = self.indexes[index.judged_with]
        if self.offline:
            facts.missing = missing_files(index.url, index.place, facts.listed, self.published)


@dataclass(slots=True)
class Reading:
    """Shared state and limits for reading the files of one crawl."""

    selection: Selection
    frontier: Frontier
    limits: Limits
    stop: Stop
    """Asked between batches, and told when memory runs out."""
    children: Children
    """Queues the sitemaps that a file lists."""
    judging: bool = False
    """True if rules run: batches then carry the facts of their file."""
    hosts: Policies | None = None
    """Know whether a file may list a URL on another host (`rules.facts.given.FileFacts.proven`); None if no robots.txt
    is read."""
    opened: list[Body] = field(default_factory=list)
    """Bodies of the files being read."""
    records: int = 0
    """File records made so far."""

    @property
    def begun(self) -> float:
        """Files finished so far, and the fractions read of open ones."""
        return self.records + sum(body.given / body.size for body in tuple(self.opened) if body.size)

    def read(self, visit: Visit, answer: FetchResult) -> Iterator[FreshBatch | SitemapEnd | None]:
        """Yield url records in batches, then the sitemap record; nothing for a guess that is not a sitemap.
        Also yields None whenever other tasks should get their turn."""
        record = _record(visit, answer)
        record.result.digest = answer.body.digest().hex()
        base, kind = visit.place or answer.final_url, answer.header("Content-Type")
        charset = charset_of(kind)
        document = Document(visit.url, base, self.limits, answer.error, self.judging, charset=charset)
        if self.judging:
            facts = self._facts(visit, record, document, answer.at, kind)
            facts.content_encoding = answer.content_encoding
            record.facts = facts
        if answer.ok:
            with self.open(answer.body):
                yield from self._read(visit, answer, record, document)
            if answer.body.error is not None:
                logger.error("%s: %s, and the crawl ends", visit.url, answer.error)
                self.stop.end(STORE_LOST)
        else:
            record.outcome = "blocked" if answer.blocked else "failed"
            record.error = answer.error or f"HTTP status {answer.status}"
        if visit.probe and not format_named(record.format).is_sitemap:
            return
        level = logging.INFO if record.outcome in ("ok", "recovered") else logging.WARNING
        logger.log(level, "%s: %s, %s%s", visit.url, record.outcome, _entries(record), _why(record))
        self.records += 1
        yield record

    def refused(self, visit: Visit, reason: str) -> SitemapEnd:
        """The record of a file whose URL cannot be requested."""
        logger.warning("%s: failed (%s)", visit.url, reason)
        record = SitemapEnd(visit.url, visit.parent, visit.found_by, visit.depth)
        record.offsite = is_offsite(visit.url, visit.parent) or None
        record.outcome, record.error = "failed", reason
        self.records += 1
        self._add_facts(visit, record, datetime.now(UTC))
        return record

    def alias(self, visit: Visit, answer: FetchResult) -> Iterator[SitemapEnd]:
        """Yield the record of a file that redirects to one that was read already; nothing for a guess."""
        if not visit.probe:
            logger.info("%s: already read as %s", visit.url, answer.final_url)
            record = _record(visit, answer)
            record.result = FileResult(answer.body.digest().hex(), tally=FileTally(alias=True))
            self._add_facts(visit, record, answer.at)
            self.records += 1
            yield record

    def _add_facts(self, visit: Visit, record: SitemapEnd, at: datetime) -> None:
        """Give facts to a record that has no document, so that rules can judge it."""
        if self.judging:
            record.facts = self._facts(visit, record, Document(visit.url), at)

    def _facts(
        self, visit: Visit, record: SitemapRecord, document: Document, at: datetime, content_type: str | None = None
    ) -> FileFacts:
        return FileFacts(
            visit.url,
            record,
            document,
            content_type,
            fetched_at=at,
            served_at=visit.place,
            ancestors=visit.ancestors,
            listed_at=visit.listed_at,
            prove=None if self.hosts is None else self.hosts.prove,
            site=visit.judged_with,
        )

    @contextmanager
    def open(self, body: Body) -> Iterator[None]:
        """Context in which the file of a body is being read."""
        self.opened.append(body)
        try:
            yield
        finally:
            self.opened.remove(body)

    def _read(
        self, visit: Visit, answer: FetchResult, record: SitemapEnd, document: Document
    ) -> Iterator[FreshBatch | None]:
        file = record.facts if isinstance(record.facts, FileFacts) else None
        try:
            yield from self._batches(visit, document, answer, file, record.result)
        except MemoryError:
            logger.error("%s: %s, and the crawl ends", visit.url, OUT_OF_MEMORY)
            document.cut_short(OUT_OF_MEMORY)
            self.stop.end(NO_MEMORY)
        except Exception as error:
            logger.error("%s: internal error", visit.url, exc_info=logger.isEnabledFor(logging.DEBUG))
            document.faults.add("internal", f"internal error: {type(error).__name__}: {error}")
        document.describe(record)
        if format_named(document.format).is_index:
            self.children.count_index(visit)
            if file is not None:
                self.children.describe(visit, file)

    def _batches(
        self, visit: Visit, document: Document, answer: FetchResult, file: FileFacts | None, result: FileResult
    ) -> Iterator[FreshBatch | None]:
        size = BATCH_SIZE
        waiting: list[UrlRecord] = []
        notes = Notes()
        taken = 0
        began = time.monotonic()
        for records in document.read(answer.body.chunks()):
            if paused := time.monotonic() - began > SLICE_S:
                yield None
                began = time.monotonic()
            if visit.probe and 0 < document.url_count == len(records):
                self.frontier.count_guess()
            before = self.selection.skipped.copy()
            pages = self._pages(visit, records, file, result)
            self.frontier.earn(visit, len(pages))
            kept = self.selection.keep(pages)
            notes.update(document.notes.remove(kept))
            waiting += kept
            add_counts(result.tally.skipped, self.selection.skipped - before)
            while len(waiting) >= size:
                full, waiting = waiting[:size], waiting[size:]
                yield FreshBatch(visit.url, full, notes.remove(full), file=file)
                taken = document.bytes
            if waiting and document.bytes - taken > BATCH_BYTES:
                yield FreshBatch(visit.url, waiting, notes.remove(waiting), file=file)
                waiting, taken = [], document.bytes
            if self.selection.full or ((records or paused) and self.stop.begun()):
                document.cut_short(FULL if self.selection.full else "the crawl was stopped")
                break
        if waiting:
            yield FreshBatch(visit.url, waiting, notes, file=file)

    def _pages(
        self, visit: Visit, records: list[UrlRecord | ChildRecord], file: FileFacts | None, result: FileResult
    ) -> list[UrlRecord]:
        pages: list[UrlRecord] = []
        for record in records:
            if isinstance(record, UrlRecord):
                pages.append(record)
                continue
            if file is not None:
                file.list_child(record)
                if self.children.offline and len(file.listed) < MAX_CHILDREN:
                    file.listed.append((record.loc, record.line))
            if not self.children.follows(record.loc):
                add_counts(result.tally.skipped, {"follow": 1})
                continue
            if len(result.children) < MAX_CHILDREN:
                result.children.append((record.loc, record.lastmod_at))
            before = self.frontier.skipped.copy()
            if not self.children.queue(visit, record.loc, record.lastmod_at) and file is not None:
                file.left_out += self.frontier.skipped - before
        return pages


def _record(visit: Visit, answer: FetchResult) -> SitemapEnd:
    record = SitemapEnd(visit.url, visit.parent, visit.found_by, visit.depth)
    record.offsite = is_offsite(visit.url, visit.parent) or None
    record.status = None if visit.url.startswith("file:") else answer.status
    record.final_url = answer.final_url if answer.hops else None
    record.hops = answer.hops
    record.bytes_fetched = answer.body.size
    record.etag = answer.header("ETag")
    record.last_modified = answer.header("Last-Modified")
    return record


def is_page(answer: FetchResult) -> bool:
    """True for a response that starts like an HTML page."""
    start = Document(answer.final_url)
    for _ in start.read([answer.content(START_BYTES)]):
        pass
    return start.format == HTML.name


def is_offsite(url: str, parent: str | None) -> bool:
    """True for a URL on a different host than the file that names it."""
    here, there = authority(url), authority(parent) if parent else None
    return here is not None and there is not None and here.host != there.host


def _entries(record: SitemapRecord) -> str:
    return counted(record.url_count, "entry", "entries")


def _why(record: SitemapRecord) -> str:
    return f" ({record.error})" if record.error else ""
