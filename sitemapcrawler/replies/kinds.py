"""Kinds of reply to a request for a listed URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from sitemapcrawler.items import PageRecord, ReplyRecord

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
    UNREADABLE = "unreadable"
    """Bytes of the URL do not fit the encoding of the file."""
    STOPPED = "stopped"
    """The crawl ended before its turn, its host was skipped, or a proxy failed."""


REACHED = frozenset((ReplyKind.OK, ReplyKind.REDIRECTED))
"""Kinds of reply with a page: the last answer has a status of 200 to 299, and a whole body."""
CUT = frozenset((ReplyKind.TRUNCATED, ReplyKind.TOO_LARGE))
"""Kinds of reply with an incomplete body, or of which nothing but that is known."""


NAMES: dict[ReplyKind | Reason, tuple[str, ...]] = {
    ReplyKind.ADDRESS_REFUSED: (
        "AddressForbidden",
        "SchemeRefused",
        "SchemeNotSupported",
        "UnsupportedURLSchemeError",
        "NotSupported",
    ),
    Reason.BLOCKED: ("Forbidden", "IgnoreRequest"),
    Reason.STOPPED: ("DownloadCancelledError", "ProxyFailed"),
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


def bare(error: BaseException) -> BaseException:
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


def is_unanswered(reply: ReplyRecord) -> bool:
    """True if the last request got no answer, or none with a known status."""
    return reply.final_status is None and reply.kind not in (ReplyKind.ADDRESS_REFUSED, ReplyKind.UNCHECKED)


def at_end(reply: ReplyRecord) -> ReplyRecord:
    """The reply of the URL at the end of the redirects, as if it had been requested itself."""
    kind = ReplyKind.OK if reply.kind == ReplyKind.REDIRECTED else reply.kind
    return replace(reply, kind=str(kind), status=reply.final_status, redirects=())


def status_error(reply: ReplyRecord | PageRecord) -> str | None:
    """Why a URL has no answer, or not a complete one: `kind` of the reply, or `reason` if it was not requested. None
    if an answer came, whatever its status."""
    return None if reply.kind in ANSWERED else reply.reason or reply.kind


ANSWERED = REACHED | {ReplyKind.HTTP_ERROR}
"""Kinds of reply that a status describes."""
