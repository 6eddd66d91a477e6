"""Searches with RE2, which looks for any number of patterns at once, in linear time.

It makes verdicts fast and decides none: what it points at is compared once more by `Pattern.matches`, and where RE2 is
not installed everything is compared. Of a pattern it is told the first part and the longest other one, since patterns
with many `*` are what makes such a search slow; so it points at too much sometimes, and never at too little.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from sitemapcrawler.robots.paths import PLAIN_URL
from sitemapcrawler.robots.patterns import Pattern

try:
    re2: Any = import_module("re2")
except ImportError:
    re2 = None

MAX_MEMORY = 64 * 2**20
"""Bytes that one search may take: 40,000 prefixes need 20 MiB, 500 usual rules less than 1."""
FEW, MANY = 8, 512
"""Patterns of a set. Fewer are compared as fast one by one; more make each step of the automaton too dear."""
_PLACE = r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?\n]*)?"
_ANY = r"[^\n]*"

Matcher = Callable[[str], list[int] | None]
"""Tells the numbers of the patterns that may match a path; None where it cannot say."""
LineSearch = Callable[[bytes], set[int]]
"""Finds the numbers of the lines that may match, from 0; each line ends with a line feed."""


def plain_lines() -> Callable[[bytes], object]:
    """A check of lines of text, one URL each: true where the paths of all of them stand in compared form."""
    if re2 is None:
        return re.compile(rf"(?:{PLAIN_URL}+\n)*+".encode()).fullmatch
    check: Callable[[bytes], object] = _compiled(rf"(?:{PLAIN_URL}\n)*").fullmatch
    return check


def line_search(patterns: Iterable[Pattern]) -> LineSearch | None:
    """A search of lines of text, one URL or path each, for those that match one of the patterns; None without RE2."""
    if re2 is None:
        return None
    line = f"{_PLACE}(?:{'|'.join(_alternatives(patterns))}){_ANY}\\n"
    try:
        # Consecutive lines are one match: each costs as much as a hundred lines that do not match.
        search = _compiled(f"(?m)^(?:{line})+").finditer
    except re2.error:
        return None
    return lambda text: _numbers(text, search)


def matcher(patterns: Sequence[Pattern]) -> Matcher | None:
    """What tells which of the patterns match a path; None where that is no faster than to try each."""
    if re2 is None or not FEW < len(patterns) <= MANY:
        return None
    known = re2.Set.MatchSet(_options())
    for pattern in patterns:
        known.Add("|".join(head + tail for head, tail in _told(pattern)).encode())
    # One that every path matches: an answer without it means that RE2 ran out of memory.
    sentinel = known.Add(b"")
    try:
        known.Compile()
    except re2.error:
        return None

    def matching(path: str) -> list[int] | None:
        numbers = known.Match(path.encode())
        return sorted(number for number in numbers if number != sentinel) if numbers else None

    return matching


def is_told_whole(pattern: Pattern) -> bool:
    """True where a line that is found matches for certain."""
    return sum(map(bool, pattern.parts[1:])) <= 1


def _numbers(text: bytes, search: Callable[[bytes], Iterable[Any]]) -> set[int]:
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
    """The patterns, those that begin alike as one, sorted, so that RE2 makes a tree of them."""
    tails: defaultdict[str, set[str]] = defaultdict(set)
    for pattern in patterns:
        for head, tail in _told(pattern):
            tails[head].add(tail)
    return sorted(head + _either(ends) for head, ends in tails.items())


def _either(tails: set[str]) -> str:
    if "" in tails:
        return ""
    here = sorted(tail for tail in tails if not tail.startswith(_ANY))
    behind = "|".join(sorted(tail.removeprefix(_ANY) for tail in tails if tail.startswith(_ANY)))
    return f"(?:{'|'.join([*here, f'{_ANY}(?:{behind})'] if behind else here)})"


def _told(pattern: Pattern) -> list[tuple[str, str]]:
    """A pattern as RE2 is told it: how it begins, and what comes after that; two ways for some."""
    head, *rest = pattern.parts
    end = "$" if pattern.anchored else ""
    if not rest:
        return [(re.escape(head), end)]
    longest = max(rest, key=len)
    behind = re.escape(longest) + (end if longest == rest[-1] else "")
    told = [(re.escape(head) or "/", longest and _ANY + behind)]
    # A path begins with a slash, so a `*` in front takes that one or nothing.
    return [*told, ("", behind)] if not head and longest.startswith("/") else told


def _compiled(expression: str) -> Any:
    return re2.compile(expression.encode(), _options())


def _options() -> Any:
    options = re2.Options()
    options.encoding = options.Encoding.LATIN1
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    return options
