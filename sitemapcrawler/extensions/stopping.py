"""Scrapy extensions: stopping in time, the closing line, and log messages without items."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from twisted.python.failure import Failure

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import UNREAD, JsonObject
from sitemapcrawler.rules import Severity
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.urls.display import counted

if TYPE_CHECKING:
    from scrapy.extensions.feedexport import FeedSlot

logger = logging.getLogger("sitemapcrawler")

SHORTEST_S = 0.001
"""Minimum duration in seconds for computing the rate."""


class Stopping:
    """Announces a stop as soon as it is decided, and stops the crawl after `max_time`.

    Scrapy reveals the reason only when it closes the pipelines, after waiting for running requests. So this wraps the
    engine's own method: it begins the `Stop`, which notifies the download handlers, before the wait.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stop = Stop.of(crawler)
        self._budget: asyncio.TimerHandle | None = None
        self._closing: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def opened(self) -> None:
        """Wrap the engine's method, and start the timer of `max_time`."""
        engine = self._crawler.engine
        close = engine.close_spider_async

        async def close_spider_async(*, reason: str = "cancelled") -> None:
            self._stop.begin(reason)
            if self._closing is None:
                self._closing = asyncio.ensure_future(close(reason=reason))
            await asyncio.shield(self._closing)  # Scrapy itself would not wait for pipelines that are closing

        engine.close_spider_async = close_spider_async  # type: ignore[method-assign]  # see the docstring
        if self._stop.max_time is not None:
            self._budget = asyncio.get_running_loop().call_later(self._stop.max_time, self._stop.end, "max_time")

    def closed(self) -> None:
        if self._budget is not None:
            self._budget.cancel()


class ClosingLine:
    """Logs one line at the end: files, URLs, errors and warnings, seconds, URLs per second."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._started = time.monotonic()
        self._failed: Counter[str] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the end of feeds and crawl. Raises NotConfigured unless the spider is an AuditSpider."""
        if not issubclass(crawler.spidercls, AuditSpider):
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension.wrote, signals.feed_slot_closed)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def wrote(self, slot: FeedSlot) -> None:
        """Log a finished feed, unless it could not be stored: Scrapy has logged and counted that."""
        kind = type(slot.storage).__name__
        failed = self._stats.get_value(f"feedexport/failed_count/{kind}", 0)
        if failed == self._failed[kind] and not getattr(slot.storage, "lost", False):
            logger.info("wrote %s", slot.uri)
        self._failed[kind] = failed

    def closed(self) -> None:
        logger.info("%s", closing_line(self._stats.get_stats(), time.monotonic() - self._started))


def closing_line(stats: JsonObject, seconds: float) -> str:
    """The result of a crawl in one line."""
    files, urls = (stats.get(f"sitemap/{name}", 0) for name in ("files", "urls"))
    partial = stats.get("sitemap/partial")
    only_changes = "sitemap/only" in stats
    counts = [counted(files, "file"), counted(urls, "changed URL" if only_changes else "URL"), *problems(stats)]
    counts += [stats["sitemap/verified"]] if "sitemap/verified" in stats else []
    pace = f" ({counted(round(urls / max(seconds, SHORTEST_S)), 'URL')}/s)"
    line = f"{', '.join(counts)}; took {seconds:.1f} s{'' if only_changes else pace}"
    line += f"; limited by {limits}" if (limits := stats.get("sitemap/limited_by")) else ""
    return f"{line}; stopped before the end: {partial}" if partial else line


def problems(stats: JsonObject) -> Iterator[str]:
    """Where errors and warnings are; without errors, the number of unread and truncated files."""
    for severity in (Severity.ERROR, Severity.WARNING):
        if found := stats.get(f"sitemap/found/{severity}"):
            yield found
    if not stats.get(f"sitemap/found/{Severity.ERROR}"):
        if unread := sum(stats.get(f"sitemap/files/{outcome}", 0) for outcome in UNREAD):
            yield f"{counted(unread, 'file')} not read"
        if cut := stats.get("sitemap/files/truncated"):
            yield f"{counted(cut, 'file')} not read to {'its' if cut == 1 else 'their'} end"


class BriefFormatter(LogFormatter):
    """Scrapy's log messages without the items, each of which may hold a thousand records."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult | None:  # type: ignore[override]  # its documentation allows None
        """Scrapy's message, only if a handler writes level DEBUG: making it costs more than a record. Scrapy opens its
        loggers to all levels, and sets LOG_LEVEL on the handler."""
        written = any(handler.level <= logging.DEBUG for handler in logging.root.handlers)
        return super().crawled(request, response, spider) if written else None

    def scraped(self, item: object, response: Response | Failure | None, spider: Spider) -> LogFormatterResult | None:  # type: ignore[override]  # its documentation allows None
        """None: the log names files instead of items."""
        return None

    def item_error(
        self, item: object, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        """Name only the type of the item."""
        return {"level": logging.ERROR, "msg": "Error processing a %(kind)s", "args": {"kind": type(item).__name__}}
