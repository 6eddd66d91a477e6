"""One request for a page, through Scrapy's downloader and all its middlewares, and what came of it."""

from __future__ import annotations

import logging
from collections import Counter

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler.answers import Unanswered, reason
from sitemapcrawler.certificates import strict_meta
from sitemapcrawler.heads import PageHead
from sitemapcrawler.page import Head, page_of, plain_headers
from sitemapcrawler.politeness import Attempts
from sitemapcrawler.reply import Kind, Reason, kind_of
from sitemapcrawler.reply.step import HEADERS, Step
from sitemapcrawler.urls import host_of

logger = logging.getLogger(__name__)

MS = 1000
CUT_SHORT = {"dataloss": Kind.TRUNCATED}
"""Response flags that say: there was more. (`partial` stands on every answer that ends with its connection, and
`download_stopped` where we had enough.)"""
OF_PAGES = ("x-robots-tag", "link", "refresh")
"""Headers that say of a page what its head could say."""
WANTED = [name.title().encode() for name in (*HEADERS, *OF_PAGES)]
"""Headers that are looked at, as Scrapy spells them."""
FAULTS_OF_HOST = 500
"""Statuses from here on say that the host itself has a problem; 429 says so too."""
TOO_MANY = 429


class Sender:
    """Sends requests. A host that gives `max_errors` failures in a row is left alone: what else is to be sent to it
    is stopped."""

    def __init__(self, crawler: Crawler, reads_pages: bool, max_errors: int) -> None:
        """`reads_pages`: read the head of the page that GET gives; False: of GET only the status counts."""
        self._crawler = crawler
        self._reads_pages = reads_pages
        self._max_errors = max_errors
        self._meta = {"dont_redirect": True, "give_up_log_level": logging.DEBUG, **strict_meta(crawler.settings)}
        self._errors: Counter[str] = Counter()

    async def send(self, url: str, method: str) -> Step:
        """What came of a request; an exception is an answer too."""
        attempts, head = Attempts(), PageHead(wanted=self._reads_pages)
        meta = {**self._meta, **attempts.meta(), **(head.meta() if method == "GET" else {})}
        try:
            request = Request(url, NO_CALLBACK, method, meta=meta, dont_filter=True)
        except ValueError as error:  # a host that only a browser would take
            return Step(failure=Kind.ADDRESS_REFUSED, why=reason(error), attempts=0)
        host = host_of(url)
        if self._errors[host] >= self._max_errors > 0:
            return Step(failure=Reason.STOPPED, why=f"{host} failed {self._max_errors} times in a row", attempts=0)
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:
            cause = error.__cause__ if isinstance(error, Unanswered) else None
            kind = kind_of(cause or error)
            if kind is Kind.RESET and getattr(self._crawler.spider, "stop_reason", None) is not None:
                kind = Reason.STOPPED  # which breaks connections in ways of its own
            return Step(failure=kind.value, why=reason(error), attempts=attempts.count)
        return answered(response, attempts.count, head if method == "GET" else None)

    def count(self, url: str, step: Step) -> None:
        """Count the URLs of a host that fail in a row. `step`: what asking came to at last, of the URL `url`."""
        host = host_of(url)
        if step.failure in list(Reason) or step.failure == Kind.ADDRESS_REFUSED:
            return
        if step.status is None or step.status >= FAULTS_OF_HOST or step.status == TOO_MANY:
            self._errors[host] += 1
            if self._errors[host] == self._max_errors:
                logger.warning("%s: %d URLs in a row failed, the rest of its URLs is not asked", host, self._max_errors)
        else:
            self._errors.pop(host, None)


def answered(response: Response, attempts: int, head: PageHead | None) -> Step:
    """What an answer says. `head`: what was read of the page; None for an answer to HEAD."""
    cut = next((kind.value for flag, kind in CUT_SHORT.items() if flag in response.flags), None)
    headers = plain_headers((name, values) for name in WANTED if (values := dict.get(response.headers, name)))
    if head is not None:
        page = head.facts(response, headers, whole=cut is None)
    else:
        page = page_of(Head(), headers, response.url) if any(name in headers for name in OF_PAGES) else None
    return Step(
        response.status,
        {name: headers[name] for name in HEADERS if name in headers},
        attempts=attempts,
        elapsed_ms=round((response.meta.get("download_latency") or 0.0) * MS),
        page=page,
        cut=cut,
    )
