"""RSS and Atom: pieces make no difference; plain feeds give the links that lxml finds."""

from __future__ import annotations

from typing import Any

from lxml import etree

from fuzz.reading import as_utf_8, read_any, read_whole
from tests.unit.reader import oracle

SEEDS = ("tests/data/good/rss*.xml", "tests/data/good/atom*.xml", "tests/data/hard/*.xml", "tests/data/bad/feed-*")
DICTIONARY = "xml.dict"
ATOM = "{http://www.w3.org/2005/Atom}"


def check(data: bytes) -> None:
    """Check that pieces make no difference, and that a plain feed gives the link of each item."""
    read_any(data)
    reading = read_whole(data)
    root = None if (text := as_utf_8(data, reading)) is None else oracle.tree(text)
    expected = None if root is None else _plain_links(root)
    if expected is None:
        return
    assert [(record.loc_raw or record.loc, record.line) for record in reading.records] == expected
    assert not reading.recovered


def _plain_links(root: etree._Element) -> list[tuple[str, Any]] | None:
    """Return the links of the items with their lines; None for a feed that is too complex for this oracle."""
    if root.tag == "rss":
        items, container = root.findall("channel/item"), root.findall("channel")
        links = [item.findall("link") for item in items]
        texts = [(found[0].text or "") if found and not len(found[0]) else "" for found in links]
    elif root.tag == f"{ATOM}feed":
        items, container = root.findall(f"{ATOM}entry"), [root]
        links = [item.findall(f"{ATOM}link") for item in items]
        texts = [found[0].get("href", "") if found and set(found[0].attrib) == {"href"} else "" for found in links]
    else:
        return None
    everywhere = [
        element for element in root.iter(etree.Element) if element.tag.rpartition("}")[2] in ("item", "entry")
    ]
    simple = all(text.startswith("https://") and text == text.strip() for text in texts)
    if len(container) != 1 or everywhere != items or not simple or any(len(found) != 1 for found in links):
        return None
    return [(text, line) for text, line in zip(texts, (item.sourceline for item in items), strict=True)]
