"""What the politeness of a crawl tells of its hosts."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader import Downloader, Slot
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from sitemapcrawler.download import slots
from sitemapcrawler.download.connections import RESPONSE_TIME_KEY
from sitemapcrawler.download.slots import TOO_MUCH, Attempts, HostPauses, leave_slot
from sitemapcrawler.middlewares.politeness import HostPace, PolitenessMiddleware


def test_host_rests_for_as_long_as_it_wants() -> None:
    politeness = PolitenessMiddleware(get_crawler(Spider))
    politeness._host("busy.example").pause(40, 30)
    assert 39 < politeness.resting("busy.example") <= 40
    politeness._host("rested.example").resumes = time.monotonic() - 1
    assert politeness.resting("rested.example") == politeness.resting("unknown.example") == 0


def test_slowdown_doubles_up_to_the_largest_delay_of_autothrottle() -> None:
    host = HostPace()
    slowdowns = []
    for _ in range(4):
        host.pause(0, 3)
        slowdowns.append(host.slowdown)
    assert slowdowns == [0.5, 1, 2, 3]


@pytest.mark.parametrize(
    ("meta", "slot"),
    [
        ({"redirect_urls": ["http://slow.example/a"], "download_slot": "slow.example"}, "quick.example"),
        ({"redirect_urls": ["http://slow.example/a"], "download_slot": "chosen"}, "chosen"),
        ({"redirect_urls": ["http://slow.example/a"]}, "quick.example"),
        ({"download_slot": "slow.example"}, "slow.example"),
    ],
)
def test_redirected_request_waits_for_the_host_that_it_asks(meta: dict[str, Any], slot: str) -> None:
    downloader: Any = SimpleNamespace(ip_concurrency=0, DOWNLOAD_SLOT=Downloader.DOWNLOAD_SLOT)
    downloader.get_slot_key = lambda request: Downloader.get_slot_key(downloader, request)
    request = Request("http://quick.example/b", meta=meta)
    leave_slot(downloader, request)
    assert downloader.get_slot_key(request) == slot


# ---- requests and their slots

URL = "https://busy.example/"


class Waiting:
    """A crawl whose one host has a slot; the slot's timer is noted, not started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, delay: float = 0.1) -> None:
        made: Any = Slot
        self.slot = made(4, delay, 0.0)
        self.timers: list[float] = []
        monkeypatch.setattr(slots, "call_later", self._later)
        downloader = SimpleNamespace(slots={"busy.example": self.slot}, _latercall=None, ip_concurrency=0)
        downloader.get_slot_key = lambda request: request.meta["download_slot"]
        crawler: Any = get_crawler(Spider)
        crawler.engine = SimpleNamespace(downloader=downloader)
        self.politeness = PolitenessMiddleware.from_crawler(crawler)
        self.request = Request(URL, meta={"download_slot": "busy.example"})
        self.politeness._enters(self.request)

    def _later(self, seconds: float, *_: object) -> Any:
        self.timers.append(seconds)
        return SimpleNamespace(cancel=lambda: self.timers.pop())

    def answer(self, status: int, **headers: str) -> Response:
        return Response(URL, status, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    return Waiting(monkeypatch)


@pytest.mark.parametrize("status", TOO_MUCH)
def test_pause_stops_the_slot(waiting: Waiting, status: int) -> None:
    waiting.politeness._downloaded(waiting.request, waiting.answer(status, Retry_After="20"))
    assert waiting.timers == [pytest.approx(20, abs=1)]
    assert waiting.slot.delay == 0.5


def test_answer_that_was_known_from_its_head_counts_once(waiting: Waiting) -> None:
    answer = waiting.answer(429, Retry_After="20")
    waiting.politeness._too_much(waiting.request, 429, answer.headers)
    waiting.politeness._downloaded(waiting.request, answer)
    waiting.politeness.process_response(waiting.request, answer)
    assert waiting.politeness._crawler.stats.get_value("sitemap/pauses") == 1
    assert waiting.slot.delay == 0.5
    waiting.politeness._downloaded(waiting.request, answer)  # the same request, sent again
    assert waiting.politeness._crawler.stats.get_value("sitemap/pauses") == 2


def test_slot_that_is_new_in_a_pause_is_stopped_too(waiting: Waiting) -> None:
    waiting.politeness._downloaded(waiting.request, waiting.answer(429, Retry_After="20"))
    made: Any = Slot
    waiting.politeness._crawler.engine.downloader.slots["busy.example"] = fresh = made(4, 0.0, 0.0)
    waiting.politeness._enters(waiting.request)
    assert waiting.timers == [pytest.approx(20, abs=1)] * 2
    assert fresh.delay == 0.5


def test_request_is_held_back_from_its_connection(waiting: Waiting) -> None:
    waiting.politeness.sends(waiting.request)
    waiting.politeness._downloaded(waiting.request, waiting.answer(503, Retry_After="20"))
    with pytest.raises(HostPauses):
        waiting.politeness.sends(waiting.request)


def test_requests_that_were_held_back_keep_the_delay(waiting: Waiting) -> None:
    waiting.slot.delay = 0.05

    async def resumed() -> float:
        await waiting.politeness.resume(waiting.request)
        return time.monotonic()

    async def several() -> list[float]:
        return sorted(await asyncio.gather(*(resumed() for _ in range(4))))

    waiting.politeness._host("busy.example").resumes = time.monotonic() + 0.05
    began, moments = time.monotonic(), asyncio.run(several())
    assert all(moment - began > 0.05 * turn - 0.01 for turn, moment in enumerate(moments, 1))


def test_response_times_of_all_attempts_add_up(waiting: Waiting) -> None:
    attempts = Attempts()
    waiting.request.meta.update(attempts.meta())
    for status, seconds in ((503, 0.2), (200, 0.5)):
        waiting.request.meta[RESPONSE_TIME_KEY] = seconds
        waiting.politeness.process_response(waiting.request, waiting.answer(status))
    assert attempts.seconds == pytest.approx(0.7)
