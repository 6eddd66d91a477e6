"""Filling a namespace object from an element: by the table of its fields, without losing what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sitemapcrawler.element import Element

Fields = Mapping[str, Callable[[Element], Any]]
"""Element name -> function that reads its value. The field of the same name is a list where the element may repeat."""


def text(element: Element) -> str:
    """The element's text, white space stripped."""
    return element.text


def attributed(element: Element) -> dict[str, str]:
    """{`value`, and each attribute}."""
    return {**element.attributes, "value": element.text}


def nested(element: Element) -> dict[str, str]:
    """{child name: text}, the first of each name; `fill` keeps an element with more than that whole."""
    values: dict[str, str] = {}
    for child in element.children:
        values.setdefault(child.name, child.text)
    return values


def fill(target: Any, element: Element, fields: Fields) -> None:
    """Set the fields of `target` from the children of `element`.

    What a field cannot hold (an unknown element, a second value of a single field, attributes of a plain one)
    is kept as a tree in `target.extra`.
    """
    if element.attributes or element.text:
        target.extra.append(own(element))
    for child in element.children:
        read = fields.get(child.name) if child.uri == element.uri else None
        if (
            read is None
            or (child.has_children and read is not nested)
            or not _put(target, child.name, read(child))
            or _loses(child, read)
        ):
            target.extra.append(element.part(child))


def own(element: Element) -> dict[str, Any]:
    """What an element holds besides its children: {`name`, `attributes`?, `value`?}."""
    tree: dict[str, Any] = {"name": element.name}
    if element.attributes:
        tree["attributes"] = dict(element.attributes)
    return {**tree, "value": element.text} if element.text else tree


def _put(target: Any, name: str, value: Any) -> bool:
    held = getattr(target, name)
    if isinstance(held, list):
        held.append(value)
    elif held is None:
        setattr(target, name, value)
    else:
        return False
    return True


def _loses(child: Element, read: Callable[[Element], Any]) -> bool:
    if read is nested:
        names = [part.name for part in child.children]
        plain = not any(part.attributes or part.has_children or part.uri != child.uri for part in child.children)
        return bool(child.attributes or child.text) or len(names) != len(set(names)) or not plain
    if read is attributed:
        return "value" in child.attributes
    return read is text and bool(child.attributes)
