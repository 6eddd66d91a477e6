"""XML elements, and filling an object from an element's children without losing what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from sitemapcrawler.urls.display import masked_url

BLANKS = " \t\r\n"
"""White space in XML. Source: https://www.w3.org/TR/xml/#NT-S"""


class Element:
    """An element with its attributes and its content in document order.

    `name` is the local name, `uri` its namespace (empty: none), `line` counts from 1. Attributes in a namespace are
    named `{uri}name`, others by their plain name.
    """

    __slots__ = ("attributes", "content", "line", "name", "uri")

    def __init__(self, uri: str, name: str, attributes: dict[str, str], line: int) -> None:
        self.uri = uri
        self.name = name
        self.attributes = attributes
        self.line = line
        self.content: list[Element | str] = []

    def __repr__(self) -> str:
        return f"<{self.name} line={self.line}>"

    @property
    def text(self) -> str:
        """The element's own text without that of its children, stripped of white space."""
        content = self.content
        if len(content) == 1 and isinstance(content[0], str):
            return content[0].strip()
        return "".join(part for part in content if isinstance(part, str)).strip()

    @property
    def children(self) -> Iterator[Element]:
        """Child elements in document order."""
        return (part for part in self.content if isinstance(part, Element))

    @property
    def has_children(self) -> bool:
        return any(isinstance(part, Element) for part in self.content)

    def tree(self) -> dict[str, object]:
        """Convert to a dict without loss: {`name`, `attributes`?, `value`? or `children`?}.

        White space between children is dropped. Children in another namespace have a `uri`.
        """
        tree: dict[str, object] = {"name": self.name}
        if self.attributes:
            tree["attributes"] = dict(self.attributes)
        if self.has_children:
            tree["children"] = [self.part(part) for part in self._joined() if isinstance(part, Element) or part.strip()]
        elif self.content:
            tree["value"] = self.text
        return tree

    def part(self, part: Element | str) -> dict[str, object] | str:
        """Convert a part of the content: a text, or a child."""
        if isinstance(part, str):
            return part.strip()
        return self.tree_of(part)

    def tree_of(self, child: Element) -> Tree:
        """Return a child's tree, with its `uri` if that differs."""
        tree = child.tree()
        return tree if child.uri == self.uri else {"name": tree.pop("name"), "uri": child.uri, **tree}

    def _joined(self) -> list[Element | str]:
        """Join adjacent texts, which a comment may separate."""
        joined: list[Element | str] = []
        for part in self.content:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            else:
                joined.append(part)
        return joined


class Unparsed:
    """An entry of a usual shape, as its text in the document. It becomes an element if something asks for that."""

    __slots__ = ("_parse", "line", "priority", "shape", "text")

    def __init__(
        self,
        parse: Callable[[str, int], Element],
        text: str,
        line: int,
        shape: tuple[object, ...],
        priority: str | None,
    ) -> None:
        self._parse = parse
        self.text = text
        self.line = line
        """Line on which the entry begins."""
        self.shape = shape
        """Entries with equal shapes violate the schema equally: the names and order of their parts."""
        self.priority = priority
        """The text of its priority. Other texts are in the record, without white space around them."""

    def element(self) -> Element:
        return self._parse(self.text, self.line)


Tree = dict[str, Any]  # Any: each key has values of its own type
"""An element as a tree of JSON, see `Element.tree`."""
Fields = Mapping[str, Callable[[Element], object]]
"""Element name -> function that reads its value. The field of that name is a list if the element may repeat."""


def text(element: Element) -> str:
    """Return the element's text, stripped of white space."""
    return element.text


def attributed(element: Element) -> dict[str, str]:
    """Return {`value`, and each attribute}."""
    return {**element.attributes, "value": element.text}


def either(element: Element) -> str | dict[str, str]:
    """Return the text, or as `attributed` if there are attributes."""
    return attributed(element) if element.attributes else element.text


def nested(element: Element) -> dict[str, str]:
    """Return {child name: text}, with the first child of each name. `fill` also keeps a richer element whole."""
    values: dict[str, str] = {}
    for child in element.children:
        values.setdefault(child.name, child.text)
    return values


class Extensible(Protocol):
    """What an element is read into: a dataclass of a namespace."""

    extra: list[Tree]
    """What no other field holds."""


def fill(target: Extensible, element: Element, fields: Fields) -> None:
    """Set the fields of `target`, any dataclass with a list `extra`, from the children of `element`.

    What no field can hold (an unknown element, a second value of a single field, attributes of a plain one) is kept as
    a tree in `target.extra`.
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
            target.extra.append(element.tree_of(child))


def own(element: Element) -> Tree:
    """Return an element without its children: {`name`, `attributes`?, `value`?}."""
    tree: Tree = {"name": element.name}
    if element.attributes:
        tree["attributes"] = dict(element.attributes)
    return {**tree, "value": element.text} if element.text else tree


def _put(target: object, name: str, value: object) -> bool:
    held = getattr(target, name)
    if isinstance(held, list):
        held.append(value)
    elif held is None:
        setattr(target, name, value)
    else:
        return False
    return True


def _loses(child: Element, read: Callable[[Element], object]) -> bool:
    if read is nested:
        names = [part.name for part in child.children]
        plain = not any(part.attributes or part.has_children or part.uri != child.uri for part in child.children)
        return bool(child.attributes or child.text) or len(names) != len(set(names)) or not plain
    if read is attributed:
        return "value" in child.attributes
    return read is text and bool(child.attributes)


def hide(element: Element) -> None:
    """Mask passwords in all texts and attributes of an element and its descendants, even if a comment splits them."""
    waiting = [element]
    while waiting:
        one = waiting.pop()
        waiting += one.children
        if any("@" in value for value in one.attributes.values()):
            one.attributes = {name: masked_url(value) for name, value in one.attributes.items()}
        written = "".join(part for part in one.content if isinstance(part, str))
        if "@" in written and (hidden := masked_url(written)) != written:
            one.content = [hidden, *one.children]
