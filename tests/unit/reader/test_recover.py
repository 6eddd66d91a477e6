"""Recovery, entry by entry: what can be trusted is kept, what was repaired is marked, what is cut is left out."""

from __future__ import annotations

import pytest

from sitemapcrawler.reader import Limits
from tests.unit.reader.reading import CORE, DECLARATION, END, GOOD, INDEX, URLSET, Reading, read, url, urlset
from tests.unit.rules.judging import judge

ONE = "https://e.com/1"
KEPT = "https://e.com/good"
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"


def around(broken: str, *more: str) -> Reading:
    """A broken entry between good ones, which must all be there, unmarked and on their lines."""
    reading = read(urlset(GOOD, f"{broken}\n", *more, GOOD, GOOD))
    good = [record for record in reading.records if record.loc == KEPT]
    end = 4 + (broken + "\n" + "".join(more)).count("\n")
    assert [(record.line, record.recovered) for record in good] == [(3, False), (end, False), (end + 1, False)]
    return reading


@pytest.mark.parametrize(
    ("broken", "loc"),
    [
        ("<url><loc>https://e.com/?a=1&b=2</loc></url>", "https://e.com/?a=1&b=2"),
        ("<url><loc>https://e.com/?a=1&amp;b&c</loc></url>", "https://e.com/?a=1&b&c"),
        ("<url><loc>https://e.com/caf&eacute;</loc></url>", "https://e.com/café"),
        ("<url><loc>https://e.com/?a&copy=2</loc></url>", "https://e.com/?a&copy=2"),
        ("<url><loc>https://e.com/1</loc><lastmod>a & b</lastmod></url>", ONE),
        ("<url><loc>https://e.com/1</loc><lastmod>\x08</lastmod></url>", ONE),
        ("<url><loc>https://e.com/1</loc><lastmod>2024-05-01</lastmd></url>", ONE),
        ("<url><loc>https://e.com/1</loc><lastmod>2024-05-01</url>", ONE),
        ("<url><loc>https://e.com/1</loc><image:image><image:loc>x</image:loc></image:image></url>", ONE),
        ("<url><loc>https://e.com/1</loc><x a=1></x></url>", ONE),
        ("<url><loc>https://e.com/1</loc><x a='1' a='2'/></url>", ONE),
        ("<url><loc>https://e.com/1</loc> & </url>", ONE),
        ("<url><loc>https://e.com/1</loc></urls>", ONE),
        ("<url><loc>https://e.com/1</loc>", ONE),
        ("<url><loc>https://e.com/1</loc><lastmod>2024", ONE),
        ("<url><loc>\n  https://e.com/?a&b\n</loc></url>", "https://e.com/?a&b"),
        ("<url><loc><![CDATA[https://e.com/?a&b]]></loc><x>&</x></url>", "https://e.com/?a&b"),
        ("<url><loc>https://e.com/1<!-- & --></loc><x>&</x></url>", ONE),
        ("<url a='1'><loc>https://e.com/?a&b</loc></url>", "https://e.com/?a&b"),
    ],
)
def test_a_repaired_entry_is_kept_and_marked(broken: str, loc: str) -> None:
    reading = around(broken)
    assert reading.recovered == [loc]
    assert reading.records[1].line == 4
    assert reading.document.outcome == "recovered"
    assert "read after repair" in (reading.document.error or "")


@pytest.mark.parametrize(
    "broken",
    [
        "<url><loc>https://e.com/a\x08b</loc></url>", "<url><loc>https://e.com/a&#0;b</loc></url>",
        "<url><loc>https://e.com/1</lok></url>", "<url><loc>https://e.com/1</url>",
        "<url><loc>https://e.com/1<lastmod>2024-05-01</lastmod></url>", "<url><loc>https://e.com/1",
        "<url><loc>https://e.com/1</lo", "<url><loc>https://e.com/1</lo</url>",
        "<url><loc>https://e.com/a<b</loc></url>", "<url><loc>https://e.com/a<b c='></loc></url>",
        "<url><loc>https://e.com/a]]>b</loc></url>", "<url><loc>https://e.com/a<b></loc></url>",
        "<url><loc>https://e.com/a<b/>c&</loc></url>",
        "<url><loc>https://e.com/1</lok><loc>https://e.com/2</loc></url>",
        "<url><loc a=1>https://e.com/1</loc></url>", "<url><image:loc>https://e.com/i</image:loc></url>",
        "<url>https://e.com/1<x></url>", "<url>https://e.com/1",
    ],
)  # fmt: skip
def test_an_entry_whose_url_is_not_whole_is_left_out_and_reported(broken: str) -> None:
    reading = around(broken)
    assert set(reading.locs) == {KEPT}
    assert reading.document.outcome == "recovered"
    assert "left out" in (reading.document.error or "")


