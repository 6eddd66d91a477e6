"""Schema validation of entries, with readable messages at their lines.

Entries are written as a document with each element on a line of its own, so the line of an error names its element.
Parts that an element must not have are reported instead of written: libxml2 would stop at the first, and hide what is
wrong behind it. What other rules report is not written either, or its errors are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path

from lxml import etree

from sitemapcrawler.namespaces import CORE, Namespace, plugged, resembled
from sitemapcrawler.namespaces.element import BLANKS, Element
from sitemapcrawler.namespaces.schemas import CHECKED, WITH_EXTENSIONS, errors_of, parser, schema
from sitemapcrawler.namespaces.schemas.terms import (
    ENTRIES,
    REPEATABLE,
    REQUIRED_ATTRIBUTES,
    UNNAMED_LACK,
    Kind,
    find_own,
    lacking,
    tag,
    terms,
)
from sitemapcrawler.urls.display import quoted

SCHEMA, ORDER, MISSING = "xml-schema-violation", "xml-element-order", "xml-missing-element"
UNKNOWN, DUPLICATE, ATTRIBUTE = "xml-unknown-element", "xml-duplicate-element", "xml-unknown-attribute"
RULES = frozenset((SCHEMA, ORDER, MISSING, UNKNOWN, DUPLICATE, ATTRIBUTE))
"""Rules under which violations are reported."""
NOWHERE = "is in no namespace, but the root is in one"
JUDGED_BY_RULES = frozenset(
    ("<image:loc>", "<news:publication_date>", "<video:thumbnail_loc>", "<video:content_loc>", "<video:player_loc>")
)
"""Elements of extensions whose values have rules of their own, so that the schema's verdict on them is left out."""

MAX_LINES = 500
"""Elements to validate at once. libxml2 counts up to 65,535 lines, and counts all before an error for its path."""
MAX_REPEATED = 100
"""Parts of the same name and element to check. 32 tags are allowed; another rule reports more."""
MAX_ATTRIBUTES = 100
"""Attributes of an element to check; no schema allows more than 14."""
MAX_VALUE = 5_000
"""Characters of a value to check. A URL may have 2,048."""
PLACEHOLDER = "_"
"""Written in place of what is not allowed, since libxml2 keeps each name; for attributes, with a number."""
LOC = "<loc>https://example.com/</loc>"
"""Written in each entry, in place of its URL."""
DECLARED = "".join(f' xmlns:{namespace.prefix}="{namespace.uri}"' for namespace in CHECKED)
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML does not allow."""
PARSER = etree.XMLParser(no_network=True, resolve_entities=False)
NAMESPACE = re.compile(r"\{[^{}]*\}")
ABOUT = re.compile(r"Element '[^']*'(?:, attribute '([^']*)')?: ")
"""Start of each error message, with the name of the attribute if it is about one."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of the schema in an entry."""

    rule: str
    """Id in the rule catalogue."""
    message: str
    """One sentence."""
    line: int
    """Line, counted from 1."""
    value: str | None = None
    """The offending text or name."""


def core_namespaces(root: str | None, entry: str) -> frozenset[str]:
    """Namespaces that a document uses for the protocol: those of its root and of an entry.

    A wrong namespace of the root counts as the right one here, since other rules report it once.
    """
    return frozenset((CORE,)) if root == CORE else frozenset((CORE, root or "", entry, ""))


def violations(root: str, entries: Sequence[Element], core: frozenset[str]) -> Iterator[tuple[int, Violation]]:
    """Yield violations of the schema for `root`, each with the index of its entry.

    Excludes what other rules report: values, missing parts, and the reader's faults.
    """
    check = _Check(root, core)
    for place, entry in enumerate(entries):
        check.write(place, entry)
    if entries:
        check.validate()
    yield from sorted(check.found, key=lambda found: (found[0], found[1].line))


