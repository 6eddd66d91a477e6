"""The meta refresh, after the HTML standard's declarative refresh steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import Refresh, read_page
from sitemapcrawler.replies.page.facts import refresh
from tests.unit.tables import cases

URL = "https://e.com/dir/a"
B = "https://e.com/dir/b"


@pytest.mark.parametrize(
    ("content", "expected"),
    cases(
        (["0; url=b", "0;url=b", "0, url=b", "0 url=b", "0;b", "0;'b'x", "0; url='b", "0.9; url=b",
          ".5; url=b"], (0, B)),
        (["5;URL='b'", '5; URL = "b"'], (5, B)),
        ([" 3 ; url=b "], (3, B)),
        (["1.2.3; url=b"], (1, B)),
        (["0; url=https://other.com/"], (0, "https://other.com/")),
        (["0; url=/x?a=b;c=d"], (0, "https://e.com/x?a=b;c=d")),
        (["300", "300;"], (300, None)),
        (["0; url=", "0; url=javascript:x"], (0, None)),
        (["0; urlx"], (0, "https://e.com/dir/urlx")),
        (["9" * 100], (10**9, None)),
    ),
)  # fmt: skip
def test_content_that_a_browser_obeys(content: str, expected: tuple[int, str | None]) -> None:
    assert refresh(content, URL) == Refresh(*expected)


@pytest.mark.parametrize("content", ["", "url=b", "-1; url=b", "x", "0x; url=b", ";url=b", "5url=b"])
def test_content_that_a_browser_does_not_obey(content: str) -> None:
    assert refresh(content, URL) is None


def test_first_that_is_obeyed_counts() -> None:
    body = b"<meta http-equiv=Refresh content=x><meta content='0;url=b' http-equiv=REFRESH><meta http-equiv=refresh content=9>"
    assert read_page(body, {}, URL).refresh == Refresh(0, B)


def test_header_comes_first() -> None:
    body = b"<meta http-equiv=refresh content='0;url=b'>"
    assert read_page(body, {"refresh": ["1; url=/h"]}, URL).refresh == Refresh(1, "https://e.com/h")


def test_base_element_counts() -> None:
    body = b"<base href='/base/'><meta http-equiv=refresh content='0;url=b'>"
    assert read_page(body, {}, URL).refresh == Refresh(0, "https://e.com/base/b")


def test_one_for_visitors_without_scripts_is_none() -> None:
    body = b"<noscript><meta http-equiv=refresh content='0;url=?_fb_noscript=1'></noscript>"
    assert read_page(body, {}, URL).refresh is None


@pytest.mark.parametrize(
    ("content", "url"),
    cases(
        (["0; url=b", "0.9; url=b"], B),
        (["1; url=b", "0", "0; url=a", "0; url=#top", "0; url=javascript:x", "url=b"], None),
    ),
)
def test_page_is_left_at_once_for_another_one(content: str, url: str | None) -> None:
    assert read_page(b"", {"content-type": ["text/html"], "refresh": [content]}, URL).moved_to == url


@given(st.text() | st.text(alphabet="0123;, url='\"b."))
def test_nothing_raises(text: str) -> None:
    refresh(text, URL)
