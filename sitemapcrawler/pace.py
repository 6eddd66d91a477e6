"""How fast a crawl goes, and how long the rest of its verifying takes at that speed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

SHORTEST_S = 0.5
"""Seconds that must have passed before anything is said of speed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Counts at one moment of a crawl."""

    at: float
    """Seconds of the monotonic clock."""
    urls: int
    """URLs that came out of all pipelines; items of other spiders."""
    checked: Mapping[str, int] = field(default_factory=dict)
    """URLs that were verified, by host; not all hosts need be there."""
    checked_in_all: int = 0


class Pace:
    """Speeds over the last seconds of a crawl."""

    def __init__(self, window: float) -> None:
        """`window`: seconds over which they are taken."""
        self._window = window
        self._moments: deque[Moment] = deque()

    def add(self, now: Moment) -> None:
        """Know the counts of a moment, and forget those of long ago."""
        while len(self._moments) > 1 and now.at - self._moments[1].at >= self._window:
            self._moments.popleft()
        self._moments.append(now)

    @property
    def urls(self) -> float | None:
        """URLs per second; None where it is too early to say."""
        if (seconds := self._seconds) is None:
            return None
        return (self._moments[-1].urls - self._moments[0].urls) / seconds

    @property
    def checked(self) -> float | None:
        """Checked URLs per second; None where it is too early to say."""
        if (seconds := self._seconds) is None:
            return None
        return (self._moments[-1].checked_in_all - self._moments[0].checked_in_all) / seconds

    def seconds_for(self, host: str, count: int) -> float | None:
        """How long checking so many more URLs of a host takes; None where that cannot be said."""
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
    """How many URLs a crawl will come to, from those `listed` so far; None where nothing tells yet.

    `begun`: files of URLs that were read, with the read parts of others. `files`: all that are known. They are taken to
    be alike, on average.
    """
    if begun >= files:
        return float(listed)
    return listed / begun * files if begun > 0 and listed else None


def seconds_left(pace: Pace, rest: float, by_host: Mapping[str, int]) -> float | None:
    """How long it takes to check `rest` more URLs: what all hosts need together, or the slowest alone. None where
    nothing was checked lately. `by_host`: the URLs that wait at some of the hosts."""
    if rest <= 0:
        return 0.0
    speed = pace.checked
    if not speed:
        return None
    alone = (pace.seconds_for(host, count) for host, count in by_host.items())
    return max([rest / speed, *(seconds for seconds in alone if seconds is not None)])
