"""Discovery: which methods run for a site, and which files are known already."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sitemapcrawler.crawl import site_discovery
from sitemapcrawler.crawl.frontier import Frontier, Visit
from sitemapcrawler.crawl.site_discovery import MAX_SILENT, Site, SitePage, Sites
from sitemapcrawler.replies.discovery import COMMON_PATHS, HTML_LINK, Clue, Method
from sitemapcrawler.replies.discovery import ROBOTS as ROBOTS_METHOD

ROBOTS = "https://e.com/robots.txt"
HOME = "https://e.com/"
FEED = b"<link rel=alternate type=application/rss+xml href=/feed>"
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


def guess_all(known: Sites, queue: Frontier, right: str = "", silent: Sequence[str] = ()) -> tuple[list[str], Site]:
    """Answer guesses as long as there are any: one of them is a sitemap, some get no answer. Returns their URLs, and
    the site as it was returned last."""
    asked, site = [], None
    for visit in queue.next_visits():
        asked.append(visit.url)
        queue.done(visit)
        hit, lost = visit.url == right, visit.url in silent
        site = known.settle(visit, hit=hit, silent=lost)
    assert site is not None
    return asked, site


def test_guess_that_was_queued_already_is_left_out() -> None:
    known, queue = sites()
    queue.add(Visit(GUESSES[0], "argument"))
    [named] = queue.next_visits()
    entered(known)
    assert guess_all(known, queue)[0] == GUESSES[1:]
    assert known.settle(named, hit=True) is None


def test_guesses_without_answer_must_be_in_a_row() -> None:
    known, queue = sites()
    entered(known)
    silent = [url for number, url in enumerate(GUESSES) if number % MAX_SILENT]
    assert guess_all(known, queue, silent=silent)[0] == GUESSES


def test_probe_never_goes_to_the_home_page_at_once() -> None:
    known, queue = sites("never")
    site = entered(known)
    assert queued(queue) == []
    assert known.next_page(site) is not None


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


@pytest.mark.parametrize("probe", ["auto", "always"])
def test_home_page_is_wanted_once_when_all_guesses_have_failed(probe: str) -> None:
    known, queue = sites(probe)
    entered(known)
    for number, visit in enumerate(queue.next_visits(), 1):
        site = known.settle(visit, hit=False)
        assert site is not None
        page = known.next_page(site)
        assert (page is not None) == (number == len(GUESSES))
    assert page is not None and page.url == HOME
    assert known.next_page(site) is None


def test_probe_always_asks_for_all_guesses_at_once_whatever_is_found() -> None:
    known, queue = sites("always")
    site = entered(known)
    visits = list(queue.next_visits())
    assert [visit.url for visit in visits] == GUESSES
    for visit in visits:
        known.settle(visit, hit=True)
    page = known.next_page(site)
    assert page is not None and page.url == HOME


def test_named_sitemap_settles_nothing() -> None:
    known, queue = sites()
    entered(known, named=NAMING)
    assert [known.settle(visit, hit=True) for visit in queue.next_visits()] == [None, None]


def test_feeds_of_the_home_page_are_the_last_resort() -> None:
    known, queue = sites("never")
    known.read(SitePage(entered(known), HTML_LINK), HOME, FEED)
    assert queued(queue) == ["https://e.com/feed"]
    known, queue = sites("always")
    site = entered(known, named=NAMING)
    list(queue.next_visits())
    known.read(SitePage(site, HTML_LINK), HOME, FEED)
    assert queued(queue) == []


def test_home_page_of_a_site_that_was_never_entered() -> None:
    known, queue = sites()
    site = entered(known, named=NAMING)
    list(queue.next_visits())
    known.read(SitePage(site, HTML_LINK), "https://other.example/", FEED)
    assert queued(queue) == ["https://other.example/feed"]


def test_methods_run_in_order_until_one_finds_a_sitemap(monkeypatch: pytest.MonkeyPatch) -> None:
    clues = []

    def find(clue: Clue) -> list[str]:
        clues.append(clue)
        return [A] if clue.content else []

    added = [ROBOTS_METHOD, Method("toy", "", "", find), Method("toy-page", "", "", find, page="/toy"), HTML_LINK]
    monkeypatch.setattr(site_discovery, "methods", lambda: added)
    known, queue = sites()
    site = entered(known)
    page = known.next_page(site)
    assert page is not None and (page.url, known.next_page(site)) == ("https://e.com/toy", None)
    known.read(page, "https://e.com/toy/", b"sitemaps")
    known.end_page(site)
    assert known.next_page(site) is None
    assert clues == [Clue(ROBOTS), Clue("https://e.com/toy/", b"sitemaps")]
    assert [(visit.url, visit.found_by, visit.parent) for visit in queue.next_visits()] == [
        (A, "toy-page", "https://e.com/toy/")
    ]


# ---- files that were read already

A, B = "https://e.com/a.xml", "https://e.com/b.xml"


def guess(url: str) -> Visit:
    return Visit(url, "common-path", probe=True)


def named(url: str) -> Visit:
    return Visit(url, "robots", ROBOTS)


OTHER = "https://other.example/a.xml"


@pytest.mark.parametrize(
    ("queued", "read", "visit", "final", "known"),
    [
        pytest.param([A], None, named(A), A, False, id="new"),
        pytest.param([A, B], None, named(A), B, True, id="redirected to a queued one"),
        pytest.param([A], None, named(A), "https://E.com:443/a.xml#x", False, id="redirected to another spelling"),
        pytest.param([], named(A), guess(B), B, True, id="guess with the content of a named one"),
        pytest.param([], guess(A), named(B), B, True, id="named one with the content of a guess"),
        pytest.param([], named(A), named(B), B, False, id="two named ones with the same content"),
        pytest.param([], guess(A), guess(OTHER), OTHER, False, id="the same content on another site"),
    ],
)
def test_file_that_was_read_already(
    queued: list[str], read: Visit | None, visit: Visit, final: str, known: bool
) -> None:
    site, queue = sites()
    for url in queued:
        queue.add(named(url))
    assert read is None or not site.was_read(read, read.url, b"1")
    assert site.was_read(visit, final, b"1") is known


def test_redirect_to_a_new_file_makes_it_known() -> None:
    known, queue = sites()
    queue.add(named(A))
    assert not known.was_read(named(A), B, b"1")
    assert not queue.add(named(B))
