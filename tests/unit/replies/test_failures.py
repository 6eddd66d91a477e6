"""Exceptions as kinds: the real ones of Scrapy, Twisted and OpenSSL, wrapped as they arrive."""

from __future__ import annotations

import gc
import socket
import ssl
import subprocess
import sys
import weakref

import pytest
from OpenSSL import SSL
from scrapy import exceptions as scrapy
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from service_identity import VerificationError
from twisted.internet import error as twisted
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError, ResponseFailed, ResponseNeverReceived
from twisted.web.http import _DataLoss

from sitemapcrawler.download.addresses import AddressForbidden
from sitemapcrawler.download.answers import ProxyFailed
from sitemapcrawler.download.handlers import SchemeRefused
from sitemapcrawler.middlewares.adapted import Forbidden
from sitemapcrawler.replies import Reason, ReplyKind, kind_of
from sitemapcrawler.replies.kinds import bare


def through_scrapy(error: Exception) -> BaseException:
    """What Scrapy makes of an exception of Twisted."""
    try:
        with wrap_twisted_exceptions():
            raise error
    except Exception as wrapped:
        return wrapped


def never_received(error: Exception) -> Exception:
    return ResponseNeverReceived([Failure(error)])


KINDS: list[tuple[Exception, ReplyKind | Reason]] = [
    (twisted.DNSLookupError("no results for hostname lookup"), ReplyKind.DNS),
    (twisted.ConnectionRefusedError("111"), ReplyKind.REFUSED),
    (twisted.NoRouteError("113"), ReplyKind.REFUSED),
    (twisted.ConnectError("cannot"), ReplyKind.REFUSED),
    (twisted.TimeoutError("10 seconds"), ReplyKind.TIMEOUT),
    (twisted.TCPTimedOutError("110"), ReplyKind.TIMEOUT),
    (twisted.ConnectionLost("lost"), ReplyKind.RESET),
    (never_received(twisted.ConnectionLost("lost")), ReplyKind.RESET),
    (never_received(twisted.ConnectionDone("closed cleanly")), ReplyKind.RESET),
    (never_received(ParseError("not HTTP", b"x")), ReplyKind.RESET),
    (never_received(SSL.Error([("SSL routines", "", "certificate verify failed")])), ReplyKind.TLS),
    (never_received(VerificationError(errors=[])), ReplyKind.TLS),
    (ResponseFailed([Failure(_DataLoss("cut"))]), ReplyKind.TRUNCATED),
    (ResponseFailed([Failure(twisted.ConnectionLost("lost")), Failure(_DataLoss("cut"))]), ReplyKind.TRUNCATED),
    (scrapy.ResponseDataLossError("cut"), ReplyKind.TRUNCATED),
    (scrapy.DownloadTimeoutError("took longer than 10 seconds"), ReplyKind.TIMEOUT),
    (scrapy.CannotResolveHostError("x"), ReplyKind.DNS),
    (scrapy.DownloadConnectionRefusedError("x"), ReplyKind.REFUSED),
    (scrapy.DownloadFailedError("x"), ReplyKind.RESET),
    (scrapy.UnsupportedURLSchemeError("ftp"), ReplyKind.ADDRESS_REFUSED),
    (scrapy.DownloadCancelledError("Expected to receive 9 bytes which is larger than download max size (1)"), ReplyKind.TOO_LARGE),
    (scrapy.DownloadCancelledError("the crawl was stopped"), Reason.STOPPED),
    (scrapy.IgnoreRequest("robots.txt"), Reason.BLOCKED),
    (TunnelError("the proxy says 407"), ReplyKind.REFUSED),
    (ProxyFailed("the proxy http://p.test:80 cannot be reached"), Reason.STOPPED),
    (Forbidden("robots.txt"), Reason.BLOCKED),
    (AddressForbidden("127.0.0.1"), ReplyKind.ADDRESS_REFUSED),
    (SchemeRefused("file:"), ReplyKind.ADDRESS_REFUSED),
    (socket.gaierror(-2, "Name or service not known"), ReplyKind.DNS),
    (ConnectionRefusedError(111, "refused"), ReplyKind.REFUSED),
    (ConnectionResetError(104, "reset"), ReplyKind.RESET),
    (TimeoutError(), ReplyKind.TIMEOUT),
    (ssl.SSLCertVerificationError("self-signed"), ReplyKind.TLS),
    (ValueError("something else"), ReplyKind.RESET),
]  # fmt: skip


@pytest.mark.parametrize(("error", "kind"), KINDS, ids=lambda value: type(value).__name__)
def test_kind_of_an_exception_bare_and_as_scrapy_wraps_it(error: Exception, kind: ReplyKind | Reason) -> None:
    assert kind_of(error) is kind
    assert kind_of(through_scrapy(error)) is kind


def test_reason_for_a_refusal_counts_more_than_what_it_caused() -> None:
    try:
        raise AddressForbidden("10.0.0.1") from twisted.ConnectError("user stopped connecting")
    except AddressForbidden as error:
        assert kind_of(error) is ReplyKind.ADDRESS_REFUSED


def test_causes_in_a_circle_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert kind_of(one) is ReplyKind.RESET


def test_failure_that_is_kept_holds_on_to_nothing() -> None:
    class Request:
        """What a frame of a traceback holds."""

    def fail(request: Request) -> None:
        try:
            raise twisted.ConnectionLost
        except twisted.ConnectionLost as lost:
            raise ResponseFailed([Failure()]) from lost

    request = Request()
    held = weakref.ref(request)
    try:
        fail(request)
    except ResponseFailed as error:
        before = kind_of(error)
        kept = bare(error)
    del request
    gc.collect()
    assert held() is None
    assert kind_of(kept) is before


def test_telling_kinds_needs_none_of_the_libraries() -> None:
    code = (
        "import sys, sitemapcrawler.replies; print([n for n in ('scrapy', 'twisted', 'OpenSSL') if n in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
