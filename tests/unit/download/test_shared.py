"""Requests and downloads of a crawl that is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader import Slot
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError
from scrapy.utils.test import get_crawler
from twisted.internet.defer import Deferred

from sitemapcrawler.download import shared
from sitemapcrawler.download.shared import Ending, cancel_waiting, stopping


def test_requests_that_wait_are_ended() -> None:
    waiting, errors = Slot(1, 5, 0), []
    for _ in range(2):
        turn: Deferred[Any] = Deferred()
        turn.addErrback(lambda failure: errors.append(failure.value))
        waiting.queue.append((Request("https://e.com/"), turn))
    downloader: Any = SimpleNamespace(slots={"e.com": waiting})
    cancel_waiting(downloader)
    assert [type(error) for error in errors] == [DownloadCancelledError] * 2
    assert not waiting.queue


def test_requests_that_are_to_end_by_themselves_stay() -> None:
    waiting, errors = Slot(1, 5, 0), []
    for path in ("ours", "theirs", "ours", "theirs"):
        turn: Deferred[Any] = Deferred()
        turn.addErrback(lambda failure: errors.append(str(failure.value)))
        waiting.queue.append((Request(f"https://e.com/{path}"), turn))
    downloader: Any = SimpleNamespace(slots={"e.com": waiting})
    cancel_waiting(downloader, lambda request: request.url.endswith("ours"))
    assert len(errors) == 2
    assert [request.url for request, _ in waiting.queue] == ["https://e.com/theirs"] * 2


REQUEST = Request("http://a.test/x")


class Timer:
    """Takes the place of the clock: what was put off, and for how long."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Callable[[], None]]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append((seconds, call))


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> Timer:
    timer = Timer()
    monkeypatch.setattr(shared, "call_later", timer.later)
    return timer


def begun(timer: Timer) -> Ending:
    """An ending of which the signal has told, twice."""
    crawler = get_crawler(settings_dict={"SITEMAP_STOP_GRACE": 3})
    end = Ending(crawler)
    for _ in range(2):
        crawler.signals.send_catch_log(stopping)
    assert [seconds for seconds, _ in timer.calls] == [3.0]
    return end


def test_failure_of_a_crawl_that_goes_on_is_left_alone(timer: Timer) -> None:
    end = Ending(get_crawler())
    end.admit(REQUEST)
    with pytest.raises(DownloadFailedError), end.running(REQUEST, lambda: None):
        raise DownloadFailedError
    assert timer.calls == []


def test_failure_within_the_grace_is_a_cancelled_download(timer: Timer) -> None:
    end = begun(timer)
    end.admit(REQUEST)
    stopped = pytest.raises(DownloadCancelledError, match=r"^http://a\.test/x: the crawl was stopped")
    with stopped, end.running(REQUEST, lambda: None):
        raise DownloadFailedError


def test_downloads_that_still_run_are_cancelled_once(timer: Timer) -> None:
    end = begun(timer)
    cancelled: list[str] = []
    with end.running(REQUEST, lambda: cancelled.append("ended before")):
        pass
    with end.running(REQUEST, lambda: cancelled.append("running")):
        assert cancelled == []
        timer.calls[0][1]()
    assert cancelled == ["running"]


def test_nothing_begins_after_the_grace(timer: Timer) -> None:
    end = begun(timer)
    timer.calls[0][1]()
    with pytest.raises(DownloadCancelledError):
        end.admit(REQUEST)


class Keeping(Spider):
    """Takes up no request again."""

    def may_cancel(self, request: Request) -> bool:
        return False


def test_request_that_the_spider_does_not_take_up_again_ends_by_itself(timer: Timer) -> None:
    crawler = get_crawler(settings_dict={"SITEMAP_STOP_GRACE": 3})
    crawler.spider = Keeping("keeping")
    end = Ending(crawler)
    end.begin()
    with end.running(REQUEST, lambda: pytest.fail("cancelled")):
        timer.calls[0][1]()
    end.admit(REQUEST)
    with pytest.raises(DownloadFailedError), end.running(REQUEST, lambda: None):
        raise DownloadFailedError


def test_cancelled_task_stays_cancelled(timer: Timer) -> None:
    with pytest.raises(asyncio.CancelledError), begun(timer).running(REQUEST, lambda: None):
        raise asyncio.CancelledError
