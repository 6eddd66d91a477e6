"""Verdicts of one robots.txt with their reasons, for single URLs or for many URLs and crawlers at once.

In a batch, crawlers whose groups have the same rules share a verdict. Most URLs match no rule that contradicts the
default of their group: one search over all URLs finds the candidates, and only those are checked one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from protego import Protego, RequestRate

from sitemapcrawler import urls
from sitemapcrawler.robots.agents import EVERYBODY, GOOGLE, Agent, agent, distinct
from sitemapcrawler.robots.parser import (
    LICENSE,
    SCHEMAMAP,
    Group,
    LineNote,
    NoteKind,
    Parsed,
    RuleBlock,
    parse,
    parse_as_google,
)
from sitemapcrawler.robots.ruleset import (
    ROBOTS_PATH,
    Clause,
    LineSearch,
    PathRule,
    RuleSet,
    clauses,
    is_exact_search,
    is_robots,
    line_search,
    path_of,
    plain_lines,
)
from sitemapcrawler.robots.text import Content, Facts, RobotsSitemap, decode, read_sitemaps
from sitemapcrawler.robots.usage import VALUES, Usage, UsageRules

_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Timing:
    """Delays and rates that a robots.txt requests from one crawler."""

    crawl_delay: float | None = None
    """Seconds between requests."""
    request_rate: RequestRate | None = None
    """Requests per seconds, and the time of day when that applies."""

    @property
    def interval(self) -> float:
        """Seconds between requests, the larger of delay and rate. Ignores the time of day of a rate."""
        rate = self.request_rate
        return max(self.crawl_delay or 0.0, rate.seconds / rate.requests if rate and rate.requests else 0.0)


def timing(records: Iterable[tuple[str, str, int]]) -> Timing:
    """Parse the records of a group: field, value, line. The last readable record of each kind applies."""
    # Pass only these records to protego, so that it does not decide on groups and names.
    text = "\n".join([f"User-agent: {_AGENT}", *(f"{name}: {value}" for name, value, _ in records)])
    robots = Protego.parse(text)
    return Timing(robots.crawl_delay(_AGENT), robots.request_rate(_AGENT))


def robots_url(url: str) -> str | None:
    """URL of the robots.txt that applies to a URL; None unless the URL is http or https."""
    start = urls.origin(url)
    return None if start is None else start + ROBOTS_PATH


def is_robots_url(url: str) -> bool:
    """True for the URL of a robots.txt, and for a local file whose name ends like one, such as `old-robots.txt`."""
    if url.startswith("file:"):
        return url.lower().endswith("robots.txt")
    return robots_url(url) == url.partition("?")[0].partition("#")[0]


MAX_HOPS = 5  # RFC 9309, 2.3.1.2
TOO_MANY_REQUESTS = 429
"""A status 4xx at which Google's crawlers fetch nothing, as after a server error.
Source: https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt#http-status-codes"""


class RobotsOutcome(StrEnum):
    """Result of fetching a robots.txt: RFC 9309, 2.3.1."""

    PARSED = "parsed"
    """Status 2xx: its rules apply."""
    UNAVAILABLE = "unavailable"
    """Status 4xx, or 3xx without a target: everything is allowed; but see `TOO_MANY_REQUESTS`."""
    TOO_MANY_REDIRECTS = "too-many-redirects"
    """More than `MAX_HOPS` redirects: counts as unavailable."""
    UNREACHABLE = "unreachable"
    """Status 5xx, or no response: everything is disallowed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a crawler may fetch a URL, and why."""

    allowed: bool
    rule: PathRule | None = None
    """The deciding line. None if no line matches (allowed), or if `reason` disallows everything."""
    group: str | None = None
    """Token of the group that the crawler follows, in lower case; None if there is none."""
    reason: str | None = None
    """Why everything is disallowed, if robots.txt could not be fetched."""


