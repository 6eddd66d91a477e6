"""Scrapy extension that measures the progress of a crawl, and shows it: live on a terminal, else as a log line at
intervals."""

from __future__ import annotations

import heapq
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from twisted.internet.task import LoopingCall

from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.feeds.uris import local_path
from sitemapcrawler.items import Reach
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.middlewares.politeness import HostPace, PolitenessMiddleware
from sitemapcrawler.reader.formats import format_names
from sitemapcrawler.replies import Reason, ReplyKind
from sitemapcrawler.rules.reach import places
from sitemapcrawler.terminal.progress_rows import (
    FAINT,
    GAP,
    LABEL,
    LINE_WIDTH,
    WIDE,
    Cell,
    Pace,
    ProgressRow,
    Tell,
    clock,
    line,
    named,
    per,
    save,
    time_left,
)
from sitemapcrawler.terminal.streams import can_be_live, same_terminal
from sitemapcrawler.urls.display import counted, duration, inert, shortened
from sitemapcrawler.verification.url_status import Status

logger = logging.getLogger(__name__)

LIVE_WINDOW_S = 15.0
"""Window in seconds over which the display measures speed, long enough for hosts with one request every few seconds."""
SHOWN_HOSTS = 6
"""Maximum hosts on a wide terminal; on others half of them."""
PROGRESS_FILE = "SITEMAP_PROGRESS_FILE"
"""Setting in which a command that runs a crawl in another process names a file for the rows that it displays."""
FILE_S = 0.5
"""Seconds between two writes of that file."""
RECENT_S = 5.0
"""Seconds for which an idle host stays in the display, so that it does not flicker."""
WAIT_S = 5.0
"""Seconds without an answer from which a host keeps the crawl waiting."""
LONGEST_WAIT = 30
"""Maximum characters of the name of a host that keeps the crawl waiting."""
COUNTS = 43
"""Columns of a host's row after its name, gaps included."""
QUIET = ("checking the site", "writing feeds")
"""Phases without requests."""
URLS, CHECKED = "urls", "checked"
"""Counters whose speed is shown."""
FILES = "file"
"""Download slot of local files."""
COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}
REPLY_COLOURS: dict[str, str] = {
    ReplyKind.OK: "green",
    ReplyKind.REDIRECTED: "yellow",
    **dict.fromkeys(Reason, FAINT),
}
"""Colours of replies; failures are red."""

Paces = Callable[[str], HostPace]


