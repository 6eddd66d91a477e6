"""Figures, dates and addresses in words."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import READ
from sitemapcrawler.replies import Kind, Reason
from sitemapcrawler.report import wording
from sitemapcrawler.report import wording as words


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (wording.number(1234567), "1,234,567"),
        (wording.percent(0, 10), "0 %"),
        (wording.percent(10, 10), "100 %"),
        (wording.percent(1, 10_000), "<0.1 %"),
        (wording.percent(9_999, 10_000), ">99.9 %"),
        (wording.percent(9_984, 10_000), "99.8 %"),
        (wording.percent(1, 40), "2.5 %"),
        (wording.percent(1, 3), "33 %"),
        (wording.percent(1, 0), "0 %"),
        (wording.listed([]), ""),
        (wording.listed(["a"]), "a"),
        (wording.listed(["a", "b", "c"]), "a, b and c"),
        (wording.listed(list("abcde"), 3), "a, b, c and 2 more"),
        (wording.beside("urls 1.jsonl"), "urls%201.jsonl"),
        (wording.beside("javascript:alert(1)"), "javascript%3Aalert%281%29"),
    ],
)
def test_figures_are_for_people(made: str, expected: str) -> None:
    assert made == expected


@pytest.mark.parametrize(
    ("text", "clock", "expected"),
    [
        ("2024-05-03T10:00:00Z", True, "3 May 2024, 10:00 UTC"),
        ("2024-05-03T23:30:00-02:00", True, "4 May 2024, 01:30 UTC"),
        ("2024-05-03T23:30:00-02:00", False, "3 May 2024"),
        ("2024-05-03", False, "3 May 2024"),
        ("0001-01-01T00:00:00+10:00", True, "0001-01-01T00:00:00+10:00"),
        ("yesterday", True, "yesterday"),
        ("", True, ""),
        (None, True, ""),
    ],
)
def test_dates_are_for_people(text: str | None, clock: bool, expected: str) -> None:
    made = wording.moment(text, clock)
    assert (str(made).partition(">")[2].partition("<")[0] or made) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("The file ends before its end.", ["The file ends before its end"]),
        ("An ampersand is not written as `&amp;`.", ["An ampersand is not written as `&amp;`"]),
        ("No date. Once for a file. Rare.", ["No date", "Once for a file. Rare"]),
        ("A priority below 0.0 or above 1.0.", ["A priority below 0.0 or above 1.0"]),
        ("", []),
    ],
)
def test_first_sentence_of_a_rule_is_its_title(text: str, parts: list[str]) -> None:
    assert wording.sentences(text) == parts


def test_address_is_shown_without_the_origin_of_the_site() -> None:
    assert "/a<span class=at>:7</span></a>" in wording.address("https://example.com/a", "https://example.com", 7)
    assert ">https://example.com.evil/a</a>" in wording.address("https://example.com.evil/a", "https://example.com")


def test_every_name_in_records_has_words() -> None:
    assert {*Kind} <= words.HAPPENED.keys() <= words.REPLIES.keys()
    assert {*Reason} <= words.REPLIES.keys()
    assert {*READ, "truncated", "failed", "blocked"} == words.READING.keys()
    formats = {"xml-urlset", "xml-index", "rss", "atom", "text", "html", "list"}
    assert formats == words.FORMATS.keys()
