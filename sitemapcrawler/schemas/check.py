"""Schema validation of entries: every violation with its line, a batch at a time.

Entries are serialized in a form that most entries of a file share, so one verdict serves them all. Failing entries are
repaired and validated again, since a validator reports nothing more about the content of an element after its first
unexpected part. Its errors are then put into our own words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from threading import Lock
from typing import NamedTuple

from lxml import etree

from sitemapcrawler.namespaces import CORE, NAMESPACES, find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.schemas import schema
from sitemapcrawler.schemas.repairs import (
    ATTRIBUTE,
    ATTRIBUTES,
    HOLDERS,
    MISSING,
    NAMES,
    REPEATABLE,
    REQUIRED,
    REQUIRED_ATTRIBUTES,
    SCHEMA,
    UNCOUNTED,
    UNNAMED_LACK,
    EntryRepairs,
    Violation,
    tag,
)
from sitemapcrawler.urls.display import shown

MAX_FORM = 20_000
"""Characters of a written entry that is validated as it is; 100 different ones in a namespace need fewer."""
MAX_FORMS = 1_000_000
"""Characters that are validated at once."""
MAX_LINES = 5_000
"""Elements that are validated at once where each has a line; the validator counts to 65,535 only."""
MAX_CHILDREN = 50
"""Children of an entry that are written at once then: fewer than 30,000 lines, whatever they hold."""
MAX_VERDICTS, MAX_KEPT = 1_000, 2_000
"""Verdicts that are kept, on forms of no more characters."""
ENTRY = re.compile(r"/\*/\*(?:\[([0-9]+)\])?")
"""The beginning of an error's path, with the number of the entry where there are several."""
VALIDATING = Lock()
"""A schema has a single error list, and files may be read in several threads."""
VERDICTS: dict[tuple[str, str], bool] = {}
"""(root, entry as written) -> whether the schema allows it."""


def core_namespaces(root: str | None, entry: str) -> frozenset[str]:
    """The namespaces that a document uses for the protocol, from those of its root and of an entry.

    Where the root's is not the right one, rules say so once, and it is taken for the right one here.
    """
    return frozenset((CORE,)) if root == CORE else frozenset((CORE, root or "", entry, ""))


def violations(root: str, entries: Sequence[Element], core: frozenset[str]) -> Iterator[tuple[int, Violation]]:
    """What the schema for `root` does not allow in entries, with the place of the entry.

    Left out is what rules of their own name: values, lacking parts, and what the reader notes.
    """
    return _explained(root, entries, core, _suspects(root, entries, core))


def _suspects(root: str, entries: Sequence[Element], core: frozenset[str]) -> list[int]:
    """Places of the entries that the schema does not allow as they are."""
    writer = FormWriter(core, NOWHERE)
    suspects: list[int] = []
    unknown: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        form = writer.entry(entry)
        allowed = VERDICTS.get((root, form)) if entry.uri in core and len(form) <= MAX_FORM else False
        if allowed is None:
            unknown.setdefault(form, []).append(place)
        elif not allowed:
            suspects.append(place)
    for form in _failing(root, list(unknown)):
        suspects += unknown[form]
    return sorted(suspects)


def _failing(root: str, forms: list[str]) -> Iterator[str]:
    """The written entries that the schema does not allow."""
    while forms:
        size = count = 0
        while count < len(forms) and size < MAX_FORMS:
            size += len(forms[count])
            count += 1
        some, forms = forms[:count], forms[count:]
        errors = (ENTRY.match(error.path or "") for error in errors_of(root, some) if not is_named(error))
        numbers = {int(entry[1] or 1) - 1 for entry in errors if entry}
        for number, form in enumerate(some):
            _keep(root, form, number not in numbers)
        yield from (some[number] for number in numbers)


def _keep(root: str, form: str, allowed: bool) -> None:
    if len(VERDICTS) >= MAX_VERDICTS:
        VERDICTS.clear()
    if len(form) <= MAX_KEPT:
        VERDICTS[root, form] = allowed


def errors_of(root: str, entries: Iterable[str]) -> list[etree._LogEntry]:
    """What the validator says of written entries."""
    tree = document(root, entries)
    with VALIDATING:
        validator = schema(root)
        return [] if validator.validate(tree) else [*validator.error_log]  # type: ignore[misc, unused-ignore]  # the stub lacks it


def _explained(
    root: str, entries: Sequence[Element], core: frozenset[str], places: Iterable[int]
) -> Iterator[tuple[int, Violation]]:
    explaining = _Explaining(root, core)
    for place in places:
        explaining.add(place, entries[place])
        if explaining.size > MAX_LINES:
            yield from explaining.done()
    yield from explaining.done()


