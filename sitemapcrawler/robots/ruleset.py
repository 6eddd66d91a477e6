"""The rules of one group, ready to decide about paths: exactly, and for any number of rules."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from sitemapcrawler.robots.parse import Block, Group
from sitemapcrawler.robots.patterns import PLAIN_URL, Clause, Pattern, Rule, clauses

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


class RuleSet:
    """What a group says. The clause of the greatest weight that matches a path decides; none: the path is allowed."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        found = _strongest(clause for rule in rules for clause in clauses(rule))
        constant = max((clause for clause in found if clause.pattern.everything), key=_weight, default=None)
        self.constant = constant
        """What decides where no clause of greater weight matches."""
        self.allows_by_default = constant is None or constant.allow
        floor = -1 if constant is None else constant.weight
        # A clause that weighs less than one that matches everything never decides.
        live = [clause for clause in found if clause.weight > floor]
        self.challengers = [clause for clause in live if clause.allow is not self.allows_by_default]
        """Those that can turn the default round."""
        self.defenders = [clause for clause in live if clause.allow is self.allows_by_default]
        """Those that can turn it back."""
        self._exact = {clause.pattern.parts[0]: clause for clause in live if _is_exact(clause.pattern)}
        self._prefixes = _Prefixes([clause for clause in live if _is_prefix(clause.pattern)])
        self._wild = _Wild(
            [clause for clause in live if len(clause.pattern.parts) > 1 and not _is_prefix(clause.pattern)]
        )

    def deciding(self, path: str) -> Clause | None:
        """The clause that decides about a path in compared form; None where none matches."""
        best = self.constant
        for clause in (self._exact.get(path), self._prefixes.deciding(path)):
            if clause is not None and (best is None or clause.weight > best.weight):
                best = clause
        return self._wild.deciding(path, best)

    def allows(self, path: str) -> bool:
        """True where a path in compared form is allowed."""
        clause = self.deciding(path)
        return clause is None or clause.allow


def denies_everything(group: Group, known: dict[int, tuple[int, int]]) -> bool:
    """True where a group allows no path: its heaviest Allow weighs less than a Disallow that matches everything.

    `known` is kept between calls for one file: weights by block, since many groups may share one.
    """
    weights = [known[id(block)] if id(block) in known else _weigh(block, known) for block in group.blocks]
    return max(deny for deny, _ in weights) > max(allow for _, allow in weights)


def _weigh(block: Block, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    deny = allow = -1
    for clause in (clause for rule in block.rules for clause in clauses(rule)):
        if clause.allow:
            allow = max(allow, clause.weight)
        elif clause.pattern.everything:
            deny = max(deny, clause.weight)
    known[id(block)] = deny, allow
    return deny, allow


def _weight(clause: Clause) -> int:
    return clause.weight


def _strongest(found: Iterable[Clause]) -> list[Clause]:
    """One clause of each pattern, the heaviest, and of equal ones the first; in falling weight."""
    strongest: dict[Pattern, Clause] = {}
    for clause in found:
        known = strongest.setdefault(clause.pattern, clause)
        if clause.weight > known.weight:
            strongest[clause.pattern] = clause
    return sorted(strongest.values(), key=_weight, reverse=True)


def _is_exact(pattern: Pattern) -> bool:
    return pattern.anchored and len(pattern.parts) == 1


def _is_prefix(pattern: Pattern) -> bool:
    return not pattern.anchored and not any(pattern.parts[1:])


class _Prefixes:
    """Patterns that a path begins with, `/fish` and `/fish*`: found by halving, whatever their number.

    In sorted order the prefixes of a path are the one before it and those that this one begins with in turn.
    """

    def __init__(self, found: Sequence[Clause]) -> None:
        strongest: dict[str, Clause] = {}
        for clause in found:
            strongest.setdefault(clause.pattern.parts[0], clause)
        self._texts = sorted(strongest)
        self._parents: list[int] = []
        self._best: list[Clause] = []
        chain: list[int] = []
        for number, text in enumerate(self._texts):
            while chain and not text.startswith(self._texts[chain[-1]]):
                chain.pop()
            parent, own = (chain[-1] if chain else -1), strongest[text]
            self._parents.append(parent)
            self._best.append(own if parent < 0 else max(own, self._best[parent], key=_weight))
            chain.append(number)

    def deciding(self, path: str) -> Clause | None:
        """The heaviest clause that matches a path."""
        number = bisect_right(self._texts, path) - 1
        while number >= 0:
            if path.startswith(self._texts[number]):
                return self._best[number]
            number = self._parents[number]
        return None


class _Wild:
    """Patterns with a `*` inside, in falling weight: asked all at once where that is faster, else one by one."""

    def __init__(self, found: Sequence[Clause]) -> None:
        self._parts = [_WildPart(found[start : start + MANY]) for start in range(0, len(found), MANY)]

    def deciding(self, path: str, best: Clause | None) -> Clause | None:
        """The heaviest clause that matches a path, or `best` where none is heavier."""
        for part in self._parts:
            found = part.deciding(path, best)
            if found is not best:
                return found
            if best is not None and best.weight >= part.heaviest:
                break
        return best


class _WildPart:
    """As many of these patterns as one search takes; there is at least one."""

    def __init__(self, found: Sequence[Clause]) -> None:
        self._clauses = found
        self.heaviest = found[0].weight

    def deciding(self, path: str, best: Clause | None) -> Clause | None:
        """The heaviest clause that matches a path, or `best` where none is heavier."""
        numbers = self._matcher(path) if self._matcher else None
        candidates = self._clauses if numbers is None else [self._clauses[number] for number in numbers]
        for clause in candidates:
            if best is not None and clause.weight <= best.weight:
                break
            if clause.pattern.matches(path):
                return clause
        return best

    @cached_property
    def _matcher(self) -> Matcher | None:
        return matcher([clause.pattern for clause in self._clauses])
