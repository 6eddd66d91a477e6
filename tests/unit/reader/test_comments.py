"""Comments around the entries of a document, whatever the chunks of its text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.reader.document import MAX_COMMENT, Comment, CommentFinder
from sitemapcrawler.reader.sniff import DocumentHead

TEXT = (
    "<!-- 1 --><url><loc>a</loc><!-- in --></url>\n<?p?>\n<x:url ><![CDATA[<!-- no -->]]></x:url><!--3\n-->\n"
    "<url>&lt;<!-- in --></url></urlset\n><!-- 4 -->"
)
FOUND = [
    Comment("<!-- 1 -->", 5, False),
    Comment("<?p?>", 6, False),
    Comment("<!--3\n-->", 7, False),
    Comment("<!-- 4 -->", 10, True),
]


def found(*texts: str) -> list[Comment]:
    finder = CommentFinder(DocumentHead("xml-urlset", name="urlset"), 5)
    assert "".join(finder.watch(texts)) == "".join(texts)
    return finder.found


@given(st.lists(st.integers(0, len(TEXT)), max_size=8).map(sorted))
def test_chunks_make_no_difference(cuts: Sequence[int]) -> None:
    assert found(*(TEXT[start:end] for start, end in zip([0, *cuts], [*cuts, len(TEXT)], strict=True))) == FOUND


@pytest.mark.parametrize("size", [10_000, 10 * MAX_COMMENT])
def test_a_long_comment_is_cut(size: int) -> None:
    text = f"<!--{'x' * 3 * MAX_COMMENT}--><!-- y -->"
    one, other = found(*(text[at : at + size] for at in range(0, len(text), size)))
    assert one.text.startswith("<!--xxx")
    assert len(one.text) in (MAX_COMMENT, len(text) - len("<!-- y -->"))  # whole in one chunk
    assert other.text == "<!-- y -->"


def test_a_section_without_end_is_no_comment() -> None:
    assert found("<url></url><!-- x", " y") == found("<!--") == found("<") == []
