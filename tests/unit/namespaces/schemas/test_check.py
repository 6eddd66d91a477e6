"""Checking entries: all violations of each, at their lines, whatever the entries hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.namespaces import CORE, OWN
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import IMAGE
from sitemapcrawler.namespaces.extensions import VIDEO as VIDEO_URI
from sitemapcrawler.namespaces.schemas import check, schema
from sitemapcrawler.namespaces.schemas.check import (
    MAX_LINES,
    MAX_REPEATED,
    RULES,
    Violation,
    core_namespaces,
    violations,
)
from sitemapcrawler.namespaces.schemas.terms import FILES, terms
from sitemapcrawler.reader import Document

LOC = "<loc>https://example.com/abc</loc>"
DECLARED = " ".join(f'xmlns:{namespace.prefix}="{namespace.uri}"' for namespace in OWN)
VIDEO = (
    "<video:thumbnail_loc>https://example.com/a.jpg</video:thumbnail_loc><video:title>t</video:title>"
    "<video:description>d</video:description><video:content_loc>https://example.com/a.mp4</video:content_loc>"
)
NAMESPACES_BY_PREFIX = {namespace.prefix: namespace.uri for namespace in OWN}


def read(body: str, core: str = CORE, root: str = "urlset") -> tuple[Document, list[Element]]:
    """The elements of the entries that have one, as the reader gives them."""
    document = Document("https://example.com/sitemap.xml", keep_elements=True)
    text = f'<{root} xmlns="{core}" {DECLARED} xmlns:o="urn:o">\n{body}</{root}>'.encode()
    notes = [note for records in document.read([text]) for note in document.notes.values()]
    return document, [note.element for note in notes if note.element is not None]


def checked(elements: Iterable[Element], core: str = CORE) -> list[Violation]:
    elements = [*elements]
    return [said for _, said in violations("urlset", elements, core_namespaces(core, elements[0].uri))]


def said(body: str) -> list[tuple[str, int]]:
    """Rule and line of the violations in one entry that begins on line 2 with its `loc`."""
    return [(violation.rule, violation.line) for violation in checked(read(f"<url>{LOC}{body}</url>")[1])]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("text", [("xml-schema-violation", 2)]),
        ("\n\n text\n", [("xml-schema-violation", 4)]),
        ("\n text\n <lastmod>2026-01-05</lastmod>", [("xml-schema-violation", 3)]),
        ("<priority>\n1\n</priority>\ntext", [("xml-schema-violation", 5)]),
        ("<image:image>\n<image:loc>a</image:loc>\n</image:image>\n\n<![CDATA[text]]>", [("xml-schema-violation", 6)]),
        ("<xhtml:link rel='alternate'\n hreflang='de'\n href='a'/>text\n<o:o/>", [("xml-schema-violation", 4)]),
        (" " * 10_000 + "text", [("xml-schema-violation", 2)]),
        ("\u00a0", [("xml-schema-violation", 2)]),
        ("<lastmod>2026-01-05<b/></lastmod>", [("xml-schema-violation", 2)]),
        ("\n<priority>1</priority>\n<lastmod>2026-01-05</lastmod>\n<changefreq>daily</changefreq>", [("xml-element-order", 4)]),
        ("\n<o:o/>\n<priority>1</priority>", [("xml-element-order", 4)]),
        ("\n<o:o><o:p>text</o:p></o:o>text", [("xml-schema-violation", 3)]),
        ("\n<image:image><o:o/><image:loc>a</image:loc></image:image>", []),
        ("\n<image:image><image:loc>a</image:loc>\n<image:x/>\n<image:y/></image:image>", [("xml-unknown-element", 4), ("xml-unknown-element", 5)]),
        ("\n<image:image>\n<image:url>a</image:url></image:image>", []),
        ("\n<image:image>\n<image:url>a</image:url>\n<image:x/></image:image>", [("xml-unknown-element", 5)]),
        ("\n<image:image>a</image:image>", []),
        ("\n<image:image>a<image:title>t</image:title></image:image>", []),
        ("\n<image:image><image:x/><image:title a='1'>t</image:title>\n<image:y/>text</image:image>", [("xml-unknown-attribute", 3), ("xml-unknown-element", 4)]),
        ("\n<image:image><loc>a</loc></image:image>", []),
        ("\n<image:image><image:loc>a</image:loc>\n<title>a</title></image:image>", [("xml-schema-violation", 4)]),
        ("\n<image:image><image:loc>a</image:loc>\n<video:title>a</video:title></image:image>", [("xml-schema-violation", 4)]),
        ("\n<image:image><image:loc>a</image:loc>\n<image:image/></image:image>", [("xml-unknown-element", 4)]),
        ("\n<image:loc>a</image:loc>\n<news:name>a</news:name>\n<video:show_title/>", [("xml-schema-violation", 3), ("xml-schema-violation", 4), ("xml-schema-violation", 5)]),
        (f"<video:image/>\n<video:video>{VIDEO}<video:loc>a</video:loc></video:video>", [("xml-unknown-element", 2), ("xml-unknown-element", 3)]),
        ("\n<image:Image/>\n<xhtml:a/>\n<video:loc/>", [("xml-unknown-element", 3), ("xml-unknown-element", 4), ("xml-unknown-element", 5)]),
        (f"<video:video>{VIDEO}<video:tag/><video:tag/>\n<video:title>u</video:title><video:title>v</video:title></video:video>", [("xml-duplicate-element", 3)]),
        (f"<video:video>{VIDEO}\n<video:tvshow/></video:video>", [("xml-missing-element", 3)]),
        (f"<video:video>{VIDEO}\n<video:price a='1' b='2' currency='EUR'>1</video:price></video:video>", [("xml-unknown-attribute", 3)] * 2),
        (f"<video:video>{VIDEO}\n<video:gallery_loc>%zz</video:gallery_loc>\n<video:uploader info='%zz'/></video:video>", [("xml-schema-violation", 3), ("xml-schema-violation", 4)]),
        (f"<video:video>{VIDEO}<video:restriction relation='allow'>DE</video:restriction></video:video>", []),
        ("\n<xhtml:link rel='alternate' hreflang='de' href='a'> \n </xhtml:link>", []),
        ("\n<xhtml:link rel='alternate' hreflang='de' href='a'>text</xhtml:link>", [("xml-schema-violation", 3)]),
        ("\n<xhtml:link rel='alternate' hreflang='de' href='a'>\n<b/></xhtml:link>", [("xml-schema-violation", 4)]),
        ("\n<xhtml:link rel='alternate' hreflang='de' herf='a'/>", []),
        ("\n<xhtml:link rel='alternate' hreflang='de' href='a' xml:lang='de' o:a='1'/>", []),
    ],
)  # fmt: skip
def test_every_violation_is_told_at_its_line(body: str, expected: list[tuple[str, int]]) -> None:
    assert said(body) == expected


def test_nothing_stops_at_the_first() -> None:
    wrong = "<image:image><image:loc>a</image:loc>\n<image:wrong/></image:image>text"
    lines = [line for rule, line in said("\n" + wrong * 50) if rule == "xml-unknown-element"]
    assert lines == list(range(4, 54))


def test_messages_name_things_as_people_write_them() -> None:
    body = f"<video:video>{VIDEO}<duration/>\n<video:live yes='1'/></video:video>\n<image:loc>a</image:loc>"
    assert [violation.message for violation in checked(read(f"<url>{LOC}{body}</url>")[1])] == [
        "<duration> does not belong in <video:video>: <video:duration> is meant",
        "<video:live> has an attribute yes, which its namespace does not define",
        "<image:loc> is in the <url> itself, not in <image:image>",
    ]


def test_a_misplaced_element_is_told_the_first_that_it_must_precede() -> None:
    body = (
        "<o:o/><xhtml:link rel='alternate' hreflang='de' href='a'/><priority>1</priority><lastmod>2026-01-05</lastmod>"
    )
    [violation] = checked(read(f"<url>{LOC}{body}</url>")[1])
    assert violation.message.partition(":")[0] == "<priority> comes after <o>"


def test_entries_in_no_namespace_are_told_once() -> None:
    _, elements = read(f'<url xmlns="">{LOC}<lastmod>2026-01-05</lastmod></url>\n<url>{LOC}<lastmod xmlns=""/></url>')
    assert [(v.message, v.line) for v in checked(elements)] == [
        ("<url> is in no namespace, but the root is in one", 2),
        ("<lastmod> is in no namespace, but the root is in one", 3),
    ]


@pytest.mark.parametrize("core", ["", "http://www.google.com/schemas/sitemap/0.84", "https://example.com/mine"])
def test_the_namespace_of_the_root_is_no_violation_of_its_entries(core: str) -> None:
    document, elements = read(f"<url>{LOC}<image:image><image:loc>a</image:loc></image:image><lastmod/></url>", core)
    assert [violation.rule for violation in checked(elements, document.root_uri or "")] == ["xml-element-order"]


def test_inexact_namespaces_are_judged_as_what_they_mean_but_for_what_they_know() -> None:
    uri = "https://www.google.com/schemas/sitemap-image/1.0"
    body = f'<i:image xmlns:i="{uri}"><i:loc a="1">a</i:loc><i:x/>text</i:image><i:loc xmlns:i="{uri}"/>'
    assert [rule for rule, _ in said(body)] == ["xml-schema-violation"] * 2


# Agreement with the schema

PARTS = st.sampled_from(
    ["<lastmod>2026-01-05</lastmod>", "<changefreq>daily</changefreq>", "<priority>0.5</priority>", "text", "<!-- c -->",
     "<o:o/>", "<xhtml:link rel='alternate' hreflang='de' href='a'/>", "<xhtml:link rel='a' hreflang='de' href='a' x='1'/>",
     "<image:image><image:loc>a</image:loc></image:image>", "<image:loc>a</image:loc>", "<xhtml:a/>",
     "<image:image><image:loc>a</image:loc><image:title>a</image:title><image:x/></image:image>",
     "<image:image>text<image:loc>a</image:loc></image:image>", "<lastmod>2026-01-05<b/></lastmod>",
     f"<video:video>{VIDEO}</video:video>", f"<video:video>{VIDEO}<video:tvshow/></video:video>",
     f"<video:video>{VIDEO}<video:live><b/></video:live></video:video>", "<news:title/>"]
)  # fmt: skip


@settings(max_examples=100)
@given(st.lists(st.tuples(st.lists(PARTS, max_size=4), st.lists(PARTS, max_size=5)), min_size=1, max_size=4))
def test_entries_without_a_violation_are_those_that_the_schema_allows(
    bodies: list[tuple[list[str], list[str]]],
) -> None:
    entries = ["<url><!-- c -->" + "".join(before) + LOC + "".join(after) + "</url>" for before, after in bodies]
    document, elements = read("".join(entries))
    core = core_namespaces(CORE, CORE)
    found = {place for place, _ in violations("urlset", elements, core)}
    for place, entry in enumerate(entries):
        alone, _ = read(entry)
        tree = etree.fromstring(f'<urlset xmlns="{CORE}" {DECLARED} xmlns:o="urn:o">{entry}</urlset>')
        for foreign in tree.iter("{urn:o}*"):
            foreign.tag = "{http://www.w3.org/1999/xhtml}link"
        assert (place not in found and len(alone.faults) == 0) == schema("urlset").validate(tree), entry
    assert len(elements) == len(entries)
    assert len(document.faults) == sum(len(read(entry)[0].faults) for entry in entries)


# A further namespace of ours, as CONTRIBUTING.md says

TOY = "https://toys.example/schemas/sitemap-toy/1.0"
TOY_SCHEMA = f"""
    <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="{TOY}" targetNamespace="{TOY}"
               elementFormDefault="qualified">
      <xs:element name="toy"><xs:complexType><xs:all>
        <xs:element name="name" type="xs:string" minOccurs="0"/>
        <xs:element name="cost" minOccurs="0"><xs:complexType><xs:simpleContent><xs:extension base="xs:decimal">
          <xs:attribute name="currency" type="xs:string"/><xs:attribute name="digits" type="xs:integer"/>
        </xs:extension></xs:simpleContent></xs:complexType></xs:element>
        <xs:element name="weight" type="t:Weight" minOccurs="0"/>
        <xs:element name="stock" minOccurs="0"><xs:simpleType><xs:restriction base="xs:string">
          <xs:enumeration value="yes"/><xs:enumeration value="no"/></xs:restriction></xs:simpleType></xs:element>
      </xs:all></xs:complexType></xs:element>
      <xs:simpleType name="Weight"><xs:restriction base="xs:decimal"><xs:minExclusive value="0"/></xs:restriction></xs:simpleType>
    </xs:schema>"""
ADDED = """
import sys
from sitemapcrawler import namespaces
from sitemapcrawler.namespaces.declared import NAMESPACES
uri, schema, body = sys.argv[1:]
kind = namespaces.extensions.Image
toys = namespaces.Namespace(uri=uri, prefix="toy", field="toys", kind=kind, schema=schema and "toy.xsd", own=True)
namespaces.register(toys)
namespaces.OWN = tuple(NAMESPACES.values())
from sitemapcrawler.namespaces import schemas
text_of = schemas.text_of
schemas.text_of = lambda name: schema.encode() if name == "toy.xsd" else text_of(name)
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.schemas.check import violations
from lxml import etree
def element(node):
    name = etree.QName(node)
    made = Element(name.namespace, name.localname, dict(node.attrib), node.sourceline)
    made.content = [node.text or "", *map(element, node)]
    return made
