"""Runs the selected rules and turns their messages into findings."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import cast

from sitemapcrawler.items import (
    FileTally,
    FindingRecord,
    JsonObject,
    Notes,
    RobotsRecord,
    SitemapEnd,
    SitemapRecord,
    UrlRecord,
)
from sitemapcrawler.namespaces import Namespace
from sitemapcrawler.namespaces.element import Element, Unparsed
from sitemapcrawler.namespaces.schemas.check import core_namespaces, violations
from sitemapcrawler.namespaces.schemas.plugged import plugged_violations
from sitemapcrawler.namespaces.schemas.repairs import ENTRIES
from sitemapcrawler.namespaces.schemas.repairs import RULES as SCHEMA_RULES
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.replies import Reason
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import (
    AssetFacts,
    ChildFacts,
    Counted,
    Drawn,
    Failure,
    FileFacts,
    Habit,
    ReplyFacts,
    RobotsFacts,
    SkippedSite,
    Unlisted,
    UrlFacts,
    VerdictFacts,
)
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.suspects import BITS
from sitemapcrawler.rules.registry import (
    ON_FILES,
    ON_THE_SITE,
    SEVERITIES,
    Entries,
    Message,
    Needs,
    Per,
    Rule,
    Severity,
    SiteMessage,
)
from sitemapcrawler.urls import site_of
from sitemapcrawler.urls.display import masked, masked_url, quoted

logger = logging.getLogger(__name__)

MAX_VALUE = 200
"""Maximum length of a finding's value in characters."""
MAX_FORMS = 1000
"""Forms of odd entries of a file whose findings are remembered; a file has a few, unless its texts are random."""
WHOLE = ("ok", "recovered")
"""Outcomes of files that were read to their end."""

RuleMessage = tuple[Rule, Message]
"""A message and its rule."""
Tests = tuple[Callable[[UrlFacts], bool], ...]
"""The tests of some rules, each once (`Rule.unless`)."""
Placed = tuple[Rule, Message, int | None, str | None]
"""The same with the line and the listed URL that it is about."""


