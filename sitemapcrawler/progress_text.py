"""How far a crawl is, in words."""

from __future__ import annotations

from sitemapcrawler.findings import inert
from sitemapcrawler.progress_facts import Checks, Host, Progress
from sitemapcrawler.words import SEVERITIES, counted, duration, findings, shortened

QUIET = ("judging the site", "writing feeds")
"""Phases in which nothing is asked for."""
NOTHING_FOUND = "no problems so far"
IN_LINE = 3
"""Hosts of a line in the log."""
LONGEST_NAME = 70
"""Characters of a host's name."""
SLOWEST = 0.01
"""In each second or minute; what is slower stands still."""


def line(progress: Progress) -> str:
    """All in one line, as long as it takes."""
    parts = [files(progress), urls(progress) + in_brackets(progress.per_second)]
    if progress.files is not None:
        parts += [text for _, text in severities(progress)] or [NOTHING_FOUND]
    if progress.checks is not None:
        parts += [
            f"checked {checked(progress.checks)}{in_brackets(progress.checks.per_second)}",
            left(progress.checks.seconds_left),
        ]
    if progress.phase not in QUIET:
        parts.append(f"{counted(progress.in_flight, 'request')} in flight")
        parts += [f"{name(host)} {pause(host)}" for host in progress.hosts[:IN_LINE]]
    return f"{progress.phase}: {', '.join(filter(None, parts))}"


def files(progress: Progress) -> str:
    """How many files were read of those known, empty before there are any; of other spiders, how many answers came."""
    if progress.files is None:
        return counted(progress.answers, "answer")
    if not progress.files and not progress.known_files:
        return ""
    if not progress.known_files or progress.phase in QUIET:
        return counted(progress.files, "file")
    return f"{progress.files:,} of {counted(progress.known_files, 'file')}"


def urls(progress: Progress) -> str:
    """How many URLs were listed, empty before any file is known; of other spiders, how many items came."""
    if not progress.urls and progress.files == progress.known_files == 0:
        return ""
    return counted(progress.urls, "item" if progress.files is None else "URL")


def severities(progress: Progress) -> list[tuple[str, str]]:
    """(severity, how many findings) of those there are, the worst first."""
    counts = ((severity, progress.severities.get(severity, 0)) for severity in SEVERITIES)
    return [(one, findings(count, one)) for one, count in counts if count]


def checked(checks: Checks) -> str:
    """How many URLs were checked, and of how many, as far as that is known."""
    if checks.in_all is None:
        return f"{checks.done:,}"
    if checks.exact:
        return f"{checks.done:,} of {checks.known:,}"
    return f"{checks.done:,} of about {rounded(checks.in_all):,}"


def left(seconds: float | None) -> str:
    """How long it still takes; empty where nothing can be said."""
    return f"about {duration(seconds)} left" if seconds else ""


def speed(number: float | None, unit: str = "s") -> str:
    """`5,670/s`, `3.2/min`; empty where nothing moves or it is too early to say."""
    if number is None or number < SLOWEST:
        return ""
    return f"{number:,.0f}/{unit}" if number >= 10 else f"{number:.2g}/{unit}"


def pause(host: Host) -> str:
    """How long a host is left alone between two requests, or now."""
    if host.rests:
        return f"rests {duration(host.rests)}"
    return f"every {host.delay:.2g} s" if host.delay else "no delay"


def name(host: Host, room: int = LONGEST_NAME) -> str:
    """What a host is called, in so many characters."""
    return shortened(inert("files of this machine" if host.name == "file" else host.name), room)


def clock(seconds: float) -> str:
    """A time as a clock shows it: `0:07`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def rounded(estimate: float) -> int:
    """An estimate with the two digits that count."""
    whole = round(estimate)
    return round(whole, 2 - len(str(whole)))


def in_brackets(number: float | None, unit: str = "s") -> str:
    """A speed behind what it is the speed of."""
    shown = speed(number, unit)
    return f" ({shown})" if shown else ""
