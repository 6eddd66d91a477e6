"""The speed of a fleet, and the time that is left."""

from __future__ import annotations

import pytest

from sitemapcrawler.fleet.showing import FleetPace


def pace(*moments: tuple[float, int, int]) -> FleetPace:
    """A pace that knows (second, URLs, domains)."""
    known = FleetPace(urls_s=10.0, domains_s=100.0)
    for moment in moments:
        known.add(*moment)
    return known


def test_urls_of_the_last_seconds_and_domains_of_the_last_minutes() -> None:
    known = pace((0, 0, 0), (50, 10_000, 10), (90, 30_000, 10), (100, 31_000, 20))
    assert known.urls_per_second == 100
    assert known.domains_per_minute == pytest.approx(12)
    assert known.seconds_left(30) == pytest.approx(150)


def test_nothing_is_said_too_early_or_where_no_domain_ended_lately() -> None:
    assert pace().urls_per_second is pace((0, 0, 0)).domains_per_minute is None
    known = pace((0, 0, 5), (50, 700, 5))
    assert (known.domains_per_minute, known.seconds_left(9)) == (0, None)


def test_nothing_is_left_of_nothing() -> None:
    assert pace((0, 0, 0), (5, 1, 1)).seconds_left(0) == 0


def test_domain_that_is_begun_again_takes_no_speed_below_nothing() -> None:
    assert pace((0, 9000, 0), (5, 100, 0)).urls_per_second == 0
