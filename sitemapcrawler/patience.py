"""How long the sitemaps of a site are waited for that list no pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

EARNED_S = 10.0
"""Seconds of waiting that each listed page makes up for: a site that is asked once a minute, as its robots.txt may
want, needs six in a file."""


@dataclass(slots=True)
class _Wait:
    left: float
    asked: int = 0
    since: float = 0.0


class Patience:
    """The time that each site has left. It runs while at least one of its sitemaps is asked for.

    A server may answer as slowly as a timeout allows, and name new files without end; no single request tells.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds`: for each site, 0: no limit; in a crawl the setting SITEMAP_MAX_SITE_TIME."""
        self._seconds = seconds
        self._clock = clock
        self._waits: dict[str, _Wait] = {}

    def begin(self, site: str) -> None:
        """A sitemap of the site is asked for."""
        wait = self._waits.get(site)
        if wait is None:
            wait = self._waits[site] = _Wait(self._seconds)
        if not wait.asked:
            wait.since = self._clock()
        wait.asked += 1

    def end(self, site: str) -> None:
        """Its answer is there, or will not come."""
        wait = self._waits[site]
        self._pass(wait)
        wait.asked -= 1

    def earn(self, site: str, pages: int) -> None:
        """A sitemap of the site lists so many pages."""
        wait = self._waits.get(site)
        if wait is not None:
            self._pass(wait)
            wait.left = min(wait.left + pages * EARNED_S, self._seconds)

    def is_over(self, site: str) -> bool:
        """True where the site has no time left."""
        wait = self._waits.get(site)
        if wait is None or not self._seconds:
            return False
        self._pass(wait)
        return wait.left <= 0

    def _pass(self, wait: _Wait) -> None:
        if wait.asked:
            now = self._clock()
            wait.left -= now - wait.since
            wait.since = now
