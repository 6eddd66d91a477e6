"""Rules about any entry of a file: a page of a urlset, feed or text, or a sitemap in an index."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sitemapcrawler.words import counted


class Severity(StrEnum):
    """What a finding means for the site."""

    ERROR = "error"
    """A search engine rejects, ignores or misreads it."""
    WARNING = "warning"
    """It works, but hurts or is likely wrong."""
    INFO = "info"
    """Worth knowing."""


class Needs(StrEnum):
    """The facts a rule is given."""

    URL = "url"
    """Each entry that is not plain beyond doubt: `facts.UrlFacts`."""
    EVERY_URL = "every-url"
    """Each entry, the plain ones too: `facts.UrlFacts`. For rules of a user's own; those of the catalogue leave plain
    entries alone, since nearly all are."""
    CHILD = "child"
    """Each entry of an index: `facts.ChildFacts`."""
    FILE = "file"
    """Each file when it has been read: `facts.FileFacts`."""
    WHOLE = "whole"
    """The same of files that were read to their end; skipped, and counted so, for all others."""
    FAULT = "fault"
    """Each fault the reader noted under the rule's own id: `reader.faults.Fault`."""
    VERDICT = "verdict"
    """Each entry that robots.txt denies to somebody: `facts.VerdictFacts`. Whether the rule speaks must depend on the
    crawlers alone; the entry gives it the words."""
    ROBOTS = "robots"
    """Each robots.txt, at the end: `facts.RobotsFacts`."""
    REPLY = "reply"
    """Each entry whose URL was asked: `facts.ReplyFacts`."""
    ASSET = "asset"
    """Each image or video file that was requested, or that robots.txt denies: `facts.AssetFacts`."""
    DRAWN = "drawn"
    """Each file with entries in a sample of a given number, at the end: `facts.Drawn`."""
    SITE = "site"
    """The whole site, at the end: `site_facts.SiteFacts`. What the rule finds is true, whatever was left out."""
    WHOLE_SITE = "whole-site"
    """The same of a crawl that left out nothing; skipped, and counted so, for all others."""
    BASELINE = "baseline"
    """The same of a crawl that is compared with an earlier one, where neither left out anything."""
    FAILURE = "failure"
    """Each failure of another rule: `facts.Failure`."""
    GIVEN_UP = "given-up"
    """Each site whose sitemaps were left alone: `facts.GivenUp`."""
    ALLOWANCE = "allowance"
    """Each entry of the allowlist that has expired: `choice.Allowance`."""


ON_THE_SITE = (Needs.SITE, Needs.WHOLE_SITE, Needs.BASELINE)
"""Needs that only the job's database meets."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a rule has to say once. Without a line the runner takes that of the entry."""

    text: str
    """One sentence with the offending value and the limit."""
    line: int | None = None
    column: int | None = None
    value: str | None = None
    severity: Severity | None = None
    """Where one rule has two severities: the one of this case."""
    url: str | None = None
    """The listed URL it is about, where the rule is given more than an entry."""


@dataclass(frozen=True, slots=True)
class SiteMessage(Message):
    """The same of a rule on the whole site, which says where."""

    sitemap: str | None = None
    """URL of the file it is about; None for the site."""
    times: int = 1
    """Findings that it stands for: more than one where those behind it would only be counted."""


Check = Callable[[Any], Iterator[Message]]
_PART = re.compile(r"^(Why|Bad|Good): (.*?)(?=\n\n|^(?:Why|Bad|Good): |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    severity: Severity
    source: str
    """URL of the text it implements, or what is known without one."""
    needs: tuple[Needs, ...]
    """The check is run on each of these."""
    check: Check
    also: dict[str, str] = field(default_factory=dict)
    """Names other tools give it: {tool: name}."""

    @property
    def family(self) -> str:
        """The part of the id before its first dash."""
        return self.id.partition("-")[0]

    @property
    def documentation(self) -> str:
        """The docstring of the check."""
        return inspect.cleandoc(self.check.__doc__ or "")

    @property
    def what(self) -> str:
        """What it finds: the first paragraph of its documentation, on one line."""
        return " ".join(self.documentation.partition("\n\n")[0].split())

    @property
    def why(self) -> str:
        """Why that matters, on one line."""
        return self._part("Why")

    @property
    def bad(self) -> str:
        """An example of what is wrong, on one line; empty where there is none."""
        return self._part("Bad")

    @property
    def good(self) -> str:
        """What is right instead, on one line; empty where that is not said."""
        return self._part("Good")

    def _part(self, name: str) -> str:
        return next((" ".join(text.split()) for part, text in _PART.findall(self.documentation) if part == name), "")


RULES: dict[str, Rule] = {}
"""Every rule by id, in the order of the catalogue."""


def rule(
    id: str,
    severity: Severity,
    source: str,
    needs: Needs | tuple[Needs, ...] = Needs.URL,
    also: dict[str, str] | None = None,
) -> Callable[[Check], Check]:
    """Register a check as the rule `id`."""

    def register(check: Check) -> Check:
        if id in RULES:
            raise ValueError(f"two rules are named {id}")
        RULES[id] = Rule(id, severity, source, (needs,) if isinstance(needs, Needs) else needs, check, also or {})
        return check

    return register


def families(rules: Iterable[Rule]) -> list[str]:
    """The families of rules, each once, in order."""
    return list(dict.fromkeys(rule.family for rule in rules))


def entry_rule(
    id: str, severity: Severity, source: str, also: dict[str, str] | None = None, faults: bool = False
) -> Callable[[Check], Check]:
    """Register a check as the rule `id` for pages and children; with `faults` for what the reader notes under it."""

    needs = (Needs.URL, Needs.CHILD, Needs.FAULT) if faults else (Needs.URL, Needs.CHILD)
    return rule(id, severity, source, needs, also)


SEVERITIES = tuple(str(severity) for severity in Severity)
"""The worst first."""


def findings(number: int, severity: str) -> str:
    """So many findings of a severity: `1 error`, `2 warnings`, `3 info`."""
    return counted(number, severity, severity if severity == Severity.INFO else None)
