"""Discovery methods: what robots.txt, paths and the home page say about sitemaps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.replies import discovery
from sitemapcrawler.replies.discovery import (
    COMMON_PATHS,
    HTML_BYTES,
    METHODS,
    Clue,
    HtmlLinks,
    Method,
    common_paths,
    from_html,
    register,
    way_named,
)
from sitemapcrawler.replies.page.anchors import MAX_FILES

HOME = "https://e.com/"


def test_common_paths_begin_with_the_likeliest_and_are_few() -> None:
    assert common_paths("https://E.com:443/any")[:2] == ["https://e.com/sitemap.xml", "https://e.com/sitemap_index.xml"]
    assert len(set(common_paths("http://[::1]:8000"))) == len(COMMON_PATHS) <= 19


def test_common_paths_of_no_site_are_none() -> None:
    assert common_paths("file:///x") == []


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="sitemap" type="application/xml" href="/s.xml">', "<LINK HREF='/s.xml' REL='alternate SiteMap'/>",
        "<link rel=sitemap href=/s.xml>", '<link\n  href = "\n/s.xml "\n  rel\t=\tsitemap\n/>',
        '<link title="a > b" rel="sitemap" href="/s.xml" rel="icon" href="/other">',
        '<link rel="sitemap" href="&#x2F;s&#46;xml">', '<link disabled rel=sitemap data-x="" href="/s.xml">',
    ],
)  # fmt: skip
def test_sitemap_link_in_any_spelling(link: str) -> None:
    body = f"<!DOCTYPE html><html><head><title>x</title>{link}</head>"
    assert from_html(body.encode(), HOME) == HtmlLinks(["https://e.com/s.xml"], [])


def test_references_are_read_as_in_attributes() -> None:
    body = b'<link rel=sitemap href="/s?a=1&amp;b=2&copy=3"><link rel=sitemap href="/&#99999999999;&bogus;x">'
    assert from_html(body, HOME).sitemaps == ["https://e.com/s?a=1&b=2&copy=3", "https://e.com/\ufffd&bogus;x"]


@pytest.mark.parametrize(
    "markup",
    [
        "<!-- {} -->", "<!-- {}", "<script>let x = '{}'</script>", "<style>{}</style>", "<title>{}</title>",
        "<textarea>{}", "<meta content='{}'>", '<a title="{}">x</a>',
        "&lt;{}".replace("{}", "link rel=sitemap href=/s.xml>"), "<link rel=sitemap href=/s.xml", "<link rel=sitemap>",
        "<link rel=sitemap href=''>", "<link rel=sitemap href='javascript:x'>", "<link rel=sitemaps href=/s.xml>",
        "<linked rel=sitemap href=/s.xml>", "<link data-rel=sitemap href=/s.xml>",
    ],
)  # fmt: skip
def test_markup_that_links_no_sitemap(markup: str) -> None:
    body = markup.replace("{}", "<link rel=sitemap href=/s.xml>")
    assert from_html(body.encode(), HOME) == HtmlLinks([], [])


@pytest.mark.parametrize(
    "before", ["<!-->", "<!--->", "<!-- x --!>", "<script src=x></script>", "<SCRIPT>1</ScRipt >", "</b>", "<!x>"]
)
def test_link_after_something_closed_counts(before: str) -> None:
    assert from_html(f"{before}<link rel=sitemap href=/s.xml>".encode(), HOME).sitemaps == ["https://e.com/s.xml"]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("<base href='/de/'>", "https://e.com/de/s.xml"),
        ("<base target=_top><base href=//cdn.com><base href=/x/>", "https://cdn.com/s.xml"),
        ("<base href='javascript:x'>", "https://e.com/s.xml"),
    ],
)
def test_base_element_is_honoured(base: str, expected: str) -> None:
    assert from_html(f"<link rel=sitemap href=s.xml>{base}".encode(), HOME).sitemaps == [expected]


def test_files_that_may_be_sitemaps() -> None:
    named = [
        "/extra.xml",
        "/SiteMap.xml.gz?page=2",
        "https://E.com:443/extra.xml#top",
        "/maps/sitemap-en.txt",
        "//www.e.com/b.xml",
    ]
    others = ["/rss.xml", "/news-feed.xml", "/sitemap", "/sitemap.html", "/notes.txt", "https://other.example/c.xml",
              "/?next=/a.xml", "mailto:a@e.com?x=.xml", "/.xml"]  # fmt: skip
    body = "".join(f'<a href="{href}">x</a>' for href in [*others, *named])
    assert from_html(body.encode(), HOME).files == [
        "https://e.com/extra.xml",
        "https://e.com/SiteMap.xml.gz?page=2",
        "https://e.com/maps/sitemap-en.txt",
        "https://www.e.com/b.xml",
    ]
    many = "".join(f"<a href=/{number}.xml>x</a>" for number in range(3 * MAX_FILES))
    assert len(from_html(many.encode(), HOME).files) == MAX_FILES


def test_feeds_are_listed_apart() -> None:
    body = b"""<link rel="alternate" type="application/rss+xml" title="News" href="/feed/">
        <link rel=alternate type="Application/Atom+XML; charset=utf-8" href="/atom.xml">
        <link rel=alternate hreflang=de href="/de/"><link rel=stylesheet type="application/rss+xml" href="/no">
        <link rel=alternate type="application/rss+xml" href="https://E.com/feed/#top">
        <link rel=sitemap href="/s.xml">"""
    assert from_html(body, HOME) == HtmlLinks(
        ["https://e.com/s.xml"], ["https://e.com/feed/", "https://e.com/atom.xml"]
    )


def test_page_in_utf16_and_in_a_legacy_charset() -> None:
    assert from_html("<link rel=sitemap href='/\u00e9'>".encode("utf-16"), HOME).sitemaps == ["https://e.com/\u00e9"]
    assert from_html(b"<p>\xe9<link rel=sitemap href='/\xe9'>", HOME).sitemaps == ["https://e.com/%E9"]


def test_zero_bytes_hide_no_link() -> None:
    assert from_html(b"\0\0<p>\0<link rel=sitemap href=/s.xml>", HOME).sitemaps == ["https://e.com/s.xml"]


def test_link_past_the_limit_is_not_read() -> None:
    link = b"<link rel=sitemap href=/s.xml>"
    assert from_html(b" " * (HTML_BYTES - len(link)) + link, HOME).sitemaps == ["https://e.com/s.xml"]
    assert from_html(b" " * (HTML_BYTES - len(link) + 1) + link, HOME).sitemaps == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        b"<", b"<a", b"<!--", b"<div>", b"<link ", b'<a b="', b"<a b='\"", b"<script>", b"a=", b"a = '", b"&amp", b" ",
        b"a ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", [b"", b"<link ", b"<link href="])
def test_hostile_markup_is_survived(prefix: bytes, unit: bytes) -> None:
    first = b"<link rel=sitemap href=/s.xml>"
    body = first + prefix + unit * (HTML_BYTES // 4 // len(unit))
    assert from_html(body, HOME).sitemaps == ["https://e.com/s.xml"]


@given(st.binary(max_size=400), st.sampled_from([b"", b"<link rel=sitemap href=", b"<base href=", b"<!--", b"<script"]))
def test_arbitrary_bytes_of_a_page_never_raise(body: bytes, prefix: bytes) -> None:
    links = from_html(prefix + body, HOME)
    assert all(urls.is_web(url) for url in links.sitemaps + links.feeds)


# ---- methods of plug-ins


def nothing(clue: Clue) -> list[str]:
    return []


@pytest.fixture
def methods(monkeypatch: pytest.MonkeyPatch) -> list[Method]:
    """The methods, for this test alone."""
    added = [*METHODS]
    monkeypatch.setattr(discovery, "METHODS", added)
    return added


def test_method_of_a_plug_in_runs_in_its_place(methods: list[Method]) -> None:
    first, *others = [method.name for method in methods]
    register(Method("toy-last", "last", "", nothing))
    register(Method("toy-page", "toy page", "named in {parent}", nothing, page="/toy"), before=others[0])
    assert [method.name for method in methods] == [first, "toy-page", *others, "toy-last"]
    assert (way_named("toy-page").label, way_named("toy-page").heading) == ("toy page", "named in {parent}")
    assert (way_named("index").label, way_named("of-another-crawl").label) == ("indexes", "of-another-crawl")


@pytest.mark.parametrize(
    ("method", "before", "problem"),
    [
        (Method("index", "", "", nothing), None, "'index': the name is taken"),
        (Method("a'b", "", "", nothing), None, "or not letters"),
        (Method("toy", "", "", nothing, page="toy"), None, "a page is a path"),
        (Method("toy", "", "", nothing, page="/", guesses=True), None, "without guesses"),
        (
            Method("toy", "", "", nothing),
            "robots",
            f"before is one of {', '.join(method.name for method in METHODS[1:])}",
        ),
    ],
)
def test_method_that_cannot_be_added(methods: list[Method], method: Method, before: str | None, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        register(method, before)
    assert methods == METHODS
