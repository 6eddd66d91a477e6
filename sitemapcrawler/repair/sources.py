"""The files of a site on their way through the repair."""

from __future__ import annotations

import errno
import re
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from gzip import open as gzip_open
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.repair.places import Placed
from sitemapcrawler.repair.streaming import FileRepair
from sitemapcrawler.repair.writing import GZIP, Spooled

CHUNK_BYTES = 1 << 16
HEAD_BYTES = 16 * 1024
"""Bytes in which the root of a file is looked for."""
INDEX = re.compile(rb"<(?:[\w.-]+:)?sitemapindex[\s>]")
UNREAD = "doc-fetch-failed"
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
    error: str = ""
    """Why it could not be read."""
    rule: str = UNREAD
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
            return "index-child-is-page" if format.name == "html" else "xml-root-unknown"
        return "" if self.is_written else self.emptied_by

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
        return len(spooled.parts) if spooled is not None else 1
