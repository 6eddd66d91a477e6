"""Scrapy extension that measures the progress of a crawl, and shows it: live on a terminal, else as a log line at
intervals."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import create_looping_call

from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.download.crawl import Repeating
from sitemapcrawler.download.slots import Departures
from sitemapcrawler.feeds.uris import local_path
from sitemapcrawler.middlewares.politeness import PolitenessMiddleware
from sitemapcrawler.terminal.progress import IN_LINE, Row, line, max_hosts, rows
from sitemapcrawler.terminal.streams import can_be_live, same_terminal

if TYPE_CHECKING:
    from sitemapcrawler.terminal.display import Display
import heapq
import time
from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.core.downloader import Slot

from sitemapcrawler.items import JsonObject
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.reader.formats import format_names
from sitemapcrawler.terminal.progress import (
    Checks,
    HostProgress,
    Pace,
    Progress,
    Snapshot,
    Wait,
    expected,
    seconds_left,
)
from sitemapcrawler.verification.status import Status

SHOWN_HOSTS = 6
"""Maximum hosts in a measurement."""
RECENT_S = 5.0
"""Seconds for which an idle host stays in the display, so that it does not flicker."""

WAIT_S = 5.0
"""Seconds without an answer from which a host keeps the crawl waiting."""

Rests = Callable[[str], float]


class Gauge:
    """Measures a crawl without changing it. Any thread may take a measurement, one at a time."""

    def __init__(self, crawler: Crawler, audit: Audit | None, window: float, rests: Rests | None = None) -> None:
        """`audit`: None for a spider that is not ours. `window`: seconds over which speed is measured. `rests`:
        returns the seconds for which a host's slot rests."""
        self._crawler = crawler
        self._audit = audit
        self._pace = Pace(window)
        self._rests = rests
        self._started = time.monotonic()
        self._shown: list[str] = []
        self._sent: WeakKeyDictionary[Request, float] = WeakKeyDictionary()
        self._in_earlier: int | None = None

    def sends(self, request: Request) -> None:
        """Note that a request is about to be sent."""
        self._sent[request] = time.monotonic()

    def measure(self, shown: int = SHOWN_HOSTS) -> Progress:
        """Measure the current progress. `shown`: maximum hosts."""
        now = time.monotonic()
        counts = self._other(now) if self._audit is None else self._counts(self._audit, now)
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
            wait=self._wait(now),
            **counts,
        )

    def _stat(self, name: str) -> int:
        return int(self._crawler.stats.get_value(name) or 0)

    def _other(self, now: float) -> JsonObject:
        items = self._stat("item_scraped_count")
        self._pace.add(Snapshot(now, items))
        return {"phase": "crawling", "urls": items}

    def _counts(self, audit: Audit, now: float) -> dict[str, object]:
        status, earlier = audit.status, self._earlier(audit.job)
        counted = self._stat("sitemap/urls")
        read = max(audit.reading.records, self._stat("sitemap/files"))  # files of a finished job are only counted
        known = max(read, audit.frontier.queued_count)
        files = min(read + earlier, known)
        begun = min(audit.reading.begun + earlier, known)
        listed = max(audit.selection.count, counted)
        done, waiting = status.by_host if status is not None else ({}, {})
        busiest = heapq.nlargest(SHOWN_HOSTS, list(waiting.items()), key=lambda item: item[1])
        checked = {host: done[host] for host, _ in busiest}
        self._pace.add(Snapshot(now, counted, checked, sum(list(done.values()))))
        checks = None
        if status is not None:
            in_all = expected(listed, *self._of_urls(begun, known, audit.phase is not None))
            checks = self._checks(
                status, audit.selection.earlier, in_all, sum(list(done.values())), dict(waiting), dict(busiest)
            )
        return {
            "phase": self._phase(audit, known, listed, bool(waiting)),
            "urls": listed,
            "files": files,
            "known_files": known,
            "share": begun / known if known else None,
            "found": audit.judge.reach,
            "checks": checks,
        }

    def _earlier(self, job: Job | None) -> int:
        """Files that earlier runs of the job have read."""
        if self._in_earlier is None and job is not None:
            self._in_earlier = sum(done.hit for done in job.done.values())
        return self._in_earlier or 0

    def _of_urls(self, begun: float, known: int, whole: bool) -> tuple[float, int]:
        """Return how many files of URLs were read, and are known: without indexes, and all of them once reading has
        ended (`whole`)."""
        indexes = sum(self._stat(f"sitemap/format/{name}") for name in format_names(lambda format: format.is_index))
        return (known if whole else begun) - indexes, known - indexes

    def _checks(
        self,
        status: Status,
        earlier: int,
        urls: float | None,
        done: int,
        waiting: Mapping[str, int],
        busiest: Mapping[str, int],
    ) -> Checks:
        """Return the state of the verification. `earlier`: URLs that earlier runs have listed; `urls`: estimate of
        all."""
        known = done + sum(waiting.values()) + status.candidates
        in_all = float(known) if status.holding else to_check(known, status.offered, earlier, urls)
        left = None if in_all is None else seconds_left(self._pace, in_all - done, busiest)
        return Checks(done, known, in_all, self._pace.checked, left, dict(status.replies))

    @staticmethod
    def _phase(audit: Audit, known: int, listed: int, verifying: bool) -> str:
        if audit.stop.early:
            return "stopping"
        if audit.phase is not None:
            return audit.phase
        if verifying:
            return "verifying"
        return "reading" if known or listed else "discovering"

    @property
    def _slots(self) -> dict[str, Slot]:
        return self._crawler.engine.downloader.slots

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

    def _wait(self, now: float) -> Wait | None:
        """The host with the oldest request in flight, if none of all was sent lately."""
        flying = [(self._sent.get(request, now), name, request) for name, request in self._in_flight()]
        if not flying or now - max(sent for sent, _, _ in flying) < WAIT_S:
            return None
        sent, name, request = min(flying, key=lambda one: one[0])
        limit = request.meta.get("download_timeout")
        slot = self._slots[name]
        return Wait(name, len(slot.transferring) + len(slot.queue), max(0.0, sent + limit - now) if limit else None)

    def _in_flight(self) -> list[tuple[str, Request]]:
        return [(name, request) for name, slot in list(self._slots.items()) for request in list(slot.transferring)]

    def _host(self, name: str, slot: Slot) -> HostProgress:
        rests = self._rests(name) if self._rests is not None else 0.0
        asked = next(iter(slot.transferring), None)
        url = None if asked is None else asked.url
        return HostProgress(name, len(slot.transferring), len(slot.queue), slot.delay, rests, url)


