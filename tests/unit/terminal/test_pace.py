"""Speed, and the time that is left."""

from __future__ import annotations

import pytest

from sitemapcrawler.terminal.progress import SHORTEST_S, Pace, Snapshot, expected, seconds_left


def pace(*moments: tuple[float, int], window: float = 10.0) -> Pace:
    """A pace that knows (second, URLs), as many of which were checked at host `a`."""
    known = Pace(window)
    for at, count in moments:
        known.add(Snapshot(at, count, {"a": count}, count))
    return known


@pytest.mark.parametrize(
    ("moments", "speed"),
    [
        ([], None),
        ([(0, 0)], None),
        ([(0, 0), (SHORTEST_S / 2, 50)], None),
        ([(0, 0), (2, 50)], 25),
        ([(0, 0), (5, 0)], 0),
        ([(0, 0), (5, 1000), (10, 1000), (15, 1000)], 0),
        ([(0, 1_000_000), (4, 1_000_020)], 5),
    ],
)
def test_speed_of_the_last_seconds(moments: list[tuple[float, int]], speed: float | None) -> None:
    assert pace(*moments).urls == pace(*moments).checked == speed


@pytest.mark.parametrize(
    ("listed", "begun", "files", "urls"),
    [
        (500, 2, 2, 500),
        (0, 0, 0, 0),
        (0, 0, 3, None),
        (0, 1, 3, None),
        (500, 2, 10, 2500),
        (1000, 0.02, 1, 50_000),
        (500, 11, 10, 500),
    ],
)
def test_urls_that_a_crawl_will_come_to(listed: int, begun: float, files: int, urls: float | None) -> None:
    assert expected(listed, begun, files) == urls


def test_rest_takes_as_long_as_the_part_before() -> None:
    assert seconds_left(pace((0, 0), (10, 50)), 100, {}) == 20
    assert seconds_left(pace((0, 0), (10, 50)), 0, {}) == 0


def test_nothing_is_said_where_nothing_was_checked_lately() -> None:
    assert seconds_left(pace((0, 0)), 100, {}) is None
    assert seconds_left(pace((0, 7), (10, 7)), 100, {"a": 100}) is None


def test_slowest_host_decides() -> None:
    known = Pace(10)
    known.add(Snapshot(0, 0, {"slow": 0, "quick": 0}, 0))
    known.add(Snapshot(10, 100, {"slow": 1, "quick": 99}, 100))
    assert seconds_left(known, 50, {"slow": 30, "quick": 20}) == 300
    assert seconds_left(known, 50, {"new": 50}) == 5
