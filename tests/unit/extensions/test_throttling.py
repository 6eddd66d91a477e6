"""Which hosts DOWNLOAD_DELAY is the least delay of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.core.downloader import Slot
from scrapy.http import Response
from scrapy.settings import Settings

from sitemapcrawler.download.crawl import Named
from sitemapcrawler.download.slots import Floor, is_loopback
from sitemapcrawler.extensions.throttling import FlooredThrottle
from sitemapcrawler.settings import DOWNLOAD_DELAY
from sitemapcrawler.urls import Authority

NAMED = {Authority("127.0.0.1", 8000), Authority("localhost", 80), Authority("::1", 80), Authority("shop.example", 443)}


def crawler(**settings: float) -> Any:
    """A crawl of `NAMED` with the defaults of this project, and settings that the user has chosen."""
    chosen = Settings()
    chosen.setdict({"DOWNLOAD_DELAY": DOWNLOAD_DELAY, "AUTOTHROTTLE_ENABLED": True}, "project")
    chosen.setdict(settings, "cmdline")
    signals = SimpleNamespace(connect=lambda *_, **__: None)
    made: Any = SimpleNamespace(settings=chosen, signals=signals)
    Named.of(made).authorities |= NAMED
    return made


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.0.0.2", True),
        ("127.1", True),
        ("2130706433", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("shop.localhost", True),
        ("localhost.example", False),
        ("notlocalhost", False),
        ("10.0.0.1", False),
        ("shop.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_its_spelling(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", 0.0),
        ("::1", 0.0),
        ("localhost", 0.0),
        ("127.0.0.2", DOWNLOAD_DELAY),  # not named
        ("shop.localhost", DOWNLOAD_DELAY),
        ("shop.example", DOWNLOAD_DELAY),  # named, wherever it resolves to
        ("other.example", DOWNLOAD_DELAY),
    ],
)
def test_only_loopback_hosts_that_were_named_are_exempt(host: str, expected: float) -> None:
    assert Floor(crawler()).delay(host, DOWNLOAD_DELAY) == expected


@pytest.mark.parametrize("seconds", [DOWNLOAD_DELAY, 0.02, 2.0])
def test_delay_that_the_user_has_chosen_holds_for_all(seconds: float) -> None:
    assert Floor(crawler(DOWNLOAD_DELAY=seconds)).delay("127.0.0.1", seconds) == seconds


@pytest.mark.parametrize(("url", "least"), [("http://127.0.0.1:8000/", 0.001), ("http://127.0.0.2/", DOWNLOAD_DELAY)])
def test_autothrottle_goes_down_to_the_floor(url: str, least: float) -> None:
    throttle = FlooredThrottle(crawler(AUTOTHROTTLE_TARGET_CONCURRENCY=2.0, AUTOTHROTTLE_MAX_DELAY=30.0))
    throttle.mindelay, throttle.maxdelay = DOWNLOAD_DELAY, 30.0
    made: Any = Slot
    slot = made(4, 0.5, 0.0)
    for _ in range(40):
        throttle._adjust_delay(slot, 0.002, Response(url))
    assert slot.delay == pytest.approx(least, rel=0.01)
    assert throttle.mindelay == DOWNLOAD_DELAY
