"""Scrapy extension: AutoThrottle with exempt hosts and a quick start."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response

from sitemapcrawler.download.slots import SLOT_KEY, TOO_MUCH, Departures, Floor, is_default
from sitemapcrawler.urls import host_of

FIRST_REQUESTS = 10
"""Requests of the quick start of a host, robots.txt included."""
FIRST_DELAY_S = 0.1
"""Minimum seconds between two of them: 10 requests a second, also for hosts that are exempt from DOWNLOAD_DELAY."""
SERVER_ERROR = 500
"""Statuses from here on are errors of the server (RFC 9110, 15.6)."""


@dataclass(slots=True)
class QuickStart:
    """AutoThrottle's delays for the first requests to a host: it runs twice, from a short and from the usual start."""

    delay: float
    """Seconds between two requests now, from a start at DOWNLOAD_DELAY."""
    usual: float
    """Seconds after the quick start, from a start at AUTOTHROTTLE_START_DELAY, as if there had been no quick start."""
    entered: int = 0
    """Requests that have entered the slot."""
    answers: int = 0
    """Responses."""
    finished: int = 0
    """Requests that were answered or have failed."""


class FlooredThrottle(AutoThrottle):
    """Scrapy's AutoThrottle with DOWNLOAD_DELAY as minimum delay, except for exempt hosts, and with a quick start.

    The delay of a host starts low for `FIRST_REQUESTS`, so that a small site is read in a moment; it grows with the
    response time as usual. The quick start ends early at a failed request, a 429 or 5xx, or a delay that
    PolitenessMiddleware demands (Crawl-delay, Retry-After). Afterwards the delay is what it would be without. An
    AUTOTHROTTLE_START_DELAY of the user, a slot with a delay of its own, or jitter, switches it off.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._floor = Floor(crawler)
        steady = settings.getfloat("DOWNLOAD_DELAY_JITTER", 0.5) == 0
        self._quick = steady and is_default(settings, "AUTOTHROTTLE_START_DELAY")
        self._starts: dict[str, QuickStart | None] = {}
        crawler.signals.connect(self._enters, signals.request_reached_downloader)
        Departures.of(crawler).listeners.append(self._leaves)
        crawler.signals.connect(self._finished, signals.request_left_downloader)

    def _adjust_delay(self, slot: Slot, latency: float, response: Response) -> None:
        self._adjust(slot, latency, response, self._floor.delay(host_of(response.url), self.mindelay))

    def _adjust(self, slot: Slot, latency: float, response: Response, floor: float) -> None:
        """Adjust the delay of a slot by AutoThrottle, down to `floor` seconds."""
        mindelay, self.mindelay = self.mindelay, floor
        try:
            super()._adjust_delay(slot, latency, response)
        finally:
            self.mindelay = mindelay

    def _response_downloaded(self, response: Response, request: Request, spider: Spider) -> None:
        key, slot = self._get_slot(request, spider)
        start = self._going_on(key, slot)
        if key is None or slot is None or start is None:
            super()._response_downloaded(response, request, spider)
            return
        start.answers += 1
        slot.delay = start.usual
        super()._response_downloaded(response, request, spider)
        start.usual, slot.delay = slot.delay, start.delay
        if response.status >= SERVER_ERROR or response.status in TOO_MUCH:
            self._end(key, slot, start)
        elif (latency := request.meta.get("download_latency")) is not None:
            self._adjust(slot, latency, response, self._first_delay)
            start.delay = slot.delay

    @property
    def _first_delay(self) -> float:
        return max(self.mindelay, FIRST_DELAY_S)

    def _enters(self, request: Request) -> None:
        """Begin the quick start of a host with its first slot, before PolitenessMiddleware raises the delay."""
        key = request.meta[SLOT_KEY]
        downloader = self.crawler.engine.downloader
        slot = downloader.slots[key]
        if key not in self._starts:
            quick = self._quick and "delay" not in downloader.per_slot_settings.get(key, {})
            self._starts[key] = QuickStart(self._first_delay, slot.delay) if quick else None
            slot.delay = self._first_delay if quick else slot.delay
        start = self._going_on(key, slot)
        if start is not None:
            start.entered += 1

    def _leaves(self, request: Request) -> None:
        key = request.meta[SLOT_KEY]
        self._going_on(key, self.crawler.engine.downloader.slots.get(key))

    def _finished(self, request: Request) -> None:
        key, slot = request.meta[SLOT_KEY], self.crawler.engine.downloader.slots.get(request.meta[SLOT_KEY])
        start = self._going_on(key, slot)
        if start is None or slot is None:
            return
        start.finished += 1
        if start.finished > start.answers:
            self._end(key, slot, start)

    def _going_on(self, key: str | None, slot: Slot | None) -> QuickStart | None:
        """The quick start of a slot, unless it ends: ten requests were sent, or other code has set the delay."""
        start = None if key is None else self._starts.get(key)
        if key is None or slot is None or start is None:
            return None
        if slot.delay == start.delay < start.usual and start.entered - len(slot.queue) < FIRST_REQUESTS:
            return start
        self._end(key, slot, start)
        return None

    def _end(self, key: str, slot: Slot, start: QuickStart) -> None:
        slot.delay = start.usual if slot.delay == start.delay else max(start.usual, slot.delay)
        self._starts[key] = None
