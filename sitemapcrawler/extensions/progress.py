"""Scrapy extension that shows progress: live on a terminal, else as a log line at intervals."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import create_looping_call

from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.download.crawl import Repeating
from sitemapcrawler.extensions.gauge import Gauge
from sitemapcrawler.feeds.setup import local_path
from sitemapcrawler.middlewares.politeness import PolitenessMiddleware
from sitemapcrawler.terminal.progress import IN_LINE, Row, line, max_hosts, rows
from sitemapcrawler.terminal.streams import can_be_live, same_terminal

if TYPE_CHECKING:
    from sitemapcrawler.terminal.display import Display

logger = logging.getLogger(__name__)

LIVE_WINDOW_S = 15.0
"""Window in seconds over which the display measures speed, long enough for hosts with one request every few seconds."""


class ProgressDisplay:
    """Shows the progress of a crawl, controlled by SITEMAP_PROGRESS and SITEMAP_PROGRESS_INTERVAL.

    If several crawls share a process, the first one gets the terminal.
    """

    _on_terminal: ClassVar[ProgressDisplay | None] = None

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._interval = crawler.settings.getfloat("SITEMAP_PROGRESS_INTERVAL")
        self._lines: Repeating | None = None
        self._display: Display | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self) -> None:
        told = logs_elsewhere()
        if ProgressDisplay._on_terminal is None and is_live(self._crawler.settings):
            self._show()
        else:
            told = True
        if told and 0 < self._interval < math.inf:
            self._tell()

    def closed(self) -> None:
        """Stop, and restore the terminal for the closing line."""
        if self._lines is not None and self._lines.running:
            self._lines.stop()
        if self._display is not None:
            self._display.stop()
        if ProgressDisplay._on_terminal is self:
            ProgressDisplay._on_terminal = None

    def _show(self) -> None:
        from sitemapcrawler.terminal.display import Display  # rich is slow to import, and useless for a pipe

        ProgressDisplay._on_terminal = self
        gauge = self._gauge(LIVE_WINDOW_S)

        def tell(width: int, unicode: bool) -> Sequence[Row]:
            return rows(gauge.measure(max_hosts(width)), width, unicode)

        self._display = Display(sys.stderr, tell)
        self._display.start()

    def _tell(self) -> None:
        gauge = self._gauge(self._interval)

        def tell() -> None:
            logger.info("%s", line(gauge.measure(IN_LINE)))

        gauge.measure(IN_LINE)
        self._lines = create_looping_call(tell)
        self._lines.start(self._interval, now=False)

    def _gauge(self, window: float) -> Gauge:
        politeness = self._crawler.get_downloader_middleware(PolitenessMiddleware)
        rests = politeness.resting if politeness is not None else None
        return Gauge(self._crawler, Audit.of(self._crawler), window, rests)


def is_live(settings: BaseSettings) -> bool:
    """True if the display may be drawn on standard error."""
    wanted = settings.getbool("SITEMAP_PROGRESS") and can_be_live(sys.stderr)
    return wanted and not any(map(is_on_terminal, settings.getdict("FEEDS")))


def is_on_terminal(uri: str | Path) -> bool:
    """True for a feed that goes to the terminal of standard error."""
    path = local_path(uri)
    if path is None:
        return urlsplit(str(uri)).scheme == "stdout" and same_terminal(sys.__stdout__, sys.stderr)
    with suppress(OSError, ValueError):
        return path == Path("/dev/tty") or path.stat().st_rdev == os.fstat(sys.stderr.fileno()).st_rdev
    return False


def logs_elsewhere() -> bool:
    """True if a log handler writes to anything but the terminal of standard error."""
    streams = [handler.stream for handler in logging.root.handlers if isinstance(handler, logging.StreamHandler)]
    return any(not same_terminal(stream, sys.stderr) for stream in streams)
