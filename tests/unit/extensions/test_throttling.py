"""Which hosts DOWNLOAD_DELAY is the least delay of, and the delay of the first requests to a host."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader import Slot
from scrapy.http import Response
from scrapy.settings import Settings

from sitemapcrawler.download.shared import Named
from sitemapcrawler.download.slots import Floor, is_loopback
from sitemapcrawler.extensions.throttling import FIRST_DELAY_S, FIRST_REQUESTS, FlooredThrottle
from sitemapcrawler.settings import AUTOTHROTTLE_START_DELAY, DOWNLOAD_DELAY
from sitemapcrawler.urls import Authority

NAMED = {Authority("127.0.0.1", 8000), Authority("localhost", 80), Authority("::1", 80), Authority("shop.example", 443)}


DEFAULTS = {
    "DOWNLOAD_DELAY": DOWNLOAD_DELAY,
    "DOWNLOAD_DELAY_JITTER": 0.0,
    "AUTOTHROTTLE_ENABLED": True,
    "AUTOTHROTTLE_START_DELAY": AUTOTHROTTLE_START_DELAY,
    "AUTOTHROTTLE_TARGET_CONCURRENCY": 2.0,
    "AUTOTHROTTLE_MAX_DELAY": 30.0,
}


def crawler(**settings: float) -> Any:
    """A crawl of `NAMED` with the defaults of this project, and settings that the user has chosen."""
    chosen = Settings()
    chosen.setdict(DEFAULTS, "project")
    chosen.setdict(settings, "cmdline")
    signals = SimpleNamespace(connect=lambda *_, **__: None)
    made: Any = SimpleNamespace(settings=chosen, signals=signals)
    Named.of(made).authorities |= NAMED
    return made


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(
            (host, True)
            for host in ("127.0.0.1", "127.0.0.2", "127.1", "2130706433", "::1", "[::1]", "::ffff:127.0.0.1")
        ),
        *((host, True) for host in ("localhost", "LOCALHOST.", "shop.localhost")),
        *((host, False) for host in ("localhost.example", "notlocalhost", "10.0.0.1", "shop.example", "")),
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
    throttle = FlooredThrottle(crawler())
    throttle.mindelay, throttle.maxdelay = DOWNLOAD_DELAY, 30.0
    made: Any = Slot
    slot = made(4, 0.5, 0.0)
    for _ in range(40):
        throttle._adjust_delay(slot, 0.002, Response(url))
    assert slot.delay == pytest.approx(least, rel=0.01)
    assert throttle.mindelay == DOWNLOAD_DELAY


# ---- the first requests to a host

HOST = "shop.example"
QUICK = DOWNLOAD_DELAY


class Crawling:
    """A crawl with one slot, whose requests enter, leave and are answered as a test says."""

    def __init__(self, slots: dict[str, dict[str, float]] | None = None, host: str = HOST, **settings: float) -> None:
        made: Any = Slot
        self.host = host
        self.slot = made(4, settings.get("AUTOTHROTTLE_START_DELAY", AUTOTHROTTLE_START_DELAY), 0.0)
        self.plain = made(4, self.slot.delay, 0.0)
        """What the slot would be with the AutoThrottle of Scrapy."""
        of = crawler(**settings)
        downloader = SimpleNamespace(slots={host: self.slot}, per_slot_settings=slots or {})
        of.engine = SimpleNamespace(downloader=downloader)
        self.throttle = FlooredThrottle(of)
        self.throttle._spider_opened(Spider("any"))

    def enter(self) -> Request:
        request = Request(f"https://{self.host}/", meta={"download_slot": self.host})
        self.throttle._enters(request)
        self.slot.queue.append(request)
        return request

    def send(self, request: Request) -> None:
        self.slot.queue.remove(request)
        self.throttle._leaves(request)

    def answer(self, request: Request, status: int = 200, latency: float = 0.02) -> None:
        request.meta["download_latency"] = latency
        response = Response(request.url, status)
        self.throttle._response_downloaded(response, request, Spider("any"))
        self.throttle._finished(request)
        self.throttle._adjust_delay(self.plain, latency, response)

    def ask(self, status: int = 200, latency: float = 0.02, times: int = 1) -> None:
        """Enter, send and answer requests in turn."""
        for _ in range(times):
            request = self.enter()
            self.send(request)
            self.answer(request, status, latency)


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("latency", [0.002, 0.1])
def test_first_ten_requests_are_quick_and_the_others_as_ever(status: int, latency: float) -> None:
    crawling = Crawling()
    for number in range(1, FIRST_REQUESTS):
        crawling.ask(status, latency)
        assert crawling.slot.delay == QUICK, number
    for _ in range(5):
        crawling.ask(status, latency)
        assert crawling.slot.delay == crawling.plain.delay
        assert status == 200 or crawling.slot.delay == AUTOTHROTTLE_START_DELAY


def test_tenth_request_ends_the_quick_start_when_it_is_sent() -> None:
    crawling = Crawling()
    waiting = [crawling.enter() for _ in range(FIRST_REQUESTS + 5)]
    for request in waiting[: FIRST_REQUESTS - 1]:
        crawling.send(request)
    assert crawling.slot.delay == QUICK
    crawling.send(waiting[FIRST_REQUESTS - 1])
    assert crawling.slot.delay == AUTOTHROTTLE_START_DELAY


def test_quick_start_is_the_first_of_a_host_only() -> None:
    crawling = Crawling()
    crawling.ask(404, times=FIRST_REQUESTS)
    made: Any = Slot
    again = crawling.slot = made(4, AUTOTHROTTLE_START_DELAY, 0.0)  # Scrapy drops slots that are not in use
    crawling.throttle.crawler.engine.downloader.slots[HOST] = again
    crawling.ask(404)
    assert again.delay == AUTOTHROTTLE_START_DELAY


def test_slow_host_is_asked_slowly_from_its_first_answer_on() -> None:
    crawling = Crawling()
    crawling.ask(latency=0.6)
    assert crawling.slot.delay == 0.3
    crawling.ask(latency=4)
    assert crawling.slot.delay == crawling.plain.delay == 2
    crawling.ask(latency=0.02)
    assert crawling.slot.delay == crawling.plain.delay


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_error_of_the_server_ends_the_quick_start(status: int) -> None:
    crawling = Crawling()
    crawling.ask(status)
    assert crawling.slot.delay == AUTOTHROTTLE_START_DELAY
    crawling.ask()
    assert crawling.slot.delay == crawling.plain.delay


def test_request_without_answer_ends_the_quick_start() -> None:
    crawling = Crawling()
    crawling.ask(404)
    request = crawling.enter()
    crawling.send(request)
    crawling.throttle._finished(request)
    assert crawling.slot.delay == AUTOTHROTTLE_START_DELAY


@pytest.mark.parametrize(("wanted", "expected"), [(0.2, AUTOTHROTTLE_START_DELAY), (3.0, 3.0)])
def test_delay_that_the_host_demands_ends_the_quick_start(wanted: float, expected: float) -> None:
    """Of robots.txt and Retry-After: PolitenessMiddleware raises the delay of the slot."""
    crawling = Crawling()
    crawling.ask(404)
    request = crawling.enter()
    crawling.slot.delay = wanted
    crawling.send(request)
    assert crawling.slot.delay == expected


@pytest.mark.parametrize(
    "settings",
    [
        {"AUTOTHROTTLE_START_DELAY": 0.5},
        {"AUTOTHROTTLE_START_DELAY": 5.0},
        {"DOWNLOAD_DELAY_JITTER": 0.5},
        {"DOWNLOAD_DELAY": 2.0},
        {"slots": {HOST: {"delay": 0.5}}},
    ],
    ids=str,
)
def test_delay_that_the_user_has_chosen_holds_from_the_first_request_on(settings: dict[str, Any]) -> None:
    crawling = Crawling(**settings)
    before = crawling.slot.delay
    crawling.enter()
    assert crawling.slot.delay == before


@pytest.mark.parametrize("host", [HOST, "127.0.0.1"])
def test_first_requests_are_ten_a_second_at_most_whatever_the_floor(host: str) -> None:
    crawling = Crawling(host=host, DOWNLOAD_DELAY=0.001)
    crawling.ask()
    assert crawling.slot.delay == FIRST_DELAY_S