class Judge:
    """Judges the files of a crawl with the selected rules, and counts all findings."""

    def __init__(self, choice: Choice, per_rule: int) -> None:
        """`per_rule`: maximum number of findings per rule and file that become records."""
        self.counts: Counter[str] = Counter()
        """Findings by rule."""
        self.severities: Counter[str] = Counter()
        """Findings by severity."""
        self.skipped: Counter[str] = Counter()
        """Files that a rule could not judge, by rule."""
        self.unlisted: Counter[str] = Counter()
        """Findings that became no records, by rule."""
        self._choice = choice
        self._per_rule = per_rule
        self._rules = {needs: choice.rules(needs) for needs in Needs}
        self.selected = list({rule.id: rule for rules in self._rules.values() for rule in rules}.values())
        """The selected rules."""
        self._on_structure = {rule.id: rule for rule in self._rules[Needs.FAULT] if rule.id in SCHEMA_RULES}
        self._on_faults_in_entries = {
            rule.id: rule for needs in (Needs.FAULT, Needs.FILE) for rule in self._rules[needs]
        }
        on_entries = self._rules[Needs.URL]
        self._on_every = [rule for rule in on_entries if rule.entries is Entries.EVERY]
        self._on_every_child = [rule for rule in self._rules[Needs.CHILD] if rule.entries is Entries.EVERY]
        self._namespaces = tuple({rule.entries: None for rule in on_entries if isinstance(rule.entries, Namespace)})
        self._without = (False,) * len(self._namespaces)
        self._on_odd: dict[tuple[int, ...], tuple[list[Rule], Tests]] = {}
        self._left: dict[tuple[int, ...], tuple[list[Rule], bool]] = {}
        self._failed: set[str] = set()
        self._by_id = {rule.id: rule for rule in choice.all_rules}
        self._of_sites: dict[tuple[str, str, str, str], Habit] = {}

    def urls(self, urls: Sequence[UrlRecord], file: FileFacts, notes: Notes) -> None:
        """Judge entries; their findings go to the notes."""
        file.tally.count(urls)
        repeats: set[int] = set()
        alike: Counter[tuple[int, str]] = Counter()
        known = {} if self._choice.looks_at_urls else file.known_forms
        for record, repeated, odd, form in file.suspects.odd_entries(urls, notes, file.has_any_values):
            issues = known.get((odd, form))
            if issues is not None and not record.issues and not _has_objects(record):
                record.issues = issues
                alike[odd, form] += 1
                continue
            facts = UrlFacts(record, file, repeated, notes.get(id(record)))
            facts.is_only_elsewhere = bool(odd & BITS["place"] and not odd & BITS["loc"])
            rules, by_form = self._rules_on(record, odd, facts)
            said = file.forms.get((odd, form)) if by_form and form else None
            if said is None:
                said = [*self._entry_messages(rules, facts)] if rules else []
                if by_form and form and len(file.forms) < MAX_FORMS and self._is_counted(said, file):
                    file.forms[odd, form] = said
                    if not repeated and not _has_objects(record) and not self._on_odd[(odd, *self._without)][1]:
                        file.known_forms[odd, form] = list(dict.fromkeys(rule.id for rule, _ in said))
            if said:
                self._note_on_entry(record, file, notes, said)
            if repeated:
                repeats.add(id(record))
        for key, times in alike.items():
            self._count_form(file.forms[key], file, times)
        for record in urls if self._on_every else ():
            facts = UrlFacts(record, file, id(record) in repeats, notes.get(id(record)))
            self._note_on_entry(record, file, notes, self._entry_messages(self._on_every, facts))
        if file.document.faults.in_entries:
            self._mark(notes)
        self._judge_structure(urls, file, notes)

    def _mark(self, notes: Notes) -> None:
        """Add the ids of the reader's faults to the issues of their entries. The findings come with the file."""
        rules = self._on_faults_in_entries
        for note in notes.values():
            record = note.record
            for id in note.faults:
                if id in rules and id not in record.issues and not self._choice.allowed(rules[id], record.loc):
                    record.issues = [*record.issues, id]

    def _judge_structure(self, urls: Sequence[UrlRecord], file: FileFacts, notes: Notes) -> None:
        """Check entries against the XML schemas."""
        rules = self._on_structure
        try:
            for record, faults in schema_faults(urls, file, notes) if rules else ():
                chosen = [(rules[fault.rule], fault) for fault in faults if fault.rule in rules]
                said = ((*said, fault.line, record.loc) for rule, fault in chosen for said in self._run(rule, fault))
                self._note(record, file, notes, said)
        except Exception as error:
            failed = ((*said, None, None) for said in self._fail(SCHEMA_RULE, error))
            self._note(urls[0], file, notes, failed)

    def _rules_on(self, record: UrlRecord, odd: int, facts: UrlFacts) -> tuple[list[Rule], bool]:
        """Return the rules for an odd entry: those on odd ones, on its odd fields (a sum of `suspects.BITS`), and on
        the namespaces that it has objects of, without those that find nothing in it by their own declaration
        (`Rule.unless`); and whether all find the same in all entries of one form."""
        held = (odd, *[bool(namespace.objects(record)) for namespace in self._namespaces])
        found = self._on_odd.get(held)
        if found is None:
            present = {namespace for namespace, has in zip(self._namespaces, held[1:], strict=True) if has}
            fields = {Entries(f"odd-{name}") for name, bit in BITS.items() if odd & bit}
            rules = [rule for rule in self._rules[Needs.URL] if rule.entries in (Entries.ODD, *fields, *present)]
            tests = tuple({rule.unless: None for rule in rules if rule.unless is not None})
            found = self._on_odd[held] = rules, tests
        rules, tests = found
        key = (*held, *[_is_true(test, facts) for test in tests])
        left = self._left.get(key)
        if left is None:
            passed = {test for test, is_true in zip(tests, key[len(held) :], strict=True) if is_true}
            rules = [rule for rule in rules if rule.unless not in passed]
            left = self._left[key] = rules, all(rule.by_form for rule in rules)
        return left

    def _entry_messages(self, rules: Iterable[Rule], facts: UrlFacts) -> Iterator[RuleMessage]:
        """Run rules on an entry. Rules whose finding on the file exists need no lines."""
        habits = facts.file.habits
        known = {key[0] for key in habits} if habits else ()
        for rule in rules:
            facts.brief = rule.id in known and not rule.by_value and rule.per is not Per.ENTRY
            yield from self._run(rule, facts)

    def _count_form(self, said: Sequence[RuleMessage], file: FileFacts, times: int) -> None:
        """Count further entries of a form, in which rules find the same: nothing that becomes a record."""
        known: set[str] = set()
        for rule, message in said:
            if not self._sums_up_entries(rule, message):
                self._count(rule, file, message.severity, times)
                self._leave_out(rule, file, times)
            elif rule.by_value or rule.id not in known:
                file.habits[rule.id, self._choice.severity(rule, message.severity), ""].entries += times
            known.add(rule.id)

    def _is_counted(self, said: Sequence[RuleMessage], file: FileFacts) -> bool:
        """True if these messages about one more entry of a file would change nothing but counts."""
        return all(
            file.findings[rule.id] >= self._per_rule
            if per(rule, message) is Per.ENTRY
            else (rule.id, self._choice.severity(rule, message.severity), "") in file.habits
            for rule, message in said
        )

    def file(self, record: SitemapRecord, file: FileFacts) -> list[FindingRecord]:
        """Judge a complete file: its faults, its children and the file itself. Returns the findings."""
        on_entries = self._findings(record, file, self._listed_messages(file), gathers=True)
        on_file = self._findings(record, file, self._file_messages(record, file))
        file.forget_urls()
        return on_entries + on_file + self.conclude(file)

    def conclude(self, file: FileFacts | Counted) -> list[FindingRecord]:
        """Return the findings of rules that report once per file, after all entries. What rules report once per site
        stays in `file.habits`, and is returned by `crawl`."""
        habits, file.habits = file.habits, {}
        findings: list[FindingRecord] = []
        for key, habit in habits.items():
            rule, severity = self._by_id[key[0]], key[1]
            habit.of = entries_in(file, rule)
            if rule.per is Per.SITE:
                file.habits[key] = habit
                self._merge(file.site if isinstance(file, FileFacts) else site_of(file.url), habit)
                continue
            self._count(rule, file, Severity(severity))
            if self._per_rule:
                findings.append(summed_up(rule, habit))
        return findings

    def _merge(self, site: str, habit: Habit) -> None:
        """Add the habit of a file to that of its site."""
        rule = self._by_id[habit.finding.rule]
        key = (site, rule.id, habit.finding.severity, (rule.by_value and habit.finding.value) or "")
        known = self._of_sites.get(key)
        if known is None:
            self._of_sites[key] = replace(habit)
        else:
            known.finding = min(known.finding, habit.finding, key=lambda finding: finding.sitemap or "")
            known.entries += habit.entries
            known.of += habit.of
            known.files += habit.files

    def verdicts(
        self, denied: Sequence[UrlRecord], facts_of: Callable[[UrlRecord], VerdictFacts], notes: Notes
    ) -> None:
        """Judge entries that robots.txt disallows for the same crawlers.

        Which rules report depends on the crawlers alone. Once no more findings become records, and unless the allowlist
        looks at URLs, the result for one entry applies to the rest.
        """
        for number, record in enumerate(denied):
            facts = facts_of(record)
            said = self._verdict(facts)
            self._note_on_entry(record, facts.file, notes, said)
            if not self._choice.looks_at_urls and not any(self._becomes_record(facts.file, rule) for rule, _ in said):
                self._repeat(said, denied[number + 1 :], facts.file)
                break

    def _verdict(self, facts: VerdictFacts) -> list[RuleMessage]:
        said = []
        for rule in self._rules[Needs.VERDICT]:
            facts.brief = not self._becomes_record(facts.file, rule)
            said += self._run(rule, facts)
        return said

    def _becomes_record(self, file: FileFacts | Counted, rule: Rule) -> bool:
        """True while findings of a rule in a file still become records, or the example of one."""
        if rule.per is not Per.ENTRY:
            return not any(key[0] == rule.id for key in file.habits)
        return file.findings[rule.id] < self._per_rule

    def _repeat(self, said: Sequence[RuleMessage], records: Sequence[UrlRecord], file: FileFacts | Counted) -> None:
        """Count the same messages for further entries, without finding records."""
        for rule, message in said if records else ():
            self._count_again(rule, file, message.severity, len(records))
        issues = list(dict.fromkeys(rule.id for rule, _ in said))
        for record in records if issues else ():
            record.issues = [*record.issues, *issues] if record.issues else issues

    def replies(self, replies: Iterable[ReplyFacts], file: FileFacts | Counted, notes: Notes) -> None:
        """Judge entries whose URLs were requested."""
        self._each(Needs.REPLY, replies, file, notes)

    def assets(self, assets: Iterable[AssetFacts], file: FileFacts | Counted, notes: Notes) -> None:
        """Judge images and video files."""
        self._each(Needs.ASSET, assets, file, notes)

    def judges(self, rules: Iterable[str]) -> bool:
        """True if one of these asset rules is selected."""
        return any(rule.id in rules for rule in self._rules[Needs.ASSET])

    def skip(self, rules: Iterable[str], file: FileFacts | Counted) -> None:
        """Count a file as skipped by these asset rules, once."""
        chosen = {rule.id for rule in self._rules[Needs.ASSET]}
        for rule in sorted(chosen.intersection(rules)):
            if isinstance(file, FileFacts) and not file.skipped[rule]:
                file.skipped[rule] += 1
                self.skipped[rule] += 1

    def _each(
        self, needs: Needs, many: Iterable[ReplyFacts | AssetFacts], file: FileFacts | Counted, notes: Notes
    ) -> None:
        for facts in many:
            self._note_on_entry(facts.record, file, notes, self._messages(self._rules[needs], facts))

    def robots(self, facts: RobotsFacts) -> list[FindingRecord]:
        """Judge a robots.txt. Returns the findings, those that sum up its lines last."""
        file = Counted(facts.record.robots)
        said = ((*said, None, None) for said in self._messages(self._rules[Needs.ROBOTS], facts))
        return self._findings(facts.record, file, said, gathers=True) + self.conclude(file)

    def drawn(self, file: Drawn) -> list[FindingRecord]:
        """Return findings on a file based on its entries in the sample."""
        said = self._messages(self._rules[Needs.DRAWN], file)
        findings = self._standalone((one for one in said if not self._choice.allowed(one[0], file.url)), file.url)
        return self.conclude(file) + findings

    def crawl(self, given_up: Mapping[str, int]) -> list[FindingRecord]:
        """Return findings on the crawl itself, and those of rules that report once per site. Call it after `site`.
        `given_up`: {site: number of its sitemaps that were skipped}."""
        findings = []
        order = {id: place for place, id in enumerate(self._by_id)}
        habits = sorted(self._of_sites.items(), key=lambda item: (item[0][0], order[item[0][1]], *item[0][2:]))
        for (_, id, severity, _), habit in habits:
            self._count(self._by_id[id], None, Severity(severity))
            findings += [summed_up(self._by_id[id], habit)] if self._per_rule else []
        facts = [SkippedSite(*one) for one in sorted(given_up.items())]
        said = [(Needs.ALLOWANCE, one) for one in self._choice.expired]
        return findings + self._standalone(
            message
            for needs, one in [*said, *((Needs.GIVEN_UP, one) for one in facts)]
            for message in self._messages(self._rules[needs], one)
        )

    def incomplete_lists(
        self, left_out: Mapping[str, int] | None = None, rows: int | None = None
    ) -> list[FindingRecord]:
        """Return a finding for each rule whose findings did not all become records. Call it after everything else.
        `left_out`: by rule, what a list of at most `rows` rows lacks."""
        numbers = self.unlisted if left_out is None else left_out
        facts = [Unlisted(*one, rows) for one in sorted(numbers.items())]
        return self._standalone(said for one in facts for said in self._messages(self._rules[Needs.UNLISTED], one))

    def site(self, facts: SiteFacts, which: Iterable[Needs] = ON_THE_SITE) -> Iterator[FindingRecord]:
        """Yield findings on the whole site, rule by rule and file by file. `which`: only run rules with these needs."""
        facts.per_file = None if self._choice.looks_at_urls else max(self._per_rule, 1)
        for needs in which:
            for rule in self._rules[needs]:
                if facts.stopped():
                    self.skipped[rule.id] += 1
                    continue
                facts.rule = rule.id
                try:
                    if unjudged := facts.unjudged(needs):
                        self.skipped[rule.id] += unjudged
                    if facts.serves(needs):
                        yield from self._of_site(rule, facts)
                    if self._choice.looks_at_urls:
                        facts.forget_marks(partial(self._choice.allowed, rule))
                except Exception as error:
                    if facts.stopped():
                        self.skipped[rule.id] += 1
                    else:
                        yield from self._standalone(self._fail(rule.id, error))

    def mark_entries(self, facts: SiteFacts) -> None:
        """Mark the entries for which rules have reported their files. Call it after `site`."""
        if facts.stopped():
            return
        facts.mark_files({rule.id for needs in ON_FILES for rule in self._rules[needs]})
        for rule in self._by_id.values():
            if rule.instead_of:
                facts.replace_marks(rule.instead_of, rule.id)

    def repeat(self, finding: FindingRecord) -> None:
        """Take over a finding on the whole site from an earlier crawl. It is counted by `add`."""
        rule = self._by_id.get(finding.rule)
        if rule is not None:
            self._leave_out_replaced(rule, finding.value, Severity(finding.severity))

    def _leave_out_replaced(self, rule: Rule, site: str | None, severity: Severity) -> None:
        """Remove the finding on a site that a rule reports in place of another (`Rule.instead_of`)."""
        least = SEVERITIES.index(severity)
        for key in [key for key in self._of_sites if key[:2] == (site or "", rule.instead_of)]:
            if SEVERITIES.index(key[2]) >= least:
                del self._of_sites[key]

    def totals(self) -> dict[str, Counter[str]]:
        """Return the counts so far, by name."""
        names = ("counts", "severities", "skipped", "unlisted")
        return {name: getattr(self, name).copy() for name in names}

    def add(self, totals: Mapping[str, Mapping[str, int]]) -> None:
        """Add counts from before a resume."""
        for name, counts in totals.items():
            getattr(self, name).update(counts)

    @staticmethod
    def habits_of(file: FileFacts | Counted) -> list[JsonObject]:
        """What a complete file contributes to the findings per site, for `add_habits`."""
        site = file.site if isinstance(file, FileFacts) else site_of(file.url)
        return [{"site": site, **asdict(habit)} for habit in file.habits.values()]

    def add_habits(self, habits: Iterable[JsonObject]) -> None:
        """Add what a file contributed in an earlier run or crawl."""
        for one in habits:
            fields = {name: value for name, value in one["finding"].items() if name != "type"}
            if fields["rule"] in self._by_id:
                counts = {name: one[name] for name in ("entries", "of", "files")}
                self._merge(one["site"], Habit(FindingRecord(**fields), **counts))

    def skip_site(self) -> None:
        """Count site-wide rules as skipped: there is no database, or the crawl was stopped."""
        self.skipped.update(rule.id for needs in (Needs.SITE, Needs.WHOLE_SITE) for rule in self._rules[needs])

    def _of_site(self, rule: Rule, facts: SiteFacts) -> Iterator[FindingRecord]:
        told: Counter[str | None] = Counter()
        if rule.per is Per.FILE:
            yield from self._of_files(rule, facts)
            return
        for message in cast("Iterator[SiteMessage]", rule.check(facts)):
            sitemap, url = message.sitemap, message.url
            if self._choice.allowed(rule, url or sitemap or ""):
                continue
            severity = self._count(rule, None, message.severity, message.times)
            told[sitemap] += 1
            self._leave_out_replaced(rule, message.value, severity)
            is_listed = told[sitemap] <= self._per_rule
            self._leave_out(rule, None, message.times - is_listed)
            if is_listed:
                yield self._record(rule, severity, message, sitemap, url=url)

    def _of_files(self, rule: Rule, facts: SiteFacts) -> Iterator[FindingRecord]:
        """Yield one finding per file of a rule on the site, those it found before an exception included."""
        habits: dict[tuple[str | None, Severity], Habit] = {}
        failure: Exception | None = None
        try:
            for message in cast("Iterator[SiteMessage]", rule.check(facts)):
                sitemap, url = message.sitemap, message.url
                if self._choice.allowed(rule, url or sitemap or ""):
                    continue
                severity = self._choice.severity(rule, message.severity)
                if (sitemap, severity) not in habits:
                    habits[sitemap, severity] = Habit(self._record(rule, severity, message, sitemap, url=url))
                habits[sitemap, severity].entries += message.times
        except Exception as error:  # `site` reports it
            failure = error
        for (_, severity), habit in habits.items():
            self._count(rule, None, severity)
            if self._per_rule:
                yield summed_up(rule, habit)
        if failure is not None:
            raise failure

    def _standalone(self, said: Iterable[RuleMessage], sitemap: str | None = None) -> list[FindingRecord]:
        """Make findings that are not attached to a record."""
        return [
            self._record(rule, self._count(rule, None, message.severity), message, sitemap) for rule, message in said
        ]

    def _listed_messages(self, file: FileFacts) -> Iterator[Placed]:
        """Yield messages on the reader's faults, and on the children of an index."""
        yield from self._on_faults(file)
        for child in file.children:
            rules = self._on_every_child if file.is_plain(child) else self._rules[Needs.CHILD]
            for said in self._messages(rules, ChildFacts(child, file)):
                yield *said, child.line, child.loc

    def _file_messages(self, record: SitemapRecord, file: FileFacts) -> Iterator[Placed]:
        whole = record.outcome in WHOLE and not file.narrowed
        for rule, message in self._messages(
            [*self._rules[Needs.FILE], *(self._rules[Needs.WHOLE] if whole else ())], file
        ):
            yield rule, message, None, message.url
        if not whole:
            skipped = [rule.id for rule in self._rules[Needs.WHOLE]]
            self.skipped.update(skipped)
            file.skipped.update(skipped)

    def _on_faults(self, file: FileFacts) -> Iterator[Placed]:
        """Yield messages on the reader's faults. Faults beyond those kept in full are only counted."""
        by_id = {rule.id: rule for rule in self._rules[Needs.FAULT]}
        uncounted = Counter({id: file.document.faults.counts[id] for id in by_id})
        for fault in file.document.faults:
            if fault.rule in by_id:
                uncounted[fault.rule] -= 1
                for rule, message in self._run(by_id[fault.rule], fault):
                    yield rule, message, fault.line, fault.url
        for id, number in uncounted.items():
            if number > 0:
                self._count_again(by_id[id], file, times=number)

    def _messages(self, rules: Iterable[Rule], facts: object) -> Iterator[RuleMessage]:
        """Run rules on the same facts."""
        return (said for rule in rules for said in self._run(rule, facts))

    def _run(self, rule: Rule, facts: object) -> list[RuleMessage]:
        try:
            return [(rule, message) for message in rule.check(facts)]
        except Exception as error:
            return self._fail(rule.id, error)

    def _fail(self, rule: str, error: Exception) -> list[RuleMessage]:
        """Report a rule that raised an exception. Must be called in the `except` block."""
        if rule not in self._failed:
            self._failed.add(rule)
            logger.exception("rule %s failed; further failures of it are counted only", rule)
        return [
            (internal, message)
            for internal in self._rules[Needs.FAILURE]
            for message in internal.check(Failure(rule, error))
        ]

    def _note_on_entry(
        self, record: UrlRecord, file: FileFacts | Counted, notes: Notes, said: Iterable[RuleMessage]
    ) -> None:
        self._note(record, file, notes, ((*one, record.line, record.loc) for one in said))

    def _note(self, record: UrlRecord, file: FileFacts | Counted, notes: Notes, said: Iterable[Placed]) -> None:
        findings = self._findings(record, file, said, gathers=True)
        if findings:
            notes.on(record).findings += findings

    def _findings(
        self,
        record: UrlRecord | SitemapRecord | RobotsRecord,
        file: FileFacts | Counted,
        said: Iterable[Placed],
        gathers: bool = False,
    ) -> list[FindingRecord]:
        """Add the issues of messages to a record. Returns the findings, up to the limit per rule and file. `gathers`:
        those of rules that report once per file or site are gathered in `file.habits`, one for each entry or line
        of robots.txt."""
        issues: dict[str, None] = {}
        findings: list[FindingRecord] = []
        for rule, message, line, url in said:
            if self._choice.allowed(rule, url or file.url):
                continue
            if self._sums_up_entries(rule, message) if gathers else self._sums_up_files(rule, record):
                known = isinstance(record, UrlRecord) and (rule.id in issues or rule.id in record.issues)
                if rule.by_value or not known:
                    self._gather(rule, message, file, line, url, int(gathers))
                issues[rule.id] = None
                continue
            issues[rule.id] = None
            severity = self._count(rule, file, message.severity)
            if file.findings[rule.id] <= self._per_rule:
                findings.append(self._record(rule, severity, message, file.url, line, url))
            else:
                self._leave_out(rule, file, 1)
        new = [id for id in issues if id not in record.issues]
        if new:
            record.issues = [*record.issues, *new]
        return findings

    @staticmethod
    def _sums_up_entries(rule: Rule, message: Message) -> bool:
        """True for a message on an entry, or on a line of robots.txt, that becomes part of one finding."""
        scope = per(rule, message)
        return scope is Per.FILE if Needs.ROBOTS in rule.needs else scope is not Per.ENTRY

    @staticmethod
    def _sums_up_files(rule: Rule, record: object) -> bool:
        """True for a rule on files that reports once per site."""
        return rule.per is Per.SITE and isinstance(record, SitemapRecord)

    def _gather(
        self,
        rule: Rule,
        message: Message,
        file: FileFacts | Counted,
        line: int | None,
        url: str | None,
        entries: int,
    ) -> None:
        """Add to the habits of a file. `entries`: 1 for an entry, 0 for the file itself."""
        severity = self._choice.severity(rule, message.severity)
        by_value = rule.by_value and not is_note(rule, message)
        key = (rule.id, severity, (by_value and shown(message.value)) or "")
        habit = file.habits.get(key)
        if habit is None and by_value and self._is_full(file, rule):
            self._count(rule, file, message.severity)  # a value beyond those that become records
            self._leave_out(rule, file, 1)
            return
        if habit is None:
            habit = file.habits[key] = Habit(self._record(rule, severity, message, file.url, line, url))
        habit.entries += entries

    def _is_full(self, file: FileFacts | Counted, rule: Rule) -> bool:
        """True if a rule that reports each value has found as many in a file as become records."""
        return sum(key[0] == rule.id for key in file.habits) >= self._per_rule

    def _count_again(
        self, rule: Rule, file: FileFacts | Counted, severity: Severity | None = None, times: int = 1
    ) -> None:
        """Count further entries with what a rule has reported in this file, if it has."""
        habit = next((habit for key, habit in file.habits.items() if key[0] == rule.id), None)
        if habit is not None:
            habit.entries += times
        elif file.findings[rule.id]:
            self._count(rule, file, severity, times)
            self._leave_out(rule, file, times)

    def _count(
        self, rule: Rule, file: FileFacts | Counted | None, severity: Severity | None = None, times: int = 1
    ) -> Severity:
        severity = self._choice.severity(rule, severity)
        self.counts[rule.id] += times
        self.severities[severity] += times
        if file is not None:
            file.findings[rule.id] += times
            file.severities[severity] += times
        return severity

    def _leave_out(self, rule: Rule, file: FileFacts | Counted | None, times: int) -> None:
        """Count findings that become no records."""
        if times:
            self.unlisted[rule.id] += times
            if file is not None:
                file.unlisted[rule.id] += times

    @staticmethod
    def _record(
        rule: Rule,
        severity: Severity,
        message: Message,
        sitemap: str | None = None,
        line: int | None = None,
        url: str | None = None,
    ) -> FindingRecord:
        value = shown(message.value)
        at = message.line if message.line is not None else line
        return FindingRecord(
            rule.id, severity, masked(message.text), sitemap, at, message.column, url, value, rule.source or None
        )


