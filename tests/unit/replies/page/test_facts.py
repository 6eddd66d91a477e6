"""Title, language, dates and language versions of a page; and that nothing breaks the reader."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import PageDate, PageFacts, plain_headers, read_page

URL = "https://e.com/dir/page"
HTML = {"content-type": ["text/html"]}


def page(head: str) -> PageFacts:
    return read_page(f"<html><head>{head}</head>".encode(), {}, URL)


def ld(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<title>A &amp; B\n  C</title>", "A & B C"), ("<title></title>", ""),
        ("<title>a</title><title>b</title>", "a"), ("<title>a <b>c</b></title>", "a <b>c</b>"),
        ("<img><title>a</title>", "a"), ("<meta name=title content=a>", None),
    ],
)  # fmt: skip
def test_title(head: str, expected: str | None) -> None:
    assert page(head).title == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html lang=en-GB>", "en-GB"), ("<html lang=''>", None), ("<html>", None),
        ("<html xmlns='x' xml:lang='de'>", "de"), ("<html xml:lang='de' lang='fr'>", "fr"),
        ("<!-- <html lang=de> --><html lang=fr>", "fr"), ("<head>", None),
    ],
)  # fmt: skip
def test_language(html: str, expected: str | None) -> None:
    assert read_page(html.encode(), {}, URL).lang == expected


def test_language_versions_are_those_of_the_head() -> None:
    found = page(
        "<link rel=alternate hreflang=de href=/de><link rel='alternate' hreflang='x-default' href='https://e.com/'>"
        "<link rel=alternate type=application/rss+xml href=/feed><link rel=alternate hreflang=fr href='javascript:x'>"
        "<link rel=stylesheet hreflang=it href=/it><img><link rel=alternate hreflang=es href=/es>"
    )
    assert found.alternates == (("de", "https://e.com/de"), ("x-default", "https://e.com/"))


def test_sitemaps_that_a_page_links_to() -> None:
    links = '<link rel="Sitemap" href="/a.xml"><link rel=sitemap href=b.xml><link rel=sitemap href="/a.xml">'
    other = '<link rel=icon href="/sitemap.png"><link rel=sitemap href="mailto:x"><link rel=sitemap>'
    assert page(links + other).sitemaps == ("https://e.com/a.xml", "https://e.com/dir/b.xml")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "<meta property=article:modified_time content=2024-05-01T10:00:00+02:00>",
            PageDate("modified", "2024-05-01T10:00:00+02:00", "article:modified_time"),
        ),
        ("<meta name='Last-Modified' content='2024-05-01'>", PageDate("modified", "2024-05-01", "last-modified")),
        ("<meta itemprop=datePublished content='2024-05-01'>", PageDate("published", "2024-05-01", "datepublished")),
        (ld({"@type": "NewsArticle", "dateModified": "2024-05-01"}), PageDate("modified", "2024-05-01", "json-ld")),
        (
            ld({"@type": ["Thing", "WebPage"], "datePublished": "2024-05-01"}),
            PageDate("published", "2024-05-01", "json-ld"),
        ),
        (ld([{"@type": "BlogPosting", "dateModified": " 2024 "}]), PageDate("modified", "2024", "json-ld")),
        (
            ld({"@graph": [{"@type": "Organization"}, {"@type": "WebPage", "dateModified": "2024-05-01"}]}),
            PageDate("modified", "2024-05-01", "json-ld"),
        ),
    ],
)
def test_date(head: str, expected: PageDate) -> None:
    assert page(head).dates == (expected,)


@pytest.mark.parametrize(
    "head",
    [
        "<meta property=article:modified_time>",
        "<meta property=article:modified_time content=' '>",
        "<meta name=date-x content=2024-05-01>",
        ld({"@type": "Comment", "dateModified": "2024-05-01"}),
        ld({"@type": "Product", "review": {"@type": "Review", "datePublished": "2024-05-01"}}),
        ld({"@type": "WebPage", "mainEntity": {"@type": "Article", "dateModified": "2024-05-01"}}),
        ld({"@type": "WebPage", "dateModified": 20240501}),
        ld({"dateModified": "2024-05-01"}),
        '<script type="application/ld+json">{"@type": "WebPage", "dateModified": "2024-05-01"</script>',
        '<script type="application/ld+json">"dateModified"</script>',
        ld({"@graph": "x", "@type": "WebPage", "dateModified": "2024-05-01"}),
        ld([["dateModified"]]),
        '<script>{"@type": "WebPage", "dateModified": "2024-05-01"}</script>',
    ],
)
def test_date_that_is_not_the_pages(head: str) -> None:
    assert page(head).dates == ()


@pytest.mark.parametrize(("whole", "words"), [(True, 3), (False, None)])
def test_content_of_a_page_is_known_if_it_was_read_to_its_end(whole: bool, words: int | None) -> None:
    found = read_page(b"<title>a</title><nav>Home</nav><main><h1>Red</h1><p>shoes here", HTML, URL, whole)
    assert (found.h1, found.content.words if found.content else None) == ("Red", words)


def test_brackets_without_end_are_survived() -> None:
    assert page(f'<script type="application/ld+json">"dateModified"{"[" * 100_000}</script>').dates == ()
    deep = '{"@graph":' * 5_000 + '"date"' + "}" * 5_000
    assert page(f'<script type="application/ld+json">{deep}</script>').dates == ()


def test_date_of_the_last_change_is_the_first_that_is_one() -> None:
    found = page(
        "<meta property=article:published_time content=2024-01-01><meta property=og:updated_time content=yesterday>"
        "<meta property=article:modified_time content=2024-05-01T12:00:00+02:00>"
    )
    assert found.modified == "2024-05-01T12:00:00+02:00"
    assert found.dates[2].moment == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert found.dates[1].moment is None


def test_headers_as_text() -> None:
    pairs = [
        (b"X-Robots-Tag", [b"a", b"b"]),
        (b"x-robots-tag", [b"c"]),
        (b"Link", [b"</\xe9>"]),
        (b"ETag", [b"\xe9"]),
        (b"Via", ["é".encode()]),
    ]
    assert plain_headers(pairs) == {"x-robots-tag": ["a", "b", "c"], "link": ["</%E9>"], "etag": ["é"], "via": ["é"]}


ELEMENTS = st.sampled_from([
    "<meta name=robots content='noindex'>", "<link rel=canonical href='/a'>", "<base href='x:'>", "<title>", "</title>", "<script>",
    "</script>", "<!--", "-->", "<meta http-equiv=refresh content='0;url=x'>", "</head>", "<body>", "<img>", "\0", "&amp", "é", "'", "<",
    '<script type="application/ld+json">{"@type":"WebPage","dateModified":"2024"}</script>', "<meta charset=utf-16>",
])  # fmt: skip
NAMES = ("content-type", "link", "x-robots-tag", "refresh", "location")


@given(
    st.lists(ELEMENTS | st.text(), max_size=20),
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.text(), max_size=2)),
    st.sampled_from(["utf-8", "utf-16", "latin-1", "shift_jis"]),
    st.text(),
)
def test_nothing_raises(parts: list[str], headers: dict[str, list[str]], encoding: str, url: str) -> None:
    body = "".join(parts).encode(encoding, "replace")
    for place in (URL, url):
        found = read_page(body, headers, place)
        assert found.canonical is None or found.canonical.startswith("http")


@given(st.binary(max_size=2000))
def test_no_bytes_raise(body: bytes) -> None:
    read_page(body, {"content-type": ["text/html"]}, URL)
