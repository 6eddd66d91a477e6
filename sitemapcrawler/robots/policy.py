"""What one robots.txt allows: verdicts with their reasons, for single URLs and for many URLs and crawlers at once.

In a batch, crawlers whose groups say the same share a verdict. Most URLs match no rule that decides against the default
of their group; one search over all of them finds the candidates, and only those are checked one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from protego import Protego, RequestRate, VisitTime

from sitemapcrawler import urls
from sitemapcrawler.robots.agents import EVERYBODY, GOOGLE, Agent, agent, distinct
from sitemapcrawler.robots.parse import Group, Note, NoteKind, Parsed, RuleBlock, parse, parse_as_google
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
from sitemapcrawler.robots.text import Content, Facts, RobotsSitemap, decode, read_sitemaps, without_code

_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Timing:
    """What a robots.txt asks of one crawler."""

    crawl_delay: float | None = None
    """Seconds between two requests."""
    request_rate: RequestRate | None = None
    """Requests per seconds, and the time of day for which that holds."""
    visit_time: VisitTime | None = None
    """Time of day, UTC, in which to come."""
    lines: tuple[int, ...] = ()
    """The lines of robots.txt that ask it, unreadable ones included."""

    @property
    def interval(self) -> float:
        """Seconds between two requests by the stricter of delay and rate; the hours of a rate are not looked at."""
        rate = self.request_rate
        return max(self.crawl_delay or 0.0, rate.seconds / rate.requests if rate and rate.requests else 0.0)


def timing(records: Iterable[tuple[str, str, int]]) -> Timing:
    """Read the records of a group: field, value, line. Of two readable ones of a kind the last one holds."""
    known = list(records)
    if not known:
        return Timing()
    # Only these records, under a name of ours: groups and names are not protego's to decide.
    text = "\n".join([f"User-agent: {_AGENT}", *(f"{name}: {value}" for name, value, _ in known)])
    robots = Protego.parse(text)
    return Timing(
        robots.crawl_delay(_AGENT),
        robots.request_rate(_AGENT),
        robots.visit_time(_AGENT),
        tuple(line for _, _, line in known),
    )


def robots_url(url: str) -> str | None:
    """URL of the robots.txt that holds for a URL; None for what is no http or https URL."""
    start = urls.origin(url)
    return None if start is None else start + ROBOTS_PATH


def is_robots_url(url: str) -> bool:
    """True for the URL of a robots.txt, and for a local file that is named so, such as `old-robots.txt`."""
    if url.startswith("file:"):
        return url.lower().endswith("robots.txt")
    return robots_url(url) == url.partition("?")[0].partition("#")[0]


def by_robots(batch: Sequence[str]) -> dict[str | None, Sequence[int]]:
    """The URL of each robots.txt that holds for a batch of URLs, with the numbers of those URLs.

    Made for batches of one host, as sitemaps are; URLs that have no robots.txt stand under None.
    """
    if not batch:
        return {}
    start = _start(batch[0])
    text = "\n" + "\n".join(batch)
    if text.count("\n" + start + "/") == text.count("\n") == len(batch):
        return {robots_url(start): range(len(batch))}
    found: dict[str | None, list[int]] = {}
    known: dict[str, str | None] = {}
    for number, url in enumerate(batch):
        start = _start(url)
        if start not in known:
            known[start] = robots_url(start)
        found.setdefault(known[start], []).append(number)
    return dict(found)


def _start(url: str) -> str:
    """Scheme and authority as written, or of another text enough to tell it from those."""
    scheme, mark, rest = url.partition("://")
    for delimiter in "/?#":
        rest = rest.partition(delimiter)[0]
    return scheme + mark + rest


MAX_HOPS = 5  # RFC 9309, 2.3.1.2


class RobotsOutcome(StrEnum):
    """What came of asking for a robots.txt: RFC 9309, 2.3.1."""

    PARSED = "parsed"
    """Status 2xx: its rules hold."""
    UNAVAILABLE = "unavailable"
    """Status 4xx, or 3xx that leads nowhere: everything is allowed."""
    TOO_MANY_REDIRECTS = "too-many-redirects"
    """More than `MAX_HOPS`: counts as unavailable."""
    UNREACHABLE = "unreachable"
    """Status 5xx, or no answer: everything is denied."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """May a crawler fetch a URL, and what says so."""

    allowed: bool
    rule: PathRule | None = None
    """The line that decides; None where none matches: allowed, or with `reason` denied."""
    group: str | None = None
    """Token of the group that the crawler follows, in lower case; None where there is none for it."""
    inherited: bool = False
    """True where that group is not its own, but that of a fallback or `*`."""
    reason: str | None = None
    """Why everything is denied where there is no robots.txt to say so."""


@dataclass
class Policy:
    """The robots.txt of one authority. Build it with `from_response`, `unreachable` or `too_many_redirects`."""

    url: str
    """URL of robots.txt as it was asked for; the policy is that of its scheme, host and port, whoever answered."""
    outcome: RobotsOutcome
    status: int | None = None
    """HTTP status of the last answer; None where there was none."""
    reason: str | None = None
    """Why there is no robots.txt to parse; None where there is."""
    facts: Facts = field(default_factory=Facts)
    """Size, encoding and kind of the content."""
    sitemap_lines: list[RobotsSitemap] = field(default_factory=list)
    """Every line that names a sitemap or means to; none of an HTML page in place of a robots.txt, unless lines of
    rules show that it is a robots.txt wrapped in HTML."""
    parsed: Parsed = field(default_factory=Parsed, repr=False)
    parsed_by_google: Parsed | None = field(default=None, repr=False)
    """What Google's crawlers read; None where it is the same."""
    body: bytes = field(default=b"", repr=False)
    """The content, to be read by other parsers; empty where it is larger than what is parsed of it."""
    _rulesets: dict[tuple[int, ...], RuleSet] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_response(
        cls, url: str, status: int, body: bytes, *, size: int | None = None, base: str | None = None
    ) -> Policy:
        """What an answer means.

        `body` may be cut by the caller, at `decode.MAX_SITEMAP_BYTES` or more, with `size` as the bytes of the whole.
        `base` is the URL that answered in the end, against which relative Sitemap lines are resolved.
        """
        outcome, reason = _outcome(status)
        if outcome is not RobotsOutcome.PARSED:
            return cls(url, outcome, status, reason)
        lines, facts = decode(body, size)
        named = _sitemaps(lines, facts, base or url)
        parsed = parse(lines[: facts.parsed])
        by_google = parse_as_google(lines[: facts.parsed]) if parsed.google_differs else None
        whole = b"" if facts.too_large else body
        return cls(url, outcome, status, None, facts, named, parsed, by_google, whole)

    @classmethod
    def unreachable(cls, url: str, reason: str) -> Policy:
        """There was no answer: everything is denied, for `reason`."""
        return cls(url, RobotsOutcome.UNREACHABLE, None, reason)

    @classmethod
    def too_many_redirects(cls, url: str, status: int | None = None) -> Policy:
        """There were more than `MAX_HOPS` redirects: everything is allowed."""
        return cls(url, RobotsOutcome.TOO_MANY_REDIRECTS, status, f"more than {MAX_HOPS} redirects")

    @property
    def sitemaps(self) -> list[RobotsSitemap]:
        """The sitemaps it names, each once, in order."""
        return [sitemap for sitemap in self.sitemap_lines if sitemap.url and sitemap.first is None]

    def names(self, sitemap_url: str) -> bool:
        """True where one of its Sitemap lines names this URL, which proves that it may list this host's URLs."""
        return urls.visit_key(sitemap_url) in self._named

    @property
    def groups(self) -> dict[str, Group]:
        """What it says to whom, by product token in lower case, in the order of the file, as crawlers in general read
        it."""
        return self.parsed.groups

    @property
    def notes(self) -> list[Note]:
        """Lines that their owner may not have meant; of each kind the first `groups.MAX_NOTES`."""
        return self.parsed.notes

    @property
    def note_counts(self) -> dict[NoteKind, int]:
        """How many there are of each kind."""
        return dict(self.parsed.counts)

    def allows(self, url: str, name: str | Agent) -> bool:
        """May the crawler fetch the URL, which is one of this authority? Raises ValueError for no product token."""
        return self.verdict(url, name).allowed

    def verdict(self, url: str, name: str | Agent) -> Verdict:
        """May the crawler fetch the URL, and what says so. Raises ValueError for a name that is no product token."""
        crawler = _crawler(name)
        path = path_of(url)
        if is_robots(path):
            return Verdict(True)
        if self.outcome is RobotsOutcome.UNREACHABLE:
            return Verdict(False, reason=self.reason)
        group = self.group_of(crawler)
        if group is None:
            return Verdict(True)
        clause = self.rules_of(group).deciding(path)
        inherited = group.token != crawler.name.lower()
        if clause is None:
            return Verdict(True, None, group.token, inherited)
        return Verdict(clause.allow, clause.rule, group.token, inherited)

    def group_of(self, name: str | Agent) -> Group | None:
        """The group that a crawler follows: its own, else that of the first of its fallbacks, else `*`."""
        crawler = _crawler(name)
        by_google = self.parsed_by_google if crawler.operator == GOOGLE else None
        return _followed((by_google or self.parsed).groups, crawler)

    def rules_of(self, group: Group) -> RuleSet:
        """The rules of a group, ready to decide; made once, also for groups that share all their lines."""
        key = tuple(map(id, group.blocks))
        if key not in self._rulesets:
            self._rulesets[key] = RuleSet(group.rules)
        return self._rulesets[key]

    def timing(self, name: str | Agent) -> Timing:
        """When and how fast a crawler is asked to come, in the group that it follows."""
        group = _followed(self.groups, _crawler(name))
        return Timing() if group is None else timing(group.timing)

    def denying_groups(self) -> list[Group]:
        """The groups that deny everything."""
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


