"""Requests listed URLs, following each redirect, and makes each request only once."""

from __future__ import annotations

import asyncio
import logging
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from http import HTTPStatus

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import urls
from sitemapcrawler.download.answers import ProxyFailed, Unanswered, download, reason
from sitemapcrawler.download.bodies import PageBody
from sitemapcrawler.download.handlers import strict_meta
from sitemapcrawler.download.shared import Attempts, Stop
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.replies import REACHED, Ask, Chase, Reason, ReplyKind, ReplyRecord, kind_of
from sitemapcrawler.replies.chase import HEADERS, REDIRECTS, Step, decode, encode
from sitemapcrawler.replies.kinds import SERVER_ERROR
from sitemapcrawler.replies.page import USAGE_HEADERS, Html, PageFacts, page_of, plain_headers
from sitemapcrawler.urls import as_sent, host_of
from sitemapcrawler.urls.display import counted
from sitemapcrawler.verification.witnesses import Witnesses

logger = logging.getLogger(__name__)

DIGEST_BYTES = 16
"""Bytes of a request's digest: collisions do not occur in practice."""
CACHE_KIB = 4096
"""SQLite's page cache in KiB."""
MARK = ""
"""Stands for the method in the digest of a marked URL."""
TEMPORARY = ""
"""Name that makes SQLite open a temporary file."""


class Memo:
    """On-disk cache of the answer to every request. If the disk is full it is disabled: URLs may be requested again."""

    def __init__(self) -> None:
        self._base = sqlite3.connect(TEMPORARY, isolation_level=None)
        self._base.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE steps (request BLOB PRIMARY KEY, step BLOB) WITHOUT ROWID")
        self._base.execute("BEGIN")
        self._full = False

    def get(self, method: str, key: str) -> Step | None:
        """The cached answer to a request, or None. `key`: `urls.request_key` of the URL."""
        found = self._execute("SELECT step FROM steps WHERE request = ?", _digest(method, key))
        row = found.fetchone() if found is not None else None
        return None if row is None else decode(row[0])

    def put(self, method: str, key: str, step: Step) -> None:
        self._execute("INSERT OR REPLACE INTO steps VALUES (?, ?)", _digest(method, key), encode(step))

    def mark(self, key: str) -> bool:
        """Return True the first time a URL is marked; if the disk is full, always."""
        done = self._execute("INSERT OR IGNORE INTO steps VALUES (?, x'')", _digest(MARK, key))
        return done is None or done.rowcount > 0

    def _execute(self, statement: str, *values: bytes) -> sqlite3.Cursor | None:
        """Run a statement. None once the disk is full: without a journal, existing rows may be damaged too."""
        if self._full:
            return None
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as error:
            self._full = True
            logger.warning("answers can no longer be cached (%s): repeated URLs are requested again", error)
            return None

    def close(self) -> None:
        self._base.close()


