"""What has changed in each robots.txt since the baseline, and which listed URLs that blocks or allows.

Rules are compared by crawler: comments, order, white space, repeated lines, the case of fields, the spelling of escapes
and how User-agent lines are grouped make no difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from sitemapcrawler import urls
from sitemapcrawler.items import ChangedVerdict, RobotsChange
from sitemapcrawler.robots import Agent, BatchVerdicts
from sitemapcrawler.robots.agents import BY_NAME, EVERYBODY
from sitemapcrawler.robots.policy import TOO_MANY_REQUESTS, Policy, RobotsOutcome, denies_everything
from sitemapcrawler.robots.ruleset import PathRule, RuleSet, path_of, pattern_of
from sitemapcrawler.rules.facts.robots_notes import crawler_names
from sitemapcrawler.rules.facts.site import SiteFacts, in_parts
from sitemapcrawler.rules.facts.sites import CARRIED, CURRENT
from sitemapcrawler.urls.display import counted, masked_url, shortened

NO_RULE = "no rule"
"""What a group without rules is called: its crawlers may fetch everything, whatever the group `*` says."""

Key = tuple[bool, str]
"""Allow or Disallow, and the pattern in compared form; an empty one stands for a group without rules."""


@dataclass(frozen=True, slots=True)
class ChangedRule:
    """A rule that was added or removed."""

    text: str
    """The rule as written, such as `Disallow: /shop/`; `NO_RULE` for a group without rules."""
    agents: tuple[str, ...]
    """Names of the crawlers whose groups it was added to or removed from, in the order of the file."""

    def __str__(self) -> str:
        return f"{self.text} ({', '.join(self.agents)})"


@dataclass(frozen=True, slots=True)
class RobotsDifference:
    """What was added to a robots.txt, and removed from it."""

    added: tuple[ChangedRule, ...] = ()
    removed: tuple[ChangedRule, ...] = ()
    sitemaps_added: tuple[str, ...] = ()
    sitemaps_removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.sitemaps_added or self.sitemaps_removed)


def has_rules(policy: Policy) -> bool:
    """True if the rules are known: robots.txt was read, or does not exist. Status 429 says nothing about the file."""
    return policy.outcome is not RobotsOutcome.UNREACHABLE and policy.status != TOO_MANY_REQUESTS


def difference(before: Policy, now: Policy) -> RobotsDifference:
    """Compare two versions whose rules are known."""
    if before.outcome is now.outcome and before.body and before.body == now.body:
        return RobotsDifference()
    old, new = _rules(before), _rules(now)
    return RobotsDifference(
        tuple(_missing(new, old)), tuple(_missing(old, new)),
        tuple(_other_sitemaps(now, before)), tuple(_other_sitemaps(before, now)),
    )  # fmt: skip


def _rules(policy: Policy) -> dict[Key, tuple[str, dict[str, None]]]:
    """{rule: (text, crawlers)}. What Google's crawlers alone read counts too."""
    found: dict[Key, tuple[str, dict[str, None]]] = {}
    for parsed in (policy.parsed, policy.parsed_by_google):
        for group in parsed.groups.values() if parsed is not None else ():
            rules = {_key(rule): _text(rule) for rule in group.rules if rule.matchable} or {(True, ""): NO_RULE}
            for key, text in rules.items():
                found.setdefault(key, (text, {}))[1][group.token] = None
    return found


def _key(rule: PathRule) -> Key:
    anchored = rule.pattern.endswith("$")
    return rule.allow, pattern_of(rule.pattern.removesuffix("$")) + "$" * anchored


def _text(rule: PathRule) -> str:
    return f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern}"


def _missing(
    rules: dict[Key, tuple[str, dict[str, None]]], others: dict[Key, tuple[str, dict[str, None]]]
) -> Iterator[ChangedRule]:
    """Yield the rules that `others` lack, for some crawlers or for all. A group without rules counts where the other
    version has no group of the crawler; for `*` it says nothing."""
    in_groups = {EVERYBODY, *chain.from_iterable(tokens for _, tokens in others.values())}
    for key, (text, tokens) in rules.items():
        held: Collection[str] = in_groups if text == NO_RULE else others[key][1] if key in others else ()
        names = tuple(BY_NAME[token].name if token in BY_NAME else token for token in tokens if token not in held)
        if names:
            yield ChangedRule(text, names)


def _other_sitemaps(policy: Policy, other: Policy) -> Iterator[str]:
    held = {urls.visit_key(sitemap.url) for sitemap in other.sitemaps}
    return (sitemap.url for sitemap in policy.sitemaps if urls.visit_key(sitemap.url) not in held)


