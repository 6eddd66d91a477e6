"""Kinds of reply to a request for a listed URL, and their flat record for feeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import ClassVar

from sitemapcrawler.items import Hop, PageRecord, ReplyRecord

SERVER_ERROR = 500
"""First status of errors of the server (RFC 9110, 15.6)."""
TOO_MUCH = (429, 503)
"""Statuses that ask for a pause (RFC 6585, 4; RFC 9110, 15.6.4)."""


class ReplyKind(StrEnum):
    """The kinds of reply."""

    OK = "ok"
    REDIRECTED = "redirected"
    HTTP_ERROR = "http-error"
    TIMEOUT = "timeout"
    DNS = "dns"
    TLS = "tls"
    REFUSED = "refused"
    RESET = "reset"
    TRUNCATED = "truncated"
    TOO_LARGE = "too-large"
    REDIRECT_LOOP = "redirect-loop"
    ADDRESS_REFUSED = "address-refused"
    UNCHECKED = "unchecked"


class Reason(StrEnum):
    """Why a URL was not checked."""

    BLOCKED = "blocked"
    """robots.txt disallows it."""
    SAMPLED_OUT = "sampled-out"
    OFF_SITE = "off-site"
    STOPPED = "stopped"
    """The crawl ended before its turn, or its host was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """What all replies share: the requests that led to them."""

    redirects: tuple[Hop, ...] = ()
    """Redirects followed, in order."""
    attempts: int = 0
    """Requests sent, including hops, retries, and GET after HEAD."""
    elapsed_ms: int = 0
    """Response time of all answered requests, in milliseconds; see `response_time`."""
    head_status: int | None = None
    """Status of HEAD if that of GET differs; 0 if only GET was answered."""

    @property
    def status(self) -> int | None:
        """Status of the first answer; None if none came."""
        return self.redirects[0].status if self.redirects else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Trail):
    """Reply with an HTTP status."""

    final_status: int
    """Status of the last response."""
    final_url: str
    """URL of the last response."""
    content_type: str | None = None
    """Content-Type header as sent; several ones joined by commas."""
    last_modified: str | None = None
    """Last-Modified header as sent."""
    etag: str | None = None
    """ETag header as sent."""

    @property
    def status(self) -> int:
        """Status of the first response."""
        return self.redirects[0].status if self.redirects else self.final_status


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached(Answer):
    """Answer with a status of 200 to 299."""

    noindex: bool | None = None
    """True if the page asks not to be indexed; None if its head was not fully read and does not say so."""
    noindex_agents: tuple[str, ...] = ()
    """Crawlers that the page names in `noindex`."""
    canonical: str | None = None
    """Canonical URL of the page, absolute."""
    refresh: str | None = None
    """URL of another page to which a refresh leads at once, absolute."""
    title: str | None = None
    h1: str | None = None
    words: int | None = None
    content_hash: str | None = None
    simhash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ok(Reached):
    """Success at the listed URL itself."""

    kind: ClassVar[ReplyKind] = ReplyKind.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirected(Reached):
    """Success after one or more redirects."""

    kind: ClassVar[ReplyKind] = ReplyKind.REDIRECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpError(Answer):
    """Any other status, including a redirect that leads nowhere."""

    kind: ClassVar[ReplyKind] = ReplyKind.HTTP_ERROR
    error: str
    location: str | None = None
    """Where a redirect leads that was not followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut(Answer):
    """Answer of 200 to 299 with an incomplete body."""

    kind: ReplyKind
    """truncated: the connection ended early; too-large: the body exceeds the limit."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectLoop(Answer):
    """Redirects that return to an earlier URL, or exceed the limit. `final_status` is that of the last redirect."""

    kind: ClassVar[ReplyKind] = ReplyKind.REDIRECT_LOOP
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Trail):
    """No answer, or none with a known status."""

    kind: ReplyKind
    """timeout, dns, tls, refused (no connection) or reset (connection closed without an answer); truncated and
    too-large if the status is unknown."""
    final_url: str
    """URL of the failed request."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRefused(Trail):
    """A URL that is never requested: its scheme is not http or https, or its address is not public."""

    kind: ClassVar[ReplyKind] = ReplyKind.ADDRESS_REFUSED
    final_url: str
    """The refused URL: the listed one, or the target of the last redirect."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked(Trail):
    """A URL that was not requested, or whose redirect was not followed."""

    kind: ClassVar[ReplyKind] = ReplyKind.UNCHECKED
    reason: Reason


