"""The requests that a spider of pages makes of what sitemaps list, by way of the methods of its subclass."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.utils.job import job_dir
from scrapy.utils.misc import arg_to_iter

from sitemapcrawler import urls
from sitemapcrawler.findings import inert
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.quota import Quota
from sitemapcrawler.walking import Walk

if TYPE_CHECKING:
    from sitemapcrawler.pagespider import SitemapSpider

logger = logging.getLogger(__name__)


class PageRequests:
    """Makes the requests of one crawl, and counts them in its stats. A method of the subclass that fails costs the page
    or file that it was asked about."""

    def __init__(self, spider: SitemapSpider, errback: Callable[..., Any]) -> None:
        self._spider = spider
        self._errback = errback
        crawler = spider.crawler
        folder = job_dir(crawler.settings)
        fingerprint = crawler.request_fingerprinter.fingerprint
        self._quota = Quota(spider.params.max_urls, Path(folder) if folder else None, fingerprint)
        self._stats = crawler.stats
        self._failed = False
        self.count = 0
        """Requests made in this run, those included that Scrapy filters out."""

    @property
    def full(self) -> bool:
        """True when `max_urls` is reached, in this run or together with earlier ones of the job."""
        return self._quota.full

    def of(self, batch: UrlBatch) -> Iterator[Request]:
        """The requests for the pages of a batch, as far as `max_urls` goes. Each that is made is to be taken."""
        for entry in batch.urls:
            if self.full:
                return
            request = self._request(entry)
            if request is not None:
                yield request

    def take(self, request: Request) -> None:
        """A request goes to Scrapy."""
        self.count += 1
        self._quota.take(request)

    def told(self, record: SitemapRecord) -> Iterator[Any]:
        """What the subclass makes of a sitemap that was read."""
        self._stats.inc_value("sitemap/files")
        self._stats.inc_value(f"sitemap/files/{record.outcome}")
        try:
            yield from arg_to_iter(self._spider.sitemap_read(record))
        except CloseSpider:
            raise
        except Exception as error:
            self._blame("sitemap_read", record.sitemap, error)

    def conclude(self, walk: Walk) -> None:
        """Count, and log in one line, what came of the sitemaps."""
        self._quota.close()
        for name, count in (walk.selection.skipped + walk.frontier.skipped).items():
            self._stats.inc_value(f"sitemap/skipped/{name}", count)
        self._stats.set_value("sitemap/pages", self.count)
        files, stopped = self._stats.get_value("sitemap/files", 0), self._spider.stopping()
        level = logging.INFO if self.count or stopped or self.full else logging.WARNING
        logger.log(level, "%d sitemaps, %d pages to crawl%s", files, self.count, " so far" if stopped else "")

    def _request(self, entry: UrlRecord) -> Request | None:
        if not urls.is_web(entry.loc):
            self._stats.inc_value("sitemap/skipped/not-web")
            return None
        try:
            request = self._spider.page_request(entry) if self._spider.wanted(entry) else None
            if request is not None:
                return self._leading_back(request, entry)
            self._stats.inc_value("sitemap/skipped/wanted")
        except CloseSpider:
            raise
        except Exception as error:
            self._blame("no request was made", entry.loc, error)
        return None

    def _leading_back(self, request: Request, entry: UrlRecord) -> Request:
        """The request with the spider's callback and errback, unless it has its own callback."""
        if request.callback is None:
            request.callback = self._spider.parse_page
            request.errback = request.errback or self._errback
            request.cb_kwargs.setdefault("entry", entry)
        return request

    def _blame(self, what: str, url: str, error: Exception) -> None:
        """Log that a method of the subclass failed; the first time with its traceback."""
        kind = type(error).__name__
        logger.error("%s: %s: %s: %s", inert(url), what, kind, inert(str(error)), exc_info=not self._failed)
        self._failed = True
        self._stats.inc_value("spider_exceptions/count")
        self._stats.inc_value(f"spider_exceptions/{kind}")
