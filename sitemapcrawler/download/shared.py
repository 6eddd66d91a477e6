"""What all parts of a crawl share: whether it is stopping, and what the user named in its arguments."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.utils.asyncio import call_later
from twisted.python.failure import Failure

from sitemapcrawler.urls import Authority

stopping = object()
"""Signal without arguments: the crawl is stopping. Downloads are cancelled after SITEMAP_STOP_GRACE seconds."""
STOP_GRACE = 10.0  # seconds; a stopped crawl must have its feeds in place within 15
FINISHED = "finished"
"""Scrapy's reason for the end of a crawl that has nothing left to do, and the state of its job."""
ENDED = (None, FINISHED, "max_urls")
"""Reasons of an end after which nothing is left to do, so that no stop is meant."""
SHUTDOWN = "shutdown"
"""Scrapy's reason for the end of a crawl that a signal stopped."""


@runtime_checkable
class Cancelling(Protocol):
    """A spider that says which of its requests a stop cancels. Those of other spiders are all cancelled."""

    def may_cancel(self, request: Request) -> bool: ...


class OfCrawler:
    """Base of what a crawler has one of. Scrapy has no place for such objects, so they are kept in its attributes."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return that of a crawler, created on first use."""
        kept: dict[type[OfCrawler], OfCrawler] = crawler.__dict__.setdefault("sitemapcrawler", {})
        if cls not in kept:
            kept[cls] = cls(crawler)
        found = kept[cls]
        assert isinstance(found, cls)
        return found


UNNAMED_URL = "SITEMAP_UNNAMED_URL"
"""Setting in which commands pass on the `base_url` of a configuration file. Its author, such as that of a pull request,
need not be allowed to have private addresses requested."""


ANONYMOUS_KEY = "sitemap_anonymous"
"""Key in `Request.meta`, true for requests without a login: a rendered page of another host could read the answer."""


class Named(OfCrawler):
    """What the user named in the arguments; for other spiders, nothing."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.authorities: set[Authority] = set()
        """Hosts and ports that may have private addresses."""
        self.own: set[Authority] = set()
        """Those of `authorities` that credentials are sent to."""
        self.files: set[str] = set()
        """`file:` URLs of local files, as `Path.as_uri` writes them, and of those beside them that they list."""


class Stop(OfCrawler):
    """Whether a crawl is ending early, why, since when and how urgently, and whether it is complete."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.reason: str | None = None
        """Why the crawl is ending early; None otherwise."""
        self.hurried_at: float | None = None
        """When a signal stopped the crawl (`time.monotonic`). None for an end at a limit, which has time for all
        records."""
        self.max_time: float | None = None
        """Seconds after which the crawl is stopped; None for no limit."""
        self.internal_errors = 0
        """Number of unexpected exceptions in our code; the crawl is incomplete if there are any."""
        self.proxy_failed = False
        """True if a request failed because of its proxy, or a sitemap because the proxy refused its host; the crawl is
        incomplete then."""
        self.records_lost = ""
        """Why feeds lack records, so that they are not stored; empty if they lack none."""
        self._closing: asyncio.Future[None] | None = None

    def begun(self) -> bool:
        """True once the crawl is ending early."""
        return self.reason is not None

    @property
    def early(self) -> bool:
        """True if the crawl is ending before its work is done; a limit that the user set is no such end."""
        return self.reason not in ENDED

    @property
    def complete(self) -> bool:
        """False once the crawl ends with work left to do."""
        return not self.early and not self.internal_errors and not self.proxy_failed

    def note_failure(self) -> None:
        """Count an unexpected exception in our code."""
        self.internal_errors += 1

    def begin(self, reason: str) -> None:
        """Announce the end of the crawl, for which `scrapy.core.engine` waits until running requests are done."""
        begins, hurries = reason != FINISHED and self.reason is None, reason == SHUTDOWN and self.hurried_at is None
        if hurries:
            self.hurried_at = time.monotonic()
        if begins:
            self.reason = reason
        if begins or hurries:
            self.crawler.signals.send_catch_log(stopping)
        if begins and self.crawler.engine is not None:
            cancel_waiting(self.crawler.engine.downloader, partial(may_cancel, self.crawler))

    def is_late(self, after: float) -> bool:
        """True if a signal stopped the crawl more than `after` seconds ago."""
        return self.hurried_at is not None and time.monotonic() - self.hurried_at > after

    def end(self, reason: str) -> None:
        """Announce the end of the crawl, and begin it."""
        self.begin(reason)
        engine = self.crawler.engine
        assert engine is not None
        self._closing = asyncio.ensure_future(engine.close_spider_async(reason=reason))


