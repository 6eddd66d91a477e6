"""Access to Scrapy's download slots, one per host: delays, pauses, waiting requests, and cancelling on stop.

Works with Scrapy 2.18 and 2.19.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Protocol, cast

from scrapy import Request
from scrapy.core.downloader import Downloader, Slot
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.asyncio import call_later

from sitemapcrawler import settings as ours
from sitemapcrawler.download.addresses import authority, spelt, why_refused
from sitemapcrawler.download.shared import Named, OfCrawler

SLOT_KEY = Downloader.DOWNLOAD_SLOT
"""Key of a request's slot in `Request.meta`, set by Scrapy or by the request's creator."""
TOO_MUCH = (429, 503)
"""Statuses that ask for a pause (RFC 6585, 4; RFC 9110, 15.6.4)."""
too_much = object()
"""Signal with `request`, `status` and `headers`: a response with a status in `TOO_MUCH` starts. Its body follows."""

ATTEMPTS_KEY = "sitemap_attempts"
"""Key of `Attempts` in `Request.meta`."""
LOCALHOST = "localhost"
"""Host name of this machine, as are all names below it. Source: RFC 6761, 6.3"""


@dataclass(slots=True)
class Attempts:
    """Number of times a request was sent, retries included, and its total response time."""

    count: int = 0
    seconds: float = 0.0
    """Sum of the response times in seconds: from sending the request to the headers of its answer."""

    def meta(self) -> dict[str, Attempts]:
        """Request meta that makes a request count here."""
        return {ATTEMPTS_KEY: self}


class Departures(OfCrawler):
    """Listeners to each request that has left its slot and is about to be sent. A signal would take a fiftieth of the
    time of a request."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.listeners: list[Callable[[Request], None]] = []


class HostPauses(Exception):
    """The host requested a pause while a request to it was about to be sent."""


class Gate:
    """Base of the downloader middleware that download handlers call right before they write a request."""

    def sends(self, request: Request) -> None:
        """Raise HostPauses if the request must wait."""

    async def resume(self, request: Request) -> None:
        """Wait until a held request may be sent. Raises DownloadCancelledError if the crawl ends first."""


def queued(engine: ExecutionEngine, unknown: int) -> int:
    """Number of requests in the scheduler. `unknown`: returned for a scheduler without a length that is not empty."""
    scheduler = engine._slot.scheduler if engine._slot is not None else None  # private, identical in 2.18 and 2.19
    if isinstance(scheduler, Sized):
        return len(scheduler)
    return unknown if scheduler is not None and scheduler.has_pending_requests() else 0


def raise_delay(slot: Slot, seconds: float) -> None:
    """Enforce a minimum delay between two requests of a slot, without jitter, which could shorten it."""
    if 0 < seconds >= slot.delay:
        slot.delay = seconds
        if hasattr(slot, "jitter"):
            slot.jitter = 0.0
        without_jitter(slot)


class _OldSlot(Protocol):
    """A slot of Scrapy 2.18."""

    randomize_delay: bool


def without_jitter(slot: Slot) -> None:
    """Apply `DOWNLOAD_DELAY_JITTER = 0`, which Scrapy 2.18 does not support."""
    if not hasattr(slot, "jitter"):
        cast("_OldSlot", slot).randomize_delay = False


def pause(downloader: Downloader, slot: Slot, seconds: float) -> None:
    """Send no request from a slot for some seconds, not even waiting ones. Afterwards its delay applies again."""
    if slot.latercall:  # the end of a delay, checked again after the pause
        slot.latercall.cancel()
    slot.latercall = call_later(seconds, downloader._latercall, slot)


def leave_slot(downloader: Downloader, request: Request) -> None:
    """Move a redirected request to the slot of its new host, so that this host's delay applies.
    Scrapy keeps it in the slot of the redirecting host. A slot that was set explicitly stays."""
    sent_by = request.meta.get("redirect_urls")
    if sent_by and request.meta.get(SLOT_KEY) == downloader.get_slot_key(Request(sent_by[-1])):
        del request.meta[SLOT_KEY]


class Floor:
    """Minimum delay per host: DOWNLOAD_DELAY.

    This project's default exempts loopback hosts that the user named; a value set by the user applies to all hosts.
    Only the spelling of a host counts, since the owner of a name decides what it resolves to.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._default = is_default(crawler.settings, "DOWNLOAD_DELAY")

    def delay(self, host: str, seconds: float) -> float:
        """Minimum seconds between two requests to a host, given DOWNLOAD_DELAY in `seconds`."""
        return 0.0 if self._default and is_loopback(host) and self._is_named(host) else seconds

    def _is_named(self, host: str) -> bool:
        bare, _ = authority(host, 0)
        return any(bare == name for name, _ in Named.of(self._crawler).authorities)


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
