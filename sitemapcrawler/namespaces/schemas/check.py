"""Schema validation of entries in batches, which reports every violation with its line.

Entries are serialised in a form that most entries of a file share, so one verdict serves them all. Entries that fail
are repaired and validated again, since a validator stops at the first unexpected part of an element. Its errors are
rewritten as readable messages.
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

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.schemas import CHECKED, schema
from sitemapcrawler.namespaces.schemas.repairs import (
    ATTRIBUTE,
    ATTRIBUTES,
    HOLDERS,
    MISSING,
    NAMES,
    REPEATABLE,
    REQUIRED,
    REQUIRED_ATTRIBUTES,
    SCHEMA,
    TYPED_ATTRIBUTES,
    UNCOUNTED,
    UNNAMED_LACK,
    EntryRepairs,
    Violation,
    find_own,
    tag,
    terms,
)
from sitemapcrawler.urls.display import quoted

MAX_FORM = 20_000
"""Maximum size of a serialised entry to validate unchanged, in characters; 100 different elements need less."""
MAX_FORMS = 1_000_000
"""Characters to validate at once."""
MAX_LINES = 5_000
"""Elements to validate at once if each has its own line. The validator counts up to 65,535 lines."""
MAX_CHILDREN = 50
"""Children of an entry to write at once in that case. They stay below 30,000 lines, whatever they contain."""
MAX_VERDICTS, MAX_KEPT = 1_000, 2_000
"""Verdicts to cache, and the maximum size of their forms in characters."""
ENTRY = re.compile(r"/\*/\*(?:\[([0-9]+)\])?")
"""Start of an error's path, with the number of the entry if there are several."""
VALIDATING = Lock()
"""A schema has a single error list, and several threads may read files."""
VERDICTS: dict[tuple[str, str], bool] = {}
"""{(root, serialised entry): whether the schema allows it}."""


def core_namespaces(root: str | None, entry: str) -> frozenset[str]:
    """Namespaces that a document uses for the protocol: those of its root and of an entry.

    A wrong namespace of the root counts as the right one here, since other rules report it once.
    """
    return frozenset((CORE,)) if root == CORE else frozenset((CORE, root or "", entry, ""))


def violations(root: str, entries: Sequence[Element], core: frozenset[str]) -> Iterator[tuple[int, Violation]]:
    """Yield violations of the schema for `root`, each with the index of its entry.

    Excludes what other rules report: values, missing parts, and the reader's faults.
    """
    return _explained(root, entries, core, _suspects(root, entries, core))


def _suspects(root: str, entries: Sequence[Element], core: frozenset[str]) -> list[int]:
    """Indexes of the entries that the schema does not allow unchanged."""
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
    """Yield the serialised entries that the schema does not allow."""
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
    """Validate serialised entries and return the errors."""
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
    """Collects the violations of suspect entries, both from repairs and from validation afterwards."""

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
        """Number of elements waiting for validation."""
        return len(self._lined.elements)

    def add(self, place: int, entry: Element) -> None:
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
        """Yield the violations of all added entries, each with the index of its entry."""
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
    """Split an entry into parts of limited size, each with a `loc`. The first has the protocol's other elements."""
    loc, *others = entry.content
    for start in range(0, len(others) or 1, MAX_CHILDREN):
        piece = Element(CORE, entry.name, {}, entry.line)
        piece.content = [loc, *others[start : start + MAX_CHILDREN]]
        yield piece


STAND_INS = {
    "": {"loc": "https://example.com/", "lastmod": "2026-01-05", "changefreq": "daily", "priority": "0.5"},
    "news:": {"publication_date": "2026-01-05"},
}
"""Valid values for elements that must not be empty, by prefix and name."""
JUDGED = frozenset(("license", "gallery_loc", "content_segment_loc"))
"""URLs that no rule checks but the schema. Their text is kept, and so is that of all elements with a typed value."""
JUDGED_ATTRIBUTES = frozenset(("info",)) | TYPED_ATTRIBUTES
"""Attributes whose value only the schema checks."""
EMPTY = "xhtml:link"
"""The element that must be empty."""
UNKNOWN = "_"
"""Placeholder for names unknown to all schemas; for attributes, followed by a number."""
NOWHERE = "nowhere:"
"""Prefix of elements in no namespace, if the protocol's elements have one."""
FOREIGN = f"<{EMPTY}/>"
"""Placeholder for elements of other namespaces, which are allowed."""
TEXT = "text"
"""Placeholder for text that is not allowed."""
MAX_ATTRIBUTES = 100
"""Attributes of an element to check; no schema allows more than 14."""
MAX_DEPTH = 4
"""Maximum nesting in the schemas: `url`, `news`, `publication`, `name`."""
MAX_TAGS = 1000
"""Distinct tags of a document to cache."""
BLANKS = " \t\r\n"
DECLARATIONS = "".join(f' xmlns:{namespace.prefix}="{namespace.uri}"' for namespace in CHECKED)
ROOT = f'<%s xmlns="{CORE}"{DECLARATIONS} xmlns:{NOWHERE[:-1]}="urn:nowhere">'
SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": " ", "\r": " ", "\t": " "})
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
PARSER = etree.XMLParser(no_network=True, resolve_entities=False, huge_tree=True)


