"""Documents without a fault: no rule may find an error or a warning in them, however they are read."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.reader import Document

from .judging import URL, judge
from .rewriting import Rewriter

GOOD = Path(__file__).parents[2] / "data" / "good"
OFFICIAL = Path(__file__).parents[4] / "shared" / "xsd"
NAMES = sorted(path.name for path in GOOD.iterdir())
CORE = re.compile(rb'xmlns(?::\w+)?=["\']http://www\.sitemaps\.org/schemas/sitemap/0\.9["\']')
EXTENDED = re.compile(rb"sitemap-(?:image|video|news|mobile|pagemap)/|1999/xhtml")
SCHEMAS = {"urlset": "sitemap.xsd", "sitemapindex": "siteindex.xsd"}
PIECES = [
    b"<", b">", b"&", b'"', b"'", b"/", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"&amp;", b"&#0;", b"&nbsp;", b"\x00", b"\xff",
    b"\xef\xbb\xbf", b"\n", b"\r", b" ", b"%", b"%zz", b"#", b"?", b"//", b"../", b"http://", b"javascript:", b"[", b"-", b":",
    b"<url>", b"</url>", b"<loc>", b"</loc>", b"<loc/>", b"<sitemap>", b"</urlset>", b"<urlset>", b"<lastmod>", b"</lastmod>",
    b"<image:image>", b"<video:video>", b"<news:news/>", b"<xhtml:link/>", b"<!DOCTYPE x>", b"<?xml version='1.0'?>", b' id="1"',
    b"0000-00-00", b"2026-02-30", b"9999-12-31T23:59:59+99:99", b"NaN", b"-1", b"1e9", b"999999999999999999999", b"1,5", b"yes",
    "İ".encode(), "\u2028".encode(), "例え".encode(), b"x-default", b"en_US", b"DE AT", b"allow",
]  # fmt: skip


def address(name: str) -> str:
    """The URL of a document: its name does not contradict what it is."""
    return URL.replace(".xml", "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix)


def plain(name: str) -> bytes:
    data = (GOOD / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def faults(data: bytes, url: str = URL) -> list[str]:
    """What is said about a document as an error or a warning."""
    return [f"{f.rule} line {f.line}: {f.message}" for f in judge(data, url) if f.severity in ("error", "warning")]


def core_documents() -> list[str]:
    """The documents of the protocol alone, which its own schemas speak of."""
    texts = {name: plain(name) for name in NAMES if ".xml" in name}
    return [name for name, text in texts.items() if CORE.search(text) and not EXTENDED.search(text)]


@pytest.mark.parametrize("name", NAMES)
def test_a_good_document_has_neither_error_nor_warning(name: str) -> None:
    assert faults((GOOD / name).read_bytes(), address(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_good_document_is_read_whole_as_what_it_is(name: str) -> None:
    document = Document(address(name))
    entries = [entry for entries in document.read([(GOOD / name).read_bytes()]) for entry in entries]
    text = plain(name).decode("utf-8-sig")
    kind = name.partition("-")[0].partition(".")[0]
    expected = {"index": "xml-index", "rss": "rss", "atom": "atom", "text": "text"}
    if kind != "compressed":
        assert document.format == expected.get(kind, "xml-urlset")
    written = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    elements = re.findall(r"<(?:\w+:)?(?:url|sitemap|item|entry)[\s>]", written)
    assert len(entries) == (len(elements) if document.format != "text" else len(text.split()))
    assert (document.outcome, any(entry.recovered for entry in entries)) == ("ok", False)


@pytest.mark.parametrize("name", NAMES)
def test_other_line_ends_change_nothing(name: str) -> None:
    data = plain(name)
    url = address(name.removesuffix(".gz"))
    unix = data.replace(b"\r\n", b"\n")
    assert faults(unix, url) == faults(unix.replace(b"\n", b"\r\n"), url) == []


@pytest.mark.parametrize("name", NAMES)
def test_compressed_it_is_as_good(name: str) -> None:
    assert faults(gzip.compress(plain(name)), address(name.removesuffix(".gz") + ".gz")) == []


def test_there_is_a_document_of_each_kind() -> None:
    kinds = {
        "core", "index", "image", "video", "news", "hreflang", "mixed", "foreign", "rss", "atom", "text",
        "compressed",
    }  # fmt: skip
    assert {re.split(r"[-.]", name)[0] for name in NAMES} >= kinds


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official schemas are not here")
@pytest.mark.parametrize("name", core_documents())
def test_the_official_schema_accepts_a_document_of_the_protocol_alone(name: str) -> None:
    tree = etree.fromstring(plain(name), etree.XMLParser(resolve_entities=False, no_network=True))
    etree.XMLSchema(file=str(OFFICIAL / SCHEMAS[etree.QName(tree).localname])).assertValid(tree)


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A good document with some pieces put in, taken out, doubled or swapped."""
    data = plain(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)))
        data = draw(
            st.sampled_from(
                [
                    data[:start] + piece + data[end:],
                    data[:start] + piece + data[start:],
                    data[:end] + data[start:],
                    data[end:] + data[:start],
                    data[:start],
                ]
            )
        )
    return data


@settings(max_examples=60)
@given(mutations())
def test_whatever_becomes_of_a_good_document_no_rule_fails(data: bytes) -> None:
    assert [f"{f.value}: {f.message}" for f in judge(data) if f.rule.startswith("internal-")] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".xml")])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32))
def test_written_in_another_way_a_good_document_stays_good(name: str, seed: int) -> None:
    text = Rewriter(Random(seed), plain(name).decode()).written()
    assert content(text) == content(plain(name).decode()), "the same document in other words"
    assert faults(text.encode(), address(name)) == []


def test_there_are_many_other_ways() -> None:
    text = plain("mixed.xml").decode()
    written = [Rewriter(Random(seed), text).written() for seed in range(50)]
    assert len(set(written)) == 50
    for sign in ("<![CDATA[", "<!---->", "&#", ":urlset", "='"):
        assert any(sign in other for other in written)


def content(text: str) -> list[tuple[object, ...]]:
    """What a parser reads, in order: names, attributes and texts, blanks around these stripped."""
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, no_network=True)
    tree = etree.fromstring(text.encode(), parser)
    return [(node.tag, dict(node.attrib), (node.text or "").strip()) for node in tree.iter()]


WORDS = re.compile(rb">([^<>]+)<|=[\"']([^\"'<>]*)[\"']")


@st.composite
def other_values(draw: st.DrawFn) -> bytes:
    """A good document with other values in place of some: the structure holds, so that the rules on values see them."""
    data = plain(draw(st.sampled_from([name for name in NAMES if ".xml" in name])))
    places = [found.span(found.lastindex or 0) for found in WORDS.finditer(data)]
    for start, end in sorted(draw(st.lists(st.sampled_from(places), max_size=4, unique=True)), reverse=True):
        value = draw(
            st.one_of(
                st.sampled_from(PIECES).filter(lambda piece: not set(piece) & set(b"<>&\"'")),
                st.text(max_size=9).map(str.encode),
                st.just(b""),
            )
        )
        data = data[:start] + re.sub(rb"[<>&\"'\x00-\x1f]", b"", value) + data[end:]
    return data


@pytest.mark.slow
@settings(max_examples=60)
@given(other_values())
def test_whatever_its_values_become_no_rule_fails(data: bytes) -> None:
    assert [f"{f.value}: {f.message}" for f in judge(data) if f.rule.startswith("internal-")] == []
