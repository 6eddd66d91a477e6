"""The parts of images, videos, articles: which belong there, which do not, which are missing."""

from __future__ import annotations

from sitemapcrawler.element import Element
from sitemapcrawler.namespaces import find
from sitemapcrawler.schemas.loose_text import text_in
from sitemapcrawler.schemas.terms import LOCATIONS, REPEATABLE, REQUIRED, UNNAMED_LACK, tag, terms
from sitemapcrawler.schemas.violation import DUPLICATE, SCHEMA, UNKNOWN, Violation

MAX_REPEATED = 100
"""Parts of one name and element that are looked at: a rule allows 32 tags, and names more."""


class Parts:
    """Mends the parts of one entry's elements, and gathers what was wrong with them.

    Where a part is missing, a rule of its own says so. What stands there instead is no second fault, nor is the part
    where it stands in a wrong place.
    """

    def __init__(self, core: frozenset[str]) -> None:
        self.found: list[Violation] = []
        """What was not as it should be."""
        self._core = core
        self._strays: list[tuple[str, Violation]] = []
        self._missing: set[tuple[str, str]] = set()

    @property
    def violations(self) -> list[Violation]:
        """What was not as it should be, when all parts have been mended."""
        strays = (stray for uri, stray in self._strays if (uri, stray.value) not in self._missing)
        return [*self.found, *strays]

    def stray(self, uri: str, violation: Violation) -> None:
        """Add a part of a namespace that stands in a wrong place; `violation.value` is its name."""
        self._strays.append((uri, violation))

    def mended(self, holder: Element, uri: str) -> Element:
        """An element of the namespace `uri` with the parts that it may hold."""
        names = terms(uri).holders.get(holder.name)
        if names is None:
            return holder
        parts, strangers = self._sorted(holder, uri, names)
        missing = lacking(holder.name, [part for same in parts.values() for part in same])
        self._missing.update((uri, name) for name in missing)
        self._strays += [(uri, stranger) for stranger in strangers[len(missing) :]]
        text = None if missing else text_in(holder, uri)
        self.found += [text] if text else []
        mended = Element(uri, holder.name, holder.attributes, holder.line)
        for name, same in parts.items():
            if name not in missing:
                kept = same[: MAX_REPEATED if name in REPEATABLE else 1]
                mended.content += [self.mended(part, uri) for part in kept]
        return mended

    def _sorted(
        self, holder: Element, uri: str, names: tuple[str, ...]
    ) -> tuple[dict[str, list[Element]], list[Violation]]:
        """The parts that belong here by their names, and violations for those that do not."""
        parts: dict[str, list[Element]] = {}
        strangers: list[Violation] = []
        for part in holder.children:
            namespace = find(part.uri)
            if part.uri == holder.uri or (namespace is not None and namespace.uri == uri):
                if part.name in names:
                    parts.setdefault(part.name, []).append(part)
                elif holder.uri == uri:
                    message = f"{tag(uri, part.name)} is no part of {tag(uri, holder.name)}"
                    strangers.append(Violation(UNKNOWN, message, part.line, part.name))
            elif namespace is not None or part.uri in self._core or not part.uri:
                strangers.append(_of_another(part, holder, uri, names))
        for name, same in parts.items():
            if len(same) > 1 and name not in REPEATABLE:
                message = f"{tag(uri, name)} stands {len(same)} times in one {tag(uri, holder.name)}"
                self.found.append(Violation(DUPLICATE, message, same[1].line, same[1].text))
        return parts, strangers


def lacking(holder: str, parts: list[Element]) -> list[str]:
    """Names of the parts that an element must hold and does not; an empty one is none to the rules that name them."""
    names = {part.name for part in parts if part.text or part.has_children or holder == UNNAMED_LACK}
    missing = [name for name in REQUIRED.get(holder, ()) if name not in names]
    if holder == "video" and names.isdisjoint(LOCATIONS):
        missing.append(LOCATIONS[0])
    return missing


def _of_another(part: Element, holder: Element, uri: str, names: tuple[str, ...]) -> Violation:
    meant = f": {tag(uri, part.name)} is meant" if part.name in names else ""
    message = f"{tag(part.uri, part.name)} has no place in {tag(uri, holder.name)}{meant}"
    return Violation(SCHEMA, message, part.line, part.name)
