"""Exceptions of Scrapy, Twisted, OpenSSL and aiohttp as kinds of reply, told by their names alone.

What fails deep inside a connection arrives wrapped: Scrapy's exception has Twisted's as its cause, which has a list of
reasons. All of them are looked at, and the one that says most counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reply.kinds import Kind, Reason

NAMES: dict[Kind | Reason, tuple[str, ...]] = {
    Kind.ADDRESS_REFUSED: (
        "AddressRefused",
        "SchemeRefused",
        "SchemeNotSupported",
        "UnsupportedURLSchemeError",
        "NotSupported",
    ),
    Reason.BLOCKED: ("Forbidden", "IgnoreRequest"),
    Reason.STOPPED: ("DownloadCancelledError",),
    Kind.TLS: (
        "OpenSSL.SSL.Error",
        "SSLError",
        "CertificateError",
        "VerificationError",
        "ClientSSLError",
        "ClientConnectorCertificateError",
        "ServerFingerprintMismatch",
    ),
    Kind.DNS: ("CannotResolveHostError", "DNSLookupError", "UnknownHostError", "gaierror", "ClientConnectorDNSError"),
    Kind.TIMEOUT: ("DownloadTimeoutError", "TimeoutError", "TCPTimedOutError", "ServerTimeoutError"),
    Kind.REFUSED: (
        "DownloadConnectionRefusedError",
        "ConnectionRefusedError",
        "ConnectError",
        "TunnelError",
        "ClientConnectorError",
    ),
    Kind.TRUNCATED: ("ResponseDataLossError", "_DataLoss", "PotentialDataLoss", "ClientPayloadError"),
}
"""Kind -> names of exception classes and of their bases, those that say most first; with the module where it takes
that to tell. Twisted's ConnectError is the base of all that happens before there is a connection."""
TOO_LARGE = "max size"
"""In the message of the DownloadCancelledError that Scrapy raises where DOWNLOAD_MAXSIZE is reached."""
MAX_CAUSES = 20  # exceptions looked at


def kind_of(error: BaseException) -> Kind | Reason:
    """The kind of a failed request, or the reason why it was not made. What is not known is a `reset`: a connection
    that gave no answer that can be read."""
    names: set[str] = set()
    for cause in _causes(error):
        own = {base.__name__ for base in type(cause).__mro__}
        if "DownloadCancelledError" in own and TOO_LARGE in str(cause):
            return Kind.TOO_LARGE
        names |= own | {f"{base.__module__}.{base.__name__}" for base in type(cause).__mro__}
    return next((kind for kind, known in NAMES.items() if names.intersection(known)), Kind.RESET)


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
