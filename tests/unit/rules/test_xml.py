"""The rules on the structure of XML sitemaps, beyond the files `xml-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import UrlRecord, objects_in
from tests.unit.reader.reading import read

from .expecting import CORE, places, rules_of
from .judging import judge

RULES = rules_of("xml")
CHECKED = rules_of("xml", "doc", "security", "internal", "txt", "feed")
GOOD = "<url><loc>https://example.com/a</loc></url>"


def found(text: str, *wanted: str) -> list[tuple[str, int | None]]:
    return places(judge(text.encode()), CHECKED, wanted)


@pytest.mark.parametrize(
    "text",
    [
        f'<urlset xmlns="{CORE}" xmlns:mobile="http://www.google.com/schemas/sitemap-mobile/1.0">'
        "<url><loc>https://example.com/a</loc><mobile:mobile/></url></urlset>",
        f'<urlset xmlns="{CORE}" xmlns:o="urn:ours"><url o:id="1"><loc>https://example.com/a</loc><o:x/></url></urlset>',
        f'<urlset xmlns="{CORE}" xmlns:image="https://www.google.com/schemas/sitemap-image/1.1">{GOOD}</urlset>',
        f'<sitemapindex xmlns="{CORE}"></sitemapindex>',
        " https://example.com/a\n",
    ],
    ids=["mobile", "foreign", "not-used", "empty-index", "indented-text"],
)
def test_a_legal_file_gives_nothing(text: str) -> None:
    assert found(text) == []


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
    assert (finding.message, finding.value) == ("<loc> occurs 5 times in one <url>", "https://example.com/1")
