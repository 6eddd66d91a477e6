"""Text that stands where only elements may."""

from __future__ import annotations

from sitemapcrawler.element import Element
from sitemapcrawler.quoting import shown
from sitemapcrawler.schemas.terms import tag
from sitemapcrawler.schemas.violation import SCHEMA, Violation

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
