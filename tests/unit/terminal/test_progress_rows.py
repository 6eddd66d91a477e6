"""Rows in words, and speeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemapcrawler.terminal.progress_rows import SHORTEST_S, Pace, ProgressRow, clock, line, load, named, per, save

HOSTILE = "\x1b]8;;http://evil\x07[bold]\u202e" + "sub." * 40 + "example"


def pace(*moments: tuple[float, int], window: float = 10.0) -> Pace:
    """A pace that knows (second, URLs)."""
    known = Pace(window)
    for at, count in moments:
        known.add(at, {"urls": count})
    return known


@pytest.mark.parametrize(
    ("moments", "speed"),
    [
        ([], None),
        ([(0, 0)], None),
        ([(0, 0), (SHORTEST_S / 2, 50)], None),
        ([(0, 0), (2, 50)], 25),
        ([(0, 0), (5, 0)], 0),
        ([(0, 9000), (5, 100)], 0),
        ([(0, 0), (5, 1000), (10, 1000), (15, 1000)], 0),
        ([(0, 1_000_000), (4, 1_000_020)], 5),
    ],
)
def test_speed_of_the_last_seconds(moments: list[tuple[float, int]], speed: float | None) -> None:
    assert pace(*moments).speed("urls") == speed
    assert pace(*moments).speed("other") is None


def test_rest_takes_as_long_as_the_part_before() -> None:
    assert pace((0, 0), (10, 50)).seconds_for("urls", 100) == 20
    assert pace((0, 0)).seconds_for("urls", 0) == 0


def test_nothing_is_said_where_nothing_was_counted_lately() -> None:
    assert pace((0, 0)).seconds_for("urls", 100) is None
    assert pace((0, 7), (10, 7)).seconds_for("urls", 100) is None


def test_counter_that_was_not_there_before_has_no_speed() -> None:
    known = pace((0, 0))
    known.add(10, {"urls": 5, "new": 5})
    assert (known.speed("urls"), known.speed("new")) == (0.5, None)


def test_line_names_every_cell_once_and_leaves_out_empty_ones() -> None:
    rows = [
        ProgressRow("reading", [("12 of 80 files", "bold"), ("", ""), ("1:02", "")], 0.15),
        ProgressRow("asking", [("www.example   ", ""), (" 2 in flight", ""), ("every 0.5 s  ", "cyan")]),
        ProgressRow("", [("and 3 more", "")]),
    ]
    assert line(rows) == "reading: 12 of 80 files, 1:02; asking: www.example, 2 in flight, every 0.5 s; and 3 more"


def test_rows_of_another_process(tmp_path: Path) -> None:
    rows = [ProgressRow("reading", [("12 of 80 files", "bold")], 0.15), ProgressRow("", [(HOSTILE, "")])]
    save(tmp_path / "rows", rows)
    assert [[*map(tuple, row.cells)] for row in load(tmp_path / "rows")] == [[*row.cells] for row in rows]
    assert [(row.label, row.share) for row in load(tmp_path / "rows")] == [("reading", 0.15), ("", None)]
    save(tmp_path / "no such folder" / "rows", rows)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_clock() -> None:
    assert [clock(seconds) for seconds in (0, 7.9, 62, 3723)] == ["0:00", "0:07", "1:02", "1:02:03"]


def test_speed_in_words() -> None:
    assert [per(one) for one in (None, 0.0, 0.004, 0.25, 3.21, 9.99, 12.6, 5670.4)] == [
        *("", "", "", "0.25/s", "3.2/s", "10/s", "13/s", "5,670/s")
    ]
    assert per(32.4, "min") == "32/min"


@pytest.mark.parametrize("width", [1, 40, 80, 500])
def test_names_are_inert_and_of_one_length(width: int) -> None:
    names = named([HOSTILE, "e.com"], width, 43)
    assert len({len(name) for name in names}) == 1
    assert len(names[0]) == {1: 12, 40: 12, 80: 25, 500: 70}[width]
    assert all(name.isprintable() and name.isascii() for name in names)
    assert names[0].endswith("xample")
