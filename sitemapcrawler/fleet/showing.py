"""Shows how far a fleet is: live on a terminal, as a line now and then in a log."""

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
from sitemapcrawler.fleet.control.leases import Running
from sitemapcrawler.fleet.records import FAILED, FINISHED, PARTIAL, UNREAD
from sitemapcrawler.terminal.gauge import Moment, Pace, seconds_left
from sitemapcrawler.terminal.progress import (
    FAINT,
    GAP,
    LABEL,
    LONGEST_NAME,
    SHORTEST_NAME,
    Row,
    apart,
    bar_in_rest,
    clock,
    fitted,
    in_brackets,
    left,
    speed,
)
from sitemapcrawler.urls.display import inert
from sitemapcrawler.words import counted, elapsed, shortened

if TYPE_CHECKING:
    from sitemapcrawler.fleet.control.driver import Fleet


URLS_S = 30.0
"""Seconds over which the speed of URLs is taken."""
DOMAINS_S = 600.0
"""Seconds over which that of domains is: they end in bursts, and a single one may take minutes."""
MINUTE_S = 60


class FleetPace:
    """Speeds over the last minutes of a fleet."""

    def __init__(self, urls_s: float = URLS_S, domains_s: float = DOMAINS_S) -> None:
        """The seconds over which the speeds of URLs and of domains are taken."""
        self._urls = Pace(urls_s)
        self._domains = Pace(domains_s)

    def add(self, at: float, urls: int, domains: int) -> None:
        """Know how many there are at a moment of the monotonic clock, in seconds. `domains`: those that came to an end
        in this run, whatever came of them."""
        self._urls.add(Moment(at, urls))
        self._domains.add(Moment(at, 0, checked_in_all=domains))

    @property
    def urls_per_second(self) -> float | None:
        """None where it is too early to say. A domain that is begun again takes back what it had."""
        speed = self._urls.urls
        return None if speed is None else max(0.0, speed)

    @property
    def domains_per_minute(self) -> float | None:
        """None where it is too early to say."""
        speed = self._domains.checked
        return None if speed is None else speed * MINUTE_S

    def seconds_left(self, domains: int) -> float | None:
        """How long so many more domains take; None where none came to an end lately."""
        return seconds_left(self._domains, domains, {})


COLOURS = {FINISHED: "green", PARTIAL: "yellow", UNREAD: "yellow", FAILED: "red"}
COUNTS = 31
"""Columns of what is said of a running domain besides its name, gaps included."""
MINUTE = "min"


@dataclass(frozen=True, slots=True)
class FleetProgress:
    """How far a fleet is."""

    total: int
    """Domains, those that were done before included."""
    elapsed: float
    """Seconds since this run began."""
    earlier: int = 0
    """Domains that were done before this run."""
    done: Mapping[str, int] = field(default_factory=dict)
    """Domains that this run has brought to an end, by state, failed ones included."""
    running: int = 0
    waiting: int = 0
    urls: int = 0
    """URLs listed in this run, also by domains that still run."""
    sitemaps: int = 0
    """Files read, likewise."""
    urls_per_second: float | None = None
    domains_per_minute: float | None = None
    eta_s: float | None = None
    """Seconds that the rest takes; None where that cannot be said."""
    shown: tuple[Running, ...] = ()
    """Those of the running ones that are shown, in order: those that have run longest tell most."""

    @property
    def ended(self) -> int:
        """Domains of which nothing more is to come."""
        return self.earlier + sum(self.done.values())


def rows(progress: FleetProgress, width: int, unicode: bool = True) -> list[Row]:
    """The rows for a terminal of `width` columns, of which the last is left free; none is empty."""
    room = max(1, width - 1)
    found = [_first(progress, room, unicode), _read(progress), _done(progress), *_running(progress, width)]
    return [fitted(row, room) for row in found]


