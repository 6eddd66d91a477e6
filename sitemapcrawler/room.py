"""How many requests may wait in the scheduler: whoever makes them waits, too."""

from __future__ import annotations

import asyncio

from scrapy import signals
from scrapy.crawler import Crawler

from sitemapcrawler.ending import stopping
from sitemapcrawler.slots import queued


class Room:
    """Room for requests in the scheduler of a crawl. When it is full, it is waited for until half of it is free."""

    def __init__(self, crawler: Crawler, most: int) -> None:
        """`most`: requests that may wait."""
        self._crawler = crawler
        self._most = most
        self._left = 0
        self._stopped = False
        self._moved = asyncio.Event()
        for signal in (signals.request_reached_downloader, signals.scheduler_empty):
            crawler.signals.connect(self._look, signal)
        crawler.signals.connect(self._stop, stopping)

    async def take(self) -> None:
        """Return when there is room for one more request, or the crawl ends."""
        if self._left <= 0:
            self._left = self._most - self._queued()  # counting takes time: it is done when the last count is used up
        if self._left <= 0:
            while not self._stopped and self._queued() > self._most // 2:
                self._moved.clear()
                await self._moved.wait()
            self._left = max(1, self._most - self._queued())
        self._left -= 1

    def _queued(self) -> int:
        return queued(self._crawler.engine, self._most)

    def _look(self) -> None:
        self._moved.set()

    def _stop(self) -> None:
        self._stopped = True
        self._moved.set()
