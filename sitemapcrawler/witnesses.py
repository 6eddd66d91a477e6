"""Pages that are none, by the witness of their site: what it answers to a path that does not exist."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from sitemapcrawler import urls
from sitemapcrawler.reply import Ask, Chase
from sitemapcrawler.reply.step import Step
from sitemapcrawler.soft404 import Fingerprint, is_soft_404, nonsense_url, witness

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
        soft = is_soft_404(step.page, url, self._of(url)) if step.status == OK else None
        return replace(step, soft_404=soft, page=replace(step.page, sample=""))

    def verdict(self, asked: str, last: Step | None) -> str | None:
        """Why what a URL leads to is no page; None where it is one, or the status says so itself."""
        if last is None or last.page is None or last.status != OK:
            return None
        nonsense = self._of(asked)
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
        return None if page is None or not page.sampled else Fingerprint.of(page, url)

    def _of(self, url: str) -> Fingerprint | None:
        asked = self._asked.get(urls.origin(url) or "")
        return asked.result() if asked is not None and asked.done() and not asked.cancelled() else None