class _Check:
    """Writes entries, validates them, and collects what is wrong."""

    def __init__(self, root: str, core: frozenset[str]) -> None:
        self.found: list[tuple[int, Violation]] = []
        """Violations so far, each with the index of its entry."""
        self._root = root
        self._order = terms(CORE).parts(ENTRIES[root])
        self._core = core
        self._written: list[str] = []
        self._lines: list[tuple[int, Element]] = []
        """The element of each line, with the index of its entry."""
        self._place, self._entry = 0, Element("", "", {}, 0)
        self._missing: tuple[Element, frozenset[tuple[str, str]]] = self._entry, frozenset()

    def write(self, place: int, entry: Element) -> None:
        """Add an entry to the document. The protocol's elements are left out, unless they hold elements."""
        self._place, self._entry = place, entry
        if entry.uri not in self._core:
            self._report(SCHEMA, entry, NOWHERE)
        name = ENTRIES[self._root]
        self._add(entry, f"<{name}>{_text(entry)}{LOC}")
        for child in self._children(entry):
            namespace = find_own(child.uri)
            if self._is_field(child):
                if child.has_children and child.name != "loc":  # the reader reports that
                    self._add(child, f"<{child.name}><{PLACEHOLDER}/></{child.name}>")
            elif namespace is not None and self._root == WITH_EXTENSIONS and child.name in terms(namespace.uri).tops:
                self._element(child, namespace)
            elif namespace is not None:
                self._report_child(child, namespace)
            if len(self._lines) > MAX_LINES:
                self._written.append(f"</{name}>")
                self.validate()
                self._add(entry, f"<{name}>{LOC}")
        self._written.append(f"</{name}>")

    def _children(self, entry: Element) -> list[Element]:
        """Children of an entry in the order of the schema, without those of the protocol that the reader reports.

        Reports another order.
        """
        ranked: list[tuple[int, Element]] = []
        names = [*self._order]
        for child in entry.children:
            if not self._is_field(child):
                ranked.append((len(self._order), child))
            elif child.name in names:
                names.remove(child.name)
                ranked.append((self._order.index(child.name), child))
                if child.uri not in self._core and entry.uri:
                    self._report(SCHEMA, child, NOWHERE)
        for (rank, _), (following, child) in pairwise(ranked):
            if following < rank:
                before = next(one for at, one in ranked if at == rank)
                order = f"the order is {', '.join(self._order)}, then other namespaces"
                self._report(ORDER, child, f"comes after {_tag(before)}: {order}")
                break
        return [child for _, child in sorted(ranked, key=itemgetter(0))]

    def _is_field(self, element: Element) -> bool:
        return element.uri in self._core or not element.uri

    def _report(self, rule: str, element: Element, said: str) -> None:
        """Add a violation whose message begins with the element."""
        self.found.append((self._place, Violation(rule, f"{_tag(element)} {said}", element.line, element.name)))

    def _report_child(self, child: Element, namespace: Namespace) -> None:
        """Report an element of an extension that an entry must not have."""
        known = terms(namespace.uri)
        if self._root != WITH_EXTENSIONS:
            self._report(SCHEMA, child, "is in a <sitemap>, which only names a file")
        elif child.name not in known.kinds:
            if child.uri == namespace.uri and resembled(child) is None:
                self._report(UNKNOWN, child, "is not part of a <url>")
        elif (namespace.uri, child.name) not in self._missing_parts():
            self._report(SCHEMA, child, f"is in the <url> itself, not in {known.around(child.name)}")

    def _add(self, element: Element, text: str) -> None:
        """Begin the next line."""
        self._lines.append((self._place, element))
        self._written.append(f"\n{text}")

    def _element(self, element: Element, namespace: Namespace) -> None:
        """Write an element that is allowed where it is, without text and attributes that may be anything."""
        kind = terms(namespace.uri).kinds[element.name]
        name = start = f"{namespace.prefix}:{element.name}"
        if element.attributes and element.attributes.keys() - kind.free_attributes:
            start += _attributes(element, kind)
        self._add(element, f"<{start}>{_inside(element, kind) if element.content else ''}")
        if kind.parts:
            self._parts(element, namespace, kind.parts)
        self._written.append(f"</{name}>")

    def _parts(self, holder: Element, namespace: Namespace, names: tuple[str, ...]) -> None:
        """Write the parts of an element. Reports repeated ones, and those that it must not have."""
        counts: Counter[str] = Counter()
        repeated: dict[str, Element] = {}
        strangers: list[Element] = []
        for part in holder.children:
            if part.name not in names or (part.uri != holder.uri and find_own(part.uri) is not namespace):
                strangers.append(part)
                continue
            counts[part.name] += 1
            if counts[part.name] <= (MAX_REPEATED if part.name in REPEATABLE else 1):
                self._element(part, namespace)
            elif part.name not in REPEATABLE:
                repeated.setdefault(part.name, part)
        for name, part in repeated.items():
            said = f"{_tag(part)} occurs {counts[name]} times in one {_tag(holder)}"
            self.found.append((self._place, Violation(DUPLICATE, said, part.line, part.text)))
        if strangers:
            self._report_strangers(strangers, holder, namespace)

    def _report_strangers(self, parts: list[Element], holder: Element, namespace: Namespace) -> None:
        """Report parts that an element must not have, except for as many as it lacks, which stand in their place."""
        wrong: list[tuple[Element, str, str]] = []
        for part in parts:
            own = find_own(part.uri)
            if part.uri == holder.uri or own is namespace:
                if holder.uri == namespace.uri:  # an inexact namespace is reported once
                    wrong.append((part, UNKNOWN, f"is not part of {_tag(holder)}"))
            elif own is not None or self._is_field(part):
                is_known = part.name in terms(namespace.uri).parts(holder.name)
                meant = f": {tag(namespace.uri, part.name)} is meant" if is_known else ""
                wrong.append((part, SCHEMA, f"does not belong in {_tag(holder)}{meant}"))
        for part, rule, said in wrong[len(lacking(holder)) :]:
            if (namespace.uri, part.name) not in self._missing_parts():
                self._report(rule, part, said)

    def _missing_parts(self) -> frozenset[tuple[str, str]]:
        """Required parts that objects of the entry lack: (namespace, name).

        Such a part in a wrong place is one fault with its absence, which another rule reports.
        """
        if self._missing[0] is not self._entry:
            found: set[tuple[str, str]] = set()
            waiting = [part for part in self._entry.children if not self._is_field(part)]
            for holder in waiting:
                namespace = find_own(holder.uri)
                if namespace is not None:
                    names = terms(namespace.uri).parts(holder.name)
                    found.update((namespace.uri, name) for name in lacking(holder) if name in names)
                    waiting += [part for part in holder.children if part.name in names]
            self._missing = self._entry, frozenset(found)
        return self._missing[1]

    def validate(self) -> None:
        """Validate what was written since the last time."""
        text = "".join([f'<{self._root} xmlns="{CORE}"{DECLARED}>', *self._written, f"</{self._root}>"])
        for error in errors_of(schema(self._root), etree.fromstring(text.encode(), PARSER)):
            place, element = self._lines[error.line - 2]
            kind = "VALUE" if "_VALID" in error.type_name else error.type_name
            violation = WORDED.get(kind, _other)(error.message, element)
            if violation is not None:
                self.found.append((place, violation))
        self._written.clear()
        self._lines.clear()


