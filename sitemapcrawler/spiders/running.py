"""Checks the settings and arguments of a crawl, runs it, and returns its exit code."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.settings import BaseSettings, Settings

from sitemapcrawler.crawl.params import ARGUMENTS, attributes
from sitemapcrawler.crawl.reading import COLLECTED_AFTER
from sitemapcrawler.crawl.state import Plan
from sitemapcrawler.crawl.wiring import complete_for_audit
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.feeds.reporting import LOST
from sitemapcrawler.feeds.setup import check_columns
from sitemapcrawler.feeds.writable import check_fields_of_names, check_writable
from sitemapcrawler.items import LIMITS
from sitemapcrawler.policy import BREACHES
from sitemapcrawler.spiders.sitemap import AuditSpider, overrides

NOT_STARTED = FEED_LOST = BROKEN_POLICY = 1
BAD_ARGUMENT, STOPPED, NOTHING_READ = 2, 3, 4
"""Exit codes; 0 means finished."""
PYTHON_COLLECTS_AFTER = (700, 2000)
"""The first threshold by default, before and since Python 3.12."""
CHATTY = (
    "scrapy.utils.log",
    "scrapy.addons",
    "scrapy.middleware",
    "scrapy.crawler",
    "scrapy.core.engine",
    "scrapy.extensions.feedexport",
)
"""Scrapy's loggers that report internals at level INFO. `-L` shows them."""

POLL_S = 0.01
"""Seconds between two checks of whether the engine has started."""


def plan(settings: Settings, arguments: Mapping[str, object], spider: type[AuditSpider] = AuditSpider) -> Plan:
    """Validate settings, feeds and the arguments of our spider; open the job. Raises ValueError, one line.

    Pass the plan to `run`, or discard it. Completes the settings of a project that has none of ours.
    """
    complete_for_audit(settings)
    completed = settings.copy()
    spider.update_settings(completed)
    check_columns(completed)
    check_writable(completed)
    if not overrides(spider, "__init__", "from_crawler"):  # they may set attributes
        check_fields_of_names(completed, [*arguments, *dir(spider)])
    return Plan.check(completed, {**attributes(spider, ARGUMENTS), **arguments})


def quieten() -> None:
    """Drop Scrapy's messages about its internals from the log."""
    for name in CHATTY:
        logging.getLogger(name).addFilter(is_news)  # Scrapy's set-up resets levels, but keeps filters


def is_news(record: logging.LogRecord) -> bool:
    """True for warnings and for the reply to Ctrl-C."""
    return record.levelno >= logging.WARNING or " shut" in str(record.msg)


def run(
    process: CrawlerProcessBase, crawler: Crawler, arguments: Mapping[str, object], planned: Plan | None = None
) -> int:
    """Run a crawl and return its exit code. For other spiders it is 0 or `NOT_STARTED`. `planned`: plan of the same
    arguments, from `plan`."""
    stopped = stop_in_order(process, crawler)
    process.crawl(crawler, **arguments, **({} if planned is None else {"_plan": planned}))
    with stopping_on_hangup(), collecting_seldom():
        process.start()
    if process.bootstrap_failed:
        return NOT_STARTED
    if not issubclass(crawler.spidercls, AuditSpider):
        return 0
    return exit_code(
        crawler.stats.get_stats(), stopped.is_set() or Stop.of(crawler).begun(), feeds_of(crawler.settings)
    )


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Spare the garbage collector what the set-up has created, and raise its thresholds, unless they were changed or
    collection is off."""
    before = gc.get_threshold()
    gc.freeze()
    if before[0] in PYTHON_COLLECTS_AFTER:
        gc.set_threshold(*COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def stopping_on_hangup() -> Iterator[None]:
    """Handle SIGHUP like SIGTERM, unless it is ignored (`nohup`)."""
    number = getattr(signal, "SIGHUP", None)  # Windows has none
    if number is None or signal.getsignal(number) is not signal.SIG_DFL:
        yield
        return
    signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)


def feeds_of(settings: BaseSettings) -> int:
    """Number of feeds that are stored whatever they hold."""
    empty = settings.getbool("FEED_STORE_EMPTY")
    return sum(bool(options.get("store_empty", empty)) for options in settings.getdict("FEEDS").values())


def exit_code(stats: Mapping[str, Any], stopped: bool = False, feeds: int = 0) -> int:  # Any: as Scrapy types them
    """Exit code from a crawl's stats: lost feeds first, then an early stop, then nothing read. `feeds`: number of feeds
    that a crawl has stored at its end; one that fails earlier has no count of its own."""
    lost = "sitemap/store_lost" in stats or LOST in stats
    stored = sum(number for name, number in stats.items() if name.startswith("feedexport/success_count/"))
    lost |= "finish_reason" in stats and stored < feeds  # a second signal leaves a crawl no end
    if lost or any(name.startswith("feedexport/failed_count/") for name in stats):
        return FEED_LOST
    if stopped or stats.get("sitemap/partial"):
        return STOPPED
    return 0 if stats.get("sitemap/files_read") else NOTHING_READ


def policy_code(code: int, stats: Mapping[str, Any]) -> int:  # Any: as Scrapy types them
    """Exit code of a crawl with its policy: a broken one fails what came to its end, and what a limit has ended."""
    ended = code == 0 or (code == STOPPED and stats.get("sitemap/partial") in LIMITS)
    return BROKEN_POLICY if ended and stats.get(BREACHES) else code


def stop_in_order(process: CrawlerProcessBase, crawler: Crawler) -> threading.Event:
    """Postpone a stop that arrives before the engine runs. Call it before the crawl and the reactor start. Returns an
    event that is set when a stop of the crawl begins. A second signal still ends the process at once.

    Scrapy handles Ctrl-C and SIGTERM once its reactor runs, and only stops an engine that has started. Earlier signals
    would print a traceback, or end the process without feeds.
    """
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
