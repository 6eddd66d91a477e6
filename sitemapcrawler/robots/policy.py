"""One robots.txt as what it means: may this crawler fetch that URL, why, and what else does the file say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from protego import Protego, RequestRate, VisitTime

from sitemapcrawler import urls
from sitemapcrawler.robots.agents import EVERYBODY, GOOGLE, Agent, agent
from sitemapcrawler.robots.decode import Content, Facts, decode, without_code
from sitemapcrawler.robots.parse import Group, Kind, Note, Parsed, parse, parse_as_google
from sitemapcrawler.robots.patterns import ROBOTS_PATH, Rule, is_robots, path_of
from sitemapcrawler.robots.ruleset import RuleSet, denies_everything
from sitemapcrawler.robots.sitemaps import RobotsSitemap, read_sitemaps

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


class Outcome(StrEnum):
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
    rule: Rule | None = None
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
    outcome: Outcome
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
        if outcome is not Outcome.PARSED:
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
        return cls(url, Outcome.UNREACHABLE, None, reason)

    @classmethod
    def too_many_redirects(cls, url: str, status: int | None = None) -> Policy:
        """There were more than `MAX_HOPS` redirects: everything is allowed."""
        return cls(url, Outcome.TOO_MANY_REDIRECTS, status, f"more than {MAX_HOPS} redirects")

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
    def note_counts(self) -> dict[Kind, int]:
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
        if self.outcome is Outcome.UNREACHABLE:
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


def _outcome(status: int) -> tuple[Outcome, str | None]:
    if 200 <= status < 300:
        return Outcome.PARSED, None
    unavailable = 300 <= status < 500
    return (Outcome.UNAVAILABLE if unavailable else Outcome.UNREACHABLE), f"HTTP status {status}"