def _digest(method: str, key: str) -> bytes:
    return blake2b(f"{method} {key}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


MS = 1000
CUT_SHORT = {"dataloss": ReplyKind.TRUNCATED}
"""Response flags of incomplete bodies. (Not `partial`, set on every body that ends with its connection, nor
`download_stopped`, set when we have read enough.)"""
OF_PAGES = frozenset(("x-robots-tag", "link", "refresh")) | USAGE_HEADERS
"""Headers with the same information as the head of a page."""
WANTED = frozenset(name.title().encode() for name in (*HEADERS, *OF_PAGES))
"""Headers that are kept, as Scrapy spells them."""
USUAL_URL = re.compile(
    r"https?://[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9][a-z0-9-]{0,62})*(?::[1-9][0-9]{0,3})?"
    r"/[A-Za-z0-9._~/-]*(?:\?[A-Za-z0-9._~/=&-]+)?"
)
"""URLs that Scrapy sends unchanged, so that it need not escape them again."""


class Sender:
    """Sends requests. After `max_errors` failures in a row, the rest of a host's URLs are skipped as stopped. But
    if the last one is a server error and the home page has none, a part of the site fails alone."""

    def __init__(self, crawler: Crawler, reads_pages: bool, max_errors: int, reads_links: bool = False) -> None:
        """`reads_pages`: parse pages fetched with GET; otherwise only the status counts. `reads_links`:
        read their links too."""
        self._crawler = crawler
        self._reads_links = reads_links
        self._reads_pages = reads_pages
        self._max_errors = max_errors
        self._meta = {"dont_redirect": True, "give_up_log_level": logging.DEBUG, **strict_meta(crawler.settings)}
        self._errors: Counter[str] = Counter()
        """Failures in a row, by host."""
        self._down: dict[str, asyncio.Future[bool]] = {}
        """Whether a host with so many of them fails altogether."""

    async def send(self, url: str, method: str) -> Step:
        """Send a request and return the result; an exception is a result too."""
        host = host_of(url)
        if (down := self._down.get(host)) is not None and await asyncio.shield(down):
            why = f"{host} failed {counted(self._max_errors, 'time')} in a row"
            return Step(failure=Reason.STOPPED, why=why, attempts=0)
        return await self._send(url, method)

    async def _send(self, url: str, method: str) -> Step:
        attempts, body = Attempts(), PageBody(self._reads_pages, self._reads_links) if method == "GET" else None
        meta = {**self._meta, **attempts.meta(), **({} if body is None else body.meta())}
        if USUAL_URL.fullmatch(url):
            meta["verbatim_url"] = True
        try:
            request = Request(as_sent(url), NO_CALLBACK, method, meta=meta, dont_filter=True)
        except ValueError as error:  # a host that only browsers accept
            return Step(failure=ReplyKind.ADDRESS_REFUSED, why=reason(error), attempts=0)
        try:
            response = await download(self._crawler, request)
        except Exception as error:
            cause = (error.__cause__ if isinstance(error, Unanswered) else None) or error
            kind = kind_of(cause)
            if kind is ReplyKind.RESET and Stop.of(self._crawler).begun():
                kind = Reason.STOPPED  # stopping breaks connections in various ways
            step = Step(failure=kind.value, why=reason(error), attempts=attempts.count)
            if isinstance(cause, ProxyFailed):
                self._add_error(url, step)
            return step
        return step_of(response, attempts, body)

    def count(self, url: str, step: Step) -> None:
        """Count consecutive failures of a host. `step`: the last result for the URL `url`."""
        if step.failure in list(Reason) or step.failure == ReplyKind.ADDRESS_REFUSED:
            return
        if _fails(step):
            self._add_error(url, step)
        else:
            self._errors.pop(host_of(url), None)

    def _add_error(self, url: str, step: Step) -> None:
        host = host_of(url)
        self._errors[host] += 1
        if self._errors[host] >= self._max_errors > 0 and host not in self._down:
            self._down[host] = asyncio.ensure_future(self._is_down(url, step))

    async def _is_down(self, url: str, step: Step) -> bool:
        """Whether a host fails altogether. `step`: its last failure, at the URL `url`."""
        host = host_of(url)
        if (step.status or 0) < SERVER_ERROR or not await self._has_home(url):
            logger.warning("%s: %s in a row failed; the rest are skipped", host, counted(self._max_errors, "URL"))
            return True
        del self._errors[host], self._down[host]
        return False

    async def _has_home(self, url: str) -> bool:
        """Whether the home page of the site of a URL has no server error, behind redirects on its host: a server in
        front of a broken one may redirect `/` to a language."""
        chase = Chase(f"{urls.origin(url)}/", head=False)
        step, last = chase.begin(), None
        while isinstance(step, Ask) and host_of(step.url) == host_of(url):
            last = await self._send(step.url, step.method)
            step = last.advance(chase)
        return last is not None and not _fails(last) and last.status not in REDIRECTS


def _fails(step: Step) -> bool:
    return step.status is None or step.status >= SERVER_ERROR or step.status == HTTPStatus.TOO_MANY_REQUESTS


def step_of(response: Response, attempts: Attempts, body: PageBody | None) -> Step:
    """The result in a response. `body`: its page; None for HEAD."""
    cut = next((kind.value for flag, kind in CUT_SHORT.items() if flag in response.flags), None)
    headers = plain_headers(one for one in dict.items(response.headers) if one[0] in WANTED)
    if body is not None:
        page = body.facts(response, headers, whole=cut is None)
    else:
        page = page_of(Html(), headers, response.url) if not OF_PAGES.isdisjoint(headers) else None
    return Step(
        response.status,
        {name: headers[name] for name in HEADERS if name in headers},
        attempts=attempts.count,
        elapsed_ms=round(attempts.seconds * MS),
        page=page,
        cut=cut,
    )


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a URL."""

    reply: ReplyRecord
    """Records share it."""
    last: Step | None = None
    """The last request; None if none was made."""

    @property
    def page(self) -> PageFacts | None:
        """Facts from the final page; None if it was not read."""
        return None if self.last is None else self.last.page


class Asker:
    """Requests URLs with their redirects. Concurrent callers with the same request share it."""

    def __init__(self, sender: Sender, memo: Memo, head: bool, seed: str, records: Recorder | None = None) -> None:
        """`head`: use HEAD, and GET if that is refused. False: use GET and read the page.

        `seed`: seed of the made-up path for soft-404 detection; `records`: keep each result.
        """
        self._sender = sender
        self._memo = memo
        self._records = records
        self._head = head
        self._running: dict[tuple[str, str], asyncio.Future[Step]] = {}
        self._witnesses = Witnesses(sender.send, self._keep_page, seed)

    def expect(self, listed: Iterable[str]) -> None:
        """Prepare for pages that are requested together: `ask` is called for each of them."""
        if not self._head:
            self._witnesses.expect(listed)

    async def ask(self, url: str, follow: bool = True) -> Verification:
        """The reply to a URL, requested at most once per crawl. `follow`: False to end at a redirect."""
        if not self._head:
            await self._witnesses.obtain(url)
        reply, last = await self._chase(url, self._head, follow)
        reply.soft_404 = self._witnesses.verdict(url, last)
        reply.shell = (last is not None and last.shell and reply.soft_404 is None) or None
        return Verification(reply, last)

    async def ask_asset(self, url: str) -> Verification:
        """The reply to the URL of an image or video; the body is not read."""
        return Verification(*await self._chase(url, head=True))

    def is_first(self, url: str) -> bool:
        """Return True once per URL, however often it is listed and however it is spelled."""
        return self._memo.mark(urls.request_key(url))

    def is_first_target(self, url: str) -> bool:
        """Return True once per URL that a redirect or canonical leads to."""
        return self._memo.mark(f"target {urls.request_key(url)}")

    def cached_reply(self, url: str) -> ReplyRecord | None:
        """The reply to a URL that was requested before; None for any other."""
        return self._known(url)[0]

    def known_page(self, url: str) -> PageFacts | None:
        """The page that a URL which was requested before leads to; None if it was not read."""
        reply, last = self._known(url)
        return last.page if reply is not None and reply.kind in REACHED and last is not None else None

    def _known(self, url: str) -> tuple[ReplyRecord | None, Step | None]:
        chase, last = Chase(url, self._head), None
        step = chase.begin()
        while isinstance(step, Ask):
            last = self._memo.get(step.method, urls.request_key(step.url))
            if last is None:
                return None, None
            step = last.advance(chase)
        return step, last

    def remember(self, method: str, key: str, step: Step) -> None:
        self._memo.put(method, key, step)

    def close(self) -> None:
        self._memo.close()

    async def _chase(self, url: str, head: bool, follow: bool = True) -> tuple[ReplyRecord, Step | None]:
        """The reply and the last request."""
        chase, last, asked = Chase(url, head, follow), None, url
        step = chase.begin()
        while isinstance(step, Ask):
            asked = step.url
            last = await self._step(asked, step.method)
            step = last.advance(chase)
        if last is not None:
            self._sender.count(asked, last)
        return step, last

    async def _step(self, url: str, method: str) -> Step:
        key = (method, urls.request_key(url))
        running = self._running.get(key)
        if running is not None:
            return await asyncio.shield(running)
        known = self._memo.get(*key)
        if known is not None:
            return known
        self._running[key] = done = asyncio.get_running_loop().create_future()
        try:
            answer = await self._sender.send(url, method)
            await self._witnesses.obtain_of_folder(url, answer)
            step = self._witnesses.judge(url, answer)
            done.set_result(step.without_links())
        finally:
            del self._running[key]
            done.cancel()
        self._keep(key, step)
        return step

    def _keep_page(self, url: str, step: Step) -> None:
        self._keep(("GET", urls.request_key(url)), self._witnesses.judge(url, step))

    def _keep(self, key: tuple[str, str], step: Step) -> None:
        if step.failure != Reason.STOPPED:
            self._memo.put(*key, step.without_links())
            if self._records is not None:
                self._records.reply(key[1], key[0], step)
