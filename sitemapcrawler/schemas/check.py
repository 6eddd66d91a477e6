"""Checking entries against the schemas: every violation with its line, a batch at a time.

Entries are written for the validator in a form that most entries of a file share, so one verdict serves them all. Those
that do not pass are mended first, since a validator says nothing more about the content of an element after the first
part that it did not expect.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from threading import Lock

from lxml import etree

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.schemas import CORE, schema
from sitemapcrawler.schemas.mending import Mender
from sitemapcrawler.schemas.terms import Violation
from sitemapcrawler.schemas.writing import NOWHERE, LinedWriter, Writer, document, is_named, violation_of

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
"""A schema has one list of errors, and files may be read in several threads."""
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
    writer = Writer(core, NOWHERE)
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
    """Gathers the violations of suspect entries: those found by mending them, and those of what was mended."""

    def __init__(self, root: str, core: frozenset[str]) -> None:
        self._root = root
        self._core = core
        self._mender = Mender(root, core)
        self._plain = Writer(core | {""}, "")
        self._found: dict[int, list[Violation]] = {}
        self._begin()

    def _begin(self) -> None:
        self._lined = LinedWriter(self._core)
        self._written: list[str] = []
        self._starts: list[int] = []
        self._places: list[int] = []

    @property
    def size(self) -> int:
        """Elements that wait for the validator."""
        return len(self._lined.elements)

    def add(self, place: int, entry: Element) -> None:
        """Add the entry at a place."""
        mended, found = self._mender.mend(entry)
        self._found.setdefault(place, []).extend(found)
        if self._is_allowed(self._plain.entry(mended)):
            return
        for piece in _pieces(mended):
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
