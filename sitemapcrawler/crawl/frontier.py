"""The queue of sitemaps, each once and grouped by host, and the filters on listed pages."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

from sitemapcrawler.crawl.params import Params
from sitemapcrawler.items import MAX_SITE_TIME, UrlRecord
from sitemapcrawler.reader.dates import parse
from sitemapcrawler.replies.discovery import INDEX, ROBOTS
from sitemapcrawler.urls import authority, host_of, site_of, visit_key

EARNED_S = 10.0
"""Seconds added to a site's time budget for each listed page. A site with one request per minute, as its robots.txt may
demand, needs six pages per file to keep its budget."""


@dataclass(slots=True)
class _Wait:
    left: float
    asked: int = 0
    since: float = 0.0


class Patience:
    """Time budget per site, spent while at least one of its sitemaps is being requested.

    It stops servers that answer slowly and list new files without end, which no limit on a single request detects.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds`: budget of each site, 0 for no limit; a crawl passes SITEMAP_MAX_SITE_TIME."""
        self._seconds = seconds
        self._clock = clock
        self._waits: dict[str, _Wait] = {}

    def begin(self, site: str) -> None:
        """Start a request for a sitemap of the site."""
        wait = self._waits.get(site)
        if wait is None:
            wait = self._waits[site] = _Wait(self._seconds)
        if not wait.asked:
            wait.since = self._clock()
        wait.asked += 1

    def end(self, site: str) -> None:
        """End a request, answered or not."""
        wait = self._waits[site]
        self._pass(wait)
        wait.asked -= 1

    def earn(self, site: str, pages: int) -> None:
        """Extend the budget, up to its original size, for pages that a sitemap of the site lists."""
        wait = self._waits.get(site)
        if wait is not None:
            self._pass(wait)
            wait.left = min(wait.left + pages * EARNED_S, self._seconds)

    def is_over(self, site: str) -> bool:
        """True if the budget of the site is used up."""
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
"""Limits that skip sitemaps of one site and do not affect other sites."""
KEY_BYTES = 16
"""Bytes of a URL's digest: collisions stay unlikely beyond 10^15 URLs."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A sitemap to read."""

    url: str
    found_by: str
    parent: str | None = None
    """URL of the index, robots.txt or page that named it."""
    depth: int = 0
    """Number of indexes above it."""
    probe: bool = False
    """True for a guessed URL: it leaves no record unless it is a sitemap."""
    ancestors: tuple[str, ...] = ()
    """URLs of the indexes above it, topmost first."""
    listed_at: str | None = None
    """`lastmod` in its index: ISO 8601 in UTC."""
    place: str | None = None
    """URL where a local file will live; None if unknown or not a local file."""
    top: str | None = None
    """Robots.txt or page that named the topmost index, or that index itself; None without indexes above."""

    @property
    def site(self) -> str:
        """Host where discovery started: that of whatever named the topmost index, or of the index itself."""
        return host_of(self._start)

    @property
    def judged_with(self) -> str:
        """The same start as a site (`urls.site_of`), whose files are judged together."""
        return site_of(self._start)

    @property
    def _start(self) -> str:
        return self.top or self.parent or self.place or self.url

    def child(self, url: str, listed_at: str | None, place: str | None = None) -> Visit:
        """Visit for a file that this index lists."""
        above = _below(self.ancestors, self.place or self.url)
        return Visit(url, INDEX.name, self.url, self.depth + 1, False, above, listed_at, place, self._start)

    def named(self, url: str, place: str | None = None) -> Visit:
        """Visit for a sitemap that this robots.txt names."""
        return Visit(url, ROBOTS.name, self.url, place=place)


@lru_cache(maxsize=16)
def _below(ancestors: tuple[str, ...], url: str) -> tuple[str, ...]:
    """Ancestors of a file's children, as one tuple shared by all: an index may have 50,000."""
    return (*ancestors, url)


class Frontier:
    """Queue of the sitemaps of a crawl, one line per host, so that a slow host delays only itself.

    Memory: `KEY_BYTES` and a set entry per URL seen, and the URL itself until it is read.
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
        """Sites with sitemaps skipped by a per-site limit (`OF_A_SITE`)."""
        self.given_up: Counter[str] = Counter()
        """Sitemaps skipped because their site used up its time budget, by site."""
        self._patience = patience or Patience(0)
        self._asked: set[str] = set()
        self.skipped: Counter[str] = Counter()
        """Sitemaps skipped, by limit."""
        self._max = self._left = max_sitemaps
        self._max_depth = max_depth
        self._at_once = at_once
        self._per_host = at_once_per_host
        self._seen: set[bytes] = set()
        self._waiting: dict[str, deque[Visit]] = {}
        self._running: Counter[str] = Counter()
        self._open: dict[str, set[str]] = {}

    def add(self, visit: Visit) -> bool:
        """Queue a sitemap; returns False if it was seen before or a limit skips it."""
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
            self._open.setdefault(visit.judged_with, set()).add(visit.url)
            return True
        return False

    def skip(self, reason: str, number: int = 1) -> None:
        """Count sitemaps that others have skipped: a filter, or an earlier run of the job."""
        self.skipped[reason] += number

    @property
    def skipped_everywhere(self) -> Counter[str]:
        """Sitemaps skipped by crawl-wide limits, which may affect any site."""
        return Counter({name: number for name, number in self.skipped.items() if name not in OF_A_SITE})

    @property
    def queued_count(self) -> int:
        """Sitemaps queued so far; guesses count once they turn out to be sitemaps."""
        return self._max - self._left

    def mark(self, url: str) -> bool:
        """Mark a URL as seen; returns False if it was seen before."""
        key = _key(url)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def has_seen(self, url: str) -> bool:
        """True for a URL that was queued or marked as seen."""
        return _key(url) in self._seen

    def count_guess(self) -> None:
        """Count a guess that turned out to be a sitemap."""
        self._left -= 1

    def next_visits(self) -> Iterator[Visit]:
        """Sitemaps to request now, those of the least busy hosts first, so that slow hosts do not use all slots.

        Pass each to `done` afterwards. The generator is lazy, so concurrent callers keep the order.
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
                self.close(visit)
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
        """End the request for a sitemap, answered or not."""
        if visit.url in self._asked:
            self._asked.remove(visit.url)
            self._patience.end(visit.site)

    def earn(self, visit: Visit, pages: int) -> None:
        """Extend the time budget of the site for pages that a sitemap lists."""
        self._patience.earn(visit.site, pages)

    def _is_given_up(self, visit: Visit) -> bool:
        """Return True for a sitemap whose site has no time left, and count it. Guesses always pass: they are few."""
        if visit.probe or not self._patience.is_over(visit.site):
            return False
        self.given_up[visit.site] += 1
        self.skipped[MAX_SITE_TIME] += 1
        self.narrowed.add(visit.judged_with)
        return True

    def is_open(self, site: str) -> bool:
        """True while sitemaps judged with a site (`Visit.judged_with`) are queued, or not read to the end."""
        return site in self._open

    def close(self, visit: Visit) -> None:
        """Note that a sitemap will not be read any further."""
        left = self._open.get(visit.judged_with, set())
        left.discard(visit.url)
        if not left:
            self._open.pop(visit.judged_with, None)

    def done(self, visit: Visit) -> None:
        """Free the slot of a sitemap that was read or failed."""
        self.end_wait(visit)
        self.close(visit)
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
    """Filters the listed records by the arguments and counts what they skip."""

    def __init__(self, params: Params) -> None:
        self.skipped: Counter[str] = Counter()
        """Records skipped, by argument."""
        self.count = 0
        """Records kept."""
        self.earlier = 0
        """Records kept by earlier runs of the job, included in `count`."""
        self._max = params.max_urls
        self._tests: list[tuple[str, Callable[[UrlRecord], bool]]] = []
        if params.include is not None:
            include = params.include.matches
            self._tests.append(("include", lambda record: include(record.loc)))
        if params.exclude is not None:
            exclude = params.exclude.matches
            self._tests.append(("exclude", lambda record: not exclude(record.loc)))
        if params.since is not None:
            since = params.since.astimezone(UTC)
            self._tests.append(("since", lambda record: _at_or_after(record, since)))

    @property
    def full(self) -> bool:
        """True if `max_urls` has skipped a record."""
        return self.skipped["max_urls"] > 0

    def add_earlier(self, count: int) -> None:
        """Count records that earlier runs of the job have kept."""
        self.count += count
        self.earlier = count

    def skip(self, skipped: Mapping[str, int]) -> None:
        """Count records that earlier runs of the job have skipped, by argument."""
        self.skipped.update(skipped)

    def passes(self, record: UrlRecord) -> bool:
        """True for a record that passes all filters except `max_urls`."""
        return all(test(record) for _, test in self._tests)

    def keep(self, records: list[UrlRecord]) -> list[UrlRecord]:
        """The records that pass every filter, up to `max_urls`."""
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
