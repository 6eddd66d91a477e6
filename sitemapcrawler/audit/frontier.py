"""The queue of sitemaps (each once, in the order found, per host) and the filters on listed pages."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

from sitemapcrawler.audit.params import Params
from sitemapcrawler.items import MAX_SITE_TIME, UrlRecord
from sitemapcrawler.reader.dates import parse
from sitemapcrawler.urls import authority, host_of, site_of, visit_key

EARNED_S = 10.0
"""Seconds of waiting that each listed page makes up for: a site that is asked once a minute, as its robots.txt may
want, needs six in a file."""


@dataclass(slots=True)
class _Wait:
    left: float
    asked: int = 0
    since: float = 0.0


class Patience:
    """Time budget per site. It runs while at least one of its sitemaps is requested.

    A server may answer as slowly as the timeout allows and list new files without end, which no single request shows.
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


OF_A_SITE = ("max_depth", MAX_SITE_TIME)
"""Names of the limits that leave out sitemaps of a site, and say nothing of the others."""
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
    top: str | None = None
    """What named the topmost of them: a robots.txt or a page, or that index itself; None without indexes above."""

    @property
    def site(self) -> str:
        """Host that led to it at first: of what names the topmost index, or of that."""
        return host_of(self._start)

    @property
    def judged_with(self) -> str:
        """The same as a site of which the files are judged together (`urls.site_of`)."""
        return site_of(self._start)

    @property
    def _start(self) -> str:
        return self.top or self.parent or self.place or self.url

    def child(self, url: str, listed_at: str | None, place: str | None = None) -> Visit:
        """The visit of a file that this one lists."""
        above = _below(self.ancestors, self.place or self.url)
        return Visit(url, "index", self.url, self.depth + 1, False, above, listed_at, place, self._start)

    def named(self, url: str, place: str | None = None) -> Visit:
        """The visit of a sitemap that this robots.txt names."""
        return Visit(url, "robots", self.url, place=place)


@lru_cache(maxsize=16)
def _below(ancestors: tuple[str, ...], url: str) -> tuple[str, ...]:
    """The URLs above the children of a file: one tuple for all of them, of which an index may have 50,000."""
    return (*ancestors, url)


class Frontier:
    """The queue of a crawl, one line per host so that a slow host holds up only itself.

    Memory: `KEY_BYTES` and a set entry for each URL ever seen, the URL itself while it waits.
    """

    def __init__(
        self,
        max_sitemaps: int,
        max_depth: int,
        at_once: int,
        at_once_per_host: int,
        patience: Patience | None = None,
    ) -> None:
        self.narrowed: set[str] = set()
        """Sites of which a limit has left sitemaps out that holds for each site."""
        self.given_up: Counter[str] = Counter()
        """Sitemaps left out since their site had no time left, by site."""
        self._patience = patience or Patience(0)
        self._asked: set[str] = set()
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
            self.narrowed.add(visit.judged_with)
        elif not self.has_seen(visit.url) and self._is_given_up(visit):
            pass
        elif not visit.probe and self._left <= 0 and not self.has_seen(visit.url):
            self.skipped["max_sitemaps"] += 1
        elif self.mark(visit.url):
            self._left -= not visit.probe
            self._waiting.setdefault(_host(visit), deque()).append(visit)
            return True
        return False

    @property
    def skipped_everywhere(self) -> Counter[str]:
        """What is skipped by limits that hold for the crawl: it may be of any site."""
        return Counter({name: number for name, number in self.skipped.items() if name not in OF_A_SITE})

    @property
    def queued_count(self) -> int:
        """Sitemaps that were queued so far; a guess counts once it has turned out to be one."""
        return self._max - self._left

    def mark(self, url: str) -> bool:
        """Remember a URL as seen; False where it was."""
        key = _key(url)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def has_seen(self, url: str) -> bool:
        """True for a URL that was queued or marked."""
        return _key(url) in self._seen

    def count_guess(self) -> None:
        """A guess turned out to be a sitemap, and counts as one from now on."""
        self._left -= 1

    def next_visits(self) -> Iterator[Visit]:
        """Sitemaps that may be requested now, the least busy hosts first, so that slow hosts do not use all slots.

        Pass each to `done` afterwards. Lazy: concurrent callers keep the order.
        """
        while self._running.total() < self._at_once:
            host = self._next_host()
            if host is None:
                return
            line = self._waiting.pop(host)
            visit = line.popleft()
            if line:
                self._waiting[host] = line  # behind the other hosts
            if self._is_given_up(visit):
                continue
            self._running[host] += 1
            self._asked.add(visit.url)
            self._patience.begin(visit.site)
            yield visit

    def _next_host(self) -> str | None:
        least, chosen = self._per_host, None
        for host in self._waiting:
            running = self._running[host]
            if not running:
                return host
            if running < least:
                least, chosen = running, host
        return chosen

    def end_wait(self, visit: Visit) -> None:
        """The request for a sitemap has ended, with or without a response."""
        if visit.url in self._asked:
            self._asked.remove(visit.url)
            self._patience.end(visit.site)

    def earn(self, visit: Visit, pages: int) -> None:
        """A sitemap lists so many pages."""
        self._patience.earn(visit.site, pages)

    def _is_given_up(self, visit: Visit) -> bool:
        """True, and counted, for a sitemap of a site that has no time left. Guesses are few."""
        if visit.probe or not self._patience.is_over(visit.site):
            return False
        self.given_up[visit.site] += 1
        self.skipped[MAX_SITE_TIME] += 1
        self.narrowed.add(visit.judged_with)
        return True

    def done(self, visit: Visit) -> None:
        """A sitemap that was taken has been read, or has failed."""
        self.end_wait(visit)
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


class Selection:
    """Applies the arguments to every list of records of a crawl and counts what they leave out."""

    def __init__(self, params: Params) -> None:
        self.skipped: Counter[str] = Counter()
        """Records left out, by argument."""
        self.count = 0
        """Records kept."""
        self.earlier = 0
        """Those of them that earlier runs of the job have kept."""
        self._max = params.max_urls
        self._tests: list[tuple[str, Callable[[UrlRecord], bool]]] = []
        if params.include is not None:
            include = params.include.search
            self._tests.append(("include", lambda record: include(record.loc) is not None))
        if params.exclude is not None:
            exclude = params.exclude.search
            self._tests.append(("exclude", lambda record: exclude(record.loc) is None))
        if params.since is not None:
            since = params.since.astimezone(UTC)
            self._tests.append(("since", lambda record: _at_or_after(record, since)))

    @property
    def full(self) -> bool:
        """True when max_urls has left something out."""
        return self.skipped["max_urls"] > 0

    def wants(self, record: UrlRecord) -> bool:
        """True for a record that the arguments do not leave out, `max_urls` aside."""
        return all(test(record) for _, test in self._tests)

    def keep(self, records: list[UrlRecord]) -> list[UrlRecord]:
        """The records that pass every test, no more of them than max_urls leaves."""
        for name, test in self._tests:
            kept = [record for record in records if test(record)]
            self.skipped[name] += len(records) - len(kept)
            records = kept
        if self._max is not None:
            left = self._max - self.count
            self.skipped["max_urls"] += max(0, len(records) - left)
            records = records[:left]
        self.count += len(records)
        return records


def _at_or_after(record: UrlRecord, since: datetime) -> bool:
    moment = parse(record.lastmod_at) if record.lastmod_at else None
    return moment is not None and moment >= since
