"""Allow and Disallow lines as patterns, and the decision of all rules of a group: RFC 9309, 2.2.2 and 2.2.3.

Results are exact for any number of rules. RE2 is used if installed, for speed only.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from types import ModuleType

from sitemapcrawler.urls.expressions import re2

ROBOTS_PATH = "/robots.txt"
UNRESERVED = string.ascii_letters + string.digits + "-._~"
RESERVED = ":@!&'()+,;=[]"
"""Reserved characters of RFC 3986, 2.2 that mean the same in path and query. `#` occurs in neither."""
DELIMITERS = "/?"
_EQUAL = UNRESERVED + RESERVED
_PLAIN = re.escape(_EQUAL + DELIMITERS)
_PIECE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_PLAIN}%]+")
_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
_PLAIN_PATH = re.compile(rf"/[{_PLAIN}]*")
_FOREIGN = "".join(f"%{code:02X}|" for code in range(0x80) if chr(code) not in _EQUAL + DELIMITERS)
PLAIN_URL = rf"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\n]*/(?:[{_PLAIN}]|{_FOREIGN}%[89A-F][0-9A-F])*"
"""Regular expression (`re` and RE2) for a URL whose path is already in compared form."""


def path_of(url: str) -> str:
    """Path and query of a URL in compared form: ASCII, starting with `/`."""
    rest = url.partition("#")[0]
    place = _PLACE.match(rest)
    path = rest[place.end() :] if place else rest
    if not path.startswith("/"):
        path = f"/{path}"
    return path if _PLAIN_PATH.fullmatch(path) else _compared(_with_slashes(path), "")


def _with_slashes(path: str) -> str:
    """Replace backslashes in a path by slashes, as browsers and Scrapy do. The query keeps them."""
    path, mark, query = path.partition("?")
    return path.replace("\\", "/") + mark + query


def is_robots(path: str) -> bool:
    """True for the path of robots.txt itself, which is always allowed (RFC 9309, 2.2.2)."""
    return path.partition("?")[0] == ROBOTS_PATH


def pattern_of(text: str) -> str:
    """Convert a path pattern without final `$` to compared form: `*` stays, another `$` is escaped.

    An escape after a `*` may be in a path or in a query, depending on what the `*` matches. This reads it as part of a
    path, `query_of` as part of a query.
    """
    return text if _PLAIN_PATH.fullmatch(text) else _compared(text, "*")


def query_of(text: str) -> str:
    """Convert a part of a query, or of a pattern for one, to compared form; `*` stays."""
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
    return "".join(
        chr(octet) if chr(octet) in special else f"%{octet:02X}" for octet in piece.encode("utf-8", "replace")
    )


MAX_READINGS = 4
"""Alternative readings of a pattern with an escaped delimiter after a `*`. Real rules have fewer stars."""
INDEX_PAGE = "/index.html"
_STARS = re.compile(r"\*+")
_DELIMITER = re.compile("%(?:2F|3F)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PathRule:
    """An Allow or Disallow line."""

    allow: bool
    pattern: str
    """The path pattern without surrounding spaces; never empty, since an empty one has no effect."""
    line: int
    """Line of robots.txt, counted from 1."""
    text: str
    """The line as written, without its comment."""

    @property
    def matchable(self) -> bool:
        """False for a pattern that starts neither with `/` nor with `*`, since no path does."""
        return self.pattern.startswith(("/", "*"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled path pattern."""

    parts: tuple[str, ...]
    """Literal parts between the `*`, in compared form; one part if there is no `*`."""
    anchored: bool
    """True if the path must end with the last part."""

    def matches(self, path: str) -> bool:
        """True if the pattern matches a path in compared form. Takes linear time per part."""
        first, *rest = self.parts
        if not rest:
            return path == first if self.anchored else path.startswith(first)
        if not path.startswith(first):
            return False
        position = len(first)
        last = rest.pop() if self.anchored else ""
        # The first match of each part leaves most room for the next, so backtracking is not needed.
        for part in rest:
            found = path.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        return len(path) - len(last) >= position and path.endswith(last)

    @property
    def sample(self) -> str:
        """A short path that it matches, unless another start than `/` is needed."""
        path = "".join(self.parts)
        return path if path.startswith("/") else f"/{path}"

    @property
    def everything(self) -> bool:
        first, *rest = self.parts
        return first in {"", "/"} and not any(rest) and (bool(rest) or not self.anchored)


