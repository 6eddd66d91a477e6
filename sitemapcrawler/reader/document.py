"""Reads one sitemap: bytes in, records out, then facts about the document."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from sitemapcrawler.items import Counts, SitemapRecord, objects_in
from sitemapcrawler.reader.decode import MAGIC, decode, inflate
from sitemapcrawler.reader.entries import ChildRecord, Entry, EntryBuilder, IgnoredElements
from sitemapcrawler.reader.faults import Faults, Limits
from sitemapcrawler.reader.formats import FORMATS, TEXT, UNKNOWN, format_named
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.reader.prolog import note_prolog
from sitemapcrawler.reader.repair import ENDS
from sitemapcrawler.reader.sniff import MAX_PROLOG, DocumentHead, core_uri, no_root, note_head, sniff
from sitemapcrawler.reader.xml import XmlReader
from sitemapcrawler.urls.display import counted

MAX_COMMENT = 64 * 1024
"""Characters of a comment that are kept."""
MAX_TAG_NAME = 256
"""Characters from the start of a tag to the end of its name; a longer one is not an entry."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment or instruction between entries, or behind the root."""

    text: str
    line: int
    """Line on which it begins, counted from 1."""
    is_behind: bool
    """True if it stands behind the root."""


class CommentFinder:
    """Watches the text of one document as it is read. Its end may lie anywhere in a chunk."""

    def __init__(self, head: DocumentHead, line: int) -> None:
        """`line`: on which the start tag of the root ends."""
        names = "|".join(head.entries)
        self._mark = re.compile(
            rf"<(?:(?P<section>!--|\?|!\[CDATA\[)|(?P<end>/?)(?:[\w.-]+:)?(?:(?P<entry>{names})|{head.name})[\s/>])"
        )
        self.found: list[Comment] = []
        """Comments found since this list was cleared."""
        self._line = line
        self._text = ""
        self._at = 0
        self._close = ""
        """End marker of the section at `_at`; empty between sections."""
        self._behind_start = 0
        """Characters of its start marker."""
        self._is_cut = False
        """True if the start of that section is gone, since it is longer than `MAX_COMMENT`."""
        self._is_inside = self._is_behind = False

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the texts, after the comments in each were found."""
        for text in texts:
            self._text += text
            while self._leave_section() if self._close else self._pass_mark():
                pass
            self._text = self._text[self._at :]
            self._at = 0
            yield text

    def _pass_mark(self) -> bool:
        """Continue behind the next tag, or at the next section; False if more text is needed."""
        mark = self._mark.search(self._text, self._at)
        if mark is None:
            last = self._text.rfind("<", max(self._at, len(self._text) - MAX_TAG_NAME))
            self._move(last if last >= 0 else len(self._text))
            return False
        if mark["section"]:
            self._move(mark.start())
            self._close, self._behind_start = ENDS[mark["section"]], len(mark[0])
            return True
        self._move(mark.end())
        self._is_behind = bool(mark["end"]) and not mark["entry"]
        self._is_inside = bool(mark["entry"]) and not mark["end"]
        return True

    def _leave_section(self) -> bool:
        """Continue behind a section; False if its end has not arrived yet."""
        end = self._text.find(self._close, self._at + (0 if self._is_cut else self._behind_start))
        if end >= 0:
            end += len(self._close)
            self._note(end)
            self._move(end)
            self._close, self._is_cut = "", False
        elif len(self._text) - self._at > MAX_COMMENT:
            self._note(self._at + MAX_COMMENT)
            self._move(len(self._text) - len(self._close) + 1)
            self._is_cut = True
        return end >= 0

    def _note(self, end: int) -> None:
        is_comment = self._close != ENDS["![CDATA["] and not self._is_cut
        if is_comment and not self._is_inside:
            self.found.append(Comment(self._text[self._at : end], self._line, self._is_behind))

    def _move(self, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at


CUT = ("doc-truncated", "doc-gzip-error", "doc-decompression-bomb", "limit-bytes", "limit-element",
       "limit-entries", "limit-stopped")  # fmt: skip
"""Faults that leave the rest of a file unread."""
MALFORMED = (
    "doc-xml-malformed", "doc-unescaped-ampersand", "doc-undeclared-entity", "doc-control-character",
    "doc-trailing-content", "xml-ext-namespace-missing", "doc-leading-content", "xml-root-unknown", "limit-depth",
)  # fmt: skip
"""Faults that end strict reading."""


def outcome_of(format: str, faults: Faults, is_listing: bool, is_recovered: bool) -> str:
    """Return ok, recovered, truncated or failed. `is_listing`: it has entries; `is_recovered`: some needed repair."""
    malformed = any(rule in faults for rule in (*CUT, *MALFORMED))
    if not format_named(format).is_sitemap or (malformed and not is_listing):
        return "failed"
    if any(rule in faults for rule in CUT):
        return "truncated"
    return "recovered" if is_recovered or faults.lost or malformed else "ok"


def cause_of(faults: Faults, cut: str | None) -> str | None:
    """Return the fault that decided an outcome, in one sentence, or None. `cut`: why the bytes are incomplete."""
    if cut is not None and any(rule in faults for rule in CUT):
        return cut
    fault = faults.first(*CUT) or faults.first(*MALFORMED)
    if fault is None:
        return None
    more = 0 if fault.rule in CUT else faults.counts[fault.rule] - 1
    place = [f"line {fault.line}"] if fault.line else []
    place += [f"and {counted(more, 'more', 'more')} of the kind"] if more else []
    return f"{fault.message} ({', '.join(place)})" if place else fault.message


DEFAULT_LIMITS = Limits()


class Document:
    """One sitemap. Its attributes are final once `read` is exhausted.

    `url` is the address that records carry; relative URLs are resolved against `base` (the URL after redirects). `cut`
    says why the bytes are incomplete, if known; `charset` is that of the Content-Type header. With `keep_elements`, url
    records other than plain ones carry the element they were built from. With `keep_source`, the notes on url records
    keep their text, and `faults.losses` what was left out; clear it after each list of records.
    """

    def __init__(
        self,
        url: str,
        base: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        cut: str | None = None,
        keep_elements: bool = False,
        keep_source: bool = False,
        charset: str | None = None,
    ) -> None:
        self.url = url
        self.format = UNKNOWN.name
        self.bytes = 0
        self.url_count = 0
        self.counts = Counts()
        self.lastmod_min: str | None = None
        self.lastmod_max: str | None = None
        self.namespaces: list[str] = []
        self.root = ""
        """Start tag of the root under which the entries were read; empty for text."""
        self.root_line: int | None = None
        self.root_uri: str | None = None
        """Namespace that the root declares for itself, empty if none; None if unknown."""
        self.prolog = ""
        """First `MAX_PROLOG` characters before the root."""
        self.comments: list[Comment] = []
        """With `keep_source`, comments and instructions around the entries since this list was cleared. They come with
        the records behind them, or before."""
        self.ignored: IgnoredElements = {}
        self.notes = Notes()
        """Notes on the records that were yielded last."""
        self.compressed = False
        """True if the bytes were gzip."""
        self.faults = Faults(limits.faults_kept)
        if keep_source:
            self.faults.losses = []
        self._keep_source = keep_source
        self._base = base or url
        self._limits = limits
        self._cut = cut
        self._keep_elements = keep_elements
        self._charset = charset
        self._recovered = False
        self._builder: EntryBuilder | None = None

    def read(self, chunks: Iterable[bytes]) -> Iterator[list[Entry]]:
        """Yield the records in document order, in lists as they become known. Never raises because of the content.

        An empty list means that no record is ready yet, so the caller may do other work.
        """
        plain = self._counted(inflate(self._begun(chunks), self._limits, self.faults))
        texts = decode(self._ended(plain), self.faults, self._charset)
        for records in self._entries(texts):
            left = self._limits.max_entries - self.url_count
            if len(records) > left:
                most = counted(self._limits.max_entries, "entry", "entries")
                self.faults.add("limit-entries", f"more than {most}: the rest was not read")
                records = records[:left]
            self._note(records)
            self.notes = self._builder.notes.remove(records) if self._builder is not None else Notes()
            yield records
            if "limit-entries" in self.faults:
                return

    def cut_short(self, reason: str) -> None:
        """Note that reading stops before the end of the file."""
        self.faults.add("limit-stopped", reason)

    def describe(self, record: SitemapRecord) -> None:
        """Copy the facts about the document into its file's record."""
        for name in ("format", "outcome", "url_count", "bytes", "encoding", "lastmod_min", "lastmod_max", "counts",
                     "namespaces", "error"):  # fmt: skip
            setattr(record, name, getattr(self, name))

    @property
    def encoding(self) -> str | None:
        """Encoding of the text; None if there is none."""
        return self.faults.encoding

    @property
    def outcome(self) -> str:
        """ok, recovered, truncated or failed; see `SitemapRecord.outcome`."""
        return outcome_of(self.format, self.faults, self.url_count > 0, self._recovered)

    @property
    def error(self) -> str | None:
        """Reason for the outcome, in one sentence; None if it is ok."""
        return None if self.outcome == "ok" else cause_of(self.faults, self._cut) or self._state

    @property
    def _state(self) -> str | None:
        """Reason for the outcome if no fault explains it."""
        if not self.bytes:
            return "an empty body"
        if self._recovered:
            return "some entries were read after repair"
        if self.faults.lost:
            was = "was" if self.faults.lost == 1 else "were"
            return f"{counted(self.faults.lost, 'entry', 'entries')} could not be trusted and {was} left out"
        return format_named(self.format).error or None

    def _begun(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        start = b""
        for chunk in chunks:
            if len(start) < len(MAGIC):
                start += chunk[: len(MAGIC)]
                self.compressed = start.startswith(MAGIC)
            yield chunk

    def _counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.bytes += len(chunk)
            yield chunk

    def _ended(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        yield from chunks
        if self._cut is not None and "doc-truncated" not in self.faults:
            self.faults.add("doc-truncated", self._cut)

    def _entries(self, texts: Iterator[str]) -> Iterator[list[Entry]]:
        head, text, line = yield from self._head(texts)
        self.format = head.format
        self.prolog = text[: min(head.start, MAX_PROLOG)]
        format = FORMATS[head.format]
        if format.read is not None:
            entries = format.entries(self.url, self._base, self.faults, "")
            entries.extended = format is not TEXT
            self._builder = entries
            yield from format.read(chain([text], texts), entries, self.faults)
        elif head.name:
            yield from self._xml(head, text, line, texts)
        elif not self.faults.first(*CUT):
            no_root(head, text[: self._limits.max_head], self.faults)

    def _head(self, texts: Iterator[str]) -> Generator[list[Entry], None, tuple[DocumentHead, str, int]]:
        start = ""
        for text in texts:
            yield []
            if not text:
                continue
            start += text
            head = sniff(start[: self._limits.max_head], complete=len(start) > self._limits.max_head)
            if head is not None:
                break
        else:
            head = sniff(start, complete=True)
        assert head is not None
        return head, start, 1 + start.count("\n", 0, head.start)

    def _xml(self, head: DocumentHead, text: str, line: int, texts: Iterator[str]) -> Iterator[list[Entry]]:
        format = FORMATS[head.format]
        entries = format.entries(self.url, self._base, self.faults, head.attributes)
        entries.keep_source = self._keep_source
        self.ignored = entries.ignored
        self._builder = entries
        entries.expected = format.protocol_entry
        note_head(head, text, line, self.faults)
        self.root_line = line
        line += text.count("\n", head.start, head.end)
        place = line, head.end - text.rfind("\n", 0, head.end) - 1
        reader = XmlReader(head, place, entries, self.faults, self._limits, self._keep_elements)
        self.root = reader.root
        self.root_uri = None if "doc-xml-malformed" in self.faults else core_uri(head)
        if not head.fragment and "doc-leading-content" not in self.faults:
            note_prolog(text[: head.start], self.faults)
        inside: Iterator[str] = chain([text[head.end :]], texts)
        if self._keep_source:
            finder = CommentFinder(head, line)
            self.comments = finder.found
            inside = finder.watch(inside)
        yield from reader.read(inside)
        self.namespaces = [uri for uri in reader.namespaces if uri]

    def _note(self, records: list[Entry]) -> None:
        self.url_count += len(records)
        extended = self._builder is None or self._builder.extended
        for record in records:
            moment = record.lastmod_at
            if moment is not None:
                if self.lastmod_min is None or moment < self.lastmod_min:
                    self.lastmod_min = moment
                if self.lastmod_max is None or moment > self.lastmod_max:
                    self.lastmod_max = moment
            if record.recovered:
                self._recovered = True
            if isinstance(record, ChildRecord):
                continue
            if extended and (numbers := objects_in(record)):
                self.counts.add(numbers)
