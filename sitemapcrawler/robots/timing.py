"""When and how fast a group may be crawled, read by protego: no standard says what these records mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from protego import Protego, RequestRate, VisitTime

_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Timing:
    """What a robots.txt asks of one crawler."""

    crawl_delay: float | None = None
    """Seconds between two requests."""
    request_rate: RequestRate | None = None
    """Requests per seconds, and the time of day for which that holds."""
    visit_time: VisitTime | None = None
    """Time of day, UTC, in which to come."""
    lines: tuple[int, ...] = ()
    """The lines of robots.txt that ask it, unreadable ones included."""

    @property
    def interval(self) -> float:
        """Seconds between two requests by the stricter of delay and rate; the hours of a rate are not looked at."""
        rate = self.request_rate
        return max(self.crawl_delay or 0.0, rate.seconds / rate.requests if rate and rate.requests else 0.0)


def timing(records: Iterable[tuple[str, str, int]]) -> Timing:
    """Read the records of a group: field, value, line. Of two readable ones of a kind the last one holds."""
    known = list(records)
    if not known:
        return Timing()
    # Only these records, under a name of ours: groups and names are not protego's to decide.
    text = "\n".join([f"User-agent: {_AGENT}", *(f"{name}: {value}" for name, value, _ in known)])
    robots = Protego.parse(text)
    return Timing(
        robots.crawl_delay(_AGENT),
        robots.request_rate(_AGENT),
        robots.visit_time(_AGENT),
        tuple(line for _, _, line in known),
    )
