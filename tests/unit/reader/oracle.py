"""A small strict reader of urlsets and indexes, made with lxml: what ours is compared with. Its reading shares no code
with ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, cast

from lxml import etree

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader import ChildRecord
from tests.unit.reader.reading import CORE

ENTRY_NAMES = ("url", "sitemap")
FIELDS = ("loc", "lastmod", "changefreq", "priority")
MAX_SPANS = 40
"""Ends that are tried for each start of an entry in a broken document."""
START = re.compile(r"<(?:[\w.-]+:)?(?:url|sitemap)(?=[\s/>])")
END = re.compile(r"</(?:[\w.-]+:)?(?:url|sitemap)\s*>")


class Facts(NamedTuple):
    """The plain facts of an entry, everything as written."""

    name: str
    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None


def facts_of(record: UrlRecord | ChildRecord) -> Facts:
    """The plain facts of our record, as written."""
    loc = record.loc_raw or record.loc
    if isinstance(record, ChildRecord):
        return Facts("sitemap", loc, record.lastmod)
    return Facts("url", loc, record.lastmod, record.changefreq)


def plain(facts: Facts) -> Facts:
    """The facts of the oracle without those that our records hold in another form."""
    changefreq = facts.changefreq if facts.name == "url" else None
    return facts._replace(priority=None, changefreq=changefreq)


class Listed(NamedTuple):
    """An entry of a document."""

    facts: Facts
    line: int


def tree(text: str) -> etree._Element | None:
    """The root of a well-formed document; None for any other."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, UnicodeEncodeError, ValueError):
        return None


def listed(root: etree._Element) -> list[Listed]:
    """The entries of a document, in its order."""
    cores = {CORE, etree.QName(root).namespace, None}
    found = []
    for entry in _entries(root, cores):
        facts = _facts(entry, cores)
        if facts is not None:
            found.append(Listed(facts, cast(int, entry.sourceline)))
    return found


def whole(text: str) -> set[Facts]:
    """The facts of a well-formed document; none of any other."""
    root = tree(text)
    return set() if root is None else {entry.facts for entry in listed(root)}


def _entries(parent: etree._Element, cores: set[str | None], inside: bool = False) -> Iterator[etree._Element]:
    """The entries below an element. `inside`: it belongs to an entry, where another one counts if it has a URL."""
    for child in parent.iterchildren(tag=etree.Element):
        name = etree.QName(child)
        is_named = name.localname in ENTRY_NAMES and name.namespace in cores
        is_entry = is_named and not (inside and _facts(child, cores) is None)
        if is_entry:
            yield child
        if not inside or name.localname not in FIELDS:
            yield from _entries(child, cores, inside or is_named)


def _facts(entry: etree._Element, cores: set[str | None]) -> Facts | None:
    values: dict[str, str] = {}
    for child in entry.iterchildren(tag=etree.Element):
        name = etree.QName(child)
        nested = child.find("*") is not None
        if name.namespace in cores and (name.localname == "loc" or not nested):
            values.setdefault(name.localname, "" if nested else own_text(child))
    if not values.get("loc"):
        return None
    fields = {name: values.get(name) for name in ("lastmod", "changefreq", "priority")}
    return Facts(etree.QName(entry).localname, values["loc"], **fields)


def own_text(element: etree._Element) -> str:
    """Text of an element without that of its children."""
    return "".join([element.text or "", *(child.tail or "" for child in element)]).strip()


def standing_alone(text: str, root: str) -> set[Facts]:
    """What lxml reads from each stretch of `text` that looks like an entry, put alone under the start tag `root`."""
    found = set[Facts]()
    name = re.match(r"<([\w:.-]+)", root)
    assert name
    ends = [end.end() for end in END.finditer(text)]
    for start in START.finditer(text):
        for end in [end for end in ends if end > start.start()][:MAX_SPANS]:
            document = tree(f"{root}{text[start.start() : end]}</{name[1]}>")
            if document is not None:
                found.update(entry.facts for entry in listed(document))
    return found
