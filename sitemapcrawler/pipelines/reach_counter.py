"""Counts what each rule concerns as records pass through the pipelines, in a crawl without a database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sitemapcrawler.envelopes import NotedBatch, SitemapEnd
from sitemapcrawler.items import FindingRecord, Reach, RobotsRecord, SitemapRecord
from sitemapcrawler.rules.facts.site import OF_FILES
from sitemapcrawler.rules.reach import Reaches, completed, own_severity
from sitemapcrawler.rules.registry import RULES, SEVERITIES

MAX_URLS = 100_000
"""Distinct URLs of a rule that are counted without a database; about 6 MB of hashes."""
ISSUES = b'"issues":'
"""Text in the JSON of each url record with issues."""


@dataclass(slots=True)
class _RuleReach:
    """What one rule concerns: URLs and files by their hashes."""

    urls: set[int] = field(default_factory=set)
    by_file: defaultdict[int | None, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """The entries of the same URLs by file; those of pages that no file lists under None."""
    at_least: bool = False
    """True if there were more URLs than `MAX_URLS`."""
    entries: int = 0
    files: set[int] = field(default_factory=set)
    reported: dict[str, set[int]] = field(default_factory=dict)
    """URLs of findings, by severity."""
    others: dict[int, str] = field(default_factory=dict)
    """Severity of the URLs in a file that have no finding: the lowest there; of a rule that reports each value once,
    the highest."""
    files_by_severity: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Files with findings."""

    def add_entry(self, url: str, file: int) -> None:
        """Count an entry."""
        self.entries += 1
        self.files.add(file)
        self._add(url, file, 1)

    def _add(self, url: str, file: int | None, entries: int = 0) -> None:
        if len(self.urls) < MAX_URLS or hash(url) in self.urls:
            self.urls.add(hash(url))
            self.by_file[file][hash(url)] += entries
        else:
            self.at_least = True

    def add_finding(self, finding: FindingRecord) -> None:
        """Count the file of a finding, or the page that no file lists, and take its severity."""
        urls = self.reported.setdefault(finding.severity, set())
        if finding.sitemap is not None:
            file = hash(finding.sitemap)
            self.files.add(file)
            self.files_by_severity[finding.severity].add(file)
            choose = min if finding.rule in RULES and RULES[finding.rule].by_value else max
            self.others[file] = choose(self.others.get(file, finding.severity), finding.severity, key=SEVERITIES.index)
        elif finding.url is not None:
            self._add(finding.url, None)
        if finding.url is not None and len(urls) < MAX_URLS:
            urls.add(hash(finding.url))

    def by_severity(self, severities: Sequence[str]) -> Iterator[tuple[str, int | None, set[int]]]:
        """Yield URLs with their severity and file, the worst first. Those without a finding have that of their file, or
        else the lowest of the rule."""
        yield from ((severity, None, set()) for severity in severities)  # those of files
        for file, entries in self.by_file.items():
            rest = {*entries}
            for severity in filter(self.reported.__contains__, severities):
                yield severity, file, rest & self.reported[severity]
                rest -= self.reported[severity]
            yield self.others.get(file, severities[-1]) if file is not None else severities[-1], file, rest


class ReachCounter:
    """Counts what the rules concern, from records as they pass through the pipelines."""

    def __init__(self) -> None:
        self._rules: defaultdict[str, _RuleReach] = defaultdict(_RuleReach)

    def add(self, item: object) -> None:
        """Count an item. Others than records and batches of them are ignored."""
        if isinstance(item, NotedBatch):
            self._add_urls(item)
            self._add_findings(item.notes.findings(item.urls) if item.judged else ())
        elif isinstance(item, (SitemapRecord, RobotsRecord)):
            file = hash(item.sitemap if isinstance(item, SitemapRecord) else item.robots)
            for rule in item.issues:
                self._rules[rule].files.add(file)
            self._add_findings(item.findings if isinstance(item, SitemapEnd) else ())
        elif isinstance(item, FindingRecord):
            self._add_findings([item])

    def _add_urls(self, batch: NotedBatch) -> None:
        if batch.lines is not None and ISSUES not in batch.lines:
            return
        for row in batch.rows:
            for rule in row.issues:
                self._rules[rule].add_entry(row.loc, hash(row.sitemap))

    def _add_findings(self, findings: Iterable[FindingRecord]) -> None:
        for finding in findings:
            self._rules[finding.rule].add_finding(finding)

    def reaches(self, rules: Iterable[str], unlisted: Collection[str] = ()) -> Reaches:
        """What each rule concerns, and each severity. `rules`: all that found something; `unlisted`: see
        `jobs.counting.reaches`."""
        by_rule: dict[str, Reach] = {}
        urls: defaultdict[str, set[int]] = defaultdict(set)
        files: defaultdict[str, set[int]] = defaultdict(set)
        inexact: set[str] = set()
        counted = set(rules)
        for id, one in self._rules.items():
            if id not in counted:  # another rule replaces its finding (`Rule.instead_of`)
                continue
            severities = sorted(one.reported, key=SEVERITIES.index) or [own_severity(id)]
            at_least = one.at_least or id in OF_FILES
            worst = severities[0]
            by_rule[id] = Reach(worst, len(one.urls), one.entries, len(one.files), at_least)
            concerned: defaultdict[str, set[int]] = defaultdict(set)
            entries, where = 0, {*one.files_by_severity[worst]}
            for severity, file, some in one.by_severity(severities):
                concerned[severity] |= some
                if severity == worst and file is not None and some:
                    entries += sum(map(one.by_file[file].__getitem__, some))
                    where.add(file)
            for severity, some in concerned.items():
                urls[severity] |= some
                files[severity] |= one.files
            if len(severities) > 1 and id not in unlisted:
                number = len(concerned[worst])
                by_rule[id] = Reach(worst, number, entries, len(where), at_least, len(one.urls) - number)
            inexact.update(severities if at_least else ())
        by_severity = {
            severity: Reach(severity, len(some), None, len(files[severity]), severity in inexact)
            for severity, some in urls.items()
        }
        return completed(by_rule, by_severity, counted)
