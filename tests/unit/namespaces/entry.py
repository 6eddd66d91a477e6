"""A page with elements of namespaces, read the whole way."""

from __future__ import annotations

from xml.etree import ElementTree

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from tests.unit.reader.reading import CORE, read

URIS = {
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "video": "http://www.google.com/schemas/sitemap-video/1.1",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "xhtml": "http://www.w3.org/1999/xhtml",
    "o": "urn:other",
}


def page(parts: str, uris: dict[str, str] | None = None) -> UrlRecord:
    """The record of a page with `parts` behind its URL."""
    declarations = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in (uris or URIS).items())
    text = f'<urlset xmlns="{CORE}"{declarations}><url><loc>https://e.com/1</loc>{parts}</url></urlset>'
    reading = read(text)
    (record,) = reading.records
    assert isinstance(record, UrlRecord)
    assert not record.recovered
    return record


def element(text: str) -> Element:
    """The element that `text` is, built without our parser."""
    declarations = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in URIS.items())
    return _built(ElementTree.fromstring(f"<root{declarations}>{text}</root>")[0])


def _built(source: ElementTree.Element) -> Element:
    uri, _, name = source.tag.rpartition("}")
    built = Element(uri.removeprefix("{"), name, dict(source.attrib), 1)
    built.content += [source.text] if source.text else []
    for child in source:
        built.content += [_built(child), child.tail] if child.tail else [_built(child)]
    return built
