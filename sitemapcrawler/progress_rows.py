"""How far a crawl is, as a few rows for a terminal."""

from __future__ import annotations

from sitemapcrawler.findings import inert
from sitemapcrawler.progress_facts import Checks, Host, Progress
from sitemapcrawler.progress_text import (
    LONGEST_NAME,
    NOTHING_FOUND,
    QUIET,
    checked,
    clock,
    files,
    left,
    name,
    pause,
    severities,
    speed,
    urls,
)
from sitemapcrawler.words import shortened

COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}
FAINT = "bright_black"
GAP = "  "
LABEL = 9
"""Columns of what stands before a row."""
BAR = (8, 30)
"""Columns of a bar: fewer tell nothing, more tell no more."""
COUNTS = 43
"""Columns of what is said of a host besides its name, gaps included."""
SHORTEST_NAME = 12
"""Columns that a name has on any terminal."""
WIDE = 120
"""Columns from which on a terminal is wide."""

Row = list[tuple[str, str]]
"""Parts of a row: (text, style of rich)."""


def rows(progress: Progress, width: int, unicode: bool = True) -> list[Row]:
    """The rows for a terminal of `width` columns, of which the last is left free; none is empty."""
    room = max(1, width - 1)
    found = [_first(progress, room, unicode)]
    if progress.checks is not None:
        found.append(_checks(progress.checks, room, unicode))
    if progress.files is not None:
        found.append(_problems(progress))
    if progress.phase not in QUIET:
        found += _asking(progress, width)
    return [fitted(row, room) for row in found]


def shown_hosts(width: int) -> int:
    """Hosts that have a row on a terminal so wide."""
    return 6 if width >= WIDE else 3


def fitted(row: Row, room: int) -> Row:
    """A row without the parts at its end for which there is no room. The first is cut."""
    kept: Row = []
    for text, style in row:
        if len(text) > room:
            break
        kept.append((text, style))
        room -= len(text)
    return kept or [(row[0][0][:room], row[0][1])]


def bar(share: float, columns: int, unicode: bool = True) -> Row:
    """A bar, filled to a share of 0 to 1."""
    full = round(min(max(share, 0.0), 1.0) * columns)
    done, rest = "━─" if unicode else "#-"
    return [(GAP + done * full, "green"), (rest * (columns - full), FAINT)]


def _first(progress: Progress, room: int, unicode: bool) -> Row:
    """What is done, and how much of it."""
    counts = [(files(progress), ""), (urls(progress), ""), (speed(progress.per_second), "cyan")]
    row = [(progress.phase, "bold"), *apart(*counts, (clock(progress.elapsed), FAINT))]
    if progress.share is None or progress.checks is not None or progress.phase in QUIET:
        return row
    return row + bar_in_rest(row, progress.share, room, unicode)


def _checks(checks: Checks, room: int, unicode: bool) -> Row:
    row: Row = [("checked".ljust(LABEL), FAINT), (checked(checks), "")]
    row += apart((speed(checks.per_second), "cyan"), (left(checks.seconds_left), "bold"))
    return row + (bar_in_rest(row, checks.done / checks.in_all, room, unicode) if checks.in_all else [])


def _problems(progress: Progress) -> Row:
    found = [(text, COLOURS[severity]) for severity, text in severities(progress)]
    (first, style), *others = found or [(NOTHING_FOUND, "")]
    return [("found".ljust(LABEL), FAINT), (first, style), *apart(*others)]


def _asking(progress: Progress, width: int) -> list[Row]:
    """A row for each host."""
    if not progress.hosts:
        return [[("asking".ljust(LABEL), FAINT), ("nobody at the moment", FAINT)]]
    room = min(LONGEST_NAME, max(SHORTEST_NAME, width - 1 - LABEL - COUNTS))
    names = [name(host, room) for host in progress.hosts]
    longest = max(map(len, names))
    labels = ["asking", *[""] * len(names)]
    found = [
        _host(label, shown.ljust(longest), host, width)
        for label, shown, host in zip(labels, names, progress.hosts, strict=False)
    ]
    if progress.other_hosts:
        found.append([(" " * LABEL, FAINT), (f"and {progress.other_hosts:,} more", FAINT)])
    return found


def _host(label: str, shown: str, host: Host, width: int) -> Row:
    row: Row = [(label.ljust(LABEL), FAINT), (shown, "")]
    row.append((f"{GAP}{host.in_flight:>2} in flight{GAP}{host.waiting:>3} waiting", ""))
    row.append((f"{GAP}{pause(host):<13}", "yellow" if host.rests else "cyan"))
    if width >= WIDE and host.url is not None:
        room = width - 1 - sum(len(text) for text, _ in row) - len(GAP)
        row.append((GAP + shortened(inert(host.url), room), FAINT))
    return row


def apart(*parts: tuple[str, str]) -> Row:
    """Parts that are not empty, each behind a gap."""
    return [(GAP + text, style) for text, style in parts if text]


def bar_in_rest(row: Row, share: float, room: int, unicode: bool) -> Row:
    """A bar in what is left of a row, where that is enough."""
    least, most = BAR
    free = room - sum(len(text) for text, _ in row) - len(GAP)
    return bar(share, min(free, most), unicode) if free >= least else []
