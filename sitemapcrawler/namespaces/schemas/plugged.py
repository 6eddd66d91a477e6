"""Validation of elements whose namespace a plug-in declares, against the schema that it names.

Such elements are validated one by one as they stand: what their schema says of values, attributes and parts holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from lxml import etree

from sitemapcrawler.namespaces import Element, plugged
from sitemapcrawler.namespaces.schemas import errors_of, parser
from sitemapcrawler.namespaces.schemas.check import ILLEGAL, NAMESPACE, SCHEMA, Violation

MAX_PARTS = 10_000
"""Elements of one object that are validated; lxml counts up to 65,535 lines."""
MAX_TEXT = 300
"""Characters of an error that become the message."""


@cache
def schema_at(path: Path) -> etree.XMLSchema:
    """Compile a schema. Raises OSError, etree.LxmlError."""
    return etree.XMLSchema(etree.parse(str(path), parser()))


def plugged_violations(entries: Sequence[Element]) -> Iterator[tuple[int, Violation]]:
    """Yield violations of the schemas of plug-ins, each with the index of its entry."""
    schemas = {namespace.uri: Path(namespace.schema) for namespace in plugged() if namespace.schema}
    for place, entry in enumerate(entries if schemas else ()):
        for child in entry.children:
            if child.uri in schemas:
                yield from ((place, violation) for violation in _violations(child, schema_at(schemas[child.uri])))


def _violations(element: Element, schema: etree.XMLSchema) -> Iterator[Violation]:
    parts: list[Element] = []
    tree = _tree(element, parts)
    if len(parts) > MAX_PARTS:
        return
    for error in errors_of(schema, tree):
        part = parts[error.line - 1]
        yield Violation(SCHEMA, NAMESPACE.sub("", error.message[:MAX_TEXT]), part.line, part.text or part.name)


def _tree(element: Element, parts: list[Element]) -> etree._Element:
    """Build the element for lxml and list its parts. The line of each is its number in `parts`, from 1."""
    attributes = {name: ILLEGAL.sub("?", value) for name, value in element.attributes.items()}
    tree = etree.Element(f"{{{element.uri}}}{element.name}" if element.uri else element.name, attributes)
    parts.append(element)
    tree.sourceline = len(parts)  # type: ignore[assignment]  # the stub has it read-only
    last: etree._Element | None = None
    for part in element.content if len(parts) <= MAX_PARTS else ():
        if isinstance(part, Element):
            last = _tree(part, parts)
            tree.append(last)
        elif last is None:
            tree.text = (tree.text or "") + ILLEGAL.sub("?", part)
        else:
            last.tail = (last.tail or "") + ILLEGAL.sub("?", part)
    return tree