Reply = Ok | Redirected | HttpError | Cut | RedirectLoop | Failed | AddressRefused | Unchecked


NAMES: dict[ReplyKind | Reason, tuple[str, ...]] = {
    ReplyKind.ADDRESS_REFUSED: (
        "AddressForbidden",
        "SchemeRefused",
        "SchemeNotSupported",
        "UnsupportedURLSchemeError",
        "NotSupported",
    ),
    Reason.BLOCKED: ("Forbidden", "IgnoreRequest"),
    Reason.STOPPED: ("DownloadCancelledError",),
    ReplyKind.TLS: ("OpenSSL.SSL.Error", "SSLError", "CertificateError", "VerificationError"),
    ReplyKind.DNS: ("CannotResolveHostError", "DNSLookupError", "UnknownHostError", "gaierror"),
    ReplyKind.TIMEOUT: ("DownloadTimeoutError", "TimeoutError", "TCPTimedOutError"),
    ReplyKind.REFUSED: ("DownloadConnectionRefusedError", "ConnectionRefusedError", "ConnectError", "TunnelError"),
    ReplyKind.TRUNCATED: ("ResponseDataLossError", "_DataLoss", "PotentialDataLoss"),
}
"""Kind -> names of exception classes or their bases, most specific first, with the module if the name is ambiguous.
Twisted's ConnectError is the base of all failures before a connection exists."""
TOO_LARGE = "max size"
"""Part of the DownloadCancelledError message that Scrapy raises at DOWNLOAD_MAXSIZE."""
MAX_CAUSES = 20  # exceptions inspected


def kind_of(error: BaseException) -> ReplyKind | Reason:
    """Return the kind of a failed request, or the reason why it was not made. Unknown exceptions are a `reset`."""
    names: set[str] = set()
    for cause in _causes(error):
        own = {base.__name__ for base in type(cause).__mro__}
        if "DownloadCancelledError" in own and TOO_LARGE in str(cause):
            return ReplyKind.TOO_LARGE
        names |= own | {f"{base.__module__}.{base.__name__}" for base in type(cause).__mro__}
    return next((kind for kind, known in NAMES.items() if names.intersection(known)), ReplyKind.RESET)


def cause_of(error: BaseException) -> BaseException:
    """Return the exception that explains a failure best. Twisted's wrappers would show their own structure."""
    return list(_causes(error))[-1] if any(hasattr(cause, "reasons") for cause in _causes(error)) else error


def bare(error: Exception) -> Exception:
    """Remove tracebacks and contexts from an exception that is kept: they hold some 20 kB for each request."""
    for cause in list(_causes(error)):
        cause.__traceback__ = cause.__context__ = None
        if isinstance(reasons := getattr(cause, "reasons", None), list):  # Twisted's list of Failures
            reasons[:] = [getattr(reason, "value", reason) for reason in reasons]
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    waiting, count = [error], 0
    while waiting and count < MAX_CAUSES:
        cause, count = waiting.pop(0), count + 1
        yield cause
        reasons = getattr(cause, "reasons", None)
        inner = [cause.__cause__, *(reasons if isinstance(reasons, list) else ())]
        values = (getattr(reason, "value", reason) for reason in inner)  # Twisted's Failure has the exception in value
        waiting += [value for value in values if isinstance(value, BaseException)]


_FIELDS = tuple(field.name for field in fields(ReplyRecord))


def record(reply: Reply) -> ReplyRecord:
    """Convert a reply to its flat record."""
    flat = ReplyRecord(**{name: getattr(reply, name) for name in _FIELDS if hasattr(reply, name)})
    if not flat.attempts:
        flat.attempts = flat.elapsed_ms = None
    flat.kind, flat.reason = str(flat.kind), flat.reason and str(flat.reason)  # every format accepts plain text
    return flat


def at_end(reply: ReplyRecord) -> ReplyRecord:
    """The reply of the URL at the end of the redirects, as if it had been requested itself."""
    kind = ReplyKind.OK if reply.kind == ReplyKind.REDIRECTED else reply.kind
    return replace(reply, kind=str(kind), status=reply.final_status, redirects=())


def status_error(reply: ReplyRecord | PageRecord) -> str | None:
    """Why a URL has no answer, or not a complete one: `kind` of the reply, or `reason` if it was not requested. None
    if an answer came, whatever its status."""
    return None if reply.kind in ANSWERED else reply.reason or reply.kind


ANSWERED = frozenset((ReplyKind.OK, ReplyKind.REDIRECTED, ReplyKind.HTTP_ERROR))
"""Kinds of reply that a status describes."""
