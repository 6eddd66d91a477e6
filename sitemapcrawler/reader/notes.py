"""What an entry has that the protocol does not know: facts for the rules, noted while the entry is at hand."""

from __future__ import annotations

from sitemapcrawler.element import Element
from sitemapcrawler.reader.faults import Faults

FIELDS = frozenset(("loc", "lastmod", "changefreq", "priority"))
CHILD_FIELDS = ("loc", "lastmod")
"""Fields of an index's entry."""


def note_entry(entry: Element, expected: str, faults: Faults) -> None:
    """Note attributes, and the first entry of a file that is no `expected` one (empty: any)."""
    if entry.attributes:
        _note_attributes(entry, faults)
    if expected and entry.name != expected and "xml-mixed-index-urlset" not in faults:
        if "doc-trailing-content" in faults:  # two documents in one: of the second, the root may be another
            return
        text = f"<{entry.name}> in a file of <{expected}> entries"
        faults.add("xml-mixed-index-urlset", text, entry.line, value=entry.name)


def note_child(child: Element, entry: Element, faults: Faults) -> None:
    """Note attributes of a child in the protocol's namespace, and a child that is no part of its entry."""
    if child.attributes:
        _note_attributes(child, faults)
    if child.name not in FIELDS or (entry.name == "sitemap" and child.name not in CHILD_FIELDS):
        text = f"<{child.name}> is no part of a <{entry.name}>"
        faults.add("xml-unknown-element", text, child.line, value=child.name)


def note_repeated(repeated: dict[str, list[Element]], entry: Element, faults: Faults) -> None:
    """Note children that stand more than once: {name: all but the first}."""
    for name, (second, *more) in repeated.items():
        text = f"<{name}> stands {len(more) + 2} times in one <{entry.name}>"
        faults.add("xml-duplicate-element", text, second.line, value=second.text)


def note_inexact(element: Element, meant: str, seen: set[str], faults: Faults) -> None:
    """Note a namespace that is not written as the one it means, unless it was `seen`."""
    if element.uri not in seen:
        seen.add(element.uri)
        text = f"the namespace of <{element.name}> is {element.uri}, not {meant}"
        faults.add("xml-ext-namespace-wrong", text, element.line, value=element.uri)


def _note_attributes(element: Element, faults: Faults) -> None:
    for name in element.attributes:
        if not name.startswith("{"):
            text = f"<{element.name}> has an attribute {name}, which the protocol does not know"
            faults.add("xml-unknown-attribute", text, element.line, value=name)
