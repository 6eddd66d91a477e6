"""One robots.txt as what it means: may this crawler fetch that URL, why, and what else does the file say."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from sitemapcrawler import urls
from sitemapcrawler.robots.agents import EVERYBODY, Agent, agent
from sitemapcrawler.robots.decode import Content, Facts, decode
from sitemapcrawler.robots.groups import Group, Kind, Note, Parsed
from sitemapcrawler.robots.parse import parse
from sitemapcrawler.robots.paths import is_robots, path_of
from sitemapcrawler.robots.patterns import Rule
from sitemapcrawler.robots.ruleset import RuleSet, denies_everything
from sitemapcrawler.robots.sitemaps import RobotsSitemap, read_sitemaps
from sitemapcrawler.robots.timing import Timing, timing

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
    """Every line that names a sitemap or means to; none of an HTML page in place of a robots.txt."""
    parsed: Parsed = field(default_factory=Parsed, repr=False)
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
        named = [] if facts.content is Content.MARKUP else read_sitemaps(lines, base or url)
        return cls(url, outcome, status, None, facts, named, parse(lines[: facts.parsed]))

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
        """What it says to whom, by product token in lower case, in the order of the file."""
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
        for token in (crawler.name, *crawler.fallbacks):
            group = self.groups.get(token.lower())
            if group is not None:
                return group
        return self.groups.get(EVERYBODY) if crawler.bound_by_star else None

    def rules_of(self, group: Group) -> RuleSet:
        """The rules of a group, ready to decide; made once, also for groups that share all their lines."""
        key = tuple(map(id, group.blocks))
        if key not in self._rulesets:
            self._rulesets[key] = RuleSet(group.rules)
        return self._rulesets[key]

    def timing(self, name: str | Agent) -> Timing:
        """When and how fast a crawler is asked to come, in the group that it follows."""
        group = self.group_of(name)
        return Timing() if group is None else timing(group.timing)

    def denying_groups(self) -> list[Group]:
        """The groups that deny everything."""
        known: dict[int, tuple[int, int]] = {}
        return [group for group in self.groups.values() if denies_everything(group, known)]

    @cached_property
    def _named(self) -> set[str]:
        return {urls.visit_key(sitemap.url) for sitemap in self.sitemaps}


def _crawler(name: str | Agent) -> Agent:
    return agent(name) if isinstance(name, str) else name


def _outcome(status: int) -> tuple[Outcome, str | None]:
    if 200 <= status < 300:
        return Outcome.PARSED, None
    unavailable = 300 <= status < 500
    return (Outcome.UNAVAILABLE if unavailable else Outcome.UNREACHABLE), f"HTTP status {status}"
