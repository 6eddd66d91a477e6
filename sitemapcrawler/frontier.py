"""Which sitemaps are still to be read: each once, in the order found, a bounded number at a time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from sitemapcrawler.urls import authority, visit_key

KEY_BYTES = 16
"""Bytes kept of a URL to know it again: collisions stay unlikely beyond 10^15 URLs."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One sitemap to be read."""

    url: str
    found_by: str
    """robots, common-path, html-link, index or argument."""
    parent: str | None = None
    """What named it: an index, a robots.txt or a page."""
    depth: int = 0
    """Indexes above it."""
    probe: bool = False
    """True for a guess: nothing is recorded where it turns out to be no sitemap."""
    ancestors: tuple[str, ...] = ()
    """URLs of the indexes above it, the topmost first."""
    listed_at: str | None = None
    """When it was last changed, as its index says: ISO 8601 in UTC."""
    place: str | None = None
    """URL at which a file of this machine will live; None where that is not known, and for what is on the web."""

    def child(self, url: str, listed_at: str | None, place: str | None = None) -> Visit:
        """The visit of a file that this one lists."""
        above = _below(self.ancestors, self.place or self.url)
        return Visit(url, "index", self.url, self.depth + 1, False, above, listed_at, place)


@lru_cache(maxsize=16)
def _below(ancestors: tuple[str, ...], url: str) -> tuple[str, ...]:
    """The URLs above the children of a file: one tuple for all of them, of which an index may have 50,000."""
    return (*ancestors, url)


class Frontier:
    """The queue of a crawl, one line per host so that a slow host holds up only itself.

    Memory: `KEY_BYTES` and a set entry for each URL ever seen, the URL itself while it waits.
    """

    def __init__(self, max_sitemaps: int, max_depth: int, at_once: int, at_once_per_host: int) -> None:
        self.skipped: Counter[str] = Counter()
        """Sitemaps left out, by the limit that was reached."""
        self._max = self._left = max_sitemaps
        self._max_depth = max_depth
        self._at_once = at_once
        self._per_host = at_once_per_host
        self._seen: set[bytes] = set()
        self._waiting: dict[str, deque[Visit]] = {}
        self._running: Counter[str] = Counter()

    def add(self, visit: Visit) -> bool:
        """Queue a sitemap; False where it was seen before or a limit leaves it out."""
        if visit.depth > self._max_depth:
            self.skipped["max_depth"] += 1
        elif not visit.probe and self._left <= 0 and not self.seen(visit.url):
            self.skipped["max_sitemaps"] += 1
        elif self.mark(visit.url):
            self._left -= not visit.probe
            self._waiting.setdefault(_host(visit), deque()).append(visit)
            return True
        return False

    @property
    def known(self) -> int:
        """Sitemaps that were queued so far; a guess counts once it has turned out to be one."""
        return self._max - self._left

    def mark(self, url: str) -> bool:
        """Remember a URL as seen; False where it was."""
        key = _key(url)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def seen(self, url: str) -> bool:
        """True for a URL that was queued or marked."""
        return _key(url) in self._seen

    def count_guess(self) -> None:
        """A guess turned out to be a sitemap, and counts as one from now on."""
        self._left -= 1

    def take(self) -> Iterator[Visit]:
        """What may be asked for now, host by host in turn; each is to be given back with `done`.

        Each is taken when it is asked for, so that several who take keep the order.
        """
        while self._running.total() < self._at_once:
            host = next((host for host in self._waiting if self._running[host] < self._per_host), None)
            if host is None:
                return
            line = self._waiting.pop(host)
            visit = line.popleft()
            if line:
                self._waiting[host] = line  # behind the other hosts
            self._running[host] += 1
            yield visit

    def done(self, visit: Visit) -> None:
        """A sitemap that was taken has been read, or has failed."""
        host = _host(visit)
        self._running[host] -= 1
        if self._running[host] <= 0:
            del self._running[host]

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))


def _host(visit: Visit) -> str:
    place = authority(visit.url)
    return place.host if place else ""


def _key(url: str) -> bytes:
    return blake2b(visit_key(url).encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
