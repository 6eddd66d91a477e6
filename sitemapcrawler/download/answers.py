"""Downloads, and the result of a request: a response, complete or cut short, or the reason why there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response
from twisted.internet.error import ConnectionClosed
from twisted.python.failure import Failure

from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import Hop
from sitemapcrawler.reader.decode import inflate
from sitemapcrawler.reader.faults import Faults, Limits
from sitemapcrawler.replies.kinds import cause_of
from sitemapcrawler.urls.display import masked

REASONS: tuple[tuple[type[Exception], str], ...] = (
    (CannotResolveHostError, "the host name cannot be resolved"),
    (DownloadConnectionRefusedError, "the connection was refused"),
    (DownloadTimeoutError, "no answer in time"),
    (DownloadCancelledError, "the crawl was stopped"),
)
"""{exception: message}; all other exceptions show the message of their cause."""
OF_PROXIES: tuple[tuple[type[Exception], str], ...] = (
    (CannotResolveHostError, "cannot be reached"),
    (DownloadConnectionRefusedError, "cannot be reached"),
    (UnsupportedURLSchemeError, "is not supported, only http"),
)
"""The same for requests through a proxy, whose fault these are, not that of the site."""
CLOSED = "the connection was closed before the answer was complete"
"""Message for Twisted's ConnectionDone and ConnectionLost, which say how it was closed."""
OTHER_NAME = "VerificationError"
"""Exception of service-identity, which Twisted checks certificates with. Its message is Python's notation."""
UNTRUSTED = "certificate verify failed"
"""OpenSSL's message on a certificate that is not trusted, whatever the cause."""
UNTRUSTED_WORDS = "the certificate is not trusted: expired, self-signed, or without its intermediate certificates"
CUT_SHORT = ("dataloss", "download_stopped")
"""Response flags of incomplete bodies. (Not `partial`, set on every body that ends with its connection.)"""
MAX_REASON = 300
"""Maximum length of an exception's message, in characters."""
TUNNEL = re.compile(r"(Could not open CONNECT tunnel with proxy \S+) \[\{'status': (\d+).*")
"""Scrapy's message on a proxy that refuses a host, with the answer as Python writes it."""
LOGIN = "407"
"""Status of a proxy that wants a login, whatever the host: RFC 9110, 15.5.8."""


class Forbidden(IgnoreRequest):
    """robots.txt disallows this request."""


class ProxyFailed(DownloadConnectionRefusedError):
    """A proxy cannot be reached or used, so nothing is known about the site. Retried like the error it replaces."""


class HostRefused(ProxyFailed):
    """A proxy refuses to connect to this host; it may work for others."""


class Unanswered(IgnoreRequest):
    """The host's robots.txt request failed, which disallows everything. The failure is the cause."""