@pytest.mark.parametrize(
    "junk", ["text & more", "</b>", "<b>", "<b", "<!DOCTYPE x>", "]]>", "\x00", "<>", "<?xml version='1.0'?>"]
)
def test_junk_between_entries_costs_none_of_them(junk: str) -> None:
    reading = around(junk)
    assert reading.locs == [KEPT] * 3
    assert reading.document.outcome == "recovered"


@pytest.mark.parametrize(
    "section",
    ["<!-- {0}{0} -->", "<x><![CDATA[{0}{0}]]></x>", "<?php {0}{0} ?>", "<!-- {0}-->", "<!--{0}\n{0}{0}\n-->"],
)
@pytest.mark.parametrize(
    "fault", ["", " & ", "</b>", "<url><loc>https://e.com/1</loc></ur>", "<url/>\x08", "<x/>&", "<long-name/>&"]
)
def test_what_a_comment_or_cdata_hides_is_never_an_entry(fault: str, section: str) -> None:
    hidden = section.format(url("https://e.com/hidden"))
    reading = around(f"{fault}{hidden}")
    assert "https://e.com/hidden" not in reading.locs


def test_a_broken_entry_keeps_its_other_parts() -> None:
    start = f'<urlset xmlns="{CORE}" xmlns:image="{IMAGE}">'
    entry = (
        "<url><loc>https://e.com/?a&b</loc><lastmod>2024-05-01</lastmod><priority>0.5</priority>"
        "<image:image><image:loc>https://e.com/?i&j</image:loc></image:image></url>"
    )
    (record,) = read(f"{start}{entry}{END}").records
    assert (record.lastmod, record.priority, record.recovered) == ("2024-05-01", 0.5, True)
    assert [image.loc for image in record.images] == ["https://e.com/?i&j"]


def test_an_undeclared_prefix_means_what_it_always_means_and_an_unknown_one_is_kept_apart() -> None:
    image = "<image:image><image:loc>https://e.com/i.jpg</image:loc></image:image>"
    reading = around(f"<url><loc>https://e.com/1</loc>{image}<foo:bar>x</foo:bar></url>")
    record = reading.records[1]
    assert [image.loc for image in record.images] == ["https://e.com/i.jpg"]
    assert record.extra == {"urn:undeclared:foo": [{"name": "bar", "value": "x"}]}


