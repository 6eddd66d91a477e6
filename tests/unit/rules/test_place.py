"""The rules on where a URL may stand, the host it names, and whether it stands there once, beyond the files in
`tests/data/bad`."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.judge import Judge

from .expecting import rules_of
from .judging import judge
from .listing import file_at, listed, on_url, said_of

OURS = rules_of("loc").keys() - {"loc-utility-page"}


@pytest.mark.parametrize(
    ("sitemap", "url", "rules"),
    [
        ("https://e.com", "https://e.com/a", []),
        ("https://e.com/s.xml?page=a/b", "https://e.com/a", []),
        ("https://E.com:443/s.xml", "https://e.com/a", []),
        ("https://e.com./s.xml", "https://e.com/a", []),
        ("https://e.com:8443/s.xml", "https://e.com:8443/a", []),
        ("https://e.com:8443/s.xml", "https://e.com/a", ["loc-offsite"]),
        ("http://127.0.0.1:8000/s.xml", "http://127.0.0.1:8000/a", []),
        ("http://127.0.0.1:8001/s.xml", "http://127.0.0.1:8002/a", ["loc-port", "loc-offsite"]),
        ("http://localhost/s.xml", "http://localhost/a", []),
        ("http://localhost/s.xml", "http://localhost:3000/a", ["loc-port", "loc-offsite"]),
        ("http://localhost/s.xml", "http://127.0.0.1/a", ["loc-ip-host", "loc-offsite"]),
        ("https://münchen.example/s.xml", "https://xn--mnchen-3ya.example/a", []),
        ("https://e.com/%61/s.xml", "https://e.com/a/c", []),
        ("https://e.com/caf%c3%a9/s.xml", "https://e.com/caf%C3%A9/c", []),
        ("https://www.e.com/s.xml", "http://e.com/c", ["loc-www-mismatch"]),
        ("https://www.e.com/s.xml", "https://shop.e.com/c", ["loc-offsite"]),
        ("http://e.com/s.xml", "http://e.com:80/a", ["loc-default-port"]),
        ("file:///s.xml", "https://other.example/c", []),
    ],
)
def test_what_is_told_of_a_place(sitemap: str, url: str, rules: list[str]) -> None:
    assert on_url(url, sitemap) == rules


@pytest.mark.parametrize(
    ("sitemap", "final_url", "url", "rules"),
    [
        ("http://e.com/s.xml", "https://www.e.com/s.xml", "https://www.e.com/a", []),
        ("http://e.com/s.xml", "https://www.e.com/s.xml", "http://e.com/a", []),
        ("https://e.com/s.xml", "https://cdn.example/bucket/s.xml", "https://e.com/a", []),
        ("https://e.com/s.xml", "https://e.com/maps/s.xml", "https://e.com/a", []),
        (
            "https://e.com/s.xml",
            "https://cdn.example/bucket/s.xml",
            "https://cdn.example/a",
            ["loc-outside-sitemap-dir"],
        ),
        ("http://e.com/s.xml", "https://e.com/s.xml", "https://other.example/a", ["loc-offsite"]),
    ],
)
def test_behind_a_redirect_what_either_place_allows_is_allowed(
    sitemap: str, final_url: str, url: str, rules: list[str]
) -> None:
    assert on_url(url, sitemap, final_url) == rules


@pytest.mark.parametrize("url", ["https://other.example/", "https://e.com/b", "https://www.e.com/", "http://e.com/"])
def test_proof_allows_every_place(url: str) -> None:
    file = file_at("https://e.com/maps/s.xml")
    [record] = listed(file, url)
    assert len(said_of(UrlFacts(record, file))) == 1
    file.prove = lambda asked, named: asked == url and "https://e.com/maps/s.xml" in named
    assert said_of(UrlFacts(record, file)) == {}


def test_a_proven_file_may_list_from_its_root_and_its_entries_are_clean() -> None:
    file = file_at("https://e.com/maps/s.xml")
    file.prove = lambda asked, named: asked.startswith("https://e.com/")
    assert list(file.suspects.odd_entries(listed(file, "https://e.com/a", "https://e.com/maps/a"), Notes())) == []


@pytest.mark.parametrize(("prove", "severity"), [(None, "info"), (lambda url, files: False, "warning")])
def test_a_folder_is_for_information_where_no_robots_txt_is_read(prove: Any, severity: str) -> None:
    file = file_at("https://e.com/maps/s.xml")
    file.prove = prove
    records = listed(file, "https://e.com/b")
    notes = Notes()
    judging = Judge(Choice(all_rules()), per_rule=10)
    judging.urls(records, file, notes)
    assert not notes.findings(records)
    assert judging.conclude(file) == []
    told = [(finding.rule, finding.severity) for finding in judging.crawl({})]
    assert told == [("loc-outside-sitemap-dir", severity)]


@pytest.mark.parametrize("url", ["http://localhost:1313/a", "http://192.0.2.7/a"])
def test_what_is_an_error_elsewhere_is_for_information(url: str) -> None:
    here = {finding.rule: finding.severity for finding in judge(f"{url}\n".encode(), "https://e.com/s.txt")}
    local = {finding.rule: finding.severity for finding in judge(f"{url}\n".encode(), "file:///s.txt")}
    [rule] = set(local) - {"loc-port"}
    assert local[rule] == "warning"
    assert (here[rule], here["loc-offsite"]) == ("info", "error")


def test_a_feed_may_link_anywhere_but_not_where_nobody_else_can_go() -> None:
    links = "".join(f"<item><link>{url}</link></item>" for url in ("https://video.example/a", "http://localhost/a"))
    findings = judge(f'<rss version="2.0"><channel>{links}</channel></rss>'.encode(), "https://e.com/feed.xml")
    told = [(finding.rule, finding.severity) for finding in findings if finding.rule.startswith("loc-")]
    assert sorted(told) == [("loc-localhost", "warning"), ("loc-offsite", "info")]  # notes are told once


def rules_on(*urls: str) -> list[tuple[str, int | None]]:
    found = judge("\n".join(urls).encode(), "https://e.com/urls.txt")
    return [(finding.rule, finding.line) for finding in found if finding.rule in OURS]


@pytest.mark.parametrize(
    "other", ["https://e.com/Shop", "https://e.com/shop/", "https://e.com/s%68op", "HTTPS://E.com/shop"]
)
def test_another_spelling_is_told_with_the_first_one(other: str) -> None:
    found = judge(f"https://e.com/shop\n{other}\n".encode(), "https://e.com/urls.txt")
    similar = [finding for finding in found if finding.rule == "loc-duplicate-normalised"]
    if other.startswith("HTTPS"):  # the host is uppercase-host's
        assert "loc-uppercase-host" in {finding.rule for finding in found}
    assert [(finding.line, "https://e.com/shop " in finding.message) for finding in similar] == [(2, True)]


def test_characters_written_raw_and_escaped_are_another_spelling() -> None:
    found = rules_on("https://e.com/m%c3%bcnchen/", "https://e.com/m%C3%BCnchen/", "https://e.com/München/")
    assert [line for rule, line in found if rule == "loc-duplicate-normalised"] == [2, 3]


@pytest.mark.parametrize("other", ["https://e.com/shop?", "https://e.com/sh%2Fop", "https://e.com/shop?a=/"])
def test_other_urls_are_not_another_spelling(other: str) -> None:
    assert rules_on("https://e.com/shop", "https://e.com/sh/op", other) == []


def test_a_spelling_that_is_repeated_is_a_repetition() -> None:
    found = rules_on("https://e.com/a", "https://e.com/a/", "https://e.com/a/")
    assert found == [("loc-duplicate-normalised", 2), ("loc-duplicate", 3)]


@pytest.mark.parametrize(
    ("urls", "told"),
    [
        (["https://e.com/a/", "https://e.com/b"], True),
        (["https://e.com/", "https://e.com/a"], False),
        (["https://e.com/", "https://e.com"], False),
        (["https://e.com/shop/", "https://e.com/shop/a"], False),
        (["https://e.com/shop/", "https://e.com/about.html", "https://e.com/x?a=b"], False),
        (["https://e.com/x/a/", "https://e.com/y/b"], False),
        (["https://e.com/v1.2/", "https://e.com/a"], False),
    ],
)
def test_slashes_are_compared_within_a_folder(urls: list[str], told: bool) -> None:
    assert (("loc-trailing-slash-inconsistent", len(urls)) in rules_on(*urls)) is told