@dataclass
class Policy:
    """The robots.txt of one authority. Create it with `from_response`, `unreachable` or `too_many_redirects`."""

    url: str
    """Requested URL. The policy applies to its scheme, host and port, even after redirects."""
    outcome: RobotsOutcome
    status: int | None = None
    """HTTP status of the last response; None without one."""
    reason: str | None = None
    """Why there is no robots.txt to parse; None if there is one."""
    is_ours: bool = False
    """True if this crawler, or its proxy, is the reason, so that nothing is known of the file."""
    facts: Facts = field(default_factory=Facts)
    sitemap_lines: list[RobotsSitemap] = field(default_factory=list)
    """Lines that name a sitemap or try to. Empty for HTML pages."""
    parsed: Parsed = field(default_factory=Parsed, repr=False)
    parsed_by_google: Parsed | None = field(default=None, repr=False)
    """The file as Google's crawlers read it; None if that makes no difference."""
    body: bytes = field(default=b"", repr=False)
    """The content, for other parsers; empty if it exceeds the parser's limit."""
    base: str = ""
    """URL that its references are relative to; empty for `url`."""
    _rulesets: dict[tuple[int, ...], RuleSet] = field(default_factory=dict, init=False, repr=False)
    _usages: dict[str, Usage | None] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_response(
        cls, url: str, status: int, body: bytes, *, size: int | None = None, base: str | None = None
    ) -> Policy:
        """Make a policy from a response.

        `body` may be cut at `text.MAX_SITEMAP_BYTES` or more, with the full `size` in bytes. `base` is the final URL,
        used to resolve relative Sitemap lines.
        """
        outcome, reason = _outcome(status)
        if outcome is not RobotsOutcome.PARSED:
            return cls(url, outcome, status, reason)
        lines, facts = decode(body, size)
        named = [] if facts.content is Content.MARKUP else read_sitemaps(lines, base or url)
        parsed = parse(lines[: facts.parsed])
        by_google = parse_as_google(lines[: facts.parsed]) if parsed.google_differs else None
        whole = b"" if facts.too_large else body
        return cls(url, outcome, status, None, False, facts, named, parsed, by_google, whole, base or url)

    @classmethod
    def unreachable(cls, url: str, reason: str, is_ours: bool = False) -> Policy:
        """Make a policy for a robots.txt without a response: everything is disallowed."""
        return cls(url, RobotsOutcome.UNREACHABLE, None, reason, is_ours)

    @classmethod
    def too_many_redirects(cls, url: str, status: int | None = None) -> Policy:
        """Make a policy for more than `MAX_HOPS` redirects: everything is allowed."""
        return cls(url, RobotsOutcome.TOO_MANY_REDIRECTS, status, f"more than {MAX_HOPS} redirects")

    def __getstate__(self) -> dict[str, object]:
        """The state without the rules made so far, which are known by the identity of their blocks."""
        return {**self.__dict__, "_rulesets": {}, "_usages": {}}

    @property
    def sitemaps(self) -> list[RobotsSitemap]:
        """The named sitemaps in order, without duplicates."""
        return [sitemap for sitemap in self.sitemap_lines if sitemap.url and sitemap.first is None]

    def names(self, sitemap_url: str) -> bool:
        """True if a Sitemap line names this URL, which allows that sitemap to list URLs of this host."""
        return urls.visit_key(sitemap_url) in self._named

    @property
    def groups(self) -> dict[str, Group]:
        """Groups by product token in lower case, in the order of the file, as most crawlers read it."""
        return self.parsed.groups

    @property
    def notes(self) -> list[LineNote]:
        """Possible mistakes, the first `parser.MAX_NOTES` of each kind."""
        return self.parsed.notes

    @property
    def note_counts(self) -> dict[NoteKind, int]:
        """Number of notes by kind, complete."""
        return dict(self.parsed.counts)

    def allows(self, url: str, name: str | Agent) -> bool:
        """True if the crawler may fetch the URL of this authority. Raises ValueError for an invalid product token."""
        return self.verdict(url, name).allowed

    def closed_to(self, crawler: Agent) -> bool:
        """True if the crawler may fetch nothing, since robots.txt could not be fetched."""
        if self.outcome is RobotsOutcome.UNREACHABLE:
            return True
        return self.status == TOO_MANY_REQUESTS and crawler.operator == GOOGLE

    def verdict(self, url: str, name: str | Agent) -> Verdict:
        """Decide whether the crawler may fetch the URL. Raises ValueError for an invalid product token."""
        crawler = _crawler(name)
        path = path_of(url)
        if is_robots(path):
            return Verdict(True)
        if self.closed_to(crawler):
            return Verdict(False, reason=self.reason)
        group = self.group_of(crawler)
        if group is None:
            return Verdict(True)
        clause = self.rules_of(group).deciding(path)
        if clause is None:
            return Verdict(True, None, group.token)
        return Verdict(clause.allow, clause.rule, group.token)

    def group_of(self, name: str | Agent) -> Group | None:
        """Return the group a crawler follows: its own, else that of its first fallback that has one, else `*`."""
        crawler = _crawler(name)
        by_google = self.parsed_by_google if crawler.operator == GOOGLE else None
        return _followed((by_google or self.parsed).groups, crawler)

    def rules_of(self, group: Group) -> RuleSet:
        """Return the rules of a group, cached by its blocks."""
        key = tuple(map(id, group.blocks))
        if key not in self._rulesets:
            self._rulesets[key] = RuleSet(group.rules)
        return self._rulesets[key]

    @property
    def licenses(self) -> list[str]:
        """URLs of the named terms of use, absolute, each once."""
        return self._referred(LICENSE)

    @property
    def schemamaps(self) -> list[str]:
        """URLs of the named lists of structured data, absolute, each once."""
        return self._referred(SCHEMAMAP)

    def _referred(self, field: str) -> list[str]:
        found = (
            urls.resolve(self.base or self.url, value) for name, value, _ in self.parsed.references if name == field
        )
        return list(dict.fromkeys(url for url in found if url))

    def usage_of(self, token: str = EVERYBODY) -> Usage | None:
        """Return the usage preferences of the group with this token; None if it has none."""
        if not self.parsed.usage:
            return None
        if token not in self._usages:
            self._usages[token] = self._usage_of(token)
        return self._usages[token]

    def _usage_of(self, token: str) -> Usage | None:
        group = self.groups.get(token)
        if group is None or not (lines := group.usage):
            return None
        by_dialect = ([one for one in lines if one.dialect == dialect] for dialect in VALUES)
        return Usage([UsageRules(alike) for alike in by_dialect if alike], self.rules_of(group))

    def timing(self, name: str | Agent) -> Timing:
        """Return the timing records for a crawler, from the group it follows."""
        group = _followed(self.groups, _crawler(name))
        return Timing() if group is None else timing(group.timing)

    def denying_groups(self) -> list[Group]:
        known: dict[int, tuple[int, int]] = {}
        return [group for group in self.groups.values() if denies_everything(group, known)]

    @cached_property
    def _named(self) -> set[str]:
        return {urls.visit_key(sitemap.url) for sitemap in self.sitemaps}