def to_check(known: int, offered: int, earlier: int, urls: float | None) -> float | None:
    """Estimate the URLs to check once all `urls` are listed, assuming the same share as so far: `known` of those
    `offered`. None if it is too early to say."""
    rest = None if urls is None else urls - earlier - offered
    if rest is None or (rest > 0 and not offered):
        return None
    return known + rest * known / offered if rest > 0 else float(known)


def is_busy(slot: Slot) -> bool:
    """True for a download slot that has requests, or had some a moment ago."""
    return bool(slot.active) or time.monotonic() - slot.lastseen < RECENT_S


logger = logging.getLogger(__name__)

LIVE_WINDOW_S = 15.0
"""Window in seconds over which the display measures speed, long enough for hosts with one request every few seconds."""


class ProgressDisplay:
    """Shows the progress of a crawl, controlled by SITEMAP_PROGRESS and LOGSTATS_INTERVAL.

    If several crawls share a process, the first one gets the terminal.
    """

    _on_terminal: ClassVar[ProgressDisplay | None] = None

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._lines: Repeating | None = None
        self._display: Display | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self) -> None:
        told = logs_elsewhere()
        if ProgressDisplay._on_terminal is None and is_live(self._crawler.settings):
            self._show()
        else:
            told = True
        if told and 0 < self._interval < math.inf:
            self._tell()

    def closed(self) -> None:
        """Stop, and restore the terminal for the closing line."""
        if self._lines is not None and self._lines.running:
            self._lines.stop()
        if self._display is not None:
            self._display.stop()
        if ProgressDisplay._on_terminal is self:
            ProgressDisplay._on_terminal = None

    def _show(self) -> None:
        from sitemapcrawler.terminal.display import Display  # rich is slow to import, and useless for a pipe

        ProgressDisplay._on_terminal = self
        gauge = self._gauge(LIVE_WINDOW_S)

        def tell(width: int, unicode: bool) -> Sequence[Row]:
            return rows(gauge.measure(max_hosts(width)), width, unicode)

        self._display = Display(sys.stderr, tell)
        self._display.start()

    def _tell(self) -> None:
        gauge = self._gauge(self._interval)

        def tell() -> None:
            logger.info("%s", line(gauge.measure(IN_LINE)))

        gauge.measure(IN_LINE)
        self._lines = create_looping_call(tell)
        self._lines.start(self._interval, now=False)

    def _gauge(self, window: float) -> Gauge:
        politeness = self._crawler.get_downloader_middleware(PolitenessMiddleware)
        rests = politeness.resting if politeness is not None else None
        gauge = Gauge(self._crawler, Audit.of(self._crawler), window, rests)
        Departures.of(self._crawler).listeners.append(gauge.sends)
        return gauge


def is_live(settings: BaseSettings) -> bool:
    """True if the display may be drawn on standard error."""
    wanted = settings.getbool("SITEMAP_PROGRESS") and can_be_live(sys.stderr)
    return wanted and not any(map(is_on_terminal, settings.getdict("FEEDS")))


def is_on_terminal(uri: str | Path) -> bool:
    """True for a feed that goes to the terminal of standard error."""
    path = local_path(uri)
    if path is None:
        return urlsplit(str(uri)).scheme == "stdout" and same_terminal(sys.__stdout__, sys.stderr)
    with suppress(OSError, ValueError):
        return path == Path("/dev/tty") or path.stat().st_rdev == os.fstat(sys.stderr.fileno()).st_rdev
    return False


def logs_elsewhere() -> bool:
    """True if a log handler writes to anything but the terminal of standard error."""
    streams = [handler.stream for handler in logging.root.handlers if isinstance(handler, logging.StreamHandler)]
    return any(not same_terminal(stream, sys.stderr) for stream in streams)
