"""The rules on language versions, beyond the files `hreflang-*` in `tests/data/bad`."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate
from sitemapcrawler.reader import Document
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.languages import cluster_of, page_key
from sitemapcrawler.urls import visit_key

from .expecting import rules_of
from .judging import URL, judge

RULES = rules_of("hreflang")
SITE = "https://example.com"
DEFAULT = f'<xhtml:link rel="alternate" hreflang="x-default" href="{SITE}/"/>'
DE = f'<xhtml:link rel="alternate" hreflang="de" href="{SITE}/de/"/>'


def link(code: str, href: str) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>'


def document(loc: str, *links: str) -> bytes:
    """A urlset with one entry, on line 2, and a link on each line behind it."""
    start = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    return "\n".join((start, f"<url><loc>{loc}</loc>", *links, "</url></urlset>")).encode()


def found(loc: str, *links: str) -> dict[str, FindingRecord]:
    """{rule: its finding} of this family on an entry; each rule speaks once."""
    findings = [finding for finding in judge(document(loc, *links)) if finding.rule in RULES]
    assert len({finding.rule for finding in findings}) == len(findings)
    return {finding.rule: finding for finding in findings}


def facts(record: UrlRecord) -> UrlFacts:
    return UrlFacts(record, FileFacts(URL, SitemapRecord(URL), Document(URL)))


@pytest.mark.parametrize(
    ("loc", "href"),
    [
        ("https://example.com/a%2fb", "https://example.com/a%2Fb"),
        ("https://example.com/caf%C3%A9", "https://example.com/caf%c3%a9"),
        ("https://example.com/café", "https://example.com/caf%C3%A9"),
        ("https://example.com/%7Eme/%2D", "https://example.com/~me/-"),
        ("https://example.com:443/en/", "https://example.com/en/"),
        ("https://EXAMPLE.com/en/", "https://example.com/en/"),
        ("HTTPS://example.com/en/", "https://example.com/en/"),
        ("https://example.com", "https://example.com/"),
        ("https://müller.example/", "https://xn--mller-kva.example/"),
        ("https://example.com/en/", "/en/"),
        ("https://example.com/en/", "//example.com/en/"),
        ("https://example.com/?a=1&amp;b=2", "https://example.com/?a=1&#38;b=2"),
    ],
)
def test_another_spelling_of_the_same_url_is_the_entry_itself(loc: str, href: str) -> None:
    assert "hreflang-self-missing" not in found(loc, link("en", href), DE, DEFAULT)


def test_an_entry_whose_url_is_none_is_not_also_without_itself() -> None:
    assert found("javascript:alert(1)", DE, DEFAULT) == {}


@pytest.mark.parametrize("codes", [["de"], ["de", "fr"], ["en"]])
def test_a_repaired_entry_may_have_lost_links(codes: list[str]) -> None:
    alternates = [Alternate(code, f"{SITE}/{code}/") for code in codes]
    repaired, whole = (facts(UrlRecord(f"{SITE}/en/", alternates=alternates, recovered=lost)) for lost in (True, False))
    assert [rule.id for rule in RULES.values() if list(rule.check(repaired))] == []
    assert [rule.id for rule in RULES.values() if list(rule.check(whole))] != []


def test_a_site_that_is_on_http_altogether_mixes_nothing() -> None:
    links = [link(code, f"http://example.com/{code}/") for code in ("en", "de", "x-default")]
    assert found("http://example.com/en/", *links) == {}


def test_a_prefix_that_is_not_declared_is_told_by_the_rules_of_xml_alone() -> None:
    text = document(f"{SITE}/en/", link("en", f"{SITE}/en/"), DE, DEFAULT).replace(
        b' xmlns:xhtml="http://www.w3.org/1999/xhtml"', b""
    )
    told = [finding.rule for finding in judge(text) if finding.severity in ("error", "warning")]
    assert told == ["xml-ext-namespace-missing"]


def test_an_entry_without_its_xml_is_judged_too() -> None:
    record = UrlRecord(
        f"{SITE}/en/", alternates=[Alternate("jp", f"{SITE}/ja/"), Alternate("en", f"{SITE}/en/", rel="")]
    )
    entry = facts(record)
    lines = [message.line for rule in RULES.values() for message in rule.check(entry)]
    assert len(lines) >= 2
    assert set(lines) == {None}


def test_a_message_shows_the_start_of_an_endless_value_only() -> None:
    endless = "x" * 1_000_000
    record = UrlRecord(
        f"{SITE}/{endless}",
        alternates=[
            Alternate("en", f"{SITE}/{endless}/"), Alternate("en", endless), Alternate(endless, f"{SITE}/{endless}"),
            Alternate("de", f"{SITE}/{endless}/"), Alternate("fr", f"a:{endless}"), Alternate("it", endless, endless),
        ],
    )  # fmt: skip
    entry = facts(record)
    messages = [message for rule in RULES.values() for message in rule.check(entry)]
    assert len(messages) >= 5
    assert max(len(message.text) for message in messages) < 1000


def steps(entry: UrlFacts) -> int:
    """Lines of Python that judging an entry executes."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> object:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()  # that of coverage, maybe, which would not come back
    sys.settrace(trace)  # type: ignore[arg-type]  # its own type is recursive
    try:
        for rule in RULES.values():
            list(rule.check(entry))
    finally:
        sys.settrace(before)
    return count


def test_work_grows_with_the_number_of_links_not_faster() -> None:
    def entry(links: int) -> UrlFacts:
        codes = [f"{language}-{country}" for language in ("en", "de") for country in ("US", "GB", "FR", "DE", "IT")] * (
            links // 10
        )
        return facts(
            UrlRecord(
                f"{SITE}/", alternates=[Alternate(code, f"{SITE}/{number}/") for number, code in enumerate(codes)]
            )
        )

    few, many = steps(entry(200)), steps(entry(2000))
    assert many < 11 * few


def test_the_links_of_an_entry_are_looked_through_once_for_all_rules() -> None:
    entry = facts(UrlRecord(f"{SITE}/", alternates=[Alternate("en", f"{SITE}/")]))
    assert cluster_of(entry) is cluster_of(entry) is not None


def test_an_absolute_url_in_its_usual_form_is_its_own_key() -> None:
    urls = [f"{SITE}/a/b?c=d&e=~f;g(h)*+,_", "http://a.b/", "https://a-b.example:8443/@:!$"]
    assert [page_key(url) for url in urls] == urls == [visit_key(url) for url in urls]


@given(st.from_regex(r"https?://[a-z0-9.-]{1,20}(:[0-9]{1,5})?(/[ -~]*)?", fullmatch=True))
def test_the_short_way_to_a_key_gives_what_the_long_one_does(url: str) -> None:
    assert page_key(page_key(url)) == page_key(url)
    if "%" not in url:
        assert page_key(url) == visit_key(url)