entry = element(etree.fromstring(body))
print([found.message for _, found in violations("urlset", [entry], frozenset([namespaces.CORE]))])
"""


@pytest.mark.parametrize(
    ("schema", "parts", "found"),
    [
        ("", "<toy:cost currency='EUR'>5,00</toy:cost>", []),
        (TOY_SCHEMA, "<toy:name>Ball</toy:name><toy:cost currency='EUR' digits='2'>5.00</toy:cost>", []),
        (TOY_SCHEMA, "<toy:weight>0.5</toy:weight><toy:stock>yes</toy:stock>", []),
        (TOY_SCHEMA, "<toy:cost currency='EUR'>5,00</toy:cost>", ["'5,00' in <toy:cost>"]),
        (TOY_SCHEMA, "<toy:cost digits='two'>5</toy:cost>", ["'two' as digits of <toy:cost>"]),
        (TOY_SCHEMA, "<toy:weight>0</toy:weight><toy:stock>often</toy:stock>",
         ["'0' in <toy:weight>", "'often' in <toy:stock>"]),
    ],
)  # fmt: skip
def test_a_further_namespace_is_checked_against_its_schema_if_it_has_one(
    schema: str, parts: str, found: list[str]
) -> None:
    body = f'<url xmlns="{CORE}" xmlns:toy="{TOY}">{LOC}<toy:toy>{parts}</toy:toy></url>'
    done = subprocess.run([sys.executable, "-c", ADDED, TOY, schema, body], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [message.partition(" is not a value")[0] for message in ast.literal_eval(done.stdout)] == found


# Whatever comes

NAMES_OF_ALL = (
    st.sampled_from(sorted(name for uri in FILES for name in terms(uri).kinds))
    | st.text(max_size=4)
    | st.sampled_from(["a:b", "", "x y", "_0", "xmlns"])
)
URIS = st.sampled_from([*FILES, "", "urn:o", "https://www.google.com/schemas/sitemap-image/1.1", "\x00"])
TEXTS = st.text(max_size=6) | st.sampled_from(["\x00", "\ud800", "]]>", "\ufffe", "&lt;", "%zz", " \n", "<b>", '"'])
KEYS = st.sampled_from(["rel", "info", "xmlns", "{http://www.w3.org/2001/XMLSchema-instance}type", "a:b", "_1"]) | TEXTS


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> Element:
    element = Element(
        draw(URIS), draw(NAMES_OF_ALL), draw(st.dictionaries(KEYS, TEXTS, max_size=2)), draw(st.integers(1, 99))
    )
    parts = TEXTS if depth > 4 else st.one_of(TEXTS, trees(depth + 1))
    element.content = draw(st.lists(parts, max_size=4))
    return element


@settings(max_examples=80)
@given(st.lists(trees(), min_size=1, max_size=3), st.sampled_from(["urlset", "sitemapindex"]), URIS)
def test_no_tree_makes_it_fail(trees: list[Element], root: str, core: str) -> None:
    entries = []
    for tree in trees:
        entry = Element(CORE, {"urlset": "url", "sitemapindex": "sitemap"}[root], {}, 1)
        entry.content = [tree, *tree.content]
        entries.append(entry)
    for place, violation in violations(root, entries, core_namespaces(core, CORE)):
        assert 0 <= place < len(entries)
        assert violation.rule in RULES
        assert isinstance(violation.line, int)


def test_deep_trees_are_no_deeper_for_the_validator() -> None:
    top = Element(CORE, "url", {}, 1)
    below = top
    for number in range(100_000):
        child = Element(IMAGE, "image", {}, number + 2)
        below.content.append(child)
        below = child
    assert [(v.rule, v.line) for v in checked([top])] == []  # the image lacks its loc: what it has instead is no fault


@pytest.fixture
def documents(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The documents that are validated."""
    seen: list[bytes] = []
    parse = etree.fromstring

    def fromstring(data: bytes, parser: etree.XMLParser) -> etree._Element:
        seen.append(data)
        return parse(data, parser)

    monkeypatch.setattr(check.etree, "fromstring", fromstring)
    return seen


