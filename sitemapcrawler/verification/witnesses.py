"""The site's answers to made-up URLs, with which its pages are compared."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from sitemapcrawler import urls
from sitemapcrawler.replies import Ask, Chase
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.replies.fingerprint import Fingerprint
from sitemapcrawler.replies.page import PageFacts
from sitemapcrawler.replies.soft404 import (
    EMPTY,
    NO_CONTENT,
    Witness,
    is_shell,
    is_soft_404,
    may_be_shell,
    misled_by,
    nonsense_url,
    witness,
)
from sitemapcrawler.urls.grammar import folder_of

OK = 200
Send = Callable[[str, str], Awaitable[Step]]
"""Makes a request: URL and method."""


MAX_FOLDERS = 10
"""Folders of a site that get a made-up URL of their own: few enough that no site notices, and a site has rarely more
applications."""
MAX_DEPTH = 8
"""Maximum number of folders of a URL that are compared, beginning at the root. Applications begin near it, and a URL
may have any number of folders."""
MAX_KNOWN_FOLDERS = 10_000
"""Folders that are remembered with their first URL, and those that several URLs share, all sites together, by their
hashes: about 1 MB each. When there are more, the first ones are forgotten, since few of them have two URLs."""


class Witnesses:
    """The witness of each authority, requested before its first page is judged, and those of folders that have pages
    without content. An authority costs two requests and their redirects, and a folder costs one."""

    def __init__(self, send: Send, keep: Callable[[str, Step], None], seed: str) -> None:
        """`keep`: called with each URL fetched with GET and the result; `seed`: seed of the made-up path."""
        self._send = send
        self._keep = keep
        self._seed = seed
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._found: dict[str, Witness] = {}
        self._first_pages: dict[int, int] = {}
        """Hashes of folders, each with that of the first URL in it."""
        self._shared: set[int] = set()
        self._asked_folders: dict[str, dict[str, asyncio.Future[None]]] = {}
        self._shells: dict[str, list[Witness]] = {}

    def expect(self, listed: Iterable[str]) -> None:
        """Find the folders that several listed URLs share, these and those of earlier calls. Only they are worth a
        request."""
        for url in listed:
            page = hash(url)
            for folder in map(hash, folders_of(url)):
                if self._first_pages.setdefault(folder, page) != page and len(self._shared) < MAX_KNOWN_FOLDERS:
                    self._shared.add(folder)
        if len(self._first_pages) > MAX_KNOWN_FOLDERS:
            self._first_pages.clear()

    async def obtain(self, url: str) -> None:
        """Ensure that the witness for a URL's site is known."""
        origin = urls.origin(url)
        if origin is None:
            return
        asked = self._asked.get(origin)
        if asked is None:
            asked = self._asked[origin] = asyncio.ensure_future(self._ask(origin))
        await asyncio.shield(asked)

    async def obtain_of_folder(self, url: str, step: Step) -> None:
        """Ensure that the witness of the folder is known, if the page may be its shell and no other one explains it."""
        origin, page = urls.origin(url), step.page
        folder = next((folder for folder in reversed(folders_of(url)) if hash(folder) in self._shared), None)
        if origin is None or folder is None or page is None or step.status != OK:
            return
        asked = self._asked_folders.setdefault(origin, {})
        if folder not in asked:
            if len(asked) >= MAX_FOLDERS or not may_be_shell(page) or self._is_known(url, page):
                return
            asked[folder] = asyncio.ensure_future(self._ask_folder(origin, folder))
        await asyncio.shield(asked[folder])

    def judge(self, url: str, step: Step) -> Step:
        """Add what the page proves to a result, and drop the text of the page, which would fill the cache."""
        page, seen = step.page, self._witness_of(url)
        if page is None or page.shown is None:
            return step
        soft = is_soft_404(page, url, seen) if step.status == OK else None
        shell = step.status == OK and soft is None and self._is_shell(url, page)
        return replace(step, soft_404=soft, shell=shell, page=replace(page, shown=None, about=""))

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

    async def _ask_folder(self, origin: str, folder: str) -> None:
        # The answers are not kept: the made-up URL may lead to a listed page, whose links would be missing.
        nonsense = await self._fingerprint(nonsense_url(folder, self._seed), {})
        if nonsense is not None:
            self._shells.setdefault(origin, []).append(witness(nonsense, None))

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
        is_sampled = page is not None and page.shown is not None and page.shown.sampled
        return Fingerprint.of_page(page, url) if page is not None and is_sampled else None

    def _witness_of(self, url: str) -> Witness | None:
        return self._found.get(urls.origin(url) or "")

    def _is_known(self, url: str, page: PageFacts) -> bool:
        """True if the known witnesses say what the page is."""
        return is_soft_404(page, url, self._witness_of(url)) is not None or self._is_shell(url, page)

    def _is_shell(self, url: str, page: PageFacts) -> bool:
        witnesses = (self._witness_of(url), *self._shells.get(urls.origin(url) or "", ()))
        return any(is_shell(page, url, seen) for seen in witnesses)


def folders_of(url: str) -> list[str]:
    """Return the first `MAX_DEPTH` folders that a URL is in, as URLs, without the root: `/a/` and `/a/b/` for
    `/a/b/c`."""
    origin, names = urls.origin(url), folder_of(url).split("/", MAX_DEPTH + 1)[1:-1]
    return [] if origin is None else [f"{origin}/{'/'.join(names[:depth])}/" for depth in range(1, len(names) + 1)]
