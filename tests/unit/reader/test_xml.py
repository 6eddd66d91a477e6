"""XML in pieces: reading goes back and forth between expressions, parsed pieces and recovery."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.reader import Limits, xml
from tests.unit.reader.reading import CORE, END, GOOD, INDEX, URLSET, read, url, urlset

BROKEN = url("https://e.com/?a&b")
LONG = 5 << 20
"""More characters than one entry may have."""


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param((INDEX, "<url><loc>https://e.com/{}</loc></url>", "</sitemapindex>"), id="pages in an index"),
        pytest.param((URLSET, "<sitemap><loc>https://e.com/{}</loc></sitemap>", END), id="children in a urlset"),
        pytest.param((URLSET, "<url><loc>https://e.com/{}</loc></url >", END), id="a blank in the end tag"),
        pytest.param((URLSET, "<url><loc>https://e.com/{}</loc><x/></url\n>", END), id="a line break in the end tag"),
        pytest.param(
            (f'<s:urlset xmlns:s="{CORE}" xmlns="{CORE}">', "<url><loc>https://e.com/{}</loc></url>", "</s:urlset>"),
            id="two prefixes for the core",
        ),
        pytest.param((f"{URLSET}<g>", "<url><loc>https://e.com/{}</loc></url>", f"</g>{END}"), id="in a wrapper"),
        pytest.param((URLSET, "<url><loc>https://e.com/{}</loc>", END), id="no end tag at all"),
    ],
)
def test_entries_that_end_in_another_way_are_read_to_the_last(entries: tuple[str, str, str]) -> None:
    start, entry, end = entries
    count = 40
    body = "".join(entry.format(f"{number}?{'x' * 200}") + "\n" for number in range(count))
    limits = Limits(max_element=2000)
    reading = read(start + body + end, 512, limits=limits)
    assert reading.document.url_count == count
    assert reading.document.outcome in ("ok", "recovered")


FEW = Limits(max_element=1000)
GIANTS: dict[str, tuple[str, Limits]] = {
    "an entry": (f"<url><loc>https://e.com/</loc><x>{'x' * LONG}</x></url>{GOOD}{END}", Limits()),
    "a comment in an entry": (f"{url('https://e.com/1', f'<!-- {chr(120) * LONG} -->')}{GOOD}{END}", Limits()),
    "tags in an entry": (f"<url>{'<x/>' * 120_000}", Limits()),
    "tags in a wrapper": (f"<g>{'<x/>' * 120_000}", Limits()),
    "a wrapper that holds nothing": (f"<g>{'words <x>y</x>' * 1000}", FEW),
    "a section in a wrapper": (f"<g>\n<x/><!-- {'x' * 3000} --></g>", FEW),
    "a comment without end": (f"<!-- {'x' * LONG}", Limits()),
    "a CDATA section without end": (f"<![CDATA[ {'x' * LONG}", Limits()),
    "an attribute": (f'<url a="{"x" * LONG}', Limits()),
    "a tag": (f"<url{' ' * LONG}", Limits()),
    "a name": (f"<{'x' * LONG}", Limits()),
}
"""{what has no end in reach: (what stands behind an entry, limits)}."""


@pytest.mark.parametrize("what", GIANTS)
def test_a_giant_ends_the_reading_and_keeps_what_came_before(what: str) -> None:
    behind, limits = GIANTS[what]
    reading = read(f"{URLSET}{GOOD}{behind}", 512 if limits is FEW else 1 << 16, limits=limits)
    assert (reading.locs, reading.document.outcome) == (["https://e.com/good"], "truncated")
    assert reading.document.bytes <= LONG + (1 << 16)
    (fault,) = reading.document.faults
    assert "without end" in what or fault.rule == "limit-element"
    assert ("of more than 100000 tags" in fault.message) is what.startswith("tags")


@pytest.mark.parametrize("size", [1 << 16, 1 << 24])
@pytest.mark.parametrize("fault", ["", "&"])
@pytest.mark.parametrize("section", ["<!-- {} -->", "<![CDATA[{}]]>", "<?php {} ?>"])
def test_a_giant_comment_that_holds_entries_is_passed_over(section: str, fault: str, size: int) -> None:
    hidden = url("https://e.com/hidden") * (LONG // 40)
    body = urlset(GOOD, fault, section.format(hidden), "\n", GOOD)
    reading = read(body, size)
    assert reading.locs == ["https://e.com/good"] * 2
    assert reading.lines == [3, body.count("\n")]
    assert reading.document.outcome == ("recovered" if fault else "ok")
    assert reading.rules == ({"doc-unescaped-ampersand": 1} if fault else {})


@pytest.mark.parametrize("words", ["<!-- note -->", "words ", "<x/>", "<!-- <url> -->\n"])
def test_much_between_two_entries_is_no_giant_entry(words: str) -> None:
    limits = Limits(max_element=1000)
    assert read(urlset(GOOD, words * 300, GOOD), 512, limits=limits).locs == ["https://e.com/good"] * 2


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 1, 3), (3, 1, 2)])
def test_no_entry_of_a_wrapper_is_lost_whatever_its_namespace(order: tuple[int, ...]) -> None:
    entries = {
        1: "<url><loc>https://e.com/1</loc></url>",
        2: "<s:url><s:loc>https://e.com/2</s:loc></s:url>",
        3: "<o:url><s:url><s:loc>https://e.com/3</s:loc></s:url></o:url>",
    }
    inside = "".join(entries[number] for number in order)
    reading = read(f'<s:urlset xmlns:s="{CORE}" xmlns:o="urn:o"><g>{inside}</g></s:urlset>')
    assert reading.locs == [f"https://e.com/{number}" for number in order]


def test_namespaces_declared_late_are_seen() -> None:
    late = '<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>i</image:loc></image:image>'
    reading = read(urlset(*[GOOD] * 500, url("https://e.com/1", late)), 512)
    assert reading.records[-1].images[0].loc == "i"
    assert "http://www.google.com/schemas/sitemap-image/1.1" in reading.document.namespaces


def test_namespaces_of_a_second_document_are_added() -> None:
    reading = read(f'{urlset(GOOD)}<urlset xmlns="urn:second">{GOOD}{END}')
    assert reading.document.namespaces == [CORE, "urn:second"]
    assert len(reading.records) == 2


def test_the_rest_behind_a_fault_at_the_very_end_is_read() -> None:
    assert read(f"{URLSET}{BROKEN}{GOOD}").locs == ["https://e.com/?a&b", "https://e.com/good"]
    assert read(f"{URLSET}&{GOOD}").locs == ["https://e.com/good"]


BIG = f"<!--{'x' * 300_000}-->"
"""A comment that is larger than a piece of a document."""
SECOND = f"<url><loc>https://e.com/2</loc>{BIG}</url>"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f'<x:url xmlns:x="u">{GOOD}{SECOND}</x:url>', id="another namespace"),
        pytest.param(f'<x:url xmlns:x="{CORE}">{GOOD}{SECOND}</x:url>', id="the namespace of the protocol"),
        pytest.param(f'<image:url xmlns:image="u">{GOOD}{SECOND}</image:url>', id="an extension"),
        pytest.param(f'<x:url xmlns:x="u">{GOOD}{SECOND}', id="no end tag"),
        pytest.param(f"<url>{GOOD}{SECOND}</url>", id="an entry"),
    ],
)
def test_large_entries_in_an_element_named_like_an_entry_are_read(body: str) -> None:
    for size in (1000, 1 << 20):
        assert read(urlset(body), size).locs == ["https://e.com/good", "https://e.com/2"]


SHAPES = (
    GOOD, "<url>", "</url>", "<loc>https://e.com/2</loc>", '<x:url xmlns:x="u">', "</x:url>", "<w>", "</w>", "<url/>",
    "<!-- c -->", "<!--", "-->", "&", "a &amp; b", "x" * 70, '<url xmlns="">', "<image:image>", END,
)  # fmt: skip


@given(st.lists(st.sampled_from(SHAPES), max_size=12), st.sampled_from([64, 150, xml.PIECE_SIZE]))
def test_any_order_of_tags_is_read_to_the_end_and_alike_in_any_chunks(parts: list[str], window: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml, "PIECE_SIZE", window)
        whole, pieces = (read(URLSET + "".join(parts), size) for size in (1 << 20, 5))
    assert [(record.loc, record.recovered) for record in whole.records] == [
        (record.loc, record.recovered) for record in pieces.records
    ]


def test_text_is_cut_between_references_and_tags() -> None:
    text = "&amp;text" * 60_000
    reading = read(urlset(GOOD, text, GOOD), 1 << 20)
    assert reading.locs == ["https://e.com/good"] * 2
    assert set(reading.rules) == {"xml-schema-violation"}
    assert reading.document.outcome == "ok"


def test_declarations_around_entries_are_limited() -> None:
    wrapper = f'<w xmlns:a="{"x" * 10_000}">'
    reading = read(urlset(GOOD, wrapper, BROKEN, BROKEN), 1 << 20)
    assert reading.rules["limit-element"] == 1
    assert reading.locs[0] == "https://e.com/good"
    assert reading.document.outcome == "truncated"


FAULTS = (
    "&", "&&", "&eacute;", "&foo;", "&a:b;", "&copy=1", "&#0;", "&#233;", "&;", "&amp;", "&lt;", "&LT;", "\x01", "\x0b",
    "\ufffe", "\ufffd", "]]>", "user:pw@", "&#64;", "\n", "/", "{{x}}",
)  # fmt: skip
"""Texts in values that are not well formed, or come close to that."""


@given(st.lists(st.tuples(*[st.lists(st.sampled_from(FAULTS), max_size=2).map("".join)] * 4), min_size=1, max_size=3))
def test_usual_entries_with_faults_are_read_without_a_parser_as_with_one(values: list[tuple[str, ...]]) -> None:
    entries = "".join(
        f"<url>\n<loc>https://e.com/{loc}a</loc>\n<lastmod>2024{date}-05</lastmod><changefreq>daily{frequency}</changefreq>"
        f"<priority>0.5{priority}</priority></url>\n"
        for loc, date, frequency, priority in values
    )
    parsed = entries.replace("<url>", "<url >")
    one, other = (read(f"{URLSET}{text}{END}").facts() for text in (entries, parsed))
    assert one | {"bytes": 0} == other | {"bytes": 0}