MAX_FILES = 100
"""Changed robots.txt files of a summary."""
MAX_LINES = 100
"""Rules of a file that are kept, of those added and of those removed; sitemaps likewise."""
MAX_VERDICTS = 20
"""Groups of listed URLs of a file that are kept."""
MAX_SHOWN = 3
"""Rules, sitemaps and groups of URLs in a sentence."""
MAX_RULE = 60
"""Characters of a rule in a sentence."""
MAX_KNOWN = 10_000
"""Pairs of verdicts whose difference is remembered."""
BLOCKED, ALLOWED = "blocked", "allowed"

Shift = tuple[str, RuleSet, tuple[str, ...]]
"""Blocked or allowed, the rules that block the URL, and the names of the crawlers that follow them."""


def robots_changes(
    site: SiteFacts, before: Mapping[str, Policy], now: Mapping[str, Policy], agents: Sequence[Agent]
) -> list[RobotsChange]:
    """Compare the robots.txt of each origin that both crawls have requested. `agents`: crawlers to judge listed URLs
    for."""
    found: dict[str, RobotsChange] = {}
    judges: dict[str, _Verdicts] = {}
    for origin in sorted(before.keys() & now.keys()):
        old, new = before[origin], now[origin]
        if has_rules(old) != has_rules(new):
            found[origin] = RobotsChange(new.url, not_compared=_unreachable(old, new))
        elif has_rules(new) and (changed := difference(old, new)):
            found[origin] = _change(new.url, changed)
            if agents and (changed.added or changed.removed):
                judges[origin] = _Verdicts(old, new, agents)
                found[origin].closed = judges[origin].closed
    if judges and site.baseline is not None:
        for rows in in_parts(site, f"({_listed('main')}) INTERSECT ({_listed(site.baseline)})"):
            by: defaultdict[str, list[str]] = defaultdict(list)
            for (url,) in rows:
                by[urls.origin(url) or ""].append(url)
            for origin in by.keys() & judges.keys():
                judges[origin].compare(by[origin])
        for origin, judge in judges.items():
            judge.put(found[origin])
    return sorted(found.values(), key=_weight, reverse=True)[:MAX_FILES]


def _listed(database: str) -> str:
    """SQL for the URLs that a crawl lists, and those whose removal it could not determine: the file is blocked now."""
    return f"SELECT loc FROM {database}.urls WHERE {CURRENT} UNION ALL SELECT loc FROM {database}.{CARRIED}"


def _weight(one: RobotsChange) -> tuple[int, int, bool]:
    return len(one.closed), max([*one.blocked.values(), *one.allowed.values()], default=0), not one.not_compared


def _unreachable(old: Policy, new: Policy) -> str:
    policy, when = (new, "in this crawl") if has_rules(old) else (old, "in the previous crawl")
    return f"it was unreachable {when} ({policy.reason})"


def _change(url: str, changed: RobotsDifference) -> RobotsChange:
    return RobotsChange(
        url,
        rules_added=len(changed.added),
        rules_removed=len(changed.removed),
        added=list(map(str, changed.added[:MAX_LINES])),
        removed=list(map(str, changed.removed[:MAX_LINES])),
        sitemaps_added=list(map(masked_url, changed.sitemaps_added[:MAX_LINES])),
        sitemaps_removed=list(map(masked_url, changed.sitemaps_removed[:MAX_LINES])),
    )


