"""What stands in a piece that is well formed: entries, also those in others and in unknown elements, and the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from sitemapcrawler.namespaces.element import Element, hide
from sitemapcrawler.reader.entries import FIELDS, EntryBuilder
from sitemapcrawler.reader.pieces import BASE, Piece, PieceParser, based

CONTAINERS = ("channel",)
"""Elements between the root and its entries."""


@dataclass(slots=True)
class Contents:
    """What stands in a piece, in document order."""

    _parser: PieceParser
    _may_hide: bool
    """True if values may hold passwords."""
    _begun: set[Element]
    """The elements in which the piece begins."""
    _opened: set[Element]
    """These, and the elements in which it ends."""
    elements: list[Element] = field(default_factory=list)
    """Entries, and other elements between them."""
    around: dict[Element, Element] = field(default_factory=dict)
    """Entry inside another -> that one."""
    wrappers: list[Element] = field(default_factory=list)
    """Unknown elements that contain entries, with what stands before these."""

    @classmethod
    def of(cls, piece: Piece, text: str, parser: PieceParser, entries: EntryBuilder) -> Self:
        """Collect what stands in a piece with this text. Entries inside others are taken out of these if they name a
        URL. `parser`: the one that made the piece."""
        contents = cls(parser, "@" in text or "&#" in text, {*piece.begun}, {*piece.begun, *piece.opened})
        contents._collect(piece.root, ())
        if piece.nested >= 0:
            contents._take_apart(entries)
        return contents

    def _collect(self, parent: Element, bases: tuple[str, ...], is_noted: bool = False) -> None:
        """Add what stands in the root or an element around entries. `bases`: `xml:base` of the elements below the root
        around its content. `is_noted`: one of them is noted as a wrapper."""
        for child in parent.children:
            is_new = child not in self._begun
            first = self._parser.first_entry(child) if is_new and not self._parser.is_entry(child) else None
            is_container = not bases and child.name in CONTAINERS
            if first is None and child not in self._opened and not is_container:
                if self._may_hide:
                    hide(child)
                self.elements.append(based(child, bases))
                continue
            is_wrapper = is_new and not is_container
            if is_wrapper and not is_noted:
                self.wrappers.append(wrapper(child, first, self._parser))
            self._collect(child, (*bases, child.attributes.get(BASE, "")), is_noted or is_wrapper)

    def _take_apart(self, entries: EntryBuilder) -> None:
        elements, self.elements = self.elements, []
        for entry in elements:
            waiting = [(entry, entry)]
            while waiting:
                element, outer = waiting.pop()
                if element is entry or element in self.around:
                    self.elements.append(element)
                    outer = element
                children = [*element.children]
                inner = [child for child in children if entries.is_entry(child) and entries.has_url(child, True)]
                if inner:
                    self.around.update(dict.fromkeys(inner, outer))
                    element.content = [part for part in element.content if part not in self.around]
                waiting += [(child, outer) for child in reversed(children) if child.name not in FIELDS]


def wrapper(element: Element, first: Element | None, parser: PieceParser) -> Element:
    """Return an element that contains entries, with what stands before the `first` one, if it was reached."""
    found = Element(element.uri, element.name, element.attributes, element.line)
    for child in element.children:
        if first is not None and first in (child, parser.first_entry(child)):
            break
        found.content.append(child)
    return found