class Gauge:
    """Measures a crawl without changing it. Any thread may take a measurement, one at a time."""

    def __init__(self, crawler: Crawler, audit: Audit | None, window: float, paces: Paces | None = None) -> None:
        """`audit`: None for a spider that is not ours. `window`: seconds over which speed is measured. `paces`:
        returns delays and pauses of a host's slot."""
        self._crawler = crawler
        self._audit = audit
        self._pace, self._pace_of_hosts = Pace(window), Pace(window)
        self._paces = paces
        self._started = time.monotonic()
        self._shown: list[str] = []
        self._in_earlier: int | None = None

    def rows(self, width: int) -> list[ProgressRow]:
        """Measure the crawl now. `width`: columns of the terminal."""
        now = time.monotonic()
        if self._audit is None:
            return [self._items(now), *self._asking(width), *self._waiting(now)]
        rows = [*self._work(self._audit, now), found(self._audit.judge.reach)]
        return rows if self._audit.phase in QUIET else [*rows, *self._asking(width), *self._waiting(now)]

    def _stat(self, name: str) -> int:
        return int(self._crawler.stats.get_value(name) or 0)

    def _clock(self, now: float) -> Cell:
        return clock(now - self._started), FAINT

    def _items(self, now: float) -> ProgressRow:
        """Progress of a spider that is not ours."""
        items, answers = self._stat("item_scraped_count"), self._stat("response_received_count")
        self._pace.add(now, {URLS: items})
        counts = [(counted(answers, "answer"), ""), (counted(items, "item"), "")]
        return ProgressRow("crawling", [*counts, (per(self._pace.speed(URLS)), "cyan"), self._clock(now)])

    def _work(self, audit: Audit, now: float) -> Iterator[ProgressRow]:
        """What was read, then what was verified."""
        status, earlier = audit.status, self._earlier(audit.job)
        counted_urls = self._stat("sitemap/urls")
        read = max(audit.reading.records, self._stat("sitemap/files"))  # files of a finished job are only counted
        known = max(read, audit.frontier.queued_count)
        begun = min(audit.reading.begun + earlier, known)
        listed = max(audit.selection.count, counted_urls)
        done, waiting = status.by_host if status is not None else ({}, {})
        checked = sum(list(done.values()))
        self._pace.add(now, {URLS: counted_urls, CHECKED: checked})
        phase = self._phase(audit, bool(known or listed), bool(waiting))
        counts = [(files(min(read + earlier, known), 0 if phase in QUIET else known), "")]
        counts += [(counted(listed, "URL") if listed or known else "", "")]
        speed = (per(self._pace.speed(URLS)), "cyan")
        yield ProgressRow(phase, [*counts, speed, self._clock(now)], begun / known if known else 0.0)
        if status is not None:
            busiest = dict(heapq.nlargest(SHOWN_HOSTS, list(waiting.items()), key=lambda item: item[1]))
            self._pace_of_hosts.add(now, {host: done[host] for host in busiest})
            in_all = expected(listed, *self._of_urls(begun, known, audit.phase is not None))
            yield self._checked(status, audit.selection.earlier, in_all, checked, sum(waiting.values()), busiest)
            if status.replies:
                yield replied(dict(status.replies))

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

    def _checked(
        self, status: Status, earlier: int, urls: float | None, done: int, waiting: int, busiest: Mapping[str, int]
    ) -> ProgressRow:
        """The state of the verification. `earlier`: URLs that earlier runs have listed; `urls`: estimate of all."""
        known = done + waiting + status.candidates
        in_all = float(known) if status.draws else to_check(known, status.offered, earlier, urls)
        total = "" if in_all is None else f" of {known:,}" if in_all == known else f" of about {rounded(in_all):,}"
        left = None if in_all is None else self._seconds_left(in_all - done, busiest)
        speed = per(self._pace.speed(CHECKED))
        cells = [(f"{done:,}{total}", ""), (time_left(left), "bold"), (speed, "cyan")]
        return ProgressRow("checked", cells, done / in_all if in_all else 0.0)

    def _seconds_left(self, rest: float, busiest: Mapping[str, int]) -> float | None:
        """Estimate the seconds for checking `rest` more URLs: the larger of all hosts together and the slowest alone.
        `busiest`: URLs that wait at some of the hosts. Returns None if nothing was checked lately."""
        together = self._pace.seconds_for(CHECKED, rest)
        alone = [self._pace_of_hosts.seconds_for(host, count) or 0.0 for host, count in busiest.items()]
        return max([together, *alone]) if together else together

    @staticmethod
    def _phase(audit: Audit, reading: bool, verifying: bool) -> str:
        if audit.stop.early:
            return "stopping"
        return audit.phase or ("verifying" if verifying else "reading" if reading else "discovering")

    @property
    def _slots(self) -> dict[str, Slot]:
        return self._crawler.engine.downloader.slots

    def _asking(self, width: int) -> list[ProgressRow]:
        """The busiest hosts by name, preferably those of the previous measurement, and the number of other busy
        hosts."""
        slots, shown = self._slots, SHOWN_HOSTS if width >= WIDE else SHOWN_HOSTS // 2
        busy = {name: len(slot.active) for name, slot in list(slots.items()) if is_busy(slot)}
        stay = [name for name in self._shown if name in busy][:shown]
        new = heapq.nlargest(shown - len(stay), busy.keys() - stay, key=lambda name: (busy[name], name))
        self._shown = sorted([*stay, *new])
        if not busy:
            return [ProgressRow("fetching", [("no host right now", FAINT)])]
        names = named(["local files" if name == FILES else name for name in self._shown], width, COUNTS)
        cells = [self._host(shown, name, slots[name], width) for shown, name in zip(names, self._shown, strict=True)]
        if others := len(busy) - len(cells):
            cells.append([(f"and {others:,} more", FAINT)])
        return [ProgressRow("" if at else "fetching", of_host) for at, of_host in enumerate(cells)]

    def _host(self, shown: str, name: str, slot: Slot, width: int) -> list[Cell]:
        """The requests to a host, and the delay between two of them, that after 429 or 503, or its current rest."""
        pace = self._paces(name) if self._paces is not None else HostPace()
        delay, colour = f"every {slot.delay:.2g} s" if slot.delay else "no delay", "cyan"
        if pace.rest:
            delay, colour = f"rests {duration(pace.rest)}", "yellow"
        elif 0 < slot.delay <= pace.slowdown:
            delay, colour = f"slowed: {slot.delay:.2g} s", "yellow"
        cells = [(shown, ""), (f"{len(slot.transferring):>2} in flight", ""), (f"{len(slot.queue):>3} waiting", "")]
        cells += [(f"{delay:<13}", colour)]
        if width >= WIDE and slot.transferring:
            room = width - 1 - LABEL - COUNTS - len(shown) - 2 * len(GAP)
            cells.append((shortened(inert(next(iter(slot.transferring)).url), room), FAINT))
        return cells

    def _waiting(self, now: float) -> Iterator[ProgressRow]:
        """Of the hosts with requests in flight, the one that was sent none for longest, if none was sent any lately."""
        slots = list(self._slots.items())
        flying = [(slot.lastseen, name, request) for name, slot in slots for request in list(slot.transferring)]
        if not flying or now - max(sent for sent, _, _ in flying) < WAIT_S:
            return
        sent, name, request = min(flying, key=lambda one: one[0])
        slot, timeout = self._slots[name], request.meta.get("download_timeout")
        pages = counted(len(slot.transferring) + len(slot.queue), "page")
        limit = f"timeout in {max(0.0, sent + timeout - now):.0f} s" if timeout else ""
        yield ProgressRow(
            "waiting", [(f"for {shortened(inert(name), LONGEST_WAIT)}", "yellow"), (pages, "yellow"), (limit, "yellow")]
        )


