from __future__ import annotations

import pytest

from sitemapcrawler.terminal.inspect import labels as words

SITEMAP = "https://e.com/maps/index.xml"


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
