"""The private names of Scrapy and Twisted that this package uses, where there is no public way.

`tests/unit/download/test_private.py` compares them with the installed versions, and refuses them in other modules.
"""

from __future__ import annotations

import re
from collections.abc import Sized
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _ResponseReader,
)
from twisted.web._newclient import HEADER, HTTPClientParser
from twisted.web.client import HTTPConnectionPool

from sitemapcrawler.download.resolver import TwistedObject
from sitemapcrawler.replies.kinds import cause_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.commands import BaseRunSpiderCommand
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from typing_extensions import Buffer

FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:")
"""Start of a header field: a token and a colon. Blanks between them are removed. Source: RFC 9112, 5"""
MAX_HEAD = 256 * 2**10
"""Bytes of the status line and headers of one response, interim ones (103) included; the limit of Chrome."""


def equip(
    handler: HTTP11DownloadHandler,
    pool: HTTPConnectionPool,
    policy: Callable[[TwistedObject], TwistedObject],
) -> None:
    """Make a handler use an empty pool, with its limit per host and with `LimitedParser`, and another TLS policy.
    `policy` is given that of the handler."""
    pool.maxPersistentPerHost = handler._pool.maxPersistentPerHost
    pool._factory = LimitedFactory
    handler._pool = pool
    handler._contextFactory = policy(handler._contextFactory)


class HeadTooLong(Exception):
    """A response has more than `MAX_HEAD` bytes of headers. Not retried: the next one has as many."""

    def __init__(self) -> None:
        super().__init__(f"more than {MAX_HEAD:,} bytes of response headers")


class LimitedParser(HTTPClientParser):
    """Reads a response with at most `MAX_HEAD` bytes of headers, and raises HeadTooLong beyond. Twisted's own parser
    closes the connection at a line of more than 16 KiB, without a reason. Skips lines that are no header fields, as
    browsers do; Twisted fails, and Scrapy skips only those without a colon."""

    MAX_LENGTH = MAX_HEAD
    """Bytes that the next line may have."""
    is_skipping = False
    """True after a line that was skipped, so that its continuations are skipped too."""

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        self.MAX_LENGTH -= len(line) + len(self.delimiter)
        if self.state != HEADER or self.is_usable(line.rstrip(b"\r")):
            super().lineReceived(line)  # type: ignore[no-untyped-call]  # Twisted has no types for it

    def headerReceived(self, name: bytes, value: bytes) -> None:  # noqa: N802 - Twisted's name
        super().headerReceived(name.rstrip(), value)  # type: ignore[no-untyped-call]  # as above

    def is_usable(self, line: bytes) -> bool:
        """True for a header field, the continuation of one, and the empty line after the last."""
        if line.startswith((b" ", b"\t")):
            return self._partialHeader is not None and not self.is_skipping
        self.is_skipping = line != b"" and FIELD.match(line) is None
        return not self.is_skipping

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        raise HeadTooLong


class LimitedProtocol(_LenientHTTP11ClientProtocol):
    """Connection whose responses `LimitedParser` reads. HeadTooLong aborts it."""

    def request(self, request: TwistedObject) -> TwistedObject:
        """Send a request; returns a Deferred of the response."""
        answered = super().request(request)
        self._parser.__class__ = LimitedParser
        return answered.addErrback(self.abort_if_too_long)

    def abort_if_too_long(self, failure: TwistedObject) -> TwistedObject:
        """Pass the failure on."""
        if isinstance(cause_of(failure.value), HeadTooLong):
            transport: TwistedObject = self.transport
            transport.abortConnection()
        return failure


class LimitedFactory(_LenientHTTP11ClientFactory):
    """Makes connections with `LimitedProtocol`."""

    def buildProtocol(self, addr: object) -> LimitedProtocol:  # noqa: N802 - Twisted's name
        return LimitedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]  # as above


class Discarding(BytesIO):
    """Buffer that discards what is written."""

    def write(self, data: Buffer) -> int:
        return memoryview(data).nbytes


def keep_no_body(reader: _ResponseReader) -> None:
    """Make the reader of a response pass its body to signals alone. By default, Scrapy keeps it in memory as well."""
    reader._bodybuf = Discarding()


def queued(engine: ExecutionEngine, unknown: int) -> int:
    """Number of requests in the scheduler. `unknown`: returned for a scheduler without a length that is not empty."""
    scheduler = engine._slot.scheduler if engine._slot is not None else None
    if isinstance(scheduler, Sized):
        return len(scheduler)
    return unknown if scheduler is not None and scheduler.has_pending_requests() else 0


def look_again(engine: ExecutionEngine) -> None:
    """Make an engine look for requests, or for the end of the crawl, at once. It would in five seconds."""
    if engine._slot is not None:
        engine._slot.nextcall.schedule()


def new_crawler(command: BaseRunSpiderCommand, spider: str) -> Crawler:
    """A crawler as Scrapy's commands make it, which warns of feeds that are not written."""
    return command._create_crawler(spider)


def use_own_list_of_suffixes() -> None:
    """Make Scrapy's cookies use the public suffix list that is installed with tldextract.
    By default it is downloaded, bypassing all address checks."""
    # Imported late, since it imports an HTTP client.
    cookies: Any = import_module("scrapy.downloadermiddlewares.cookies")  # Any: a module
    cookies._split_domain = cookies.TLDExtract(include_psl_private_domains=True, suffix_list_urls=())
