"""Per-host delays from DOWNLOAD_DELAY, robots.txt and Retry-After, for every request of a crawl."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from scrapy import Request, signals
from scrapy.core.downloader import Downloader, Slot
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers, Response
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.asyncio import call_later

from sitemapcrawler import settings as ours
from sitemapcrawler.download.addresses import authority, spelt, why_refused
from sitemapcrawler.download.policies import AGENT_KEY, Policies, own_agent
from sitemapcrawler.download.shared import (
    ATTEMPTS_KEY,
    OWN_PACE_KEY,
    SLOT_KEY,
    Attempts,
    Named,
    may_cancel,
    stopping,
    too_much,
)
from sitemapcrawler.replies import retry_after
from sitemapcrawler.replies.kinds import SERVER_ERROR, TOO_MUCH
from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.robots.policy import Policy
from sitemapcrawler.urls import host_of

logger = logging.getLogger(__name__)

PAUSED_KEY = "sitemap_paused"
"""Key in `Request.meta`: the pause that its response asks for has started."""
MAX_CRAWL_DELAY = 60.0
"""Seconds between requests that a robots.txt may ask for; a longer delay is cut to this."""
MAX_PAUSE = 120.0
"""Seconds that a host may ask to pause (Retry-After of 429 and 503). A longer pause is cut to this, once: from
then on, a 429 counts as one without the header, and a 503 does not pause the host."""
FIRST_PAUSE_S = 1.0
"""Seconds to pause after a 429 without Retry-After; doubles with each further one in a row."""
MAX_DOUBLINGS = 10
"""Limit on doublings of the pause."""
FIRST_SLOWDOWN_S = 0.5
"""Seconds between requests to an overloaded host; doubles each time, up to AUTOTHROTTLE_MAX_DELAY."""
SLOWEST_UNASKED_S = 5.0
"""Limit on the slowdown after a 503 without Retry-After. One that still comes at this pace has another cause than our
requests: a section under maintenance, for example."""
RECOVERY = 0.8
"""Factor that each good response applies to the slowdown."""
RECOVERED_S = 0.05
"""Slowdown in seconds below which it is 0."""
AFTER_PAUSE_S = 0.01
"""Seconds after a pause at which its slot sends again, so that its delay is lowered before."""
UNDELAYED_BY_DEFAULT = ("DOWNLOAD_DELAY", "AUTOTHROTTLE_START_DELAY")
"""Settings whose defaults do not apply to loopback hosts that the user named."""
LOCALHOST = "localhost"
"""Host name of this machine, as are all names below it. Source: RFC 6761, 6.3"""


@dataclass(slots=True)
class HostPace:
    """Delays and pauses of one download slot."""

    usual: float | None = None
    """Seconds between requests by the settings or AutoThrottle; None before the first request."""
    delay: float = 0.0
    """Seconds between requests as last applied to the slot; AutoThrottle changes that of the slot."""
    is_exempt: bool = False
    """True for a loopback host that the user named: `usual` is 0, whatever AutoThrottle says."""
    wishes: dict[str, tuple[Policy, Agent, float]] = field(default_factory=dict)
    """{origin: (its robots.txt, crawler of the last request, delay in seconds that it asks of that crawler)}"""
    slowdown: float = 0.0
    """Delay in seconds due to 429 and 503 responses."""
    resumes: float = 0.0
    """Time (`time.monotonic`) until which no requests are sent."""
    refusals: int = 0
    """Consecutive 429 and 503 responses."""
    has_waited: bool = False
    """True once a pause was cut to `MAX_PAUSE`."""

    @property
    def wished(self) -> float:
        """Minimum seconds between requests that the host asks for."""
        return max(self.slowdown, *(seconds for *_, seconds in self.wishes.values()), 0.0)

    @property
    def rest(self) -> float:
        """Remaining seconds of the pause; 0 if there is none."""
        return max(0.0, self.resumes - time.monotonic())

    def pause(self, seconds: float, max_slowdown: float) -> None:
        """Pause for some seconds and increase the slowdown, up to `max_slowdown` seconds."""
        if not self.rest:  # responses to requests sent before the pause count as one
            slower = max(2 * self.slowdown, FIRST_SLOWDOWN_S)
            self.slowdown = max(self.slowdown, min(slower, max_slowdown))
            self.refusals = min(self.refusals + 1, MAX_DOUBLINGS)
        self.resumes = max(self.resumes, time.monotonic() + seconds)

    def recover(self) -> None:
        """Reduce the slowdown after a good response."""
        self.refusals = 0
        self.slowdown = self.slowdown * RECOVERY if self.slowdown > RECOVERED_S else 0.0

    def apply_to(self, slot: Slot) -> None:
        """Set the delay of a slot. During a pause, it lasts until the end of the pause, for waiting requests too."""
        usual = self.usual or 0.0
        slot.delay = max(usual, self.wished)
        if self.rest:
            slot.delay = max(slot.delay, self.resumes + AFTER_PAUSE_S - slot.lastseen)
        if slot.delay > usual:
            without_jitter(slot)  # which could shorten the delay
        self.delay = slot.delay


class PolitenessMiddleware:
    """Applies Crawl-delay and Request-rate (if robots.txt is obeyed) and Retry-After to every request.

    Raises the delay of the host's slot, above that of AutoThrottle. While a host pauses, new requests wait here, and
    waiting ones in the slot. A loopback host that the user named has no delay, unless the user has set one.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._obey = settings.getbool("ROBOTSTXT_OBEY")
        self._own = own_agent(settings)
        self._max_slowdown = settings.getfloat("AUTOTHROTTLE_MAX_DELAY")
        self._steady = settings.getfloat("DOWNLOAD_DELAY_JITTER", 0.5) == 0
        self._exempts = all(is_default(settings, name) for name in UNDELAYED_BY_DEFAULT)
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
        leave_slot(self._downloader, request)
        host = self._host(self._downloader.get_slot_key(request))
        if self._obey or AGENT_KEY in request.meta:
            self._apply_crawl_delay(host, request)
        # a request that a stop must let finish waits for the end of the pause alone
        lasting = self._stopped if may_cancel(self._crawler, request) else asyncio.Event()
        while host.rest and not lasting.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(lasting.wait(), host.rest)
        if lasting.is_set():
            raise DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")
        attempts = request.meta.get(ATTEMPTS_KEY)
        if isinstance(attempts, Attempts):
            attempts.count += 1

    def pace(self, slot: str) -> HostPace:
        """Delays and pauses of a download slot."""
        return self._hosts.get(slot) or HostPace()

    @property
    def _downloader(self) -> Downloader:
        return self._crawler.engine.downloader

    def _host(self, key: str) -> HostPace:
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = HostPace()
        return host

    def _apply_crawl_delay(self, host: HostPace, request: Request) -> None:
        """Store the delay that robots.txt asks of us, or of the crawler in whose name a request is sent."""
        policy = Policies.of(self._crawler).at(request.url)
        if policy is None:
            return
        agent: Agent = request.meta.get(AGENT_KEY, self._own)
        known = host.wishes.get(policy.url)
        if known is None or known[0] is not policy or known[1] is not agent:
            host.wishes[policy.url] = (policy, agent, min(policy.timing(agent).interval, MAX_CRAWL_DELAY))

    def _enters(self, request: Request) -> None:
        """Set the delay of the slot, possibly a new one, that a request is about to wait in."""
        key = request.meta[SLOT_KEY]
        host, slot = self._host(key), self._downloader.slots[key]
        if host.usual is None:
            host.is_exempt = self._is_exempt(key, request)
            host.usual = 0.0 if host.is_exempt else slot.delay
        if self._steady:
            without_jitter(slot)
        host.apply_to(slot)

    def _is_exempt(self, key: str, request: Request) -> bool:
        """Only the spelling of a host counts, since the owner of a name decides what it resolves to."""
        if not self._exempts or key in self._downloader.per_slot_settings:
            return False
        host = host_of(request.url)
        bare, _ = authority(host, 0)
        return is_loopback(host) and any(bare == name for name, _ in Named.of(self._crawler).authorities)

    def _downloaded(self, request: Request, response: Response) -> None:
        """Update the delay after a complete response, before the slot's next request. AutoThrottle has run."""
        key = request.meta[SLOT_KEY]
        host, slot = self._host(key), self._downloader.slots[key]  # exists until the request is done
        if not (host.is_exempt or host.rest or slot.delay == host.delay):
            host.usual = slot.delay
        attempts = request.meta.get(ATTEMPTS_KEY)
        if isinstance(attempts, Attempts):
            attempts.seconds += request.meta.get("download_latency") or 0.0
        if response.status < SERVER_ERROR and response.status not in TOO_MUCH:
            host.recover()
        elif response.status in TOO_MUCH and PAUSED_KEY not in request.meta:  # from a handler without the signal
            self._too_much(request, response.status, response.headers)
        request.meta.pop(PAUSED_KEY, None)
        host.apply_to(slot)

    def _too_much(self, request: Request, status: int, headers: Headers) -> None:
        """Pause a host for as long as its response asks for, unless the sender of the request sees to that."""
        if request.meta.get(OWN_PACE_KEY):
            return
        request.meta[PAUSED_KEY] = True
        key = request.meta[SLOT_KEY]
        host = self._host(key)
        header = (headers.get("Retry-After") or b"").decode("latin-1")
        seconds = retry_after(header, datetime.now(UTC)) if header else None
        slowest = self._max_slowdown
        if seconds is not None and seconds > MAX_PAUSE:
            if host.has_waited and status != 429:
                return
            seconds, host.has_waited = None if host.has_waited else MAX_PAUSE, True
        if seconds is None and status == 429:
            seconds = FIRST_PAUSE_S * 2**host.refusals
        elif seconds is None:
            seconds, slowest = 0.0, min(slowest, SLOWEST_UNASKED_S)
        else:  # the host wants no longer delay than that
            slowest = min(slowest, max(seconds, FIRST_SLOWDOWN_S))
        seconds = min(seconds, MAX_PAUSE)
        host.pause(seconds, slowest)
        self._crawler.stats.inc_value("sitemap/pauses")
        if seconds:
            logger.info("%s: status %d, pausing this host for %.0f s", request.url, status, seconds)
        else:
            logger.info("%s: status %d, slowing down: %.2g s between requests", request.url, status, host.slowdown)
        self._apply(key)
        call_later(host.rest, self._apply, key)

    def _apply(self, key: str) -> None:
        slot = self._downloader.slots.get(key)
        if slot is not None:
            self._host(key).apply_to(slot)


