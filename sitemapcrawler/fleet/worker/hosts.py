"""Scrapy downloader middleware: a host is asked by one crawl of the fleet at a time, whichever crawls lead to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response

from sitemapcrawler.download.slots import may_cancel, stopping
from sitemapcrawler.fleet.worker.link import Link
from sitemapcrawler.middlewares.politeness import PolitenessMiddleware

HELD_KEY = "fleet_host"
"""Key in `Request.meta`: the host that the request holds."""


@dataclass(slots=True)
class Held:
    """What this crawl has of a host."""

    slot: str
    """Key of its download slot."""
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while requests may begin."""
    asked: bool = False
    """True from asking for the host until it is granted."""
    wanted: bool = False
    """True where another crawl waits for it: then no request begins, and it is given back after the last one."""
    running: int = 0
    """Requests that have begun and not ended."""
    waiting: int = 0
    """Requests that wait to begin."""


class OneCrawlAHost:
    """Lets requests pass as soon as no other crawl asks their host, and gives the host back when others wait."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._link = Link.current
        self._hosts: dict[str, Held] = {}
        self._stopped = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The middleware of this crawl, which hears what the worker says."""
        middleware = cls(crawler)
        middleware._link.listen("granted", middleware._granted)
        middleware._link.listen("wanted", middleware._wanted)
        middleware._link.listen("lost", middleware._lost)
        crawler.signals.connect(middleware._stopped.set, signal=stopping)
        crawler.signals.connect(middleware._closed, signal=signals.spider_closed)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Wait for the host; DownloadCancelledError where the crawl ends before that."""
        parts = urlsplit(request.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return
        held = self._hosts.get(parts.hostname)
        if held is None:
            held = self._hosts[parts.hostname] = Held(self._crawler.engine.downloader.get_slot_key(request))
        while not held.granted.is_set():
            self._ask(parts.hostname, held)
            await self._wait(held, request)
        held.running += 1
        request.meta[HELD_KEY] = parts.hostname

    def process_response(self, request: Request, response: Response) -> Response:
        """The request has ended."""
        self._ended(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """The request has ended."""
        self._ended(request)

    def _ask(self, host: str, held: Held) -> None:
        if not held.asked and not held.wanted:
            held.asked = True
            self._link.tell("ask", host)

    async def _wait(self, held: Held, request: Request) -> None:
        waits = [asyncio.ensure_future(held.granted.wait())]
        if may_cancel(self._crawler, request):
            waits.append(asyncio.ensure_future(self._stopped.wait()))
        held.waiting += 1
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            held.waiting -= 1
            for wait in waits:
                wait.cancel()
        if len(waits) > 1 and self._stopped.is_set():
            raise DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")

    def _ended(self, request: Request) -> None:
        host = request.meta.pop(HELD_KEY, None)
        if host is not None:
            self._hosts[host].running -= 1
            self._give_back(host)

    def _granted(self, host: str) -> None:
        held = self._hosts[host]
        held.asked = False
        held.granted.set()

    def _wanted(self, *hosts: str) -> None:
        for host in hosts:
            held = self._hosts[host]
            if held.granted.is_set():
                held.granted.clear()
                held.wanted = True
                self._give_back(host)

    def _lost(self, *hosts: str) -> None:
        """Others have got hosts, since nothing was heard of the worker for long: queue behind them."""
        for host in hosts:
            held = self._hosts[host]
            held.granted.clear()
            held.wanted = False
            if held.waiting:
                self._ask(host, held)

    def _give_back(self, host: str) -> None:
        """Let others have a host that they wait for, and queue behind them where there is more to ask."""
        held = self._hosts[host]
        if held.wanted and not held.running:
            held.wanted = False
            self._link.tell("free", host, self._rest(held.slot))
            if held.waiting:
                self._ask(host, held)

    def _closed(self) -> None:
        """Give back what is to be left alone for some time; all else is given back by the end itself."""
        for host, held in self._hosts.items():
            rest = self._rest(held.slot)
            if rest and (held.granted.is_set() or held.wanted):
                held.granted.clear()
                held.wanted = False
                self._link.tell("free", host, rest)

    def _rest(self, slot: str) -> float:
        """Seconds for which the host is to be left alone."""
        politeness = self._crawler.get_downloader_middleware(PolitenessMiddleware)
        pause = politeness.resting(slot) if politeness is not None else 0.0
        known = self._crawler.engine.downloader.slots.get(slot)
        return max(pause, known.delay if known is not None else 0.0)
