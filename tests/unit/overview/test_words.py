from __future__ import annotations

import pytest

from sitemapcrawler.overview import words

SITEMAP = "https://e.com/maps/index.xml"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (9_999, "9,999 bytes"),
        (10_000, "10.0 kB"),
        (999_949, "999.9 kB"),
        (1_200_000, "1.2 MB"),
        (50_000_000_000, "50.0 GB"),
        (5_000_000_000_000, "5,000.0 GB"),
    ],
)
def test_sizes_as_people_read_them(number: int, text: str) -> None:
    assert words.size(number) == text


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://e.com/maps/a.xml?x=1", "/maps/a.xml?x=1"),
        ("https://e.com", "/"),
        ("http://e.com/a.xml", "http://e.com/a.xml"),
        ("https://cdn.example/a.xml", "https://cdn.example/a.xml"),
        ("https://e.com/\x1b[31m\u202e", "/\\x1b[31m\\u202e"),
        ("undefined/a.xml", "undefined/a.xml"),
    ],
)
def test_place_leaves_out_what_the_parent_says(url: str, text: str) -> None:
    assert words.place(url, SITEMAP) == text


def test_moments_leave_out_midnight_and_seconds() -> None:
    assert words.moment("2024-05-01T00:00:00Z") == "2024-05-01"
    assert words.moment("2024-05-01T10:20:30Z") == "2024-05-01 10:20"
    assert words.day(None) == ""


@pytest.mark.parametrize("width", range(12))
def test_shortened_text_keeps_its_ends_within_the_width(width: int) -> None:
    text = words.shortened("abcdefghijkl", width, "…")
    assert len(text) <= max(width, 1)
    assert width < 3 or (text.endswith("l") and "…" in text)
