"""How far a fleet is, as rows for a terminal and as one line for a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitemapcrawler.findings import inert
from sitemapcrawler.fleet.control import Running
from sitemapcrawler.fleet.records import FAILED, FINISHED, PARTIAL, UNREAD
from sitemapcrawler.progress_rows import FAINT, GAP, LABEL, SHORTEST_NAME, Row, apart, bar_in_rest, fitted
from sitemapcrawler.progress_text import LONGEST_NAME, clock, in_brackets, left, speed
from sitemapcrawler.words import counted, shortened

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
