"""Asking for listed URLs: each request once, hop by hop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sitemapcrawler import urls
from sitemapcrawler.memo import Memo
from sitemapcrawler.page import PageFacts
from sitemapcrawler.reply import Ask, Chase, Reason, Reply
from sitemapcrawler.reply.step import Step
from sitemapcrawler.sending import Sender
from sitemapcrawler.witnesses import Witnesses

Heard = Callable[[str, str, Step], None]
"""Told of a request: key of its URL, method, what came of it."""


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
    """Asks for URLs, each with its redirects. Two callers that need the same request share it."""

    def __init__(self, sender: Sender, memo: Memo, head: bool, seed: str, heard: Heard | None = None) -> None:
        """`head`: by HEAD, and by GET where that is refused; False: by GET, of which the head of the page is read.
        `seed`: of the path that cannot exist, by which pages are judged that say so with status 200.
        `heard`: told what came of each request."""
        self._sender = sender
        self._memo = memo
        self._heard = heard
        self._head = head
        self._running: dict[tuple[str, str], asyncio.Future[Step]] = {}
        self._witnesses = Witnesses(sender.send, self._keep_page, seed)

    async def ask(self, url: str) -> Outcome:
        """The reply to a URL, asked at most once in a crawl."""
        if not self._head:
            await self._witnesses.know(url)
        reply, last = await self._chase(url, self._head)
        return Outcome(reply, last, self._witnesses.verdict(url, last))

    async def ask_asset(self, url: str) -> Outcome:
        """The reply to the URL of an image or a video, of which nothing is read."""
        return Outcome(*await self._chase(url, head=True))

    def is_first(self, url: str) -> bool:
        """True once for each URL, however often it is listed and in whatever spelling."""
        return self._memo.mark(urls.request_key(url))

    def known(self, url: str) -> Reply | None:
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
            if self._heard is not None:
                self._heard(key[1], key[0], step)
