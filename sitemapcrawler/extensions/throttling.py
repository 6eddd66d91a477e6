"""Scrapy extensions: AutoThrottle with exempt hosts, and removal of cancelled timers."""

from __future__ import annotations

from typing import Any, Self

from scrapy import signals
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.task import LoopingCall

from sitemapcrawler.download.slots import Floor
from sitemapcrawler.urls import host_of

SWEEP_S = 1.0
"""Seconds between two sweeps. Without sweeps, 1,000 requests per second leave 80 MB behind within a minute."""


class TimerSweep:
    """Makes the reactor drop cancelled timers, of which each download leaves two: it does so when any timer is due."""

    def __init__(self) -> None:
        self._due: Any = LoopingCall(lambda: None)  # Any: Twisted has no types

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to signals. Raises NotConfigured without a reactor."""
        if not is_reactor_installed():
            raise NotConfigured
        extension = cls()
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def opened(self) -> None:
        self._due.start(SWEEP_S, now=False)

    def closed(self) -> None:
        if self._due.running:
            self._due.stop()


class FlooredThrottle(AutoThrottle):
    """Scrapy's AutoThrottle with DOWNLOAD_DELAY as minimum delay, except for exempt hosts."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._floor = Floor(crawler)

    def _adjust_delay(self, slot: Slot, latency: float, response: Response) -> None:
        floor = self.mindelay
        self.mindelay = self._floor.delay(host_of(response.url), floor)
        try:
            super()._adjust_delay(slot, latency, response)
        finally:
            self.mindelay = floor
