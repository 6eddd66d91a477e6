"""How fast a fleet goes, and how long the rest of it takes at that speed."""

from __future__ import annotations

from sitemapcrawler.pace import Moment, Pace, seconds_left

URLS_S = 30.0
"""Seconds over which the speed of URLs is taken."""
DOMAINS_S = 600.0
"""Seconds over which that of domains is: they end in bursts, and a single one may take minutes."""
MINUTE = 60


class FleetPace:
    """Speeds over the last minutes of a fleet."""

    def __init__(self, urls_s: float = URLS_S, domains_s: float = DOMAINS_S) -> None:
        """The seconds over which the speeds of URLs and of domains are taken."""
        self._urls = Pace(urls_s)
        self._domains = Pace(domains_s)

    def add(self, at: float, urls: int, domains: int) -> None:
        """Know how many there are at a moment of the monotonic clock, in seconds. `domains`: those that came to an end
        in this run, whatever came of them."""
        self._urls.add(Moment(at, urls))
        self._domains.add(Moment(at, 0, checked_in_all=domains))

    @property
    def urls_per_second(self) -> float | None:
        """None where it is too early to say. A domain that is begun again takes back what it had."""
        speed = self._urls.urls
        return None if speed is None else max(0.0, speed)

    @property
    def domains_per_minute(self) -> float | None:
        """None where it is too early to say."""
        speed = self._domains.checked
        return None if speed is None else speed * MINUTE

    def seconds_left(self, domains: int) -> float | None:
        """How long so many more domains take; None where none came to an end lately."""
        return seconds_left(self._domains, domains, {})