# Each of these words an error of an element; None if another rule reports it.


def _lack(message: str, element: Element) -> Violation | None:
    """It lacks parts."""
    lacks = " and ".join(lacking(element)) if element.name == UNNAMED_LACK else ""
    return Violation(MISSING, f"{_tag(element)} lacks {lacks}", element.line) if lacks else None


def _content(message: str, element: Element) -> Violation:
    """It has elements, or must be empty."""
    inner, text = next(element.children, None), element.text
    if inner is None:
        return Violation(SCHEMA, f"{_tag(element)} holds {quoted(text)}, but must be empty", element.line, text)
    said = f"{_tag(element)} holds {_tag(inner)}, but may not contain elements"
    return Violation(SCHEMA, said, inner.line, inner.name)


def _stray_text(message: str, element: Element) -> Violation | None:
    """It has text between its parts."""
    if lacking(element):
        return None
    texts = (place for place, part in enumerate(element.content) if isinstance(part, str) and part.strip(BLANKS))
    place = next(texts)
    text = str(element.content[place]).strip(BLANKS)
    said = f"text in {_tag(element)}, which may only contain elements: {quoted(text)}"
    return Violation(SCHEMA, said, _line(element, place), text)


def _attribute(message: str, element: Element) -> Violation | None:
    """It has an unknown attribute, which may be a required one with a misspelt name."""
    namespace, required = find_own(element.uri), REQUIRED_ATTRIBUTES.get(element.name, ())
    if namespace is None or namespace.uri != element.uri or any(one not in element.attributes for one in required):
        return None
    name = _attribute_in(message, element)
    said = f"{_tag(element)} has an attribute {name}, which its namespace does not define"
    return Violation(ATTRIBUTE, said, element.line, name)


