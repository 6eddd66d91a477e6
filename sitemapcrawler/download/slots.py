"""Scrapy's download slots, one per host: delays, pauses and the requests that wait in them, in Scrapy 2.18 and 2.19."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

from scrapy import Request
from scrapy.core.downloader import Downloader, Slot
from scrapy.core.engine import ExecutionEngine
from scrapy.exceptions import DownloadCancelledError
from scrapy.utils.asyncio import call_later
from twisted.python.failure import Failure

SLOT_KEY = Downloader.DOWNLOAD_SLOT
"""Key of a request's slot in its meta, put there by Scrapy or by who made it."""
TOO_MUCH = (429, 503)
"""Statuses by which a host asks for a pause (RFC 6585, 4; RFC 9110, 15.6.4)."""
too_much = object()
"""Signal with `request`, `status` and `headers`: an answer with a status of `TOO_MUCH` begins. Its body may last."""


def queued(engine: ExecutionEngine, unknown: int) -> int:
    """Requests that wait in the scheduler. `unknown`: of one that does not count them, and has some."""
    scheduler = engine._slot.scheduler if engine._slot is not None else None  # private, alike in 2.18 and 2.19
    if isinstance(scheduler, Sized):
        return len(scheduler)
    return unknown if scheduler is not None and scheduler.has_pending_requests() else 0


def raise_delay(slot: Slot, seconds: float) -> None:
    """Let at least so many seconds pass between two requests, without jitter, which would go below."""
    if 0 < seconds >= slot.delay:
        slot.delay = seconds
        still: Any = slot
        if hasattr(slot, "jitter"):
            still.jitter = 0.0
        else:  # Scrapy 2.18
            still.randomize_delay = False


def without_jitter(slot: Slot) -> None:
    """Apply `DOWNLOAD_DELAY_JITTER = 0`, a setting that Scrapy 2.18 does not know."""
    still: Any = slot
    if not hasattr(slot, "jitter"):
        still.randomize_delay = False


def pause(downloader: Downloader, slot: Slot, seconds: float) -> None:
    """Send nothing from a slot for some seconds, not even the requests that wait in it. Then its delay applies."""
    if slot.latercall:  # the end of a delay, which is checked again after the pause
        slot.latercall.cancel()
    slot.latercall = call_later(seconds, downloader._latercall, slot)


def leave_slot(downloader: Downloader, request: Request) -> None:
    """Let a redirected request wait for the host that it asks: Scrapy keeps it in the slot of the host that sent it,
    which may be slow, and where the pace of the host that is asked does not count. A slot that was chosen stays."""
    sent_by = request.meta.get("redirect_urls")
    if sent_by and request.meta.get(SLOT_KEY) == downloader.get_slot_key(Request(sent_by[-1])):
        del request.meta[SLOT_KEY]


def cancel_waiting(downloader: Downloader, may: Callable[[Request], bool] = lambda _: True) -> None:
    """End the requests that wait for their turn, and may be ended, as DownloadCancelledError: Scrapy would make each of
    them first."""
    for slot in downloader.slots.values():
        while ended := [(request, turn) for request, turn in slot.queue if may(request)]:
            left = [waiting for waiting in slot.queue if not may(waiting[0])]
            slot.queue.clear()
            slot.queue.extend(left)
            for request, turn in ended:
                error: Any = Failure
                turn.errback(error(DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")))
