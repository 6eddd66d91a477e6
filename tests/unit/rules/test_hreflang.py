"""The rules on language versions."""

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


def link(code: str, href: str, rel: str = "alternate") -> str:
    return f'<xhtml:link rel="{rel}" hreflang="{code}" href="{href}"/>'


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
    ("loc", "links"),
    [
        (f"{SITE}/en/", [link("en", f"{SITE}/en/"), DE, DEFAULT]),
        (f"{SITE}/", [link("en", f"{SITE}/en/"), DE, DEFAULT]),
        (f"{SITE}/tw/", [link("zh-Hant-TW", f"{SITE}/tw/"), link("zh-Hans", f"{SITE}/cn/"), DEFAULT]),
        (f"{SITE}/en/", [link("en", f"{SITE}/en/"), link("de", "https://beispiel.de/"), link("ja", "https://例え.jp/"), DEFAULT]),
        (f"{SITE}/en/", [link("en", f" {SITE}/en/\n"), DE, DEFAULT]),
        (f"{SITE}/en/", [link("en", f"{SITE}/en/"), link("en", f"{SITE}/en/"), DE, DEFAULT, DEFAULT]),
        (f"{SITE}/en/", [link("en", f"{SITE}/en/", "Alternate"), link("de", f"{SITE}/de/", "alternate nofollow"), DEFAULT]),
        (f"{SITE}/en/", ['<xhtml:link rel="alternate" media="only screen and (max-width: 640px)" href="https://m.example.com/en/"/>']),
        (f"{SITE}/en/", ['<xhtml:link rel="alternate" href="android-app://com.example/https/example.com/en/"/>']),
        (f"{SITE}/en/", ['<xhtml:link rel="alternate" href="ios-app://123/https/example.com/en/"/>']),
        (f"{SITE}/en/", [link("en", f"{SITE}/en/"), link("en", "android-app://com.example/https/example.com/en/"), DE, DEFAULT]),
        (f"{SITE}/en/", ['<xhtml:link rel="alternate" href="example-scheme://gizmos"/>']),
        (f"{SITE}/en/", [f'<xhtml:link rel="alternate" type="application/rss+xml" href="{SITE}/feed"/>']),
        (f"{SITE}/en/", [f'<xhtml:link rel="amphtml" href="{SITE}/amp"/>', f'<xhtml:link rel="canonical" href="{SITE}/en/"/>']),
        (f"{SITE}/en/", [link("en", f"{SITE}/en/"), f'<xhtml:link rel="alternate" hreflang="en" media="handheld" href="{SITE}/m/"/>', DE, DEFAULT]),
        (f"{SITE}/en/", [f'<xhtml:link rel="alternate" type="text/html" hreflang="en" href="{SITE}/en/"/>', DE, DEFAULT]),
    ],
    ids=["plain", "default-is-self", "scripts", "domains", "blanks", "twice", "rel-tokens", "media", "android", "ios", "android-with-code", "scheme", "feed", "amp-canonical", "mobile", "type"],
)  # fmt: skip
def test_a_legal_entry_gives_nothing_not_even_for_information(loc: str, links: list[str]) -> None:
    assert found(loc, *links) == {}


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


@pytest.mark.parametrize(
    ("loc", "href", "near"),
    [
        ("https://example.com/en/", "https://example.com/en", True),
        ("https://example.com/en/", "http://example.com/en/", True),
        ("https://example.com/en/", "https://www.example.com/en/", True),
        ("https://example.com/EN/", "https://example.com/en/", True),
        ("https://example.com/en/", "https://example.com:8443/en/", False),
        ("https://example.com/a%2Fb", "https://example.com/a/b", False),
        ("https://example.com/en/?a=1", "https://example.com/en/", False),
    ],
)
def test_another_url_is_not_the_entry_itself(loc: str, href: str, near: bool) -> None:
    finding = found(loc, link("en", href), DE, link("x-default", f"{SITE}/world/"))["hreflang-self-missing"]
    assert (finding.line, finding.value) == (2, href if near else None)
    assert ("though" in finding.message) is near


