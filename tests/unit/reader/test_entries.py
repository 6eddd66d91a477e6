"""From an entry's element to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader import ChildRecord
from tests.unit.reader.reading import CORE, END, GOOD, INDEX, URL, read, url, urlset

if TYPE_CHECKING:
    from collections.abc import Iterable

ONE = "https://e.com/1"


def only(entry: str, **keywords: str) -> UrlRecord:
    (record,) = read(urlset(entry), **keywords).records
    assert isinstance(record, UrlRecord)
    return record


def test_all_fields_of_a_page() -> None:
    more = "<lastmod>2024-05-01T10:00:00+02:00</lastmod><changefreq>daily</changefreq><priority>0.8</priority>"
    expected = UrlRecord(ONE, None, URL, 3, "2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00Z", "daily", 0.8)
    assert only(url(ONE, more)) == expected
    assert only(url(ONE, more + "<!-- the strict way -->")) == expected


def test_all_fields_of_a_child() -> None:
    entry = f"<sitemap><loc>{ONE}</loc><lastmod>2024-05-01</lastmod></sitemap>"
    assert read(f"{INDEX}{entry}</sitemapindex>").records == [
        ChildRecord(ONE, None, 3, "2024-05-01", "2024-05-01T00:00:00Z")
    ]


@pytest.mark.parametrize(
    ("written", "loc", "raw"),
    [
        ("https://e.com/", "https://e.com/", None),
        ("https://e.com/é", "https://e.com/é", None),
        (" \n https://e.com/a\t ", "https://e.com/a", None),
        ("\u00a0https://e.com/a\u200b", "https://e.com/a", "\u200b"),
        ("https://e.com/a\n    /b", "https://e.com/a/b", "\n"),
        ("HTTPS://e.com/a", "https://e.com/a", "HTTPS"),
        ("/a/b", "https://e.com/a/b", "/a/b"),
        ("a/b", "https://e.com/dir/a/b", "a/b"),
        ("../a", "https://e.com/a", "../a"),
        ("?q=1", "https://e.com/dir/sitemap.xml?q=1", "?q=1"),
        ("//cdn.e.com/a", "https://cdn.e.com/a", "//cdn.e.com/a"),
        ("https://e.com/?a=1&amp;copy=2", "https://e.com/?a=1&copy=2", None),
        ("https://e.com/?a=1&amp;amp;b", "https://e.com/?a=1&amp;b", None),
        ("<![CDATA[\n https://e.com/?a=1&b=2\n]]>", "https://e.com/?a=1&b=2", None),
        ("https://e.com/&#x66;<!-- c -->oo", "https://e.com/foo", None),
        ("https://e.com/a b", "https://e.com/a b", None),
    ],
)
def test_a_url_is_absolute_and_the_written_one_is_kept_where_it_differs(
    written: str, loc: str, raw: str | None
) -> None:
    record = only(url(written), url="https://e.com/dir/sitemap.xml")
    assert record.loc == loc
    assert not record.recovered
    if raw is None:
        assert record.loc_raw is None
    else:
        assert record.loc_raw is not None
        assert raw in record.loc_raw


def test_relative_urls_are_resolved_against_the_final_address() -> None:
    record = only(url("a"), base="https://www.e.com/moved/sitemap.xml")
    assert (record.loc, record.sitemap) == ("https://www.e.com/moved/a", URL)


@pytest.mark.parametrize("loc", ["ftp://e.com/a", "javascript:alert(1)", "mailto:a@e.com", "https://e com/"])
def test_a_url_that_no_one_can_ask_for_is_listed_as_written_and_reported(loc: str) -> None:
    reading = read(urlset(url(loc), GOOD))
    assert reading.locs == [loc, "https://e.com/good"]
    assert reading.rules == {"loc-invalid-uri": 1}


@pytest.mark.parametrize(
    ("rule", "outcome", "entries"),
    [
        ("loc-empty", "ok", [url(""), "<url><loc/></url>", url(" \n ")]),
        ("xml-entry-without-loc", "ok", ["<url/>", "<url></url>", "<url><lastmod>2024</lastmod></url>",
         "<url>see https://e.com/1</url>", "<url>https://e.com/1 https://e.com/2</url>", "<url>e.com/1</url>"]),
        ("loc-placeholder", "ok",
         map(url, ["{{ page.url }}", "<![CDATA[<%= url %>]]>", "${url}", "{% url 'home' %}"])),
        ("loc-invalid-uri", "recovered",
         map(url, [f"{ONE}<b>1</b>2", f"{ONE}<lastmod>2024</lastmod>", f"<a>{ONE}</a>", f"{ONE}<br/>"])),
    ],
)  # fmt: skip
def test_an_entry_without_a_whole_url_is_reported_and_left_out(rule: str, outcome: str, entries: Iterable[str]) -> None:
    for entry in entries:
        reading = read(urlset(entry, GOOD))
        assert (reading.locs, reading.rules) == (["https://e.com/good"], {rule: 1}), entry
        assert reading.document.outcome == outcome, entry


def test_a_url_in_the_text_of_the_entry_is_read_and_marked() -> None:
    reading = read(urlset(f"<url>\n {ONE}\n</url>", GOOD))
    assert reading.recovered == [ONE]
    assert reading.rules == {"xml-entry-without-loc": 1}


def test_half_a_date_is_none() -> None:
    record = only(url(ONE, "<lastmod>2024-<b>05</b>-01</lastmod>"))
    assert (record.lastmod, record.lastmod_at) == (None, None)


def test_the_first_of_repeated_elements_counts_and_none_is_lost() -> None:
    reading = read(urlset(url(ONE, "<loc>https://e.com/2</loc><lastmod>2024</lastmod><lastmod>2023</lastmod>")))
    (record,) = reading.records
    assert (record.loc, record.lastmod) == (ONE, "2024")
    assert record.extra == {CORE: [{"name": "loc", "value": "https://e.com/2"}, {"name": "lastmod", "value": "2023"}]}
    assert reading.rules["xml-duplicate-element"] == 2


@pytest.mark.parametrize("order", ["<loc>{0}</loc>{1}", "{1}<loc>{0}</loc>"])
def test_the_order_of_elements_does_not_matter(order: str) -> None:
    more = "<priority>0.3</priority><lastmod>2024-05-01</lastmod><image:image xmlns:image='{}'><image:loc>i</image:loc></image:image>"
    more = more.format("http://www.google.com/schemas/sitemap-image/1.1")
    record = only(f"<url>{order.format(ONE, more)}</url>")
    assert (record.loc, record.lastmod, record.priority) == (ONE, "2024-05-01", 0.3)
    assert [image.loc for image in record.images] == ["i"]


@pytest.mark.parametrize(
    ("written", "value"),
    [("0.5", 0.5), ("1", 1.0), (".8", 0.8), ("+0.5", 0.5), ("-1", -1.0), ("2.0", 2.0), ("0,8", 0.8),
     *((text, None) for text in ("NaN", "1e3", "", "high", "0.5.1", "٠", "inf", ".", "+", "-", "+-1", "1_000", "0x1", "１"))],
)  # fmt: skip
def test_priority_is_a_number_or_kept_as_written(written: str, value: float | None) -> None:
    record = only(url(ONE, f"<priority>{written}</priority>"))
    assert record.priority == value
    assert (record.extra is not None) is (value is None or "," in written)
    if record.extra and written:
        assert record.extra == {CORE: [{"name": "priority", "value": written}]}


@pytest.mark.parametrize(
    ("written", "value"), [("daily", "daily"), ("Daily", "daily"), ("MONTHLY", "monthly"), ("sometimes", "sometimes")]
)
def test_changefreq_is_known_in_any_case(written: str, value: str) -> None:
    record = only(url(ONE, f"<changefreq>{written}</changefreq>"))
    assert record.changefreq == value
    assert (record.extra is not None) is (written.lower() == value != written)


@pytest.mark.parametrize("written", ["", "yesterday", "0000-00-00", "2024-13-45", "2024-05-01T25:00:00Z"])
def test_a_date_that_is_none_is_kept_as_written(written: str) -> None:
    record = only(url(ONE, f"<lastmod>{written}</lastmod>"))
    assert (record.lastmod, record.lastmod_at) == (written, None)


def test_a_date_in_cdata_with_line_breaks() -> None:
    record = only(url(ONE, "<lastmod><![CDATA[\n  2024-05-01\n]]></lastmod>"))
    assert (record.lastmod, record.lastmod_at) == ("2024-05-01", "2024-05-01T00:00:00Z")


@pytest.mark.parametrize(
    "namespace",
    [
        "",
        CORE,
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        f"{CORE}/",
        "http://www.google.com/schemas/sitemap/0.84",
        "http://www.google.com/schemas/sitemap/0.9",
        "http://www.google.com/schemas/sitemap/0.90",
        "//www.sitemaps.org/schemas/sitemap/0.9",
        "http://sitemaps.org/schemas/sitemap/0.9",
        "http://e.com/any",
    ],
)
@pytest.mark.parametrize("prefix", ["", "s:"])
def test_the_core_is_read_in_whatever_namespace_the_root_has(namespace: str, prefix: str) -> None:
    if prefix and not namespace:
        return
    declaration = f' xmlns{":s" if prefix else ""}="{namespace}"' if namespace else ""
    body = f"<{prefix}url><{prefix}loc>{ONE}</{prefix}loc><{prefix}lastmod>2024</{prefix}lastmod><x/></{prefix}url>"
    (record,) = read(f"<{prefix}urlset{declaration}>{body}</{prefix}urlset>").records
    assert (record.loc, record.lastmod, record.recovered) == (ONE, "2024", False)


def test_an_element_of_another_namespace_is_never_a_core_one() -> None:
    text = f'<urlset xmlns="{CORE}" xmlns:o="urn:o"><o:url><o:loc>https://e.com/no</o:loc></o:url>{GOOD}</urlset>'
    assert read(text).locs == ["https://e.com/good"]


def test_a_page_in_an_index_and_a_child_in_a_urlset_are_what_their_elements_say() -> None:
    child = "<sitemap><loc>https://e.com/s.xml</loc></sitemap>\n"
    reading = read(f"{INDEX}{GOOD}{child}</sitemapindex>")
    assert [type(record) for record in reading.records] == [UrlRecord, ChildRecord]
    assert reading.document.format == "xml-index"
    records = read(urlset(child, GOOD)).records
    assert [(type(record), record.line) for record in records] == [(ChildRecord, 3), (UrlRecord, 4)]


def test_entries_wrapped_in_unknown_elements_are_found_in_order() -> None:
    text = urlset(GOOD, "<group><a>", url(ONE), "</a>", url("https://e.com/2"), "</group>", url("https://e.com/3"))
    reading = read(text)
    assert reading.locs == ["https://e.com/good", ONE, "https://e.com/2", "https://e.com/3"]
    assert reading.rules == {"xml-unknown-element": 1}


NESTED = "xml-entry-ignored"
UNENDED = "doc-xml-malformed"


@pytest.mark.parametrize(
    ("entries", "paths", "rule"),
    [
        pytest.param("<url>{a}<url>{b}</url></url>", "ab", NESTED, id="in an entry"),
        pytest.param("<url><url>{b}</url>{a}</url>", "ab", NESTED, id="before its URL"),
        pytest.param("<url>{a}<x><url>{b}</url></x></url>", "ab", NESTED, id="in an element of one"),
        pytest.param("<url>{a}<url>{b}<url>{c}</url></url></url>", "abc", NESTED, id="three deep"),
        pytest.param("<url>{a}<url>{b}</url><x><url>{c}</url></x></url>", "abc", NESTED, id="beside another"),
        pytest.param("<url>{a}<x><url>{b}</url></x><url>{c}</url></url>", "abc", NESTED, id="behind another"),
        pytest.param("<url>{a}<url>{b}</url><lastmod>2026</lastmod></url>", "ab", NESTED, id="before a part"),
        pytest.param('<url>{a}<url xmlns="">{b}</url></url>', "ab", NESTED, id="in no namespace"),
        pytest.param("<url>{a}<x><url>https://e.com/i</url></x></url>", "a", "", id="a part of that name"),
        pytest.param("<url>{a}<url>{b}</url><url>{c}</url>", "abc", UNENDED, id="no end tag"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_entry_in_another_is_an_entry_and_an_error(entries: str, paths: str, rule: str, size: int) -> None:
    locs = {name: f"<loc>https://e.com/{name}</loc>" for name in "abc"}
    reading = read(urlset(GOOD, entries.format(**locs), GOOD), size)
    assert reading.locs == ["https://e.com/good", *(f"https://e.com/{path}" for path in paths), "https://e.com/good"]
    assert reading.rules.get(rule, 0) == (0 if not rule else 1 if rule == UNENDED else len(paths) - 1)
    assert (NESTED in reading.rules) == (rule == NESTED)


def test_the_outer_entry_keeps_what_stands_behind_the_inner_one() -> None:
    text = "<url><loc>https://e.com/1</loc><url><loc>https://e.com/2</loc></url><lastmod>2026-01-05</lastmod></url>"
    outer, inner = read(urlset(text)).records
    assert (outer.lastmod, outer.extra, outer.recovered) == ("2026-01-05", None, False)
    assert (inner.lastmod, inner.recovered) == (None, False)


@pytest.mark.parametrize(
    "entry",
    ["<url><loc>https://e.com/{n}</loc>", "<url><loc>https://e.com/{n}</loc><url></url><x/>"],
    ids=["alone", "with an empty one inside"],
)
def test_many_entries_without_end_tags_are_read_at_once(entry: str) -> None:
    count = 3_000
    reading = read(urlset(*(entry.format(n=n) for n in range(count))), 1 << 16)
    assert len(reading.locs) == count


@pytest.mark.parametrize("end", ["", "&", END])
def test_elements_of_other_namespaces_may_stand_beside_the_entries(end: str) -> None:
    meta = '<o:meta xmlns:o="urn:o">made <o:by x="1"/></o:meta>\n'
    reading = read(urlset(meta, GOOD, meta, url(ONE, "<!-- -->"), "<p:p xmlns:p='urn:p'/>", end))
    assert reading.locs == ["https://e.com/good", ONE]
    assert "xml-unknown-element" not in reading.rules


@pytest.mark.parametrize(
    "element",
    [
        "<generator/>",
        "<generator xmlns=''/>",
        "<i:image xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'/>",
        "<i:image xmlns:i='https://www.google.com/schemas/sitemap-image/1.1'/>",
    ],
)
def test_what_belongs_into_an_entry_is_none(element: str) -> None:
    for around in ([element, GOOD], [GOOD, element]):
        assert read(urlset(*around)).rules == {"xml-unknown-element": 1}


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (f"<Url><Loc>{ONE}</Loc></Url>", "case-sensitive, and an entry is <url>"),
        (f"<URL><loc>{ONE}</loc></URL>", "case-sensitive, and an entry is <url>"),
        ("<Sitemap/>", "case-sensitive, and an entry is <sitemap>"),
        (f"<loc>{ONE}</loc>", "a <loc> belongs in an entry"),
        (f"<Loc>{ONE}</Loc>", "a <loc> belongs in an entry"),
        (f"<page><loc>{ONE}</loc></page>", "its <loc> belongs in an entry"),
        (f"<pages><page><loc>{ONE}</loc></page></pages>", "its <loc> belongs in an entry"),
        ("<o:url xmlns:o='urn:o'/>", "its namespace is urn:o"),
        (f"<url xmlns='urn:typo'><loc>{ONE}</loc></url>", "its namespace is urn:typo"),
    ],
)
def test_an_entry_that_search_engines_ignore_is_left_out_and_says_why(element: str, words: str) -> None:
    for around in ([element, GOOD], [GOOD, element]):
        reading = read(urlset(*around))
        assert (reading.locs, reading.rules) == (["https://e.com/good"], {"xml-entry-ignored": 1})
        (fault,) = reading.document.faults
        assert "so search engines ignore it" in fault.message
        assert words in fault.message


@pytest.mark.parametrize(
    ("entry", "rule", "words"),
    [
        (f"<url><Loc>{ONE}</Loc></url>", "xml-entry-without-loc", "<Loc> is not <loc>"),
        (url(ONE, "<LastMod>2024</LastMod>"), "xml-unknown-element", "this one is <lastmod>"),
    ],
)
def test_a_part_of_an_entry_in_another_case_is_named(entry: str, rule: str, words: str) -> None:
    (fault,) = read(urlset(entry, GOOD)).document.faults
    assert (fault.rule, words in fault.message) == (rule, True)


@pytest.mark.parametrize(
    ("entries", "lines"),
    [
        ([GOOD, "stray\n", GOOD], [4]),
        (["\n stray", GOOD, "<!-- \n -->\nR&amp;D\n\n", url(ONE, "<!-- -->"), "end\n"], [4, 7, 10]),
        ([f"<g>{GOOD}in a wrapper</g>\n"], []),
        (["\ufeff", GOOD], [3]),
        (["one<!-- and the same -->two", GOOD], [3]),
    ],
)
def test_text_between_entries_is_noted_at_its_line(entries: list[str], lines: list[int]) -> None:
    body = urlset(*entries)
    reading = read(body)
    noted = [fault.line for fault in reading.document.faults if fault.rule == "xml-schema-violation"]
    assert (noted, reading.document.outcome, len(reading.recovered)) == (lines, "ok", 0)
    assert [read(body, size).facts() for size in (1, 7)] == [reading.facts()] * 2


@pytest.mark.parametrize(
    "body",
    [
        f"<rss>news<channel>words<item><link>{ONE}</link></item>words</channel>x</rss>",
        urlset(url("{{ page.url }}"), "{% endfor %}"),
        urlset("Fish & Chips ", GOOD),
        f"stray {GOOD}stray{GOOD}",
        urlset(GOOD) + f"stray{GOOD}",
    ],
)
def test_text_where_another_fault_says_all_is_not_noted(body: str) -> None:
    assert "xml-schema-violation" not in read(body).rules


def test_an_element_that_is_not_known_lands_in_extra_without_loss() -> None:
    more = '<o:a xmlns:o="urn:o" b="1">x<o:c>y</o:c>z</o:a><o:a xmlns:o="urn:o"/><mobile/>'
    inner = ["x", {"name": "c", "value": "y"}, "z"]
    assert only(url(ONE, more)).extra == {
        "urn:o": [{"name": "a", "attributes": {"b": "1"}, "children": inner}, {"name": "a"}],
        CORE: [{"name": "mobile"}],
    }


def test_entries_keep_their_lines_in_one_line() -> None:
    assert read(urlset(url(ONE).strip(), url(ONE).strip(), f"<url>\n<loc>{ONE}</loc></url>")).lines == [3, 3, 3]
