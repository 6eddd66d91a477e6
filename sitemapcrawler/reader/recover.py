"""Recovery, entry by entry: what strict parsing could not read is split at its entries, each repaired and read alone.

An entry counts as recovered where its text was changed or a part of it is missing. One whose URL is not whole beyond
doubt is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from sitemapcrawler.element import Element
from sitemapcrawler.namespaces import PREFIXES
from sitemapcrawler.reader.malformed import Malformed
from sitemapcrawler.reader.repair import FAULT, flatten, repair
from sitemapcrawler.reader.scope import Scope
from sitemapcrawler.reader.strict import StrictParser

PREFIX = re.compile(r"<([A-Za-z_][\w.-]*):|\s([A-Za-z_][\w.-]*):[\w.-]+\s*=")
"""A namespace prefix in the name of an element or an attribute."""
DECLARED = re.compile(r"\sxmlns:([A-Za-z_][\w.-]*)\s*=")
DECLARATION = re.compile(r"""(\sxmlns(?::([A-Za-z_][\w.-]*))?\s*=\s*(?:"[^"<&]+"|'[^'<&]+'))""")
BUILT_IN = frozenset(("xml", "xmlns"))


@dataclass(frozen=True, slots=True)
class Recovered:
    """One entry found in broken text."""

    element: Element
    """The entry; of a damaged one the children that are whole."""
    changed: bool
    """True where it was repaired or lost a part."""
    whole: bool = True
    """False where its end is missing, and perhaps more."""


class Recovery:
    """Finds the entries in broken pieces of one document.

    `root` is the root's start tag, `names` the elements that are entries, `doctype` says that entities were declared.
    """

    def __init__(self, root: str, prefix: str, names: tuple[str, ...], doctype: bool, max_depth: int) -> None:
        # The root of what stands behind an empty one is open, as that of what stands behind an end tag.
        self._root = f"{root[:-2]}>" if root.endswith("/>") else root
        self._doctype = doctype
        self._max_depth = max_depth
        self._scope = Scope()
        self.unclosed = ""
        """What ends the section in which the text read last stops (a comment, say); empty: none."""
        self.unclosed_line = 0
        """Line on which that section begins."""
        self.inside: list[str] = []
        """Start tags of the elements around the text, between the root and the entries, that declare namespaces."""
        self._declared = BUILT_IN.union(DECLARED.findall(root))
        prefixed = f"(?:{re.escape(prefix)}:)?" if prefix else ""
        self._start = re.compile(rf"<{prefixed}(?:{'|'.join(names)})(?=[\s/>])")

    def read(self, text: str, line: int, broken: Element | None = None) -> Iterator[Recovered | None]:
        """The entries in `text`, which begins on `line`; None for each that cannot be trusted.

        `broken`: the open entry in which parsing `text` ended; it stands where nothing can be repaired.
        """
        text, self.unclosed = flatten(text)
        self.unclosed_line = line + text.count("\n")
        starts = [start.start() for start in self._start.finditer(text)]
        if broken is not None and len(starts) == 1 and not FAULT.search(text) and not self._undeclared(text):
            yield Recovered(broken, True, False)
            return
        counted = 0
        for start, end in pairwise([*starts, len(text)]):
            line += text.count("\n", counted, start)
            counted = start
            yield self._entry(text[start:end], line)

    def first_start(self, text: str) -> int:
        """Where the first entry of `text` begins; 0 where none does."""
        start = self._start.search(text)
        return start.start() if start else 0

    def _entry(self, text: str, line: int) -> Recovered | None:
        whole: list[Element] = []
        repaired = repair(text, self._doctype)
        missing = self._undeclared(repaired)
        try:
            parser = self._parser(self._context(missing), whole)
        except Malformed:  # one of the prefixes is no name
            parser = self._parser(self._root, whole)
        with suppress(Malformed):
            parser.feed(repaired, line)
        element = whole[0] if whole else parser.salvage()
        parser.close()
        if element is None:
            return None
        return Recovered(element, repaired != text or bool(missing) or not whole, bool(whole))

    def _parser(self, root: str, entries: list[Element]) -> StrictParser:
        return StrictParser(root, entries.append, max_depth=self._max_depth, scope=self._scope, inside=self.inside)

    def _undeclared(self, text: str) -> set[str]:
        if ":" not in text:
            return set()
        used = {element or attribute for element, attribute in PREFIX.findall(text)} - self._declared
        return used.difference(DECLARED.findall(text), *map(DECLARED.findall, self.inside)) if used else used

    def _context(self, prefixes: set[str]) -> str:
        if not prefixes:
            return self._root
        declarations = "".join(f' xmlns:{prefix}="{namespace_of(prefix)}"' for prefix in sorted(prefixes))
        return f"{self._root[:-1]}{declarations}>"


def namespace_of(prefix: str) -> str:
    """The namespace that a prefix without declaration must mean, or a name of its own for an unknown one."""
    return PREFIXES.get(prefix, f"urn:undeclared:{prefix}")


def readable_root(tag: str, attributes: str, prefix: str, core: str) -> str:
    """A start tag for a root whose own is not well formed: its namespace declarations, and those it lacks."""
    declarations = {prefix: text for text, prefix in DECLARATION.findall(attributes)}
    declarations.setdefault(prefix, f' xmlns{":" if prefix else ""}{prefix}="{core}"')
    usable = {name: text for name, text in declarations.items() if name not in BUILT_IN}
    return f"<{tag}{''.join(usable.values())}>"
