"""The bodies of sitemaps and robots.txt that a crawl has read, kept on disk.

`fix` reads them, so that it repairs what the audit has judged and makes no request. A later crawl of the same job or
folder asks the server whether they have changed.

Each body is a file: one line of JSON, then the content as gzip, whose checksum tells a damaged one. A file gets its
name when it is whole.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from gzip import BadGzipFile, GzipFile
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Headers

from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.shared import OfCrawler
from sitemapcrawler.urls import as_sent

logger = logging.getLogger(__name__)

LIMIT_BYTES = 2 << 30
"""Bytes of a cache in all, as on disk: some 40 GB of sitemaps. Bodies beyond it are not kept."""
KEPT_KEY = "sitemap_kept"
"""Key in `Request.meta` of requests whose bodies are kept."""
VALIDATORS = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
"""{request header: header of the earlier response that it repeats}. Source: RFC 9110, 13.1"""
HEADERS = ("Age", "Cache-Control", "Content-Encoding", "Content-Type", "Date", "ETag", "Expires", "Last-Modified")
"""Headers that are kept: what a policy and the readers need. Others may identify the user."""
PART = ".part"
"""Suffix of a file that is being written."""
GZIP = b"\x1f\x8b"
LEVEL, LEVEL_OF_GZIP = 1, 0
"""Levels of compression: the fastest, with which sitemaps shrink to a tenth; and none for what is gzip already."""
DIGEST_BYTES = 16
"""Bytes of a name: collisions do not occur in practice."""
COPY_BYTES = 1 << 16
MAX_LINE = 1 << 16
"""Bytes of the line before a body; Twisted limits all headers of a response to 16 KiB."""


class DamagedBody(OSError):
    """A body cannot be decompressed."""


@dataclass(frozen=True, slots=True)
class KeptBody:
    """A body in a cache."""

    path: Path
    url: str
    headers: Headers

    @classmethod
    def read(cls, path: Path) -> KeptBody | None:
        """Read what stands before a body; None if the file is missing or damaged. Raises OSError."""
        try:
            with path.open("rb") as file:
                found = json.loads(file.readline(MAX_LINE))
            headers = Headers({name: found["headers"][name] for name in HEADERS if name in found["headers"]})
            return cls(path, str(found["url"]), headers)
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def chunks(self) -> Iterator[bytes]:
        """Yield the content, as it came over the network. Raises DamagedBody or another OSError."""
        with self.path.open("rb") as file:
            file.readline(MAX_LINE)
            if not file.peek(1):  # GzipFile takes nothing for an empty content
                raise DamagedBody("cut off")
            try:
                with GzipFile(fileobj=file) as content:
                    while chunk := content.read(COPY_BYTES):
                        yield chunk
            except (EOFError, zlib.error, BadGzipFile) as error:
                raise DamagedBody(str(error)) from None

    def is_whole(self) -> bool:
        """False if the content cannot be read to its end."""
        try:
            for _ in self.chunks():
                pass
        except OSError:
            return False
        return True

    def validates(self, request: Request) -> bool:
        """True if a request asks for changes since this body, or for none."""
        return all(request.headers.get(name) in (None, self.headers.get(own)) for name, own in VALIDATORS.items())


class BodyStorage:
    """A folder with bodies, one for each URL."""

    def __init__(self, place: Path, earlier: Sequence[Path] = (), reads_only: bool = False) -> None:
        """`place`: folder to read and write; `earlier`: folders to read, in this order; `reads_only`: True to write
        nothing."""
        self.place = place
        self._earlier = earlier
        self._used: int | None = None
        self._reads_only = reads_only
        self._is_lost = False

    def find(self, request: Request) -> KeptBody | None:
        """Return the body that a request may be answered with, if the server agrees."""
        for folder in (self.place, *self._earlier):
            with suppress(OSError):
                kept = KeptBody.read(folder / name_of(request.url))
                if kept and kept.validates(request):
                    return kept
        return None

    def named(self, url: str) -> KeptBody | None:
        """Return the body of a URL."""
        try:
            return KeptBody.read(self.place / name_of(Request(as_sent(url)).url))
        except (OSError, ValueError):
            return None

    def store(self, request: Request, headers: Headers, body: Body) -> None:
        """Keep a body in place of an earlier one of its URL. An error costs the body only, and is logged once."""
        self._write(request.url, headers, body.chunks())

    def keep(self, kept: KeptBody) -> None:
        """Keep a body that has not changed. One of an earlier crawl is copied, unless it is damaged."""
        if kept.path.parent != self.place:
            self._write(kept.url, kept.headers, kept.chunks())

    def discard(self, url: str) -> None:
        """Remove the body of a URL whose last response is not kept."""
        if self._reads_only:
            return
        path = self.place / name_of(url)
        with suppress(OSError):
            size = path.stat().st_size
            path.unlink()
            self._used = self._used - size if self._used is not None else None

    def copy_to(self, folder: Path) -> None:
        """Copy all bodies to another folder, if there are any. Raises OSError."""
        if self.place.is_dir():
            shutil.copytree(self.place, folder, copy_function=_link, ignore=shutil.ignore_patterns(f"*{PART}"))

    def _write(self, url: str, headers: Headers, chunks: Iterator[bytes]) -> None:
        self.discard(url)
        if self._is_lost or self._reads_only:
            return
        try:
            used = self.open()
            size = self._written(url, headers, chunks, LIMIT_BYTES - used)
        except DamagedBody:
            return
        except OSError as error:
            self._is_lost = True
            logger.warning("bodies of sitemaps are not kept in %s: %s", self.place, error.strerror or error)
            return
        self._used = used + size

    def _written(self, url: str, headers: Headers, chunks: Iterator[bytes], limit: int) -> int:
        """Write a file, and return its size; 0 if it is larger than `limit`, after which it is not kept."""
        first = next(chunks, b"")
        about = {
            "url": url,
            "headers": {name: value.decode("latin-1") for name in HEADERS if (value := headers.get(name))},
        }
        line = json.dumps(about).encode() + b"\n"
        path = self.place / name_of(url)
        with NamedTemporaryFile(dir=self.place, suffix=PART, delete=False) as file:  # mode 0600
            part = Path(file.name)
            try:
                file.write(line)
                is_whole = _pack(file, first, chunks, limit)
                file.flush()
                if is_whole and len(line) < MAX_LINE:
                    part.replace(path)
                    return file.tell()
            finally:
                part.unlink(missing_ok=True)
        return 0

    def open(self) -> int:
        """Create the folder, or clear up what a killed crawl left in it; returns the bytes in it. Raises OSError."""
        if self._used is None:
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.place.chmod(0o700)
            for left in self.place.glob(f"*{PART}"):
                left.unlink(missing_ok=True)
            self._used = sum(entry.stat().st_size for entry in os.scandir(self.place))
        return self._used


class BodyCache(OfCrawler):
    """Where a crawl keeps the bodies of its sitemaps."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.place: Path | None = None
        """Folder of the cache; None if nothing is kept: the crawl has neither a job nor a report."""
        self.earlier: list[Path] = []
        """Caches of earlier crawls, which are only read."""

    @cached_property
    def storage(self) -> BodyStorage | None:
        """The cache, from the first request on; None if the crawl neither reads nor writes one."""
        if self.place is None:
            return BodyStorage(self.earlier[0], self.earlier[1:], reads_only=True) if self.earlier else None
        storage = BodyStorage(self.place, self.earlier)
        with suppress(OSError):  # as soon as a body is stored, it says so
            storage.open()
        return storage


def name_of(url: str) -> str:
    """Name of the file for the body of a URL."""
    return blake2b(url.encode(), digest_size=DIGEST_BYTES).hexdigest()


def _pack(file: IO[bytes], first: bytes, chunks: Iterator[bytes], limit: int) -> bool:
    """Write all chunks. Returns False once the file has more than `limit` bytes."""
    level = LEVEL_OF_GZIP if first.startswith(GZIP) else LEVEL
    with GzipFile(fileobj=file, mode="wb", compresslevel=level, mtime=0) as packed:
        for chunk in chain([first], chunks):
            packed.write(chunk)
            if file.tell() > limit:
                return False
    return file.tell() <= limit


def _link(source: str, target: str) -> None:
    """Link a file, or copy it to another file system. Bodies are replaced, never changed."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
