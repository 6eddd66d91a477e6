"""The rules of one group, ready to decide about paths: exactly, and for any number of rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from sitemapcrawler.robots.automaton import MANY, Matcher, matcher
from sitemapcrawler.robots.groups import Block, Group
from sitemapcrawler.robots.patterns import Clause, Pattern, Rule, clauses


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
