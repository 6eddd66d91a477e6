"""Collects response bodies while they arrive, and keeps what came however the download ends.

Scrapy drops a body that a timeout, a size limit or a broken connection cuts short, and keeps a whole one in memory.
A request that carries a `Body` in its meta gets neither: its bytes go into a spooled temporary file, chunk by chunk.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response

from sitemapcrawler.replies.page import SAMPLE, HeadReader, PageFacts, is_html, page_of
from sitemapcrawler.replies.page import Headers as PlainHeaders

BODY_KEY = "sitemap_body"
"""Key in `Request.meta` of what hears of the answer while it arrives: a `Body`, or a `heads.PageHead`."""
SPOOL_BYTES = 1 << 20  # bytes in memory before a body moves to disk; most sitemaps are smaller than 1 MiB
CHUNK_BYTES = 1 << 16  # bytes read at a time; what Twisted hands over at once (abstract.FileDescriptor.bufferSize)
DIGEST_BYTES = 16  # bytes of the BLAKE2b digest: told apart among any number of sitemaps


class Body:
    """The body of the last answer to one request, redirects and retries included."""

    def __init__(self, limit: int = 0) -> None:
        """`limit`: bytes that are kept at most, 0 for all; in a crawl the setting DOWNLOAD_MAXSIZE."""
        self.limit = limit
        self.stopped = False
        """Set this to have the download end with the next chunk."""
        self.url: str | None = None
        """URL that gave the answer; None where no answer came through our download handler."""
        self.status: int | None = None
        """HTTP status of the answer; None as for `url`."""
        self.headers: Headers | None = None
        """Headers of the answer; None before the first one."""
        self.began_at: datetime | None = None
        """When the answer began, in UTC; None before the first one."""
        self._file: IO[bytes] | None = None
        self._empty()

    def _empty(self) -> None:
        self.close()
        self.size = 0
        """Bytes kept."""
        self.given = 0
        """Bytes that the last reader has taken so far."""
        self.overflowed = False
        """Whether there was more than `limit` bytes."""
        self.error: OSError | None = None
        """Why the temporary file could take no more (disk full); what came before is kept."""
        self._hash: blake2b | None = blake2b(digest_size=DIGEST_BYTES)

    def meta(self) -> dict[str, Any]:
        """The request meta that collecting needs: Scrapy's own limits and its cache would lose the body."""
        return {
            BODY_KEY: self,
            "download_maxsize": 0,
            "download_warnsize": 0,
            "download_fail_on_dataloss": False,
            "dont_cache": True,
        }

    def restart(self, headers: Headers | None = None) -> None:
        """Another answer begins (after a redirect or a retry): drop what was collected."""
        self.headers = headers
        self.began_at = datetime.now(UTC)
        self._empty()

    def begin(self, headers: Headers, length: object) -> bool:
        """An answer begins, as `BodyCollector` tells; it is wanted in any case."""
        self.restart(headers)
        return False

    def receive(self, data: bytes) -> bool:
        """Keep a part of it; True where no more is wanted."""
        self.write(data)
        return self.overflowed or self.stopped or self.error is not None

    def write(self, data: bytes) -> None:
        """Keep `data`, up to `limit`. A write error is kept in `error`, and the body ends before it."""
        if self.error is not None or not data:
            return
        kept = data[: self.limit - self.size] if self.limit else data
        self.overflowed = self.overflowed or len(kept) < len(data)
        try:
            self._append(kept)
        except OSError as error:
            self.error = error
        except (MemoryError, ValueError):  # what was moving to disk just then is gone
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
        """Take the body from an open regular file instead, in place and up to `limit`. The body closes it."""
        self.restart()
        self._file, self._hash = file, None
        length = os.fstat(file.fileno()).st_size
        self.size = min(length, self.limit or length)
        self.overflowed = self.size < length

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """What was kept, from its beginning, `size` bytes at a time. Several readers may take turns."""
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
        """BLAKE2b digest of what was kept, `DIGEST_BYTES` long. An attached file is read for it."""
        if self._hash is not None:
            return self._hash.digest()
        whole = blake2b(digest_size=DIGEST_BYTES)
        for chunk in self.chunks():
            whole.update(chunk)
        return whole.digest()

    def close(self) -> None:
        """Free the temporary file; the counts stay."""
        if self._file is not None:
            self._file.close()
            self._file = None


class BodyCollector:
    """Scrapy extension that tells each answer, while it arrives, to the `Body` or `PageHead` of its request."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the signals of the download handlers."""
        collector = cls()
        crawler.signals.connect(collector.headers_received, signal=signals.headers_received)
        crawler.signals.connect(collector.bytes_received, signal=signals.bytes_received)
        return collector

    def headers_received(self, headers: Headers, body_length: object, request: Request) -> None:
        """An answer begins, a redirect or an error as well. StopDownload where nothing of it is needed."""
        reader = request.meta.get(BODY_KEY)
        if reader is not None and reader.begin(headers, body_length):
            raise StopDownload(fail=False)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """A part of the body. StopDownload, with the response as it is, where no more is wanted."""
        reader = request.meta.get(BODY_KEY)
        if reader is not None and reader.receive(data):
            raise StopDownload(fail=False)


DRAIN_BYTES = 64 * 1024
"""Bytes of a body that are fetched although nobody reads them: less than a new connection costs."""


class PageHead:
    """The part of the body that is needed of the answer to one request."""

    def __init__(self, wanted: bool) -> None:
        """`wanted`: False where the status is all that counts."""
        self._wanted = wanted
        self._reader: HeadReader | None = None
        self._left: int | None = None
        self._heard = False

    def meta(self) -> dict[str, Any]:
        """The request meta that reading in part needs: Scrapy's own limits would lose what came."""
        limits = {"download_maxsize": 0, "download_warnsize": 0, "download_fail_on_dataloss": False}
        # A cached answer without its body would pass as the page, when the page is asked for.
        return {BODY_KEY: self, **limits, **({} if self._wanted else {"dont_cache": True})}

    def begin(self, headers: Headers, length: object) -> bool:
        """An answer begins, after a retry again, with a body of `length` bytes where that is a number; True where
        none of it is needed."""
        self._heard = True
        self._left = length if isinstance(length, int) else None
        self._reader = self._new_reader(headers)
        return self._reader is None and self._is_much()

    def receive(self, data: bytes) -> bool:
        """Hear of a part of the body; True where the rest is not needed."""
        if self._left is not None:
            self._left -= len(data)
        needed = self._reader is not None and not self._reader.enough and not self._reader.feed(data)
        return not needed and self._is_much()

    def facts(self, response: Response, headers: PlainHeaders, whole: bool) -> PageFacts | None:
        """What the page says of itself; None where that was not wanted. `headers`: those of the response that
        `page_of` looks at; `whole`: False where the body was cut short by something else than a reader that had
        enough."""
        if not self._wanted:
            return None
        if not self._heard:  # an answer from the cache
            self._reader = self._new_reader(response.headers)
            if self._reader is not None:
                self._reader.feed(response.body)
        head = None if self._reader is None else self._reader.close(whole)
        return page_of(head, headers, response.url)

    def _new_reader(self, headers: Headers) -> HeadReader | None:
        kind, encoding = (_text(headers.get(name)) for name in ("Content-Type", "Content-Encoding"))
        return HeadReader(kind, encoding, SAMPLE) if self._wanted and is_html(kind) else None

    def _is_much(self) -> bool:
        return self._left is None or self._left > DRAIN_BYTES


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