def tally_of(record: SitemapEnd) -> FileTally:
    """Return what a complete file adds to the counts of a crawl; `jobs.crawl.Crawl.add_file` adds it."""
    file, result = record.facts, record.result
    tally: FileTally = {}
    if result.skipped:
        tally["skipped"] = result.skipped
    if result.alias:
        tally["alias"] = True
    if file is not None:
        if file.findings:
            tally |= {"findings": file.findings, "severities": file.severities}
        if file.skipped:
            tally["rules_skipped"] = file.skipped
        if file.unlisted:
            tally["unlisted"] = file.unlisted
        if habits := Judge.habits_of(file):
            tally["habits"] = habits
    if result.trust:
        tally["trust"] = result.trust
    return tally


def _has_objects(record: UrlRecord) -> bool:
    """True for an entry with objects of a namespace."""
    return bool(
        record.images or record.videos or record.alternates or record.news is not None or record.extra is not None
    )


def _is_true(test: Callable[[UrlFacts], bool], facts: UrlFacts) -> bool:
    """Return the result of `Rule.unless`; False if it raises an exception, so that the rules run and report it."""
    try:
        return test(facts)
    except Exception:
        logger.debug("a test of entries failed", exc_info=True)
        return False


def shown(value: str | None) -> str | None:
    """The value of a finding: masked and cut."""
    return masked_url(value)[:MAX_VALUE] if value else value


