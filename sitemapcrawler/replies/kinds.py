"""The kinds of reply to a request for a listed URL, and the flat record that feeds have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import ClassVar

from sitemapcrawler.items import Hop, ReplyRecord


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
    """robots.txt forbids it to us."""
    SAMPLED_OUT = "sampled-out"
    """It is not in the sample."""
    OFF_SITE = "off-site"
    STOPPED = "stopped"
    """The crawl ended before its turn, or its host was left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """What every reply has: the way to it."""

    hops: tuple[Hop, ...] = ()
    """The redirects on the way, in order."""
    attempts: int = 0
    """Requests that were sent: hops, retries, and GET after HEAD included."""
    elapsed_ms: int = 0
    """Response time of all requests that were answered, in milliseconds; see `response_time`."""
    head_status: int | None = None
    """Status that HEAD got where GET got another; 0 where HEAD got no answer, and GET did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Trail):
    """An answer with a status."""

    status: int
    """HTTP status of the last answer."""
    final_url: str
    """URL that gave it."""
    content_type: str | None = None
    """Content-Type header as sent."""
    last_modified: str | None = None
    """Last-Modified header as sent."""
    etag: str | None = None
    """ETag header as sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached(Answer):
    """A status of 200 to 299."""

    noindex: bool | None = None
    """Whether the page wants to be in no index; None where its head was not read."""
    noindex_agents: tuple[str, ...] = ()
    """Crawlers that it tells so by name."""
    canonical: str | None = None
    """URL under which it wants to be indexed, absolute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ok(Reached):
    """The listed URL itself answers so."""

    kind: ClassVar[ReplyKind] = ReplyKind.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirected(Reached):
    """Another URL does, behind one or more redirects."""

    kind: ClassVar[ReplyKind] = ReplyKind.REDIRECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpError(Answer):
    """Any other status; 3xx where it leads nowhere."""

    kind: ClassVar[ReplyKind] = ReplyKind.HTTP_ERROR
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut(Answer):
    """An answer of 200 to 299 whose body is not whole."""

    kind: ReplyKind
    """truncated: the connection ended before the body did; too-large: the body is larger than we take."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectLoop(Answer):
    """Redirects that come back to a URL of before, or do not end. `status` is that of the last redirect."""

    kind: ClassVar[ReplyKind] = ReplyKind.REDIRECT_LOOP
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Trail):
    """No answer, or none that can be told of."""

    kind: ReplyKind
    """timeout, dns, tls, refused (no connection) or reset (a connection that ended without an answer); truncated and
    too-large where not even the status is known."""
    final_url: str
    """URL that gave none."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRefused(Trail):
    """A URL that is never asked: of another scheme than http and https, or at an address that is not public."""

    kind: ClassVar[ReplyKind] = ReplyKind.ADDRESS_REFUSED
    final_url: str
    """That URL: the listed one, or the target of the last redirect."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked(Trail):
    """A URL that was not asked, or whose redirect was not followed."""

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
"""Kind -> names of exception classes and of their bases, those that say most first; with the module where it takes
that to tell. Twisted's ConnectError is the base of all that happens before there is a connection."""
TOO_LARGE = "max size"
"""In the message of the DownloadCancelledError that Scrapy raises where DOWNLOAD_MAXSIZE is reached."""
MAX_CAUSES = 20  # exceptions looked at


def kind_of(error: BaseException) -> ReplyKind | Reason:
    """The kind of a failed request, or the reason why it was not made. What is not known is a `reset`: a connection
    that gave no answer that can be read."""
    names: set[str] = set()
    for cause in _causes(error):
        own = {base.__name__ for base in type(cause).__mro__}
        if "DownloadCancelledError" in own and TOO_LARGE in str(cause):
            return ReplyKind.TOO_LARGE
        names |= own | {f"{base.__module__}.{base.__name__}" for base in type(cause).__mro__}
    return next((kind for kind, known in NAMES.items() if names.intersection(known)), ReplyKind.RESET)


def cause_of(error: BaseException) -> BaseException:
    """The exception that says best what went wrong: Twisted wraps it, and would show its own structure."""
    return list(_causes(error))[-1] if any(hasattr(cause, "reasons") for cause in _causes(error)) else error


def bare(error: Exception) -> Exception:
    """The same without where it was raised, to be kept: tracebacks hold on to all that was under way there, some 20 kB
    for each request."""
    for cause in list(_causes(error)):
        cause.__traceback__ = cause.__context__ = None
        if isinstance(reasons := getattr(cause, "reasons", None), list):  # Twisted's, of Failures
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
    """The flat form of a reply."""
    flat = ReplyRecord(**{name: getattr(reply, name) for name in _FIELDS if hasattr(reply, name)})
    if not flat.attempts:
        flat.attempts = flat.elapsed_ms = None
    flat.kind, flat.reason = str(flat.kind), flat.reason and str(flat.reason)  # plain text, as every format takes it
    return flat
