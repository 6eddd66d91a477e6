"""Mending an entry: its structure as the schema wants it, and what was not so.

A validator says nothing more about the content of an element after the first part that it did not expect there. So the
structure is put right first; each part that was not is a violation, or known to another rule already.
"""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.namespaces import find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.schemas import CORE
from sitemapcrawler.schemas.terms import (
    DUPLICATE,
    ENTRIES,
    LOCATIONS,
    ORDER,
    REPEATABLE,
    REQUIRED,
    SCHEMA,
    UNKNOWN,
    UNNAMED_LACK,
    Violation,
    tag,
    terms,
)
from sitemapcrawler.urls.display import shown

BLANKS = " \t\r\n"
"""White space of XML, which may stand anywhere."""


def text_in(holder: Element, uri: str) -> Violation | None:
    """The violation that an element for elements, of the namespace `uri`, holds text; None where it holds none."""
    for place, part in enumerate(holder.content):
        if isinstance(part, str) and part.strip(BLANKS):
            text = part.strip(BLANKS)
            message = f"text in {tag(uri, holder.name)}, which is for elements only: {shown(text)}"
            return Violation(SCHEMA, message, _line(holder, place), text)
    return None


def _line(holder: Element, place: int) -> int:
    """Line of the text at a place of the content.

    A text does not know its line, what stands behind or before it does. Line breaks within comments and tags between
    the two are not known, so the line may be a little too small there.
    """
    breaks = 0
    for number, part in enumerate(holder.content[place:]):
        if isinstance(part, Element):
            return part.line - breaks
        breaks += (part if number else part.lstrip(BLANKS)).count("\n")
    text = holder.content[place]
    assert isinstance(text, str)
    return _end(holder, place) + text[: len(text) - len(text.lstrip(BLANKS))].count("\n")


def _end(element: Element, place: int) -> int:
    """Line on which the parts of an element that stand before `place` end."""
    parts, behind = element.content[:place], 0
    while True:
        texts = []
        while parts and isinstance(parts[-1], str):
            texts.append(str(parts.pop()))
        behind += sum(text.count("\n") for text in texts)
        if not parts:
            return element.line + behind
        last = parts[-1]
        assert isinstance(last, Element)
        element, parts = last, last.content[:]


MAX_REPEATED = 100
"""Parts of one name and element that are looked at: a rule allows 32 tags, and names more."""


class Parts:
    """Mends the parts of one entry's elements, and gathers what was wrong with them.

    Where a part is missing, a rule of its own says so. What stands there instead is no second fault, nor is the part
    where it stands in a wrong place.
    """

    def __init__(self, core: frozenset[str]) -> None:
        self.found: list[Violation] = []
        """What was not as it should be."""
        self._core = core
        self._strays: list[tuple[str, Violation]] = []
        self._missing: set[tuple[str, str]] = set()

    @property
    def violations(self) -> list[Violation]:
        """What was not as it should be, when all parts have been mended."""
        strays = (stray for uri, stray in self._strays if (uri, stray.value) not in self._missing)
        return [*self.found, *strays]

    def stray(self, uri: str, violation: Violation) -> None:
        """Add a part of a namespace that stands in a wrong place; `violation.value` is its name."""
        self._strays.append((uri, violation))

    def mended(self, holder: Element, uri: str) -> Element:
        """An element of the namespace `uri` with the parts that it may hold."""
        names = terms(uri).holders.get(holder.name)
        if names is None:
            return holder
        parts, strangers = self._sorted(holder, uri, names)
        missing = lacking(holder.name, [part for same in parts.values() for part in same])
        self._missing.update((uri, name) for name in missing)
        self._strays += [(uri, stranger) for stranger in strangers[len(missing) :]]
        text = None if missing else text_in(holder, uri)
        self.found += [text] if text else []
        mended = Element(uri, holder.name, holder.attributes, holder.line)
        for name, same in parts.items():
            if name not in missing:
                kept = same[: MAX_REPEATED if name in REPEATABLE else 1]
                mended.content += [self.mended(part, uri) for part in kept]
        return mended

    def _sorted(
        self, holder: Element, uri: str, names: tuple[str, ...]
    ) -> tuple[dict[str, list[Element]], list[Violation]]:
        """The parts that belong here by their names, and violations for those that do not."""
        parts: dict[str, list[Element]] = {}
        strangers: list[Violation] = []
        for part in holder.children:
            namespace = find(part.uri)
            if part.uri == holder.uri or (namespace is not None and namespace.uri == uri):
                if part.name in names:
                    parts.setdefault(part.name, []).append(part)
                elif holder.uri == uri:
                    message = f"{tag(uri, part.name)} is no part of {tag(uri, holder.name)}"
                    strangers.append(Violation(UNKNOWN, message, part.line, part.name))
            elif namespace is not None or part.uri in self._core or not part.uri:
                strangers.append(_of_another(part, holder, uri, names))
        for name, same in parts.items():
            if len(same) > 1 and name not in REPEATABLE:
                message = f"{tag(uri, name)} stands {len(same)} times in one {tag(uri, holder.name)}"
                self.found.append(Violation(DUPLICATE, message, same[1].line, same[1].text))
        return parts, strangers


def lacking(holder: str, parts: list[Element]) -> list[str]:
    """Names of the parts that an element must hold and does not; an empty one is none to the rules that name them."""
    names = {part.name for part in parts if part.text or part.has_children or holder == UNNAMED_LACK}
    missing = [name for name in REQUIRED.get(holder, ()) if name not in names]
    if holder == "video" and names.isdisjoint(LOCATIONS):
        missing.append(LOCATIONS[0])
    return missing


def _of_another(part: Element, holder: Element, uri: str, names: tuple[str, ...]) -> Violation:
    meant = f": {tag(uri, part.name)} is meant" if part.name in names else ""
    message = f"{tag(part.uri, part.name)} has no place in {tag(uri, holder.name)}{meant}"
    return Violation(SCHEMA, message, part.line, part.name)


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