def cancel_waiting(downloader: Downloader, may: Callable[[Request], bool] = lambda _: True) -> None:
    """Fail the waiting requests that pass `may` with DownloadCancelledError; Scrapy would send each of them first."""
    for slot in downloader.slots.values():
        while ended := [(request, turn) for request, turn in slot.queue if may(request)]:
            left = [waiting for waiting in slot.queue if not may(waiting[0])]
            slot.queue.clear()
            slot.queue.extend(left)
            for request, turn in ended:
                error: Any = Failure  # Any: Twisted has no types
                turn.errback(error(DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")))


class Ending:
    """Cancels the downloads of one handler some time after the signal `stopping`."""

    def __init__(self, crawler: Crawler) -> None:
        self._may_cancel = partial(may_cancel, crawler)
        self._grace = crawler.settings.getfloat("SITEMAP_STOP_GRACE", STOP_GRACE)
        self._running: set[Callable[[], object]] = set()
        self._stopping = False
        self._stopped = False
        crawler.signals.connect(self.begin, signal=stopping)

    def begin(self) -> None:
        """Start the grace period: afterwards, running and later downloads are cancelled."""
        if not self._stopping:
            self._stopping = True
            call_later(self._grace, self._abandon)

    def _abandon(self) -> None:
        self._stopped = True
        for cancel in tuple(self._running):
            cancel()

    def admit(self, request: Request) -> None:
        """Raise DownloadCancelledError if it is too late to start a download."""
        if self._stopped and self._may_cancel(request):
            raise _cancelled(request)

    @contextmanager
    def running(self, request: Request, cancel: Callable[[], object]) -> Iterator[None]:
        """Context of a download that `cancel` ends. While the crawl stops, any failure becomes DownloadCancelledError.
        Otherwise a retry would be scheduled, which a closing engine silently drops."""
        if not self._may_cancel(request):
            yield
            return
        self._running.add(cancel)
        try:
            yield
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            raise _cancelled(request) from None
        except Exception as failure:
            if self._stopping:
                raise _cancelled(request) from failure
            raise
        finally:
            self._running.discard(cancel)


def may_cancel(crawler: Crawler, request: Request) -> bool:
    """False for a request that a stop must let finish, as the spider says."""
    spider = crawler.spider
    return not isinstance(spider, Cancelling) or spider.may_cancel(request)


def _cancelled(request: Request) -> DownloadCancelledError:
    return DownloadCancelledError(f"{request.url}: the crawl was stopped before the answer was complete")


SLOT_KEY = Downloader.DOWNLOAD_SLOT
"""Key of a request's slot in `Request.meta`, set by Scrapy or by the request's creator."""
too_much = object()
"""Signal with `request`, `status` and `headers`: a response with a status in `TOO_MUCH` starts. Its body follows."""

OWN_PACE_KEY = "sitemap_own_pace"
"""Key in `Request.meta`: who sends the request decides what an answer with status 429 means."""
ATTEMPTS_KEY = "sitemap_attempts"
"""Key of `Attempts` in `Request.meta`."""


@dataclass(slots=True)
class Attempts:
    """Number of times a request was sent, retries included, and its total response time."""

    count: int = 0
    seconds: float = 0.0
    """Sum of Scrapy's `download_latency` in seconds: from the start of the download to the headers of its answer."""

    def meta(self) -> dict[str, Attempts]:
        """Request meta that makes a request count here."""
        return {ATTEMPTS_KEY: self}