def test_a_link_to_itself_with_a_fault_of_its_own_is_not_also_missing() -> None:
    for bad in (
        link("en-UK", f"{SITE}/en/"),
        link("en_GB", f"{SITE}/en/"),
        link("", f"{SITE}/en/"),
        link("en", "/en/"),
        link("en", f"{SITE}/en/", ""),
    ):
        assert len(found(f"{SITE}/en/", bad, DE, DEFAULT)) == 1


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (link("en_UK", f"{SITE}/gb/"), "hreflang-code-invalid"),
        (link("de", "//"), "hreflang-href-relative"),
        (link("de", "tbd"), "hreflang-href-relative"),
        (link("de", "https:///de/"), "hreflang-href-invalid"),
        (link("de", "https://example.com:99999/de/"), "hreflang-href-invalid"),
        (link("de", "mailto:de@example.com"), "hreflang-href-invalid"),
        (link("de", " "), "hreflang-href-missing"),
        (link("de", f"{SITE}/de/", "alternates"), "hreflang-rel-missing"),
    ],
)
def test_a_link_at_fault_is_told_by_one_rule(bad: str, rule: str) -> None:
    assert set(found(f"{SITE}/en/", link("en", f"{SITE}/en/"), bad, DEFAULT)) == {rule}


def test_an_attribute_in_capitals_is_named() -> None:
    bad = f'<xhtml:link rel="alternate" hrefLang="de" href="{SITE}/de/"/>'
    finding = found(f"{SITE}/en/", link("en", f"{SITE}/en/"), bad, DEFAULT)["hreflang-code-missing"]
    assert finding.message == "hrefLang is another attribute than hreflang"


def test_a_default_that_is_written_wrong_is_not_also_missing() -> None:
    for code in ("x_default", "default"):
        assert len(found(f"{SITE}/de/", DE, link("en", f"{SITE}/en/"), link(code, f"{SITE}/"))) == 1


def test_links_without_a_valid_code_take_no_part_in_the_other_checks() -> None:
    findings = found(f"{SITE}/en/", link("jp", f"{SITE}/ja/"), link("en_US", f"{SITE}/us/"))
    assert set(findings) == {"hreflang-code-invalid", "hreflang-code-underscore"}


def test_an_entry_whose_url_is_none_is_not_also_without_itself() -> None:
    assert found("javascript:alert(1)", DE, DEFAULT) == {}


@pytest.mark.parametrize("codes", [["de"], ["de", "fr"], ["en"]])
def test_a_repaired_entry_may_have_lost_links(codes: list[str]) -> None:
    alternates = [Alternate(code, f"{SITE}/{code}/") for code in codes]
    repaired, whole = (facts(UrlRecord(f"{SITE}/en/", alternates=alternates, recovered=lost)) for lost in (True, False))
    assert [rule.id for rule in RULES.values() if list(rule.check(repaired))] == []
    assert [rule.id for rule in RULES.values() if list(rule.check(whole))] != []


def test_a_three_letter_code_is_a_warning_where_iso_639_1_has_no_other() -> None:
    filipino = found(f"{SITE}/en/", link("en", f"{SITE}/en/"), link("fil", f"{SITE}/ph/"), DEFAULT)
    german = found(f"{SITE}/en/", link("en", f"{SITE}/en/"), link("ger", f"{SITE}/de/"), DEFAULT)
    assert [(finding.rule, finding.severity) for finding in filipino.values()] == [("hreflang-code-invalid", "warning")]
    assert [(finding.rule, finding.severity) for finding in german.values()] == [("hreflang-code-invalid", "error")]


def test_what_a_template_left_out_of_all_links_is_told_once_with_the_first() -> None:
    links = [f'<xhtml:link hreflang="{code}" href="{SITE}/{code}/"/>' for code in ("en", "de", "fr")]
    finding = found(f"{SITE}/en/", DEFAULT, *links)["hreflang-rel-missing"]
    assert (finding.line, finding.message) == (4, "no rel on the link for en (and 2 more of its links)")


def test_a_code_is_the_same_in_any_case_and_its_urls_in_any_spelling() -> None:
    one, other = link("en-gb", f"{SITE}/en/"), link("en-GB", "https://EXAMPLE.com:443/en/")
    assert "hreflang-duplicate-code" not in found(f"{SITE}/en/", one, other, DE, DEFAULT)
    other = link("en-GB", f"{SITE}/en")
    finding = found(f"{SITE}/en/", one, other, DE, DEFAULT)["hreflang-duplicate-code"]
    assert (finding.line, finding.value) == (4, f"{SITE}/en")


