"""Counts of what the rules found in a file or on a site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy

import msgspec

from sitemapcrawler.items import FindingRecord


class Sum(msgspec.Struct, omit_defaults=True):
    """What one finding on a file or site sums up."""

    first: FindingRecord
    """The finding on the first entry, line or file."""
    number: int = 0
    """Place among the sums of the file, in the order in which they were found."""
    entries: int = 0
    """Number of entries; 0 for a rule on files."""
    of: int = 0
    """Number of all entries of these files; 0 if unknown."""
    files: int = 1
    """Number of files."""

    def add(self, other: Sum) -> None:
        self.first = min(self.first, other.first, key=lambda finding: finding.sitemap or "")
        self.entries += other.entries
        self.of += other.of
        self.files += other.files


class RuleTally(msgspec.Struct, omit_defaults=True):
    """What one rule found in a file or on a site."""

    severities: dict[str, int] = msgspec.field(default_factory=dict)
    """Findings by severity."""
    unlisted: int = 0
    """Of these, those that became no records."""
    unjudged: int = 0
    """Files that the rule could not judge."""
    sums: dict[str, Sum] = msgspec.field(default_factory=dict)
    """{severity and value: what will be one finding at the end of the file or site}"""

    @property
    def findings(self) -> int:
        return sum(self.severities.values())

    def count(self, severity: str, times: int, unlisted: int) -> None:
        """Count findings, some of which become no records."""
        self.severities[severity] = self.severities.get(severity, 0) + times
        self.unlisted += unlisted

    def add(self, other: RuleTally) -> None:
        add_counts(self.severities, other.severities)
        self.unlisted += other.unlisted
        self.unjudged += other.unjudged
        for key, one in other.sums.items():
            if key in self.sums:
                self.sums[key].add(one)
            else:
                self.sums[key] = copy(one)


class FindingTally(msgspec.Struct, omit_defaults=True, weakref=True):
    """What all rules found in a file or on a site."""

    site: str = ""
    """The site that the file is judged with."""
    rules: dict[str, RuleTally] = msgspec.field(default_factory=dict)
    """What each rule found, by id."""
    entries: dict[str, int] = msgspec.field(default_factory=dict)
    """Entries with findings, by severity. An entry with errors and warnings counts for both."""
    files: dict[str, int] = msgspec.field(default_factory=dict)
    """Files with findings, on their entries too, by severity."""

    def of(self, rule: str) -> RuleTally:
        """What a rule found, to be added to."""
        if rule not in self.rules:
            self.rules[rule] = RuleTally()
        return self.rules[rule]

    def known(self, rule: str) -> RuleTally:
        """What a rule found, to be read."""
        return self.rules.get(rule) or RuleTally()

    def add(self, other: FindingTally) -> None:
        for id, found in other.rules.items():
            self.of(id).add(found)
        add_counts(self.entries, other.entries)
        add_counts(self.files, other.files)

    @property
    def counts(self) -> Counter[str]:
        return Counter({id: found.findings for id, found in self.rules.items() if found.severities})

    @property
    def severities(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for found in self.rules.values():
            counts.update(found.severities)
        return counts


def add_counts(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count
