"""Scrapy's download slots."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.downloader import Slot
from scrapy.exceptions import DownloadCancelledError
from twisted.internet.defer import Deferred

from sitemapcrawler.download.slots import cancel_waiting, raise_delay


def slot(delay: float) -> Slot:
    """A slot with the jitter of Scrapy's defaults, in either version."""
    made: Any = Slot
    return made(1, delay, 0.5) if hasattr(Slot, "jitter") else made(1, delay, True)


@pytest.mark.parametrize(("delay", "asked", "expected"), [(0, 2, 2), (1, 2, 2), (2, 2, 2), (3, 2, 3), (0, 0, 0)])
def test_delay_is_raised_and_never_lowered(delay: float, asked: float, expected: float) -> None:
    raised = slot(delay)
    raise_delay(raised, asked)
    assert raised.delay == expected


def test_delay_that_is_asked_for_is_kept_every_time() -> None:
    raised = slot(0.5)
    raise_delay(raised, 2)
    assert {raised.download_delay() for _ in range(50)} == {2}


def test_jitter_stays_where_the_own_delay_is_longer() -> None:
    raised = slot(4)
    raise_delay(raised, 2)
    assert len({raised.download_delay() for _ in range(50)}) > 1


def test_requests_that_wait_are_ended() -> None:
    waiting, errors = slot(5), []
    for _ in range(2):
        turn: Deferred[Any] = Deferred()
        turn.addErrback(lambda failure: errors.append(failure.value))
        waiting.queue.append((Request("https://e.com/"), turn))
    downloader: Any = SimpleNamespace(slots={"e.com": waiting})
    cancel_waiting(downloader)
    assert [type(error) for error in errors] == [DownloadCancelledError] * 2
    assert not waiting.queue


def test_requests_that_are_to_end_by_themselves_stay() -> None:
    waiting, errors = slot(5), []
    for path in ("ours", "theirs", "ours", "theirs"):
        turn: Deferred[Any] = Deferred()
        turn.addErrback(lambda failure: errors.append(str(failure.value)))
        waiting.queue.append((Request(f"https://e.com/{path}"), turn))
    downloader: Any = SimpleNamespace(slots={"e.com": waiting})
    cancel_waiting(downloader, lambda request: request.url.endswith("ours"))
    assert len(errors) == 2
    assert [request.url for request, _ in waiting.queue] == ["https://e.com/theirs"] * 2
