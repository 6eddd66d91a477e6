"""Signals that arrive before a crawl runs: a quiet exit during imports, an orderly stop afterwards.

Scrapy handles Ctrl-C and SIGTERM once its reactor runs, and only stops an engine that has started. Earlier signals
would print a traceback, or end the process without feeds.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler, CrawlerProcessBase

POLL_S = 0.01
"""Seconds between two checks of whether the engine has started."""


@contextmanager
def quiet_interrupts() -> Iterator[None]:
    """Context in which Ctrl-C ends the process as the system does, without a traceback: the shell sees code 130."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def stop_in_order(process: CrawlerProcessBase, crawler: Crawler) -> threading.Event:
    """Postpone a stop that arrives before the engine runs. Call it before the crawl and the reactor start. Returns an
    event that is set when the crawl is told to stop. A second signal still ends the process at once."""
    import asyncio

    from scrapy import signals
    from twisted.internet import reactor

    begun, closed, stopped = threading.Event(), threading.Event(), threading.Event()
    stop = crawler.stop_async

    def can_stop() -> bool:
        over = closed.is_set() or crawler not in process.crawlers
        return over or (begun.is_set() and crawler.engine.running)

    async def stop_async() -> None:  # a closing engine calls it too
        if not closed.is_set():
            if stopped.is_set():
                return  # a second signal: the reactor waits for this call, and must end at once
            stopped.set()
        while not can_stop():
            await asyncio.sleep(POLL_S)
        await stop()

    crawler.signals.connect(begun.set, signals.engine_started, weak=False)
    crawler.signals.connect(closed.set, signals.spider_closed, weak=False)
    crawler.stop_async = stop_async  # type: ignore[method-assign]  # Scrapy would not stop an engine that begins
    held = _hold()
    if held is not None:
        # Scrapy installs its own handlers when the reactor has started, before any delayed call.
        reactor.callWhenRunning(reactor.callLater, 0, _deliver, held)
    return stopped


def _hold() -> list[int] | None:
    """Collect signals until Scrapy handles them; None outside the main thread, which receives none."""
    if threading.current_thread() is not threading.main_thread():
        return None
    held: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: held.append(number))
    return held


def _deliver(held: list[int]) -> None:
    for number in held:
        signal.raise_signal(number)
