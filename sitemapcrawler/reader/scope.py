"""Names and namespaces as expat gives them."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

SEPARATOR = " "
"""Between namespace, local name and prefix; it can occur in none of them."""
BASE = "{http://www.w3.org/XML/1998/namespace}base"
"""What relative URLs in an element are resolved against. Source: https://www.w3.org/TR/xmlbase/"""
BASES = "\n"
"""Between the bases of the elements around an entry and its own, the outermost first."""
MAX_NAMES = 1000
"""Element names that are remembered in split form, and namespaces that are remembered at all."""
MAX_LENGTH = 2048
"""Characters of those that are remembered; the longest URL that the protocol allows."""


class Scope:
    """The namespaces of one document: those that were declared, and those that are declared now."""

    def __init__(self) -> None:
        self.namespaces: dict[str, str] = {}
        """URI -> the prefix it was declared with first, in order of appearance, as far as remembered."""
        self.names: dict[str, tuple[str, str]] = {}
        """Names as expat gives them -> (namespace, local name), as far as remembered."""
        self._declared: list[tuple[int, str, str]] = []

    def begin(self) -> None:
        """Forget what is declared now: a new parser begins."""
        self._declared.clear()

    def declare(self, depth: int, prefix: str, uri: str) -> None:
        """Say that the element with `depth` others around it declares a namespace."""
        self._declared.append((depth, prefix, uri))
        if len(self.namespaces) < MAX_NAMES and len(uri) <= MAX_LENGTH:
            self.namespaces.setdefault(uri, prefix)

    def undeclare(self) -> None:
        """Say that the declaration made last ends."""
        self._declared.pop()

    def split(self, name: str) -> tuple[str, str]:
        """Namespace and local name of an element."""
        uri, *names = name.split(SEPARATOR)
        found = (uri, names[0]) if names else ("", name)
        if len(self.names) < MAX_NAMES and len(name) <= MAX_LENGTH:
            self.names[name] = found
        return found

    def start_tag(self, name: str, depth: int, base: str = "") -> str:
        """The start tag of the element `name` at this depth, with what it declares and its `base`."""
        _, *parts = name.split(SEPARATOR) if SEPARATOR in name else ("", name)
        declared = [(f":{prefix}" if prefix else "", uri) for at, prefix, uri in self._declared if at == depth]
        namespaces = "".join(f" xmlns{prefix}={quoteattr(uri)}" for prefix, uri in declared)
        return f"<{':'.join(parts[::-1])}{namespaces}{f' xml:base={quoteattr(base)}' if base else ''}>"


def attribute(key: str) -> str:
    """An attribute's name: `{uri}name`, or the plain name of one without a namespace."""
    uri, *names = key.split(SEPARATOR)
    return f"{{{uri}}}{names[0]}" if names else key
