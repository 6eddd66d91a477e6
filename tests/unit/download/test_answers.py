"""What a request came to: from Scrapy's responses and failures to an answer."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from OpenSSL import SSL
from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response
from service_identity import VerificationError
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure
from twisted.web.client import ResponseNeverReceived

from sitemapcrawler.download import answers
from sitemapcrawler.download.addresses import AddressForbidden
from sitemapcrawler.download.answers import MAX_REASON, Forbidden, fault_of_proxy, is_proxy_down, reason
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.items import Hop

URL = "https://e.com/sitemap.xml"
OPEN: list[Body] = []
"""Bodies of a test, which the crawl would close."""


@pytest.fixture(autouse=True)
def closed_bodies() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def request(url: str = URL, body: Body | None = None, **meta: Any) -> Request:
    return Request(url, meta={**(body or Body()).meta(), **meta})


def filled(data: bytes, limit: int = 0, status: int = 200) -> Body:
    """A body as the collector leaves it."""
    body = Body(limit)
    body.restart(Headers({"ETag": '"1"'}))
    body.status = status
    body.write(data)
    OPEN.append(body)
    return body


def answered(body: Body, status: int = 200, flags: list[str] | None = None, **meta: Any) -> answers.FetchResult:
    asked = request(body=body, **meta)
    return answers.from_response(Response(asked.url, status, {"ETag": '"1"'}, b"", flags, asked))


def failed(error: Exception, body: Body | None = None, **meta: Any) -> answers.FetchResult:
    failure: Any = Failure(error)  # type: ignore[no-untyped-call]  # Twisted has no types for it
    failure.request = request(body=body, **meta)
    return answers.from_failure(failure)


def test_whole_answer() -> None:
    answer = answered(filled(b"text"))
    assert (answer.url, answer.final_url, answer.status, answer.hops, answer.error) == (URL, URL, 200, [], None)
    assert answer.ok
    assert answer.header("etag") == '"1"'
    assert answer.header("Last-Modified") is None
    assert answer.content(100) == b"text"


@pytest.mark.parametrize("status", [204, 206, 301, 304, 404, 500])
def test_only_200_is_ok(status: int) -> None:
    assert not answered(filled(b"text"), status).ok


def test_content_is_inflated_and_limited() -> None:
    assert answered(filled(gzip.compress(b"abc" * 1000))).content(10) == b"abcabcabca"
    assert answered(filled(gzip.compress(b"abc"))).content(10) == b"abc"
    assert answered(filled(b"")).content(10) == b""


@pytest.mark.parametrize(
    ("limit", "changes", "flag", "error"),
    [
        (0, {}, "dataloss", "the connection ended before the body did"),
        (0, {}, "partial", None),  # without a length, the body ends with the connection
        (3, {}, "download_stopped", "more than 3 bytes: the rest was not fetched"),
        (0, {"error": OSError(28, "No space left on device")}, "download_stopped", "No space left on device"),
    ],
    ids=["connection", "no length", "limit", "full disk"],
)
def test_answer_that_was_cut_short(limit: int, changes: dict[str, Any], flag: str, error: str | None) -> None:
    body = filled(b"text", limit)
    for name, value in changes.items():
        setattr(body, name, value)
    answer = answered(body, flags=[flag])
    assert answer.ok
    assert (answer.error is None) == (error is None)
    assert error is None or error in (answer.error or "")
    assert answer.content(100) == (b"tex" if limit else b"text")


def test_redirects_are_told_in_order() -> None:
    asked = request(
        "https://e.com/end",
        redirect_urls=["https://e.com/1", "https://e.com/2"],
        redirect_times=2,
        redirect_reasons=[301, 308],
    )
    answer = answers.from_response(Response(asked.url, 200, request=asked))
    assert (answer.url, answer.final_url) == ("https://e.com/1", "https://e.com/end")
    assert answer.hops == [Hop(301, "https://e.com/1"), Hop(308, "https://e.com/2")]


def test_failure_after_a_redirect_keeps_the_hop() -> None:
    answer = failed(DownloadTimeoutError("no"), redirect_urls=["https://e.com/1"], redirect_reasons=[302])
    assert (answer.url, answer.final_url) == ("https://e.com/1", URL)
    assert answer.hops == [Hop(302, "https://e.com/1")]


def test_failure_without_an_answer() -> None:
    answer = failed(DownloadConnectionRefusedError("Connection refused"))
    assert (answer.status, answer.ok, answer.blocked) == (None, False, False)
    assert answer.error == "the connection was refused"
    assert answer.content(10) == b""


@pytest.mark.parametrize(
    ("error", "proxy", "words"),
    [
        (DownloadConnectionRefusedError("no"), "http://p.test:80", "the proxy http://p.test:80 cannot be reached"),
        (CannotResolveHostError("no"), "http://me:secret@p.test:80", "the proxy http://p.test:80 cannot be reached"),
        (
            UnsupportedURLSchemeError("no"),
            "socks5://p.test:1080",
            "the proxy socks5://p.test:1080 is not supported, only http",
        ),
        *(
            (
                DownloadFailedError(f"Could not open CONNECT tunnel with proxy p.test:80 [{{'status': {status}}}]"),
                "http://p.test:80",
                words,
            )
            for status, words in (
                (407, "the proxy http://p.test:80 refuses to connect, with status 407"),
                (403, "the proxy http://p.test:80 refuses to connect, with status 403"),
                (502, None),
            )
        ),
        (DownloadTimeoutError("no"), "http://p.test:80", None),
        (ValueError(b"HTTP Could not open CONNECT tunnel with proxy p [{'status': 407"), "http://p.test:80", None),
        (DownloadConnectionRefusedError("no"), None, None),
    ],
)
def test_failure_of_a_proxy_is_not_told_of_the_site(error: Exception, proxy: str | None, words: str | None) -> None:
    fault = fault_of_proxy(request(proxy=proxy), error)
    assert (fault and failed(fault).error) == words
    assert fault is None or is_proxy_down(fault) != str(fault).endswith("403"), "other hosts may be reached"


def test_failure_in_the_body_keeps_what_came() -> None:
    answer = failed(DownloadTimeoutError("no"), filled(b"part"))
    assert (answer.status, answer.ok, answer.error) == (200, True, "no answer in time")
    assert answer.content(10) == b"part"
    assert answer.header("ETag") == '"1"'


def test_failure_in_the_body_of_an_error_is_no_answer_to_read() -> None:
    answer = failed(DownloadTimeoutError("no"), filled(b"part", status=500))
    assert (answer.status, answer.ok) == (500, False)


def test_robots_blocks() -> None:
    answer = failed(Forbidden("Forbidden by robots.txt"))
    assert answer.blocked
    assert "robots.txt" in (answer.error or "")
    assert not failed(IgnoreRequest("no answer to robots.txt")).blocked
    assert not failed(ValueError("robots.txt")).blocked


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CannotResolveHostError("DNS lookup failed"), "the host name cannot be resolved"),
        (DownloadTimeoutError("took longer"), "no answer in time"),
        (DownloadCancelledError("x"), "the crawl was stopped"),
        (
            ResponseNeverReceived([Failure(ConnectionDone())]),
            "the connection was closed before the answer was complete",
        ),
        (ConnectionLost(), "the connection was closed before the answer was complete"),
        (AddressForbidden("e.com:80 is at 10.0.0.1"), "e.com:80 is at 10.0.0.1"),
        (ValueError("two\n  lines\t"), "two lines"),
        (ValueError("Could not open CONNECT tunnel with proxy p:80 [{'status': 403, 'reason': b'Forbidden'}]"),
         "Could not open CONNECT tunnel with proxy p:80: status 403"),
        (ResponseNeverReceived([Failure(VerificationError(errors=[]))]),
         "TLS: the certificate is not valid for this host"),
        (SSL.Error([("SSL routines", "", "wrong version number")]), "TLS: wrong version number"),
        (SSL.Error([("SSL routines", "", "certificate verify failed")]),
         "TLS: the certificate is not trusted: expired, self-signed, or without its intermediate certificates"),
        (ValueError(), "ValueError"),
        (ValueError("x" * 10_000), "x" * MAX_REASON),
    ],
)  # fmt: skip
def test_reason_is_one_sentence(error: Exception, words: str) -> None:
    assert reason(error) == words


def test_the_time_of_an_answer_is_when_it_began() -> None:
    body = filled(b"<urlset/>")
    assert body.began_at is not None
    assert answered(body).at == failed(TimeoutError(), body).at == body.began_at


def test_where_no_answer_came_the_time_is_when_that_was_known() -> None:
    earliest = datetime.now(UTC)
    assert earliest <= failed(CannotResolveHostError("e.com")).at <= datetime.now(UTC)
