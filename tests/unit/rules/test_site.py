"""Rules on what the files of a site list together, how they are made known, and what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from sitemapcrawler.items import Counts, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.namespaces.extensions import Image, News, Video
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.rules.choice import Allowance, Choice
from sitemapcrawler.rules.facts import site as site_facts
from sitemapcrawler.rules.facts.site import PLACED, SiteFacts
from sitemapcrawler.urls.expressions import Expression

from .sites import HOME, RULES, A, B, C, Site, page

TWICE, DATES = "cross-duplicate-url", "cross-conflicting-lastmod"
HOST, PROTOCOL = "cross-mixed-host", "cross-mixed-protocol"
COVERAGE, NEWS = "cross-lastmod-coverage", "cross-news-in-general"
ORPHAN, DISCOVERY, BOTH = "cross-orphan-sitemap", "cross-discovery-inconsistent", "robots-lists-child-and-index"
ROBOTS = f"{HOME}/robots.txt"


def audited(*records: UrlRecord | SitemapRecord | RobotsRecord, **given: Any) -> Site:
    """A crawl that the rules on files judge; those on language versions and replies have modules of their own."""
    return Site(*records, **{"choice": Choice(RULES, select=("cross", "robots", "loc")), **given})


def dated(loc: str, sitemap: str, lastmod: str, **fields: Any) -> UrlRecord:
    return page(loc, sitemap, lastmod=lastmod, lastmod_at=utc(lastmod), **fields)


def test_a_page_in_two_files() -> None:
    site = audited(page("/a", B), page("/a", A), page("/b", A), page("/b", A))
    assert site.told() == [(TWICE, "/a", "'/a' is listed in '/b.xml' too")]
    [found] = site.findings()
    assert (found.sitemap, found.url, found.value, found.severity) == (A, f"{HOME}/a", B, "warning")


def test_a_page_in_three_files_under_two_spellings() -> None:
    site = audited(page("/a", A), page("https://EXAMPLE.com:443/a", B), page("/%61", C), page("/a", C))
    assert site.told() == [(TWICE, "/a", "'/a' is listed in '/c.xml' and in 1 more file too")]


DATES_OF_TWO = [
    ("2026-01-05", "2026-01-05", False),
    ("2026-01-05", "2026-01-06", False),
    ("2026-01-05", "2026-01-07", True),
    ("2026-01-05", "2026-01-05T23:59:59Z", False),
    ("2026-01-05", "2026-01-06T00:00:01Z", True),
    ("2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z", False),
    ("2026-01-05T10:00:00Z", "2026-01-05T11:00:00Z", True),
    ("2026", "2025-07-01", False),
]


def test_dates_of_a_page_in_two_files() -> None:
    pairs = [(f"/{one}_{other}", one, other, conflict) for one, other, conflict in DATES_OF_TWO]
    pairs += [(f"/{other}_{one}", other, one, conflict) for one, other, conflict in DATES_OF_TWO]
    entries = [
        entry for path, one, other, _ in pairs for entry in (dated(path, A, one), dated(path, B, other), page(path, C))
    ]
    told = {path for rule, path in audited(*entries).rules() if rule == DATES}
    assert told == {path for path, *_, conflict in pairs if conflict}


def test_conflicting_dates_are_told_with_the_older() -> None:
    site = audited(dated("/a", A, "2026-03-01"), dated("/a", B, "2026-01-05"))
    assert site.told()[0] == (DATES, "/a", "dated 2026-01-05 here, and 2026-03-01 in '/a.xml'")
    assert site.findings()[1].sitemap == B


def test_conflicting_dates_are_told_as_written() -> None:
    moment = "2026-03-01T10:00:00Z"
    odd = page("/a", B, lastmod="Sun, 1 Mar 2026 10:00:00 GMT", lastmod_at=moment)
    [(_, _, text), _] = audited(dated("/a", A, "2026-01-05"), odd).told()
    assert text == "dated 2026-01-05 here, and Sun, 1 Mar 2026 10:00:00 GMT in '/b.xml'"


FEED = {"format": "rss", "found_by": "robots", "status": 200}
JPG, OTHER_JPG = [Image(f"{HOME}/a.jpg")], [Image(f"{HOME}/b.jpg")]
LINKS = {"de": "/a", "en": "/b"}
FIRST = dated("/a", A, "2026-03-01")


def again(**fields: Any) -> UrlRecord:
    return dated("/a", B, "2026-01-05", **fields)


OVERLAPS: dict[str, tuple[list[Any], bool, bool]] = {
    "feed": ([FIRST, again(), SitemapRecord(B, **FEED)], False, False),
    "two feeds": (
        [FIRST, again(), SitemapRecord(B, **FEED), SitemapRecord(A, **{**FEED, "format": "atom"})], False, False,
    ),
    "list": ([FIRST, page("/a", B), SitemapRecord(B, format="list")], False, False),
    "images": ([FIRST, again(images=JPG)], False, False),
    "images of some pages": ([FIRST, page("/a", B), page("/b", B, images=JPG)], False, False),
    "images of few pages": ([FIRST, *(page(f"/{n}", B) for n in "abc"), page("/d", B, images=JPG)], True, False),
    "the same images": ([page("/a", A, images=JPG), page("/a", B, images=JPG)], True, False),
    "more images of a page that has some": (
        [page("/a", A, images=JPG), page("/a", B, images=[*JPG, *OTHER_JPG])], False, False,
    ),
    "images, of a file of its own pages": ([FIRST, *(page(f"/{n}", B, images=JPG) for n in "bc"), again(images=JPG)], True, True),
    "images, one in an entry": ([FIRST, *(page("/a", B, images=[Image(f"{HOME}/{n}.jpg")]) for n in "abc")], False, False),
    "videos": ([FIRST, again(videos=[Video(content_loc="a.mp4")])], False, False),
    "videos without a field": ([FIRST, page("/a", B, videos=[Video()])], False, False),
    "language versions": ([FIRST, again(links=LINKS)], False, True),
    "language versions, of a file of its own pages": (
        [FIRST, *(page(f"/{n}", B, links=LINKS) for n in "bc"), again(links=LINKS)], True, True,
    ),
    "the same language versions": ([page("/a", A, links=LINKS), page("/a", B, links=LINKS)], True, False),
    "news": ([FIRST, again(news=News())], False, False),
    "pages": ([FIRST, again()], True, True),
}  # fmt: skip
"""What two files list; whether that is a second entry of the page /a, and another date of it."""


def of_its_own(record: Any, number: int) -> Any:
    """A record of a situation: in a file, and of a page, that no other situation has."""
    changed = {"sitemap": record.sitemap.replace(".xml", f"{number}.xml")}
    return replace(record, **changed, **({"loc": f"{record.loc}{number}"} if isinstance(record, UrlRecord) else {}))


@pytest.fixture(scope="module")
def overlapping() -> set[tuple[str, str | None]]:
    """(rule, page) of a site of all files that list pages again."""
    records = [
        of_its_own(record, number) for number, (records, *_) in enumerate(OVERLAPS.values()) for record in records
    ]
    return {*audited(*records).rules()}


@pytest.mark.parametrize("what", OVERLAPS)
def test_files_that_list_pages_again(overlapping: set[tuple[str, str | None]], what: str) -> None:
    path = f"/a{[*OVERLAPS].index(what)}"
    assert ((TWICE, path) in overlapping, (DATES, path) in overlapping) == OVERLAPS[what][1:]


def test_dates_within_one_file_are_no_matter_of_the_site() -> None:
    assert audited(dated("/a", A, "2026-01-05"), dated("/a", A, "2025-01-05")).told() == []


def test_pages_with_and_without_www() -> None:
    bare = [page("https://example.com/a", A), page("https://example.com/b", A)]
    site = audited(*bare, page("https://www.example.com/c", B), page("https://shop.example.com/", C))
    text = "1 page is listed on www.example.com, such as 'https://www.example.com/c'; most are on example.com"
    [found] = site.findings()
    assert (found.rule, found.message, found.sitemap) == (HOST, text, B)


def test_pages_on_http_and_https() -> None:
    secure = [page(f"https://example.com/{name}", A) for name in "abc"]
    site = audited(
        *secure, page("http://example.com/d", B), page("http://example.com/e", B), page("http://a.example/", C)
    )
    [found] = site.findings()
    assert (found.rule, found.url) == (PROTOCOL, "http://example.com/d")
    assert found.message.startswith("2 pages are listed on http://example.com, such as ")


def test_another_host_and_protocol_at_once_is_one_fault() -> None:
    assert audited(page("https://www.example.com/a", A), page("http://example.com/b", B)).rules() == [
        (HOST, "http://example.com/b")
    ]


def test_entries_that_their_own_file_told_of_are_not_told_again() -> None:
    told_of = [
        page(f"http://example.com/{issue}", A, issues=[issue]) for issue in ("loc-protocol-mismatch", "loc-offsite")
    ]
    assert audited(*(page(f"/{n}", A) for n in range(3)), *told_of).told() == []


def test_another_port_is_another_site() -> None:
    assert (
        audited(page("/a", A), page("http://example.com:8080/a", B), page("https://www.example.com:8443/a", C)).told()
        == []
    )


def test_news_among_pages() -> None:
    files = [
        SitemapRecord(
            f"{HOME}/{news}.xml", found_by="robots", format="xml-urlset", url_count=10, counts=Counts(news=news)
        )
        for news in (0, 1, 2, 5, 10)
    ]
    assert [found for found in audited(*files).told() if found[0] == NEWS] == [
        (NEWS, "/1.xml", "1 of 10 entries (10 %) is a news article"),
        (NEWS, "/2.xml", "2 of 10 entries (20 %) are news articles"),
    ]


def test_dates_in_one_of_two_files() -> None:
    site = audited(dated("/a", A, "2026-01-05"), page("/b", B), page("/c", B, news=News()))
    text = "1 of 2 entries (50 %) has no date; 1 of 2 files has no date at all, such as '/b.xml'"
    assert site.told() == [(COVERAGE, None, text)]
    assert site.told(narrowed_by={"since": 1}) == []


@pytest.mark.parametrize("make", [lambda loc, file: dated(loc, file, "2026-01-05"), page], ids=["dates", "none"])
def test_dates_everywhere_or_nowhere(make: Callable[[str, str], UrlRecord]) -> None:
    assert audited(make("/a", A), make("/b", B)).told() == []


def found(url: str, by: str = "common-path", **fields: Any) -> SitemapRecord:
    return SitemapRecord(url, found_by=by, **{"format": "xml-urlset", "status": 200, **fields})


def robots(*sitemaps: str) -> RobotsRecord:
    return RobotsRecord(ROBOTS, status=200, sitemaps=list(sitemaps))


@pytest.mark.parametrize(
    ("sitemap", "named", "children", "orphan"),
    [
        (found(A), [], [], True),
        (found(A), [B], [(B, C)], True),
        (found(A), [A], [], False),
        (found(A), ["HTTPS://EXAMPLE.com:443/a.xml"], [], False),
        (found(A), [], [(B, A)], False),
        (found(A, final_url=B), [B], [], False),
        (found(A, outcome="failed", status=404), [], [], False),
        (found(A, "robots"), [], [], False),
        (found(A, "index"), [], [], False),
    ],
)
def test_a_sitemap_that_nothing_names(
    sitemap: SitemapRecord, named: list[str], children: list[tuple[str, str]], orphan: bool
) -> None:
    rules = audited(sitemap, robots(*named), children=children).rules()
    assert rules == ([(ORPHAN, "/a.xml")] if orphan else [])


def test_a_sitemap_that_a_named_one_redirects_to_is_named() -> None:
    assert audited(found(A), found(B, "robots", final_url=A), robots(B)).told() == []


def test_orphans_are_not_looked_for_where_an_index_was_not_read() -> None:
    site = audited(found(A), found(B, "robots", outcome="failed", status=503), robots(B))
    assert (ORPHAN, "/a.xml") not in site.rules()
    assert site.judge.skipped[ORPHAN] == 1


def test_a_home_page_that_links_to_another_sitemap_than_robots_txt() -> None:
    assert audited(found(A, "html-link"), found(B, "robots"), robots(B)).rules() == [(DISCOVERY, "/a.xml")]


@pytest.mark.parametrize(
    ("records", "children"),
    [
        ([found(A, "html-link"), robots()], []),
        ([found(A, "html-link"), found(B, "robots"), robots(B)], [(B, A)]),
        ([found(A, "html-link", format="rss"), found(B, "robots"), robots(B)], []),
    ],
    ids=["the only one", "listed by the other", "feed"],
)
def test_a_home_page_that_links_to_no_other_sitemap(records: list[Any], children: list[tuple[str, str]]) -> None:
    assert audited(*records, children=children).told() == []


def test_what_the_home_page_links_to_is_no_orphan_though_it_has_a_usual_name() -> None:
    linked = {"home_links": ["HTTPS://example.com:443/a.xml"]}
    assert audited(found(A), robots()).told(**linked) == []
    assert [rule for rule, *_ in audited(found(A), found(B, "robots"), robots(B)).told(**linked)] == [DISCOVERY]
    assert audited(found(A, final_url=C), robots()).told(home_links=[C]) == []
    assert [rule for rule, *_ in audited(found(A), robots()).told(home_links=[C])] == [ORPHAN]


def test_a_link_of_a_home_page_that_was_read_as_a_listed_page() -> None:
    site = audited(found(B, "robots"), robots(B), children=[(B, C)])
    assert [found[:2] for found in site.told(home_links=[A])] == [(DISCOVERY, "/a.xml")]
    assert site.told(home_links=[B, C]) == []
    assert site.told(home_links=["https://other.example/a.xml"]) == []
    assert audited(found(B, "robots", outcome="failed", status=503), robots(B)).told(home_links=[A]) == []


def test_robots_txt_that_names_nothing_but_what_is_gone() -> None:
    gone = found(B, "robots", outcome="failed", status=404)
    told = {rule: (path, text) for rule, path, text in audited(found(A), gone, robots(B)).told()}
    text = "the sitemap that it names could not be read; '/a.xml', which it does not name, could"
    assert told[DISCOVERY] == ("/robots.txt", text)
    assert DISCOVERY not in dict(audited(found(A), gone, found(C, "robots"), robots(B, C)).rules())


def test_robots_txt_with_an_index_and_its_children() -> None:
    site = audited(robots(A, B, C), children=[(A, B), (A, C)])
    assert site.told() == [(BOTH, "/robots.txt", "names '/b.xml' and 1 more file, and '/a.xml', which lists them")]
    assert audited(robots(B, C), children=[(A, B), (A, C)]).told() == []


def test_what_has_changed() -> None:
    site = audited(*(page(f"/{n}", A if n < 6 else B) for n in range(10)))
    site.change("added", "/0", "/1")
    site.change("removed", "/8", "/9")
    assert site.told(baseline=site.before(8)) == [
        ("cross-added-url", "/a.xml", "2 URLs are new, such as '/0'"),
        ("cross-removed-url", "/b.xml", "2 URLs are no longer listed, such as '/8'"),
    ]
    assert site.told(baseline=site.before(1))[1][2] == "8 URLs, 9 in the previous crawl: 11 % fewer"


def test_removed_urls_take_no_part() -> None:
    site = Site(page("/a", A), page("/a", B), page("/b", B))
    site.connection.execute("UPDATE urls SET change = 'removed' WHERE sitemap = ?", [A])
    assert site.told() == []


@pytest.mark.parametrize("facts", [{"narrowed_by": {"max_urls": 1}}, {"uncompared": ["example.com"]}])
def test_nothing_is_compared_where_one_of_the_crawls_is_not_whole(facts: dict[str, Any]) -> None:
    site = audited(page("/a"))
    site.change("added", "/a")
    assert site.told(baseline=site.before(100), **facts) == []
    assert site.judge.skipped["cross-count-drop"] == 1


def test_without_a_baseline_nothing_is_skipped() -> None:
    site = audited(page("/a"))
    assert site.told() == []
    assert not site.judge.skipped


OTHER = "https://www.other.example"
"""Another site of the same crawl."""


def file(url: str, by: str = "robots", **fields: Any) -> SitemapRecord:
    parent = f"{url.rpartition('/')[0]}/robots.txt" if by == "robots" else None
    return SitemapRecord(url, **{"parent": parent, "found_by": by, "format": "xml-urlset", "status": 200, **fields})


def test_two_sites_in_one_crawl_are_judged_apart() -> None:
    own = [dated("/a", A, "2026-01-05"), file(A), file(f"{HOME}/x.xml", "common-path")]
    site = Site(*own, page("/a", f"{OTHER}/a.xml"), page("/a", f"{OTHER}/b.xml"))
    assert site.told() == [
        (TWICE, "/a", f"'/a' is listed in '{OTHER}/b.xml' too"),
        (ORPHAN, "/x.xml", "found only at a common path: neither robots.txt nor an index names it"),
    ]


def test_dates_of_each_site() -> None:
    there = [dated(f"/{n}", f"{OTHER}/{n}.xml", "2026-01-05") for n in "cd"]
    assert audited(page("/a", A), page("/b", B), *there).told() == []
    some = audited(dated("/a", A, "2026-01-05"), page("/b", B), *there)
    text = "example.com: 1 of 2 entries (50 %) has no date; 1 of 2 files has no date at all, such as '/b.xml'"
    assert some.told() == [(COVERAGE, None, text)]


@pytest.mark.parametrize(
    "there",
    [
        file(f"{OTHER}/a.xml", outcome="failed", status=503),
        file(f"{OTHER}/a.xml", "argument"),
        file("https://cdn.example/1.xml", parent=f"{OTHER}/robots.txt", outcome="blocked", status=None),
    ],
    ids=["broken", "alone", "elsewhere"],
)
def test_what_is_missing_of_one_site_says_nothing_of_another(there: SitemapRecord) -> None:
    site = Site(found(A), page("/de/", B, links={"de": "/de/", "fr": "/fr/"}), there)
    assert {(ORPHAN, "/a.xml"), ("hreflang-target-not-in-sitemap", "/de/")} <= {*site.rules()}
    assert site.judge.skipped[ORPHAN] == 1
    left = Site(found(A), file(f"{OTHER}/b.xml", "common-path"))
    assert left.rules(narrowed_sites=["other.example"]) == [(ORPHAN, "/a.xml")]


def test_links_to_a_site_of_which_a_file_is_missing() -> None:
    entries = [page(f"{OTHER}/{n}", f"{OTHER}/b.xml") for n in range(30)]
    linking = page("/de/", links={"de": "/de/", "en": f"{OTHER}/en/"})
    assert ("hreflang-target-not-in-sitemap", "/de/") in Site(linking, *entries).rules()
    broken = file(f"{OTHER}/a.xml", outcome="failed", status=503)
    assert ("hreflang-target-not-in-sitemap", "/de/") not in Site(linking, *entries, broken).rules()


def test_files_belong_to_what_names_them() -> None:
    cdn = "https://cdn.example/{}.xml"
    index = file(cdn.format("index"), parent=ROBOTS, format="xml-index")
    child = file(cdn.format("a"), "index", parent=index.sitemap, depth=1)
    other = file(cdn.format("b"), parent=f"{OTHER}/robots.txt")
    apart = audited(index, child, other, page("/a", child.sitemap), page("/a", other.sitemap))
    assert (TWICE, "/a") not in apart.rules()
    together = file(other.sitemap, parent="https://www.example.com/robots.txt")
    assert (TWICE, "/a") in audited(
        index, child, together, page("/a", child.sitemap), page("/a", together.sitemap)
    ).rules()


def test_a_file_that_two_robots_files_name_belongs_to_its_own_host() -> None:
    def site(parent: str) -> Site:
        theirs = RobotsRecord(f"{OTHER}/robots.txt", status=200, sitemaps=[A, f"{OTHER}/b.xml"])
        entries = page("/a", A), page("/a", f"{OTHER}/b.xml"), page("/a", B)
        return audited(file(A, parent=parent), robots(A, B), theirs, *entries, file(B), file(f"{OTHER}/b.xml"))

    for parent in (ROBOTS, f"{OTHER}/robots.txt"):
        assert (TWICE, "/a", "'/a' is listed in '/b.xml' too") in site(parent).told()


def test_each_site_is_compared_with_what_it_was() -> None:
    mine = [page(f"/{n}", A) for n in range(7)]
    there = [page(f"/{n}", f"{OTHER}/a.xml") for n in range(50)]
    site = audited(*mine, *there, file(A), file(f"{OTHER}/a.xml"))
    site.connection.execute("UPDATE urls SET change = 'added' WHERE sitemap LIKE '%other%'")
    text = "example.com: 7 URLs, 10 in the previous crawl: 30 % fewer"
    assert ("cross-count-drop", None, text) in site.told(baseline=site.before(10))
    assert "cross-added-url" not in dict(site.rules(baseline="baseline")), "it was in no crawl before"


def test_robots_txt_of_a_host_that_is_no_site_of_the_crawl() -> None:
    foreign = RobotsRecord("https://foreign.example/robots.txt", status=200, sitemaps=[A, B])
    moved = RobotsRecord(f"{OTHER}/robots.txt", status=200, sitemaps=[A, B], final_url=ROBOTS)
    rules = audited(robots(A, B), foreign, moved, file(A, format="xml-index"), children=[(A, B)]).rules()
    assert rules == [(BOTH, "/robots.txt")]


def statements_on(site: Site) -> list[str]:
    """SQL that the rules run on a site without findings."""
    run: list[str] = []
    rows = rows_of(site.connection.cursor())

    def logged(sql: str, parameters: Sequence[object]) -> Iterator[object]:
        run.append(sql)
        return rows(sql, parameters)

    facts = SiteFacts(logged)
    assert list(site.judge.site(facts)) == []
    site.judge.mark_entries(facts)
    return run


MOST_STATEMENTS = 62
"""Statements on a site of one file without findings, on tables that have rows or are asked for one."""


def test_rules_ask_little_of_a_small_site() -> None:
    asked = statements_on(Site(page("/a", A), page("/b", A), page("/c", A)))
    assert len(asked) <= MOST_STATEMENTS
    for table in ("site_told", "FROM compared c", "FROM pages)", "site_links", "site_marks"):
        assert not [sql for sql in asked if table in sql], table
    columns = [sql for sql in asked if "IS NOT NULL LIMIT 1" in sql]
    assert len(columns) == len(set(columns)), "asked once for all rules"


def test_an_entry_that_was_read_as_a_sitemap() -> None:
    read = [found(f"{HOME}/list.php", "index"), found(f"{HOME}/moved", "index", final_url=f"{HOME}/feed", format="rss")]
    none = [found(f"{HOME}/page", "index", format="html"), found(f"{HOME}/gone", "index", outcome="failed")]
    paths = ("/%6Cist.php", "/feed", "/page", "/gone", "/other")
    site = audited(
        *read,
        *none,
        *map(page, paths),
        page("/list.php", B, issues=["loc-is-sitemap"]),
        page("/moved", B, issues=["loc-asset"]),
    )
    text = "'/feed' is listed as a page, but is a sitemap"
    told = [one for one in site.told() if one[0] == "loc-is-sitemap"]
    assert [path for _, path, _ in told] == ["/%6Cist.php", "/feed"]
    assert told[1] == ("loc-is-sitemap", "/feed", text)


def article(loc: str, title: str) -> UrlRecord:
    return page(loc, news=News(title=title))


MARKED: dict[str, tuple[list[Any], str, set[tuple[str, str]]]] = {
    "listed in three files": (
        [page("/a", A), page("/a", B), page("/a", C), page("/a", C), page("/b", A)],
        TWICE,
        {("a.xml", "/a"), ("b.xml", "/a"), ("c.xml", "/a")},
    ),
    "listed again in a file of images": (
        [page("/a", A), page("/a", B), page("/a", C, images=[Image(f"{HOME}/a.jpg")])],
        TWICE,
        {("a.xml", "/a"), ("b.xml", "/a")},
    ),
    "dates that differ": (
        [dated("/a", A, "2026-01-05"), dated("/a", B, "2026-01-07"), page("/a", C), dated("/b", A, "2026-01-05")],
        DATES,
        {("a.xml", "/a"), ("b.xml", "/a")},
    ),
    "the host of fewer pages": (
        [page("https://www.example.com/a"), page("https://www.example.com/b"), *(page(f"/{n}", B) for n in range(3))],
        HOST,
        {("a.xml", "https://www.example.com/a"), ("a.xml", "https://www.example.com/b")},
    ),
    "an index page": ([page("/x/"), page("/x/index.html"), page("/x/index.html", B)], "cross-same-page",
        {("a.xml", "/x/index.html"), ("b.xml", "/x/index.html")}),
    "no date": (
        [dated("/a", A, "2026-01-05"), page("/b", A), page("/c", B), page("/d", B)],
        COVERAGE,
        {("a.xml", "/b"), ("b.xml", "/c"), ("b.xml", "/d")},
    ),
    "no date in the only file": (
        [SitemapRecord(A, format="xml-urlset", status=200, issues=["lastmod-missing"]), dated("/a", A, "2026-01-05"),
         page("/b", A), article("/c", "News")],
        "lastmod-missing",
        {("a.xml", "/b")},
    ),
    "a title of several articles": (
        [SitemapRecord(A, format="xml-urlset", status=200, issues=["news-title-repeated"]),
         article("/a", "Live"), article("/b", "Live"), article("/c", "Other"), article("/d", "")],
        "news-title-repeated",
        {("a.xml", "/a"), ("a.xml", "/b")},
    ),
    "articles among pages": (
        [SitemapRecord(A, format="xml-urlset", status=200, url_count=5, counts=Counts(news=2)),
         article("/a", "One"), article("/b", "Two"), *(page(f"/{n}") for n in range(3))],
        NEWS,
        {("a.xml", "/a"), ("a.xml", "/b")},
    ),
    "frequencies that the dates contradict": (
        [SitemapRecord(A, format="xml-urlset", status=200, issues=["changefreq-contradicts-lastmod"]),
         dated("/a", A, "2012-01-05", changefreq="daily"), dated("/b", A, "2012-01-05", changefreq="never")],
        "changefreq-contradicts-lastmod",
        {("a.xml", "/a")},
    ),
}  # fmt: skip
"""Situation -> records, rule, and (file, path) of all entries that it concerns."""


@pytest.mark.parametrize(("records", "rule", "entries"), MARKED.values(), ids=MARKED)
def test_all_entries_concerned_are_marked_however_few_become_records(
    records: list[Any], rule: str, entries: set[tuple[str, str]]
) -> None:
    assert Site(*records, choice=Choice(RULES, select=(rule,)), per_rule=1).marked()[rule] == entries


def test_the_rule_that_replaces_another_marks_in_its_place() -> None:
    undated = SitemapRecord(A, format="xml-urlset", status=200, found_by="robots", issues=["lastmod-missing"])
    elsewhere = page("/b", A)  # neither rule reports it, since B dates the page
    marked = audited(undated, page("/a", A), elsewhere, dated("/b", B, "2026-01-05")).marked()
    assert marked[COVERAGE] == {("a.xml", "/a")}
    assert "lastmod-missing" not in marked


def test_entries_that_are_allowed_are_not_marked() -> None:
    allowed = Choice(RULES, allowances=(Allowance(TWICE, Expression("/a$"), "known"),))
    marked = Site(page("/a", A), page("/a", B), page("/b", A), page("/b", B), choice=allowed).marked()
    assert marked == {TWICE: {("a.xml", "/b"), ("b.xml", "/b")}}


def test_allowed_entries_are_judged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_facts, "AT_ONCE", 2)
    crawled = audited(*(page(f"/{n}", file) for n in range(5) for file in (A, B)))
    steps = []
    rows = rows_of(crawled.connection.cursor())
    facts = SiteFacts(lambda sql, parameters: [steps.append("query"), rows(sql, parameters)][1])
    facts.rule = TWICE
    facts.mark(PLACED)
    del steps[:]
    facts.forget_marks(lambda url: [steps.append("judged"), not url.endswith("/3")][1])
    judged = [len(list(alike)) for step, alike in groupby(steps) if step == "judged"]
    assert judged == [2, 2, 1]
    assert list(facts.query("SELECT count(*) FROM temp.site_marks")) == [(2,)]
