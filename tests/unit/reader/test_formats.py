"""Formats that a plug-in adds are sniffed, read, labelled and judged like our own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pytest

from sitemapcrawler import read_sitemap
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader import formats
from sitemapcrawler.reader.entries import ChildRecord, Entry, EntryBuilder
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.formats import FORMATS, ROOTS, DocumentStart, InputFormat, format_label, register

URL = "https://e.com/list"


class Products(EntryBuilder):
    """`<product link="..."/>` within `<catalogue>`."""

    def entries_of(self, element: Element) -> Iterator[Element]:
        if self.is_entry(element):
            yield element

    def is_entry(self, element: Element) -> bool:
        return element.name == "product"

    def has_url(self, element: Element, whole: bool) -> bool:
        return "link" in element.attributes

    def build(self, element: Element) -> UrlRecord:
        loc, written = self.locate(element.attributes["link"], element.line)
        return UrlRecord(loc, written, self.sitemap, element.line)


def is_json(start: DocumentStart) -> bool:
    return start.text.startswith('{"sitemaps":', start.position)


def read_json(texts: Iterable[str], entries: EntryBuilder, faults: Faults) -> Iterator[list[Entry]]:
    for url in json.loads("".join(texts))["sitemaps"]:
        yield [ChildRecord(*entries.locate(url, 1), 1)]


CATALOGUE = InputFormat("toy-catalogue", "toy", "toy catalogue", "pages", {"catalogue": ("product",)}, Products)
JSON = InputFormat("toy-json", "toy JSON", "toy list", "sitemaps", sniff=is_json, read=read_json)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = dict(FORMATS), dict(ROOTS)
    yield
    for registered, known in zip((FORMATS, ROOTS), before, strict=True):
        registered.clear()
        registered.update(known)
    formats.root_start.cache_clear()


def test_xml_format_of_a_plug_in() -> None:
    text = (
        b'<shop:catalogue xmlns:shop="x:y">\n<product link="/1"/>\n<product link="https://e.com/2"/></shop:catalogue>'
    )
    assert read_sitemap(text, url=URL).sitemap.format == "unknown"
    register(CATALOGUE)
    sitemap = read_sitemap(text, url=URL)
    assert [(url.loc, url.line) for url in sitemap] == [("https://e.com/1", 2), ("https://e.com/2", 3)]
    assert (sitemap.sitemap.format, sitemap.sitemap.outcome, sitemap.sitemap.url_count) == ("toy-catalogue", "ok", 2)
    assert format_label("toy-catalogue") == "toy"


def test_broken_xml_of_a_plug_in_is_recovered() -> None:
    register(CATALOGUE)
    sitemap = read_sitemap(b'<catalogue><product link="/1?a&b"/><product link="/2"/></catalogue>', url=URL)
    assert [url.loc for url in sitemap] == ["https://e.com/1?a&b", "https://e.com/2"]
    assert sitemap.sitemap.outcome == "recovered"


def test_text_format_of_a_plug_in_may_list_sitemaps() -> None:
    text = b'\xef\xbb\xbf {"sitemaps": ["/a.xml", "https://e.com/b.xml"]}'
    assert read_sitemap(text, url=URL).sitemap.format == "unknown"
    register(JSON)
    sitemap = read_sitemap(text, url=URL)
    assert [child.loc for child in sitemap] == ["https://e.com/a.xml", "https://e.com/b.xml"]
    assert (sitemap.sitemap.format, sitemap.sitemap.outcome, sitemap.sitemap.error) == ("toy-json", "ok", None)


@pytest.mark.parametrize(
    ("format", "problem"),
    [
        (InputFormat("text", "", "", "pages", sniff=is_json, read=read_json), "'text': the name is taken"),
        (InputFormat("a'b", "", "", "pages", sniff=is_json, read=read_json), "or not lower-case letters"),
        (InputFormat("toy", "", "", "pages", {"rss": ("item",)}), "'toy': the root rss is that of rss"),
        (InputFormat("toy", "", "", "pages", sniff=is_json), "'toy': has neither roots, nor both sniff and read"),
    ],
)
def test_format_that_cannot_be_added(format: InputFormat, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        register(format)
    assert "toy" not in FORMATS and ROOTS["rss"] is FORMATS["rss"]
