"""Which rules run, and how severe they are: the arguments select and ignore, severities, and the allowlist."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from sitemapcrawler.rules.registry import Needs, Rule, Severity, families

NONE = "none"
"""Value of select that runs no rule at all."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """One entry of an allowlist: findings of `rule` on URLs that match are no findings."""

    rule: str
    pattern: re.Pattern[str]
    reason: str
    until: date | None = None


@dataclass(frozen=True)
class Choice:
    """The chosen rules of a crawl."""

    all_rules: tuple[Rule, ...]
    select: tuple[str, ...] = ()
    """Ids and families to run; empty: all; `none`: none."""
    ignore: tuple[str, ...] = ()
    """Ids and families not to run."""
    severities: Mapping[str, Severity] = field(default_factory=dict)
    """Severity by id or family, in place of the rule's own."""
    allowances: tuple[Allowance, ...] = ()

    def rules(self, needs: Needs) -> list[Rule]:
        """The chosen rules that need these facts."""
        return [rule for rule in self.all_rules if rule.needs is needs and self.chosen(rule)]

    def chosen(self, rule: Rule) -> bool:
        """True for a rule that runs."""
        if self.select and not names(rule, self.select):
            return False
        return not names(rule, self.ignore)

    def severity(self, rule: Rule, own: Severity | None = None) -> Severity:
        """Severity of a finding: as set, else that of the case, else that of the rule."""
        return self.severities.get(rule.id) or self.severities.get(rule.family) or own or rule.severity

    def allowed(self, rule: str, url: str) -> bool:
        """True where the allowlist covers a finding."""
        return any(allowance.rule == rule and allowance.pattern.search(url) for allowance in self.allowances)


def names(rule: Rule, chosen: Iterable[str]) -> bool:
    """True where a list of ids and families names a rule."""
    return any(name in (rule.id, rule.family) for name in chosen)


def check_names(chosen: Iterable[str], rules: Iterable[Rule]) -> None:
    """ValueError for a name that is no rule and no family; it suggests the nearest."""
    rules = list(rules)
    known = [*(rule.id for rule in rules), *families(rules), NONE]
    for name in chosen:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise ValueError(f"no rule or family {name!r}{f', did you mean {near[0]}?' if near else ''}")