class _Explaining:
    """Collects the violations of suspect entries: those that repairs show, and those left after the repairs."""

    def __init__(self, root: str, core: frozenset[str]) -> None:
        self._root = root
        self._core = core
        self._repairs = EntryRepairs(root, core)
        self._plain = FormWriter(core | {""}, "")
        self._found: dict[int, list[Violation]] = {}
        self._begin()

    def _begin(self) -> None:
        self._lined = LinedFormWriter(self._core)
        self._written: list[str] = []
        self._starts: list[int] = []
        self._places: list[int] = []

    @property
    def size(self) -> int:
        """Elements that wait for the validator."""
        return len(self._lined.elements)

    def add(self, place: int, entry: Element) -> None:
        """Add the entry at a place."""
        repaired, found = self._repairs.repaired_entry(entry)
        self._found.setdefault(place, []).extend(found)
        if self._is_allowed(self._plain.entry(repaired)):
            return
        for piece in _pieces(repaired):
            self._starts.append(self.size)
            self._places.append(place)
            self._written.append(self._lined.entry(piece))
            if self.size > MAX_LINES:
                self._validate()

    def _is_allowed(self, form: str) -> bool:
        allowed = VERDICTS.get((self._root, form)) if len(form) <= MAX_FORM else False
        return not any(_failing(self._root, [form])) if allowed is None else allowed

    def done(self) -> Iterator[tuple[int, Violation]]:
        """The violations of what was added, each with the place of its entry."""
        self._validate()
        found, self._found = self._found, {}
        for place, said in found.items():
            for violation in sorted(said, key=attrgetter("line")):
                yield place, violation

    def _validate(self) -> None:
        for error in errors_of(self._root, self._written) if self._written else ():
            number = error.line - 2
            violation = violation_of(error, self._lined.elements[number])
            if violation is not None:
                self._found[self._places[bisect_right(self._starts, number) - 1]].append(violation)
        self._begin()


def _pieces(entry: Element) -> Iterator[Element]:
    """An entry in parts that are small enough, each with a `loc`; the first has the protocol's other elements."""
    loc, *others = entry.content
    for start in range(0, len(others) or 1, MAX_CHILDREN):
        piece = Element(CORE, entry.name, {}, entry.line)
        piece.content = [loc, *others[start : start + MAX_CHILDREN]]
        yield piece


STAND_INS = {
    "": {"loc": "https://example.com/", "lastmod": "2026-01-05", "changefreq": "daily", "priority": "0.5"},
    "news:": {"publication_date": "2026-01-05"},
}
"""Values that are right, by prefix and element, for those that may not be empty."""
JUDGED = frozenset(("license", "gallery_loc", "content_segment_loc"))
"""Elements whose value no rule of its own names. It is written as it is."""
JUDGED_ATTRIBUTES = frozenset(("info",))
"""The same of attributes."""
EMPTY = "xhtml:link"
"""The element that may hold nothing."""
UNKNOWN = "_"
"""Stands for a name that no schema has; that of an attribute also has its number."""
NOWHERE = "nowhere:"
"""Prefix of an element in no namespace, where the protocol's is."""
FOREIGN = f"<{EMPTY}/>"
"""Stands in an entry for elements of other namespaces, which are legal."""
TEXT = "text"
"""Stands for text where none may be."""
MAX_ATTRIBUTES = 100
"""Attributes of an element that are judged; no schema has more than 14."""
MAX_DEPTH = 4
"""Elements one in the other that a schema allows: `url`, `news`, `publication`, `name`."""
MAX_TAGS = 1000
"""Tags of one document that are kept as they are written."""
BLANKS = " \t\r\n"
DECLARATIONS = "".join(f' xmlns:{namespace.prefix}="{uri}"' for uri, namespace in NAMESPACES.items())
ROOT = f'<%s xmlns="{CORE}"{DECLARATIONS} xmlns:{NOWHERE[:-1]}="urn:nowhere">'
SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": " ", "\r": " ", "\t": " "})
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
PARSER = etree.XMLParser(no_network=True, resolve_entities=False, huge_tree=True)


class WrittenForm(NamedTuple):
    """How the elements of one name are written."""

    tag: str
    """With prefix; empty for elements that no schema speaks of, which are left out."""
    leaf: str = ""
    """The whole element where it has text only and no attributes; empty where that text matters."""
    value: str = ""
    """What stands for its text."""