TWO = "https://e.com/2"
HIDE = url("https://e.com/hidden") * 2
ITEM = "<item><title>{}</title><link>https://e.com/{}</link></item>\n"
ITEMS = "".join(map(ITEM.format, ("caf&eacute;", "a & b", "t"), "123")) + "<item><link>https://e.com/4</lin></item>"
LINKED = url(ONE, '<xhtml:link rel="alternate" hreflang="de" href="https://e.com/de"/>')
PREFIXED = f"<s:url><s:loc>{ONE}?a&b</s:loc></s:url><s:url><s:loc>{TWO}</s:loc></s:url>"
CHILDREN = "".join(f"<sitemap><loc>{loc}</loc></sitemap>\n" for loc in (f"{ONE}?a&b", "https://e.com/3</lo", TWO))
WITHOUT_END = [f"https://e.com/{number}" for number in range(40)]
PICTURED = "<url><loc>https://e.com/1</loc><image:image><image:loc>i</image:loc></image:image></url>\n"
WHOLES: dict[str, tuple[str, list[tuple[str, int]], list[str], dict[str, int] | None]] = {
    "two documents": (f"{urlset(GOOD)}\n{urlset(url(ONE))}", [(KEPT, 3), (ONE, 7)], [], {"doc-trailing-content": 1}),
    "a second document that is cut": (
        f"{urlset(GOOD)}{URLSET}{url(ONE)}<url><loc>https://e.com/2", [(KEPT, 3), (ONE, 6)], [],
        {"doc-trailing-content": 1, "doc-truncated": 1},
    ),
    "two answers, the first of them cut": (
        f"{URLSET}{GOOD}<url><loc>https://e.com/cu{URLSET}{url(ONE)}{END}", [(KEPT, 3), (ONE, 6)], [], None,
    ),
    "entries behind the root": (
        f"{urlset(GOOD)}\n{url(ONE)}{url(TWO)}", [(KEPT, 3), (ONE, 5), (TWO, 6)], [ONE, TWO], None,
    ),
    "comment behind the root": (f"{urlset(GOOD)}<b/><!-- {HIDE} -->", [(KEPT, 3)], [], None),
    "comment behind the root and an entry": (
        f"{urlset(GOOD)}text <!-- {HIDE} --><url><loc>{ONE}</loc></url>", [(KEPT, 3), (ONE, 6)], [ONE], None,
    ),
    "comment without end": (urlset(GOOD, "<!-- ", GOOD, GOOD), [(KEPT, 3)], [], {"doc-truncated": 1}),
    "root without its last quote": (
        f'<urlset xmlns="{CORE} xmlns:xhtml="http://www.w3.org/1999/xhtml">{GOOD}{LINKED}{GOOD}{END}',
        [(KEPT, 1), (ONE, 2), (KEPT, 3)], [KEPT, ONE, KEPT], None,
    ),
    "no root": (f"  {url(ONE)}{GOOD}", [(ONE, 1), (KEPT, 2)], [ONE, KEPT], {"xml-root-unknown": 1}),
    "no end tags": (
        urlset(*(f"<url><loc>{loc}</loc>\n" for loc in WITHOUT_END)),
        [(loc, 3 + n) for n, loc in enumerate(WITHOUT_END)], WITHOUT_END, None,
    ),
    "undeclared prefixes": (
        urlset(*[PICTURED] * 20, GOOD), [*((ONE, 3 + n) for n in range(20)), (KEPT, 23)], [ONE] * 20,
        {"xml-ext-namespace-missing": 20},
    ),
    "index": (f"{INDEX}{CHILDREN}</sitemapindex>", [(f"{ONE}?a&b", 3), (TWO, 5)], [f"{ONE}?a&b"], None),
    "prefixed entries": (
        f'<s:urlset xmlns:s="{CORE}">{PREFIXED}</s:urlset>', [(f"{ONE}?a&b", 1), (TWO, 1)], [f"{ONE}?a&b"], None,
    ),
    "feed": (
        f"<rss version='2.0'><channel><title>x</title>\n{ITEMS}</channel></rss>",
        [(ONE, 2), (TWO, 3), ("https://e.com/3", 4)], [ONE, TWO],
        {"doc-undeclared-entity": 1, "doc-unescaped-ampersand": 1, "doc-xml-malformed": 1},
    ),
    "two entries that lost what was between them": (
        urlset(GOOD, f"<url><loc>{ONE}<url><loc>{TWO}</loc></url>\n", GOOD), [(KEPT, 3), (TWO, 4), (KEPT, 5)], [], None,
    ),
    "too deep": (
        urlset(GOOD, f"<url><loc>{ONE}</loc>{'<x>' * 50}{'</x>' * 50}</url>\n", GOOD),
        [(KEPT, 3), (ONE, 4), (KEPT, 5)], [ONE], {"limit-depth": 1},
    ),
}  # fmt: skip
"""{what: (document, (URL, line) of its entries, those marked as recovered, faults; None for any)}."""


@pytest.mark.parametrize(("text", "entries", "recovered", "rules"), WHOLES.values(), ids=WHOLES)
def test_what_a_broken_document_lists(
    text: str, entries: list[tuple[str, int]], recovered: list[str], rules: dict[str, int] | None
) -> None:
    reading = read(text)
    assert [*zip(reading.locs, reading.lines, strict=True)] == entries
    assert reading.recovered == recovered
    assert rules is None or reading.rules == rules
    assert reading.document.outcome == ("truncated" if "doc-truncated" in reading.rules else "recovered")


def test_a_wrapper_that_is_no_entry_has_no_url_of_its_own() -> None:
    broken = "<publisher><loc>https://e.com/p</loc><url x='1'/></publisher>"
    assert "https://e.com/p" not in around(broken).locs


