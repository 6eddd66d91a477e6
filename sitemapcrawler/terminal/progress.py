"""Progress of a crawl as a log line, or as a few rows for a terminal; its speed, and when it will end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from sitemapcrawler.items import Reach
from sitemapcrawler.replies import Reason, ReplyKind
from sitemapcrawler.rules.reach import places
from sitemapcrawler.urls.display import counted, duration, inert, shortened

SHORTEST_S = 0.5
"""Seconds to measure before a speed is shown."""


@dataclass(frozen=True, slots=True)
class Snapshot:
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
        self._moments: deque[Snapshot] = deque()

    def add(self, now: Snapshot) -> None:
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


QUIET = ("judging the site", "writing feeds")
"""Phases without requests."""
NOTHING_FOUND = "no problems so far"
IN_LINE = 3
"""Maximum hosts in a log line."""
LONGEST_NAME = 70
"""Maximum characters of a host's name."""
LONGEST_WAIT = 30
"""Maximum characters of the name of a host that keeps the crawl waiting."""
SLOWEST = 0.01
"""Lowest speed that is shown, per second or minute."""
FAINT = "bright_black"
COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}
REPLY_COLOURS: dict[str, str] = {
    ReplyKind.OK: "green",
    ReplyKind.REDIRECTED: "yellow",
    **dict.fromkeys(Reason, FAINT),
}
"""Colours of replies; failures are red."""
GAP = "  "
LABEL = 9
"""Columns of the label before a row."""
BAR = (8, 30)
"""Minimum and maximum columns of a bar."""
COUNTS = 43
"""Columns of a host's row after its name, gaps included."""
SHORTEST_NAME = 12
"""Minimum columns of a host's name on a narrow terminal."""
WIDE = 120
"""Columns from which a terminal counts as wide."""
Row = list[tuple[str, str]]
"""Parts of a row: (text, rich style)."""


@dataclass(frozen=True, slots=True)
class HostProgress:
    """Requests to one host: a download slot of Scrapy."""

    name: str
    in_flight: int
    """Requests sent but not answered."""
    waiting: int
    """Queued requests."""
    delay: float
    """Seconds between two requests."""
    rests: float = 0.0
    """Seconds until the next request after an overload."""
    url: str | None = None
    """One of the URLs in flight."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A host that keeps the crawl waiting: no other one has a request in flight."""

    name: str
    pages: int
    """Requests in flight and queued."""
    timeout: float | None
    """Seconds until the first of them times out; None without a limit."""


@dataclass(frozen=True, slots=True)
class Checks:
    """Progress of verification."""

    done: int
    known: int
    """URLs checked and to be checked, as far as known."""
    in_all: float | None
    """The same once all files are read: `known` if they are, else an estimate; None if unknown."""
    per_second: float | None = None
    seconds_left: float | None = None
    replies: Mapping[str, int] = field(default_factory=dict)
    """URLs checked by kind of reply, unchecked ones by reason, as in the summary."""

    @property
    def exact(self) -> bool:
        """True if the number of URLs to check is known."""
        return self.in_all == self.known


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a crawl."""

    phase: str
    """discovering, reading, verifying, judging the site, writing feeds or stopping; crawling for other spiders."""
    elapsed: float
    """Seconds."""
    urls: int
    """URLs listed so far; items for other spiders."""
    per_second: float | None = None
    files: int | None = None
    """Files that were read; None for other spiders."""
    known_files: int = 0
    """Files requested or queued; 0 if not applicable."""
    share: float | None = None
    """Share of these files that was read, partial files included, from 0 to 1; None if no file is known."""
    answers: int = 0
    """Responses received."""
    found: Mapping[str, Reach] = field(default_factory=dict)
    """What findings concern so far, by severity, the worst first."""
    in_flight: int = 0
    waiting: int = 0
    hosts: tuple[HostProgress, ...] = ()
    """Busiest hosts, by name."""
    other_hosts: int = 0
    wait: Wait | None = None
    checks: Checks | None = None
    """None if nothing is verified."""


def line(progress: Progress) -> str:
    """Format everything as one line of any length."""
    parts = [files(progress), urls(progress) + in_brackets(progress.per_second)]
    if progress.files is not None:
        parts += places(progress.found).values() or [NOTHING_FOUND]
    if progress.checks is not None:
        parts += [
            f"checked {checked(progress.checks)}{in_brackets(progress.checks.per_second)}",
            *(text for _, text in replies(progress.checks)),
            time_left(progress.checks.seconds_left),
        ]
    if progress.phase not in QUIET:
        parts.append(f"{counted(progress.in_flight, 'request')} in flight")
        parts += [f"{name(host)} {pause(host)}" for host in progress.hosts[:IN_LINE]]
        parts += [f"waiting {waiting(progress.wait)}"] if progress.wait is not None else []
    return f"{progress.phase}: {', '.join(filter(None, parts))}"


def files(progress: Progress) -> str:
    """Files read of those known, empty before any is known; for other spiders, the responses."""
    if progress.files is None:
        return counted(progress.answers, "answer")
    if not progress.files and not progress.known_files:
        return ""
    if not progress.known_files or progress.phase in QUIET:
        return counted(progress.files, "file")
    return f"{progress.files:,} of {counted(progress.known_files, 'file')}"


def urls(progress: Progress) -> str:
    """URLs listed, empty before any file is known; for other spiders, the items."""
    if not progress.urls and progress.files == progress.known_files == 0:
        return ""
    return counted(progress.urls, "item" if progress.files is None else "URL")


def checked(checks: Checks) -> str:
    """URLs checked, and of how many, as far as known."""
    if checks.in_all is None:
        return f"{checks.done:,}"
    if checks.exact:
        return f"{checks.done:,} of {checks.known:,}"
    return f"{checks.done:,} of about {rounded(checks.in_all):,}"


def replies(checks: Checks) -> list[tuple[str, str]]:
    """Return (kind, number of replies in words) for each kind of reply so far, `ok` first, then the most frequent."""
    counts = sorted(checks.replies.items(), key=lambda item: (item[0] != ReplyKind.OK, -item[1], item[0]))
    return [(kind, f"{count:,} {kind}") for kind, count in counts]


def time_left(seconds: float | None) -> str:
    """Remaining time; empty if unknown."""
    return f"about {duration(seconds)} left" if seconds else ""


def speed(number: float | None, unit: str = "s") -> str:
    """Format a speed as `5,670/s` or `3.2/min`; empty if it is unknown or close to 0."""
    if number is None or number < SLOWEST:
        return ""
    return f"{number:,.0f}/{unit}" if number >= 10 else f"{number:.2g}/{unit}"


def pause(host: HostProgress) -> str:
    """Delay between two requests to a host, or its current rest."""
    if host.rests:
        return f"rests {duration(host.rests)}"
    return f"every {host.delay:.2g} s" if host.delay else "no delay"


def waiting(wait: Wait) -> str:
    """For which host the crawl waits, for how many pages, and how long at most."""
    limit = "" if wait.timeout is None else f", timeout in {wait.timeout:.0f} s"
    return f"for {shortened(inert(wait.name), LONGEST_WAIT)}, {counted(wait.pages, 'page')}{limit}"


def name(host: HostProgress, room: int = LONGEST_NAME) -> str:
    """Name of a host, shortened to `room` characters."""
    return shortened(inert("files of this machine" if host.name == "file" else host.name), room)


def clock(seconds: float) -> str:
    """Format seconds like a clock: `0:07`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def rounded(estimate: float) -> int:
    """Round an estimate to two digits."""
    whole = round(estimate)
    return round(whole, 2 - len(str(whole)))


