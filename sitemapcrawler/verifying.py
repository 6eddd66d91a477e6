"""Verifying the URLs of a batch: as many at once as the downloader can run, each host on its own."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator

from sitemapcrawler.answers import reason
from sitemapcrawler.asking import Asker, Outcome
from sitemapcrawler.reply import Failed, Kind, Reason, Unchecked
from sitemapcrawler.urls import host_of

Ask = Callable[[str], Awaitable[Outcome]]
logger = logging.getLogger(__name__)
STOPPED = Outcome(Unchecked(reason=Reason.STOPPED))


class Verifier:
    """Asks for URLs, a bounded number at once in the whole crawl and of each host.

    No more requests are handed to the downloader than it can run. So those that wait here are free to be left, when
    the crawl is to end, without being asked.
    """

    def __init__(self, asker: Asker, at_once: int, per_host: int, stopped: Callable[[], bool]) -> None:
        self._asker = asker
        self._slots = asyncio.Semaphore(at_once)
        self._per_host = per_host
        self._hosts: dict[str, asyncio.Semaphore] = {}
        self._stopped = stopped
        self.checked: Counter[str] = Counter()
        """URLs of which it is known whether they work, by host."""
        self.waiting: Counter[str] = Counter()
        """URLs that were handed over to be asked, and were not yet, by host."""

    async def verify(self, urls: Iterable[str], asset: bool = False, again: bool = False) -> dict[str, Outcome]:
        """The outcome for each URL; those that a stop came before are unchecked. `asset`: images and video files.
        `again`: they were verified before, and counted."""
        ask = self._asker.ask_asset if asset else self._asker.ask
        outcomes: dict[str, Outcome] = {}
        by_host: dict[str, list[str]] = {}
        for url in dict.fromkeys(urls):
            by_host.setdefault(host_of(url), []).append(url)
        if not again:
            self.waiting.update({host: len(listed) for host, listed in by_host.items()})
        work = [
            self._work(host, waiting, ask, outcomes, again)
            for host, urls in by_host.items()
            for waiting in [iter(urls)] * min(self._per_host, len(urls))
        ]
        await asyncio.gather(*work)
        return outcomes

    async def _work(
        self, host: str, waiting: Iterator[str], ask: Ask, outcomes: dict[str, Outcome], again: bool
    ) -> None:
        """Ask for the URLs of a host one after the other; several of these share them."""
        turn = self._hosts.setdefault(host, asyncio.Semaphore(self._per_host))
        for url in waiting:
            async with turn, self._slots:
                outcomes[url] = STOPPED if self._stopped() else await self._ask(ask, url)
            if not again:
                self._count(host, outcomes[url])

    def _count(self, host: str, outcome: Outcome) -> None:
        self.waiting[host] -= 1
        if not self.waiting[host]:
            del self.waiting[host]
        if outcome is not STOPPED:
            self.checked[host] += 1

    @staticmethod
    async def _ask(ask: Ask, url: str) -> Outcome:
        """The outcome for a URL; what nobody foresaw costs its own row alone."""
        try:
            return await ask(url)
        except Exception as error:
            logger.exception("%s could not be asked", url)
            return Outcome(Failed(kind=Kind.RESET, final_url=url, error=f"internal error: {reason(error)}"))