@pytest.mark.parametrize(
    "root",
    [
        '<urlset xmlns="a" xmlns="b">',
        f'<urlset xmlns="{CORE}" xmlns="{CORE}">',
        f'<urlset xmlns="{CORE}" xsi:schemaLocation="x y">',
        f'<urlset xmlns="{CORE}" xmlns:xsi=x>',
        f'<urlset xmlns="{CORE}" xmlns:a="">',
        f'<urlset xmlns="{CORE}" xmlns:xml="urn:x">',
        f'<urlset xmlns="{CORE}" xmlns:xmlns="urn:x">',
        '<urlset xmlns="http://www.w3.org/2000/xmlns/">',
        f'<urlset xmlns="{CORE}" a="&x;">',
        f'<urlset xmlns="{CORE}" a="&">',
        f'<urlset xmlns="{CORE}" a="<">',
        '<urlset xmlns="a&b">',
        "<s:urlset>",
        "<s:urlset xmlns:s=''>",
        f'<urlset xmlns="{CORE}" xmlns:image="{IMAGE}>',
        f'<urlset xmlns="{CORE}"',
        "<urlset \x08>",
        "<urlset a='1' a='2'>",
    ],
)
def test_a_root_that_is_not_well_formed_loses_no_entry(root: str) -> None:
    prefix = root[1:].partition("urlset")[0]
    entry = GOOD.replace("</", f"</{prefix}").replace("<", f"<{prefix}").replace(f"<{prefix}/{prefix}", f"</{prefix}")
    reading = read(f"{root}{entry}{entry}</{prefix}urlset>")
    assert reading.locs == [KEPT, KEPT]
    assert reading.document.outcome == "recovered"


@pytest.mark.parametrize("prefix", ["xml", "xmlns"])
def test_a_root_with_a_reserved_prefix_never_raises(prefix: str) -> None:
    tags = "<{0}:urlset><{0}:url><{0}:loc>https://e.com/1</{0}:loc></{0}:url></{0}:urlset>"
    assert read(tags.format(prefix)).locs in ([], [ONE])


@pytest.mark.parametrize(
    ("start", "end", "format", "types"),
    [
        (f"{urlset(GOOD)}{INDEX}", "</sitemapindex>", "xml-urlset", ["UrlRecord", "ChildRecord"]),
        ("", "", "xml-index", ["ChildRecord"]),
    ],
    ids=["an index behind a urlset", "a fragment"],
)
def test_children_are_listed_where_no_index_was_expected(start: str, end: str, format: str, types: list[str]) -> None:
    reading = read(f"{start}<sitemap><loc>https://e.com/s.xml</loc></sitemap>{end}")
    assert reading.document.format == format
    assert [type(record).__name__ for record in reading.records] == types


@pytest.mark.parametrize(
    "junk", ["text", "<script>alert(1)</script>", "<!-- cached in 0.2 s -->x", "\x00\x00", "&", "</urlset>"]
)
def test_junk_behind_the_root_costs_no_entry(junk: str) -> None:
    reading = read(f"{urlset(GOOD)}{junk}")
    assert reading.locs == [KEPT]
    assert reading.document.outcome == "recovered"
    assert reading.document.url_count == 1
    assert len(reading.document.faults) == 1


@pytest.mark.parametrize("rest", ["", "\n", " \n\n", "<!-- cached -->", "<?pi?>\n", "\n<!-- a --><!-- b -->\n"])
def test_what_may_stand_behind_the_root_is_no_fault(rest: str) -> None:
    reading = read(f"{urlset(GOOD)}{rest}")
    assert (reading.locs, reading.rules, reading.document.outcome) == ([KEPT], {}, "ok")


