"""Reads one sitemap from Python, without a crawl: bytes in, records and findings out, as a stream.

A URL is downloaded first, in a process of its own (`commands/fetching.py`): nothing here imports Scrapy.
"""

from __future__ import annotations

import inspect
import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType, TracebackType
from typing import BinaryIO, Self

from sitemapcrawler import urls
from sitemapcrawler.api import child
from sitemapcrawler.items import FindingRecord, Hop, SitemapRecord, UrlEntry, UrlRecord
from sitemapcrawler.reader import ChildRecord, Document, Limits
from sitemapcrawler.reader.document import DEFAULT_LIMITS
from sitemapcrawler.reader.entries import ChildEntry
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.replies.page.body import charset_of
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import NONE, Choice, check_names
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import Of
from sitemapcrawler.urls.display import counted, inert, masked_url

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Iterable[bytes]
"""A path or URL, the content, a binary stream, or the content in pieces."""
FETCHING = "sitemapcrawler.commands.fetching"
"""Module that downloads a URL. It imports Scrapy, so a child process imports it."""
CONTENT = "content"
"""Name of the file with the content, in a temporary folder."""
CHUNK_BYTES = 1 << 16


def place_of(source: Source, url: str | None) -> str:
    """Return `url`, the `file:` URL of a path, or an empty text. Raises ValueError for an invalid URL or path."""
    if url is not None:
        if not urls.is_web(url) and urls.local_path(url) is None:
            raise ValueError(f"url={url!r} is not an absolute http, https or file URL")
        return url
    if not isinstance(source, (str, os.PathLike)):
        return ""
    path = os.fspath(source)
    if path.lstrip()[:1] == "<":
        raise ValueError("a text is a path: give the content of a sitemap as bytes")
    return urls.file_url(path)


