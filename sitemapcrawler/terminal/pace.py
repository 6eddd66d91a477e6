"""Speeds of a running crawl over its last seconds, and what they promise."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

SHORTEST_S = 0.5
"""Seconds to measure before a speed is shown."""


@dataclass(frozen=True, slots=True)
class Moment:
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
        self._moments: deque[Moment] = deque()

    def add(self, now: Moment) -> None:
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
