"""Delays and pauses of hosts, and which hosts are exempt from delays."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader import Downloader, Slot
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.shared import Attempts, Named
from sitemapcrawler.middlewares import politeness as module
from sitemapcrawler.middlewares.adapted import StoppableRetryMiddleware
from sitemapcrawler.middlewares.politeness import HostPace, PolitenessMiddleware, is_loopback, leave_slot
from sitemapcrawler.replies.kinds import TOO_MUCH
from sitemapcrawler.settings import AUTOTHROTTLE_START_DELAY, DOWNLOAD_DELAY
from sitemapcrawler.urls import Authority

HOST = "busy.example"
NAMED = {Authority("127.0.0.1", 8000), Authority("localhost", 80), Authority("::1", 80), Authority("shop.example", 443)}


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


# ---- hosts and their slots


def slot(delay: float, jitter: float = 0.0) -> Slot:
    """A slot in either version of Scrapy."""
    made: Any = Slot
    return made(4, delay, jitter) if hasattr(Slot, "jitter") else made(4, delay, bool(jitter))


class Waiting:
    """A crawl of `NAMED` and one host with a slot, in which a request waits; timers are noted, not started."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        host: str = HOST,
        delay: float = 0.1,
        slots: dict[str, Any] | None = None,
        **settings: float,
    ) -> None:
        crawler: Any = get_crawler(Spider)
        ours = {"DOWNLOAD_DELAY": DOWNLOAD_DELAY, "AUTOTHROTTLE_START_DELAY": AUTOTHROTTLE_START_DELAY}
        crawler.settings = Settings()  # those of the crawler are frozen
        crawler.settings.setdict({**ours, "DOWNLOAD_DELAY_JITTER": 0.0}, "project")
        crawler.settings.setdict(settings, "cmdline")
        Named.of(crawler).authorities |= NAMED
        self.host = host
        self.slots = {host: slot(delay, crawler.settings.getfloat("DOWNLOAD_DELAY_JITTER"))}
        downloader = SimpleNamespace(slots=self.slots, per_slot_settings=slots or {})
        crawler.engine = SimpleNamespace(downloader=downloader)
        self.stats = crawler.stats
        self.timers: list[float] = []
        monkeypatch.setattr(module, "call_later", lambda seconds, *_: self.timers.append(seconds))
        self.politeness = PolitenessMiddleware.from_crawler(crawler)
        self.request = Request(f"https://{host}/", meta={"download_slot": host})
        self.politeness._enters(self.request)

    @property
    def delay(self) -> float:
        return self.slots[self.host].delay

    @property
    def resumes(self) -> float:
        """Seconds until the next request may leave the slot."""
        return self.slots[self.host].lastseen + self.delay - time.monotonic()

    def answer(self, status: int, throttle: float | None = None, **headers: str) -> Response:
        """Answer the request, after AutoThrottle has set the delay to `throttle`."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        response = Response(self.request.url, status, headers)
        if throttle is not None:
            self.slots[self.host].delay = throttle
        self.politeness._downloaded(self.request, response)
        return response


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    return Waiting(monkeypatch)


@pytest.mark.parametrize("status", TOO_MUCH)
def test_waiting_requests_of_a_host_pause(waiting: Waiting, status: int) -> None:
    waiting.answer(status, Retry_After="20")
    assert waiting.resumes == pytest.approx(20, abs=1)
    assert waiting.timers == [pytest.approx(20, abs=1)]
    assert waiting.politeness.pace(HOST).rest == pytest.approx(20, abs=1)
    assert waiting.politeness.pace("rested.example").rest == 0
    waiting.answer(200, throttle=30.0)  # that of a request that was sent before the pause
    assert waiting.resumes == pytest.approx(20, abs=1)


def test_delay_after_a_pause_is_longer_until_the_host_recovers(waiting: Waiting) -> None:
    waiting.answer(429, Retry_After="20")
    waiting.politeness._hosts[HOST].resumes = time.monotonic()
    waiting.politeness._apply(HOST)
    assert waiting.delay == 0.5
    waiting.answer(200)
    assert waiting.delay == pytest.approx(0.4)
    for _ in range(20):
        waiting.answer(404)
    assert waiting.delay == 0.1


@pytest.mark.parametrize(
    ("before", "after", "delay"), [(0, "0", 0.5), (0, "1", 1), (0, "20", 20), (0, "90", 60), (5, "1", 5)]
)
def test_delay_of_a_host_that_says_when_it_is_ready_is_no_longer_than_that(
    waiting: Waiting, before: int, after: str, delay: float
) -> None:
    for headers in [*[{}] * before, *[{"Retry_After": after}] * 9]:
        waiting.answer(503, **headers)
        waiting.politeness._hosts[HOST].resumes = time.monotonic()
    waiting.politeness._apply(HOST)
    assert waiting.delay == delay


@pytest.mark.parametrize(("status", "slowdown"), [(429, 60), (503, 5)])
def test_section_under_maintenance_does_not_slow_a_crawl_down_as_far_as_a_limit_of_requests(
    waiting: Waiting, status: int, slowdown: float
) -> None:
    host = waiting.politeness._hosts[HOST]
    for _ in range(9):
        waiting.answer(status)
        host.resumes = time.monotonic()
    assert host.slowdown == slowdown


def test_delay_of_autothrottle_holds_where_it_is_longer(waiting: Waiting) -> None:
    waiting.answer(429, Retry_After="0")
    waiting.answer(200, throttle=3.0)
    assert waiting.delay == 3
    waiting.answer(200, throttle=0.1)
    assert waiting.delay == pytest.approx(0.5 * 0.8**2)


def test_answer_that_was_known_from_its_head_counts_once(waiting: Waiting) -> None:
    headers = Response(waiting.request.url, headers={"Retry-After": "20"}).headers
    waiting.politeness._too_much(waiting.request, 429, headers)
    assert waiting.resumes == pytest.approx(20, abs=1)
    waiting.answer(429, Retry_After="20")
    assert waiting.stats.get_value("sitemap/pauses") == 1
    waiting.answer(429, Retry_After="20")  # the same request, sent again
    assert waiting.stats.get_value("sitemap/pauses") == 2


def test_slot_that_is_new_in_a_pause_pauses_too(waiting: Waiting) -> None:
    waiting.answer(429, Retry_After="20")
    waiting.slots[HOST] = slot(0.0)
    waiting.politeness._enters(waiting.request)
    assert waiting.resumes == pytest.approx(20, abs=1)


def test_pause_is_not_shortened_by_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    jittery = Waiting(monkeypatch, DOWNLOAD_DELAY_JITTER=0.5)
    delays = {jittery.slots[HOST].download_delay() for _ in range(50)}
    assert len(delays) > 1
    jittery.answer(429, Retry_After="20")
    assert {jittery.slots[HOST].download_delay() for _ in range(50)} == {jittery.delay}


def test_response_times_of_all_attempts_add_up(waiting: Waiting) -> None:
    attempts = Attempts()
    waiting.request.meta.update(attempts.meta())
    for status, seconds in ((503, 0.2), (200, 0.5)):
        waiting.request.meta["download_latency"] = seconds
        waiting.answer(status)
    assert attempts.seconds == pytest.approx(0.7)


# ---- exempt hosts


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
        ("[::1]", 0.0),
        ("localhost", 0.0),
        ("127.0.0.2", 0.1),  # not named
        ("shop.localhost", 0.1),
        ("shop.example", 0.1),  # named, wherever it resolves to
        ("other.example", 0.1),
    ],
)
def test_only_loopback_hosts_that_were_named_have_no_delay(
    monkeypatch: pytest.MonkeyPatch, host: str, expected: float
) -> None:
    waiting = Waiting(monkeypatch, host)
    assert waiting.delay == expected
    waiting.answer(200, throttle=0.3)
    assert waiting.delay == (0.3 if expected else 0)


@pytest.mark.parametrize(
    "chosen",
    [
        {"DOWNLOAD_DELAY": DOWNLOAD_DELAY},
        {"DOWNLOAD_DELAY": 2.0},
        {"AUTOTHROTTLE_START_DELAY": 5.0},
        {"slots": {"localhost": {"delay": 0.1}}},
    ],
    ids=str,
)
def test_delay_that_the_user_has_chosen_holds_for_all(monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any]) -> None:
    assert Waiting(monkeypatch, "localhost", **chosen).delay == 0.1


def test_exempt_host_pauses_too(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Waiting(monkeypatch, "localhost")
    waiting.answer(429, Retry_After="20")
    assert waiting.resumes == pytest.approx(20, abs=1)


def test_host_that_wants_too_long_a_pause_gets_the_longest_once(waiting: Waiting) -> None:
    pace = waiting.politeness.pace(HOST)
    waiting.answer(503, Retry_After="3600")
    assert pace.rest == pytest.approx(120, abs=1)
    waiting.politeness._host(HOST).resumes = 0.0
    waiting.answer(503, Retry_After="3600")
    assert (pace.rest, waiting.delay) == (0, 0.5)
    waiting.answer(503, Retry_After="60")
    assert pace.rest == pytest.approx(60, abs=1)


def test_host_that_counts_requests_over_a_long_time_gets_pauses_that_grow(waiting: Waiting) -> None:
    pauses = []
    for left in (300, 180, 178, 174, 166):
        waiting.answer(429, Retry_After=str(left))
        pauses.append(round(waiting.politeness.pace(HOST).rest))
        waiting.politeness._host(HOST).resumes = 0.0
    assert pauses == [120, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("status", "wait", "again"),
    [(503, "120", True), (503, "121", False), (429, "3600", False), (503, "soon", True), (500, "3600", True)],
)
def test_server_that_is_back_after_the_longest_pause_is_not_asked_before(status: int, wait: str, again: bool) -> None:
    crawler = get_crawler(Spider)
    crawler.spider = Spider.from_crawler(crawler, "crawl")
    middleware = StoppableRetryMiddleware.from_crawler(crawler)
    answer = Response(f"http://{HOST}/", status, headers={"Retry-After": wait})
    assert (middleware.process_response(Request(answer.url), answer) is not answer) is again
