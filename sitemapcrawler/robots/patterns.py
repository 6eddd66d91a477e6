"""One Allow or Disallow line as what it matches: RFC 9309, 2.2.2 and 2.2.3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sitemapcrawler.robots.paths import pattern_of, query_of

MAX_READINGS = 4
"""Ways in which one pattern with an escaped delimiter behind a `*` is read; more stars than that are nobody's rule."""
INDEX_PAGE = "/index.html"
_STARS = re.compile(r"\*+")
_DELIMITER = re.compile("%(?:2F|3F)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """An Allow or Disallow line."""

    allow: bool
    pattern: str
    """The path pattern as written, blanks around it removed; never empty, since an empty one says nothing."""
    line: int
    """Line of robots.txt, counted from 1."""
    text: str
    """The line as written, without its comment."""

    @property
    def matchable(self) -> bool:
        """False for a pattern that begins neither with `/` nor with `*`: no path begins so."""
        return self.pattern.startswith(("/", "*"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a path is compared with."""

    parts: tuple[str, ...]
    """The texts between the `*`, first to last, in compared form. Without a `*` there is one."""
    anchored: bool
    """True where the path must end with the last part."""

    def matches(self, path: str) -> bool:
        """True for a path in compared form that it matches. Time is linear in the path, for each part."""
        first, *rest = self.parts
        if not rest:
            return path == first if self.anchored else path.startswith(first)
        if not path.startswith(first):
            return False
        position = len(first)
        last = rest.pop() if self.anchored else ""
        # The first place of each part leaves most room for the next ones, so there is no way back to try.
        for part in rest:
            found = path.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        return len(path) - len(last) >= position and path.endswith(last)

    @property
    def everything(self) -> bool:
        """True where every path matches."""
        first, *rest = self.parts
        return first in {"", "/"} and not any(rest) and (bool(rest) or not self.anchored)


@dataclass(frozen=True, slots=True)
class Clause:
    """A pattern with its weight among those of a group."""

    weight: int
    """The greater one decides: twice the octets of the pattern, and one more for Allow, which so wins ties."""
    pattern: Pattern
    rule: Rule

    @property
    def allow(self) -> bool:
        """What it decides."""
        return self.rule.allow


def clauses(rule: Rule) -> Iterator[Clause]:
    """What a line says: one clause as a rule, more for the odd ones, none where it matches nothing.

    Octets are counted in the compared form, `*` and `$` included, as google/robotstxt counts them: `/fish*` weighs more
    than `/fish`.
    """
    if not rule.matchable:
        return
    anchored = rule.pattern.endswith("$")
    written = rule.pattern[:-1] if anchored else rule.pattern
    compared = pattern_of(written)
    weight = _weight(rule, len(compared) + anchored)
    yield Clause(weight, _pattern(compared, anchored), rule)
    for reading in _queries(written):
        yield Clause(weight, _pattern(reading, anchored), rule)
    if rule.allow and not anchored and compared.endswith(INDEX_PAGE):
        # Not in the RFC; google/robotstxt and protego agree on it: who allows the index page allows its folder.
        folder = compared.removesuffix("index.html")
        yield Clause(_weight(rule, len(folder) + 1), _pattern(folder, True), rule)


def _weight(rule: Rule, octets: int) -> int:
    return 2 * octets + rule.allow


def _pattern(compared: str, anchored: bool) -> Pattern:
    return Pattern(tuple(_STARS.split(compared)), anchored)


def _queries(written: str) -> Iterator[str]:
    """The other readings of a pattern in which `%2F` or `%3F` stands behind a `*`: the `*` that takes the `?`."""
    path, mark, query = written.partition("?")
    stars = [star.end() for star in _STARS.finditer(path)][:MAX_READINGS]
    for end in stars:
        if _DELIMITER.search(path, end):
            yield f"{pattern_of(path[:end])}?*{query_of(path[end:] + mark + query)}"
