"""Asking for listed URLs: every request once, hop by hop, through Scrapy's downloader."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, replace

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import urls
from sitemapcrawler.answers import Unanswered, reason
from sitemapcrawler.certificates import strict_meta
from sitemapcrawler.heads import PageHead
from sitemapcrawler.memo import Memo
from sitemapcrawler.page import Head, PageFacts, page_of, plain_headers
from sitemapcrawler.politeness import Attempts
from sitemapcrawler.reply import Ask, Chase, Kind, Reason, Reply, kind_of
from sitemapcrawler.reply.step import HEADERS, Step
from sitemapcrawler.soft404 import Fingerprint, is_soft_404, nonsense_url, witness

MS = 1000
CUT_SHORT = {"dataloss": Kind.TRUNCATED}
"""Response flags that say: there was more. (`partial` stands on every answer that ends with its connection, and
`download_stopped` where we had enough.)"""
OK = 200
WANTED = [name.title().encode() for name in (*HEADERS, "x-robots-tag", "link", "refresh")]
"""Headers that are looked at, as Scrapy spells them."""
HEADERS_OF_PAGES = frozenset(("x-robots-tag", "link", "refresh"))
"""Headers that say of a page what its head could say."""
FAULTS_OF_HOST = 500
"""Statuses from here on say that the host itself has a problem; 429 says so too."""
TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Outcome:
    """What asking for a URL came to."""

    reply: Reply
    last: Step | None = None
    """The last request; None where none was made."""
    soft_404: str | None = None
    """Why the page is none although its status is 200."""

    @property
    def page(self) -> PageFacts | None:
        """What the page of the last answer says of itself; None where nothing was read of it."""
        return None if self.last is None else self.last.page


class Asker:
    """Asks for URLs, each with its redirects. Two callers that need the same request share it.

    A host that gives `max_errors` failures in a row is left alone: what else is asked of it is unchecked, stopped.
    """

    def __init__(self, crawler: Crawler, memo: Memo, head: bool, max_errors: int) -> None:
        """`head`: by HEAD, and by GET where that is refused; False: by GET, of which the head of the page is read."""
        self._crawler = crawler
        self._memo = memo
        self._head = head
        self._max_errors = max_errors
        self._meta = {"dont_redirect": True, "give_up_log_level": logging.DEBUG, **strict_meta(crawler.settings)}
        self._running: dict[tuple[str, str], asyncio.Future[Step]] = {}
        self._errors: Counter[str] = Counter()
        self._witnesses: dict[str, asyncio.Future[Fingerprint | None]] = {}

    async def ask(self, url: str) -> Outcome:
        """The reply to a URL, asked at most once in a crawl."""
        if not self._head:
            await self._witness(url)
        reply, last = await self._chase(url, self._head)
        return Outcome(reply, last, self._soft_404(url, last))

    async def ask_asset(self, url: str) -> Outcome:
        """The reply to the URL of an image or a video, of which nothing is read."""
        return Outcome(*await self._chase(url, head=True))

    def is_first(self, url: str) -> bool:
        """True once for each URL, however often it is listed and in whatever spelling."""
        return self._memo.mark(urls.visit_key(url))

    def known(self, url: str) -> Reply | None:
        """The reply to a URL that was asked before; None for any other."""
        chase = Chase(url, self._head)
        step = chase.begin()
        while isinstance(step, Ask):
            last = self._memo.get(step.method, urls.visit_key(step.url))
            if last is None:
                return None
            step = last.tell(chase)
        return step

    async def _chase(self, url: str, head: bool) -> tuple[Reply, Step | None]:
        """The reply, and the last request."""
        chase, last = Chase(url, head), None
        step = chase.begin()
        while isinstance(step, Ask):
            last = await self._step(step.url, step.method)
            step = last.tell(chase)
        return step, last

    # Requests, each once.

    async def _step(self, url: str, method: str) -> Step:
        key = (method, urls.visit_key(url))
        running = self._running.get(key)
        if running is not None:
            return await asyncio.shield(running)
        known = self._memo.get(*key)
        if known is not None:
            return known
        self._running[key] = done = asyncio.get_running_loop().create_future()
        try:
            step = self._read(url, await self._request(url, method))
            done.set_result(step)
        finally:
            del self._running[key]
            done.cancel()
        self._keep(key, step)
        return step

    def _keep(self, key: tuple[str, str], step: Step) -> None:
        if step.failure != Reason.STOPPED:
            self._memo.put(*key, step)

    async def _request(self, url: str, method: str) -> Step:
        attempts, head = Attempts(), PageHead(wanted=not self._head)
        meta = {**self._meta, **attempts.meta(), **(head.meta() if method == "GET" else {})}
        request = Request(url, NO_CALLBACK, method, meta=meta, dont_filter=True)
        host = self._crawler.engine.downloader.get_slot_key(request)
        if self._errors[host] >= self._max_errors > 0:
            return Step(failure=Reason.STOPPED, why=f"{host} failed {self._max_errors} times in a row", attempts=0)
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:
            cause = error.__cause__ if isinstance(error, Unanswered) else None
            step = Step(failure=kind_of(cause or error).value, why=reason(error), attempts=attempts.count)
        else:
            step = _answered(response, attempts.count, head if method == "GET" else None)
        self._judge(host, step)
        return step

    def _judge(self, host: str, step: Step) -> None:
        """Count the failures of a host in a row."""
        if step.failure in list(Reason):
            return
        if step.status is None or step.status >= FAULTS_OF_HOST or step.status == TOO_MANY:
            self._errors[host] += 1
        else:
            self._errors.pop(host, None)

    # Pages that are none.

    async def _witness(self, url: str) -> None:
        """Know what the site of a URL answers to a path that does not exist, before a page of it is judged."""
        origin = urls.origin(url)
        if origin is None:
            return
        known = self._witnesses.get(origin)
        if known is None:
            known = self._witnesses[origin] = asyncio.ensure_future(self._ask_nonsense(f"{origin}/"))
        await asyncio.shield(known)

    async def _ask_nonsense(self, home: str) -> Fingerprint | None:
        asked: dict[str, Step] = {}
        nonsense = await self._fingerprint(nonsense_url(home, self._crawler.settings["BOT_NAME"]), asked)
        return None if nonsense is None else witness(nonsense, await self._fingerprint(home, asked))

    async def _fingerprint(self, url: str, asked: dict[str, Step]) -> Fingerprint | None:
        """Of the page that a URL leads to; None where that is not answered with 200. `asked`: answers by key of URL,
        the text of their pages included."""
        chase, page = Chase(url, False), None
        step = chase.begin()
        while isinstance(step, Ask):
            key = urls.visit_key(step.url)
            if key not in asked:
                asked[key] = await self._request(step.url, step.method)
                self._keep((step.method, key), self._read(step.url, asked[key]))
            came = asked[key]
            page = came.page if came.status == OK else None
            step = came.tell(chase)
        return None if page is None or not page.sampled else Fingerprint.of(page, url)

    def _known_witness(self, url: str) -> Fingerprint | None:
        known = self._witnesses.get(urls.origin(url) or "")
        return known.result() if known is not None and known.done() and not known.cancelled() else None

    def _read(self, url: str, step: Step) -> Step:
        """The step, judged by its page; without the text of that, which would fill the memo."""
        if step.page is None or not step.page.sample:
            return step
        soft = is_soft_404(step.page, url, self._known_witness(url)) if step.status == OK else None
        return replace(step, soft_404=soft, page=replace(step.page, sample=""))

    def _soft_404(self, asked: str, last: Step | None) -> str | None:
        if last is None or last.page is None or last.status != OK:
            return None
        nonsense = self._known_witness(asked)
        if last.soft_404 is None and nonsense is not None and nonsense.moved:
            return is_soft_404(last.page, asked, nonsense)
        return last.soft_404


def _answered(response: Response, attempts: int, head: PageHead | None) -> Step:
    cut = next((kind.value for flag, kind in CUT_SHORT.items() if flag in response.flags), None)
    headers = plain_headers((name, values) for name in WANTED if (values := dict.get(response.headers, name)))
    if head is not None:
        page = head.facts(response, whole=cut is None)
    else:
        page = None if HEADERS_OF_PAGES.isdisjoint(headers) else page_of(Head(), headers, response.url)
    return Step(
        response.status,
        {name: headers[name] for name in HEADERS if name in headers},
        attempts=attempts,
        elapsed_ms=round((response.meta.get("download_latency") or 0.0) * MS),
        page=page,
        cut=cut,
    )
