"""What an entry has that the protocol does not know: facts for the rules, noted while the entry is at hand.

What the schemas say of a `<url>` is asked when it is judged; a `<sitemap>` is not kept until then, and checked here.
"""

from __future__ import annotations

import re

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.schemas.check import core_namespaces, violations

FIELDS = frozenset(("loc", "lastmod", "changefreq", "priority"))
CHILD_FIELDS = ["loc", "lastmod"]
"""Fields of an index's entry."""
TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{")
"""Marks of template languages."""
MAX_SHOWN = 40
"""Characters of a text that a message shows."""
MAX_SEARCHED = 100
"""Parts of an entry in which its URL is looked for with every unknown element: an entry has 9 and its namespaces."""


def note_entry(entry: Element, expected: str, faults: Faults) -> None:
    """Note attributes, and the first entry of a file that is no `expected` one (empty: any)."""
    if entry.attributes:
        _note_attributes(entry, faults)
    if expected and entry.name != expected and "xml-mixed-index-urlset" not in faults:
        if "doc-trailing-content" in faults:  # two documents in one: of the second, the root may be another
            return
        text = f"<{entry.name}> in a file of <{expected}> entries"
        faults.add("xml-mixed-index-urlset", text, entry.line, value=entry.name, of_file=True)


def note_no_entry(element: Element, faults: Faults) -> None:
    """Note an element that stands where only entries may."""
    faults.add("xml-unknown-element", f"<{element.name}> is no entry", element.line, value=element.name)


def note_text(text: str, line: int, faults: Faults) -> None:
    """Note text that stands where only entries may; what is shown of it begins on `line`.

    The code of a template that was not filled in is named already by the URLs of its entries.
    """
    if "loc-invalid-uri" not in faults or not TEMPLATE.search(text):
        faults.add("xml-schema-violation", f"text between the entries: {text[:MAX_SHOWN]!r}", line, value=text)


def note_child(child: Element, entry: Element, faults: Faults) -> None:
    """Note a child in the protocol's namespace that is no part of its entry, or the attributes of one that is.

    In an entry without a URL the former is what stands there instead: that fault is named already.
    """
    if child.name not in FIELDS or (entry.name == "sitemap" and child.name not in CHILD_FIELDS):
        if any(isinstance(part, Element) and part.name == "loc" for part in entry.content[:MAX_SEARCHED]):
            text = f"<{child.name}> is no part of a <{entry.name}>"
            faults.add("xml-unknown-element", text, child.line, value=child.name)
    elif child.attributes:
        _note_attributes(child, faults)


def note_structure(entry: Element, core: str, faults: Faults) -> None:
    """Note what the schema of indexes does not allow in a `<sitemap>`; `core`: the namespace of its root."""
    if not _is_regular(entry, core):
        for _, violation in violations("sitemapindex", [entry], core_namespaces(core, entry.uri)):
            faults.add(violation.rule, violation.message, violation.line, value=violation.value)


def _is_regular(entry: Element, core: str) -> bool:
    names = []
    for part in entry.content:
        if isinstance(part, str):
            if part.strip():
                return False
        elif part.uri != core or part.has_children:
            return False
        else:
            names.append(part.name)
    return entry.uri == core and names in (["loc"], CHILD_FIELDS)


def note_repeated(repeated: dict[str, list[Element]], entry: Element, faults: Faults) -> None:
    """Note children that stand more than once: {name: all but the first}."""
    for name, (second, *more) in repeated.items():
        text = f"<{name}> stands {len(more) + 2} times in one <{entry.name}>"
        faults.add("xml-duplicate-element", text, second.line, value=second.text)


def _note_attributes(element: Element, faults: Faults) -> None:
    for name in element.attributes:
        if not name.startswith("{"):
            text = f"<{element.name}> has an attribute {name}, which the protocol does not know"
            faults.add("xml-unknown-attribute", text, element.line, value=name)