class WrittenForm(NamedTuple):
    """Serialised form of the elements of one name."""

    tag: str
    """Name with prefix; empty for elements without a schema, which are left out."""
    leaf: str = ""
    """The whole element if it has text only and no attributes; empty if that text matters."""
    value: str = ""
    """Placeholder for its text."""
    judged: bool = False
    """True if its text matters."""


class FormWriter:
    """Serialises the entries of one document. `core`: the namespaces it uses for the protocol."""

    def __init__(self, core: frozenset[str], stray: str) -> None:
        """`stray`: prefix for elements in no namespace, unless `core` includes that."""
        self._prefixes: dict[str, str] = {"": stray, **dict.fromkeys(core, "")}
        self._forms: dict[tuple[str, str], WrittenForm] = {}
        self._starts: dict[tuple[str, ...], str] = {}

    def entry(self, entry: Element) -> str:
        """Serialise an entry. Of consecutive elements with the same form, only the first is kept."""
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
        """Serialise an element with its content; empty if no schema covers it."""
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
                    parts.append(part.translate(SPECIAL) if form.judged else TEXT)
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
        prefix, namespace = self._prefixes.get(uri), None
        if prefix is None:
            namespace = find_own(uri)
            if namespace is None:
                return WrittenForm("")
            prefix = f"{namespace.prefix}:"
        tag = prefix + (name if name in NAMES else UNKNOWN)
        value = STAND_INS.get(prefix, {}).get(name, "")
        judged = name in JUDGED or (not value and namespace is not None and name in terms(namespace.uri).typed)
        if judged or tag == EMPTY:
            return WrittenForm(tag, judged=judged)
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
    """Serialises each element on its own line. `elements` has them in order."""

    def __init__(self, core: frozenset[str]) -> None:
        super().__init__(core | {""}, "")
        self.elements: list[Element] = []

    def entry(self, entry: Element) -> str:
        return self.written(entry, 0)

    def written(self, element: Element, depth: int = 1) -> str:
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
    """Original name of an attribute, from its serialised name."""
    return list(element.attributes)[int(attribute[1:])] if attribute.startswith(UNKNOWN) else attribute


def document(root: str, entries: Iterable[str]) -> etree._Element:
    """Make a document of serialised entries."""
    text = "".join([ROOT % root, *entries, f"</{root}>"])
    return etree.fromstring(ILLEGAL.sub("?", text).encode(), PARSER)


ELEMENT = re.compile(r"Element '(?:\{([^}]*)\})?([^']*)'(?:, attribute '([^']*)')?")
"""Start of each error message: namespace and name of the element, and the attribute if there is one."""
NAMESPACE = re.compile(r"\{[^{}]*\}")
MAX_MESSAGE = 2000
"""Characters of a libxml2 message to read, since namespaces in it may have any length."""


def is_named(error: etree._LogEntry) -> bool:
    """True for an error that another rule reports."""
    element = ELEMENT.match(error.message)
    if element is None or element[3] is not None:
        return False
    return "Missing child" in error.message and element[2] != UNNAMED_LACK


def is_value(error: etree._LogEntry) -> bool:
    """True for an error about a value."""
    return "_VALID" in error.type_name


def violation_of(error: etree._LogEntry, element: Element) -> Violation | None:
    """Convert a validation error to a violation; None if another rule reports it."""
    if is_named(error):
        return None
    about = ELEMENT.match(error.message)
    if about is not None and about[3] is not None:
        return _of_attribute(error, element, named(element, about[3]))
    name = tag(element.uri, element.name)
    if is_value(error):
        if element.has_children:
            return None  # the child elements are reported instead
        text = element.text
        return Violation(SCHEMA, f"{quoted(text)} in {name} is no value that the schema allows", element.line, text)
    if "Missing child" in error.message:
        lacks = [part for part in REQUIRED[UNNAMED_LACK] if all(child.name != part for child in element.children)]
        return Violation(MISSING, f"{name} lacks {' and '.join(lacks)}", element.line)
    inner = next(element.children, None)
    if inner is not None:
        message = f"{name} holds {tag(inner.uri, inner.name)}, but may hold no elements"
        return Violation(SCHEMA, message, inner.line, inner.name)
    if element.text:
        return Violation(SCHEMA, f"{name} holds {quoted(element.text)}, but must be empty", element.line, element.text)
    return Violation(SCHEMA, NAMESPACE.sub("", error.message[:MAX_MESSAGE]), element.line)


def _of_attribute(error: etree._LogEntry, element: Element, name: str) -> Violation | None:
    """Convert an error on an unknown attribute or its value. None if the reader or another rule reports it."""
    namespace = find_own(element.uri)
    if is_value(error):
        value = element.attributes.get(name, "")
        message = f"{quoted(value)} as {name} of {tag(element.uri, element.name)} is no value that the schema allows"
        return Violation(SCHEMA, message, element.line, value)
    if namespace is None or namespace.uri != element.uri:
        return None
    if any(needed not in element.attributes for needed in REQUIRED_ATTRIBUTES.get(element.name, ())):
        return None
    message = f"{tag(element.uri, element.name)} has an attribute {name}, which its namespace does not know"
    return Violation(ATTRIBUTE, message, element.line, name)
