"""How far a crawl is, in words: one line for a log, a few rows for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sitemapcrawler.findings import inert
from sitemapcrawler.gauge import Checks, Host, Progress

SEVERITIES = ("error", "warning", "info")
COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}
QUIET = ("judging the site", "writing feeds")
"""Phases in which nothing is asked for."""
GAP = "  "
LABEL = 9
"""Columns of what stands before a row."""
BAR = (8, 30)
"""Columns of a bar: fewer tell nothing, more tell no more."""
NAME = (40, 70)
"""Columns of a host's name at most, on a terminal of usual width and on a wide one."""
WIDE = 120
"""Columns from which on a terminal is wide."""
IN_LINE = 3
"""Hosts of a line in the log."""
MINUTE, HOUR, DAY = 60, 3600, 86400

Row = list[tuple[str, str]]
"""Parts of a row: (text, style of rich)."""


def line(progress: Progress) -> str:
    """One line, as long as it takes."""
    parts = [_counts(progress), _found(progress)]
    if progress.checks is not None:
        parts += [_checked(progress.checks) + _in_brackets(progress.checks.per_second), *_left(progress.checks)]
    if progress.phase not in QUIET:
        parts.append(f"{progress.in_flight} requests in flight" if progress.in_flight != 1 else "1 request in flight")
        parts += [f"{_name(host, NAME[1])} {_every(host)}" for host in progress.hosts[:IN_LINE]]
    return f"{progress.phase}: {', '.join(filter(None, parts))}"


def rows(progress: Progress, width: int, unicode: bool = True) -> list[Row]:
    """A few rows of `width` columns at most, the last column left free; none is empty."""
    room = max(1, width - 1)
    found = [_first(progress, room, unicode)]
    if progress.checks is not None:
        found.append(_checks_row(progress.checks, room, unicode))
    if progress.files is not None:
        found.append(_found_row(progress))
    if progress.phase not in QUIET:
        found += _host_rows(progress, width)
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


def elided(text: str, room: int) -> str:
    """A text of a stranger, with its middle left out where it is too long."""
    shown = inert(text)
    if len(shown) <= room:
        return shown
    tail = (room - 3) * 2 // 3
    return f"{shown[: room - 3 - tail]}...{shown[len(shown) - tail :]}"


def bar(share: float, columns: int, unicode: bool = True) -> Row:
    """A bar, filled to a share of 0 to 1."""
    full = round(min(max(share, 0.0), 1.0) * columns)
    done, rest = "━─" if unicode else "#-"
    return [(GAP + done * full, "green"), (rest * (columns - full), "bright_black")]


