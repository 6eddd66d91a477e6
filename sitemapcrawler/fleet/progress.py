"""Progress of a fleet: a live display on a terminal, or periodic log lines."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from sitemapcrawler.extensions.progress import is_live, logs_elsewhere
from sitemapcrawler.fleet.domains import FAILED, FINISHED, PARTIAL, UNREAD
from sitemapcrawler.fleet.leases import Running
from sitemapcrawler.terminal.progress import (
    FAINT,
    GAP,
    LABEL,
    LONGEST_NAME,
    SHORTEST_NAME,
    Pace,
    Row,
    Snapshot,
    apart,
    bar_in_rest,
    clock,
    fitted,
    in_brackets,
    seconds_left,
    speed,
    time_left,
)
from sitemapcrawler.urls.display import counted, elapsed, inert, shortened

if TYPE_CHECKING:
    from sitemapcrawler.fleet.control.driver import Fleet


URLS_S = 30.0
"""Window in seconds for the URL rate."""
DOMAINS_S = 600.0
"""Window in seconds for the domain rate: longer, since domains end in bursts and can take minutes."""
MINUTE_S = 60


class FleetPace:
    """Recent rates of a fleet."""

    def __init__(self, urls_s: float = URLS_S, domains_s: float = DOMAINS_S) -> None:
        """`urls_s`, `domains_s`: windows in seconds for the URL rate and the domain rate."""
        self._urls = Pace(urls_s)
        self._domains = Pace(domains_s)

    def add(self, at: float, urls: int, domains: int) -> None:
        """Add a measurement. `at`: monotonic time in seconds; `domains`: ended in this run, including failed ones."""
        self._urls.add(Snapshot(at, urls))
        self._domains.add(Snapshot(at, 0, checked_in_all=domains))

    @property
    def urls_per_second(self) -> float | None:
        """None if too early. Never negative, although a restarted domain loses its URLs."""
        speed = self._urls.urls
        return None if speed is None else max(0.0, speed)

    @property
    def domains_per_minute(self) -> float | None:
        """None if too early."""
        speed = self._domains.checked
        return None if speed is None else speed * MINUTE_S

    def seconds_left(self, domains: int) -> float | None:
        """Estimated seconds for the given number of domains; None if none ended recently."""
        return seconds_left(self._domains, domains, {})


COLOURS = {FINISHED: "green", PARTIAL: "yellow", UNREAD: "yellow", FAILED: "red"}
COUNTS = 31
"""Columns of a running domain's row without its name, gaps included."""
MINUTE = "min"


@dataclass(frozen=True, slots=True)
class FleetProgress:
    """Figures for the display."""

    total: int
    """Domains in the list, including those of earlier runs."""
    elapsed: float
    """Seconds since the start of this run."""
    earlier: int = 0
    """Domains done by earlier runs."""
    done: Mapping[str, int] = field(default_factory=dict)
    """Domains that ended in this run, by state, including failed ones."""
    running: int = 0
    waiting: int = 0
    urls: int = 0
    """URLs listed in this run, including those of running domains."""
    sitemaps: int = 0
    """Files read in this run, including those of running domains."""
    urls_per_second: float | None = None
    domains_per_minute: float | None = None
    eta_s: float | None = None
    """Seconds left; None if unknown."""
    shown: tuple[Running, ...] = ()
    """Running domains with a row, in order."""

    @property
    def ended(self) -> int:
        """Domains that ended in this run or earlier."""
        return self.earlier + sum(self.done.values())


def rows(progress: FleetProgress, width: int, unicode: bool = True) -> list[Row]:
    """Rows for a terminal of `width` columns; the last column stays free. No row is empty."""
    room = max(1, width - 1)
    found = [_first(progress, room, unicode), _read(progress), _done(progress), *_running(progress, width)]
    return [fitted(row, room) for row in found]


def line(progress: FleetProgress) -> str:
    """Progress as one log line."""
    earlier = f"{progress.earlier:,} of them earlier" if progress.earlier else ""
    parts = [
        _domains(progress) + in_brackets(progress.domains_per_minute, MINUTE),
        earlier,
        *(text for text, _ in _states(progress)),
        f"{progress.running:,} running",
        f"{progress.waiting:,} waiting" if progress.waiting else "",
        counted(progress.sitemaps, "sitemap"),
        counted(progress.urls, "URL") + in_brackets(progress.urls_per_second),
        time_left(progress.eta_s),
    ]
    return f"fleet: {', '.join(filter(None, parts))}"


def _first(progress: FleetProgress, room: int, unicode: bool) -> Row:
    """Ended domains, time left, speed and a bar."""
    row: Row = [("fleet".ljust(LABEL), FAINT), (_domains(progress), "bold")]
    row += apart(
        (time_left(progress.eta_s), "bold"),
        (speed(progress.domains_per_minute, MINUTE), "cyan"),
        (clock(progress.elapsed), FAINT),
    )
    return row + bar_in_rest(row, progress.ended / progress.total, room, unicode) if progress.total else row