@pytest.mark.parametrize(
    "notice",
    [
        "This XML file does not appear to have any style information associated with it.\n",
        "<br />\n<b>Warning</b>: foo in <b>x.php</b> on line <b>3</b><br />\n",
        "<!-- x --> text\n",
        "\x00\n",
        "&amp;\n",
        "<script>var a = '<urls';</script>\n",
    ],
)
@pytest.mark.parametrize("start", [URLSET, URLSET.removeprefix(DECLARATION)])
def test_words_before_the_root_cost_no_entry(notice: str, start: str) -> None:
    text = f"{notice}{start}{GOOD}"
    reading = read(f"{text}{END}")
    assert reading.locs == [KEPT]
    assert reading.lines == [text.count("\n")]
    assert reading.recovered == []
    assert reading.document.outcome == "recovered"
    assert reading.rules == {"doc-leading-content": 1}


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("<wrapper>", "</wrapper>"),
        ("<sm:wrapper>", "</sm:wrapper>"),
        ('<a:wrapper xmlns:a="urn:a&amp;b">', "</a:wrapper>"),
        ("<a><sm:b><c >", "</c></sm:b></a >"),
        ('<wrapper xmlns="urn:w">', "</wrapper>"),
        ("<wrapper><x xmlns:q='urn:q'/>", "</wrapper>"),
    ],
)
def test_a_fault_in_a_wrapper_is_the_only_one(start: str, end: str) -> None:
    entries = "<sm:url><sm:loc>https://e.com/?a&b</sm:loc></sm:url><sm:url><sm:loc>https://e.com/2</sm:loc></sm:url>"
    body = f'<sm:urlset xmlns:sm="{CORE}">{start}{entries}{end}{entries}</sm:urlset>'
    reading = read(body)
    assert reading.locs == ["https://e.com/?a&b", "https://e.com/2"] * 2
    assert reading.recovered == ["https://e.com/?a&b"] * 2
    assert reading.rules == {"xml-unknown-element": 1, "doc-unescaped-ampersand": 2}


def test_prefixes_that_a_wrapper_declares_are_known_behind_a_fault_in_it() -> None:
    linked = url(ONE, "<i:image><i:loc>https://e.com/i</i:loc></i:image>")
    reading = read(urlset(f'<g xmlns:i="{IMAGE}">', url("https://e.com/?a&b"), linked, linked + "&", linked, "</g>"))
    assert reading.locs == ["https://e.com/?a&b", ONE, ONE, ONE]
    assert [len(record.images) for record in reading.records] == [0, 1, 1, 1]
    assert reading.recovered == ["https://e.com/?a&b"]
    assert reading.rules == {"xml-unknown-element": 1, "doc-unescaped-ampersand": 2}


@pytest.mark.parametrize("fault", ["&", "<x", "</x>", "\x01", "<!-- "])
def test_an_entry_that_is_whole_keeps_its_element_in_a_broken_piece(fault: str) -> None:
    declared = URLSET[:-2] + f' xmlns:i="{IMAGE}">\n'
    whole = url(ONE, "<i:image><i:loc>https://e.com/i</i:loc></i:image>")
    body = f"{declared}<g>\n{whole}{url('https://e.com/?a&b', '<x/>')}{whole}{fault}\n{whole}</g>{END}"
    reading = read(body, keep_elements=True)
    assert reading.locs[:3] == [ONE, "https://e.com/?a&b", ONE]
    for record, element in zip(reading.records, reading.elements, strict=True):
        assert (element is None) == record.recovered
        if element is not None:
            assert (element.name, element.line) == ("url", record.line)
            assert [(child.name, child.line) for child in element.children] == [
                ("loc", record.line),
                ("image", record.line),
            ]
    assert not any(hasattr(record, "element") for record in read(body).records)


@pytest.mark.parametrize("section", ["<?x?>", "<!-- -->", "<![CDATA[]]>", "<!-- --><!-- -->"])
def test_what_a_section_parts_does_not_become_an_entry(section: str) -> None:
    for start in (f"<{section}url>", f"<url{section}>", f"<url {section}>"):
        assert around(f"{start}<loc>{ONE}</loc></url>").locs == [KEPT] * 3


