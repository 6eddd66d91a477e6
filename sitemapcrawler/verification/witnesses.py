"""The site's answers to made-up URLs, with which its pages are compared."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from sitemapcrawler import urls
from sitemapcrawler.replies import Ask, Chase
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.replies.fingerprint import Fingerprint
from sitemapcrawler.replies.soft404 import (
    EMPTY,
    NO_CONTENT,
    Witness,
    is_shell,
    is_soft_404,
    misled_by,
    nonsense_url,
    witness,
)

OK = 200
Send = Callable[[str, str], Awaitable[Step]]
"""Makes a request: URL and method."""


class Witnesses:
    """The witness of each authority, requested before its first page is judged.
    Costs two requests and their redirects."""

    def __init__(self, send: Send, keep: Callable[[str, Step], None], seed: str) -> None:
        """`keep`: called with each URL fetched with GET and the result; `seed`: seed of the made-up path."""
        self._send = send
        self._keep = keep
        self._seed = seed
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._found: dict[str, Witness] = {}

    async def obtain(self, url: str) -> None:
        """Ensure that the witness for a URL's site is known."""
        origin = urls.origin(url)
        if origin is None:
            return
        asked = self._asked.get(origin)
        if asked is None:
            asked = self._asked[origin] = asyncio.ensure_future(self._ask(origin))
        await asyncio.shield(asked)

    def judge(self, url: str, step: Step) -> Step:
        """Add what the page proves to a result, and drop the text of the page, which would fill the cache."""
        page, seen = step.page, self._witness_of(url)
        if page is None or not (page.sample or page.sampled or page.empty):
            return step
        soft = is_soft_404(page, url, seen) if step.status == OK else None
        shell = step.status == OK and soft is None and is_shell(page, url, seen)
        return replace(step, soft_404=soft, shell=shell, page=replace(page, sample="", about=""))

    def verdict(self, asked: str, last: Step | None) -> str | None:
        """Why the final page is a soft 404; None if it is not, or if its status is an error already."""
        if last is not None and last.status in EMPTY:
            return NO_CONTENT
        if last is None or last.page is None or last.status != OK:
            return None
        return last.soft_404 or misled_by(last.page.url, asked, self._witness_of(asked))

    async def _ask(self, origin: str) -> None:
        home = f"{origin}/"
        asked: dict[str, tuple[str, Step]] = {}
        nonsense = await self._fingerprint(nonsense_url(home, self._seed), asked)
        made_up = asked.keys() - {urls.request_key(home)}
        if nonsense is not None:
            self._found[origin] = witness(nonsense, await self._fingerprint(home, asked))
        for key, (url, step) in asked.items():  # what a made-up URL leads to is no page of the site
            self._keep(url, step.without_links() if key in made_up else step)

    async def _fingerprint(self, url: str, asked: dict[str, tuple[str, Step]]) -> Fingerprint | None:
        """The fingerprint of the page that a URL leads to; None unless it answers with 200. `asked`: URLs and results
        by key of URL, including the text of their pages."""
        chase, page = Chase(url, False), None
        step = chase.begin()
        while isinstance(step, Ask):
            key = urls.request_key(step.url)
            if key not in asked:
                asked[key] = step.url, await self._send(step.url, step.method)
            answer = asked[key][1]
            page = answer.page if answer.status == OK else None
            step = answer.advance(chase)
        return None if page is None or not page.sampled else Fingerprint.of_page(page, url)

    def _witness_of(self, url: str) -> Witness | None:
        return self._found.get(urls.origin(url) or "")
