"""Scrapy's download slots, one per host: delays, pauses, waiting requests, and the end of downloads when a crawl stops.

Works with Scrapy 2.18 and 2.19.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scrapy import Request
from scrapy.core.downloader import Downloader, Slot
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.asyncio import call_later
from twisted.python.failure import Failure

from sitemapcrawler import settings as ours
from sitemapcrawler.download.addresses import authority, spelt, why_refused

SLOT_KEY = Downloader.DOWNLOAD_SLOT
"""Key of a request's slot in its meta, put there by Scrapy or by who made it."""
TOO_MUCH = (429, 503)
"""Statuses by which a host asks for a pause (RFC 6585, 4; RFC 9110, 15.6.4)."""
too_much = object()
"""Signal with `request`, `status` and `headers`: an answer with a status of `TOO_MUCH` begins. Its body may last."""


ATTEMPTS_KEY = "sitemap_attempts"
"""Key of `Attempts` in `Request.meta`."""
LOCALHOST = "localhost"
"""With all names below it, the machine itself. Source: RFC 6761, 6.3"""


@dataclass(slots=True)
class Attempts:
    """How often a request was sent, retries included, and how long its server took."""

    count: int = 0
    seconds: float = 0.0
    """Sum of the response times; see `connections.Stopwatch`."""

    def meta(self) -> dict[str, Attempts]:
        """The request meta that makes the request counted here."""
        return {ATTEMPTS_KEY: self}


class HostPauses(Exception):
    """A request was held back just before it was sent: its host has asked for a pause meanwhile."""


class Gate:
    """Base of the downloader middleware that download handlers ask right before they write a request."""

    def sends(self, request: Request) -> None:
        """Raise HostPauses if the request must not be written now."""

    async def resume(self, request: Request) -> None:
        """Wait until a request that was held back may be written; DownloadCancelledError if the crawl ends first."""


def queued(engine: ExecutionEngine, unknown: int) -> int:
    """Requests that wait in the scheduler. `unknown`: of one that does not count them, and has some."""
    scheduler = engine._slot.scheduler if engine._slot is not None else None  # private, alike in 2.18 and 2.19
    if isinstance(scheduler, Sized):
        return len(scheduler)
    return unknown if scheduler is not None and scheduler.has_pending_requests() else 0


def raise_delay(slot: Slot, seconds: float) -> None:
    """Let at least so many seconds pass between two requests, without jitter, which would go below."""
    if 0 < seconds >= slot.delay:
        slot.delay = seconds
        still: Any = slot
        if hasattr(slot, "jitter"):
            still.jitter = 0.0
        else:  # Scrapy 2.18
            still.randomize_delay = False


def without_jitter(slot: Slot) -> None:
    """Apply `DOWNLOAD_DELAY_JITTER = 0`, a setting that Scrapy 2.18 does not know."""
    still: Any = slot
    if not hasattr(slot, "jitter"):
        still.randomize_delay = False


def pause(downloader: Downloader, slot: Slot, seconds: float) -> None:
    """Send nothing from a slot for some seconds, not even the requests that wait in it. Then its delay applies."""
    if slot.latercall:  # the end of a delay, which is checked again after the pause
        slot.latercall.cancel()
    slot.latercall = call_later(seconds, downloader._latercall, slot)


def leave_slot(downloader: Downloader, request: Request) -> None:
    """Let a redirected request wait for the host that it asks: Scrapy keeps it in the slot of the host that sent it,
    which may be slow, and where the pace of the host that is asked does not count. A slot that was chosen stays."""
    sent_by = request.meta.get("redirect_urls")
    if sent_by and request.meta.get(SLOT_KEY) == downloader.get_slot_key(Request(sent_by[-1])):
        del request.meta[SLOT_KEY]


def cancel_waiting(downloader: Downloader, may: Callable[[Request], bool] = lambda _: True) -> None:
    """End the requests that wait for their turn, and may be ended, as DownloadCancelledError: Scrapy would make each of
    them first."""
    for slot in downloader.slots.values():
        while ended := [(request, turn) for request, turn in slot.queue if may(request)]:
            left = [waiting for waiting in slot.queue if not may(waiting[0])]
            slot.queue.clear()
            slot.queue.extend(left)
            for request, turn in ended:
                error: Any = Failure
                turn.errback(error(DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")))


stopping = object()
"""Signal without arguments: the crawl ends. Downloads get SITEMAP_STOP_GRACE seconds more, then they are cancelled."""

STOP_GRACE = 10.0  # seconds; DESIGN: a stopped crawl has its feeds in place within 15


def may_cancel(crawler: Crawler, request: Request) -> bool:
    """False for a request that a stop leaves to its end: the spider does not take it up again (its `may_cancel`)."""
    ask = getattr(crawler.spider, "may_cancel", None)
    return ask is None or bool(ask(request))


class Ending:
    """Ends the downloads of one handler in time after the signal `stopping`."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._grace = crawler.settings.getfloat("SITEMAP_STOP_GRACE", STOP_GRACE)
        self._running: set[Callable[[], object]] = set()
        self._stopping = False
        self._stopped = False
        crawler.signals.connect(self.begin, signal=stopping)

    def begin(self) -> None:
        """Cancel what still runs after the grace, and whatever is asked for later."""
        if not self._stopping:
            self._stopping = True
            call_later(self._grace, self._abandon)

    def _abandon(self) -> None:
        self._stopped = True
        for cancel in tuple(self._running):
            cancel()

    def admit(self, request: Request) -> None:
        """Raise DownloadCancelledError where it is too late to begin a download."""
        if self._stopped and may_cancel(self._crawler, request):
            raise _cancelled(request)

    @contextmanager
    def running(self, request: Request, cancel: Callable[[], object]) -> Iterator[None]:
        """The time of one download, which `cancel` ends. Whatever it fails with while the crawl ends becomes
        DownloadCancelledError: a closing engine drops, unheard, what would be asked again."""
        if not may_cancel(self._crawler, request):
            yield
            return
        self._running.add(cancel)
        try:
            yield
        except Exception as failure:
            if self._stopping:
                raise _cancelled(request) from failure
            raise
        finally:
            self._running.discard(cancel)


def _cancelled(request: Request) -> DownloadCancelledError:
    return DownloadCancelledError(f"{request.url}: the crawl was stopped before the answer was complete")


class Floor:
    """Least delay per host: DOWNLOAD_DELAY, for all hosts if the user has chosen it.

    The default of this project exempts loopback hosts that the user named. What any other name resolves to is its
    owner's choice, so it does not count.
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


def is_default(settings: BaseSettings) -> bool:
    """True if DOWNLOAD_DELAY is the default of this project, and not chosen by the user."""
    priority: Any = settings.getpriority("DOWNLOAD_DELAY")
    return priority <= SETTINGS_PRIORITIES["project"] and settings.getfloat("DOWNLOAD_DELAY") == ours.DOWNLOAD_DELAY


def is_loopback(host: str) -> bool:
    """True for a host of a URL that is this machine by its very spelling: an address, or localhost."""
    name, _ = authority(host, 0)
    address = spelt(name)
    if address is not None:
        return why_refused(address) == "loopback"
    return name == LOCALHOST or name.endswith(f".{LOCALHOST}")
