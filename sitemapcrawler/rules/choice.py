"""The selected rules, their severities, and the allowlist of accepted findings."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property

from sitemapcrawler.items import JsonObject
from sitemapcrawler.rules.registry import Of, Rule, Severity, Subject, families
from sitemapcrawler.urls.display import quoted
from sitemapcrawler.urls.expressions import SYNTAX, Expression

MAX_ALIKE = 12
"""Rules that a message names."""
NONE = "none"
"""Value of `select` that runs no rules."""
ON_THE_CRAWL = frozenset((Of.FAILURE, Of.ALLOWANCE, Of.GIVEN_UP, Of.UNLISTED))
"""Rules on these report what other rules could not check or list, so they run regardless of `select`."""

OF_LINKS = ("cross-not-in-sitemap", "cross-orphan-url")
"""Rules that need the links of pages."""
OF_LISTS = ("coverage", "crawler", "google", "listed")
"""Families of rules that need lists to compare with."""
OF_ANSWERS = ("crawler-refused", "crawler-gets-other-content", "crawler-must-pay")
"""Rules of one of these that need the answers to crawlers instead."""
OF_RENDERING = "render"
"""Family of rules that need rendered pages."""
OF_PAGES = ("status", "page")
"""Families of rules that need the answers of pages."""
OF_HEADS = (
    "page", "status-soft-404", "status-head-get-mismatch", "status-dirt-ratio", "lastmod-vs-page-date",
    "hreflang-target-noindex", "hreflang-target-noncanonical",
)  # fmt: skip
"""Family and rules that `verify=get` and `verify=head` judge differently."""
NEEDS_PAGES = frozenset((Of.REPLY, Of.ASSET, Of.DRAWN))


@dataclass(frozen=True, slots=True)
class Allowance:
    """One entry of an allowlist, which suppresses findings of `rule` on matching URLs."""

    rule: str
    """Id or family."""
    pattern: Expression
    """Searched in the listed URL, or in the file's URL if the finding is about a file."""
    reason: str
    until: date | None = None
    """The last day on which the entry applies; None for no end."""

    def expired(self, today: date) -> bool:
        return self.until is not None and self.until < today

    def covers(self, rule: Rule, url: str) -> bool:
        """True if findings of `rule` on `url` are accepted."""
        return names(rule, (self.rule,)) and self.pattern.matches(url)


@dataclass(frozen=True)
class Choice:
    """The selected rules of a crawl."""

    all_rules: tuple[Rule, ...]
    select: tuple[str, ...] = ()
    """Ids and families to run. Empty runs all rules, `none` runs none."""
    ignore: tuple[str, ...] = ()
    """Ids and families not to run."""
    severities: Mapping[str, Severity] = field(default_factory=dict)
    """Severity by id or family, overriding the rule's own."""
    allowances: tuple[Allowance, ...] = ()
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    """Date that decides whether an allowance has expired. Default: today in UTC."""

    def rules(self, *of: Subject) -> list[Rule]:
        """Return the selected rules that judge any of these."""
        wanted = set(of)
        return [rule for rule in self.all_rules if not wanted.isdisjoint(rule.of) and self.chosen(rule)]

    def chosen(self, rule: Rule) -> bool:
        on_the_crawl = NONE not in self.select and not ON_THE_CRAWL.isdisjoint(rule.of)
        if self.select and not names(rule, self.select) and not on_the_crawl:
            return False
        return not names(rule, self.ignore)

    def severity(self, rule: Rule, own: Severity | None = None) -> Severity:
        """Severity of a finding: the configured one, else that of the message (`own`), else that of the rule."""
        return self.severities.get(rule.id) or self.severities.get(rule.family) or own or rule.severity

    def allowed(self, rule: Rule, url: str) -> bool:
        """True if the allowlist covers findings of `rule` on `url`."""
        return any(allowance.covers(rule, url) for allowance in self._valid)

    @property
    def looks_at_urls(self) -> bool:
        """True if the allowlist may accept a finding on one URL and not on another."""
        return bool(self._valid)

    @property
    def expired(self) -> list[Allowance]:
        """Allowances past their last day."""
        return [allowance for allowance in self.allowances if allowance.expired(self.today)]

    @cached_property
    def _valid(self) -> list[Allowance]:
        return [allowance for allowance in self.allowances if not allowance.expired(self.today)]


