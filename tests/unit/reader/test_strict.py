"""The strict parser: one entry at a time, exact lines, exact faults."""

from __future__ import annotations

import pytest

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.faults import MAX_NAME
from sitemapcrawler.reader.strict import MAX_NAMES, Malformed, Scope, StrictParser
from tests.unit.reader.reading import CORE

ROOT = f'<urlset xmlns="{CORE}">'


def parse(text: str, root: str = ROOT, **keywords: object) -> list[Element]:
    built: list[Element] = []
    parser = StrictParser(root, built.append, **keywords)  # type: ignore[arg-type]  # keywords of one test each
    parser.feed(text, 1)
    return built


def fault_of(text: str, root: str = ROOT) -> Malformed:
    with pytest.raises(Malformed) as caught:
        parse(text, root)
    return caught.value


def test_an_entry_is_an_element_under_the_root() -> None:
    (entry,) = parse("<url><loc>https://e.com/1</loc></url>")
    (loc,) = entry.children
    assert (entry.uri, entry.name, entry.line) == (CORE, "url", 1)
    assert (loc.uri, loc.name, loc.text) == (CORE, "loc", "https://e.com/1")


def test_an_entry_under_a_container_is_one_too() -> None:
    built = parse("<channel><title>t</title><item/></channel>", "<rss>", containers=("channel",))
    assert [element.name for element in built] == ["title", "item"]


def test_a_container_within_an_entry_is_none() -> None:
    built = parse("<channel><item><channel><x/></channel></item></channel>", "<rss>", containers=("channel",))
    assert [element.name for element in built] == ["item"]


def test_attributes_of_a_namespace_carry_it() -> None:
    (entry,) = parse('<url xmlns:a="urn:a" a:b="1" c="2"/>')
    assert entry.attributes == {"{urn:a}b": "1", "c": "2"}


def test_the_xml_prefix_needs_no_declaration() -> None:
    (entry,) = parse('<url xml:lang="de"/>')
    assert entry.attributes == {"{http://www.w3.org/XML/1998/namespace}lang": "de"}


def test_mixed_content_keeps_its_order() -> None:
    (entry,) = parse("<url>a<b/>c<![CDATA[ & ]]>&lt;d</url>")
    assert [part if isinstance(part, str) else part.name for part in entry.content][:2] == ["a", "b"]
    assert "".join(part for part in entry.content if isinstance(part, str)) == "ac & <d"


@pytest.mark.parametrize("line", [1, 65_534, 65_535, 65_536, 3_000_000])
def test_lines_are_those_of_the_document(line: int) -> None:
    built: list[Element] = []
    parser = StrictParser(ROOT, built.append)
    parser.feed("\n<url>\n<loc>x</loc>\n</url>", line)
    parser.feed("\n\n<url/>", line + 3)
    assert [(entry.line, [child.line for child in entry.children]) for entry in built] == [
        (line + 1, [line + 2]),
        (line + 5, []),
    ]


def test_an_entry_begins_where_its_tag_begins() -> None:
    (entry,) = parse("\n<url\n  a='1'\n>\n</url>")
    assert entry.line == 2


def test_namespaces_are_kept_in_order_of_appearance() -> None:
    scope = Scope()
    parser = StrictParser('<urlset xmlns="urn:b" xmlns:a="urn:a">', lambda element: None, scope=scope)
    parser.feed('<url xmlns:c="urn:c"><x xmlns:d="urn:a"/></url>', 1)
    assert list(scope.namespaces) == ["urn:b", "urn:a", "urn:c"]
    assert parser.root_uri == "urn:b"


def test_the_end_of_the_root_is_known() -> None:
    parser = StrictParser(ROOT, lambda element: None)
    assert not parser.ended
    parser.feed("<url/></urlset>", 1)
    assert parser.ended


