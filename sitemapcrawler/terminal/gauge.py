"""Progress of a running crawl, measured from its parts."""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.items import ENDED
from sitemapcrawler.reader.formats import format_names
from sitemapcrawler.terminal.progress import Checks, HostProgress, Progress

SHORTEST_S = 0.5
"""Seconds to measure before a speed is shown."""
SHOWN_HOSTS = 6
"""Maximum hosts in a measurement."""
RECENT_S = 5.0
"""Seconds for which an idle host stays in the display, so that it does not flicker."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Counts at one moment of a crawl."""

    at: float
    """Monotonic clock, in seconds."""
    urls: int
    """URLs that passed all pipelines; items for other spiders."""
    checked: Mapping[str, int] = field(default_factory=dict)
    """URLs that were verified, by host; may lack hosts."""
    checked_in_all: int = 0


class Pace:
    """Speeds over the last seconds of a crawl."""

    def __init__(self, window: float) -> None:
        """`window`: seconds to measure over."""
        self._window = window
        self._moments: deque[Moment] = deque()

    def add(self, now: Moment) -> None:
        """Add the counts of a moment, and drop those outside the window."""
        while len(self._moments) > 1 and now.at - self._moments[1].at >= self._window:
            self._moments.popleft()
        self._moments.append(now)

    @property
    def urls(self) -> float | None:
        """URLs per second; None if it is too early to say."""
        if (seconds := self._seconds) is None:
            return None
        return (self._moments[-1].urls - self._moments[0].urls) / seconds

    @property
    def checked(self) -> float | None:
        """Checked URLs per second; None if it is too early to say."""
        if (seconds := self._seconds) is None:
            return None
        return (self._moments[-1].checked_in_all - self._moments[0].checked_in_all) / seconds

    def seconds_for(self, host: str, count: int) -> float | None:
        """Estimate the seconds for checking `count` more URLs of a host; None if unknown."""
        first, last = self._moments[0].checked.get(host), self._moments[-1].checked.get(host)
        if first is None or last is None or last <= first or (seconds := self._seconds) is None:
            return None
        return count * seconds / (last - first)

    @property
    def _seconds(self) -> float | None:
        if len(self._moments) < 2:
            return None
        seconds = self._moments[-1].at - self._moments[0].at
        return seconds if seconds >= SHORTEST_S else None


def expected(listed: int, begun: float, files: int) -> float | None:
    """Estimate the URLs of a crawl from those `listed` so far; None if unknown. `begun`: files of URLs that were read,
    including fractions. `files`: all known ones. Assumes that files are alike on average."""
    if begun >= files:
        return float(listed)
    return listed / begun * files if begun > 0 and listed else None


def seconds_left(pace: Pace, rest: float, by_host: Mapping[str, int]) -> float | None:
    """Estimate the seconds for checking `rest` more URLs: the larger of all hosts together and the slowest alone.
    `by_host`: URLs that wait at some of the hosts. Returns None if nothing was checked lately."""
    if rest <= 0:
        return 0.0
    speed = pace.checked
    if not speed:
        return None
    alone = (pace.seconds_for(host, count) for host, count in by_host.items())
    return max([rest / speed, *(seconds for seconds in alone if seconds is not None)])


