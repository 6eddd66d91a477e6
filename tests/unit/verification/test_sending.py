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

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.settings import SITEMAP_VERIFY_CERTIFICATES
from sitemapcrawler.verification.asking import USUAL_URL, Sender


def failure(error: Exception, stop_reason: str | None) -> str | None:
    async def download(request: Request) -> None:
        raise error

    crawler: Any = SimpleNamespace(
        settings=Settings({"SITEMAP_VERIFY_CERTIFICATES": SITEMAP_VERIFY_CERTIFICATES}),
        engine=SimpleNamespace(download_async=download),
    )
    Stop.of(crawler).reason = stop_reason
    step = asyncio.run(Sender(crawler, False, 0).send("https://e.com/", "HEAD"))
    return str(step.failure)


@pytest.mark.parametrize(
    ("error", "stop_reason", "expected"),
    [
        (AlreadyCalledError(), None, "reset"),
        (AlreadyCalledError(), "shutdown", "stopped"),
        (CannotResolveHostError(), "shutdown", "dns"),
    ],
)
def test_connection_that_breaks_in_a_stop_was_stopped(error: Exception, stop_reason: str | None, expected: str) -> None:
    assert failure(error, stop_reason) == expected


@given(from_regex(USUAL_URL, fullmatch=True))
def test_usual_url_is_sent_as_it_stands(url: str) -> None:
    assert Request(url).url == url
