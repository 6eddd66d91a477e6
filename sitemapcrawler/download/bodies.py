"""Collects response bodies as they arrive, and keeps the received part however the download ends.

Scrapy discards bodies cut short by a timeout, a size limit or a broken connection, and keeps others in memory. With a
`Body` in the request meta, the bytes go into a spooled temporary file instead.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from tempfile import SpooledTemporaryFile
from typing import IO, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response

from sitemapcrawler.replies.page import Headers as PlainHeaders
from sitemapcrawler.replies.page import PageFacts, PageReader, is_html, joined, page_of

BODY_KEY = "sitemap_body"
"""Key in `Request.meta` of the object that receives the body: a `Body` or a `PageBody`."""
SPOOL_BYTES = 1 << 20  # bytes in memory before a body moves to disk; most sitemaps are smaller
CHUNK_BYTES = 1 << 16  # read size in bytes, as Twisted delivers them (abstract.FileDescriptor.bufferSize)
DIGEST_BYTES = 16  # length of the BLAKE2b digest: collisions do not occur in practice


class Body:
    """Body of the last response to one request, redirects and retries included."""

    def __init__(self, limit: int = 0) -> None:
        """`limit`: maximum bytes to keep, 0 for all; a crawl passes DOWNLOAD_MAXSIZE."""
        self.limit = limit
        self.status: int | None = None
        """HTTP status of the response; None without a response from our download handler."""
        self.headers: Headers | None = None
        """Headers of the response; None before the first one."""
        self.began_at: datetime | None = None
        """Start of the response in UTC; None before the first one."""
        self._file: IO[bytes] | None = None
        self._empty()

    def _empty(self) -> None:
        self.close()
        self.size = 0
        self.given = 0
        """Bytes that the current reader has consumed."""
        self.overflowed = False
        """True if the body exceeds `limit`."""
        self.error: OSError | None = None
        """Error of the temporary file, such as a full disk; bytes before it are kept."""
        self._hash: blake2b | None = blake2b(digest_size=DIGEST_BYTES)

    def meta(self) -> dict[str, object]:
        """Request meta for collecting: disables Scrapy's own limits, and caches but ours, which would lose the body."""
        return {
            BODY_KEY: self,
            "download_maxsize": 0,
            "download_warnsize": 0,
            "download_fail_on_dataloss": False,
            "dont_cache": True,
        }

    def restart(self, headers: Headers | None = None) -> None:
        """Discard the collected bytes and start a new response, after a redirect or retry."""
        self.headers = headers
        self.began_at = datetime.now(UTC)
        self._empty()

    def fill(self, response: Response, chunks: Iterable[bytes]) -> None:
        """Start a response from a cache, with this content."""
        self.restart(response.headers)
        self.status = response.status
        for chunk in chunks:
            if self.receive(chunk):
                break

    def begin(self, headers: Headers, length: object) -> bool:
        """Start a response on behalf of `BodyCollector`. Returns False: the body is always needed."""
        self.restart(headers)
        return False

    def receive(self, data: bytes) -> bool:
        """Keep a chunk. Returns True if no more is needed."""
        self.write(data)
        return self.overflowed or self.error is not None

    def write(self, data: bytes) -> None:
        """Keep `data`, up to `limit`. Stores a write error in `error` and ignores all further data."""
        if self.error is not None or not data:
            return
        kept = data[: self.limit - self.size] if self.limit else data
        self.overflowed = self.overflowed or len(kept) < len(data)
        try:
            self._append(kept)
        except OSError as error:
            self.error = error
        except (MemoryError, ValueError):  # the bytes that were moving to disk are lost
            self._empty()
            self.error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    def _append(self, data: bytes) -> None:
        if self._file is None:
            self._file = SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115 - closed by close()
        self._file.seek(self.size)
        self._file.write(data)
        self.size += len(data)
        if self._hash is not None:
            self._hash.update(data)

    def attach(self, file: IO[bytes]) -> None:
        """Use an open regular file as the body, in place and up to `limit`. `close` closes it."""
        self.restart()
        self._file, self._hash = file, None
        length = os.fstat(file.fileno()).st_size
        self.size = min(length, self.limit or length)
        self.overflowed = self.size < length

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Yield the kept bytes from the start, `size` at a time. Several readers may take turns."""
        offset = self.given = 0
        while self._file is not None and offset < self.size:
            self._file.seek(offset)
            chunk = self._file.read(min(size, self.size - offset))
            if not chunk:
                return
            offset += len(chunk)
            self.given = offset
            yield chunk

    def digest(self) -> bytes:
        """BLAKE2b digest of the kept bytes, `DIGEST_BYTES` long. Reads an attached file."""
        if self._hash is not None:
            return self._hash.digest()
        whole = blake2b(digest_size=DIGEST_BYTES)
        for chunk in self.chunks():
            whole.update(chunk)
        return whole.digest()

    def close(self) -> None:
        """Delete the temporary file; the counts stay."""
        if self._file is not None:
            self._file.close()
            self._file = None


class BodyCollector:
    """Scrapy extension that passes each response, as it arrives, to the `Body` or `PageBody` of its request."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the signals of download handlers."""
        collector = cls()
        crawler.signals.connect(collector.headers_received, signal=signals.headers_received)
        crawler.signals.connect(collector.bytes_received, signal=signals.bytes_received)
        return collector

    def headers_received(self, headers: Headers, body_length: object, request: Request) -> None:
        """Start a response, including redirects and errors. Raises StopDownload if its body is not needed."""
        reader = request.meta.get(BODY_KEY)
        if reader is not None and reader.begin(headers, body_length):
            raise StopDownload(fail=False)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Pass on a chunk. Raises StopDownload, keeping the response, if no more is needed."""
        reader = request.meta.get(BODY_KEY)
        if reader is not None and reader.receive(data):
            raise StopDownload(fail=False)


DRAIN_BYTES = 64 * 1024
"""Unneeded bytes of a body that are still downloaded: cheaper than a new connection."""


class PageBody:
    """Collects a response body that is a page, and no other."""

    def __init__(self, wanted: bool, links: bool = False) -> None:
        """`wanted`: False if only the status matters. `links`: True to read the links of the page too."""
        self._wanted = wanted
        self._reads_links = links
        self._reader: PageReader | None = None
        self._left: int | None = None
        self._heard = False

    def meta(self) -> dict[str, object]:
        """Request meta for partial reading: disables Scrapy's own limits, which would lose the received part."""
        limits = {"download_maxsize": 0, "download_warnsize": 0, "download_fail_on_dataloss": False}
        # A response cached without its body would later pass as the page.
        return {BODY_KEY: self, **limits, **({} if self._wanted else {"dont_cache": True})}

    def begin(self, headers: Headers, length: object) -> bool:
        """Start a response; `length`: size of its body, or another type if unknown. Returns True to skip the body."""
        self._heard = True
        self._left = length if isinstance(length, int) else None
        self._reader = self._new_reader(headers)
        return self._reader is None and self._is_much()

    def receive(self, data: bytes) -> bool:
        """Read a chunk. Returns True if the rest is not needed."""
        if self._left is not None:
            self._left -= len(data)
        needed = self._reader is not None and not self._reader.enough and not self._reader.feed(data)
        return not needed and self._is_much()

    def facts(self, response: Response, headers: PlainHeaders, whole: bool) -> PageFacts | None:
        """Facts from the page; None if not wanted.

        `headers`: response headers for `page_of`; `whole`: False if the body was cut short other than by us.
        """
        if not self._wanted:
            return None
        if not self._heard:  # a cached response
            self._reader = self._new_reader(response.headers)
            if self._reader is not None:
                self._reader.feed(response.body)
        html = None if self._reader is None else self._reader.close(whole)
        return page_of(html, headers, response.url, self._reads_links)

    def _new_reader(self, headers: Headers) -> PageReader | None:
        kind, encoding = (_text(headers.getlist(name)) for name in ("Content-Type", "Content-Encoding"))
        return PageReader(kind, encoding) if self._wanted and is_html(kind) else None

    def _is_much(self) -> bool:
        return self._left is None or self._left > DRAIN_BYTES


def _text(values: Sequence[bytes]) -> str | None:
    return joined([value.decode("latin-1") for value in values])
