"""Links of a page, compared with Scrapy's LinkExtractor."""

import html
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from sitemapcrawler.replies.page import PageLinks, PageReader, page_of
from sitemapcrawler.replies.page.anchors import MAX_LINKS, UncrawlableLinks, forbids_following, uncrawlable_links
from sitemapcrawler.replies.page.tree import parsed
from sitemapcrawler.urls import is_web, request_key

PAGE = "https://museum.example/visit/index.html"
EXTRACTOR = LinkExtractor(deny_extensions=[], unique=False)


def links(text: str | bytes, content_type: str = "text/html; charset=utf-8") -> PageLinks:
    reader = PageReader(content_type)
    reader.feed(text.encode() if isinstance(text, str) else text)
    found = page_of(reader.close(), {}, PAGE, with_links=True).links
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ('<a href="/a">', "https://museum.example/a"),
        ("<A HREF=b>", "https://museum.example/visit/b"),
        ('<map><area href="?c=1&amp;d=2"></map>', "https://museum.example/visit/index.html?c=1&d=2"),
        ('<a href="\n /a\n ">', "https://museum.example/a"),
        ('<a href="/a#top">', "https://museum.example/a"),
        ('<a href="#top">', PAGE),
        ('<a href="//cdn.example/x">', "https://cdn.example/x"),
        ('<base href="/en/"><a href="a">', "https://museum.example/en/a"),
        ('<a href="a"><base href="/en/">', "https://museum.example/en/a"),
        ('<base href="/en/"><base href="/de/"><a href="a">', "https://museum.example/en/a"),
        ('<base target="_top"><a href="a">', "https://museum.example/visit/a"),
    ],
)
def test_takes_links_as_browsers_resolve_them(text: str, followed: str) -> None:
    assert links(text) == PageLinks((followed,))


@pytest.mark.parametrize(
    "text",
    [
        '<a href="javascript:void(0)">', '<a href="mailto:a@museum.example">', '<a href="tel:+1">',
        '<a href="data:text/html,x">', '<a name="x">', '<link rel="canonical" href="/a">',
        '<link rel="alternate" href="/a">', '<img src="/a">', '<form action="/a">', '<!-- <a href="/a"> -->',
        '<script>document.write("<a href=/a>")</script>', '<noscript><a href="/a"></noscript>',
        '<template><a href="/a"></template>', '<a href="http://">', '<a href="http://[::1/">',
    ],
)  # fmt: skip
def test_takes_nothing_else(text: str) -> None:
    assert links(text) == PageLinks()


@pytest.mark.parametrize("rel", ["nofollow", "NOFOLLOW", "ugc nofollow", "ugc,nofollow"])
def test_a_nofollow_link_is_kept_apart(rel: str) -> None:
    assert links(f'<a rel="{rel}" href="/a"><a rel="next" href="/b">') == PageLinks(
        ("https://museum.example/b",), ("https://museum.example/a",)
    )


def test_one_link_that_may_be_followed_is_enough() -> None:
    assert links('<a rel=nofollow href="/a"><a href="/a#x">') == PageLinks(("https://museum.example/a",))


@pytest.mark.parametrize("content", ["nofollow", "noindex, NOFOLLOW", "none"])
def test_a_page_may_forbid_to_follow_all(content: str) -> None:
    text = f'<meta name="Robots" content="{content}"><a href="/a">'
    assert links(text) == PageLinks((), ("https://museum.example/a",))


def test_directives_for_one_crawler_concern_that_one() -> None:
    assert not forbids_following(["otherbot: nofollow"], prefixed=True)
    assert forbids_following(["noindex", "nofollow"], prefixed=True)


def test_letters_of_a_query_are_sent_in_the_encoding_of_the_page() -> None:
    found = links('<a href="/é?q=é&amp;r=€">'.encode("cp1252"), "text/html; charset=iso-8859-1")
    assert found.followed == ("https://museum.example/é?q=%E9&r=%80",)


def test_a_page_with_too_many_links_is_incomplete() -> None:
    found = links("".join(f"<a href=/{number}>" for number in range(MAX_LINKS + 1)))
    assert (len(found.followed), found.complete) == (MAX_LINKS, False)


REFERENCES = st.lists(
    st.sampled_from(["/", "a", "é", "?q", "#f", "..", "//b.example/", "x=1&y", "%C3", "b c", "x.pdf"])
).map("".join)
RELS = st.sampled_from(["", "nofollow", "noopener nofollow", "next"])
TAGS = st.tuples(st.sampled_from(["a", "area", "A"]), REFERENCES, RELS)
TEXTS = st.sampled_from(["", "word", "<p>", "</p>", "<b>bold</b>", "<br/>", "&lt;a href=/z&gt;"])


@given(st.lists(st.tuples(TAGS, TEXTS)), st.sampled_from([None, "/base/", "https://museum.example/other/x"]))
def test_takes_what_linkextractor_takes(tags: list[tuple[tuple[str, str, str], str]], base: str | None) -> None:
    head = f'<base href="{base}">' if base is not None else ""
    body = "".join(f'<{tag} rel="{rel}" href="{html.escape(href)}">{text}</{tag}>' for (tag, href, rel), text in tags)
    text = f"<!doctype html><html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    expected = EXTRACTOR.extract_links(HtmlResponse(PAGE, body=text.encode(), encoding="utf-8"))
    found = links(text)
    assert _sent([*found.followed, *found.nofollow]) == _sent([link.url for link in expected])
    follows = {link.url for link in expected if not link.nofollow}
    assert _sent(found.followed) == _sent(follows)


def _sent(urls: Iterable[str]) -> set[str]:
    return {request_key(url) for url in urls if is_web(url)}


@pytest.mark.parametrize(
    ("markup", "example"),
    [
        ("<a href='javascript:go(1)'>x</a>", '<a href="javascript:go(1)">'),
        ("<a href='javascript:void(0);' onclick='go()'>x</a>", '<a onclick="go()">'),
        ("<a href='javascript:void(0)'>x</a><a href='javascript:;'>x</a><a href=javascript:>x</a>", None),
        ("<a rel=prev>x</a><a target=_blank>x</a>", None),
        ("<a HREF=' JavaScript:go()'>x</a>", '<a href="JavaScript:go()">'),
        ("<a href='JavaScript:go()' role=link>x</a>", '<a href="JavaScript:go()">'),
        ("<a onclick='go()' class=nav>x</a>", '<a onclick="go()">'),
        ("<a routerLink='/about'>x</a>", '<a routerlink="/about">'),
        ("<a role=link>x</a>", '<a role="link">'),
        (f"<a onclick='{'x' * 200}'>x</a>", f'<a onclick="{"x" * 60}">'),
        ("<a>1</a><a class=current>2</a>", None),
        ("<a name=top></a><a id=chapter>x</a>", None),
        ("<a href='javascript:void(0)' role=button>x</a><a onclick='x()' role=tab>x</a>", None),
        ("<a href='#' onclick='go()'>x</a><a href=/a>x</a><a href=''>x</a><a href=mailto:a@b.c>x</a>", None),
        ("<a href='/?next=javascript:x'>x</a>", None),
    ],
)
def test_links_that_crawlers_cannot_follow(markup: str, example: str | None) -> None:
    found = uncrawlable_links(parsed(f"<body>{markup}<p>Text"))
    assert (found and found.example) == example


def test_number_of_links_that_crawlers_cannot_follow() -> None:
    markup = "<a href='javascript:a()'>a</a><a href=/b>b</a><a onclick='c()'>c</a>"
    assert uncrawlable_links(parsed(markup)) == UncrawlableLinks(2, '<a href="javascript:a()">')