def per(rule: Rule, message: Message) -> Per:
    """What a message about an entry becomes one finding for."""
    return message.per or (Per.FILE if rule.per is Per.ENTRY and is_note(rule, message) else rule.per)


def is_note(rule: Rule, message: Message) -> bool:
    """True for a note (info) of a rule with a higher severity, which is reported once per file."""
    return message.severity is Severity.INFO is not rule.severity


def entries_in(file: FileFacts | Counted, rule: Rule) -> int:
    """Number of entries that a rule was called for in a file; 0 if unknown."""
    if isinstance(file, Drawn) or (isinstance(file, FileFacts) and Needs.REPLY in rule.needs):
        return sum(number for kind, number in file.replies.items() if kind not in list(Reason))
    return file.entries


def summed_up(rule: Rule, habit: Habit) -> FindingRecord:
    """Make the one finding on a habit: that on the only entry, line or file, or their number with the first as an
    example."""
    first, number = habit.finding, habit.entries or habit.files
    if number == 1:
        return first
    if habit.entries in (0, habit.files):
        what, example = f"{number:,} files", quoted((habit.entries and first.url) or first.sitemap or "")
    elif Needs.ROBOTS in rule.needs:
        what, example = f"{number:,} lines", f"line {first.line}" if first.line else ""
    else:
        where = f" in {habit.files:,} files" if habit.files > 1 else ""
        is_among_them = habit.of >= number and first.url  # entries without a URL are not among those that were read
        all_of = f" of {habit.of:,}" if is_among_them else ""
        what, example = f"{number:,}{all_of} entries{where}", quoted(first.url or "")
    such = f", for example {example}" if example not in ("", "''") else ""
    return replace(first, message=f"{what} {rule.many}".rstrip() + f"{such}: {first.message}")


