"""The rules on sitemap indexes, one file at a time and over the files of a site."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.frontier import Frontier, Selection, Visit
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import Children, Reading
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import SitemapEnd
from sitemapcrawler.reader import Limits
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.families import index as families
from sitemapcrawler.rules.judge import Judge
from tests.unit.tables import cases

from .expecting import BAD, CORE, rules_of
from .judging import judge
from .listing import on_child

OURS = rules_of("index")
HOME = "https://example.com"


@pytest.mark.parametrize(
    ("path", "rule"),
    cases(
        (["/about", "/sitemap/", "/about.html?from=index.xml"], "index-child-is-page"),
        (["/posts-1.xml", "/posts.XML.gz?page=2", "/posts.txt"], "doc-is-html"),
    ),
)  # fmt: skip
def test_a_page_under_the_name_of_a_sitemap_is_a_sitemap_that_fails(path: str, rule: str) -> None:
    body = (BAD / "index-child-is-page-about.xml").read_bytes()
    findings = judge(body, url=HOME + path, found_by="index", parent=f"{HOME}/sitemap.xml")
    assert [finding.rule for finding in findings] == [rule]


def index(*children: str, lastmod: str = "2026-01-05") -> bytes:
    entries = "".join(f"\n<sitemap><loc>{HOME}{path}</loc><lastmod>{lastmod}</lastmod></sitemap>" for path in children)
    return f'<sitemapindex xmlns="{CORE}">{entries}\n</sitemapindex>'.encode()


def urlset(lastmod: str = "2026-01-05") -> bytes:
    return f'<urlset xmlns="{CORE}"><url><loc>{HOME}/a</loc><lastmod>{lastmod}</lastmod></url></urlset>'.encode()


def crawl(
    site: Mapping[str, bytes], start: str, max_depth: int = 10, max_sitemaps: int = 100
) -> list[tuple[str, str, int | None]]:
    """Path, rule and line of what the index rules find on a site, and the limits of the crawl."""
    judging = Judge(Choice(all_rules(), ("index", "limit")), per_rule=100)
    frontier = Frontier(max_sitemaps, max_depth, 1, 1)
    selection, children = Selection(Params.parse({"domain": "example.com"})), Children(frontier)
    reading = Reading(selection, frontier, Limits(), Stop(get_crawler()), children, judging=True)
    frontier.add(Visit(f"{HOME}{start}", "argument"))
    found = []
    while visit := next(iter(frontier.next_visits()), None):
        path = visit.url.removeprefix(HOME)
        body = Body()
        body.write(site.get(path, b"not found"))
        answer = FetchResult(visit.url, visit.url, body, 200 if path in site else 404)
        for item in reading.read(visit, answer):
            if isinstance(item, SitemapEnd) and item.facts is not None:
                found += [(path, one.rule, one.line) for one in judging.file(item, item.facts)]
        frontier.done(visit)
        body.close()
    return [one for one in found if one[1] != "index-only-one-child"]


CRAWLS: dict[str, tuple[dict[str, str], dict[str, int], list[tuple[str, str, int | None]]]] = {
    "a circle of two": (
        {"a": "b", "b": "ca", "c": ""}, {}, [("/b.xml", "index-loop", 3), ("/b.xml", "index-nested", None)],
    ),
    "a circle of three": (
        {"a": "b", "b": "c", "c": "a"}, {},
        [("/b.xml", "index-nested", None), ("/c.xml", "index-loop", 2), ("/c.xml", "index-nested", None)],
    ),
    "a sitemap that two indexes list": ({"a": "bc", "b": "c", "c": ""}, {}, [("/b.xml", "index-nested", None)]),
    "an index that lists itself": ({"a": "ab", "b": ""}, {}, [("/a.xml", "index-self-reference", 2)]),
    "a missing child": ({"a": "b"}, {}, [("/b.xml", "index-child-missing", None)]),
    "a missing file that no index lists": ({}, {}, []),
    "too deep": (
        {"a": "b", "b": "c", "c": "de"}, {"max_depth": 2},
        [("/b.xml", "index-nested", None), ("/c.xml", "index-nested", None), ("/c.xml", "index-depth-exceeded", None)],
    ),
    "just deep enough": (
        {"a": "b", "b": "c", "c": "de", "d": "", "e": ""}, {"max_depth": 3},
        [("/b.xml", "index-nested", None), ("/c.xml", "index-nested", None)],
    ),
    "more than max_sitemaps": ({"a": "bc", "b": "", "c": ""}, {"max_sitemaps": 2}, [("/a.xml", "limit-max-sitemaps", None)]),
    "just max_sitemaps": ({"a": "bc", "b": "", "c": ""}, {"max_sitemaps": 3}, []),
}  # fmt: skip
"""Names of files and of what they list (of pages, where that is nothing), limits of the crawl, and what is found."""


@pytest.mark.parametrize(("names", "limits", "expected"), CRAWLS.values(), ids=CRAWLS)
def test_indexes_of_a_site(
    names: dict[str, str], limits: dict[str, int], expected: list[tuple[str, str, int | None]]
) -> None:
    site = {
        f"/{name}.xml": index(*(f"/{child}.xml" for child in below)) if below else urlset()
        for name, below in names.items()
    }
    assert crawl(site, "/a.xml", **limits) == expected


@pytest.mark.parametrize(
    ("listed", "newest", "told"),
    [
        ("2026-01-05", "2026-02-05", True), ("2026-01-05T00:00:00Z", "2026-01-06T00:00:01Z", True),
        ("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z", False), ("2026-01-05", "2026-01-06", False),
        ("2026-02-05", "2026-01-05", False), ("2026-01-05", "2999-01-05", False), ("yesterday", "2026-01-05", False),
        ("2026-01-05", "yesterday", False),
    ],
)  # fmt: skip
def test_an_index_that_is_older_than_what_it_lists(listed: str, newest: str, told: bool) -> None:
    site = {"/a.xml": index("/b.xml", lastmod=listed), "/b.xml": urlset(newest)}
    rules = {(path, rule) for path, rule, _ in crawl(site, "/a.xml")}
    assert (("/b.xml", "index-lastmod-older-than-child") in rules) is told


def test_indexes_beyond_the_limit_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert families.MAX_INDEXES == 500
    monkeypatch.setattr(families, "MAX_INDEXES", 3)
    site = {"/a.xml": index(*(f"/{number}.xml" for number in range(5)))}
    site |= {f"/{number}.xml": index("/z.xml", "/y.xml") for number in range(5)}
    site |= {"/z.xml": urlset(), "/y.xml": urlset()}
    many = [one for one in crawl(site, "/a.xml") if one[1] == "limit-index-files-gsc"]
    assert many == [("/2.xml", "limit-index-files-gsc", None)]


def test_an_index_whose_entries_were_left_out_is_not_empty() -> None:
    data = f'<sitemapindex xmlns="{CORE}"><sitemap><loc/></sitemap></sitemapindex>'.encode()
    assert [finding.rule for finding in judge(data) if finding.severity != "info"] == ["loc-empty"]


def test_a_cut_index_is_not_counted() -> None:
    data = index("/b.xml").removesuffix(b"</sitemapindex>")
    assert {finding.rule for finding in judge(data) if finding.rule in OURS} == set()


@pytest.mark.parametrize(
    ("url", "index_url", "rules"),
    [
        ("https://example.com/b.xml", "https://example.com/maps/a.xml", ["index-child-outside-dir"]),
        ("https://example.com/maps/b.xml", "https://example.com/maps/a.xml", []),
        ("https://example.com/maps/2026/b.xml", "https://example.com/maps/a.xml", []),
        ("https://other.example/maps/b.xml", "https://example.com/maps/a.xml", ["index-child-offsite"]),
        ("https://other.example/maps/b.xml", "file:///maps/a.xml", []),
        ("https://example.com/a.xml", "https://EXAMPLE.com/a.xml", ["index-self-reference"]),
        ("https://example.com/a.xml#top", "https://example.com/a.xml", ["loc-fragment", "index-self-reference"]),
        ("sitemaps/b.xml", "https://example.com/maps/a.xml", ["index-child-relative"]),
        ("undefined/b.xml", "https://example.com/maps/a.xml", ["loc-placeholder"]),
    ],
)
def test_what_is_told_of_a_child(url: str, index_url: str, rules: list[str]) -> None:
    assert on_child(url, index_url) == rules


def test_proof_allows_children_everywhere() -> None:
    assert on_child("https://other.example/b.xml", prove=lambda url, named: True) == []
