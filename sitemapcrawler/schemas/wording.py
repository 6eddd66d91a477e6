"""What the validator says, in words of ours, and what it says that a rule names already."""

from __future__ import annotations

import re

from lxml import etree

from sitemapcrawler.element import Element
from sitemapcrawler.namespaces import find
from sitemapcrawler.quoting import shown
from sitemapcrawler.schemas.terms import REQUIRED, REQUIRED_ATTRIBUTES, UNNAMED_LACK, tag
from sitemapcrawler.schemas.violation import ATTRIBUTE, MISSING, SCHEMA, Violation
from sitemapcrawler.schemas.writing import named

ELEMENT = re.compile(r"Element '(?:\{([^}]*)\})?([^']*)'(?:, attribute '([^']*)')?")
"""Beginning of each message: namespace and name of the element, and the attribute that it is about."""
NAMESPACE = re.compile(r"\{[^{}]*\}")
MAX_MESSAGE = 2000
"""Characters of a message of libxml2 that are looked at: it may name a namespace, which may be of any length."""


def is_named(error: etree._LogEntry) -> bool:
    """True for an error that a rule of its own names."""
    element = ELEMENT.match(error.message)
    if element is None or element[3] is not None:
        return False
    return "Missing child" in error.message and element[2] != UNNAMED_LACK


def is_value(error: etree._LogEntry) -> bool:
    """True for an error about a value."""
    return "_VALID" in error.type_name


def violation_of(error: etree._LogEntry, element: Element) -> Violation | None:
    """An error on an element as a violation; None where a rule of its own names it."""
    if is_named(error):
        return None
    about = ELEMENT.match(error.message)
    if about is not None and about[3] is not None:
        return _of_attribute(error, element, named(element, about[3]))
    name = tag(element.uri, element.name)
    if is_value(error):
        if element.has_children:
            return None  # it is said that there are some
        text = element.text
        return Violation(SCHEMA, f"{shown(text)} in {name} is no value that the schema allows", element.line, text)
    if "Missing child" in error.message:
        lacks = [part for part in REQUIRED[UNNAMED_LACK] if all(child.name != part for child in element.children)]
        return Violation(MISSING, f"{name} lacks {' and '.join(lacks)}", element.line)
    inner = next(element.children, None)
    if inner is not None:
        message = f"{name} holds {tag(inner.uri, inner.name)}, but may hold no elements"
        return Violation(SCHEMA, message, inner.line, inner.name)
    if element.text:
        return Violation(SCHEMA, f"{name} holds {shown(element.text)}, but must be empty", element.line, element.text)
    return Violation(SCHEMA, NAMESPACE.sub("", error.message[:MAX_MESSAGE]), element.line)


def _of_attribute(error: etree._LogEntry, element: Element, name: str) -> Violation | None:
    """An unknown attribute, or its value. None where the reader notes it, or a rule names one that is lacking there."""
    namespace = find(element.uri)
    if is_value(error):
        value = element.attributes.get(name, "")
        message = f"{shown(value)} as {name} of {tag(element.uri, element.name)} is no value that the schema allows"
        return Violation(SCHEMA, message, element.line, value)
    if namespace is None or namespace.uri != element.uri:
        return None
    if any(needed not in element.attributes for needed in REQUIRED_ATTRIBUTES.get(element.name, ())):
        return None
    message = f"{tag(element.uri, element.name)} has an attribute {name}, which its namespace does not know"
    return Violation(ATTRIBUTE, message, element.line, name)