ROOT = "urlset"

SCHEMA_RULE = "xml-schema-violation"
"""Rule to report as failed if validation against the schemas raises an exception."""


MAX_SHAPES = 10_000
"""Shapes to remember; a site has a few."""
VALID_SHAPES: set[tuple[object, ...]] = set()
"""Shapes of entries (`Unparsed.shape`) that the schemas allow."""


def schema_faults(urls: Sequence[UrlRecord], file: FileFacts, notes: Notes) -> Iterator[tuple[UrlRecord, list[Fault]]]:
    """Yield entries of a urlset that violate a schema, with their faults. Plain entries are valid by definition, and
    the problems of repaired ones are already reported."""
    shapes: dict[int, tuple[object, ...]] = {}
    judged: list[tuple[UrlRecord, Element]] = []
    for record in urls if notes else ():
        note = notes.get(id(record))
        if note is None or note.written is None or record.recovered:
            continue
        if isinstance(note.written, Unparsed):
            if note.written.shape in VALID_SHAPES:
                continue
            shapes[len(judged)] = note.written.shape
        element = note.element
        if element is not None and element.name == ENTRIES[ROOT]:
            judged.append((record, element))
    if not judged:
        return
    elements = [element for _, element in judged]
    found = chain(violations(ROOT, elements, core_namespaces(file.document.root_uri, elements[0].uri)),
                  plugged_violations(elements))  # fmt: skip
    for place, same in groupby(found, itemgetter(0)):
        shapes.pop(place, None)
        yield judged[place][0], [Fault(v.rule, v.message, v.line, None, v.value) for _, v in same]
    if len(VALID_SHAPES) < MAX_SHAPES:
        VALID_SHAPES.update(shapes.values())