def _value(message: str, element: Element) -> Violation | None:
    """The schema does not allow its text, or the value of an attribute."""
    name, attribute = _tag(element), _attribute_in(message, element)
    if not attribute and (name in JUDGED_BY_RULES or element.has_children):
        return None
    value = element.attributes[attribute] if attribute else element.text
    where = f"as {attribute} of {name}" if attribute else f"in {name}"
    return Violation(SCHEMA, f"{quoted(value)} {where} is not a value that the schema allows", element.line, value)


def _other(message: str, element: Element) -> Violation:
    said = NAMESPACE.sub("", ABOUT.sub("", message[:MAX_VALUE]))
    return Violation(SCHEMA, f"{_tag(element)}: {said}", element.line)


WORDED: dict[str, Callable[[str, Element], Violation | None]] = {
    "SCHEMAV_ELEMENT_CONTENT": _lack,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_1": _content,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_2": _content,
    "SCHEMAV_CVC_TYPE_3_1_2": _content,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_3": _stray_text,
    "SCHEMAV_CVC_COMPLEX_TYPE_3_2_1": _attribute,
    "SCHEMAV_CVC_COMPLEX_TYPE_3_2_2": _attribute,
    "SCHEMAV_CVC_TYPE_3_1_1": _attribute,
    "VALUE": _value,
}
"""{type of libxml2's error: what words it}. Errors of values have many types."""


def _tag(element: Element) -> str:
    return tag(element.uri, element.name)


def _inside(element: Element, kind: Kind) -> str:
    """The content of an element that may be wrong, for the document, without the parts that it may have."""
    if element.has_children and not kind.parts:
        return f"<{PLACEHOLDER}/>"
    return "" if kind.is_free else _text(element)


def _text(element: Element) -> str:
    """The own text of an element, for the document."""
    text = "".join([part for part in element.content if isinstance(part, str)])
    return _escaped(text) if text.strip(BLANKS) else ""


def _attributes(element: Element, kind: Kind) -> str:
    """The attributes that may be wrong, for the document. Those in other namespaces are allowed."""
    return "".join(
        f' {name}="{_escaped(value)}"' if name in kind.attributes else f' {PLACEHOLDER}{number}=""'
        for number, (name, value) in enumerate(islice(element.attributes.items(), MAX_ATTRIBUTES))
        if name not in kind.free_attributes and not name.startswith("{")
    )


def _escaped(text: str) -> str:
    if len(text) > MAX_VALUE:
        text = text.strip(BLANKS)[:MAX_VALUE]
    if not text.isprintable():
        text = ILLEGAL.sub("?", text).replace("\n", " ").replace("\r", " ")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _attribute_in(message: str, element: Element) -> str:
    """The attribute that a message is about; empty if it is about the element."""
    about = ABOUT.match(message)
    written = (about and about[1]) or ""
    return [*element.attributes][int(written[1:])] if written.startswith(PLACEHOLDER) else written


def _line(holder: Element, place: int) -> int:
    """Line of the text at an index of the content.

    Text has no line of its own, so it is derived from the next element, or else from those before it. Line breaks in
    comments and tags in between are unknown, so the result may be too low.
    """
    text = str(holder.content[place])
    behind = text.lstrip(BLANKS).count("\n")
    for part in holder.content[place + 1 :]:
        if isinstance(part, Element):
            return part.line - behind
        behind += part.count("\n")
    breaks = text[: len(text) - len(text.lstrip(BLANKS))].count("\n")
    element, before = holder, holder.content[:place]
    while before:
        last = before.pop()
        if isinstance(last, str):
            breaks += last.count("\n")
        else:
            element, before = last, last.content[:]
    return element.line + breaks


MAX_PARTS = 10_000
"""Elements of one object that are validated; lxml counts up to 65,535 lines."""
MAX_TEXT = 300
"""Characters of an error that become the message."""


@cache
def schema_at(path: Path) -> etree.XMLSchema:
    """Compile a schema. Raises OSError, etree.LxmlError."""
    return etree.XMLSchema(etree.parse(str(path), parser()))


def plugged_violations(entries: Sequence[Element]) -> Iterator[tuple[int, Violation]]:
    """Yield violations of the schemas of plug-ins, each with the index of its entry. Elements of their namespaces are
    validated one by one as they stand."""
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
