"""One XML element as the strict parser built it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Element:
    """An element with its attributes and its content in document order.

    `name` is the local name, `uri` its namespace (empty: none), `line` counts from 1. Attributes of a
    namespace are named `{uri}name`, all others by their plain name.
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
        """The element's own text, white space around it stripped; without the text of its children."""
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
        """True where there is at least one child element."""
        return any(isinstance(part, Element) for part in self.content)

    def tree(self) -> dict[str, Any]:
        """The element without loss: {`name`, `attributes`?, `value`? or `children`?}; white space between
        children is left out, children of another namespace carry its `uri`."""
        tree: dict[str, Any] = {"name": self.name}
        if self.attributes:
            tree["attributes"] = dict(self.attributes)
        if self.has_children:
            tree["children"] = [self.part(part) for part in self._joined() if isinstance(part, Element) or part.strip()]
        elif self.content:
            tree["value"] = self.text
        return tree

    def part(self, part: Element | str) -> dict[str, Any] | str:
        """A part of the content without loss: a text, or a child's tree, with its `uri` where that is another one."""
        if isinstance(part, str):
            return part.strip()
        tree = part.tree()
        return tree if part.uri == self.uri else {"name": tree.pop("name"), "uri": part.uri, **tree}

    def _joined(self) -> list[Element | str]:
        """The content with neighbouring texts as one: a comment in between parts them."""
        joined: list[Element | str] = []
        for part in self.content:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            else:
                joined.append(part)
        return joined