class Gauge:
    """Measures a crawl without changing it. Any thread may take a measurement, one at a time."""

    def __init__(self, crawler: Any, ours: bool, window: float, rests: Any = None) -> None:
        """`ours`: the spider audits sitemaps. `window`: seconds over which speed is measured. `rests`: returns the
        seconds for which a download slot rests."""
        self._crawler = crawler
        self._spider = crawler.spider
        self._ours = ours
        self._pace = Pace(window)
        self._rests = rests
        self._started = time.monotonic()
        self._shown: list[str] = []
        self._in_earlier: int | None = None

    def measure(self, shown: int = SHOWN_HOSTS) -> Progress:
        """Measure the current progress. `shown`: maximum hosts."""
        now = time.monotonic()
        told = self._audit(now) if self._ours else self._other(now)
        hosts, others = self._hosts(shown)
        slots = list(self._slots.values())
        return Progress(
            elapsed=now - self._started,
            per_second=self._pace.urls,
            answers=self._stat("response_received_count"),
            in_flight=sum(len(slot.transferring) for slot in slots),
            waiting=sum(len(slot.queue) for slot in slots),
            hosts=hosts,
            other_hosts=others,
            **told,
        )

    def _stat(self, name: str) -> int:
        return int(self._crawler.stats.get_value(name) or 0)

    def _other(self, now: float) -> dict[str, Any]:
        items = self._stat("item_scraped_count")
        self._pace.add(Moment(now, items))
        return {"phase": "crawling", "urls": items}

    def _audit(self, now: float) -> dict[str, Any]:
        spider = self._spider
        counted = self._stat("sitemap/urls")
        known = max(self._stat("sitemap/files"), spider.frontier.queued_count)
        files = min(self._stat("sitemap/files") + self._earlier, known)
        begun = min(spider.reading.begun + self._earlier, known)
        listed = max(spider.selection.count, counted)
        done, waiting = spider.status.by_host if spider.status is not None else ({}, {})
        busiest = heapq.nlargest(SHOWN_HOSTS, list(waiting.items()), key=lambda item: item[1])
        checked = {host: done[host] for host, _ in busiest}
        self._pace.add(Moment(now, counted, checked, sum(list(done.values()))))
        checks = None
        if spider.status is not None:
            in_all = expected(listed, *self._of_urls(begun, known))
            checks = self._checks(in_all, sum(list(done.values())), dict(waiting), dict(busiest))
        return {
            "phase": self._phase(known, listed, bool(waiting)),
            "urls": listed,
            "files": files,
            "known_files": known,
            "share": begun / known if known else None,
            "severities": dict(spider.judge.severities),
            "checks": checks,
        }

    @property
    def _earlier(self) -> int:
        """Files that earlier runs of the job have read."""
        job = self._spider.job
        if self._in_earlier is None and job is not None:
            self._in_earlier = sum(done.hit for done in job.done.values())
        return self._in_earlier or 0

    def _of_urls(self, begun: float, known: int) -> tuple[float, int]:
        """Return how many files of URLs were read, and are known: without indexes, and all of them once reading has
        ended."""
        indexes = sum(self._stat(f"sitemap/format/{name}") for name in format_names(lambda format: format.is_index))
        whole = self._spider.phase is not None
        return (known if whole else begun) - indexes, known - indexes

    def _checks(self, urls: float | None, done: int, waiting: Mapping[str, int], busiest: Mapping[str, int]) -> Checks:
        status = self._spider.status
        known = done + sum(waiting.values()) + status.candidates
        in_all = float(known) if status.holding else self._to_check(known, urls)
        left = None if in_all is None else seconds_left(self._pace, in_all - done, busiest)
        return Checks(done, known, in_all, self._pace.checked, left)

    def _to_check(self, known: int, urls: float | None) -> float | None:
        """Estimate the URLs to check once all `urls` are listed, assuming the same share as so far."""
        offered = self._spider.status.offered
        rest = None if urls is None else urls - self._spider.selection.earlier - offered
        if rest is None or (rest > 0 and not offered):
            return None
        return known + rest * known / offered if rest > 0 else float(known)

    def _phase(self, known: int, listed: int, verifying: bool) -> str:
        spider = self._spider
        if spider.stop_reason not in ENDED:
            return "stopping"
        if spider.phase is not None:
            return str(spider.phase)
        if verifying:
            return "verifying"
        return "reading" if known or listed else "discovering"

    @property
    def _slots(self) -> dict[str, Any]:
        slots: dict[str, Any] = self._crawler.engine.downloader.slots
        return slots

    def _hosts(self, shown: int) -> tuple[tuple[HostProgress, ...], int]:
        """Return the busiest hosts, preferably those of the previous measurement, and the number of other busy
        hosts."""
        slots = self._slots
        busy = {name: len(slot.active) for name, slot in list(slots.items()) if is_busy(slot)}
        stay = [name for name in self._shown if name in busy][:shown]
        new = heapq.nlargest(shown - len(stay), busy.keys() - stay, key=lambda name: (busy[name], name))
        self._shown = sorted([*stay, *new])
        found = [self._host(name, slots[name]) for name in self._shown]
        return tuple(found), len(busy) - len(found)

    def _host(self, name: str, slot: Any) -> HostProgress:
        rests = self._rests(name) if self._rests is not None else 0.0
        asked = next(iter(slot.transferring), None)
        url = None if asked is None else asked.url
        return HostProgress(name, len(slot.transferring), len(slot.queue), slot.delay, rests, url)


def is_busy(slot: Any) -> bool:
    """True for a download slot that has requests, or had some a moment ago."""
    return bool(slot.active) or time.monotonic() - slot.lastseen < RECENT_S