def chunks_of(source: object) -> Iterator[bytes]:
    """Yield the content of any source but a path in chunks. Raises TypeError if it is not bytes, perhaps later."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _slices(memoryview(source).cast("B"))
    read = getattr(source, "read", None)
    if read is not None:
        return _reads(read)
    if isinstance(source, Iterable):
        return map(_binary, source)
    raise TypeError(f"a path, bytes, a binary stream or an iterable of bytes is needed, not {type(source).__name__}")


def _slices(data: memoryview) -> Iterator[bytes]:
    for start in range(0, len(data), CHUNK_BYTES):
        yield bytes(data[start : start + CHUNK_BYTES])


def _reads(read: Callable[[int], object]) -> Iterator[bytes]:
    while chunk := _binary(read(CHUNK_BYTES)):
        yield chunk


def _binary(chunk: object) -> bytes:
    if isinstance(chunk, (bytes, bytearray, memoryview)):
        return bytes(chunk)
    raise TypeError(f"bytes are needed, not {type(chunk).__name__}: open files with mode 'rb'")


class DownloadError(OSError):
    """A sitemap could not be downloaded. The message is one line: the URL, and why."""


@dataclass(frozen=True, slots=True)
class Download:
    """A downloaded file, with what its answer says of it."""

    folder: child.TemporaryFolder
    """Temporary folder with the content."""
    url: str
    status: int | None
    final_url: str
    """URL of the last answer."""
    hops: list[Hop]
    error: str | None
    """Why the content is incomplete."""
    content_encoding: str
    content_type: str | None
    etag: str | None
    last_modified: str | None

    @property
    def path(self) -> Path:
        """The content, as it came over the network."""
        return self.folder.path / CONTENT

    @classmethod
    def fetch(cls, url: str, settings: Mapping[str, object]) -> Self:
        """Download a URL that the user names. Raises DownloadError if there is no content, and ValueError for an
        invalid URL or setting."""
        folder = child.TemporaryFolder()
        try:
            return cls._fetch(url, settings, folder)
        except BaseException:
            folder.remove()
            raise

    @classmethod
    def _fetch(cls, url: str, settings: Mapping[str, object], folder: child.TemporaryFolder) -> Self:
        try:
            job = json.dumps({"url": url, "file": str(folder.path / CONTENT), "settings": dict(settings)})
        except TypeError as error:
            raise ValueError(f"settings: {error}; accepted: what JSON can hold") from None
        ended = child.run(FETCHING, (job,), folder.path)
        if ended.code == child.BAD_ARGUMENT:
            raise ValueError(ended.complaint)
        if ended.code:
            raise DownloadError(f"{inert(masked_url(url))}: {ended.complaint}")
        answer = json.loads(ended.output)
        answer["hops"] = [Hop(**hop) for hop in answer["hops"]]
        found = cls(folder, **answer)
        if found.status != HTTP_OK:
            why = found.error or f"HTTP status {found.status}"
            raise DownloadError(f"{inert(found.url)}: {inert(why)}")
        return found


HTTP_OK = 200
MET = {Of.CHILD, Of.FILE, Of.WHOLE, Of.FAULT}
"""What a single file shows, besides its entries."""
NEVER_SKIPPED = {Of.BASELINE, Of.REVISIT, Of.FAILURE, Of.ALLOWANCE, Of.GIVEN_UP, Of.UNLISTED}
"""What rules judge that are never reported as skipped: without a baseline or failure, they have nothing to check."""


class JudgedFile:
    """Applies the chosen rules to a file: to its entries as they are read, then to the file itself."""

    def __init__(self, file: FileFacts, choice: Choice, per_rule: int) -> None:
        """`per_rule`: maximum findings of one rule that become records. The choice `none` applies no rules."""
        self.findings: list[FindingRecord] = []
        """Findings on entries, in order, then those on the file."""
        self._unmet: Counter[str] = Counter()
        self._file = file
        self._choice = choice
        self._judge = Judge(choice, per_rule) if NONE not in choice.select else None

    @property
    def counts(self) -> Counter[str]:
        """All findings by rule, also those beyond `per_rule`."""
        return Counter() if self._judge is None else self._judge.counts

    @property
    def skipped(self) -> Counter[str]:
        """Rules that could not be checked."""
        return self._unmet if self._judge is None else self._unmet + self._judge.skipped

    def entries(self, entries: Sequence[UrlRecord | ChildRecord], notes: Notes) -> None:
        """Check entries in file order, whose findings go to the notes; those of an index are checked at its end."""
        if self._judge is None:
            return
        pages = []
        for entry in entries:
            if isinstance(entry, UrlRecord):
                pages.append(entry)
            else:
                self._file.list_child(entry)
        if pages:
            self._judge.urls(pages, self._file, notes)
            self.findings += notes.findings(pages)

    def conclude(self) -> list[FindingRecord]:
        """Check the file itself, once it is read and described. Returns the findings on it."""
        if self._judge is None:
            return []
        record = self._file.record
        self._file.indexes = int(format_named(record.format).is_index)
        found = self._judge.file(record, self._file) + self._judge.crawl({})
        self.findings += found
        for rule in filter(self._choice.chosen, self._choice.all_rules):
            if not rule.judges_entries and (MET | NEVER_SKIPPED).isdisjoint(rule.of):
                self._unmet[rule.id] += 1
        return found


FINDINGS_PER_RULE = 100
"""Default of SITEMAP_FINDINGS_PER_RULE: findings of one rule that become records. All are counted."""


def read_sitemap(
    source: Source,
    url: str | None = None,
    *,
    select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    findings_per_rule: int = FINDINGS_PER_RULE,
    at: datetime | None = None,
    settings: Mapping[str, object] | None = None,
) -> SitemapFile:
    r"""Read one sitemap: a urlset, an index, RSS, Atom or text, also as gzip, valid or broken.

    `source` is a path (`str` or path object), an http or https URL (`str`), the content (`bytes`), a binary stream,
    which is not closed, or an iterable of bytes, such as the chunks of a download. The source is streamed: memory does
    not grow with it, except for the hashes of up to 200,000 URLs, to find duplicates.

    A URL is downloaded in a child process, by the rules of a crawl: it obeys robots.txt, refuses private addresses
    unless the URL names one, follows redirects, retries, and stops at DOWNLOAD_MAXSIZE. `settings` changes settings of
    this download. The children of an index are not fetched.

    `url` is the file's URL on the web. Relative URLs are resolved against it, and rules on what a file may list from
    its location need it. The default is the URL of a download, the `file:` URL of a path, and no URL for other sources.
    `select` and `ignore` take rule ids and families (docs/rules.md), as a list or comma-separated text; `select="none"`
    applies no rules and is fastest. `at` is the moment, with a time zone, that dates are compared with (default: now).

    >>> data = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>/a#top</loc></url></urlset>"
    >>> sitemap = read_sitemap(data, url="https://example.com/sitemap.xml", select="loc")
    >>> for entry in sitemap:
    ...     print(entry.loc, entry.lastmod_at)  # a datetime in UTC, or None
    https://example.com/a#top None
    >>> sitemap.sitemap.format, sitemap.sitemap.outcome
    ('xml-urlset', 'ok')
    >>> for finding in sitemap.findings:
    ...     print(finding.severity, finding.rule, finding.line)
    error loc-relative 1
    warning loc-fragment 1

    Raises OSError if a file cannot be opened (FileNotFoundError, IsADirectoryError...), DownloadError, an OSError, if a
    URL does not answer with content, ValueError for an invalid URL or setting or an unknown rule, and TypeError for an
    argument of another type. Content never raises: its problems are findings, as is a download that breaks off.
    Exceptions of a stream propagate.
    """
    _check("limits", limits, Limits)
    _check("findings_per_rule", findings_per_rule, int)
    _check("at", at, datetime, NoneType)
    _check("settings", settings, Mapping, NoneType)
    choice = Choice(all_rules(), _names(select), _names(ignore))
    is_remote = isinstance(source, str) and urls.is_web(source)
    if settings is not None and not is_remote:
        raise ValueError("settings are for a download; accepted: none, or a URL as source")
    place = None if is_remote and url is None else place_of(source, url)
    download = Download.fetch(source, settings or {}) if isinstance(source, str) and is_remote else None
    if download is not None:
        source, place = download.path, place or download.url
    return SitemapFile(source, place or "", choice, limits, findings_per_rule, at or datetime.now(UTC), download)


def _check(name: str, value: object, *types: type) -> None:
    """Raise TypeError if an argument has none of the types."""
    if not isinstance(value, types):
        accepted = " or ".join("None" if one is NoneType else one.__name__ for one in types)
        raise TypeError(f"{name}={value!r}: accepted: {accepted}")


class SitemapFile:
    """A sitemap that is read while you iterate over it, once.

    Yields its entries in file order: `UrlEntry`s, or the `ChildEntry`s of an index.
    `sitemap`, `findings`, `counts` and `skipped` are known once the file is read. Accessed before iteration, they read
    the whole file; during iteration, they raise RuntimeError. To stop early, call `close()` or use a `with` statement.
    """

    def __init__(
        self,
        source: Source,
        url: str,
        choice: Choice,
        limits: Limits,
        findings_per_rule: int,
        at: datetime,
        download: Download | None = None,
    ) -> None:
        base, cut = (None, None) if download is None else (download.final_url, download.error)
        keeps, charset = NONE not in choice.select, None if download is None else charset_of(download.content_type)
        self._document = Document(url, base, limits, cut, keep_elements=keeps, charset=charset)
        self._record = SitemapRecord(url)
        facts = FileFacts(url, self._record, self._document, fetched_at=at)
        self._download = download
        if download is not None:
            facts.content_type, facts.content_encoding = download.content_type, download.content_encoding
            self._record.status, self._record.hops = download.status, download.hops
            self._record.final_url = download.final_url if download.hops else None
            self._record.etag, self._record.last_modified = download.etag, download.last_modified
        self._judged = JudgedFile(facts, choice, findings_per_rule)
        self._concluded = False
        self._found: list[FindingRecord] = []
        self._opened = Path(source).open("rb") if isinstance(source, (str, os.PathLike)) else None  # noqa: SIM115 - closed by close()
        self._chunks = chunks_of(self._opened if self._opened is not None else source)
        self._entries = self._read()

    def __iter__(self) -> Iterator[UrlEntry | ChildEntry]:
        """Return an iterator over the remaining entries."""
        return self._entries

    def __repr__(self) -> str:
        """The URL and, once the file is read, what it is: `<SitemapFile https://e.com/sitemap.xml: xml-urlset, ok, 3
        entries>`."""
        name, state = inert(masked_url(self._record.sitemap)) or "without a URL", "not read yet"
        if self._concluded:
            entries = counted(self._record.url_count, "entry", "entries")
            state = f"{self._record.format}, {self._record.outcome}, {entries}"
        return f"<SitemapFile {name}: {state}>"

    def records(self) -> Iterator[UrlEntry | ChildEntry | FindingRecord | SitemapRecord]:
        """Yield all records in feed order: each entry and its findings, then the sitemap and its findings."""
        for entry in self._entries:
            yield entry
            if isinstance(entry, UrlRecord):
                yield from self._document.notes.findings([entry])
        yield self.sitemap
        yield from self._found

    @property
    def sitemap(self) -> SitemapRecord:
        """Record of the file: format, outcome, counts, dates..."""
        self._conclude()
        return self._record

    @property
    def findings(self) -> list[FindingRecord]:
        """Findings on the entries, in order, then on the file; at most `findings_per_rule` per rule."""
        self._conclude()
        return self._judged.findings

    @property
    def counts(self) -> Counter[str]:
        """All findings by rule, also those beyond `findings_per_rule`."""
        self._conclude()
        return self._judged.counts

    @property
    def skipped(self) -> Counter[str]:
        """Rules that were not checked because they need more than was read: robots.txt, replies, the whole site, or the
        rest of the file."""
        self._conclude()
        return self._judged.skipped

    def close(self) -> None:
        """Stop reading, and close the file if `read_sitemap` opened it.

        If the file was not read to its end, `sitemap.outcome` is `truncated`, or `failed` if no entry was read.
        """
        if inspect.getgeneratorstate(self._entries) != inspect.GEN_CLOSED:
            self._document.cut_short("the reading was ended")
            self._entries.close()
        self._close_source()

    def _close_source(self) -> None:
        if self._opened is not None:
            self._opened.close()
        if self._download is not None:
            self._download.folder.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        opened = getattr(self, "_opened", None)  # unset if opening failed
        if opened is not None:
            opened.close()

    def _read(self) -> Generator[UrlEntry | ChildEntry]:
        try:
            for entries in self._document.read(self._counted()):
                self._judged.entries(entries, self._document.notes)
                for entry in entries:
                    yield UrlEntry.convert(entry) if isinstance(entry, UrlRecord) else ChildEntry.convert(entry)
        except Exception as error:
            self._document.cut_short(f"the source failed: {error}")
            raise
        finally:
            self._close_source()

    def _counted(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._record.bytes_fetched += len(chunk)
            yield chunk

    def _conclude(self) -> None:
        """Check the file; read it first if iteration has not begun. Raises RuntimeError during iteration."""
        state = inspect.getgeneratorstate(self._entries)
        if state == inspect.GEN_CREATED:
            for _ in self._entries:
                pass
        elif state != inspect.GEN_CLOSED:
            raise RuntimeError("the sitemap is still being read: read it to its end, or close() it")
        if not self._concluded:
            self._concluded = True
            self._document.describe(self._record)
            self._found = self._judged.conclude()


def _names(chosen: str | Iterable[str]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (chosen.split(",") if isinstance(chosen, str) else chosen) if name.strip())
    check_names(names, all_rules())
    return names
