"""Passwords in URLs: what is taken for one, in URLs, in texts, in elements."""

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
from sitemapcrawler.urls.display import masked, masked_argument, masked_bytes, masked_part, masked_url, removed

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
