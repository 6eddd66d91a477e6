"""Scrapy extensions on time: AutoThrottle with exempt hosts, and the removal of cancelled timers."""

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
"""Seconds between two sweeps. Without any, a minute of requests leaves some 80 MB behind at 1,000 a second."""


class TimerSweep:
    """Has the reactor drop cancelled timers. It drops them whenever some timer is due, and each download leaves two."""

    def __init__(self) -> None:
        self._due: Any = LoopingCall(lambda: None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the life of the spider; NotConfigured where there is no reactor."""
        if not is_reactor_installed():
            raise NotConfigured
        extension = cls()
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def opened(self) -> None:
        """Begin to sweep."""
        self._due.start(SWEEP_S, now=False)

    def closed(self) -> None:
        """Sweep no more."""
        if self._due.running:
            self._due.stop()


class FlooredThrottle(AutoThrottle):
    """Scrapy's AutoThrottle, for which DOWNLOAD_DELAY is the least delay; exempt hosts have none."""

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