class FormWriter:
    """Writes the entries of one document. `core` holds the namespaces that it uses for the protocol."""

    def __init__(self, core: frozenset[str], stray: str) -> None:
        """`stray`: prefix for elements in no namespace, where `core` does not have it."""
        self._prefixes: dict[str, str] = {"": stray, **dict.fromkeys(core, "")}
        self._forms: dict[tuple[str, str], WrittenForm] = {}
        self._starts: dict[tuple[str, ...], str] = {}

    def entry(self, entry: Element) -> str:
        """An entry. Of elements written alike that follow each other the first stands for all."""
        tag = self._form(entry).tag
        parts, last = [f"<{tag}>"], ""
        for part in entry.content:
            if isinstance(part, str):
                if part.strip(BLANKS):
                    parts.append(TEXT)
            else:
                written = self.written(part) or FOREIGN
                if written != last:
                    parts.append(written)
                    last = written
        parts.append(f"</{tag}>")
        return "".join(parts)

    def written(self, element: Element, depth: int = 1) -> str:
        """An element with what it holds, if a schema speaks of it."""
        form = self._forms.get((element.uri, element.name)) or self._form(element)
        content, attributes = element.content, element.attributes
        if not form.tag:
            return ""
        if form.leaf and not attributes and (not content or (len(content) == 1 and isinstance(content[0], str))):
            return form.leaf
        start = self._start(element, form.tag) if attributes else f"<{form.tag}>"
        return f"{start}{self._inside(element, form, depth)}</{form.tag}>"

    def _inside(self, element: Element, form: WrittenForm, depth: int) -> str:
        parts: list[str] = []
        holds = element.name in HOLDERS
        for part in element.content:
            if isinstance(part, str):
                if (holds or not form.leaf) and part.strip(BLANKS):
                    parts.append(part.translate(SPECIAL) if element.name in JUDGED else TEXT)
            elif not holds:
                parts.append(f"<{UNKNOWN}/>")
                break
            elif depth < MAX_DEPTH:
                parts.append(self.written(part, depth + 1))
        if element.name == UNCOUNTED and _repeats(element):
            parts.append(f"<{UNKNOWN}/>")
        return "".join(parts) or form.value

    def _form(self, element: Element) -> WrittenForm:
        form = self._new_form(element.uri, element.name)
        if len(self._forms) < MAX_TAGS:
            self._forms[element.uri, element.name] = form
        return form

    def _new_form(self, uri: str, name: str) -> WrittenForm:
        prefix = self._prefixes.get(uri)
        if prefix is None:
            namespace = find(uri)
            if namespace is None:
                return WrittenForm("")
            prefix = f"{namespace.prefix}:"
        tag = prefix + (name if name in NAMES else UNKNOWN)
        if name in JUDGED or tag == EMPTY:
            return WrittenForm(tag)
        value = STAND_INS.get(prefix, {}).get(name, "")
        return WrittenForm(tag, f"<{tag}>{value}</{tag}>", value)

    def _start(self, element: Element, tag: str) -> str:
        key = (tag, *element.attributes)
        start = self._starts.get(key)
        if start is None:
            start = f"<{tag}{''.join(_attributes(element))}>"
            if len(self._starts) < MAX_TAGS and len(key) < MAX_ATTRIBUTES and JUDGED_ATTRIBUTES.isdisjoint(key):
                self._starts[key] = start
        return start


class LinedFormWriter(FormWriter):
    """Writes each element on a line of its own. `elements` has them in order."""

    def __init__(self, core: frozenset[str]) -> None:
        super().__init__(core | {""}, "")
        self.elements: list[Element] = []

    def entry(self, entry: Element) -> str:
        """An entry, every element of it."""
        return self.written(entry, 0)

    def written(self, element: Element, depth: int = 1) -> str:
        """An element on the next line."""
        self.elements.append(element)
        return "\n" + super().written(element, depth)


def _repeats(element: Element) -> bool:
    names = [part.name for part in element.children if part.name not in REPEATABLE]
    return len(names) > len(set(names))


def _attributes(element: Element) -> Iterator[str]:
    for number, (name, value) in enumerate(islice(element.attributes.items(), MAX_ATTRIBUTES)):
        if not name.startswith("{"):
            known = name if name in ATTRIBUTES else f"{UNKNOWN}{number}"
            yield f' {known}="{value.translate(SPECIAL) if name in JUDGED_ATTRIBUTES else ""}"'


def named(element: Element, attribute: str) -> str:
    """The true name of an attribute of an element, from the one it was written with."""
    return list(element.attributes)[int(attribute[1:])] if attribute.startswith(UNKNOWN) else attribute


def document(root: str, entries: Iterable[str]) -> etree._Element:
    """The document of entries that were written."""
    text = "".join([ROOT % root, *entries, f"</{root}>"])
    return etree.fromstring(ILLEGAL.sub("?", text).encode(), PARSER)


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