@pytest.mark.parametrize("fault", ["<", "</x>", "&"])
@pytest.mark.parametrize(("begin", "end"), [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")])
def test_entries_that_a_section_without_end_hides_are_told_to_be_lost(fault: str, begin: str, end: str) -> None:
    broken = f"<url><loc>{ONE}</loc>{fault}<!--\n-->{begin}x</url>\n"
    reading = read(urlset(GOOD, broken, GOOD, GOOD))
    assert (reading.locs, reading.document.outcome) == ([KEPT, ONE], "truncated")
    assert [fault.line for fault in reading.document.faults if fault.rule == "doc-truncated"] == [5]
    closed = read(urlset(GOOD, broken, GOOD, f"{end}</url>", GOOD))
    assert (closed.locs, closed.document.outcome) == ([KEPT, ONE, KEPT], "recovered")


@pytest.mark.parametrize("fault", ["&", "</x>", "<url><loc>https://e.com/2</loc>"])
def test_an_entry_that_is_whole_is_judged_in_a_broken_piece(fault: str) -> None:
    entry = url(ONE, "<i:image><i:loc>https://e.com/i</i:loc><i:colour/></i:image>")
    body = URLSET[:-2] + f' xmlns:i="{IMAGE}">\n{fault}{entry}{entry}{END}'
    found = [finding.line for finding in judge(body.encode()) if finding.rule == "xml-unknown-element"]
    assert found == [3, 4]


HIDDEN = "<url><loc>https://e.com/hidden</loc></url>"


@pytest.mark.parametrize("size", [1, 7, None])
@pytest.mark.parametrize(
    ("section", "rule"),
    [
        (f"<!-- old -- {HIDDEN} -->", "doc-xml-malformed"),
        (f"<!--- {HIDDEN} --->", "doc-xml-malformed"),
        (f"<!-- old -- {URLSET}{HIDDEN}{END} -->", "doc-xml-malformed"),
        (f"<!-- \x01 {HIDDEN} -->", "doc-control-character"),
        (f"<?1 {HIDDEN} ?>", "doc-xml-malformed"),
    ],
)
def test_a_malformed_section_behind_the_root_hides_its_entries(section: str, rule: str, size: int | None) -> None:
    reading = read(f"{urlset(GOOD)}\n{section}\n", size)
    assert reading.locs == [KEPT]
    assert reading.rules == {rule: 1}
    reading = read(f"{urlset(GOOD)}\n{section}\n{url(ONE)}", size)
    assert (reading.locs, reading.recovered) == ([KEPT, ONE], [ONE])
    assert reading.rules == {rule: 1, "doc-trailing-content": 1}
    assert read(urlset(GOOD, f"{section}\n", GOOD), size).locs == [KEPT, KEPT]


@pytest.mark.parametrize("size", [3, 100, None])
def test_a_comment_that_is_larger_than_the_limit_is_skipped(size: int | None) -> None:
    comment = f"<!--{HIDDEN * 30}a -- b\x01-->"
    for text in (urlset(GOOD, comment, GOOD), f"{urlset(GOOD, GOOD)}{comment}"):
        reading = read(text, size, limits=Limits(max_element=500))
        assert (reading.locs, reading.rules) == ([KEPT, KEPT], {})


VIDEO = "<video:video><video:title>a</video:title><video:description>b</video:description>"
PICTURE = "<image:image><image:loc>https://e.com/i.png</image:loc>"


@pytest.mark.parametrize(
    ("parts", "videos", "images"),
    [
        (VIDEO, 0, 0),
        (f"{VIDEO}</video:video>{VIDEO}", 1, 0),
        (f"{PICTURE}</image:image>{VIDEO}", 0, 1),
        ("<video:video><video:title>a</video:video>", 0, 0),
        (f"{VIDEO}</image:image>", 0, 0),
    ],
)
@pytest.mark.parametrize("query", ["", "?a=1&b"])
def test_a_video_without_its_end_tag_is_left_out_of_its_entry(parts: str, videos: int, images: int, query: str) -> None:
    prefixes = f'xmlns:image="{IMAGE}" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    start = URLSET.replace("<urlset", f"<urlset {prefixes}")
    reading = read(f"{start}{url(ONE + query, parts)}{GOOD}{END}")
    assert reading.locs == [ONE + query, KEPT]
    assert reading.recovered == [ONE + query]
    record = reading.records[0]
    assert (len(record.videos), len(record.images)) == (videos, images)
    assert all((video.title, video.description) == ("a", "b") for video in record.videos)
    assert all(image.loc == "https://e.com/i.png" for image in record.images)
    assert not any(holder.extra for holder in (*record.videos, *record.images))


def test_a_video_that_is_cut_is_left_out() -> None:
    reading = read(f"{URLSET}<url><loc>{ONE}</loc>{VIDEO}")
    assert (reading.recovered, reading.records[0].videos) == ([ONE], ())


@pytest.mark.parametrize("inner", ["<url></url>", f"<url><loc>{ONE}</loc></url>"])
def test_what_stands_behind_a_whole_entry_is_no_part_of_it(inner: str) -> None:
    assert read(f"{URLSET}<url>{inner}<w><w></url>").locs == [ONE] * ("loc" in inner)
