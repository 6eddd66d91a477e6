"""Running crawls of a fleet: their attempts, and how far they are."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple


class Running(NamedTuple):
    """A running crawl."""

    domain: str
    urls: int
    """URLs listed so far."""
    sitemaps: int
    """Files read so far."""
    seconds: float
    """Time since it began."""


@dataclass(slots=True)
class _Crawl:
    attempts: int = 0
    began: float = 0.0
    urls: int = 0
    sitemaps: int = 0


class Crawls:
    """Body of a Ray actor, which tasks tell of their crawls and the driver asks for them."""

    def __init__(self) -> None:
        self._crawls: dict[str, _Crawl] = {}

    def begin(self, domain: str) -> int:
        """Begin a crawl. Returns the number of attempts, this one included."""
        crawl = self._crawls.setdefault(domain, _Crawl())
        crawl.attempts, crawl.began, crawl.urls, crawl.sitemaps = crawl.attempts + 1, time.monotonic(), 0, 0
        return crawl.attempts

    def tell(self, domain: str, urls: int, sitemaps: int) -> None:
        """Tell how far a crawl is."""
        if domain in self._crawls:
            self._crawls[domain].urls, self._crawls[domain].sitemaps = urls, sitemaps

    def done(self, domain: str) -> int:
        """Forget a domain that will not be tried again. Returns the number of its attempts."""
        return self._crawls.pop(domain, _Crawl()).attempts

    def running(self) -> list[Running]:
        now = time.monotonic()
        return [Running(name, one.urls, one.sitemaps, now - one.began) for name, one in self._crawls.items()]