def test_unknown_names_never_reach_the_parser_but_are_named(documents: list[bytes]) -> None:
    stranger = Element("urn:o", "stranger", {}, 1)
    unknown = Element(IMAGE, "stranger", {"stranger": "1"}, 1)
    part = Element(IMAGE, "stranger", {}, 3)
    image = Element(IMAGE, "image", {"a": "1", "rel": "stranger", "stranger": "1"}, 2)
    image.content = [text_element(IMAGE, "loc", 2), part]
    entry = Element(CORE, "url", {"stranger": "1"}, 1)
    entry.content = [Element(CORE, "loc", {"stranger": "1"}, 1), stranger, unknown, image]
    assert [(said.message.partition(",")[0], said.value) for said in checked([entry])] == [
        ("<image:stranger> is not part of a <url>", "stranger"),
        ("<image:image> has an attribute a", "a"),
        ("<image:image> has an attribute rel", "rel"),
        ("<image:image> has an attribute stranger", "stranger"),
        ("<image:stranger> is not part of <image:image>", "stranger"),
    ]
    assert b"stranger" not in b"".join(documents)


def test_the_largest_entry_is_validated_in_small_parts(documents: list[bytes]) -> None:
    """The validator writes a path for each error, which takes a time that grows with the number of siblings."""
    links = [
        Element(NAMESPACES_BY_PREFIX["xhtml"], "link", dict.fromkeys(("rel", "hreflang", "href", "x"), "1"), line)
        for line in range(1, 20_001)
    ]
    for number in range(0, len(links), 2):
        links[number].attributes["y"] = "1"
    entry = Element(CORE, "url", {}, 1)
    entry.content = ["text", *links, Element(CORE, "loc", {}, 20_001)]
    found = checked([entry])
    assert [said.rule for said in (found[0], found[-1])] == ["xml-schema-violation", "xml-element-order"]
    assert len(found) == 30_000 + 2
    assert len(documents) >= len(links) / (MAX_LINES + 1)
    assert max(data.count(b"\n") for data in documents) <= MAX_LINES + 1


