"""Comparison of verdicts with protego, the robots.txt parser of Scrapy.

Compares every disallowed URL, and a few allowed ones per rule, as time permits.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from protego import Protego

from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.robots.policy import Policy, RobotsOutcome
from sitemapcrawler.robots.ruleset import ROBOTS_PATH, PathRule

SHARE = 0.01
"""Share of the crawl's time available for comparing."""
START_S = 0.25
"""Seconds available from the start, so that what is found on a small site does not depend on the machine."""
PARSE_S = 0.5e-6  # seconds per byte of robots.txt to parse; measured: 0.1e-6 to 0.5e-6
COPY_S = 1e-6  # seconds per copy of a rule; measured: 1e-6
MAX_COPIES = 100_000
"""Copies of rules (one per User-agent line of a group) for which a robots.txt is parsed: 0.1 s and 10 MB."""
MAX_WAITING = 10_000
"""Disallowed and allowed URLs of one robots.txt that may wait for comparison. Further URLs are not compared."""
MAX_RULES = 500
"""Rules of one robots.txt for which allowed URLs are sampled."""
SAMPLE = 3
"""Allowed URLs to compare per rule."""
_AGENT_LINE = re.compile(r"\s*user[- ]?agent(\s*:)?", re.IGNORECASE)
"""Anything that protego may read as a User-agent line."""
_RULE_LINE = re.compile(r"\s*(?:(?:dis)?allow|crawl-delay)\s*:", re.IGNORECASE)
"""A line after which the next User-agent line starts a group, also for protego."""
_WORD = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")


class Budget:
    """Time budget for comparing: START_S, and a share of the time since its creation.

    Counts only this thread's CPU time as spent, so that other load does not change the findings.
    """

    def __init__(
        self, share: float = SHARE, clock: Callable[[], float] = time.monotonic, start_s: float = START_S
    ) -> None:
        self._share, self._clock, self._start_s = share, clock, start_s
        self._start = clock()
        self._spent = 0.0
        self._since: float | None = None

    def __enter__(self) -> Budget:
        self._since = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._spent = self.spent
        self._since = None

    @property
    def spent(self) -> float:
        """Seconds."""
        return self._spent + (0.0 if self._since is None else time.thread_time() - self._since)

    @property
    def remaining(self) -> float:
        """Seconds; 0 or less if the budget is used up for now."""
        return self._start_s + self._share * (self._clock() - self._start) - self.spent


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
    urls: int = 1
    """Number of compared URLs with different verdicts."""
    last: str = ""
    """The last of these URLs."""


@dataclass(slots=True)
class _Probe:
    """A rule for which allowed URLs are sampled."""

    rule: PathRule
    word: str
    """The longest word of its path. URLs without it are unrelated to the rule."""
    left: int = SAMPLE


