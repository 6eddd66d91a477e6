"""Numbers, sizes, durations and long texts in words."""

from __future__ import annotations

import pytest

from sitemapcrawler.rules.registry import SEVERITIES, findings
from sitemapcrawler.words import counted, duration, elapsed, shortened, size


def test_nouns_follow_their_number() -> None:
    assert [counted(number, "file") for number in (0, 1, 1234)] == ["0 files", "1 file", "1,234 files"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
    assert [findings(2, severity) for severity in SEVERITIES] == ["2 errors", "2 warnings", "2 info"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (25_340, "25.3 kB"),
        (99_960, "100 kB"),
        (999_499, "999 kB"),
        (999_949, "1.0 MB"),
        (52_428_800, "52.4 MB"),
        (520_000_000, "520 MB"),
        (5_000_000_000_000_000, "5,000 TB"),
    ],
)
def test_size(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (59.7, "1 min"),
        (3599, "1 h"),
        (3600, "1 h"),
        (12_000, "3 h 20 min"),
        (54_000, "15 h"),
        (200_000, "2 days"),
        (9e8, "10,417 days"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4.23, "4.2 s"), (59.99, "1 min 0 s"), (200, "3 min 20 s"), (3599.9, "1 h"), (3700, "1 h 2 min")],
)
def test_elapsed(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


def test_shortened_text_keeps_more_of_its_end_within_the_width() -> None:
    assert shortened("a.very.long.name.of.a.host.example", 20) == "a.ver...host.example"
    assert [shortened("abcdefgh", width) for width in (0, 2, 3, 5, 8)] == ["", "..", "...", "...gh", "abcdefgh"]
    assert [shortened("abcdefgh", width, "\u2026") for width in (0, 1, 4)] == ["", "\u2026", "a\u2026gh"]