def test_many_codes_for_one_url_are_named_up_to_five() -> None:
    codes = ["en", "en-US", "en-GB", "en-AU", "en-NZ", "en-IE"]
    finding = found(f"{SITE}/en/", *(link(code, f"{SITE}/en/") for code in codes), DE, DEFAULT)[
        "hreflang-same-url-many-codes"
    ]
    assert finding.message == f"'{SITE}/en/' stands for en, en-US, en-GB, en-AU, en-NZ and others"


def test_a_url_of_two_codes_is_told_and_the_default_does_not_count_as_one() -> None:
    links = [link("en", f"{SITE}/en/"), link("en-US", f"{SITE}/en/"), DE, link("x-default", f"{SITE}/de/")]
    findings = found(f"{SITE}/en/", *links)
    assert [finding.message for finding in findings.values()] == [f"'{SITE}/en/' stands for en, en-US"]


def test_a_site_that_is_on_http_altogether_mixes_nothing() -> None:
    links = [link(code, f"http://example.com/{code}/") for code in ("en", "de", "x-default")]
    assert found("http://example.com/en/", *links) == {}


def test_the_default_may_share_its_url_with_a_language() -> None:
    assert found(f"{SITE}/de/", DE, link("en", f"{SITE}/en/"), link("x-default", f"{SITE}/en/")) == {}


def test_one_link_to_itself_is_told_as_that_and_not_also_as_without_default() -> None:
    assert set(found(f"{SITE}/de/", DE)) == {"hreflang-single-member"}
    assert set(found(f"{SITE}/de/", DE, link("x-default", f"{SITE}/de/"))) == {"hreflang-single-member"}
    assert set(found(f"{SITE}/de/", DE, link("fr", "/fr/"))) == {"hreflang-href-relative", "hreflang-x-default-missing"}
    assert set(found(f"{SITE}/de/", DE, link("frr-", f"{SITE}/fr/"))) == {"hreflang-code-invalid"}


def test_the_wrong_protocol_of_the_link_to_itself_is_told_once() -> None:
    findings = found(f"{SITE}/en/", link("en", "http://example.com/en/"), DE, DEFAULT)
    assert set(findings) == {"hreflang-self-missing"}


def test_a_prefix_that_is_not_declared_is_told_by_the_rules_of_xml_alone() -> None:
    text = document(f"{SITE}/en/", link("en", f"{SITE}/en/"), DE, DEFAULT).replace(
        b' xmlns:xhtml="http://www.w3.org/1999/xhtml"', b""
    )
    told = [finding.rule for finding in judge(text) if finding.severity in ("error", "warning")]
    assert told == ["xml-ext-namespace-missing"]


def test_lines_are_those_of_the_links_among_other_elements() -> None:
    feed = f'<xhtml:link rel="canonical" href="{SITE}/en/"/>'
    image = '<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>https://example.com/a.png</image:loc></image:image>'
    finding = found(f"{SITE}/en/", image, feed, DEFAULT, link("en", f"{SITE}/en/"), image, link("jp", f"{SITE}/ja/"))[
        "hreflang-code-invalid"
    ]
    assert (finding.line, finding.value) == (8, "jp")


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


def test_a_fragment_is_no_part_of_the_key() -> None:
    assert page_key(f"{SITE}/a#b") == page_key(f"{SITE}/a")


def test_an_absolute_url_in_its_usual_form_is_its_own_key() -> None:
    urls = [f"{SITE}/a/b?c=d&e=~f;g(h)*+,_", "http://a.b/", "https://a-b.example/@:!$"]
    assert [page_key(url) for url in urls] == urls == [visit_key(url) for url in urls]


@given(st.from_regex(r"https?://[a-z0-9.-]{1,20}(/[ -~]*)?", fullmatch=True))
def test_the_short_way_to_a_key_gives_what_the_long_one_does(url: str) -> None:
    assert page_key(page_key(url)) == page_key(url)
    if "%" not in url:
        assert page_key(url) == visit_key(url)
