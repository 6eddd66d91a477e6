"""What the rules find in one file that is read without a crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sitemapcrawler.items import FindingRecord, UrlRecord
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.rules.choice import NONE, Choice
from sitemapcrawler.rules.facts import FileFacts
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import Needs

MET = {Needs.URL, Needs.EVERY_URL, Needs.CHILD, Needs.FILE, Needs.WHOLE, Needs.FAULT}
"""Needs that a file alone meets."""
NEVER_SKIPPED = {Needs.BASELINE, Needs.FAILURE, Needs.ALLOWANCE, Needs.GIVEN_UP}
"""Needs of rules that only speak where there is something to compare with, to fail, to allow or to give up."""


class JudgedFile:
    """A file before the rules that were chosen: its entries as they are read, then itself."""

    def __init__(self, file: FileFacts, choice: Choice, per_rule: int) -> None:
        """`per_rule`: findings of one rule that become records at most. With the choice `none` nothing is judged."""
        self.findings: list[FindingRecord] = []
        """Entry by entry, then those on the file."""
        self.counts: Counter[str] = Counter()
        """Findings by rule, complete."""
        self.skipped: Counter[str] = Counter()
        """Rules that could not judge."""
        self._file = file
        self._choice = choice
        self._judge = Judge(choice, per_rule) if NONE not in choice.select else None
        if self._judge is not None:
            self.counts, self.skipped = self._judge.counts, self._judge.skipped

    def entries(self, entries: Sequence[UrlRecord | ChildRecord]) -> None:
        """Judge entries in the order of the file; those of an index wait for its end."""
        if self._judge is None:
            return
        pages = []
        for entry in entries:
            if isinstance(entry, UrlRecord):
                pages.append(entry)
            else:
                self._file.list_child(entry)
        if pages and self._judge.urls(pages, self._file):
            for page in pages:
                self.findings += getattr(page, "findings", ())

    def conclude(self) -> None:
        """Judge the file, which has been read and described."""
        if self._judge is None:
            return
        record = self._file.record
        self._file.indexes = int(record.format == "xml-index")
        self._judge.file(record, self._file)
        self.findings += getattr(record, "findings", ())
        for rule in filter(self._choice.chosen, self._choice.all_rules):
            if not (MET | NEVER_SKIPPED).intersection(rule.needs):
                self.skipped[rule.id] += 1
