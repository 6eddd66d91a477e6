"""The files of a site on their way through the repair: those of a folder, and those that an audit has read."""

from __future__ import annotations

import errno
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from gzip import open as gzip_open
from http import HTTPStatus
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.crawl.local_files import Published, assumed_home, file_beside
from sitemapcrawler.download.body_cache import BodyStorage, DamagedBody, KeptBody
from sitemapcrawler.feeds.folder import CACHE
from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.repair.places import Placed
from sitemapcrawler.repair.streaming import FileRepair
from sitemapcrawler.repair.writing import GZIP, Spooled
from sitemapcrawler.replies.page.body import charset_of
from sitemapcrawler.rules import Severity, all_rules
from sitemapcrawler.rules.facts.given import GONE
from sitemapcrawler.urls.display import quoted
from sitemapcrawler.urls.grammar import folder_of

CHUNK_BYTES = 1 << 16
HEAD_BYTES = 16 * 1024
"""Bytes in which the root of a file is looked for."""
INDEX = re.compile(rb"<(?:[\w.-]+:)?sitemapindex[\s>]")
FETCH_FAILED, HTTP_STATUS = "doc-fetch-failed", "doc-http-status"
MISSING, IS_PAGE = UNLISTABLE = ("index-child-missing", "index-child-is-page")
"""Rules on files that no index may list."""
TRUNCATED = "doc-truncated"
"""Rule on files that the server may have sent in part, so that what an upload would replace has more entries."""
NO_FILE = "listed in the index, but there is no such file"
NO_BODY = "not in the cache of the audit, or not complete"
NAMED_BY = ("robots", "index", "argument")
"""How a sitemap was found that is no guess."""
OWN_FAULTS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR)
"""Errors of this machine, not of the file that is opened."""


class SourceError(Exception):
    """A file cannot be read. The message is one line."""


@dataclass(slots=True)
class Source:
    """One file to repair."""

    url: str
    """URL of the file, as records name it."""
    path: Path | None = None
    """Its content on this machine; None if it could not be read."""
    place: str | None = None
    """URL where a local file will live; None if unknown, and for files on the web."""
    target: str | None = None
    """URL by which a local file is placed in the set, or a path that begins with `/`, where it may only be assumed."""
    base: str | None = None
    """URL after redirects."""
    charset: str | None = None
    """Encoding by the Content-Type header."""
    error: str = ""
    """Why it could not be read."""
    rule: str = FETCH_FAILED
    """The rule that says so."""
    is_gone: bool = False
    """True if the server says that there is no such file."""
    unlistable: str = ""
    """The rule for which no index may list it; empty if it may."""

    @property
    def lives_at(self) -> str:
        """URL at which the set has the file. A redirect stays as it is, unless it leads to a program."""
        final = self.base if self.base is not None and "?" not in self.base else self.url
        return self.target or self.place or final

    @property
    def web_url(self) -> str | None:
        return next((url for url in (self.place, self.url) if url is not None and urls.is_web(url)), None)

    def is_index(self) -> bool:
        """True for a file that begins like an index."""
        if self.path is None:
            return False
        try:
            with self.path.open("rb") as file:
                is_compressed = file.peek(len(GZIP)).startswith(GZIP)
                with gzip_open(file) if is_compressed else nullcontext(file) as opened:
                    return INDEX.search(opened.read(HEAD_BYTES)) is not None
        except (EOFError, zlib.error):
            return False
        except OSError as error:  # also one of gzip, for a file that only begins so
            if error.errno in OWN_FAULTS:
                raise
            return False

    def chunks(self) -> Iterator[bytes]:
        """Yield the content. Raises SourceError if the file cannot be read."""
        assert self.path is not None
        try:
            with self.path.open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
        except OSError as error:
            if error.errno in OWN_FAULTS:
                raise
            raise SourceError(error.strerror or str(error)) from None


