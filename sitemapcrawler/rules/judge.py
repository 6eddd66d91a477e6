"""Runs the chosen rules over what the reader gives and makes findings of their messages."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts import ChildFacts, FileFacts, UrlFacts
from sitemapcrawler.rules.registry import Message, Needs, Rule, Severity

logger = logging.getLogger(__name__)

FAILED = "internal-rule-failed"
"""Rule id of the finding that says a rule of ours raised: our fault, never the site's."""
MAX_VALUE = 200
"""Characters of an offending value that a finding holds."""


class Judge:
    """Judges the files of a crawl with the chosen rules. `counts` and `severities` are complete."""

    def __init__(self, choice: Choice, per_rule: int) -> None:
        """`per_rule`: findings of one rule and file that become records at most."""
        self.counts: Counter[str] = Counter()
        """Findings by rule."""
        self.severities: Counter[str] = Counter()
        """Findings by severity."""
        self._choice = choice
        self._per_rule = per_rule
        self._rules = {needs: choice.rules(needs) for needs in Needs}

    def urls(self, urls: Sequence[UrlRecord], file: FileFacts) -> bool:
        """Judge entries; True where some of them have findings now."""
        file.tally.count(urls)
        found = False
        for record, repeated in file.suspects.take(urls):
            found |= self._judge_url(record, file, repeated)
        return found

    def _judge_url(self, record: UrlRecord, file: FileFacts, repeated: bool) -> bool:
        facts = UrlFacts(record, file, repeated)
        findings: list[FindingRecord] = []
        issues: dict[str, None] = {}
        for rule in self._rules[Needs.URL]:
            for message in self._messages(rule, facts):
                issues[rule.id] = None
                findings += self._finding(rule, message, file, record.line, record.loc)
        if issues:
            record.issues = list(issues)
        if findings:
            record.attach(findings)
        return bool(findings)

    def file(self, record: SitemapRecord, file: FileFacts) -> None:
        """Judge a file that has been read: its faults, its children, and itself."""
        issues: dict[str, None] = {}
        findings: list[FindingRecord] = []
        for rule, message, line, url in self._about(file):
            issues[rule.id] = None
            findings += self._finding(rule, message, file, line, url)
        if issues:
            record.issues = list(issues)
        if findings:
            record.attach(findings)

    def _about(self, file: FileFacts) -> list[tuple[Rule, Message, int | None, str | None]]:
        about: list[tuple[Rule, Message, int | None, str | None]] = []
        by_id = {rule.id: rule for rule in self._rules[Needs.FAULT]}
        for fault in file.document.faults:
            if fault.rule in by_id:
                rule = by_id[fault.rule]
                about += [(rule, message, fault.line, None) for message in self._messages(rule, fault)]
        for child in file.children:
            facts = ChildFacts(child, file)
            for rule in self._rules[Needs.CHILD]:
                about += [(rule, message, child.line, child.loc) for message in self._messages(rule, facts)]
        for rule in self._rules[Needs.FILE]:
            about += [(rule, message, None, None) for message in self._messages(rule, file)]
        return about

    def _messages(self, rule: Rule, facts: Any) -> list[Message]:
        try:
            return list(rule.check(facts))
        except Exception:
            logger.exception("rule %s failed", rule.id)
            self.counts[FAILED] += 1
            return []

    def _finding(
        self, rule: Rule, message: Message, file: FileFacts, line: int | None, url: str | None
    ) -> list[FindingRecord]:
        """The finding as a record; none where it is allowed, or where the file has enough of its kind."""
        if self._choice.allowed(rule.id, url or file.url):
            return []
        severity = self._choice.severity(rule, message.severity)
        self.counts[rule.id] += 1
        self.severities[severity] += 1
        file.findings[rule.id] += 1
        if file.findings[rule.id] > self._per_rule:
            return []
        value = message.value[:MAX_VALUE] if message.value else message.value
        at = message.line if message.line is not None else line
        return [
            FindingRecord(
                rule.id, severity, message.text, file.url, at, message.column, url, value, rule.source or None
            )
        ]


def worst(severities: Counter[str]) -> Severity | None:
    """The worst severity that was found."""
    return next((severity for severity in Severity if severities[severity]), None)
