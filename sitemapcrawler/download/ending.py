"""The end of a crawl, as downloads see it: those that run get some seconds more, and nothing new begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.utils.asyncio import call_later

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
