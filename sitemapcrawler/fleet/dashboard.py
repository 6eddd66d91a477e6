"""Progress of a fleet: a live display on a terminal, or periodic log lines."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from heapq import nsmallest
from typing import NamedTuple

from scrapy.settings import BaseSettings

from sitemapcrawler.extensions.progress import displayed, is_live, line_interval
from sitemapcrawler.fleet.domains import FAILED, FINISHED, PARTIAL, UNREAD
from sitemapcrawler.fleet.driver import Fleet, FleetCounts
from sitemapcrawler.terminal.progress_rows import (
    FAINT,
    LINE_WIDTH,
    Pace,
    ProgressRow,
    clock,
    line,
    named,
    per,
    time_left,
)
from sitemapcrawler.urls.display import counted, elapsed

logger = logging.getLogger("sitemapcrawler")

WINDOW_S = 600.0
"""Window in seconds for rates: domains end in bursts and can take minutes."""
MINUTE_S = 60
REFRESH_S = 1.0
"""Seconds between two updates on a terminal."""
SHOWN = 5
"""Number of running domains shown: those that have run longest."""
COLOURS = {FINISHED: "green", PARTIAL: "yellow", UNREAD: "yellow", FAILED: "red"}
CLOCK = 11
"""Columns of a running domain's time, with the gap before it."""
URLS, DOMAINS = "urls", "domains"
"""Counters whose speed is shown."""


class FleetProgress(NamedTuple):
    """A fleet at one moment."""

    counts: FleetCounts
    elapsed: float
    """Seconds since the start of this run."""
    running: int = 0
    """Domains that are crawled."""
    longest: Sequence[tuple[str, float]] = ()
    """Those that have run longest, with their seconds."""
    domains_per_minute: float | None = None
    urls_per_second: float | None = None
    seconds_left: float | None = None

    @property
    def ended(self) -> int:
        """Domains that ended in this run or earlier, including failed ones."""
        return self.counts.done + len(self.counts.failed)

    def rows(self, width: int) -> list[ProgressRow]:
        """Rows for a terminal of `width` columns."""
        if self.counts.looked_up < self.counts.hosts:
            return [self._look_ups()]
        names = named([name for name, _ in self.longest], width, CLOCK)
        times = [(f"{clock(seconds):>9}", "cyan") for _, seconds in self.longest]
        domains = [ProgressRow("", [(name, ""), time]) for name, time in zip(names, times, strict=True)]
        return [self._domains(), self._read(), self._done(), self._running(), *domains]

    def _look_ups(self) -> ProgressRow:
        done, hosts = self.counts.looked_up, self.counts.hosts
        names = f"{done:,} of {counted(hosts, 'name')} looked up"
        return ProgressRow("fleet", [(names, "bold"), (clock(self.elapsed), FAINT)], done / hosts)

    def _domains(self) -> ProgressRow:
        total = self.counts.total
        cells = [(f"{self.ended:,} of {counted(total, 'domain')}", "bold"), (time_left(self.seconds_left), "bold")]
        cells += [(per(self.domains_per_minute, "min"), "cyan"), (clock(self.elapsed), FAINT)]
        return ProgressRow("fleet", cells, self.ended / total if total else None)

    def _read(self) -> ProgressRow:
        urls, sitemaps = counted(self.counts.urls, "URL"), counted(self.counts.sitemaps, "sitemap")
        return ProgressRow("read", [(urls, ""), (per(self.urls_per_second), "cyan"), (sitemaps, "")])

    def _done(self) -> ProgressRow:
        states = {**self.counts.states, FAILED: len(self.counts.failed)}
        cells = [(f"{states[state]:,} {state}", colour) for state, colour in COLOURS.items() if states.get(state)]
        if self.counts.earlier:
            cells.append((f"{self.counts.earlier:,} earlier", FAINT))
        return ProgressRow("done", cells or [("none so far", FAINT)])

    def _running(self) -> ProgressRow:
        waiting = self.counts.total - self.ended - self.running
        return ProgressRow(
            "running", [(counted(self.running, "domain"), ""), (f"{waiting:,} waiting" if waiting else "", FAINT)]
        )


class FleetDisplay:
    """Live display of a fleet, or its log lines."""

    def __init__(self, settings: BaseSettings) -> None:
        self._live = is_live(settings)
        self._interval = line_interval(settings, self._live) or math.inf
        self._counts = Pace(WINDOW_S)
        self._began = self._refreshed = self._logged = time.monotonic()
        self._progress = FleetProgress(FleetCounts(total=0), elapsed=0.0)

    def display(self) -> AbstractContextManager[None]:
        """Context in which the live display is shown, if there is one."""
        return displayed(lambda width: self._progress.rows(width)) if self._live else nullcontext()

    def update(self, fleet: Fleet) -> None:
        """Refresh the display or write a log line if it is due."""
        now = time.monotonic()
        log = now - self._logged >= self._interval
        if log or (self._live and now - self._refreshed >= REFRESH_S):
            self._refreshed = now
            self._progress = self._measured(fleet, now)
        if log:
            self._logged = now
            logger.info("%s", line(self._progress.rows(LINE_WIDTH)))

    def _measured(self, fleet: Fleet, now: float) -> FleetProgress:
        longest = nsmallest(SHOWN, fleet.running.values(), key=lambda attempt: attempt.began)
        shown = [(attempt.domain.name, now - attempt.began) for attempt in longest]
        begun = FleetProgress(fleet.counts, now - self._began, len(fleet.running), shown)
        self._counts.add(now, {URLS: fleet.counts.urls, DOMAINS: begun.ended})
        per_second = self._counts.speed(DOMAINS)
        return begun._replace(
            domains_per_minute=None if per_second is None else per_second * MINUTE_S,
            urls_per_second=self._counts.speed(URLS),
            seconds_left=self._counts.seconds_for(DOMAINS, fleet.counts.total - begun.ended),
        )


def closing_line(fleet: Fleet, seconds: float) -> str:
    """Result of a fleet as one log line."""
    counts = fleet.counts
    states = [f"{count:,} {state}" for state, count in sorted(counts.states.items())]
    parts = [
        f"{counts.done:,} of {counted(counts.total, 'domain')} done",
        *([f"{counts.earlier:,} earlier"] if counts.earlier else []),
        *states,
        *([f"{len(counts.failed):,} without a result"] if counts.failed else []),
        counted(counts.urls, "URL"),
    ]
    return f"{', '.join(parts)} in {elapsed(seconds)}"
