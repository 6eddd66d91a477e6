"""The rules on the structure of XML sitemaps."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord, objects_in
from sitemapcrawler.namespaces import OWN
from tests.unit.reader.reading import read
from tests.unit.tables import cases

from .expecting import CORE, places, rules_of
from .judging import judge

RULES = rules_of("xml")
CHECKED = rules_of("xml", "doc", "security", "internal", "txt", "feed")
GOOD = "<url><loc>https://example.com/a</loc></url>"
PIECES = [
    "<urlset>", f'<urlset xmlns="{CORE}">', "<sitemapindex>", "<url>", "</url>", "<loc>", "</loc>", "<sitemap>",
    "</sitemap>", "https://example.com/a", ' id="1"', "<x:y/>", "<title/>", "&", "<", "</urlset>", "\n",
]  # fmt: skip


def found(text: str, *wanted: str) -> list[tuple[str, int | None]]:
    return places(judge(text.encode()), CHECKED, wanted)


@pytest.mark.parametrize(
    "text",
    [
        f'<urlset xmlns="{CORE}">{GOOD}</urlset>',
        f"<urlset xmlns='{CORE}'>{GOOD}</urlset>",
        f'<s:urlset xmlns:s="{CORE}"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>',
        f'<urlset xmlns="{CORE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b">'
        f"{GOOD}</urlset>",
        f'<urlset xmlns="{CORE}" xmlns:mobile="http://www.google.com/schemas/sitemap-mobile/1.0">'
        "<url><loc>https://example.com/a</loc><mobile:mobile/></url></urlset>",
        f'<urlset xmlns="{CORE}" xmlns:o="urn:ours"><url o:id="1"><loc>https://example.com/a</loc><o:x/></url></urlset>',
        f'<urlset xmlns="{CORE}" xmlns:image="https://www.google.com/schemas/sitemap-image/1.1">{GOOD}</urlset>',
        f'<urlset xmlns="{CORE}" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"></urlset>',
        f'<sitemapindex xmlns="{CORE}"></sitemapindex>',
    ],
    ids=["plain", "quotes", "prefix", "xsi", "mobile", "foreign", "not-used", "empty-news", "empty-index"],
)
def test_a_legal_file_gives_nothing(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("http://www.google.com/schemas/sitemap/0.9", "xml-namespace-legacy"),
        ("HTTP://WWW.SITEMAPS.ORG/schemas/sitemap/0.9", "xml-namespace-legacy"),
        ("http://www.sitemaps.org/schemas/sitemap/1.0", "xml-namespace-wrong"),
        (f"{CORE}.xsd", "xml-namespace-wrong"),
        (f"{CORE} ", "xml-namespace-wrong"),
        ("", "xml-namespace-missing"),
    ],
)
def test_namespaces_of_the_root(uri: str, rule: str) -> None:
    assert found(f'<urlset xmlns="{uri}">{GOOD}</urlset>') == [(rule, 1)]


@pytest.mark.parametrize(
    ("uri", "prefix", "entry"),
    [
        ("http://www.google.com/schemas/sitemap-image/1.1", "image",
         "<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"),
        ("https://www.google.com/schemas/sitemap-image/1.1/", "image",
         "<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"),
        ("http://www.w3.org/1999/xhtml", "xhtml",
         '<xhtml:link rel="alternate" hreflang="en" href="https://example.com/a"/>'
         '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/b"/>'),
    ],
)  # fmt: skip
def test_an_extension_in_place_of_the_protocol_is_read_and_told_once(uri: str, prefix: str, entry: str) -> None:
    text = f'<urlset xmlns="{uri}">\n<url><loc>https://example.com/a</loc>{entry}</url>\n{GOOD}</urlset>'
    reading = read(text)
    assert [bool(objects_in(record)) for record in reading.records if isinstance(record, UrlRecord)] == [True, False]
    assert reading.recovered == []
    [finding] = [finding for finding in judge(text.encode()) if finding.rule in CHECKED and finding.severity != "info"]
    assert (finding.rule, finding.line) == ("xml-namespace-wrong", 1)
    assert finding.message.endswith(f"; declare the former as xmlns:{prefix}")


def test_an_undeclared_prefix_on_the_root_does_not_hide_the_missing_namespace() -> None:
    text = f'<urlset xsi:schemaLocation="{CORE} {CORE}/sitemap.xsd">{GOOD}</urlset>'
    assert found(text) == [("xml-ext-namespace-missing", 1), ("xml-namespace-missing", 1)]


def test_a_wrong_namespace_declared_on_an_entry_has_the_line_of_its_element() -> None:
    image = '<i:image xmlns:i="http://www.google.com/schemas/sitemap-image/1.0"><i:loc>https://example.com/i</i:loc></i:image>'
    text = f'<urlset xmlns="{CORE}">\n<url><loc>https://example.com/a</loc>\n{image}</url></urlset>'
    assert found(text) == [("xml-ext-namespace-wrong", 3)]


LINK = '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/>'
IMAGE = "<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"
VIDEO = "<video:video><video:title>a</video:title></video:video>"
NEWS = "<news:news><news:title>a</news:title></news:news>"
XHTML = "http://www.w3.org/1999/xhtml"
OWN_URIS = {namespace.prefix: namespace.uri for namespace in OWN}


@pytest.mark.parametrize(
    ("declared", "parts", "ignored"),
    cases(
        (['xmlns:xhtml="http://www.w3.org/1999/xlink"', 'xmlns:xhtml="http://www.w3.org/2005/Atom"',
          f'xmlns:xhtml="{XHTML.replace("http:", "https:")}"', f'xmlns:xhtml="{XHTML}/"', f'xmlns:xhtml=" {XHTML}"',
          'xmlns:xhtml="http://www.google.com/schemas/sitemap-image/1.1"'], LINK, "all 3 language versions are"),
        (['xmlns:xhtml="http://www.w3.org/1999/html"'], LINK * 2, "all 6 language versions are"),
        ([f'xmlns:xhtml="{XHTML}" xmlns:x="urn:x"'], LINK + LINK.replace("xhtml", "x"), "3 language versions are"),
        (['xmlns:image="urn:images"', 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.0"',
          'xmlns:image="http://google.com/schemas/sitemap-image/1.1"', 'xmlns:image="schemas/sitemap-image/1.0"',
          f'xmlns:image="{XHTML}"'], IMAGE, "all 3 images are"),
        (['xmlns:video="http://www.google.com/schemas/video/1.1"',
          'xmlns:video="http://www.google.com/schemas/sitemap-image/1.1"',
          'xmlns:video="http://www.google.com/schemas/sitemap-images/1.1"'], VIDEO, "all 3 videos are"),
        (['xmlns:news="http://www.google.com/schemas/news/0.9"',
          'xmlns:news="http://www.google.com/schemas/sitemap-video/1.1"'], NEWS, "all 3 news articles are"),
    ),
)  # fmt: skip
def test_what_a_wrong_namespace_hides_is_counted_once_for_a_file(declared: str, parts: str, ignored: str) -> None:
    urls = "".join(f"<url><loc>https://example.com/{number}</loc>{parts}</url>" for number in range(3))
    findings = judge(f'<urlset xmlns="{CORE}"\n {declared}>\n{urls}</urlset>'.encode())
    [finding] = [finding for finding in findings if finding.rule.startswith("xml-")]
    assert (finding.rule, finding.severity, finding.line) == ("xml-ext-namespace-wrong", "error", 2)
    assert finding.message.startswith(f"{ignored} ignored: the namespace of <")
    assert finding.message.endswith(f", not {OWN_URIS[parts[1:].partition(':')[0]]}")


@pytest.mark.parametrize(
    ("part", "ignored"),
    [
        (LINK, "all 2 language versions"),
        (IMAGE, "all 2 images"),
        (VIDEO, "all 2 videos"),
        (NEWS, "all 2 news articles"),
    ],
)
def test_extensions_without_a_prefix_are_counted_once_for_a_file(part: str, ignored: str) -> None:
    part = re.sub("(</?)[a-z]+:", r"\1", part)
    urls = "".join(f"<url><loc>https://example.com/{number}</loc>\n{part}</url>" for number in range(2))
    findings = judge(f'<urlset xmlns="{CORE}">{urls}</urlset>'.encode())
    [finding] = [finding for finding in findings if finding.rule.startswith("xml-")]
    assert (finding.rule, finding.line) == ("xml-ext-namespace-wrong", 2)
    assert finding.message.startswith(f"{ignored} are ignored: the namespace of <")


def test_one_ignored_element_is_one() -> None:
    text = (
        f'<urlset xmlns="{CORE}" xmlns:i="urn:i"><url><loc>https://example.com/a</loc>{IMAGE.replace("image:", "i:")}'
    )
    [message] = [found.message for found in judge(f"{text}</url></urlset>".encode()) if found.rule.startswith("xml-")]
    uri = "http://www.google.com/schemas/sitemap-image/1.1"
    assert message == f"1 image is ignored: the namespace of <image> is urn:i, not {uri}"


def test_elements_that_only_have_a_familiar_name_are_no_extension() -> None:
    parts = '<o:image>a.png</o:image><o:link href="b"/><o:news><o:id>1</o:id></o:news>'
    text = f'<urlset xmlns="{CORE}" xmlns:o="urn:o"><url><loc>https://example.com/a</loc>{parts}</url></urlset>'
    assert found(text) == []


def test_an_urlset_whose_entries_were_left_out_is_not_empty() -> None:
    assert found(f'<urlset xmlns="{CORE}"><url></url></urlset>') == [("xml-entry-without-loc", 1)]


def test_a_file_that_begins_within_an_entry_has_no_root() -> None:
    text = f"  <lastmod>2024-05-01</lastmod>\n</url>\n{GOOD}"
    assert ("xml-root-unknown", 3) in found(text)


def test_a_repeated_element_is_told_once_with_its_number() -> None:
    locs = "".join(f"<loc>https://example.com/{number}</loc>" for number in range(5))
    [finding] = [
        finding
        for finding in judge(f'<urlset xmlns="{CORE}"><url>{locs}</url></urlset>'.encode())
        if finding.rule == "xml-duplicate-element"
    ]
    assert (finding.message, finding.value) == ("<loc> stands 5 times in one <url>", "https://example.com/1")


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=20).map("".join))
def test_no_text_makes_a_rule_fail(text: str) -> None:
    assert "internal-rule-failed" not in {finding.rule for finding in judge(text.encode("utf-8", "replace"))}
