"""Entries with tags that do not match are read without the strict parser, and as with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.reader import broken
from sitemapcrawler.reader.broken import read_mismatch
from tests.unit.reader.reading import CORE, GOOD, read, urlset

MISMATCHED = "<url><loc>https://e.com/1</loc><lastmod>2024-05-01</lastmd></url>\n"
NAMES = st.sampled_from(("loc", "lastmod", "priority", "x", "url", "sitemap", "lok"))
VALUES = st.sampled_from(
    ("https://e.com/1", "https://e.com/?a&amp;b", "", " ", "\n", "0.5", "a&#10;b", "<x/>", "]]", "é")
)
BLANKS = st.sampled_from(("", "", "\n", " \t"))


@contextmanager
def strictly() -> Iterator[None]:
    """All is read by the strict parser meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broken, "read_mismatch", lambda *_: None)
        yield


@st.composite
def entries(draw: st.DrawFn) -> str:
    parts = [f"<{draw(NAMES)}>{draw(VALUES)}</{draw(NAMES)}>{draw(BLANKS)}" for _ in range(draw(st.integers(0, 4)))]
    return f"{draw(BLANKS)}<url>{draw(BLANKS)}{''.join(parts)}</url>{draw(BLANKS)}"


@given(st.lists(entries() | st.sampled_from((MISMATCHED, GOOD)), max_size=8))
def test_what_is_read_is_what_the_strict_parser_leaves(listed: list[str]) -> None:
    body = urlset(MISMATCHED, *listed)
    with strictly():
        expected = read(body).facts()
    assert read(body).facts() == expected
    assert read(body, 9).facts() == expected


def test_only_the_first_needs_the_strict_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    monkeypatch.setattr(broken, "read_mismatch", lambda *given: found.append(read_mismatch(*given)) or found[-1])
    reading = read(urlset(*[MISMATCHED] * 50))
    assert (len(reading.recovered), reading.rules) == (50, {"doc-xml-malformed": 50})
    assert len([entry for entry in found if entry is not None]) == 49


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<url></url>",
        "<url><loc>https://e.com/1</loc></url>",
        "<url><loc a='1'>https://e.com/1</lok></url>",
        "<url><loc>https://e.com/1</lok></sitemap>",
        "<url>text<loc>https://e.com/1</lok></url>",
        "<url><loc><b>https://e.com/1</b></lok></url>",
        "<url><loc>https://e.com/1</lok></url><url></url>",
        "<url><i:loc>https://e.com/1</i:lok></url>",
        "<url><!-- --><loc>https://e.com/1</lok></url>",
    ],
)
def test_anything_else_is_left_alone(text: str) -> None:
    assert read_mismatch(text, 1, CORE) is None
