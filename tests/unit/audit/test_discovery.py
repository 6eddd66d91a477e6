"""Discovery: what robots.txt and the home page say about sitemaps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.audit import discovery
from sitemapcrawler.audit.discovery import COMMON_PATHS, HtmlLinks, Site, Sites, common_paths, from_html
from sitemapcrawler.audit.frontier import Frontier, Visit

ROBOTS = "https://e.com/robots.txt"
HOME = "https://e.com/"
REAL = Path(__file__).resolve().parents[3].parent / "shared" / "real"


def test_common_paths_begin_with_the_likeliest_and_are_few() -> None:
    assert common_paths("https://E.com:443/any")[:2] == ["https://e.com/sitemap.xml", "https://e.com/sitemap_index.xml"]
    assert len(set(common_paths("http://[::1]:8000"))) == len(discovery.COMMON_PATHS) <= 19


def test_common_paths_of_no_site_are_none() -> None:
    assert common_paths("file:///x") == []


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="sitemap" type="application/xml" href="/s.xml">',
        "<LINK HREF='/s.xml' REL='alternate SiteMap'/>",
        "<link rel=sitemap href=/s.xml>",
        '<link\n  href = "\n/s.xml "\n  rel\t=\tsitemap\n/>',
        '<link title="a > b" rel="sitemap" href="/s.xml" rel="icon" href="/other">',
        '<link rel="sitemap" href="&#x2F;s&#46;xml">',
        '<link disabled rel=sitemap data-x="" href="/s.xml">',
    ],
)
def test_sitemap_link_in_any_spelling(link: str) -> None:
    body = f"<!DOCTYPE html><html><head><title>x</title>{link}</head>"
    assert from_html(body.encode(), HOME) == HtmlLinks(["https://e.com/s.xml"], [])


def test_references_are_read_as_in_attributes() -> None:
    body = b'<link rel=sitemap href="/s?a=1&amp;b=2&copy=3"><link rel=sitemap href="/&#99999999999;&bogus;">'
    assert from_html(body, HOME).sitemaps == ["https://e.com/s?a=1&b=2&copy=3", "https://e.com/&#99999999999;&bogus;"]


@pytest.mark.parametrize(
    "markup",
    [
        "<!-- {} -->",
        "<!-- {}",
        "<script>let x = '{}'</script>",
        "<style>{}</style>",
        "<title>{}</title>",
        "<textarea>{}",
        "<meta content='{}'>",
        '<a title="{}">x</a>',
        "&lt;{}".replace("{}", "link rel=sitemap href=/s.xml>"),
        "<link rel=sitemap href=/s.xml",
        "<link rel=sitemap>",
        "<link rel=sitemap href=''>",
        "<link rel=sitemap href='javascript:x'>",
        "<link rel=sitemaps href=/s.xml>",
        "<linked rel=sitemap href=/s.xml>",
        "<link data-rel=sitemap href=/s.xml>",
        "<a href=/sitemap.xml>Sitemap</a>",
    ],
)
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
    assert from_html(b" " * (discovery.HTML_BYTES - len(link)) + link, HOME).sitemaps == ["https://e.com/s.xml"]
    assert from_html(b" " * (discovery.HTML_BYTES - len(link) + 1) + link, HOME).sitemaps == []


@pytest.mark.parametrize(
    "unit",
    [
        b"<",
        b"<a",
        b"<!--",
        b"<div>",
        b"<link ",
        b'<a b="',
        b"<a b='\"",
        b"<script>",
        b"a=",
        b"a = '",
        b"&amp",
        b" ",
        b"a ",
    ],
)
@pytest.mark.parametrize("prefix", [b"", b"<link ", b"<link href="])
def test_a_megabyte_of_hostile_markup_is_survived(prefix: bytes, unit: bytes) -> None:
    first = b"<link rel=sitemap href=/s.xml>"
    body = first + prefix + unit * (discovery.HTML_BYTES // len(unit))
    assert from_html(body, HOME).sitemaps == ["https://e.com/s.xml"]


@given(st.binary(max_size=400), st.sampled_from([b"", b"<link rel=sitemap href=", b"<base href=", b"<!--", b"<script"]))
def test_arbitrary_bytes_of_a_page_never_raise(body: bytes, prefix: bytes) -> None:
    links = from_html(prefix + body, HOME)
    assert all(urls.is_web(url) for url in links.sitemaps + links.feeds)


NAMING = ("https://e.com/a.xml", "https://cdn.example/b.xml")
GUESSES = [f"https://e.com{path}" for path in COMMON_PATHS]


def sites(probe: str = "auto") -> tuple[Sites, Frontier]:
    queue = Frontier(1000, 10, 1000, 1000)
    return Sites(queue, probe), queue


def entered(known: Sites, url: str = ROBOTS, named: Sequence[str] = ()) -> Site:
    site = known.enter(url, named)
    assert site is not None
    return site


def queued(queue: Frontier) -> list[str]:
    return [visit.url for visit in queue.next_visits()]


def miss_all(known: Sites, queue: Frontier) -> Site:
    """All guesses are asked for, and none is a sitemap; the site as it is told last."""
    site = None
    for visit in list(queue.next_visits()):
        queue.done(visit)
        site = known.settle(visit, hit=False, answered=False)
    assert site is not None
    return site


def test_robots_names_the_sitemaps() -> None:
    known, queue = sites()
    site = entered(known, named=NAMING)
    visits = list(queue.next_visits())
    assert [visit.url for visit in visits] == ["https://e.com/a.xml", "https://cdn.example/b.xml"]
    assert {(visit.found_by, visit.parent, visit.depth, visit.probe) for visit in visits} == {
        ("robots", ROBOTS, 0, False)
    }
    assert not known.wants_home(site)


def test_guesses_where_robots_names_none() -> None:
    known, queue = sites()
    site = entered(known)
    visits = list(queue.next_visits())
    assert [visit.url for visit in visits] == GUESSES
    assert all(visit.probe and visit.found_by == "common-path" for visit in visits)
    assert not known.wants_home(site)


def test_probe_always_guesses_after_what_robots_names() -> None:
    known, queue = sites("always")
    entered(known, named=NAMING)
    found = [url for url in queued(queue) if url.startswith("https://e.com/")]
    assert found == ["https://e.com/a.xml", *GUESSES]


def test_probe_never_goes_to_the_home_page_at_once() -> None:
    known, queue = sites("never")
    site = entered(known)
    assert queued(queue) == []
    assert known.wants_home(site)


def test_site_is_entered_once() -> None:
    known, queue = sites()
    assert not known.entered("https://e.com")
    entered(known, named=NAMING)
    assert known.entered("https://e.com")
    assert known.enter("https://E.com:443/robots.txt", ("https://e.com/other.xml",)) is None
    assert len(queued(queue)) == 2


def test_http_and_https_are_two_sites() -> None:
    known, _ = sites("never")
    entered(known)
    assert known.enter("http://e.com/robots.txt", ()) is not None


def test_robots_that_nobody_gave() -> None:
    known, _ = sites()
    assert known.enter("file:///robots.txt", NAMING) is None


def test_home_page_is_wanted_once_when_all_guesses_have_failed() -> None:
    known, queue = sites()
    entered(known)
    visits = list(queue.next_visits())
    for visit in visits[:-1]:
        site = known.settle(visit, hit=False, answered=True)
        assert site is not None and not known.wants_home(site)
    site = known.settle(visits[-1], hit=False, answered=False)
    assert site is not None
    assert [known.wants_home(site), known.wants_home(site)] == [True, False]
    assert known.missed == len(GUESSES)


def test_home_page_is_not_wanted_where_a_guess_was_right() -> None:
    known, queue = sites()
    entered(known)
    settled = [
        known.settle(visit, hit=visit.url.endswith("/sitemap.txt"), answered=True) for visit in queue.next_visits()
    ]
    assert settled[-1] is not None
    assert not known.wants_home(settled[-1])
    assert known.missed == len(GUESSES) - 1


def test_named_sitemap_settles_nothing() -> None:
    known, queue = sites()
    entered(known, named=NAMING)
    assert [known.settle(visit, hit=True, answered=True) for visit in queue.next_visits()] == [None, None]


def test_links_of_the_home_page() -> None:
    known, queue = sites("never")
    entered(known)
    known.links(HOME, HtmlLinks(["https://e.com/linked.xml"], ["https://e.com/feed"]))
    [visit] = queue.next_visits()
    assert (visit.url, visit.found_by, visit.parent) == ("https://e.com/linked.xml", "html-link", HOME)


def test_feeds_of_the_home_page_are_the_last_resort() -> None:
    feeds = HtmlLinks([], ["https://e.com/feed"])
    known, queue = sites("never")
    entered(known)
    known.links(HOME, feeds)
    assert queued(queue) == ["https://e.com/feed"]
    known, queue = sites("always")
    entered(known, named=NAMING)
    list(queue.next_visits())
    known.links(HOME, feeds)
    assert queued(queue) == []


def test_home_page_of_a_site_that_was_never_entered() -> None:
    known, queue = sites()
    known.links("https://other.example/", HtmlLinks([], ["https://other.example/feed"]))
    assert queued(queue) == ["https://other.example/feed"]


# ---- files that were read already

A, B = "https://e.com/a.xml", "https://e.com/b.xml"


def guess(url: str) -> Visit:
    return Visit(url, "common-path", probe=True)


def named(url: str) -> Visit:
    return Visit(url, "robots", ROBOTS)


def test_new_file_is_not_known() -> None:
    known, queue = sites()
    queue.add(named(A))
    assert not known.is_known(named(A), A, b"1")


def test_redirect_to_a_queued_file_is_known() -> None:
    known, queue = sites()
    queue.add(named(A))
    queue.add(named(B))
    assert known.is_known(named(A), B, b"1")


def test_redirect_to_a_new_file_makes_it_known() -> None:
    known, queue = sites()
    queue.add(named(A))
    assert not known.is_known(named(A), B, b"1")
    assert not queue.add(named(B))


def test_redirect_to_another_spelling_is_none() -> None:
    known, queue = sites()
    queue.add(named(A))
    assert not known.is_known(named(A), "https://E.com:443/a.xml#x", b"1")


def test_guess_with_the_content_of_a_named_file_is_known() -> None:
    known, _ = sites()
    assert not known.is_known(named(A), A, b"1")
    assert known.is_known(guess(B), B, b"1")


def test_two_named_files_with_the_same_content_are_two_files() -> None:
    known, _ = sites()
    assert not known.is_known(named(A), A, b"1")
    assert not known.is_known(named(B), B, b"1")


def test_same_content_on_another_site_is_another_file() -> None:
    known, _ = sites()
    other = "https://other.example/a.xml"
    assert not known.is_known(guess(A), A, b"1")
    assert not known.is_known(guess(other), other, b"1")


def test_miss_everywhere_is_counted_once_per_guess() -> None:
    known, queue = sites()
    entered(known)
    entered(known, "https://other.example/robots.txt")
    miss_all(known, queue)
    assert known.missed == 2 * len(GUESSES)