def names(rule: Rule, chosen: Iterable[str]) -> bool:
    """True if a list of ids and families includes a rule."""
    return any(name in (rule.id, rule.family) for name in chosen)


def needs_pages(rule: Rule) -> bool:
    return rule.family in OF_PAGES or not NEEDS_PAGES.isdisjoint(rule.of)


def check_names(chosen: Iterable[str], rules: Iterable[Rule]) -> None:
    """Raise ValueError for an unknown rule or family, suggesting the nearest name."""
    rules = list(rules)
    known = [*(rule.id for rule in rules), *families(rules), NONE]
    for name in chosen:
        if name not in known:
            raise ValueError(f"no rule or family {name!r}{_meant(name, known)}")


def _meant(name: str, known: Sequence[str]) -> str:
    """Suggestion for an unknown name, as the end of a sentence: the rules that start with it, or the nearest name."""
    start = name.lower().rstrip("-*")
    if start in known:
        return f", did you mean {start}?"
    if alike := [one for one in known if one.startswith(f"{start}-")]:
        more = f" and {len(alike) - MAX_ALIKE:,} more" if len(alike) > MAX_ALIKE else ""
        return f"; rules that begin with this: {', '.join(alike[:MAX_ALIKE])}{more}"
    near = difflib.get_close_matches(name, known, 1)
    return f", did you mean {near[0]}?" if near else ""


def severities(setting: Mapping[str, str], rules: Iterable[Rule]) -> dict[str, Severity]:
    """Validate severities by rule or family. Raises ValueError for an unknown name or severity."""
    check_names(setting, rules)
    for name, severity in setting.items():
        if severity not in list(Severity):
            raise ValueError(f"severity {severity!r} of {name}: accepted: {', '.join(Severity)}")
    return {name: Severity(severity) for name, severity in setting.items()}


TABLE = "allow"
"""Name of the TOML tables, one per entry."""
TEXTS = ("rule", "url", "reason")
"""Required keys of an entry; `until` is optional."""
KEYS = (*TEXTS, "until")


def parse(text: str, rules: Collection[Rule]) -> tuple[Allowance, ...]:
    """Parse an allowlist in TOML. Raises ValueError, one line that names the entry.

    An entry is a table `[[allow]]` with `rule` (id or family), `url` (a regular expression), `reason`, and optionally
    `until` (a date, the last day).
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from None
    except RecursionError:
        raise ValueError("not TOML: it nests too deeply") from None
    entries = document.pop(TABLE, [])
    if document or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"accepted: tables [[{TABLE}]] with {', '.join(TEXTS)} and perhaps until")
    return tuple(_entry(number, entry, rules) for number, entry in enumerate(entries, 1))


def _entry(number: int, entry: JsonObject, rules: Collection[Rule]) -> Allowance:
    try:
        _check(entry, rules)
        return Allowance(entry["rule"], _pattern(entry["url"]), entry["reason"], entry.get("until"))
    except ValueError as error:
        raise ValueError(f"entry {number}: {error}") from None


def _pattern(text: str) -> Expression:
    try:
        return Expression(text)
    except ValueError as error:
        raise ValueError(f"url={quoted(text)}: {error}; accepted: {SYNTAX}") from None


def _check(entry: JsonObject, rules: Collection[Rule]) -> None:
    for key in TEXTS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise ValueError(f"{key} is missing, or not text")
    for key in entry:
        if key not in KEYS:
            raise ValueError(f"no key {key!r}; accepted: {', '.join(KEYS)}")
    until = entry.get("until", date.max)
    if not isinstance(until, date) or isinstance(until, datetime):
        raise ValueError(f"until={until!r} is not a date like 2027-01-31 (without quotes)")
    check_names([entry["rule"]], rules)
