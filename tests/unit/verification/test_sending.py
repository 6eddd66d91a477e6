"""Failures of requests while a crawl goes on, and while it is being stopped."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import from_regex
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.settings import Settings
from twisted.internet.defer import AlreadyCalledError

from sitemapcrawler.download.answers import HostRefused, ProxyFailed, Unanswered
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.settings import SITEMAP_VERIFY_CERTIFICATES
from sitemapcrawler.verification.asking import USUAL_URL, Sender

PROXY_DIED = ProxyFailed("the proxy http://p.test:80 cannot be reached")
HOST_REFUSED = HostRefused("the proxy http://p.test:80 refuses to connect, with status 403")


def sender(error: Exception, stop_reason: str | None = None, max_errors: int = 0) -> Sender:
    """One whose requests fail."""

    async def download(request: Request) -> None:
        raise error

    crawler: Any = SimpleNamespace(
        settings=Settings({"SITEMAP_VERIFY_CERTIFICATES": SITEMAP_VERIFY_CERTIFICATES}),
        engine=SimpleNamespace(download_async=download),
    )
    Stop.of(crawler).reason = stop_reason
    return Sender(crawler, False, max_errors)


@pytest.mark.parametrize(
    ("error", "stop_reason", "expected"),
    [
        (AlreadyCalledError(), None, "reset"),
        (AlreadyCalledError(), "shutdown", "stopped"),
        (CannotResolveHostError(), "shutdown", "dns"),
    ],
)
def test_connection_that_breaks_in_a_stop_was_stopped(error: Exception, stop_reason: str | None, expected: str) -> None:
    assert asyncio.run(sender(error, stop_reason).send("https://e.com/", "HEAD")).failure == expected


def unanswered(cause: Exception) -> Exception:
    """The failure of a request whose robots.txt had this failure."""
    error = Unanswered(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "cause"),
    [(PROXY_DIED, PROXY_DIED), (unanswered(PROXY_DIED), PROXY_DIED), (HOST_REFUSED, HOST_REFUSED)],
    ids=["page", "robots.txt", "host"],
)
def test_a_proxy_that_dies_is_no_fault_of_the_host_and_ends_its_requests(error: Exception, cause: Exception) -> None:
    made = sender(error, max_errors=2)

    async def send() -> list[tuple[str | None, str]]:
        steps = []
        for path in "abc":
            steps.append(await made.send(f"https://e.com/{path}", "HEAD"))
            made.count(f"https://e.com/{path}", steps[-1])
        return [(step.failure, step.why) for step in steps]

    refused = ("stopped", str(cause))
    assert asyncio.run(send()) == [refused, refused, ("stopped", "e.com failed 2 times in a row")]
    assert Stop.of(made._crawler).proxy_failed is (cause is PROXY_DIED), "it may work for other hosts"


@given(from_regex(USUAL_URL, fullmatch=True))
def test_usual_url_is_sent_as_it_stands(url: str) -> None:
    assert Request(url).url == url
