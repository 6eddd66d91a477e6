"""Verdicts for many URLs and agents at once: which agents may not fetch which URL.

Agents whose groups say the same share a verdict. Most URLs match no rule that decides against the default of their
group; one search over all of them tells which ones may, and only those are looked at one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sitemapcrawler.robots.agents import Agent, distinct
from sitemapcrawler.robots.patterns import ROBOTS_PATH, Clause, is_robots, path_of
from sitemapcrawler.robots.policy import Outcome, Policy
from sitemapcrawler.robots.ruleset import LineSearch, RuleSet, is_told_whole, line_search, plain_lines

MAX_KNOWN = 10_000  # tuples of names that are kept to be used again
_ALL_PLAIN = plain_lines()


class Judge:
    """The verdicts of one policy for a list of agents, for URLs of its authority."""

    def __init__(self, policy: Policy, agents: Iterable[Agent]) -> None:
        self.agents = distinct(agents)
        self.blocked: Counter[str] = Counter()
        """How many of the URLs judged so far each agent may not fetch; no entry where none."""
        self._denied = (1 << len(self.agents)) - 1 if policy.outcome is Outcome.UNREACHABLE else 0
        self._sides: list[_Side] = []
        self._known: dict[int, tuple[str, ...]] = {}
        for rules, members in _sharing(policy, self.agents):
            self._denied |= 0 if rules.allows_by_default else members
            if rules.challengers:
                self._sides.append(_Side(rules, members))

    def judge(self, urls: Sequence[str]) -> list[tuple[str, ...]]:
        """For each URL the names of the agents that may not fetch it, in the order of the agents."""
        denied = self._turned(urls) if urls and (self._sides or self._denied) else {}
        usual = self._names(self._denied)
        blocked = [usual] * len(urls)
        for number, bits in denied.items():
            blocked[number] = self._names(bits)
        self._count(len(urls) - len(denied), denied.values())
        return blocked

    def _turned(self, urls: Sequence[str]) -> dict[int, int]:
        """Where the verdicts are not the usual ones: number of the URL, and the agents that may not fetch it."""
        text = lines_of(urls)
        denied: dict[int, int] = {}
        for side in self._sides:
            for number in side.turned(text):
                denied[number] = denied.get(number, self._denied) ^ side.members
        if ROBOTS_PATH.encode() in text:
            denied.update({number: 0 for number, url in enumerate(urls) if is_robots(path_of(url))})
        return denied

    def _names(self, bits: int) -> tuple[str, ...]:
        names = self._known.get(bits)
        if names is None:
            names = tuple(agent.name for place, agent in enumerate(self.agents) if bits >> place & 1)
            if len(self._known) < MAX_KNOWN:
                self._known[bits] = names
        return names

    def _count(self, usual: int, others: Iterable[int]) -> None:
        times = Counter(others)
        times[self._denied] += usual
        for bits, count in times.items():
            if count:
                self.blocked.update(dict.fromkeys(self._names(bits), count))


class _Side:
    """One set of rules and the agents that follow it, as bits of their numbers."""

    def __init__(self, rules: RuleSet, members: int) -> None:
        self.rules = rules
        self.members = members
        whole = [clause for clause in rules.challengers if is_told_whole(clause.pattern)]
        lightest = min((clause.weight for clause in whole), default=0)
        self._surely = _search(whole)
        """Finds the lines that a rule against the default matches."""
        self._maybe = _search([clause for clause in rules.challengers if not is_told_whole(clause.pattern)])
        """Finds more lines, where that is not certain."""
        self._back = _search([clause for clause in rules.defenders if clause.weight > lightest])
        """Finds those on which a rule for the default may have the last word."""

    def turned(self, text: bytes) -> set[int]:
        """Numbers of the lines whose verdict is not the default one."""
        if self._surely is None or self._maybe is None or self._back is None:
            return self._among(range(text.count(b"\n")), text)
        turned, doubtful = self._surely(text), self._maybe(text)
        if turned:
            contested = turned & self._back(text)
            turned -= contested
            doubtful = (doubtful | contested) - turned
        return turned | self._among(doubtful, text) if doubtful else turned

    def _among(self, numbers: Iterable[int], text: bytes) -> set[int]:
        """Those of the numbered lines whose verdict is not the default one, each looked at."""
        lines, rules = text.decode(errors="replace").split("\n"), self.rules
        return {number for number in numbers if rules.allows(path_of(lines[number])) is not rules.allows_by_default}


def _search(clauses: Sequence[Clause]) -> LineSearch | None:
    """A search for the lines that one of the clauses matches; None without RE2."""
    return line_search(clause.pattern for clause in clauses) if clauses else lambda text: set()


def lines_of(urls: Sequence[str]) -> bytes:
    """Lines of text, one for each URL: the URL where its path has its compared form already, else that path."""
    text = ("\n".join(urls) + "\n").encode("utf-8", "surrogatepass")
    if _ALL_PLAIN(text) and text.count(b"\n") == len(urls):
        return text
    return "".join(f"{path_of(url)}\n" for url in urls).encode()


def _sharing(policy: Policy, agents: Sequence[Agent]) -> Iterator[tuple[RuleSet, int]]:
    """Each different set of rules with the agents that follow it; those without a group follow none."""
    found: dict[frozenset[tuple[bool, str]], tuple[RuleSet, int]] = {}
    for place, agent in enumerate(agents):
        group = policy.group_of(agent)
        if group is not None:
            key = frozenset((rule.allow, rule.pattern) for rule in group.rules)
            rules, members = found.get(key) or (policy.rules_of(group), 0)
            found[key] = rules, members | 1 << place
    yield from found.values()