def _followed(groups: Mapping[str, Group], crawler: Agent) -> Group | None:
    for token in (crawler.name, *crawler.fallbacks):
        group = groups.get(token.lower())
        if group is not None:
            return group
    return groups.get(EVERYBODY) if crawler.bound_by_star else None


def _crawler(name: str | Agent) -> Agent:
    return agent(name) if isinstance(name, str) else name


def _outcome(status: int) -> tuple[RobotsOutcome, str | None]:
    if 200 <= status < 300:
        return RobotsOutcome.PARSED, None
    unavailable = 300 <= status < 500
    return (RobotsOutcome.UNAVAILABLE if unavailable else RobotsOutcome.UNREACHABLE), f"HTTP status {status}"


def denies_everything(group: Group, known: dict[int, tuple[int, int]]) -> bool:
    """True if a group allows no path: a Disallow that matches everything outweighs all its Allows.

    `known` caches weights by block across the groups of one file.
    """
    weights = [known[id(block)] if id(block) in known else _weigh(block, known) for block in group.blocks]
    return max(deny for deny, _ in weights) > max(allow for _, allow in weights)


def _weigh(block: RuleBlock, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    deny = allow = -1
    for clause in (clause for rule in block.rules for clause in clauses(rule)):
        if clause.allow:
            allow = max(allow, clause.weight)
        elif clause.pattern.everything:
            deny = max(deny, clause.weight)
    known[id(block)] = deny, allow
    return deny, allow


def deciding_lines(policy: Policy | None, url: str, names: Iterable[str]) -> dict[str, str]:
    """Lines that decide on a URL, by crawler: `line 2, Disallow: /private/`. Leaves out crawlers without one."""
    rules = {name: policy.verdict(url, name).rule for name in names} if policy is not None else {}
    return {name: f"line {rule.line}, {rule.text}" for name, rule in rules.items() if rule is not None}


MAX_KNOWN = 10_000  # tuples of names to cache
_ALL_PLAIN = plain_lines()


class BatchVerdicts:
    """Verdicts of one policy for several agents and for URLs of its authority."""

    def __init__(self, policy: Policy, agents: Iterable[Agent]) -> None:
        self.agents = distinct(agents)
        self.blocked: Counter[str] = Counter()
        """Number of disallowed URLs by agent, for agents with any."""
        self._denied = sum(1 << place for place, crawler in enumerate(self.agents) if policy.closed_to(crawler))
        self._sides: list[_FollowedRules] = []
        self._known: dict[int, tuple[str, ...]] = {}
        for rules, members in _sharing(policy, self.agents):
            self._denied |= 0 if rules.allows_by_default else members
            if rules.challengers:
                self._sides.append(_FollowedRules(rules, members))

    def judge(self, urls: Sequence[str]) -> list[tuple[str, ...]]:
        """Return for each URL the names of the agents that may not fetch it, in the order of the agents."""
        denied = self._turned(urls) if urls and (self._sides or self._denied) else {}
        usual = self._names(self._denied)
        blocked = [usual] * len(urls)
        for number, bits in denied.items():
            blocked[number] = self._names(bits)
        self._count(len(urls) - len(denied), denied.values())
        return blocked

    def _turned(self, urls: Sequence[str]) -> dict[int, int]:
        """Map the indexes of URLs whose verdict differs from the default to the agents, as bits, that may not fetch
        them."""
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


class _FollowedRules:
    """A set of rules and the agents that follow it, as bits."""

    def __init__(self, rules: RuleSet, members: int) -> None:
        self.rules = rules
        self.members = members
        whole = [clause for clause in rules.challengers if is_exact_search(clause.pattern)]
        lightest = min((clause.weight for clause in whole), default=0)
        self._surely = _search(whole)
        """Finds lines that certainly match a rule against the default."""
        self._maybe = _search([clause for clause in rules.challengers if not is_exact_search(clause.pattern)])
        """Finds lines that possibly match a rule against the default."""
        self._back = _search([clause for clause in rules.defenders if clause.weight > lightest])
        """Finds lines on which a rule for the default may override that."""

    def turned(self, text: bytes) -> set[int]:
        """Indexes of the lines whose verdict differs from the default."""
        if self._surely is None or self._maybe is None or self._back is None:
            return self._among(range(text.count(b"\n")), text)
        turned, doubtful = self._surely(text), self._maybe(text)
        if turned:
            contested = turned & self._back(text)
            turned -= contested
            doubtful = (doubtful | contested) - turned
        return turned | self._among(doubtful, text) if doubtful else turned

    def _among(self, numbers: Iterable[int], text: bytes) -> set[int]:
        """Check lines one by one. Returns those whose verdict differs from the default."""
        lines, rules = text.decode(errors="replace").split("\n"), self.rules
        return {number for number in numbers if rules.allows(path_of(lines[number])) is not rules.allows_by_default}


def _search(clauses: Sequence[Clause]) -> LineSearch | None:
    """Compile a search for lines that match one of the clauses; None without RE2."""
    return line_search(clause.pattern for clause in clauses) if clauses else lambda text: set()


def lines_of(urls: Sequence[str]) -> bytes:
    """Join URLs to lines of text. A URL that is not in compared form is replaced by its path in that form."""
    text = ("\n".join(urls) + "\n").encode("utf-8", "replace")
    if _ALL_PLAIN(text) and text.count(b"\n") == len(urls):
        return text
    return "".join(f"{path_of(url)}\n" for url in urls).encode()


def _sharing(policy: Policy, agents: Sequence[Agent]) -> Iterator[tuple[RuleSet, int]]:
    """Yield each distinct set of rules with the agents that follow it, as bits. Skips agents without a group."""
    found: dict[frozenset[tuple[bool, str]], tuple[RuleSet, int]] = {}
    for place, crawler in enumerate(agents):
        group = policy.group_of(crawler)
        if group is not None:
            key = frozenset((rule.allow, rule.pattern) for rule in group.rules)
            rules, members = found.get(key) or (policy.rules_of(group), 0)
            found[key] = rules, members | 1 << place
    yield from found.values()
