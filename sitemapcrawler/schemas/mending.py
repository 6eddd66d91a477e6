"""Mending an entry: its structure as the schema wants it, and what was not so.

A validator says nothing more about the content of an element after the first part that it did not expect there. So the
structure is put right first; each part that was not is a violation, or known to another rule already.
"""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.element import Element
from sitemapcrawler.namespaces import find
from sitemapcrawler.schemas import CORE
from sitemapcrawler.schemas.loose_text import text_in
from sitemapcrawler.schemas.parts import Parts
from sitemapcrawler.schemas.terms import ENTRIES, tag, terms
from sitemapcrawler.schemas.violation import ORDER, SCHEMA, UNKNOWN, Violation


class Mender:
    """Mends the entries of a document. `core` holds the namespaces that it uses for the protocol."""

    def __init__(self, root: str, core: frozenset[str]) -> None:
        self._in_index = root == "sitemapindex"
        self._core = core
        self._order = terms(CORE).holders[ENTRIES[root]]

    def mend(self, entry: Element) -> tuple[Element, list[Violation]]:
        """The entry as the schema wants it, and what was not so."""
        parts = Parts(self._core)
        text = text_in(entry, CORE)
        parts.found += [text] if text else []
        fields = self._fields(entry, parts)
        mended = Element(CORE, entry.name, {}, entry.line)
        fields.setdefault("loc", Element(CORE, "loc", {}, entry.line))  # a rule names its lack
        mended.content = [fields[name] for name in self._order if name in fields]
        mended.content += self._others(entry, parts)
        return mended, [*parts.violations, *self._misplaced(entry)]

    def _is_core(self, element: Element) -> bool:
        return element.uri in self._core or not element.uri

    def _fields(self, entry: Element, parts: Parts) -> dict[str, Element]:
        """The protocol's own elements, each once; unknown and repeated ones were noted when they were read."""
        if entry.uri not in self._core:
            parts.found.append(_bare(entry))
        fields: dict[str, Element] = {}
        for child in entry.children:
            if self._is_core(child) and child.name in self._order and child.name not in fields:
                fields[child.name] = child
                if child.uri not in self._core and child.uri != entry.uri:
                    parts.found.append(_bare(child))
        return fields

    def _others(self, entry: Element, parts: Parts) -> Iterator[Element]:
        """Elements of the namespaces that have a schema. Those of others are legal, whatever they are."""
        for child in entry.children:
            namespace = None if self._is_core(child) else find(child.uri)
            if namespace is None:
                continue
            known, name = terms(namespace.uri), tag(namespace.uri, child.name)
            if self._in_index:
                message = f"{name} stands in a <sitemap>, which names a file and no more"
                parts.found.append(Violation(SCHEMA, message, child.line, child.name))
            elif child.name in known.tops:
                yield parts.mended(child, namespace.uri)
            elif child.name in known.names:
                message = f"{name} stands in the <url> itself, not in {known.around(child.name)}"
                parts.stray(namespace.uri, Violation(SCHEMA, message, child.line, child.name))
            elif child.uri == namespace.uri:
                parts.found.append(Violation(UNKNOWN, f"{name} is no part of a <url>", child.line, child.name))

    def _misplaced(self, entry: Element) -> Iterator[Violation]:
        """The first element that stands behind one that should follow it."""
        seen: set[str] = set()
        last, before = -1, entry
        for child in entry.children:
            rank = len(self._order)
            if self._is_core(child):
                if child.name not in self._order or child.name in seen:
                    continue
                rank = self._order.index(child.name)
                seen.add(child.name)
            if rank < last:
                order = f"the order is {', '.join(self._order)}, then other namespaces"
                message = f"<{child.name}> stands behind {tag(before.uri, before.name)}: {order}"
                yield Violation(ORDER, message, child.line, child.name)
                return
            if rank > last:
                last, before = rank, child


def _bare(element: Element) -> Violation:
    return Violation(SCHEMA, f"<{element.name}> is in no namespace, but the root is in one", element.line, element.name)
