"""Keeps the bodies of sitemaps and robots.txt in the cache of a crawl, and asks whether they have changed."""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from sitemapcrawler.crawl.reading import is_page
from sitemapcrawler.download.answers import from_response
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.body_cache import KEPT_KEY, VALIDATORS, BodyCache, BodyStorage, KeptBody
from sitemapcrawler.middlewares.adapted import CACHED

EARLIER_KEY = "sitemap_earlier"
"""Key in `Request.meta` of the body of an earlier crawl, and the headers added to ask whether it has changed."""
NOT_MODIFIED = 304


class BodyCacheMiddleware:
    """Keeps bodies that are collected in a file, of requests with KEPT_KEY in their meta, also with `no-store` and
    without validators. None passes as fresh.

    It comes before `CredentialsMiddleware`, so that it sees no login, and after Scrapy's own cache, whose answers it
    keeps too.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Look for an earlier body, and ask whether it has changed. Forget a damaged one."""
        storage = self._storage(request)
        if storage is None:
            return
        kept = storage.find(request)
        if kept is None:
            return
        added = {
            name: kept.headers[own]
            for name, own in VALIDATORS.items()
            if own in kept.headers and name not in request.headers
        }
        request.headers.update(added)
        request.meta[EARLIER_KEY] = kept, list(added)
        if added and not kept.is_whole():
            _taken(request)
            storage.discard(request.url)

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep the body, or the earlier one if the server says that it has not changed. That one is the response then,
        unless the crawl itself has sent validators."""
        storage = self._storage(request)
        if storage is None:
            return response
        kept, added = _taken(request)
        if kept is not None and response.status == NOT_MODIFIED:
            storage.keep(kept)
            return _filled(request, kept) if added else response
        if response.status == 200 and _is_whole(request, response):
            storage.store(request, response.headers, request.meta[BODY_KEY])
        else:
            storage.discard(request.url)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Forget the earlier body of a URL that gives none now."""
        storage = self._storage(request)
        if storage is not None:
            _taken(request)
            storage.discard(request.url)

    def _storage(self, request: Request) -> BodyStorage | None:
        """Where the body of a request is kept; None if it is not."""
        if not request.meta.get(KEPT_KEY) or not isinstance(request.meta.get(BODY_KEY), Body):
            return None
        return BodyCache.of(self._crawler).storage


def _taken(request: Request) -> tuple[KeptBody | None, list[str]]:
    """Take from a request what was added to it: it may be sent again, or to another URL."""
    kept, added = request.meta.pop(EARLIER_KEY, (None, []))
    for name in added:
        request.headers.pop(name, None)
    return kept, added


def _filled(request: Request, kept: KeptBody) -> Response:
    """Answer a request, and fill its body, with the content of an earlier one."""
    response = Response(kept.url, headers=kept.headers, flags=[CACHED])
    request.meta[BODY_KEY].fill(response, kept.chunks())
    return response


def _is_whole(request: Request, response: Response) -> bool:
    """True for a complete body that is no HTML page."""
    answer = from_response(response.replace(request=request))
    return answer.error is None and not is_page(answer)