@dataclass(slots=True)
class FetchResult:
    """The result of one request, after redirects."""

    url: str
    final_url: str
    """URL of the last response."""
    body: Body
    status: int | None = None
    """HTTP status; None without a response."""
    headers: Headers = field(default_factory=Headers)
    hops: list[Hop] = field(default_factory=list)
    """Redirects, in order."""
    error: str | None = None
    """Why there is no response, or why its body is incomplete."""
    failure: BaseException | None = None
    """What the request raised; None for a response."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """Start of the last response, or time of the failure, in UTC."""

    @property
    def ok(self) -> bool:
        """True for status 200, even with an incomplete body."""
        return self.status == 200

    @property
    def blocked(self) -> bool:
        """True if robots.txt disallows the request."""
        return isinstance(self.failure, Forbidden)

    def header(self, name: str) -> str | None:
        """First value of a header, decoded; None without one or if it is empty."""
        value = self.headers.get(name)
        return value.decode("latin-1") if value else None

    @property
    def content_encoding(self) -> str:
        """The Content-Encoding header in lower case; empty if absent."""
        return (self.header("Content-Encoding") or "").strip().lower()

    def content(self, limit: int) -> bytes:
        """The decompressed body, at most `limit` bytes."""
        return b"".join(inflate(self.body.chunks(), Limits(max_bytes=limit), Faults()))


async def download(crawler: Crawler, request: Request) -> Response:
    """Download as Scrapy's engine does, without its scheduler. Notes a proxy that is down, after which the crawl is
    incomplete. Raises what the downloader raises."""
    try:
        return await crawler.engine.download_async(request)
    except Exception as error:
        Stop.of(crawler).proxy_failed |= is_proxy_down(error)
        raise


async def fetch(crawler: Crawler, request: Request) -> FetchResult:
    """`download` with a `Body`; a failure is a result too."""
    try:
        return from_response(await download(crawler, request))
    except Exception as error:
        return from_error(request, error)


def from_response(response: Response) -> FetchResult:
    request = response.request
    assert request is not None
    answer = _start(request, response.url)
    answer.status, answer.headers = response.status, response.headers
    if answer.body.headers is None and response.body:  # from a handler or middleware that sends no signals
        answer.body.restart(response.headers)
        answer.body.write(response.body)
    if answer.body.overflowed or any(flag in response.flags for flag in CUT_SHORT):
        answer.error = _cut(answer.body)
    return answer


def from_failure(failure: Failure) -> FetchResult:
    """The result of a failed request; keeps what was received of the body."""
    request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
    return from_error(request, failure.value)


def from_error(request: Request, error: BaseException | None) -> FetchResult:
    """The result of a request that raised `error`; keeps what was received of the body."""
    answer = _start(request, request.url)
    answer.error, answer.failure = reason(error), error
    if answer.body.headers is not None and answer.body.size:
        answer.status, answer.headers = answer.body.status, answer.body.headers
    return answer


def fault_of_proxy(request: Request, error: Exception) -> ProxyFailed | None:
    """An error that is the fault of a proxy, not that of the site, with a one-line message; else None."""
    proxy: str | None = request.meta.get("proxy")
    fault = next((words for kind, words in OF_PROXIES if isinstance(error, kind)), None)
    status = tunnel[2] if (tunnel := TUNNEL.match(str(cause_of(error)))) is not None else ""
    if status.startswith("4"):
        fault = f"refuses to connect, with status {status}"
    if not proxy or fault is None:
        return None
    found = urlsplit(proxy)
    kind = HostRefused if status not in ("", LOGIN) else ProxyFailed
    return kind(f"the proxy {found.scheme}://{found.netloc.rpartition('@')[2]} {fault}")


def is_proxy_down(error: BaseException) -> bool:
    """True if a proxy failed, whatever the host."""
    cause = error.__cause__ if isinstance(error, Unanswered) else error
    return isinstance(cause, ProxyFailed) and not isinstance(cause, HostRefused)


def reason(error: BaseException | None) -> str:
    """One-line message for an error."""
    for kind, words in () if isinstance(error, ProxyFailed) else REASONS:
        if isinstance(error, kind):
            return words
    if error is None:
        return "no answer"
    cause = cause_of(error)
    if isinstance(cause, ConnectionClosed):
        return CLOSED
    if type(cause).__name__ == OTHER_NAME:
        return "TLS: the certificate is not valid for this host"
    told = cause.args[0] if cause.args else None
    if isinstance(told, list) and told and all(isinstance(entry, tuple) for entry in told):  # OpenSSL's error queue
        told = "; ".join(str(entry[-1]) for entry in told)
        return f"TLS: {told.replace(UNTRUSTED, UNTRUSTED_WORDS)}"[:MAX_REASON]
    words = masked(TUNNEL.sub(r"\1: status \2", " ".join(str(cause).split())))[:MAX_REASON]
    return words or type(error).__name__


def _start(request: Request, final_url: str) -> FetchResult:
    visited = request.meta.get("redirect_urls", [])
    statuses = request.meta.get("redirect_reasons", [])
    hops = [Hop(status, url) for url, status in zip(visited, statuses, strict=False) if isinstance(status, int)]
    body: Body = request.meta[BODY_KEY]
    at = body.began_at or datetime.now(UTC)
    return FetchResult(visited[0] if visited else request.url, final_url, body, hops=hops, at=at)


def _cut(body: Body) -> str:
    if body.overflowed:
        return f"more than {body.limit} bytes: the rest was not fetched"
    if body.error is not None:
        return f"the body could not be kept: {body.error.strerror or body.error}"
    return "the connection ended before the body did"
