"""Scrapy's download slots, one a host: what Scrapy 2.18 and 2.19 name differently, and requests that wait in them."""

from __future__ import annotations

from typing import Any

from scrapy.core.downloader import Downloader, Slot
from scrapy.exceptions import DownloadCancelledError
from twisted.python.failure import Failure


def raise_delay(slot: Slot, seconds: float) -> None:
    """Let at least so many seconds pass between two requests, without jitter, which would go below."""
    if 0 < seconds >= slot.delay:
        slot.delay = seconds
        still: Any = slot
        if hasattr(slot, "jitter"):
            still.jitter = 0.0
        else:  # Scrapy 2.18
            still.randomize_delay = False


def cancel_waiting(downloader: Downloader) -> None:
    """End the requests that wait for their turn as DownloadCancelledError: Scrapy would make each of them first."""
    for slot in downloader.slots.values():
        while slot.queue:
            request, turn = slot.queue.popleft()
            error: Any = Failure
            turn.errback(error(DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")))
