"""Requests listed URLs, redirect by redirect, each request once."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import urls
from sitemapcrawler.download.answers import Unanswered, reason
from sitemapcrawler.download.bodies import PageHead
from sitemapcrawler.download.handlers import strict_meta
from sitemapcrawler.download.slots import Attempts
from sitemapcrawler.replies import Ask, Chase, Reason, Reply, ReplyKind, kind_of
from sitemapcrawler.replies.chase import HEADERS, Step, decode, encode
from sitemapcrawler.replies.page import HtmlHead, PageFacts, page_of, plain_headers
from sitemapcrawler.replies.soft404 import Fingerprint, is_soft_404, nonsense_url, witness
from sitemapcrawler.urls import as_sent, host_of
from sitemapcrawler.words import counted

logger = logging.getLogger(__name__)

DIGEST_BYTES = 16
"""Bytes that stand for a request: two with the same do not occur."""
CACHE_KIB = 4096
"""KiB of the file that SQLite keeps in memory."""
MARK = ""
"""Stands for the method in the digest of a URL that is marked."""
TEMPORARY = ""
"""Name with which SQLite opens a temporary file."""


class Memo:
    """The answer to every request. Where the disk is full, none is known any more: their URLs may be asked again."""

    def __init__(self) -> None:
        self._base = sqlite3.connect(TEMPORARY, isolation_level=None)
        self._base.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE steps (request BLOB PRIMARY KEY, step BLOB) WITHOUT ROWID")
        self._base.execute("BEGIN")
        self._full = False

    def get(self, method: str, key: str) -> Step | None:
        """The answer to a request; None where it is not known. `key`: `urls.request_key` of the URL."""
        if self._full:  # without a journal, what is there may be damaged too
            return None
        try:
            row = self._base.execute("SELECT step FROM steps WHERE request = ?", (_digest(method, key),)).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return None if row is None else decode(row[0])

    def put(self, method: str, key: str, step: Step) -> None:
        """Keep the answer to a request."""
        if self._full:
            return
        try:
            self._base.execute("INSERT OR REPLACE INTO steps VALUES (?, ?)", (_digest(method, key), encode(step)))
        except sqlite3.Error as error:
            self._give_up(error)

    def mark(self, key: str) -> bool:
        """True the first time that this is said of a URL; where the disk is full, later ones are always new."""
        if self._full:
            return True
        try:
            done = self._base.execute("INSERT OR IGNORE INTO steps VALUES (?, x'')", (_digest(MARK, key),))
        except sqlite3.Error as error:
            self._give_up(error)
            return True
        return done.rowcount > 0

    def _give_up(self, error: sqlite3.Error) -> None:
        self._full = True
        logger.warning("replies cannot be kept any more (%s): URLs that are listed again are asked again", error)

    def close(self) -> None:
        """Free the file."""
        self._base.close()


def _digest(method: str, key: str) -> bytes:
    return blake2b(f"{method} {key}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


MS = 1000
CUT_SHORT = {"dataloss": ReplyKind.TRUNCATED}
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
            request = Request(as_sent(url), NO_CALLBACK, method, meta=meta, dont_filter=True)
        except ValueError as error:  # a host that only a browser would take
            return Step(failure=ReplyKind.ADDRESS_REFUSED, why=reason(error), attempts=0)
        host = host_of(url)
        if self._errors[host] >= self._max_errors > 0:
            why = f"{host} failed {counted(self._max_errors, 'time')} in a row"
            return Step(failure=Reason.STOPPED, why=why, attempts=0)
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:
            cause = error.__cause__ if isinstance(error, Unanswered) else None
            kind = kind_of(cause or error)
            if kind is ReplyKind.RESET and getattr(self._crawler.spider, "stop_reason", None) is not None:
                kind = Reason.STOPPED  # which breaks connections in ways of its own
            return Step(failure=kind.value, why=reason(error), attempts=attempts.count)
        return step_of(response, attempts, head if method == "GET" else None)

    def count(self, url: str, step: Step) -> None:
        """Count the URLs of a host that fail in a row. `step`: what asking came to at last, of the URL `url`."""
        host = host_of(url)
        if step.failure in list(Reason) or step.failure == ReplyKind.ADDRESS_REFUSED:
            return
        if step.status is None or step.status >= FAULTS_OF_HOST or step.status == TOO_MANY:
            self._errors[host] += 1
            if self._errors[host] == self._max_errors:
                many = counted(self._max_errors, "URL")
                logger.warning("%s: %s in a row failed, the rest of its URLs is not asked", host, many)
        else:
            self._errors.pop(host, None)


def step_of(response: Response, attempts: Attempts, head: PageHead | None) -> Step:
    """What an answer says. `head`: what was read of the page; None for an answer to HEAD."""
    cut = next((kind.value for flag, kind in CUT_SHORT.items() if flag in response.flags), None)
    headers = plain_headers((name, values) for name in WANTED if (values := dict.get(response.headers, name)))
    if head is not None:
        page = head.facts(response, headers, whole=cut is None)
    else:
        page = page_of(HtmlHead(), headers, response.url) if any(name in headers for name in OF_PAGES) else None
    return Step(
        response.status,
        {name: headers[name] for name in HEADERS if name in headers},
        attempts=attempts.count,
        elapsed_ms=round(attempts.seconds * MS),
        page=page,
        cut=cut,
    )


OK = 200
Send = Callable[[str, str], Awaitable[Step]]
"""Makes a request: URL and method."""


class Witnesses:
    """The witness of each authority, asked for before the first page of it is judged: two requests, and redirects."""

    def __init__(self, send: Send, keep: Callable[[str, Step], None], seed: str) -> None:
        """`keep` is given what came of GET for a URL; `seed`: of the path that cannot exist."""
        self._send = send
        self._keep = keep
        self._seed = seed
        self._asked: dict[str, asyncio.Future[Fingerprint | None]] = {}

    async def know(self, url: str) -> None:
        """Have the witness of the site of a URL."""
        origin = urls.origin(url)
        if origin is None:
            return
        asked = self._asked.get(origin)
        if asked is None:
            asked = self._asked[origin] = asyncio.ensure_future(self._ask(f"{origin}/"))
        await asyncio.shield(asked)

    def judge(self, url: str, step: Step) -> Step:
        """The step, judged by its page; without the text of that, which would fill the memo."""
        if step.page is None or not step.page.sample:
            return step
        soft = is_soft_404(step.page, url, self._fingerprint_of(url)) if step.status == OK else None
        return replace(step, soft_404=soft, page=replace(step.page, sample=""))

    def verdict(self, asked: str, last: Step | None) -> str | None:
        """Why what a URL leads to is no page; None where it is one, or the status says so itself."""
        if last is None or last.page is None or last.status != OK:
            return None
        nonsense = self._fingerprint_of(asked)
        if last.soft_404 is None and nonsense is not None and nonsense.moved:
            return is_soft_404(last.page, asked, nonsense)
        return last.soft_404

    async def _ask(self, home: str) -> Fingerprint | None:
        asked: dict[str, Step] = {}
        nonsense = await self._fingerprint(nonsense_url(home, self._seed), asked)
        return None if nonsense is None else witness(nonsense, await self._fingerprint(home, asked))

    async def _fingerprint(self, url: str, asked: dict[str, Step]) -> Fingerprint | None:
        """Of the page that a URL leads to; None where that is not answered with 200. `asked`: answers by key of URL,
        the text of their pages included."""
        chase, page = Chase(url, False), None
        step = chase.begin()
        while isinstance(step, Ask):
            key = urls.request_key(step.url)
            if key not in asked:
                asked[key] = await self._send(step.url, step.method)
                self._keep(step.url, asked[key])
            came = asked[key]
            page = came.page if came.status == OK else None
            step = came.tell(chase)
        return None if page is None or not page.sampled else Fingerprint.of_page(page, url)

    def _fingerprint_of(self, url: str) -> Fingerprint | None:
        asked = self._asked.get(urls.origin(url) or "")
        return asked.result() if asked is not None and asked.done() and not asked.cancelled() else None


OnStep = Callable[[str, str, Step], None]
"""Told of a request: key of its URL, method, what came of it."""


@dataclass(frozen=True, slots=True)
class Verification:
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
    """Asks for URLs, each with its redirects. Two callers that need the same request share it."""

    def __init__(self, sender: Sender, memo: Memo, head: bool, seed: str, on_step: OnStep | None = None) -> None:
        """`head`: by HEAD, and by GET where that is refused; False: by GET, of which the head of the page is read.
        `seed`: of the path that cannot exist, by which pages are judged that say so with status 200.
        `on_step`: told what came of each request."""
        self._sender = sender
        self._memo = memo
        self._on_step = on_step
        self._head = head
        self._running: dict[tuple[str, str], asyncio.Future[Step]] = {}
        self._witnesses = Witnesses(sender.send, self._keep_page, seed)

    async def ask(self, url: str) -> Verification:
        """The reply to a URL, asked at most once in a crawl."""
        if not self._head:
            await self._witnesses.know(url)
        reply, last = await self._chase(url, self._head)
        return Verification(reply, last, self._witnesses.verdict(url, last))

    async def ask_asset(self, url: str) -> Verification:
        """The reply to the URL of an image or a video, of which nothing is read."""
        return Verification(*await self._chase(url, head=True))

    def is_first(self, url: str) -> bool:
        """True once for each URL, however often it is listed and in whatever spelling."""
        return self._memo.mark(urls.request_key(url))

    def cached_reply(self, url: str) -> Reply | None:
        """The reply to a URL that was asked before; None for any other."""
        chase = Chase(url, self._head)
        step = chase.begin()
        while isinstance(step, Ask):
            last = self._memo.get(step.method, urls.request_key(step.url))
            if last is None:
                return None
            step = last.tell(chase)
        return step

    def remember(self, method: str, key: str, step: Step) -> None:
        """Know what came of a request."""
        self._memo.put(method, key, step)

    def close(self) -> None:
        """Forget everything."""
        self._memo.close()

    async def _chase(self, url: str, head: bool) -> tuple[Reply, Step | None]:
        """The reply, and the last request."""
        chase, last, asked = Chase(url, head), None, url
        step = chase.begin()
        while isinstance(step, Ask):
            asked = step.url
            last = await self._step(asked, step.method)
            step = last.tell(chase)
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
            step = self._witnesses.judge(url, await self._sender.send(url, method))
            done.set_result(step)
        finally:
            del self._running[key]
            done.cancel()
        self._keep(key, step)
        return step

    def _keep_page(self, url: str, step: Step) -> None:
        self._keep(("GET", urls.request_key(url)), self._witnesses.judge(url, step))

    def _keep(self, key: tuple[str, str], step: Step) -> None:
        if step.failure != Reason.STOPPED:
            self._memo.put(*key, step)
            if self._on_step is not None:
                self._on_step(key[1], key[0], step)
