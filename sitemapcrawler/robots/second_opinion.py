"""Comparison of verdicts with those of protego, the robots.txt parser of Scrapy, on the first listed URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest

from protego import Protego

from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.robots.policy import Policy, RobotsOutcome
from sitemapcrawler.robots.ruleset import PathRule

MAX_URLS = 200
"""Listed URLs, and disallowed ones, of one robots.txt that are compared: 40 ms of processor time with 100 rules."""
MAX_TESTS = 50_000
"""URLs times rules of their crawlers that are compared, in 1 to 10 µs each."""
MAX_LENGTH = 2_048
"""Characters of a URL that is compared, as in a sitemap."""
MAX_RULES = 200
"""Rules of one robots.txt among which the one is looked for that protego follows."""
MAX_COPIES = 1_000_000
"""Lines times User-agent lines of a robots.txt that is compared: protego copies a rule for each crawler of its group,
in 1 µs."""
_AGENT_LINE = re.compile(rb"user[- ]?agent", re.IGNORECASE)


@dataclass(slots=True)
class Disagreement:
    """A rule that protego interprets differently."""

    rule: PathRule | None
    """The rule; None if it is unknown which one decides for protego."""
    allowed: bool
    """The verdict of RFC 9309; protego's is the opposite."""
    url: str
    """The first listed URL with different verdicts."""
    agent: str
    """The crawler whose access was checked."""
    is_alone: bool = True
    """True if no other compared URL has different verdicts by this rule."""


class SecondOpinion:
    """Compares the verdicts of one robots.txt with protego's."""

    def __init__(self, policy: Policy, agents: Iterable[Agent]) -> None:
        self._policy = policy
        self._agents = _one_each(policy, agents)
        self._listed: list[str] = []
        self._denied: list[str] = []

    def add(self, urls: Sequence[str], denied: Iterable[str]) -> None:
        """Add judged URLs, and those of them that a crawler may not request."""
        if len(self._listed) < MAX_URLS:
            self._listed += urls[: MAX_URLS - len(self._listed)]
        if len(self._denied) < MAX_URLS:
            self._denied += [*denied][: MAX_URLS - len(self._denied)]

    def disagreements(self) -> list[Disagreement]:
        """Return the rules for which protego has another verdict on an added URL."""
        found: dict[tuple[int | None, bool], Disagreement] = {}
        if not self._agents:
            return []
        protego = Protego.parse(self._policy.body.decode("utf-8-sig", "ignore"))  # as Scrapy decodes it
        groups = filter(None, map(self._policy.group_of, self._agents))
        own = sum(len(block.rules) for group in groups for block in group.blocks)
        most = MAX_TESTS // (max(own, self._policy.body.lower().count(b"allow")) + 1)
        urls = dict.fromkeys(url for pair in zip_longest(self._denied, self._listed) for url in pair if url is not None)
        for url in islice((url for url in urls if len(url) <= MAX_LENGTH), most):
            for agent in self._agents:
                verdict = self._policy.verdict(url, agent)
                token = agent.name.lower()
                name = token if verdict.group in {None, token, "*"} else str(verdict.group)
                if protego.can_fetch(url, name) is verdict.allowed:
                    continue
                rule = verdict.rule or self._denying(url)
                key = (None if rule is None else rule.line), verdict.allowed
                known = found.setdefault(key, Disagreement(rule, verdict.allowed, url, agent.name))
                known.is_alone &= known.url == url
        return [*found.values()]

    def _denying(self, url: str) -> PathRule | None:
        """The rule for which protego disallows a URL."""
        return next((rule for rule, alone in self._rules if not alone.can_fetch(url, "a")), None)

    @cached_property
    def _rules(self) -> list[tuple[PathRule, Protego]]:
        """Rules, each as protego reads it alone."""
        parsed = [self._policy.parsed, *filter(None, [self._policy.parsed_by_google])]
        blocks = {id(block): block for each in parsed for group in each.groups.values() for block in group.blocks}
        rules = {rule.pattern: rule for block in blocks.values() for rule in block.rules}
        return [(rule, Protego.parse(f"User-agent: *\n{rule.text}")) for rule in [*rules.values()][:MAX_RULES]]


def _one_each(policy: Policy, agents: Iterable[Agent]) -> list[Agent]:
    """Return one crawler per followed group; none if there is nothing to compare."""
    body = policy.body
    if policy.outcome is not RobotsOutcome.PARSED or policy.facts.too_large or not body:
        return []
    if len(_AGENT_LINE.findall(body)) * (body.count(b"\n") + body.count(b"\r") + 1) > MAX_COPIES:
        return []
    followed: dict[int, Agent] = {}
    for agent in agents:
        if agent.bound_by_star:  # protego always applies `*`
            followed.setdefault(id(policy.group_of(agent)), agent)
    return [*followed.values()]