def in_brackets(number: float | None, unit: str = "s") -> str:
    """Format a speed in brackets, to follow its quantity."""
    shown = speed(number, unit)
    return f" ({shown})" if shown else ""


def rows(progress: Progress, width: int, unicode: bool = True) -> list[Row]:
    """Rows for a terminal of `width` columns, the last of which stays free; no row is empty."""
    room = max(1, width - 1)
    found = [_first(progress, room, unicode)]
    if progress.checks is not None:
        found.append(_checks(progress.checks, room, unicode))
        if progress.checks.replies:
            found.append(_replies(progress.checks))
    if progress.files is not None:
        found.append(_problems(progress))
    if progress.phase not in QUIET:
        found += _asking(progress, width)
        if progress.wait is not None:
            found.append([("waiting".ljust(LABEL), FAINT), (waiting(progress.wait), "yellow")])
    return [fitted(row, room) for row in found]


def max_hosts(width: int) -> int:
    """Maximum hosts shown on a terminal of this width."""
    return 6 if width >= WIDE else 3


def fitted(row: Row, room: int) -> Row:
    """Drop the parts at the end of a row that do not fit. The first part is cut."""
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
    """Phase, counts, speed and elapsed time; with a bar if nothing is verified."""
    counts = [(files(progress), ""), (urls(progress), ""), (speed(progress.per_second), "cyan")]
    row = [(progress.phase, "bold"), *apart(*counts, (clock(progress.elapsed), FAINT))]
    if progress.share is None or progress.checks is not None or progress.phase in QUIET:
        return row
    return row + bar_in_rest(row, progress.share, room, unicode)


def _checks(checks: Checks, room: int, unicode: bool) -> Row:
    row: Row = [("checked".ljust(LABEL), FAINT), (checked(checks), "")]
    row += apart((speed(checks.per_second), "cyan"), (time_left(checks.seconds_left), "bold"))
    return row + (bar_in_rest(row, checks.done / checks.in_all, room, unicode) if checks.in_all else [])


def _replies(checks: Checks) -> Row:
    (first, style), *others = [(text, REPLY_COLOURS.get(kind, "red")) for kind, text in replies(checks)]
    return [("replies".ljust(LABEL), FAINT), (first, style), *apart(*others)]


def _problems(progress: Progress) -> Row:
    found = [(text, COLOURS[severity]) for severity, text in places(progress.found).items()]
    (first, style), *others = found or [(NOTHING_FOUND, "")]
    return [("found".ljust(LABEL), FAINT), (first, style), *apart(*others)]


def _asking(progress: Progress, width: int) -> list[Row]:
    """One row per host."""
    if not progress.hosts:
        return [[("asking".ljust(LABEL), FAINT), ("no host at the moment", FAINT)]]
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


def _host(label: str, shown: str, host: HostProgress, width: int) -> Row:
    row: Row = [(label.ljust(LABEL), FAINT), (shown, "")]
    row.append((f"{GAP}{host.in_flight:>2} in flight{GAP}{host.waiting:>3} waiting", ""))
    row.append((f"{GAP}{pause(host):<13}", "yellow" if host.rests else "cyan"))
    if width >= WIDE and host.url is not None:
        room = width - 1 - sum(len(text) for text, _ in row) - len(GAP)
        row.append((GAP + shortened(inert(host.url), room), FAINT))
    return row


def apart(*parts: tuple[str, str]) -> Row:
    """Non-empty parts, each preceded by a gap."""
    return [(GAP + text, style) for text, style in parts if text]


def bar_in_rest(row: Row, share: float, room: int, unicode: bool) -> Row:
    """Bar in the rest of a row; empty if there is not enough room."""
    least, most = BAR
    free = room - sum(len(text) for text, _ in row) - len(GAP)
    return bar(share, min(free, most), unicode) if free >= least else []
