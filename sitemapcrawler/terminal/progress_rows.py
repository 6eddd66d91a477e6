"""Rows that show the progress of a crawl or a fleet, as a terminal draws them (`terminal.live`) or as one log line."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sitemapcrawler.urls.display import CUT, duration, inert, shortened

SHORTEST_S = 0.5
"""Seconds to measure before a speed is shown."""
SLOWEST = 0.01
"""Lowest speed that is shown, per second or minute."""
WIDE = 120
"""Columns from which a terminal counts as wide."""
LINE_WIDTH = 80
"""Columns for which rows are made that become a log line."""
LABEL = 9
"""Minimum columns of the labels before the rows."""
GAP = "  "
"""Between the label and the cells of a row."""
LONGEST_NAME = 70
SHORTEST_NAME = 12
"""Maximum columns of a host's name, on a wide terminal and on a narrow one."""
FAINT = "bright_black"
Cell = tuple[str, str]
"""Text and its rich style."""


class ProgressRow(NamedTuple):
    """One row; empty cells are left out."""

    label: str
    """Empty for a row that continues the list of the one above."""
    cells: Sequence[Cell]
    share: float | None = None
    """Share that is done, from 0 to 1, which gets a bar; None for no bar."""


Tell = Callable[[int], Sequence[ProgressRow]]
"""Returns the rows for a terminal of so many columns."""


def line(rows: Sequence[ProgressRow]) -> str:
    """Rows as one line of any length."""
    return "; ".join(
        f"{label}: {words}" if label else words
        for label, cells, _ in rows
        for words in [", ".join(" ".join(text.split()) for text, _ in cells if text)]
    )


def save(path: Path, rows: Sequence[ProgressRow]) -> None:
    """Write rows to a file that another process may read meanwhile."""
    part = path.with_suffix(".part")
    with suppress(OSError):  # a full disk ends the crawl by itself
        part.write_text(json.dumps(rows), "utf-8")
        part.replace(path)


def load(path: Path) -> list[ProgressRow]:
    """Rows that `save` has written. Raises OSError if there are none yet."""
    return [ProgressRow(*row) for row in json.loads(path.read_text("utf-8"))]


class Pace:
    """Speeds of counters over the last seconds. Unlike the estimate of `rich.progress`, it falls while nothing happens,
    and counts the time before the first result."""

    def __init__(self, window: float) -> None:
        """`window`: seconds to measure over."""
        self._window = window
        self._moments: deque[tuple[float, Mapping[str, float]]] = deque()

    def add(self, at: float, counts: Mapping[str, float]) -> None:
        """Add the counts of a moment, by name, and drop those outside the window. `at`: monotonic time in seconds."""
        while len(self._moments) > 1 and at - self._moments[1][0] >= self._window:
            self._moments.popleft()
        self._moments.append((at, counts))

    def speed(self, name: str) -> float | None:
        """Speed of a counter per second, 0 for one that fell; None if it is too early to say."""
        if not self._moments:
            return None
        (start, first), (end, last) = self._moments[0], self._moments[-1]
        if end - start < SHORTEST_S or name not in first or name not in last:
            return None
        return max(0.0, last[name] - first[name]) / (end - start)

    def seconds_for(self, name: str, count: float) -> float | None:
        """Estimate the seconds for `count` more; None if nothing was counted lately."""
        if count <= 0:
            return 0.0
        speed = self.speed(name)
        return count / speed if speed else None


def per(speed: float | None, unit: str = "s") -> str:
    """Format a speed as `5,670/s` or `3.2/min`; empty if it is unknown or close to 0."""
    if speed is None or speed < SLOWEST:
        return ""
    return f"{speed:,.0f}/{unit}" if speed >= 10 else f"{speed:.2g}/{unit}"


def time_left(seconds: float | None) -> str:
    """Remaining time; empty if unknown."""
    return f"about {duration(seconds)} left" if seconds else ""


def clock(seconds: float) -> str:
    """Format seconds like a clock: `0:07`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def named(hosts: Sequence[str], width: int, others: int) -> list[str]:
    """Names of hosts, of equal length, that leave `others` columns free on a terminal of `width` columns."""
    room = min(LONGEST_NAME, max(SHORTEST_NAME, width - 1 - LABEL - len(GAP) - others))
    names = [shortened(inert(host), room, CUT) for host in hosts]
    return [name.ljust(max(map(len, names))) for name in names]
