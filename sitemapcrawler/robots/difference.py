"""Compares two versions of a robots.txt: rules and Sitemap lines that were added and removed.

Rules are compared by crawler: comments, order, white space, repeated lines, the case of fields, the spelling of escapes
and how User-agent lines are grouped make no difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain

from sitemapcrawler.robots.agents import BY_NAME, EVERYBODY
from sitemapcrawler.robots.policy import TOO_MANY_REQUESTS, Policy, RobotsOutcome
from sitemapcrawler.robots.ruleset import PathRule, pattern_of
from sitemapcrawler.urls import visit_key

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
    held = {visit_key(sitemap.url) for sitemap in other.sitemaps}
    return (sitemap.url for sitemap in policy.sitemaps if visit_key(sitemap.url) not in held)