def duration(seconds: float) -> str:
    """A time as a person says it: `40 s`, `12 min`, `3 h 20 min`, `5 days`."""
    if seconds < MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < HOUR:
        return f"{round(seconds / MINUTE)} min"
    if seconds < 2 * DAY:
        hours, minutes = divmod(round(seconds / MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{hours} h"
    return f"{round(seconds / DAY):,} days"


def clock(seconds: float) -> str:
    """A time as a clock shows it: `0:07`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _first(progress: Progress, room: int, unicode: bool) -> Row:
    """What is done, and how much of it."""
    row: Row = [(progress.phase, "bold"), (GAP + _files(progress), ""), (f"{GAP}{_urls(progress)}", "")]
    row += [(GAP + speed, "cyan") for speed in _speed(progress.per_second)]
    row.append((GAP + clock(progress.elapsed), "bright_black"))
    if progress.share is not None and progress.checks is None and progress.phase not in QUIET:
        row += _filled(row, progress.share, room, unicode)
    return [part for part in row if part[0].strip()]


def _checks_row(checks: Checks, room: int, unicode: bool) -> Row:
    row: Row = [("checked".ljust(LABEL), "bright_black"), (_checked(checks, ""), "")]
    row += [(GAP + speed, "cyan") for speed in _speed(checks.per_second)]
    row += [(GAP + left, "bold") for left in _left(checks)]
    return row + (_filled(row, checks.done / checks.in_all, room, unicode) if checks.in_all else [])


def _filled(row: Row, share: float, room: int, unicode: bool) -> Row:
    """A bar in what is left of a row, where that is enough."""
    least, most = BAR
    left = room - sum(len(text) for text, _ in row) - len(GAP)
    return bar(share, min(left, most), unicode) if left >= least else []


def _found_row(progress: Progress) -> Row:
    row: Row = [("found".ljust(LABEL), "bright_black")]
    parts = _severities(progress)
    if not parts:
        return [*row, ("no problems so far", "")]
    return row + [((GAP if at else "") + text, COLOURS[name]) for at, (name, text) in enumerate(parts)]


def _host_rows(progress: Progress, width: int) -> list[Row]:
    label = "asking".ljust(LABEL)
    if not progress.hosts:
        return [[(label, "bright_black"), ("nobody at the moment", "bright_black")]]
    wide = width >= WIDE
    names = [_name(host, NAME[wide]) for host in progress.hosts]
    room = max(map(len, names))
    found = []
    for at, (name, host) in enumerate(zip(names, progress.hosts, strict=True)):
        row: Row = [("" if at else label, "bright_black"), (name.ljust(room), "")]
        row[0] = (row[0][0].ljust(LABEL), row[0][1])
        row.append((f"{GAP}{host.in_flight:>2} in flight{GAP}{host.waiting:>3} waiting", ""))
        row.append((f"{GAP}{_every(host):<12}", "yellow" if host.rests else "cyan"))
        if wide and host.url is not None:
            left = width - 1 - sum(len(text) for text, _ in row) - len(GAP)
            row.append((GAP + elided(host.url, left), "bright_black"))
        found.append(row)
    if progress.other_hosts:
        found.append([(f"{'':{LABEL}}and {progress.other_hosts:,} more hosts", "bright_black")])
    return found


def _counts(progress: Progress) -> str:
    counts = [_files(progress), _urls(progress)]
    return ", ".join(counts) + _in_brackets(progress.per_second)


def _files(progress: Progress) -> str:
    if progress.files is None:
        return _number(progress.answers, "answer")
    if not progress.known_files or progress.phase in QUIET:
        return _number(progress.files, "file")
    return f"{progress.files:,} of {_number(progress.known_files, 'file')}"


def _urls(progress: Progress) -> str:
    return _number(progress.urls, "item" if progress.files is None else "URL")


def _found(progress: Progress) -> str:
    if progress.files is None:
        return ""
    return ", ".join(text for _, text in _severities(progress)) or "no problems so far"


def _severities(progress: Progress) -> list[tuple[str, str]]:
    counts = [(name, progress.severities.get(name, 0)) for name in SEVERITIES]
    return [(name, f"{count:,} info" if name == "info" else _number(count, name)) for name, count in counts if count]


def _checked(checks: Checks, label: str = "checked ") -> str:
    if checks.in_all is None:
        return f"{label}{checks.done:,}"
    if checks.exact:
        return f"{label}{checks.done:,} of {checks.known:,}"
    return f"{label}{checks.done:,} of about {_rounded(checks.in_all):,}"


def _left(checks: Checks) -> Iterable[str]:
    if checks.seconds_left:
        yield f"about {duration(checks.seconds_left)} left"


def _speed(per_second: float | None) -> Sequence[str]:
    if not per_second or per_second < 0.01:
        return ()
    return (f"{per_second:,.0f}/s",) if per_second >= 10 else (f"{per_second:.2g}/s",)


def _in_brackets(per_second: float | None) -> str:
    return "".join(f" ({speed})" for speed in _speed(per_second))


def _every(host: Host) -> str:
    if host.rests:
        return f"rests {duration(host.rests)}"
    return f"every {host.delay:.2g} s" if host.delay else "no delay"


def _name(host: Host, room: int) -> str:
    return "files of this machine" if host.name == "file" else elided(host.name, room)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _rounded(number: float) -> int:
    """An estimate with two digits that count."""
    whole = round(number)
    return round(whole, 2 - len(str(whole)))