def test_a_large_element_costs_the_validator_what_its_schema_allows_of_it(documents: list[bytes]) -> None:
    image = Element(IMAGE, "image", {}, 1)
    image.content = [text_element(IMAGE, "loc", 1), *(Element(IMAGE, f"x{number}", {}, 1) for number in range(10_000))]
    video = Element(VIDEO_URI, "video", {}, 2)
    video.content = [Element(VIDEO_URI, "title", {}, 2) for _ in range(100_000)]
    link = Element(NAMESPACES_BY_PREFIX["xhtml"], "link", dict.fromkeys(("rel", "hreflang", "href"), "1"), 3)
    link.content = ["text " * 100_000]
    entry = Element(CORE, "url", {}, 1)
    entry.content = [image, video, link]
    found = [said.rule for said in checked([entry])]
    assert found == ["xml-unknown-element"] * 10_000 + ["xml-duplicate-element", "xml-schema-violation"]
    assert sum(map(len, documents)) < 20_000


def test_lines_of_the_validator_do_not_run_out() -> None:
    entry = Element(CORE, "url", {}, 1)
    for number in range(120):
        holder = Element(VIDEO_URI, "video", {}, number)
        names = ("thumbnail_loc", "title", "description", "content_loc")
        holder.content = [text_element(VIDEO_URI, name, number) for name in names]
        holder.content += [Element(VIDEO_URI, "tag", {"x": "1"}, number) for _ in range(120)]
        entry.content.append(holder)
    lines = [violation.line for violation in checked([entry])]
    assert lines == [number for number in range(120) for _ in range(MAX_REPEATED)]


def text_element(uri: str, name: str, line: int) -> Element:
    element = Element(uri, name, {}, line)
    element.content = ["text"]
    return element


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("restless")
def test_threads_do_not_mix_their_errors() -> None:
    second = " y='1'"
    link = "<xhtml:link rel='alternate' hreflang='de' href='a' x='{0}'{1}/>"
    documents = [
        read("".join(f"<url>{LOC}{link.format(number, second * ((file + number) % 2))}</url>" for number in range(60)))[
            1
        ]
        for file in range(60)
    ]
    alone = [checked(elements) for elements in documents]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(checked, documents)) == alone