def files(read: int, known: int) -> str:
    """Files read of those `known`; empty before any is, and only those read if `known` is 0."""
    if not known:
        return counted(read, "file") if read else ""
    return f"{read:,} of {counted(known, 'file')}"


def found(reach: Mapping[str, Reach]) -> ProgressRow:
    """What findings concern so far."""
    cells = [(text, COLOURS[severity]) for severity, text in places(reach).items()]
    return ProgressRow("found", cells or [("no problems so far", "")])


def replied(replies: Mapping[str, int]) -> ProgressRow:
    """URLs checked by kind of reply and unchecked ones by reason, as in the summary: `ok`, then the most frequent."""
    counts = sorted(replies.items(), key=lambda item: (item[0] != ReplyKind.OK, -item[1], item[0]))
    return ProgressRow("replies", [(f"{count:,} {kind}", REPLY_COLOURS.get(kind, "red")) for kind, count in counts])


def rounded(estimate: float) -> int:
    """Round an estimate to two digits."""
    whole = round(estimate)
    return round(whole, 2 - len(str(whole)))


def expected(listed: int, begun: float, files: int) -> float | None:
    """Estimate the URLs of a crawl from those `listed` so far; None if unknown. `begun`: files of URLs that were read,
    including fractions. `files`: all known ones. Assumes that files are alike on average."""
    if begun >= files:
        return float(listed)
    return listed / begun * files if begun > 0 and listed else None


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


class ProgressDisplay:
    """Shows the progress of a crawl, controlled by SITEMAP_PROGRESS and LOGSTATS_INTERVAL.

    If several crawls share a process, the first one gets the terminal.
    """

    _on_terminal: ClassVar[ProgressDisplay | None] = None

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._calls: list[AsyncioLoopingCall | LoopingCall] = []
        self._stack = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self) -> None:
        settings = self._crawler.settings
        live = ProgressDisplay._on_terminal is None and is_live(settings)
        if live:
            ProgressDisplay._on_terminal = self
            self._stack.enter_context(displayed(self._gauge(LIVE_WINDOW_S).rows))
        if (interval := line_interval(settings, live)) is not None:
            self._repeat(interval, lambda rows: logger.info("%s", line(rows)))
        if settings[PROGRESS_FILE]:
            self._repeat(FILE_S, partial(save, Path(settings[PROGRESS_FILE])))

    def closed(self) -> None:
        """Stop, and restore the terminal for the closing line."""
        for call in self._calls:
            if call.running:
                call.stop()
        self._stack.close()
        if ProgressDisplay._on_terminal is self:
            ProgressDisplay._on_terminal = None

    def _repeat(self, interval: float, write: Callable[[list[ProgressRow]], None]) -> None:
        gauge = self._gauge(max(interval, LIVE_WINDOW_S))
        gauge.rows(LINE_WIDTH)
        call = create_looping_call(lambda: write(gauge.rows(LINE_WIDTH)))
        call.start(interval, now=False)
        self._calls.append(call)

    def _gauge(self, window: float) -> Gauge:
        politeness = self._crawler.get_downloader_middleware(PolitenessMiddleware)
        paces = politeness.pace if politeness is not None else None
        return Gauge(self._crawler, Audit.of(self._crawler), window, paces)


@contextmanager
def displayed(tell: Tell) -> Iterator[None]:
    """Context in which rows are shown at the bottom of the terminal."""
    from sitemapcrawler.terminal.live import Display  # rich is slow to import, and useless for a pipe

    display = Display(sys.stderr, tell)
    display.start()
    try:
        yield
    finally:
        display.stop()


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


def line_interval(settings: BaseSettings, live: bool) -> float | None:
    """Seconds between two log lines; None for none. `live`: the display is drawn, so the terminal needs no lines."""
    interval = settings.getfloat("LOGSTATS_INTERVAL")
    return interval if 0 < interval < math.inf and (not live or logs_elsewhere()) else None


def logs_elsewhere() -> bool:
    """True if a log handler writes to anything but the terminal of standard error."""
    streams = [handler.stream for handler in logging.root.handlers if isinstance(handler, logging.StreamHandler)]
    return any(not same_terminal(stream, sys.stderr) for stream in streams)
