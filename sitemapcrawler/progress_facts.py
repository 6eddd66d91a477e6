"""What is told of a crawl while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Host:
    """A host that is being asked: a download slot of Scrapy."""

    name: str
    in_flight: int
    """Requests that were sent and are not answered."""
    waiting: int
    """Requests that wait for their turn."""
    delay: float
    """Seconds between two requests."""
    rests: float = 0.0
    """Seconds for which it is asked nothing, since it had too much."""
    url: str | None = None
    """One of those it is asked for."""


@dataclass(frozen=True, slots=True)
class Checks:
    """How far the verifying of URLs is."""

    done: int
    known: int
    """URLs that were checked or are to be, as far as is known."""
    in_all: float | None
    """The same when all files are read: `known` where they are, else an estimate; None where nothing tells yet."""
    per_second: float | None = None
    seconds_left: float | None = None

    @property
    def exact(self) -> bool:
        """True where it is known how many there are to check."""
        return self.in_all == self.known


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a crawl is."""

    phase: str
    """discovering, reading, verifying, judging the site, writing feeds or stopping; crawling for other spiders."""
    elapsed: float
    """Seconds."""
    urls: int
    """URLs that were listed so far; items of other spiders."""
    per_second: float | None = None
    files: int | None = None
    """Files that were read; None for other spiders."""
    known_files: int = 0
    """Files that were asked for or wait for it; 0 where that means nothing."""
    share: float | None = None
    """What of these files was read, parts of files too, from 0 to 1; None where none is known."""
    answers: int = 0
    """Answers to requests."""
    severities: Mapping[str, int] = field(default_factory=dict)
    """Findings by severity."""
    in_flight: int = 0
    waiting: int = 0
    hosts: tuple[Host, ...] = ()
    """The busiest, by name."""
    other_hosts: int = 0
    checks: Checks | None = None
    """None where nothing is verified."""