def leave_slot(downloader: Downloader, request: Request) -> None:
    """Move a redirected request to the slot of its new host, so that this host's delay applies.
    Scrapy keeps it in the slot of the redirecting host. A slot that was set explicitly stays."""
    sent_by = request.meta.get("redirect_urls")
    if sent_by and request.meta.get(SLOT_KEY) == downloader.get_slot_key(Request(sent_by[-1])):
        del request.meta[SLOT_KEY]


def without_jitter(slot: Slot) -> None:
    """Apply `DOWNLOAD_DELAY_JITTER = 0` to a slot, in Scrapy 2.18 too."""
    setattr(slot, "jitter" if hasattr(slot, "jitter") else "randomize_delay", 0.0)


def is_default(settings: BaseSettings, name: str) -> bool:
    """True if a setting, a number, has this project's default and was not set by the user."""
    unchosen = (settings.getpriority(name) or 0) <= SETTINGS_PRIORITIES["project"]
    return unchosen and settings.getfloat(name) == getattr(ours, name)


def is_loopback(host: str) -> bool:
    """True for a host that is this machine by spelling: a loopback address or localhost."""
    name, _ = authority(host, 0)
    address = spelt(name)
    if address is not None:
        return why_refused(address) == "loopback"
    return name == LOCALHOST or name.endswith(f".{LOCALHOST}")
