"""The rules on text sitemaps and feeds."""

from __future__ import annotations

import pytest

from .expecting import places, rules_of
from .judging import judge

CHECKED = rules_of("xml", "doc", "security", "internal", "txt", "feed")
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://example.com/a"/></entry></feed>'


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