def line(progress: FleetProgress) -> str:
    """All in one line, as long as it takes."""
    earlier = f"{progress.earlier:,} of them earlier" if progress.earlier else ""
    parts = [
        _domains(progress) + in_brackets(progress.domains_per_minute, MINUTE),
        earlier,
        *(text for text, _ in _states(progress)),
        f"{progress.running:,} running",
        f"{progress.waiting:,} waiting" if progress.waiting else "",
        counted(progress.sitemaps, "sitemap"),
        counted(progress.urls, "URL") + in_brackets(progress.urls_per_second),
        left(progress.eta_s),
    ]
    return f"fleet: {', '.join(filter(None, parts))}"


def _first(progress: FleetProgress, room: int, unicode: bool) -> Row:
    """What is done, and how much of it."""
    row: Row = [("fleet".ljust(LABEL), FAINT), (_domains(progress), "bold")]
    row += apart(
        (left(progress.eta_s), "bold"),
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
    """How many run, and a row for each of some."""
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
    """(how many domains came to a state, its colour), of those there are."""
    return [
        (f"{progress.done[state]:,} {state}", colour) for state, colour in COLOURS.items() if progress.done.get(state)
    ]


logger = logging.getLogger("sitemapcrawler")

LOOK_S = 1.0
"""Seconds between two looks at what runs, on a terminal."""
SHOWN = 5
"""Domains that run which have a row: those that have run longest."""


class Showing:
    """Takes looks at a fleet, and shows what it sees."""

    def __init__(self, settings: BaseSettings) -> None:
        self._live = is_live(settings)
        interval = settings.getfloat("SITEMAP_PROGRESS_INTERVAL")
        told = (not self._live or logs_elsewhere()) and 0 < interval < math.inf
        self._interval = interval if told else math.inf
        self._pace = FleetPace()
        self._began = self._looked = self._told = time.monotonic()
        self._progress = FleetProgress(total=0, elapsed=0.0)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """While the fleet runs."""
        if not self._live:
            yield
            return
        from sitemapcrawler.terminal.display import Display  # rich takes its time, and is of no use to a pipe

        display = Display(sys.stderr, self._rows)
        display.start()
        try:
            yield
        finally:
            display.stop()

    def look(self, fleet: Fleet) -> None:
        """Look at the fleet, if it is time."""
        now = time.monotonic()
        due = self._live and now - self._looked >= LOOK_S
        tell = now - self._told >= self._interval
        if due or tell:
            self._looked = now
            self._progress = self._taken(fleet, fleet.look(), now)
        if tell:
            self._told = now
            logger.info("%s", line(self._progress))

    def _rows(self, width: int, unicode: bool) -> Sequence[Row]:
        return rows(self._progress, width, unicode)

    def _taken(self, fleet: Fleet, running: list[Running], now: float) -> FleetProgress:
        tally = fleet.tally
        done = {**tally.states, **({FAILED: len(tally.failed)} if tally.failed else {})}
        urls = tally.urls + sum(one.urls for one in running)
        self._pace.add(now, urls, sum(done.values()))
        left = tally.total - tally.earlier - sum(done.values())
        longest = sorted(running, key=lambda one: one.seconds, reverse=True)[:SHOWN]
        return FleetProgress(
            total=tally.total,
            elapsed=now - self._began,
            earlier=tally.earlier,
            done=done,
            running=len(fleet.running),
            waiting=left - len(fleet.running),
            urls=urls,
            sitemaps=tally.sitemaps + sum(one.sitemaps for one in running),
            urls_per_second=self._pace.urls_per_second,
            domains_per_minute=self._pace.domains_per_minute,
            eta_s=self._pace.seconds_left(left),
            shown=tuple(longest),
        )


def closing_line(fleet: Fleet, seconds: float) -> str:
    """What a fleet came to, in one line."""
    tally = fleet.tally
    states = [f"{count:,} {state}" for state, count in sorted(tally.states.items())]
    parts = [
        f"{tally.done:,} of {counted(tally.total, 'domain')} done",
        *([f"{tally.earlier:,} earlier"] if tally.earlier else []),
        *states,
        *([f"{len(tally.failed):,} without a result"] if tally.failed else []),
        counted(tally.urls, "URL"),
    ]
    return f"{', '.join(parts)} in {elapsed(seconds)}"