@dataclass(slots=True, eq=False)
class Member:
    """A file of the site, and what it becomes in the set."""

    source: Source
    repair: FileRepair | None = None
    """None for a file that could not be read."""
    spooled: Spooled | None = None
    """The entries that are left of it; None for an index and a copy, and where there is none."""
    is_copy: bool = False
    """True for a feed that is copied as it stands."""
    rows: list[Row] = field(default_factory=list)
    """What it lists, if it is an index."""
    placed: Placed | None = None
    """Where it goes; None if it is not written."""

    @property
    def is_index(self) -> bool:
        return self.repair is not None and format_named(self.repair.record.format).is_index

    @property
    def is_written(self) -> bool:
        return self.is_copy or (self.spooled is not None and bool(self.spooled.parts)) or bool(self.rows)

    @property
    def unlistable(self) -> str:
        """The rule for which no index may list the file; empty if it may."""
        if self.repair is None:
            return self.source.unlistable
        format = format_named(self.repair.record.format)
        if not format.is_sitemap:
            return IS_PAGE if format.name == "html" else "xml-root-unknown"
        return "" if self.is_written or self.repair.is_incomplete else self.emptied_by

    @property
    def emptied_by(self) -> str:
        """The rule on a file without entries."""
        return "index-empty" if self.is_index else "xml-empty-urlset"


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of an index that stays."""

    child: ChildRecord
    index: Source
    """The index that lists it."""
    member: Member | None
    """The file; None if it was not part of the run."""
    problem: str = ""
    """Rule of a problem that is not repaired; empty if there is none."""
    comments: str = ""
    """Comments in front of it, one a line."""

    @property
    def parts(self) -> int:
        """Number of files with what the file has."""
        spooled = self.member.spooled if self.member is not None else None
        return len(spooled.parts) or 1 if spooled is not None else 1


class LocalFiles:
    """The files of a folder, or one file with those beside it that it lists."""

    def __init__(self, files: Sequence[str], folder: str | None, base: str | None) -> None:
        """`files`: `file:` URLs; `folder`: the one that they are in, None for a single file; `base`: URL of the folder,
        with a slash at its end, or of the single file; None if unknown."""
        paths = [Path(urls.local_path(url) or "") for url in files]
        self._folder = Path(folder).resolve() if folder is not None else paths[0].absolute().parent
        self._home = base if base is None or base.endswith("/") else f"{urls.origin(base)}{folder_of(base)}"
        self._waiting: list[tuple[Source, Sequence[ChildRecord]]] = []
        """Indexes that were read while the URL of the folder was unknown, with what they list."""
        self.sources = [Source(url, path) for url, path in zip(files, paths, strict=True)]
        for source in self.sources:
            inside = self._inside(source)
            if base is not None:
                source.place = base + inside if base.endswith("/") else base
            source.target = source.place or f"/{inside}"

    def _inside(self, source: Source) -> str:
        """The path of a file in the folder, as part of a URL."""
        assert source.path is not None
        path = source.path.parent.resolve() / source.path.name
        return urls.file_url(f"/{os.path.relpath(path, self._folder.resolve())}").removeprefix("file:///")

    def children(self, index: Source, listed: Sequence[ChildRecord]) -> list[Source]:
        """The files that an index lists, and those of the indexes before it, if it tells where the folder will live."""
        self._waiting.append((index, listed))
        if self._home is None:
            self._home = assumed_home(str(self._folder), [one.loc for one in listed])
            for source in self.sources if self._home is not None else ():
                source.target = f"{self._home}{self._inside(source)}"
        if self._home is None:
            return []
        waiting, self._waiting = self._waiting, []
        return [child for one, its in waiting for child in self._listed(one, its, self._home)]

    def _listed(self, index: Source, listed: Sequence[ChildRecord], home: str) -> list[Source]:
        """The files that an index lists. Without any of them, it is repaired alone."""
        index.place = index.place or index.target
        published = Published(str(self._folder.resolve()), home)
        found, missing = [], []
        for one in listed:
            loc = urls.resolve(index.place or home, one.loc) or one.loc
            beside = file_beside(index.url, index.place, loc, published)
            if beside is not None:
                found.append(Source(beside, Path(urls.local_path(beside) or ""), place=loc, target=loc))
            else:
                missing.append(Source(loc, error=NO_FILE, rule=MISSING))
        return [*found, *missing] if found else []


def is_failed_guess(record: SitemapRecord) -> bool:
    """True for a guessed URL that is no sitemap."""
    return record.outcome in UNREAD and record.found_by not in NAMED_BY


class AuditedFiles:
    """The files of one audit."""

    def __init__(self, audit: Path, work: Path) -> None:
        """`audit`: folder of a job or a report; `work`: folder for their content. Raises ValueError, one line, for a
        cache that another user has written."""
        cache = audit / CACHE
        if cache.is_dir() and not os.access(cache, os.R_OK | os.X_OK):
            raise ValueError(f"{quoted(str(cache))}: cannot be read: Permission denied")
        self._cache = BodyStorage(cache)
        self._work = work

    def sources(self, records: Sequence[SitemapRecord]) -> list[Source]:
        """Return the files of these records in order, without guessed URLs that are no sitemap. Raises OSError for a
        full disk."""
        return [source for record in records if (source := self._source(record)) is not None]

    def _source(self, record: SitemapRecord) -> Source | None:
        """A file of the audit; None for a guess that is no sitemap."""
        path = urls.local_path(record.sitemap)
        if path is not None:
            is_there = Path(path).is_file()
            return Source(record.sitemap, Path(path) if is_there else None, error="" if is_there else "no such file")
        if is_failed_guess(record):
            return None
        if record.outcome in UNREAD or TRUNCATED in record.issues:
            errors = {rule.id for rule in all_rules() if rule.family == "doc" and rule.severity is Severity.ERROR}
            usual = HTTP_STATUS if record.status and record.status != HTTPStatus.OK else FETCH_FAILED
            found = (one for one in record.issues if one in errors)
            rule = TRUNCATED if TRUNCATED in record.issues else next(found, usual)
            unlistable = next((found for found in UNLISTABLE if found in record.issues), "")
            error, is_gone = record.error or record.outcome, record.status in GONE
            return Source(record.sitemap, error=error, rule=rule, is_gone=is_gone, unlistable=unlistable)
        final_url = record.final_url or record.sitemap
        kept = self._cache.named(final_url)
        body = self._copied(kept) if kept is not None else None
        if kept is None or body is None:
            return Source(record.sitemap, base=final_url, error=NO_BODY)
        charset = charset_of((kept.headers.get("Content-Type") or b"").decode("latin-1"))
        return Source(record.sitemap, body, base=final_url, charset=charset)

    def _copied(self, kept: KeptBody) -> Path | None:
        """Write a body to a file of its own; None if it is damaged."""
        path = self._work / f"body-{kept.path.name}"
        try:
            with path.open("wb") as file:
                file.writelines(kept.chunks())
        except DamagedBody:
            return None
        return path