def _sitemaps(lines: list[str], facts: Facts, base: str) -> list[RobotsSitemap]:
    if facts.content is not Content.MARKUP:
        return read_sitemaps(lines, base)
    return read_sitemaps(without_code(lines), base, wrapped=True) if facts.wrapped else []


def _crawler(name: str | Agent) -> Agent:
    return agent(name) if isinstance(name, str) else name


def _outcome(status: int) -> tuple[RobotsOutcome, str | None]:
    if 200 <= status < 300:
        return RobotsOutcome.PARSED, None
    unavailable = 300 <= status < 500
    return (RobotsOutcome.UNAVAILABLE if unavailable else RobotsOutcome.UNREACHABLE), f"HTTP status {status}"


def denies_everything(group: Group, known: dict[int, tuple[int, int]]) -> bool:
    """True where a group allows no path: its heaviest Allow weighs less than a Disallow that matches everything.

    `known` is kept between calls for one file: weights by block, since many groups may share one.
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


MAX_KNOWN = 10_000  # tuples of names that are kept to be used again
_ALL_PLAIN = plain_lines()


class BatchVerdicts:
    """The verdicts of one policy for a list of agents, for URLs of its authority."""

    def __init__(self, policy: Policy, agents: Iterable[Agent]) -> None:
        self.agents = distinct(agents)
        self.blocked: Counter[str] = Counter()
        """How many of the URLs judged so far each agent may not fetch; no entry where none."""
        self._denied = (1 << len(self.agents)) - 1 if policy.outcome is RobotsOutcome.UNREACHABLE else 0
        self._sides: list[_FollowedRules] = []
        self._known: dict[int, tuple[str, ...]] = {}
        for rules, members in _sharing(policy, self.agents):
            self._denied |= 0 if rules.allows_by_default else members
            if rules.challengers:
                self._sides.append(_FollowedRules(rules, members))

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


class _FollowedRules:
    """One set of rules and the agents that follow it, as bits of their numbers."""

    def __init__(self, rules: RuleSet, members: int) -> None:
        self.rules = rules
        self.members = members
        whole = [clause for clause in rules.challengers if is_exact_search(clause.pattern)]
        lightest = min((clause.weight for clause in whole), default=0)
        self._surely = _search(whole)
        """Finds the lines that a rule against the default matches."""
        self._maybe = _search([clause for clause in rules.challengers if not is_exact_search(clause.pattern)])
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
    text = ("\n".join(urls) + "\n").encode("utf-8", "replace")
    if _ALL_PLAIN(text) and text.count(b"\n") == len(urls):
        return text
    return "".join(f"{path_of(url)}\n" for url in urls).encode()


def _sharing(policy: Policy, agents: Sequence[Agent]) -> Iterator[tuple[RuleSet, int]]:
    """Each different set of rules with the agents that follow it; those without a group follow none."""
    found: dict[frozenset[tuple[bool, str]], tuple[RuleSet, int]] = {}
    for place, crawler in enumerate(agents):
        group = policy.group_of(crawler)
        if group is not None:
            key = frozenset((rule.allow, rule.pattern) for rule in group.rules)
            rules, members = found.get(key) or (policy.rules_of(group), 0)
            found[key] = rules, members | 1 << place
    yield from found.values()
