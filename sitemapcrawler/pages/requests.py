"""Turns listed URLs into page requests with the methods of the user's subclass, up to `max_urls`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.utils.job import job_dir
from scrapy.utils.misc import arg_to_iter

from sitemapcrawler import urls
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlEntry
from sitemapcrawler.pages.walking import SitemapItems
from sitemapcrawler.urls.display import counted, inert

if TYPE_CHECKING:
    from sitemapcrawler.pages.spider import SitemapSpider


KEPT = "sitemap.pages"
"""File in the job folder with the concatenated keys of the pages."""
KEY_BYTES = 16
"""Length of a key in bytes: collisions stay unlikely beyond 10^15 pages."""


class Quota:
    """Counts pages towards `max_urls`, each once, as Scrapy requests it once.

    Memory, and disk in a job: `KEY_BYTES` and a set entry per page; nothing without a limit.
    """

    def __init__(self, most: int | None, folder: Path | None, fingerprint: Callable[[Request], bytes]) -> None:
        """`folder`: job folder, or None; `fingerprint`: Scrapy's. Raises OSError for an unusable job folder."""
        self._most = most
        self._fingerprint = fingerprint
        self._file = (folder / KEPT).open("a+b", buffering=0) if most is not None and folder is not None else None
        self._known: set[bytes] = set()
        self._count = 0
        if self._file is not None:
            self._file.seek(0)
            self._remember(self._file.readall())
            self._file.truncate(self._count * KEY_BYTES)

    @property
    def full(self) -> bool:
        """True if no further page may be requested."""
        return self._most is not None and self._count >= self._most

    def use(self, request: Request) -> None:
        """Count a page request."""
        if self._most is None:
            return
        key = blake2b(self._fingerprint(request), digest_size=KEY_BYTES).digest()
        if request.dont_filter or key not in self._known:
            self._remember(key)
            if self._file is not None:
                self._file.write(key)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _remember(self, keys: bytes) -> None:
        """Add concatenated keys; ignores an incomplete one at the end."""
        for at in range(0, len(keys) - KEY_BYTES + 1, KEY_BYTES):
            self._known.add(keys[at : at + KEY_BYTES])
            self._count += 1


logger = logging.getLogger(__name__)


class PageRequests:
    """Makes and counts the page requests of a crawl. An exception in a subclass method skips only its page or file."""

    def __init__(self, spider: SitemapSpider, errback: Callable[..., object]) -> None:
        self._spider = spider
        self._errback = errback
        crawler = spider.crawler
        folder = job_dir(crawler.settings)
        fingerprint = crawler.request_fingerprinter.fingerprint
        self._quota = Quota(spider.params.max_urls, Path(folder) if folder else None, fingerprint)
        self._stats = crawler.stats
        self._failed = False
        self.count = 0
        """Requests made in this run, including those that Scrapy filters out."""

    @property
    def full(self) -> bool:
        """True if `max_urls` is reached, counting earlier runs of the job."""
        return self._quota.full

    def for_batch(self, batch: UrlBatch) -> Iterator[Request]:
        """Requests for the pages of a batch, up to `max_urls`. Pass each to `count_sent` when it is sent."""
        for record in batch.urls:
            if self.full:
                return
            request = self._request(UrlEntry.of(record))
            if request is not None:
                yield request

    def count_sent(self, request: Request) -> None:
        self.count += 1
        self._quota.use(request)

    def for_sitemap(self, record: SitemapRecord) -> Iterator[object]:
        """Items and requests that the subclass makes of a sitemap."""
        self._stats.inc_value("sitemap/files")
        self._stats.inc_value(f"sitemap/files/{record.outcome}")
        try:
            yield from arg_to_iter(self._spider.sitemap_read(record))
        except CloseSpider:
            raise
        except Exception as error:
            self._blame("sitemap_read", record.sitemap, error)

    def conclude(self, sitemaps: SitemapItems) -> None:
        """Store the counts in the stats, and log one line."""
        self._quota.close()
        for name, count in (sitemaps.selection.skipped + sitemaps.frontier.skipped).items():
            self._stats.inc_value(f"sitemap/skipped/{name}", count)
        self._stats.set_value("sitemap/pages", self.count)
        files, stopped = self._stats.get_value("sitemap/files", 0), self._spider.stopping()
        level = logging.INFO if self.count or stopped or self.full else logging.WARNING
        pages = counted(self.count, "page")
        logger.log(level, "%s, %s to crawl%s", counted(files, "sitemap"), pages, " so far" if stopped else "")

    def _request(self, entry: UrlEntry) -> Request | None:
        if not urls.is_web(entry.loc):
            self._stats.inc_value("sitemap/skipped/not-web")
            return None
        try:
            request = self._spider.page_request(entry) if self._spider.wanted(entry) else None
            if request is not None:
                return self._leading_back(_to_its_host(request, entry.loc), entry)
            self._stats.inc_value("sitemap/skipped/wanted")
        except CloseSpider:
            raise
        except Exception as error:
            self._blame("no request was made", entry.loc, error)
        return None

    def _leading_back(self, request: Request, entry: UrlEntry) -> Request:
        """Set the spider's callback and errback, unless the request has a callback."""
        if request.callback is None:
            request.callback = self._spider.parse_page
            request.errback = request.errback or self._errback
            request.cb_kwargs.setdefault("entry", entry)
        return request

    def _blame(self, what: str, url: str, error: Exception) -> None:
        """Log an exception in a method of the subclass; the first one with its traceback."""
        kind = type(error).__name__
        logger.error("%s: %s: %s: %s", inert(url), what, kind, inert(str(error)), exc_info=not self._failed)
        self._failed = True
        self._stats.inc_value("spider_exceptions/count")
        self._stats.inc_value(f"spider_exceptions/{kind}")


def _to_its_host(request: Request, loc: str) -> Request:
    """The request with the host of its entry encoded as we send it, if Scrapy encoded it differently."""
    sent = urls.as_sent(loc)
    return request.replace(url=sent) if sent != loc and request.url == Request(loc).url else request
