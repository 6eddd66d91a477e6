"""Rules on language versions over all files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.namespaces.extensions import Alternate
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.site_links import returned
from tests.examples import briefly

from .sites import HOME, RULES, A, B, Links, Site, at, page

RETURN, CODE = "hreflang-return-missing", "hreflang-return-inconsistent"
APART, LOST = "hreflang-cluster-inconsistent", "hreflang-target-not-in-sitemap"
DE_EN = {"de": "/de/", "en": "/en/"}
ALL = {**DE_EN, "fr": "/fr/"}


def versions(*records: UrlRecord | SitemapRecord) -> Site:
    """A site that only the rules on language versions judge; the others take a tenth of a second for each site."""
    return Site(*records, choice=Choice(RULES, select=("hreflang",)))


def test_pages_that_list_each_other() -> None:
    pages = [
        page(url, sitemap, {**ALL, "x-default": "/en/"}) for url, sitemap in [("/de/", A), ("/en/", B), ("/fr/", A)]
    ]
    assert Site(*pages).told() == []


def returns(site: Site, condition: str = "TRUE") -> list[str | None]:
    return [value for (value,) in returned(SiteFacts(rows_of(site.connection.cursor())), condition)]


def test_each_link_is_returned_or_not() -> None:
    site = Site(
        page("/de/", links={"de": "/de/", "en": "/en/", "fr": "/fr/", "it": "/it/", "x-default": "/en/"}),
        page("/en/", B, [Alternate("xx", at("/de/")), Alternate("fr", "/fr/"), Alternate("es", None), Alternate("nl", "")]),
        page("/fr/", B),
        page("/gone/", links={"de": "/de/"}, change="removed"),
    )  # fmt: skip
    found = returns(site)
    assert found == ["yes", "yes", "no", "not listed", "yes", "yes", "no", "not listed", "not listed", None]
    assert returns(site, f"sitemap = '{B}'") == found[5:9]


@pytest.mark.parametrize(
    ("loc", "href", "back", "answer"),
    [
        ("/a", "HTTPS://EXAMPLE.com:443/%62", "/a", "yes"),
        ("/a", "/b", "http://example.com/a", "no"),
        ("/a", "/b#top", "/a", "yes"),
        ("/a", "/b/", "/a", "not listed"),
        ("/a", "mailto:a@example.com", "/a", "not listed"),
    ],
)
def test_pages_are_compared_and_not_their_spelling(loc: str, href: str, back: str, answer: str) -> None:
    link = Alternate("de", href)
    assert returns(Site(page(loc, links=[link]), page("/b", B, {"en": back})))[0] == answer


def test_link_back_may_be_in_another_entry_of_the_page() -> None:
    entries = page("/de/", links={"en": "/en/"}), page("/en/"), page("/en/", B, {"de": "/de/"})
    assert returns(Site(*entries)) == ["yes", "yes"]


PATHS = st.sampled_from(["/a", "/b", "/c"])


@briefly(12)
@given(st.lists(st.tuples(PATHS, st.lists(PATHS | st.just("/unlisted"), max_size=3)), min_size=1, max_size=4))
def test_answers_are_those_of_the_definition(entries: list[tuple[str, list[str]]]) -> None:
    links: dict[str, set[str]] = {}
    for path, targets in entries:
        links.setdefault(path, set()).update(targets)
    site = Site(*(page(path, links=[Alternate("de", at(target)) for target in targets]) for path, targets in entries))
    assert returns(site) == [
        "not listed" if target not in links else "yes" if path in links[target] or path == target else "no"
        for path, targets in entries
        for target in targets
    ]


def test_a_page_that_links_back_to_nobody() -> None:
    site = versions(page("/de/", links=DE_EN), page("/en/", B))
    assert site.told() == [(RETURN, "/en/", "'/en/' does not link back to '/de/', which lists it")]
    [found] = site.findings()
    assert (found.sitemap, found.line, found.severity, found.value) == (B, 3, "error", f"{HOME}/de/")


def test_a_page_that_links_back_to_some() -> None:
    site = versions(page("/de/", links=ALL), page("/en/", links=ALL), page("/fr/", B, {"fr": "/fr/"}))
    assert site.told() == [(RETURN, "/fr/", "'/fr/' does not link back to 2 pages that list it, such as '/de/'")]


ONE_WAY: list[tuple[Links, Links]] = [
    ({"de": "https://other.example/de/"}, {}), ({"de": "https://www.example.com/de/"}, {}),
    ({"de": "http://example.com/de/"}, {}), ({"en-UK": "/{n}/de/"}, {}), ({"de_DE": "/{n}/de/"}, {}),
    ({"de": "/{n}/de/"}, {"en-UK": "/{n}/en/"}), ({"de": "android-app://com.example/de"}, {}), ({"de": ""}, {}),
    ({"de": "https://["}, {}),
]  # fmt: skip
"""Links of a page, and those of its version."""


@pytest.fixture(scope="module")
def lacking() -> set[str | None]:
    """Pages without return links, of a site with a folder for each situation."""
    pages: list[UrlRecord] = []
    for n, (links, back) in enumerate(ONE_WAY):
        there, here = ({code: url.format(n=n) for code, url in given.items()} for given in (links, back))
        pages.append(page(f"/{n}/en/", links={"en": f"/{n}/en/", **there}))
        pages.append(page(f"/{n}/de/", B, {"de": f"/{n}/de/", **here} if here else {}))
    pages += page("/lost/en/", links={"en": "/lost/en/", "de": "/lost/de/"}), page("/lost/de/", B)
    return {path for rule, path in versions(*pages).rules() if rule == RETURN}


@pytest.mark.parametrize("number", range(len(ONE_WAY)), ids=lambda number: str(ONE_WAY[number]))
def test_links_that_need_no_return(number: int, lacking: set[str | None]) -> None:
    assert lacking.isdisjoint({f"/{number}/en/", f"/{number}/de/"})
    assert "/lost/de/" in lacking


def test_a_link_with_media_is_another_form_and_needs_no_return() -> None:
    mobile = Alternate("de", at("/m/"), attributes={"media": "only screen"})
    assert versions(page("/de/", links=[Alternate("de", at("/de/")), mobile]), page("/m/")).told() == []


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.com/stra%C3%9Fe/~a", "https://EXAMPLE.com:443/stra%c3%9fe/~a",
        "https://example.com/straße/%7Ea", "https://example.com/stra%C3%9Fe/%7ea#top", "/stra%C3%9Fe/~a",
    ],
)  # fmt: skip
def test_spellings_of_one_page(spelling: str) -> None:
    links = [Alternate("de", spelling), Alternate("en", at("/en"))]
    pages = page("https://example.com/stra%c3%9fe/%7Ea", links=links), page("/en", B, links)
    assert versions(*pages).told() == []


def test_a_final_slash_makes_another_page() -> None:
    site = versions(page("/de/", links={"de": "/de/", "en": "/en"}), page("/en/", B, DE_EN))
    assert site.told() == [
        (RETURN, "/de/", "'/de/' does not link back to '/en/', which lists it"),
        (LOST, "/de/", "'/en' has no entry in any sitemap"),
    ]


def test_a_relative_link_is_read_against_its_file() -> None:
    folder = f"{HOME}/shop/sitemap.xml"
    links = [Alternate("de", "de"), Alternate("en", "en")]
    assert versions(page("/shop/de", folder, links), page("/shop/en", folder, links)).told() == []
    assert (RETURN, "/shop/en") in versions(page("/shop/de", folder, links), page("/shop/en", A, links)).rules()


def test_an_invalid_code_has_been_told() -> None:
    wrong = {"de": "/de/", "en-UK": "/en/", "fr": "/fr/"}
    assert versions(page("/de/", links=wrong), page("/en/", links=ALL), page("/fr/", B, ALL)).told() == []


def test_a_page_that_does_not_list_itself_has_been_told_so() -> None:
    assert versions(page("/en?x", links=DE_EN), page("/de/", links=DE_EN), page("/en/", links=DE_EN)).told() == []


def test_a_page_with_two_clusters_has_the_links_of_both() -> None:
    two = page("/en/", links=DE_EN), page("/en/", B, {"en": "/en/", "fr": "/fr/"})
    site = Site(*two, page("/de/", links=DE_EN), page("/fr/", links={"en": "/en/", "fr": "/fr/"}))
    assert site.rules() == [("cross-duplicate-url", "/en/")]


def test_the_links_of_a_repaired_entry_are_in_doubt() -> None:
    assert versions(page("/de/", links=DE_EN), page("/en/", recovered=True)).told() == []
    assert versions(page("/de/", links=DE_EN, recovered=True), page("/en/")).told() == []


def test_a_code_that_the_page_itself_does_not_have() -> None:
    at_de = {"de": "/at/", "en": "/en/"}
    site = versions(page("/en/", links=at_de), page("/at/", links={"de-AT": "/at/", "en": "/en/"}))
    assert site.told() == [(CODE, "/en/", "'/at/' is de here, and de-AT in its own entry")]


@pytest.mark.parametrize("own", [{"de": "/de/", "de-AT": "/de/"}, {"DE": "/de/"}, {"x-default": "/de/"}], ids=str)
def test_codes_that_do_not_contradict(own: Links) -> None:
    pages = page("/en/", links=DE_EN), page("/de/", links={"en": "/en/", **own})
    assert CODE not in dict(versions(*pages).rules())


def test_versions_that_list_different_sets() -> None:
    more = {**DE_EN, "fr": "https://example.fr/"}
    site = versions(page("/de/", links=DE_EN), page("/en/", links=more))
    assert site.told() == [(APART, "/de/", "its version '/en/' has a link for fr that this entry does not have")]


def test_the_same_link_twice_makes_no_other_set() -> None:
    twice = [Alternate(code, at(url)) for code, url in [*DE_EN.items(), ("en", "/en/")]]
    assert versions(page("/de/", links=twice), page("/en/", links=DE_EN)).told() == []


def test_different_sets_are_not_told_where_a_return_is_missing() -> None:
    site = versions(page("/de/", links=DE_EN), page("/en/", links=ALL), page("/fr/", links={"fr": "/fr/"}))
    assert site.rules() == [(APART, "/de/"), (RETURN, "/fr/")][1:]


def test_a_target_without_an_entry() -> None:
    links = {**DE_EN, "fr": "/fr/", "es": "/es/"}
    site = versions(page("/de/", links=links), page("/en/", links=links))
    text = "'/es/' has no entry in any sitemap (and 1 more of its versions)"
    assert site.told() == [(LOST, "/de/", text), (LOST, "/en/", text)]
    [found, _] = site.findings()
    assert (found.severity, found.value) == ("warning", f"{HOME}/es/")


def test_a_target_of_the_second_entry_of_a_page() -> None:
    site = versions(page("/de/", links={"de": "/de/"}), page("/de/", B, {"de": "/de/", "fr": "/fr/"}))
    assert (LOST, "/de/", "'/fr/' has no entry in any sitemap") in site.told()


def strays(number: int) -> Iterator[UrlRecord]:
    yield from (page(f"/{index}") for index in range(100))
    yield from (page(f"https://shop.example/{index}") for index in range(number))


@pytest.mark.parametrize(("number", "seen"), [(1, False), (20, True)])
def test_some_pages_of_a_host_do_not_make_it_crawled(number: int, seen: bool) -> None:
    linking = page("/de/", links={"de": "/de/", "en": "https://shop.example/en/"})
    assert ((LOST, "/de/") in versions(linking, *strays(number)).rules()) is seen


def test_host_without_www_is_the_same() -> None:
    linking = page("/de/", links={"de": "/de/", "en": "https://shop.example/en/"})
    listed = (page(f"https://www.shop.example/{path}") for path in ("en/", *range(20)))
    assert (LOST, "/de/", "'https://shop.example/en/' has no entry in any sitemap") in versions(linking, *listed).told()


@pytest.mark.parametrize(
    ("narrowed_by", "skipped"), [({}, False), ({"include": 0}, False), ({"since": 3}, True), ({"stopped": 1}, True)]
)
def test_targets_may_be_among_what_was_left_out(narrowed_by: dict[str, int], skipped: bool) -> None:
    site = versions(page("/de/", links={"de": "/de/", "fr": "/fr/"}))
    assert ((LOST, "/de/") not in site.rules(narrowed_by=narrowed_by)) is skipped
    assert site.judge.skipped[LOST] == skipped
    assert not site.judge.skipped[RETURN]


@pytest.mark.parametrize(
    ("fields", "narrowed"),
    [
        ({"outcome": "failed", "status": 500}, True), ({"outcome": "truncated", "status": 200}, True),
        ({"outcome": "failed"}, True), ({"outcome": "blocked"}, True), ({"outcome": "failed", "status": 404}, False),
        ({"outcome": "unchanged", "status": 304}, False), ({"outcome": "recovered", "status": 200}, False),
        ({"found_by": "argument", "format": "xml-urlset"}, True),
        ({"found_by": "argument", "format": "xml-index"}, True),
    ],
    ids=str,
)  # fmt: skip
def test_targets_may_be_in_a_file_that_was_not_read(fields: dict[str, object], narrowed: bool) -> None:
    given = {"found_by": "index", **fields}
    site = versions(page("/de/", links={"de": "/de/", "fr": "/fr/"}), SitemapRecord(B, **given))  # type: ignore[arg-type]  # fields of the record
    assert ((LOST, "/de/") not in site.rules()) is narrowed
    assert site.judge.skipped[LOST] == narrowed


def test_rules_that_judge_what_there_is_count_the_files_they_had_not() -> None:
    files = [SitemapRecord(f"{HOME}/{name}", outcome="failed", found_by="index") for name in ("x", "y")]
    site = versions(page("/de/", links=DE_EN), page("/en/", B), *files)
    assert site.rules() == [(RETURN, "/en/")]
    assert site.judge.skipped[RETURN] == 2


PATHS = ("/a", "/b", "/c", "/d")
GRAPHS = st.fixed_dictionaries({path: st.sets(st.sampled_from(PATHS)) for path in PATHS[:3]})


@pytest.mark.slow
@settings(max_examples=10)
@given(GRAPHS)
def test_returns_of_any_graph(graph: dict[str, set[str]]) -> None:
    codes = dict(zip(PATHS, ("de", "en", "fr", "es"), strict=True))
    pages = (page(path, links={codes[to]: to for to in sorted(links)}) for path, links in graph.items())
    site = versions(*pages)
    missing = {
        to for path, links in graph.items() if path in links for to in links if to in graph and path not in graph[to]
    }
    lost = {path for path, links in graph.items() if "/d" in links}
    rules = site.rules()
    assert {path for rule, path in rules if rule == RETURN} == missing
    assert {path for rule, path in rules if rule == LOST} == lost
    wanted = {
        to
        for path, links in graph.items() if path in links
        for to in links & graph.keys() - {path}
        if to in graph[to] and path in graph[to] and links != graph[to] and len(links) >= len(graph[to])
    }  # fmt: skip
    at_fault = missing | {path for path, links in graph.items() if path in links and links & missing - {path}}
    assert {path for rule, path in rules if rule == APART} <= wanted - missing
    assert {rule for rule, _ in rules} <= {RETURN, LOST, APART}
    if not at_fault:
        assert {path for rule, path in rules if rule == APART} == wanted
