"""The rules on text sitemaps and feeds."""

from __future__ import annotations

import pytest

from .expecting import bad_files, check_bad_file, places, rules_of
from .judging import judge

CHECKED = rules_of("xml", "doc", "security", "internal", "txt", "feed")
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://example.com/a"/></entry></feed>'


@pytest.mark.parametrize("name", bad_files("txt", "feed"))
def test_a_bad_file_gives_what_it_expects(name: str) -> None:
    check_bad_file(name, CHECKED)


def test_each_rule_has_a_bad_file() -> None:
    names = bad_files("txt", "feed")
    assert [rule for rule in rules_of("txt", "feed") if not any(name.startswith(f"{rule}-") for name in names)] == []


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/a",
        "https://example.com/a\r\nhttps://example.com/b\r\n\r\n",
        " https://example.com/a\n",
        ATOM,
    ],
    ids=["one-line", "windows", "indented", "atom"],
)
def test_a_legal_file_gives_nothing(text: str) -> None:
    assert places(judge(text.encode()), CHECKED) == []


def test_a_last_line_that_is_cut_is_no_fault_of_its_own() -> None:
    data = b"https://example.com/a\nhttps://example.com/\xc3"
    assert places(judge(data), CHECKED) == [("doc-truncated", 2)]
