"""One Allow or Disallow line as what it matches: RFC 9309, 2.2.2 and 2.2.3."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

ROBOTS_PATH = "/robots.txt"
UNRESERVED = string.ascii_letters + string.digits + "-._~"
RESERVED = ":@!&'()+,;=[]"
"""Those of RFC 3986, 2.2 that mean the same in a path and in a query; `#` is never part of either."""
DELIMITERS = "/?"
_EQUAL = UNRESERVED + RESERVED
_PLAIN = re.escape(_EQUAL + DELIMITERS)
_PIECE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_PLAIN}%]+")
_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
_PLAIN_PATH = re.compile(rf"/[{_PLAIN}]*")
_FOREIGN = "".join(f"%{code:02X}|" for code in range(0x80) if chr(code) not in _EQUAL + DELIMITERS)
PLAIN_URL = rf"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\n]*/(?:[{_PLAIN}]|{_FOREIGN}%[89A-F][0-9A-F])*"
"""Regular expression (`re` and RE2) of a URL whose path has its compared form already."""


def path_of(url: str) -> str:
    """Path and query of a URL in the form to compare: ASCII, begins with `/`."""
    rest = url.partition("#")[0]
    place = _PLACE.match(rest)
    path = rest[place.end() :] if place else rest
    if not path.startswith("/"):
        path = f"/{path}"
    return path if _PLAIN_PATH.fullmatch(path) else _compared(_with_slashes(path), "")


def _with_slashes(path: str) -> str:
    """A path with the slashes that browsers and Scrapy make of backslashes; a query keeps them."""
    path, mark, query = path.partition("?")
    return path.replace("\\", "/") + mark + query


def is_robots(path: str) -> bool:
    """True for the path of robots.txt itself, which is always allowed (RFC 9309, 2.2.2)."""
    return path.partition("?")[0] == ROBOTS_PATH


def pattern_of(text: str) -> str:
    """A path pattern, without `$` at its end, in the form to compare: `*` stays, another `$` is escaped.

    Whether an escape behind a `*` stands in a path or in a query depends on what the `*` takes; it is read as one of a
    path. `query_of` reads it the other way.
    """
    return text if _PLAIN_PATH.fullmatch(text) else _compared(text, "*")


def query_of(text: str) -> str:
    """A part of a query, or of a pattern for one, in the form to compare; `*` stays."""
    return _encoded(text, _EQUAL + DELIMITERS, "*")


def _compared(text: str, special: str) -> str:
    path, mark, query = text.partition("?")
    return _encoded(path, _EQUAL, special) + mark + _encoded(query, _EQUAL + DELIMITERS, special)


def _encoded(text: str, equal: str, special: str) -> str:
    return _PIECE.sub(partial(_piece, equal=equal, special=special), text)


def _piece(found: re.Match[str], equal: str, special: str) -> str:
    piece = found[0]
    if piece.startswith("%"):
        character = chr(int(piece[1:], 16))
        return character if character in equal else piece.upper()
    return "".join(chr(octet) if chr(octet) in special else f"%{octet:02X}" for octet in _octets(piece))


def _octets(text: str) -> bytes:
    """UTF-8, with the bytes that were none in a file as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


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
