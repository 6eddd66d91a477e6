"""What people read: passwords masked in URLs, texts and elements; numbers, sizes, durations and long texts in words."""

from __future__ import annotations

import time
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.element import Element, hide
from sitemapcrawler.reader import Document
from sitemapcrawler.urls.display import (
    counted,
    duration,
    elapsed,
    masked,
    masked_argument,
    masked_bytes,
    masked_part,
    masked_url,
    removed,
    shortened,
    size,
)

SIZE = 100_000


@pytest.mark.parametrize(
    ("url", "hidden"),
    [
        ("https://u:p@e.com/a", "https://***@e.com/a"),
        ("https://u@e.com", "https://***@e.com"),
        ("https://@e.com", "https://***@e.com"),
        ("HTTP://a:b@c:d@e.com:80/x@y", "HTTP://***@e.com:80/x@y"),
        ("//u:p@e.com/", "//***@e.com/"),
        ("https:\\\\u:p@e.com/", "https:\\\\***@e.com/"),
        ("http:u:p@e.com/", "http:***@e.com/"),
        ("http://public\\@127.0.0.1/", "http://***@127.0.0.1/"),
        ("https://my user:my pass\"w'ord@e.com/?a=b@c", "https://***@e.com/?a=b@c"),
        ("ftp://u:p@e.com/", "ftp://***@e.com/"),
        ("https://e.com/@me", "https://e.com/@me"),
        ("https://e.com?q=a@b", "https://e.com?q=a@b"),
        ("http://127.0.0.1#@public", "http://127.0.0.1#@public"),
        ("/path/@me", "/path/@me"),
        ("me@e.com", "me@e.com"),
        ("https://e.com//me@e.com", "https://e.com//me@e.com"),
        ("https://e.com/go?to=https://a:b@c.d/", "https://e.com/go?to=https://a:b@c.d/"),
        ("https://u:p@e.com//me@e.com", "https://***@e.com//me@e.com"),
        ("https://e.com/ see 'http://u:p@f.com/'", "https://e.com/ see 'http://***@f.com/'"),
    ],
)
def test_url_without_its_password(url: str, hidden: str) -> None:
    assert masked_url(url) == hidden
    assert masked_url(hidden) == hidden
    assert removed(url) == hidden.replace("***@", "")


@pytest.mark.parametrize("rest", ["//me@e.com", "/go?to=https://a@b.c/", "/web/2020/http://a@b/"])
def test_page_with_an_at_sign_in_its_path_is_that_page(rest: str) -> None:
    text = f'<urlset xmlns="{CORE}"><url a="1"><loc>https://e.com{rest}</loc></url></urlset>'
    document = Document("https://e.com/s.xml")
    [record] = chain.from_iterable(document.read([text.encode()]))
    assert record.loc == f"https://e.com{rest}"


def test_passwords_in_a_text() -> None:
    told = "a redirect to 'https://u:p@e.com/' from ftp://x:y@z/, told by me@e.com, see https://e.com/ or a@b"
    assert (
        masked(told)
        == "a redirect to 'https://***@e.com/' from ftp://***@z/, told by me@e.com, see https://e.com/ or a@b"
    )


@pytest.mark.parametrize("begin", range(30))
@pytest.mark.parametrize("length", [5, 40])
def test_part_of_a_text_shows_no_part_of_a_password(begin: int, length: int) -> None:
    text = "<loc>https://user:secret@e.com/a</loc>"
    part = masked_part(text, begin, begin + length)
    assert not any(bit in part for bit in ("use", "ser", "sec", "ecr", "cre", "ret", "t@", "r:"))
    assert len(part) <= length


@pytest.mark.parametrize(
    "typed",
    ["user:pass@e.com", "https://user:pass@e.com", "a.com,user:pass@e.com", "https://user:pa/ss@e.com", "user:pa,ss@e.com",
     "https://a.com,https://user:pass@e.com/x.xml"],
)  # fmt: skip
def test_what_was_typed_is_told_without_a_password(typed: str) -> None:
    told = masked_argument(typed)
    assert "user" not in told
    assert "ss@" not in told


def test_body_of_robots() -> None:
    body = b"Sitemap: https://u:p@e.com/a.xml\nDisallow: /a//b@c\n# \xff mail me@e.com"
    assert masked_bytes(body) == body.replace(b"u:p@", b"***@")
    body = b"Sitemap: https://e.com/go?to=https://u:p@f.com/\nDisallow: /web/http://a@b\nDisallow: /*&to=http://a@b"
    assert masked_bytes(body) == body


def test_element_with_a_password_in_parts() -> None:
    child = Element("", "loc", {"x": "https://u:p@e.com/"}, 1)
    child.content = ["https://u:se", Element("", "b", {}, 1), "cret@e.com/"]
    entry = Element("", "url", {}, 1)
    entry.content = ["\n", child, "\n"]
    hide(entry)
    assert child.text == "https://***@e.com/"
    assert child.attributes == {"x": "https://***@e.com/"}
    assert child.has_children
    assert entry.content == ["\n", child, "\n"]


@given(st.text(alphabet="ht:p/\\@?# \t%aä.[]0"))
def test_nothing_that_is_asked_for_has_a_password(text: str) -> None:
    for form in (text, f"http://{text}"):
        found = urls.resolve("https://e.com/", form)
        assert found is None or not urls.has_user(found)
        assert not urls.has_user(removed(form))


@pytest.mark.parametrize("part", ["https:", "//", "//a", "\\\\", "a:", "https://a:b", "@", "//@", "https:@", " //a:b"])
def test_time_grows_with_the_text_only(part: str) -> None:
    text = part * (SIZE // len(part))
    began = time.thread_time()
    for function in (masked, masked_url, masked_argument, removed):
        function(text)
        function(text + "@")
    assert time.thread_time() - began < 2


def test_nouns_follow_their_number() -> None:
    assert [counted(number, "file") for number in (0, 1, 1234)] == ["0 files", "1 file", "1,234 files"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


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
