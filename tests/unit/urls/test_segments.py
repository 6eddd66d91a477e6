"""Segments: which URLs a pattern matches, and names."""

from __future__ import annotations

import duckdb
import pytest

from sitemapcrawler.urls.segments import MAX_PATTERN, Segment, UrlPattern


def matches(pattern: str, url: str) -> bool:
    with duckdb.connect() as connection:  # the one that tests share may be in use
        query = "SELECT regexp_matches(?, ?)"
        [(found,)] = connection.execute(query, [url, UrlPattern(pattern).expression]).fetchall()
    return bool(found)


@pytest.mark.parametrize(
    ("pattern", "url", "is_matched"),
    [
        ("/shop/**", "https://e.com/shop/a?page=2", True),
        ("/shop/", "https://shop.e.com:8080/shop/", True),
        ("/shop/", "https://e.com/shop", False),
        ("/shop", "https://e.com/shopping", True),
        ("/shop", "https://e.com/de/shop", False),
        ("/*/shop", "https://e.com/de/at/shop", True),
        ("*/shop", "https://e.com/shop", True),
        ("/$", "https://e.com/", True),
        ("/$", "https://e.com", True),
        ("/$", "https://e.com/a", False),
        ("/", "https://e.com", True),
        ("*", "https://e.com?a", True),
        ("*.pdf$", "https://e.com/a/b.pdf", True),
        ("*.pdf$", "https://e.com/a/b.pdf?x", False),
        ("*.com$", "https://e.com", False),
        ("*?page=", "https://e.com/a?page=2", True),
        ("/a.b", "https://e.com/axb", False),
        ("/a(b|c)", "https://e.com/ab", False),
        ("/a*c$", "https://e.com/ab\nc", True),
        ("/größe/", "https://e.com/gr%c3%b6%C3%9Fe/x", True),
        ("/gr%C3%B6%c3%9fe", "https://e.com/größe", True),
        ("/a%2Cb", "https://e.com/a,b", True),
        ("/a,b", "https://e.com/a%2cb", True),
        ("/a%2Fb", "https://e.com/a/b", False),
        ("/a%2Fb", "https://e.com/a%2fb", True),
        ("/%ff", "https://e.com/%FF", True),
        ("https://blog.e.com", "https://BLOG.e.com/x", True),
        ("https://blog.e.com", "https://blog.e.com", True),
        ("https://blog.e.com", "https://blog.e.com.evil/", False),
        ("https://blog.e.com/new/", "https://blog.e.com/old/", False),
        ("https://blog.e.com/$", "https://blog.e.com/", True),
        ("https://blog.e.com/", "http://blog.e.com/", False),
        ("/shop/", "ftp://e.com/shop/", False),
    ],
)
def test_pattern_matches_the_start_of_a_path_as_in_robots_txt(pattern: str, url: str, is_matched: bool) -> None:
    assert matches(pattern, url) is is_matched


def test_pattern_of_many_stars_takes_linear_time() -> None:
    assert not matches("/*a" * 300 + "$", "https://e.com/" + "a" * 20_000)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("shop", "not name=pattern"),
        ("=/shop/", "a segment's name"),
        ("a.b=/shop/", "a segment's name"),
        ("<b>=/shop/", "a segment's name"),
        (f"{'a' * 41}=/shop/", "a segment's name"),
        ("other=/shop/", "rest of the site"),
        ("shop=shop/", "does not begin with"),
        ("shop=", "does not begin with"),
        ("shop=ftp://e.com/", "does not begin with"),
        (f"shop=/{'a' * MAX_PATTERN}", "longer than 1,000"),
    ],
)
def test_wrong_segment_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Segment.parse(text)


def test_text_of_a_segment_makes_it_again() -> None:
    assert str(Segment.parse(" shop = /a=b/** ")) == "shop=/a=b/**"
    assert Segment.parse("shop=/a=b/**") == Segment("shop", UrlPattern("/a=b/**"))