def test_where_nothing_is_open_but_the_root_is_between_entries() -> None:
    parser = StrictParser(ROOT, lambda element: None, entries=("url",))
    states = []
    for text in ("", "<url><loc>é</loc>", "</url>", "text", "<x>", "<url>", "</url>", "</x>"):
        parser.feed(text, 1)
        states.append((parser.is_between, parser.in_entry, parser.depth))
    assert states == [
        (True, False, 1), (False, True, 1), (True, False, 1), (True, False, 1),
        (False, False, 1), (False, True, 2), (True, False, 2), (True, False, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("root", "tag", "start"),
    [
        ('<urlset xmlns="urn:a">', "<g>", "<g>"),
        ('<s:urlset xmlns:s="urn:a">', "<s:g x='1'>", "<s:g>"),
        ("<urlset>", "<g xmlns='urn:g'>", '<g xmlns="urn:g">'),
        ("<urlset xmlns='urn:a'>", "<g xmlns=''>", '<g xmlns="">'),
        ("<urlset>", """<o:g xmlns:o='"&lt;'  xmlns:p="urn:p">""", """<o:g xmlns:o='"&lt;' xmlns:p="urn:p">"""),
    ],
)
def test_what_is_open_around_the_entries_can_be_opened_again(root: str, tag: str, start: str) -> None:
    name = root[1:].partition(" ")[0].removesuffix(">")
    built: list[Element] = []
    parser = StrictParser(root, built.append, entries=("url",))
    entry = f"<{name.replace('urlset', 'url')} xmlns{':s' if name[0] == 's' else ''}='{parser.root_uri}'/>"
    parser.feed(f"{tag}<x xmlns:q='urn:q'/>{entry}", 1)
    assert parser.containers == [start]
    again = StrictParser(root, built.append, entries=("url",), inside=parser.containers)
    assert (again.is_between, again.depth, again.containers) == (True, 2, [start])
    again.feed(f"{entry}</{tag[1:].split()[0].rstrip('>')}></{name}>", 1, final=True)
    assert [element.name for element in built] == ["url", "url"]
    assert again.wrappers == []


@pytest.mark.parametrize(
    ("text", "rule", "offset"),
    [
        ("<url>&eacute;</url>", "doc-undeclared-entity", 5),
        ("<url>&#0;</url>", "doc-control-character", 5),
        ("<url><a:b/></url>", "xml-ext-namespace-missing", 5),
        ("<url a:b='c'/>", "xml-ext-namespace-missing", 0),
        ("<url></loc>", "doc-xml-malformed", 7),
        ("<url a=b/>", "doc-xml-malformed", 7),
        ("<url a='1' a='2'/>", "doc-xml-malformed", None),
        ("é<url>]]></url>", "doc-xml-malformed", None),
        ("</urlset><urlset>", "doc-trailing-content", 9),
        ("</urlset>text", "doc-trailing-content", 9),
    ],
)
def test_a_fault_has_a_rule_and_a_place(text: str, rule: str, offset: int | None) -> None:
    fault = fault_of(text)
    assert fault.rule == rule
    assert offset is None or fault.offset == offset


def test_a_fault_counts_characters_not_bytes() -> None:
    assert fault_of("<url>éü中🎉</loc>").offset == len("<url>éü中🎉</")


@pytest.mark.parametrize("text", ["", "<url>", "<url", "<url a='", "<!-- ", "<![CDATA[", "<url>&am"])
def test_a_document_without_an_end_is_truncated(text: str) -> None:
    parser = StrictParser(ROOT, lambda element: None)
    with pytest.raises(Malformed) as caught:
        parser.feed(text, 1, final=True)
    assert caught.value.rule == "doc-truncated"


def test_a_reference_to_a_surrogate_is_a_fault() -> None:
    assert fault_of("<url>&#xD800;</url>").rule == "doc-control-character"


@pytest.mark.parametrize("depth", [1, 5, 32])
def test_depth_has_a_limit(depth: int) -> None:
    parse("<url>" + "<x>" * (depth - 1) + "</x>" * (depth - 1) + "</url>", max_depth=depth)
    with pytest.raises(Malformed, match="elements are open at once"):
        parse("<url>" + "<x>" * depth, max_depth=depth)


def test_what_was_open_at_a_fault_keeps_its_whole_children() -> None:
    built: list[Element] = []
    parser = StrictParser(ROOT, built.append)
    with pytest.raises(Malformed):
        parser.feed("<url><loc>https://e.com/1</loc><lastmod>2024-0</loc>", 1)
    entry = parser.salvage()
    assert entry is not None
    assert [(child.name, child.text) for child in entry.children] == [("loc", "https://e.com/1")]
    assert built == []


def test_between_entries_nothing_is_open() -> None:
    parser = StrictParser(ROOT, lambda element: None)
    parser.feed("<url/>\n", 1)
    assert parser.salvage() is None


def test_a_document_of_endless_names_does_not_grow_the_memory() -> None:
    scope = Scope()
    parse("".join(f"<url><n{number} xmlns='urn:{number}'/></url>" for number in range(5000)), scope=scope)
    assert len(scope.names) == len(scope.namespaces) == MAX_NAMES


def test_a_giant_name_or_namespace_is_not_remembered() -> None:
    scope, long = Scope(), "x" * (MAX_NAME + 1)
    parse(f"<{long}/>", scope=scope)
    parse(f"<url xmlns:x='{long}'/>", scope=scope)
    assert max(map(len, [*scope.names, *scope.namespaces])) <= MAX_NAME


def test_wrappers_count_as_depth() -> None:
    text = "<g><url/>" * 31
    parse(text, entries=("url",))
    with pytest.raises(Malformed, match="elements are open at once"):
        parse(f"{text}<g><url/>", entries=("url",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n<url/>\n\t<x>in</x>\n", []),
        ("stray<url/>", [("stray", 1)]),
        ("<url/>\n\n  one\n two<!-- -->three\n<url/>four", [("  one", 3), ("four", 5)]),
        ("<!--\n-->a &amp; b<url/>", [("a ", 2)]),
        ("<url/><![CDATA[\n\nx]]>", [("x", 3)]),
        ("<url/>&#160;", [("\xa0", 1)]),
        ("<url>in</url><g>a<url/>b</g>", []),
    ],
)
def test_text_between_entries_is_kept_with_its_line(text: str, told: list[tuple[str, int]]) -> None:
    parser = StrictParser(ROOT, lambda element: None, entries=("url",))
    parser.feed(text, 1)
    assert parser.texts == told


@pytest.mark.parametrize("parts", [["<url/>\n", "\none\n", "two\n", "<url/>"], ["<url/>\n\none\ntwo\n", "<url/>"]])
def test_text_between_entries_is_the_same_in_any_pieces(parts: list[str]) -> None:
    parser = StrictParser(ROOT, lambda element: None)
    line = 1
    for part in parts:
        parser.feed(part, line)
        line += part.count("\n")
    assert parser.texts == [("one", 3)]