@dataclass(frozen=True, slots=True)
class Clause:
    """A pattern with its weight within a group."""

    weight: int
    """The greatest weight decides: twice the octets of the pattern, plus one for Allow, which wins ties."""
    pattern: Pattern
    rule: PathRule

    @property
    def allow(self) -> bool:
        return self.rule.allow


def clauses(rule: PathRule) -> Iterator[Clause]:
    """Compile a line to clauses: usually one, more in special cases, none if it matches nothing.

    Octets are counted in compared form, `*` and `$` included, as in google/robotstxt: `/fish*` weighs more than
    `/fish`.
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
        # Not in the RFC, but google/robotstxt and protego agree: to allow the index page allows its folder.
        folder = compared.removesuffix("index.html")
        yield Clause(_weight(rule, len(folder) + 1), _pattern(folder, True), rule)


def _weight(rule: PathRule, octets: int) -> int:
    return 2 * octets + rule.allow


def _pattern(compared: str, anchored: bool) -> Pattern:
    return Pattern(tuple(_STARS.split(compared)), anchored)


def _queries(written: str) -> Iterator[str]:
    """Other readings of a pattern with `%2F` or `%3F` after a `*`, in which that `*` matches the `?`."""
    path, mark, query = written.partition("?")
    stars = [star.end() for star in _STARS.finditer(path)][:MAX_READINGS]
    for end in stars:
        if _DELIMITER.search(path, end):
            yield f"{pattern_of(path[:end])}?*{query_of(path[end:] + mark + query)}"


MAX_MEMORY = 64 * 2**20
"""Memory limit of one search in bytes: 40,000 prefixes need 20 MiB, 500 usual rules less than 1."""
_ORIGIN = r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?\n]*)?"
_ANY = r"[^\n]*"

LineSearch = Callable[[bytes], set[int]]
"""Finds the numbers of the lines that may match, counted from 0. Each line ends with a line feed."""


def plain_lines() -> Callable[[bytes], object]:
    """Compile a check that is true if the paths of all lines (one URL each) are in compared form."""
    if re2 is None:
        return re.compile(rf"(?:{PLAIN_URL}+\n)*+".encode()).fullmatch
    check: Callable[[bytes], object] = _compiled(re2, rf"(?:{PLAIN_URL}\n)*").fullmatch
    return check


def line_search(patterns: Iterable[Pattern]) -> LineSearch | None:
    """Compile a search for lines (one URL or path each) that match one of the patterns; None without RE2."""
    if re2 is None:
        return None
    line = f"{_ORIGIN}(?:{'|'.join(_alternatives(patterns))}){_ANY}\\n"
    try:
        # Matches consecutive lines at once: a match costs as much as a hundred lines without one.
        search = _compiled(re2, f"(?m)^(?:{line})+").finditer
    except re2.error:
        return None
    return lambda text: _numbers(text, search)


def is_exact_search(pattern: Pattern) -> bool:
    """True if the search for this pattern has no false positives."""
    return sum(map(bool, pattern.parts[1:])) <= 1


def _numbers(text: bytes, search: Callable[[bytes], Iterable[re.Match[bytes]]]) -> set[int]:
    found: set[int] = set()
    number = last = 0
    for match in search(text):
        start, end = match.span()
        number += text.count(b"\n", last, start)
        after = number + text.count(b"\n", start, end)
        found.update(range(number, after))
        number, last = after, end
    return found


def _alternatives(patterns: Iterable[Pattern]) -> list[str]:
    """Regular expressions for the patterns, merged by common start and sorted so that RE2 builds a tree."""
    tails: defaultdict[str, set[str]] = defaultdict(set)
    for pattern in patterns:
        for head, tail in _expressions(pattern):
            tails[head].add(tail)
    return sorted(head + _either(ends) for head, ends in tails.items())


def _either(tails: set[str]) -> str:
    if "" in tails:
        return ""
    here = sorted(tail for tail in tails if not tail.startswith(_ANY))
    behind = "|".join(sorted(tail.removeprefix(_ANY) for tail in tails if tail.startswith(_ANY)))
    return f"(?:{'|'.join([*here, f'{_ANY}(?:{behind})'] if behind else here)})"


def _expressions(pattern: Pattern) -> list[tuple[str, str]]:
    """Convert a pattern to RE2 expressions, each as (start, rest); some patterns need two."""
    head, *rest = pattern.parts
    end = "$" if pattern.anchored else ""
    if not rest:
        return [(re.escape(head), end)]
    longest = max(rest, key=len)
    behind = re.escape(longest) + (end if longest == rest[-1] else "")
    found = [(re.escape(head) or "/", longest and _ANY + behind)]
    # A path starts with a slash, so a leading `*` matches that slash or nothing.
    return [*found, ("", behind)] if not head and longest.startswith("/") else found


def _compiled(re2: ModuleType, expression: str) -> re.Pattern[bytes]:
    compiled: re.Pattern[bytes] = re2.compile(expression.encode(), _options(re2))
    return compiled


def _options(re2: ModuleType) -> object:
    options = re2.Options()
    options.encoding = options.Encoding.LATIN1
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    return options


FEW = 8
"""Patterns with a star that are tested one by one. With more, a path is first searched for their pieces."""
PIECE = 4
"""Characters of a piece."""
MAX_PIECES = 64
"""Pieces of a pattern to choose from."""


class RuleSet:
    """The rules of a group. The heaviest clause that matches a path decides; if none matches, the path is allowed."""

    def __init__(self, rules: Iterable[PathRule]) -> None:
        found = _strongest(clause for rule in rules for clause in clauses(rule))
        constant = max((clause for clause in found if clause.pattern.everything), key=_weight_of, default=None)
        self.constant = constant
        """The heaviest clause that matches everything; decides if no heavier clause matches."""
        self.allows_by_default = constant is None or constant.allow
        floor = -1 if constant is None else constant.weight
        # A clause lighter than one that matches everything never decides.
        live = [clause for clause in found if clause.weight > floor]
        self.challengers = [clause for clause in live if clause.allow is not self.allows_by_default]
        """Clauses that contradict the default."""
        self.defenders = [clause for clause in live if clause.allow is self.allows_by_default]
        """Clauses that confirm the default against those."""
        heaviest_last = live[::-1]
        self._exact = {one.pattern.parts[0]: one for one in heaviest_last if _is_exact(one.pattern)}
        self._prefixes = {one.pattern.parts[0]: one for one in heaviest_last if _is_prefix(one.pattern)}
        self._lengths = sorted({*map(len, self._prefixes)}, reverse=True)
        self._wild = [one for one in live if not (_is_exact(one.pattern) or _is_prefix(one.pattern))]
        """By decreasing weight."""

    def deciding(self, path: str) -> Clause | None:
        """The clause that decides on a path in compared form; None if none matches."""
        found = [self.constant, self._exact.get(path), *(self._prefixes.get(path[:size]) for size in self._lengths)]
        best = max(filter(None, found), key=_weight_of, default=None)
        for clause in map(self._wild.__getitem__, self._candidates(path)):
            if best is not None and clause.weight <= best.weight:
                break
            if clause.pattern.matches(path):
                return clause
        return best

    def _candidates(self, path: str) -> Iterable[int]:
        """Places in `_wild` of the patterns that may match a path, in order."""
        if len(self._wild) <= FEW:
            return range(len(self._wild))
        known, sizes = self._by_piece
        found = known.keys() & {path[at : at + size] for size in sizes for at in range(len(path) - size + 1)}
        return sorted(place for piece in found for place in known[piece])

    @cached_property
    def _by_piece(self) -> tuple[dict[str, list[int]], set[int]]:
        """Places in `_wild` by a piece of the pattern that each path contains that it matches, and the sizes of these.
        Of the pieces of a pattern, the one that the fewest share so far."""
        known: dict[str, list[int]] = {}
        for place, clause in enumerate(self._wild):
            text = max(clause.pattern.parts, key=len)
            size = min(PIECE, len(text))
            pieces = [text[at : at + size] for at in range(min(len(text) - size + 1, MAX_PIECES))]
            rarest = min(pieces, key=lambda piece: len(known.get(piece, ())))
            known.setdefault(rarest, []).append(place)
        return known, {*map(len, known)}

    def allows(self, path: str) -> bool:
        """True if a path in compared form is allowed."""
        clause = self.deciding(path)
        return clause is None or clause.allow


_weight_of = attrgetter("weight")


def _strongest(found: Iterable[Clause]) -> list[Clause]:
    """Keep the heaviest clause of each pattern, the first of equals. Sorted by decreasing weight."""
    strongest: dict[Pattern, Clause] = {}
    for clause in found:
        known = strongest.setdefault(clause.pattern, clause)
        if clause.weight > known.weight:
            strongest[clause.pattern] = clause
    return sorted(strongest.values(), key=_weight_of, reverse=True)


def _is_exact(pattern: Pattern) -> bool:
    return pattern.anchored and len(pattern.parts) == 1


def _is_prefix(pattern: Pattern) -> bool:
    return not pattern.anchored and not any(pattern.parts[1:])