class _Verdicts:
    """Compares what two versions of a robots.txt say of listed URLs."""

    def __init__(self, before: Policy, now: Policy, agents: Sequence[Agent]) -> None:
        self._policies = {BLOCKED: now, ALLOWED: before}
        self._judges = [BatchVerdicts(policy, agents) for policy in (before, now)]
        self._agents = {agent.name: agent for agent in self._judges[0].agents}
        self._counts: Counter[tuple[str, tuple[str, ...], str | None]] = Counter()
        self._examples: dict[tuple[str, tuple[str, ...], str | None], str] = {}
        self._compared = 0
        self._shifts = lru_cache(MAX_KNOWN)(self._new_shifts)

    @property
    def closed(self) -> list[str]:
        """Crawlers that may fetch nothing any more."""
        before, now = (
            {name for name, agent in self._agents.items() if _is_closed(self._policies[version], agent)}
            for version in (ALLOWED, BLOCKED)
        )
        return [name for name in self._agents if name in now - before]

    def compare(self, listed: Sequence[str]) -> None:
        """Judge listed URLs by both versions."""
        self._compared += len(listed)
        verdicts = (judge.judge(listed) for judge in self._judges)
        for url, was, now in zip(listed, *verdicts, strict=True):
            if was != now:
                path = path_of(url)
                for change, rules, names in self._shifts(was, now):
                    clause = rules.deciding(path)
                    key = change, names, None if clause is None else clause.rule.text
                    self._counts[key] += 1
                    self._examples.setdefault(key, url)

    def _new_shifts(self, was: tuple[str, ...], now: tuple[str, ...]) -> list[Shift]:
        found: list[Shift] = []
        for change, denied, others in ((BLOCKED, now, was), (ALLOWED, was, now)):
            alike: dict[int, tuple[RuleSet, list[str]]] = {}
            policy = self._policies[change]
            for name in denied:
                group = policy.group_of(self._agents[name])
                if name not in others and group is not None:
                    rules = policy.rules_of(group)
                    alike.setdefault(id(rules), (rules, []))[1].append(name)
            found += [(change, rules, tuple(names)) for rules, names in alike.values()]
        return found

    def put(self, change: RobotsChange) -> None:
        """Add the numbers to a change."""
        change.compared = self._compared
        merged: dict[tuple[str, str | None, int], ChangedVerdict] = {}
        for (kind, names, rule), number in self._counts.items():
            sums = change.blocked if kind == BLOCKED else change.allowed
            for name in names:
                sums[name] = sums.get(name, 0) + number
            example = masked_url(self._examples[kind, names, rule])
            alike = merged.setdefault((kind, rule, number), ChangedVerdict(kind, number, [], rule, example))
            alike.agents += names
        change.verdicts = sorted(merged.values(), key=lambda one: one.urls, reverse=True)[:MAX_VERDICTS]


def _is_closed(policy: Policy, agent: Agent) -> bool:
    group = policy.group_of(agent)
    return group is not None and denies_everything(group, {})


def in_words(change: RobotsChange) -> str:
    """What has changed in a robots.txt, in one line."""
    if change.not_compared:
        return f"rules not compared: {change.not_compared}"
    sitemaps = sitemaps_in_words(change)
    return "; ".join(filter(None, (effects_in_words(change), sitemaps and f"Sitemap lines {sitemaps}")))


def effects_in_words(change: RobotsChange) -> str:
    """The rules that were added and removed, and which listed URLs that blocks or allows."""
    verdicts = list(verdicts_in_words(change))
    parts = [rules_in_words(change), *verdicts[:MAX_SHOWN]]
    if len(verdicts) > MAX_SHOWN:
        parts.append(f"{len(verdicts) - MAX_SHOWN} more")
    if change.compared and not verdicts:
        parts.append("no listed URL is newly blocked or allowed")
    return "; ".join(filter(None, parts))


def rules_in_words(change: RobotsChange) -> str:
    """The rules that were added and removed: ``2 rules added (`Disallow: /shop/ (*)`, ...), 1 removed (...)``."""
    parts: list[str] = []
    for number, verb, rules in (
        (change.rules_added, "added", change.added),
        (change.rules_removed, "removed", change.removed),
    ):
        if number:
            noun = "" if parts else f" {'rule' if number == 1 else 'rules'}"
            parts.append(f"{number:,}{noun} {verb} ({_some(rules, number)})")
    return ", ".join(parts)


def sitemaps_in_words(change: RobotsChange) -> str:
    """The Sitemap lines that were added and removed."""
    found = [("added", change.sitemaps_added), ("removed", change.sitemaps_removed)]
    return ", ".join(f"{verb}: {_some(some, len(some))}" for verb, some in found if some)


def verdicts_in_words(change: RobotsChange) -> Iterator[str]:
    """Sentences on the listed URLs that are newly blocked, and newly allowed."""
    for one in change.verdicts:
        by = "" if one.rule is None else f" by `{shortened(one.rule, MAX_RULE)}`"
        if one.change == ALLOWED:
            by = by and f", which {'was' if one.urls == 1 else 'were'} blocked{by}"
        yield f"{crawler_names(one.agents)}: {counted(one.urls, 'listed URL')} newly {one.change}{by}"


def _some(texts: Iterable[str], number: int) -> str:
    shown = [f"`{shortened(text, MAX_RULE)}`" for text in list(texts)[:MAX_SHOWN]]
    return ", ".join(shown) + (f" and {number - len(shown):,} more" if number > len(shown) else "")