def _read(progress: FleetProgress) -> Row:
    row: Row = [("read".ljust(LABEL), FAINT), (counted(progress.urls, "URL"), "")]
    return row + apart((speed(progress.urls_per_second), "cyan"), (counted(progress.sitemaps, "sitemap"), ""))


def _done(progress: FleetProgress) -> Row:
    earlier = (f"{progress.earlier:,} earlier", FAINT)
    found = [*_states(progress), earlier] if progress.earlier else _states(progress)
    (first, style), *others = found or [("none so far", FAINT)]
    return [("done".ljust(LABEL), FAINT), (first, style), *apart(*others)]


def _running(progress: FleetProgress, width: int) -> list[Row]:
    """Number of running domains, followed by a row for each shown one."""
    waiting = f"{progress.waiting:,} waiting" if progress.waiting else ""
    head: Row = [("running".ljust(LABEL), FAINT), (counted(progress.running, "domain"), ""), *apart((waiting, FAINT))]
    room = min(LONGEST_NAME, max(SHORTEST_NAME, width - 1 - LABEL - COUNTS))
    names = [shortened(inert(one.domain), room) for one in progress.shown]
    longest = max(map(len, names), default=0)
    return [
        head,
        *(_domain(name.ljust(longest), one) for name, one in zip(names, progress.shown, strict=True)),
    ]


def _domain(name: str, one: Running) -> Row:
    urls = f"{one.urls:>11,} {'URL ' if one.urls == 1 else 'URLs'}"
    return [(" " * LABEL, FAINT), (name, ""), (GAP + urls, ""), (f"{GAP}{clock(one.seconds):>9}", "cyan")]


def _domains(progress: FleetProgress) -> str:
    return f"{progress.ended:,} of {counted(progress.total, 'domain')}"


def _states(progress: FleetProgress) -> list[tuple[str, str]]:
    """(count and state, colour) of each state that occurs."""
    return [
        (f"{progress.done[state]:,} {state}", colour) for state, colour in COLOURS.items() if progress.done.get(state)
    ]


logger = logging.getLogger("sitemapcrawler")

REFRESH_S = 1.0
"""Seconds between two updates on a terminal."""
SHOWN = 5
"""Number of running domains shown: those that have run longest."""


class FleetDisplay:
    """Live display of a fleet, or its log lines."""

    def __init__(self, settings: BaseSettings) -> None:
        self._live = is_live(settings)
        interval = settings.getfloat("LOGSTATS_INTERVAL")
        logs = (not self._live or logs_elsewhere()) and 0 < interval < math.inf
        self._interval = interval if logs else math.inf
        self._pace = FleetPace()
        self._began = self._refreshed = self._logged = time.monotonic()
        self._progress = FleetProgress(total=0, elapsed=0.0)

    @contextmanager
    def display(self) -> Iterator[None]:
        """Show the live display within the context."""
        if not self._live:
            yield
            return
        from sitemapcrawler.terminal.display import Display  # rich is slow to import, and only needed on a terminal

        display = Display(sys.stderr, self._rows)
        display.start()
        try:
            yield
        finally:
            display.stop()

    def update(self, fleet: Fleet) -> None:
        """Refresh the display or write a log line if it is due."""
        now = time.monotonic()
        due = self._live and now - self._refreshed >= REFRESH_S
        log = now - self._logged >= self._interval
        if due or log:
            self._refreshed = now
            self._progress = self._measured(fleet, fleet.progress(), now)
        if log:
            self._logged = now
            logger.info("%s", line(self._progress))

    def _rows(self, width: int, unicode: bool) -> Sequence[Row]:
        return rows(self._progress, width, unicode)

    def _measured(self, fleet: Fleet, running: list[Running], now: float) -> FleetProgress:
        counts = fleet.counts
        done = {**counts.states, **({FAILED: len(counts.failed)} if counts.failed else {})}
        urls = counts.urls + sum(one.urls for one in running)
        self._pace.add(now, urls, sum(done.values()))
        left = counts.total - counts.earlier - sum(done.values())
        longest = sorted(running, key=lambda one: one.seconds, reverse=True)[:SHOWN]
        return FleetProgress(
            total=counts.total,
            elapsed=now - self._began,
            earlier=counts.earlier,
            done=done,
            running=len(fleet.running),
            waiting=left - len(fleet.running),
            urls=urls,
            sitemaps=counts.sitemaps + sum(one.sitemaps for one in running),
            urls_per_second=self._pace.urls_per_second,
            domains_per_minute=self._pace.domains_per_minute,
            eta_s=self._pace.seconds_left(left),
            shown=tuple(longest),
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
