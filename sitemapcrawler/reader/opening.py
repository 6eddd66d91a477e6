"""The root of a document, with which each of its strict parsers begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sitemapcrawler.element import Element
from sitemapcrawler.reader.entries import CORE
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.malformed import Malformed
from sitemapcrawler.reader.pieces import NAMES
from sitemapcrawler.reader.recover import readable_root
from sitemapcrawler.reader.scope import Scope
from sitemapcrawler.reader.sniff import Head
from sitemapcrawler.reader.strict import StrictParser

MAX_TAG = 8 * 1024
"""Characters of the root's start tag; real ones stay below 2,000. Each broken entry is read under it again."""
CONTAINERS = ("channel",)
"""Elements between the root and its entries."""


class Opening:
    """Begins strict parsers, all under the same root. `scope` outlives them and their root."""

    def __init__(self, head: Head, build: Callable[[Element], None], max_depth: int, scope: Scope) -> None:
        self._head = head
        self._build = build
        self._max_depth = max_depth
        self._scope = scope
        self.tag = f"<{head.tag}{head.attributes}>"
        """The root's start tag."""

    def first(self, faults: Faults, line: int) -> StrictParser:
        """The first parser. A start tag that is not well formed is noted, and replaced by one that is."""
        head = self._head
        try:
            if len(self.tag) > MAX_TAG:
                faults.add("limit-element", f"the start tag of the root has more than {MAX_TAG} characters", line)
                raise Malformed("too long", "limit-element", 0)
            return self.parser()
        except Malformed as fault:
            if fault.rule != "limit-element":
                faults.add(fault.rule, f"the start tag of the root is not well formed: {fault}", line)
        self.tag = readable_root(head.tag[:MAX_TAG], head.attributes[:MAX_TAG], head.prefix, CORE)
        try:
            return self.parser()
        except Malformed:  # a declaration that XML reserves, or a name that is none
            self.tag = readable_root(head.name, "", "", CORE)
            return self.parser()

    def parser(self, inside: Sequence[str] = ()) -> StrictParser:
        """A parser under the root and the elements `inside` it, given by their start tags."""
        names = NAMES[self._head.name]
        return StrictParser(self.tag, self._build, CONTAINERS, self._max_depth, self._scope, names, inside)