class SecondOpinion:
    """Compares the verdicts of one robots.txt with protego's."""

    def __init__(self, policy: Policy, agents: Iterable[Agent], budget: Budget) -> None:
        self.found: dict[tuple[int | None, bool], Disagreement] = {}
        """Disagreements by (line of the rule, verdict of RFC 9309)."""
        self._policy = policy
        self._budget = budget
        self._agents = {agent.name: agent for agent in _one_each(policy, agents)}
        self._copies = _copies(policy.body) if self._agents else 0
        if self._copies > MAX_COPIES:
            self._agents = {}
        self._protego: Protego | None = None
        self._denied: deque[tuple[str, tuple[str, ...]]] = deque()
        self._allowed: list[str] = []
        self._place = policy.url.removesuffix(ROBOTS_PATH)
        self._rules = _rules(policy) if self._agents else []
        self._probes = deque(_Probe(rule, _word(rule.pattern)) for rule in self._rules)

    def add(self, urls: Sequence[str], denied: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Add judged URLs, and the disallowed ones with the names of their crawlers. Compares what time permits."""
        if not self._agents:
            return
        for one in denied:
            if len(self._denied) >= MAX_WAITING:
                break
            self._denied.append(one)
        if self._probes and len(self._allowed) < MAX_WAITING:
            self._allowed += urls
        self.compare()

    def compare(self) -> None:
        """Compare waiting URLs as time permits."""
        if not (self._denied or (self._allowed and self._probes)) or self._budget.remaining <= 0:
            return
        with self._budget:
            protego = self._parsed()
            if protego is not None:
                self._compare_denied(protego)
                self._compare_allowed(protego)

    def _parsed(self) -> Protego | None:
        """The file as protego parses it; None if parsing takes too long for now."""
        body = self._policy.body
        if self._protego is None and self._budget.remaining > PARSE_S * len(body) + COPY_S * self._copies:
            self._protego = Protego.parse(body.decode("utf-8-sig", "ignore"))  # as Scrapy decodes it
        return self._protego

    def _compare_denied(self, protego: Protego) -> None:
        while self._denied and self._budget.remaining > 0:
            url, names = self._denied.popleft()
            for name in names:
                if name in self._agents:
                    self._compare(protego, url, self._agents[name], None)

    def _compare_allowed(self, protego: Protego) -> None:
        text = "\n".join(("", *(url.removeprefix(self._place) for url in self._allowed), ""))
        for _ in range(len(self._probes)):
            if self._budget.remaining <= 0:
                return
            probe = self._probes.popleft()
            self._sample(protego, probe, text)
            if probe.left > 0:
                self._probes.append(probe)
        self._allowed.clear()

    def _sample(self, protego: Protego, probe: _Probe, text: str) -> None:
        """Compare the first URLs that contain the word of a rule."""
        end = 0
        while probe.left > 0 and self._budget.remaining > 0:
            found = text.find(probe.word, end + 1)
            end = text.find("\n", found)
            if found < 0 or end < 0:
                return
            path = text[text.rfind("\n", 0, found + 1) + 1 : end]
            url = self._place + path if path.startswith("/") else path
            probe.left -= 1
            for agent in self._agents.values():
                self._compare(protego, url, agent, probe.rule)

    def _compare(self, protego: Protego, url: str, agent: Agent, near: PathRule | None) -> None:
        """Compare the verdicts on one URL. `near`: the rule for which an allowed URL was sampled.

        `near` is blamed if no rule decides by RFC 9309, and protego follows it.
        """
        verdict = self._policy.verdict(url, agent)
        if near is not None and not verdict.allowed:
            return
        own = agent.name.lower()
        name = own if verdict.group in {None, own, "*"} else str(verdict.group)
        if protego.can_fetch(url, name) is verdict.allowed:
            return
        rule = verdict.rule or self._denying(url, near)
        key = (None if rule is None else rule.line), verdict.allowed
        known = self.found.get(key)
        if known is None:
            self.found[key] = Disagreement(rule, verdict.allowed, url, agent.name, last=url)
        elif known.last != url:
            known.urls, known.last = known.urls + 1, url

    def _denying(self, url: str, near: PathRule | None) -> PathRule | None:
        """Return the rule for which protego disallows a URL, trying `near` first."""
        for rule in (*filter(None, [near]), *self._rules):
            if self._budget.remaining <= 0:
                break
            if not Protego.parse(f"User-agent: *\n{rule.text}").can_fetch(url, "a"):
                return rule
        return None


def _one_each(policy: Policy, agents: Iterable[Agent]) -> list[Agent]:
    """Return one crawler per followed group; none if there is nothing to compare."""
    if policy.outcome is not RobotsOutcome.PARSED or policy.facts.too_large or not policy.body:
        return []
    followed: dict[int, Agent] = {}
    for agent in agents:
        if agent.bound_by_star:  # protego always applies `*`
            followed.setdefault(id(policy.group_of(agent)), agent)
    return list(followed.values())


def _copies(body: bytes) -> int:
    """Upper limit for the rules protego creates: it copies each line of a group for each of its User-agent lines."""
    copies = agents = 0
    in_rules = False
    for line in body.decode("utf-8-sig", "ignore").splitlines():
        if not line or line.startswith("#"):
            continue
        agent = _AGENT_LINE.match(line)
        if agent is None:
            in_rules = in_rules or _RULE_LINE.match(line) is not None
        else:
            agents = (0 if in_rules and agent[1] else agents) + 1 + ("*" in line)  # protego reads `a*` as `a*` and `a`
            in_rules = False
        copies += agents
    return copies


def _rules(policy: Policy) -> list[PathRule]:
    parsed = [policy.parsed, *filter(None, [policy.parsed_by_google])]
    blocks = {id(block): block for each in parsed for group in each.groups.values() for block in group.blocks}
    rules = {rule.pattern: rule for block in blocks.values() for rule in block.rules}
    return [*rules.values()][:MAX_RULES]


def _word(pattern: str) -> str:
    return max(_WORD.findall(_ESCAPE.sub("/", pattern)), key=len, default="/")
