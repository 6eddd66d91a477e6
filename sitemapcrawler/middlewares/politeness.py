"""Per-host delays from robots.txt and Retry-After, for every request of a crawl."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers, Response

from sitemapcrawler.download.connections import pop_response_time
from sitemapcrawler.download.policies import AGENT_KEY, Policies, own_agent
from sitemapcrawler.download.shared import may_cancel, stopping
from sitemapcrawler.download.slots import (
    ATTEMPTS_KEY,
    SLOT_KEY,
    TOO_MUCH,
    Attempts,
    Floor,
    Gate,
    HostPauses,
    leave_slot,
    pause,
    raise_delay,
    too_much,
    without_jitter,
)
from sitemapcrawler.replies import retry_after
from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.robots.policy import Policy
from sitemapcrawler.urls import host_of

logger = logging.getLogger(__name__)

PAUSED_KEY = "sitemap_paused"
"""Key in `Request.meta`: the pause that its response asks for has started."""
MAX_CRAWL_DELAY = 60.0
"""Seconds between two requests that a robots.txt may ask for; a longer delay is cut to this."""
MAX_PAUSE = 120.0
"""Seconds that a host may ask to pause (Retry-After of 429 and 503); after that it is requested again."""
FIRST_PAUSE_S = 1.0
"""Seconds to pause after a 429 without Retry-After; doubles with each further one in a row."""
MAX_DOUBLINGS = 10
"""Limit on doublings of the pause."""
FIRST_SLOWDOWN_S = 0.5
"""Seconds between two requests to an overloaded host; doubles each time, up to AUTOTHROTTLE_MAX_DELAY."""
RECOVERY = 0.8
"""Factor that each good response applies to the slowdown."""
RECOVERED_S = 0.05
"""Slowdown in seconds below which it is 0."""


@dataclass(slots=True)
class HostPace:
    """Delays and pauses of one download slot."""

    wishes: dict[str, tuple[Policy, Agent, float]] = field(default_factory=dict)
    """{origin: (its robots.txt, crawler of the last request, delay in seconds that it asks of that crawler)}"""
    slowdown: float = 0.0
    """Delay in seconds due to 429 and 503 responses."""
    resumes: float = 0.0
    """Time (`time.monotonic`) until which no requests are sent."""
    refusals: int = 0
    """Consecutive 429 and 503 responses."""
    usual: float | None = None
    """Initial delay of the slot in seconds; None before its first request."""

    @property
    def delay(self) -> float:
        """Minimum seconds between two requests."""
        return max(self.slowdown, *(seconds for *_, seconds in self.wishes.values()), 0.0)

    def pause(self, seconds: float, max_slowdown: float) -> None:
        """Pause for some seconds and increase the slowdown, up to `max_slowdown` seconds."""
        now = time.monotonic()
        if self.resumes <= now:  # responses to requests sent before the pause count as one
            self.slowdown = min(max(2 * self.slowdown, FIRST_SLOWDOWN_S), max_slowdown)
            self.refusals = min(self.refusals + 1, MAX_DOUBLINGS)
        self.resumes = max(self.resumes, now + seconds)

    def recover(self) -> None:
        """Reduce the slowdown after a good response."""
        self.refusals = 0
        self.slowdown = self.slowdown * RECOVERY if self.slowdown > RECOVERED_S else 0.0


class PolitenessMiddleware(Gate):
    """Applies Crawl-delay and Request-rate (if robots.txt is obeyed) and Retry-After to every request.

    Raises the delay of the host's slot, regardless of AutoThrottle. While a host pauses, new requests wait here and
    nothing leaves its slot. `sends` holds back requests that have left it and wait for a connection.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._obey = crawler.settings.getbool("ROBOTSTXT_OBEY")
        self._own = own_agent(crawler.settings)
        self._max_delay = MAX_CRAWL_DELAY
        self._max_pause = MAX_PAUSE
        self._max_slowdown = crawler.settings.getfloat("AUTOTHROTTLE_MAX_DELAY")
        self._throttled = crawler.settings.getbool("AUTOTHROTTLE_ENABLED")
        self._steady = crawler.settings.getfloat("DOWNLOAD_DELAY_JITTER", 0.5) == 0
        self._floor = Floor(crawler)
        self._hosts: dict[str, HostPace] = {}
        self._stopped = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to signals, after AutoThrottle, which is connected earlier and so runs first."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware._enters, signals.request_reached_downloader)
        crawler.signals.connect(middleware._too_much, too_much)
        crawler.signals.connect(middleware._downloaded, signals.response_downloaded)
        crawler.signals.connect(middleware._stopped.set, stopping)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Wait until the host may be requested. Raises DownloadCancelledError if the crawl ends first."""
        leave_slot(self._crawler.engine.downloader, request)
        key = self._crawler.engine.downloader.get_slot_key(request)
        host = self._host(key)
        if self._obey or AGENT_KEY in request.meta:
            self._apply_crawl_delay(host, request)
        await self._until_resumed(request, host)
        attempts = request.meta.get(ATTEMPTS_KEY)
        if isinstance(attempts, Attempts):
            attempts.count += 1

    def resting(self, slot: str) -> float:
        """Remaining pause of a download slot in seconds; 0 if it does not pause."""
        host = self._hosts.get(slot)
        return 0.0 if host is None else max(0.0, host.resumes - time.monotonic())

    def process_response(self, request: Request, response: Response) -> Response:
        """Add up response times, and speed up again after a response that is no error of the host."""
        attempts, seconds = request.meta.get(ATTEMPTS_KEY), pop_response_time(request)
        if isinstance(attempts, Attempts):
            attempts.seconds += seconds
        if response.status < 500 and response.status not in TOO_MUCH:
            self._host(self._crawler.engine.downloader.get_slot_key(request)).recover()
        return response

    def sends(self, request: Request) -> None:
        """Raise HostPauses if a request must not be written to its connection now."""
        if self.resting(self._crawler.engine.downloader.get_slot_key(request)):
            raise HostPauses(request.url)

    async def resume(self, request: Request) -> None:
        """Wait until a held request may be sent, in turn with its slot. Raises DownloadCancelledError on a stop."""
        key = self._crawler.engine.downloader.get_slot_key(request)
        slot = self._crawler.engine.downloader.slots[key]  # exists until the request is done
        while True:
            await self._until_resumed(request, self._host(key))
            now = time.monotonic()
            if now >= slot.lastseen + slot.delay:
                slot.lastseen = now
                return
            await wait(self._lasting(request), slot.lastseen + slot.delay - now)

    def _lasting(self, request: Request) -> asyncio.Event:
        """Event that ends the waiting of a request: the stop, if it may cancel the request."""
        return self._stopped if may_cancel(self._crawler, request) else asyncio.Event()

    async def _until_resumed(self, request: Request, host: HostPace) -> None:
        """Wait until a host's pause ends. Raises DownloadCancelledError if the crawl ends first."""
        lasting = self._lasting(request)
        while not lasting.is_set() and (seconds := host.resumes - time.monotonic()) > 0:
            await wait(lasting, seconds)
        if lasting.is_set():
            raise DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")

    def _too_much(self, request: Request, status: int, headers: Headers) -> None:
        request.meta[PAUSED_KEY] = True
        key = self._crawler.engine.downloader.get_slot_key(request)
        host = self._host(key)
        header = (headers.get("Retry-After") or b"").decode("latin-1")
        seconds = retry_after(header, datetime.now(UTC)) if header else None
        if seconds is None:
            seconds = FIRST_PAUSE_S * 2**host.refusals if status == 429 else 0.0
        seconds = min(seconds, self._max_pause)
        host.pause(seconds, self._max_slowdown)
        self._hold(key, host)
        self._crawler.stats.inc_value("sitemap/pauses")
        if seconds:
            logger.info("%s: status %d, pausing this host for %.0f s", request.url, status, seconds)

    def _apply_crawl_delay(self, host: HostPace, request: Request) -> None:
        """Store the delay that robots.txt asks of us, or of the crawler in whose name a request is sent."""
        policy = Policies.of(self._crawler).at(request.url)
        if policy is None:
            return
        agent: Agent = request.meta.get(AGENT_KEY, self._own)
        known = host.wishes.get(policy.url)
        if known is None or known[0] is not policy or known[1] is not agent:
            host.wishes[policy.url] = (policy, agent, min(policy.timing(agent).interval, self._max_delay))

    def _host(self, key: str) -> HostPace:
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = HostPace()
        return host

    def _enters(self, request: Request) -> None:
        """Prepare the slot, possibly a new one, that a request is about to wait in."""
        key = request.meta[SLOT_KEY]
        host = self._host(key)
        slot = self._crawler.engine.downloader.slots[key]
        if self._steady:
            without_jitter(slot)
        if host.usual is None:
            host.usual = self._floor.delay(host_of(request.url), slot.delay)
        self._hold(key, host)

    def _downloaded(self, request: Request, response: Response) -> None:
        """Update the delay after a complete response, before the slot's next request. AutoThrottle runs first."""
        key = self._crawler.engine.downloader.get_slot_key(request)
        if not request.meta.pop(PAUSED_KEY, False) and response.status in TOO_MUCH:  # from a handler without the signal
            self._too_much(request, response.status, response.headers)
            del request.meta[PAUSED_KEY]
        else:
            self._hold(key, self._host(key))

    def _hold(self, key: str, host: HostPace) -> None:
        """Raise the delay of a slot to what its host asks for; block it while the host pauses."""
        downloader = self._crawler.engine.downloader
        slot = downloader.slots.get(key)
        if slot is None:
            return
        if not self._throttled and host.usual is not None:
            slot.delay = host.usual
        raise_delay(slot, host.delay)
        if (seconds := host.resumes - time.monotonic()) > 0:
            pause(downloader, slot, seconds)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, with a timeout in seconds."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
