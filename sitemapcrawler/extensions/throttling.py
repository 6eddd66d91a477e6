"""The least delay of a host, DOWNLOAD_DELAY, from which the user's own machine is exempt."""

from __future__ import annotations

from typing import Any

from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler import settings as ours
from sitemapcrawler.download.addresses import authority, why_refused
from sitemapcrawler.download.refusals import spelt
from sitemapcrawler.urls import host_of

LOCALHOST = "localhost"
"""With all names below it, the machine itself. Source: RFC 6761, 6.3"""


class Floor:
    """Says which hosts DOWNLOAD_DELAY holds for: all of them where the user has chosen it.

    The default of this project holds for all but loopback hosts that the user named. What any other name resolves to
    is its owner's choice, so that it does not count.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._default = is_default(crawler.settings)

    def delay(self, host: str, seconds: float) -> float:
        """Seconds between two requests to a host, of which DOWNLOAD_DELAY asks for `seconds`."""
        return 0.0 if self._default and is_loopback(host) and self._is_named(host) else seconds

    def _is_named(self, host: str) -> bool:
        bare, _ = authority(host, 0)
        return any(bare == name for name, _ in getattr(self._crawler.spider, "named_authorities", ()))


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


def is_default(settings: BaseSettings) -> bool:
    """True where DOWNLOAD_DELAY is that of this project, and nobody has chosen it."""
    priority: Any = settings.getpriority("DOWNLOAD_DELAY")
    return priority <= SETTINGS_PRIORITIES["project"] and settings.getfloat("DOWNLOAD_DELAY") == ours.DOWNLOAD_DELAY


def is_loopback(host: str) -> bool:
    """True for a host of a URL that is this machine by its very spelling: an address, or localhost."""
    name, _ = authority(host, 0)
    address = spelt(name)
    if address is not None:
        return why_refused(address) == "loopback"
    return name == LOCALHOST or name.endswith(f".{LOCALHOST}")
