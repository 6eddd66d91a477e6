"""Runs the selected rules and turns their messages into findings."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import cast
from weakref import WeakValueDictionary

from sitemapcrawler.items import FindingRecord, Reach, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.element import Element, Unparsed
from sitemapcrawler.namespaces.schemas import WITH_EXTENSIONS
from sitemapcrawler.namespaces.schemas.check import RULES as SCHEMA_RULES
from sitemapcrawler.namespaces.schemas.check import core_namespaces, plugged_violations, violations
from sitemapcrawler.namespaces.schemas.terms import ENTRIES
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.replies import Reason
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import (
    AssetFacts,
    ChildFacts,
    Counted,
    Drawn,
    Failure,
    FileFacts,
    Known,
    ReplyFacts,
    RobotsFacts,
    SkippedSite,
    Unlisted,
    UrlFacts,
    Value,
    VerdictFacts,
)
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.suspects import BITS, has_objects
from sitemapcrawler.rules.finding_tally import FindingTally, RuleTally, Sum, add_counts
from sitemapcrawler.rules.registry import (
    FIELDS,
    ON_FILES,
    ON_THE_SITE,
    SEVERITIES,
    Message,
    Objects,
    Of,
    Per,
    Rule,
    Severity,
    SiteMessage,
    Subject,
)
from sitemapcrawler.urls.display import masked, masked_url, quoted

logger = logging.getLogger(__name__)

MAX_VALUE = 200
"""Maximum length of a finding's value in characters."""
MAX_VALUES = 1000
"""Values of fields of a file whose findings are remembered; a file has a few, unless its texts are random."""
WHOLE = ("ok", "recovered")
"""Outcomes of files that were read to their end."""

RuleMessage = tuple[Rule, Message]
"""A message and its rule."""
Placed = tuple[Rule, Message, int | None, str | None]
"""The same with the line and the listed URL that it is about."""


class Judge:
    """Judges the files of a crawl with the selected rules, and counts all findings."""

    def __init__(self, choice: Choice, per_rule: int) -> None:
        """`per_rule`: maximum number of findings per rule and file that become records."""
        self.of_site = FindingTally()
        """What rules on the whole site found."""
        self._choice = choice
        self._per_rule = per_rule
        self._rules = {of: choice.rules(of) for of in Of}
        self.selected = [rule for rule in choice.all_rules if choice.chosen(rule)]
        """The selected rules."""
        self._on_structure = {rule.id: rule for rule in self._rules[Of.FAULT] if rule.id in SCHEMA_RULES}
        self._on_faults_in_entries = {rule.id: rule for of in (Of.FAULT, Of.FILE) for rule in self._rules[of]}
        objects = dict.fromkeys(one for rule in self.selected for one in rule.of if isinstance(one, Objects))
        self._subjects: tuple[Subject, ...] = (*FIELDS, *objects)
        """What is judged of entries. Sums of their bits, beginning with those of `suspects.BITS`, stand for several."""
        self._objects = [(1 << at, one) for at, one in enumerate(objects, len(FIELDS))]
        self._rules_of: dict[int, tuple[list[Rule], bool]] = {}
        self._failed: set[str] = set()
        self._by_id = {rule.id: rule for rule in choice.all_rules}
        self._sites: dict[str, FindingTally] = {}
        self.replaced: defaultdict[str, set[str]] = defaultdict(set)
        """Sites on which another rule reports in place of a rule, by the id of the latter."""
        self._of_crawl = FindingTally()
        self._open: WeakValueDictionary[int, FindingTally] = WeakValueDictionary()
        """Tallies of files that are being read."""

    @property
    def found(self) -> FindingTally:
        total = FindingTally()
        for tally in (*self._sites.values(), *self._open.values(), self.of_site, self._of_crawl):
            total.add(tally)
        return total

    @property
    def counts(self) -> Counter[str]:
        return self.found.counts

    @property
    def severities(self) -> Counter[str]:
        return self.found.severities

    @property
    def skipped(self) -> Counter[str]:
        """Files that a rule could not judge, by rule."""
        return Counter({id: found.unjudged for id, found in sorted(self.found.rules.items()) if found.unjudged})

    @property
    def reach(self) -> dict[str, Reach]:
        """What is known so far of what the findings of each severity concern: entries and files. Any thread may ask."""
        ended = [*self._sites.values(), self.of_site, self._of_crawl]
        tallies = [*ended, *(tally for ref in self._open.valuerefs() if (tally := ref()) is not None)]
        entries = sum((Counter(dict(tally.entries)) for tally in tallies), Counter())
        files = sum((Counter(dict(tally.files)) for tally in tallies), Counter())
        others = {name for tally in ended for found in [*tally.rules.values()] for name in [*found.severities]}
        known = [severity for severity in SEVERITIES if severity in {*entries, *files, *others}]
        return {severity: Reach(severity, 0, entries[severity], files[severity]) for severity in known}

    def add(self, tally: FindingTally) -> None:
        """Add what was found in a complete file to that of its site, wherever the file was judged."""
        if tally.site not in self._sites:
            self._sites[tally.site] = FindingTally(tally.site)
        self._sites[tally.site].add(tally)

    def urls(self, urls: Sequence[UrlRecord], file: FileFacts, notes: Notes) -> None:
        """Judge entries; their findings go to the notes."""
        file.tally.count(urls)
        repeats: set[int] = set()
        alike: Counter[Value] = Counter()
        for record, repeated, odd, form in file.suspects.odd_entries(urls, notes, file.has_any_values):
            if repeated:
                repeats.add(id(record))
            known = file.values.get((odd, form)) if form else None
            if known is not None and not record.issues and not has_objects(record):
                record.issues = known.issues or record.issues
                alike[odd, form] += 1
            else:
                facts = UrlFacts(record, file, repeated, notes.get(id(record)))
                if said := self._judged(facts, odd, form):
                    self._note_on_entry(record, file, notes, said)
        for value, times in alike.items():
            said = file.values[value].said
            self._repeat(said, file, times)
            severities = {self._choice.severity(rule, message.severity) for rule, message in said}
            add_counts(file.found.entries, dict.fromkeys(severities, times))
        for record in urls if self._rules[Of.ENTRY] else ():
            facts = UrlFacts(record, file, id(record) in repeats, notes.get(id(record)))
            self._note_on_entry(record, file, notes, self._entry_messages(self._rules[Of.ENTRY], facts))
        if file.document.faults.in_entries:
            self._mark(file, notes)
        self._judge_structure(urls, file, notes)

    def _mark(self, file: FileFacts, notes: Notes) -> None:
        """Add the ids of the reader's faults to the issues of their entries. The findings come with the file."""
        rules = self._on_faults_in_entries
        for note in notes.values():
            record = note.record
            found = [rules[id] for id in note.faults if id in rules and id not in record.issues]
            new = [rule for rule in found if not self._choice.allowed(rule, record.loc)]
            if new:
                self._add_issues(record, file, {rule.id: self._choice.severity(rule) for rule in new})

    def _judge_structure(self, urls: Sequence[UrlRecord], file: FileFacts, notes: Notes) -> None:
        """Check entries against the XML schemas."""
        rules = self._on_structure
        try:
            for record, fault in schema_faults(urls, file, notes) if rules else ():
                if fault.rule in rules:
                    said = ((*said, fault.line, record.loc) for said in self._run(rules[fault.rule], fault))
                    self._note(record, file, notes, said)
        except Exception as error:
            failed = ((*said, None, None) for said in self._fail(SCHEMA_RULE, error))
            self._note(urls[0], file, notes, failed)

    def _judged(self, facts: UrlFacts, odd: int, form: str) -> list[RuleMessage]:
        """Run the rules on the odd fields of an entry (a sum of `suspects.BITS`), or take what they found in their
        `form`, and the rules on its objects."""
        facts.is_only_elsewhere = bool(odd & BITS["place"] and not odd & BITS["loc"])
        objects = self._odd_objects(facts) if has_objects(facts.record) else 0
        rules, by_value = self._on(odd)
        if not form or not by_value:
            return [*self._entry_messages(self._on(odd | objects)[0], facts)]
        known = facts.file.values.get((odd, form))
        said = [*self._entry_messages(rules, facts)] if known is None else known.said
        if known is None and len(facts.file.values) < MAX_VALUES and self._may_repeat(said, facts.file):
            facts.file.values[odd, form] = Known(said, list(dict.fromkeys(rule.id for rule, _ in said)))
        return [*said, *self._entry_messages(self._on(objects)[0], facts)]

    def _odd_objects(self, facts: UrlFacts) -> int:
        """The objects of an entry that are not usual, as a sum of bits."""
        record = facts.record
        return sum(
            bit
            for bit, one in self._objects
            if one.namespace.objects(record) and not (one.usual and _is_true(one.usual, facts))
        )

    def _on(self, subjects: int) -> tuple[list[Rule], bool]:
        """Return the rules on several subjects, given as a sum of bits, and whether all judge a single value."""
        found = self._rules_of.get(subjects)
        if found is None:
            chosen = [one for at, one in enumerate(self._subjects) if subjects >> at & 1]
            rules = [rule for rule in self._choice.rules(*chosen) if Of.ENTRY not in rule.of]
            found = self._rules_of[subjects] = rules, all(rule.judges_one_value for rule in rules)
        return found

    def _on_child(self, odd: int) -> list[Rule]:
        """Return the rules on an entry of an index, given its odd fields as a sum of bits."""
        usual = {one for at, one in enumerate(FIELDS) if not odd >> at & 1}
        fields = ((rule, set(FIELDS).intersection(rule.of)) for rule in self._rules[Of.CHILD])
        return [rule for rule, judged in fields if not judged or judged - usual]

    def _entry_messages(self, rules: Iterable[Rule], facts: UrlFacts | VerdictFacts) -> Iterator[RuleMessage]:
        """Run rules on an entry. Those whose findings are only counted need no lines and texts."""
        known = facts.file.found.rules
        for rule in rules:
            found = known.get(rule.id)
            facts.brief = found is not None and not self._becomes_record(rule, found)
            yield from self._run(rule, facts)

    def _becomes_record(self, rule: Rule, found: RuleTally) -> bool:
        """True while what a rule finds in a file becomes a record, or the example of one."""
        return found.findings < self._per_rule if rule.per is Per.ENTRY else rule.by_value or not found.sums

    def _repeat(self, said: Iterable[RuleMessage], file: FileFacts | Counted, times: int) -> None:
        """Count messages for further entries in which rules find the same: nothing that becomes a record."""
        known: set[str] = set()
        for rule, message in said:
            found, severity = self._found(rule, file), self._choice.severity(rule, message.severity)
            one = found.sums.get(key_of(rule, message, severity)) if self._sums_up_entries(rule, message) else None
            if one is None:
                found.count(severity, times, unlisted=times)
            elif rule.by_value or rule.id not in known:
                one.entries += times
            known.add(rule.id)

    def _may_repeat(self, said: Sequence[RuleMessage], file: FileFacts | Counted) -> bool:
        """True if entries in which rules find the same would change nothing but counts."""
        known = file.found.known
        return not self._choice.looks_at_urls and all(
            known(rule.id).findings >= self._per_rule
            if per(rule, message) is Per.ENTRY
            else not rule.by_value
            and key_of(rule, message, self._choice.severity(rule, message.severity)) in known(rule.id).sums
            for rule, message in said
        )

    def file(self, record: SitemapRecord, file: FileFacts) -> list[FindingRecord]:
        """Judge a complete file: its faults, its children and the file itself. Returns the findings."""
        on_entries = self._findings(record, file, self._listed_messages(file), gathers=True)
        on_file = self._findings(record, file, self._file_messages(record, file))
        file.forget_urls()
        return on_entries + on_file + self.conclude(file)

    def conclude(self, file: FileFacts | Counted) -> list[FindingRecord]:
        """End the tally of a file, and return the findings of rules that report once per file. What rules report once
        per site is returned by `crawl`."""
        tally = file.found
        if self._open.pop(id(tally), None) is None:  # nothing was found
            return []
        told: list[tuple[Rule, Sum]] = []
        for rule, found in [(self._by_id[name], found) for name, found in tally.rules.items()]:
            for one in found.sums.values():
                one.of = entries_in(file, rule)
            if rule.per is not Per.SITE:
                told += [(rule, one) for one in self._told(found)]
        if not isinstance(file, Drawn):  # whose file has been counted
            sums = [one.first.severity for found in tally.rules.values() for one in found.sums.values()]
            tally.files = dict.fromkeys({*tally.severities, *sums}, 1)
        tally.site = file.site
        self.add(tally)
        return [summed_up(rule, one) for rule, one in sorted(told, key=lambda item: item[1].number)]

    def _told(self, found: RuleTally) -> list[Sum]:
        """Count the findings that sum up, and return those that become records."""
        sums, found.sums = [*found.sums.values()], {}
        for one in sums:
            found.count(one.first.severity, 1, unlisted=0)
        return sums if self._per_rule else []

    def verdicts(
        self, denied: Sequence[UrlRecord], facts_of: Callable[[UrlRecord], VerdictFacts], notes: Notes
    ) -> None:
        """Judge entries of a host that robots.txt disallows for the same crawlers. Which rules report is the same, so
        once no more findings become records, the result for one entry applies to the rest."""
        for number, record in enumerate(denied):
            facts = facts_of(record)
            said = [*self._entry_messages(self._rules[Of.VERDICT], facts)]
            may_repeat = self._may_repeat(said, facts.file)
            self._note_on_entry(record, facts.file, notes, said)
            if may_repeat:
                rest = denied[number + 1 :] if said else ()
                if rest:
                    self._repeat(said, facts.file, len(rest))
                issues = {rule.id: self._choice.severity(rule, message.severity) for rule, message in said}
                for other in rest:
                    self._add_issues(other, facts.file, issues)
                break

    def replies(self, replies: Iterable[ReplyFacts], file: FileFacts | Counted, notes: Notes) -> None:
        self._each(Of.REPLY, replies, file, notes)

    def assets(self, assets: Iterable[AssetFacts], file: FileFacts | Counted, notes: Notes) -> None:
        self._each(Of.ASSET, assets, file, notes)

    def judges(self, rules: Iterable[str]) -> bool:
        """True if one of these asset rules is selected."""
        return any(rule.id in rules for rule in self._rules[Of.ASSET])

    def skip(self, rules: Iterable[str], file: FileFacts | Counted) -> None:
        """Count a file as skipped by these asset rules, once."""
        chosen = {rule.id for rule in self._rules[Of.ASSET]}
        for rule in sorted(chosen.intersection(rules)):
            if isinstance(file, FileFacts):
                self._found(self._by_id[rule], file).unjudged = 1

    def _each(self, of: Of, many: Iterable[ReplyFacts | AssetFacts], file: FileFacts | Counted, notes: Notes) -> None:
        for facts in many:
            self._note_on_entry(facts.record, file, notes, self._messages(self._rules[of], facts))

    def robots(self, facts: RobotsFacts) -> list[FindingRecord]:
        """Judge a robots.txt. Returns the findings, those that sum up its lines last."""
        file = Counted(facts.record.robots)
        said = ((*said, None, None) for said in self._messages(self._rules[Of.ROBOTS], facts))
        return self._findings(facts.record, file, said, gathers=True) + self.conclude(file)

    def drawn(self, file: Drawn) -> list[FindingRecord]:
        """Return findings on a file based on its entries in the sample."""
        said = self._messages(self._rules[Of.DRAWN], file)
        findings = self._standalone((one for one in said if not self._choice.allowed(one[0], file.url)), file.url)
        return self.conclude(file) + findings

    def crawl(self, given_up: Mapping[str, int]) -> list[FindingRecord]:
        """Return findings on the crawl itself, and those of rules that report once per site. Call it after `site`.
        `given_up`: {site: number of its sitemaps that were skipped}."""
        findings = []
        for _, tally in sorted(self._sites.items()):
            for rule, found in ((rule, tally.rules[id]) for id, rule in self._by_id.items() if id in tally.rules):
                told = sorted(self._told(found), key=lambda one: one.first.severity)
                findings += [summed_up(rule, one) for one in told]
        facts = [SkippedSite(*one) for one in sorted(given_up.items())]
        said = [(Of.ALLOWANCE, one) for one in self._choice.expired]
        return findings + self._standalone(
            message
            for of, one in [*said, *((Of.GIVEN_UP, one) for one in facts)]
            for message in self._messages(self._rules[of], one)
        )

    @property
    def unlisted(self) -> dict[str, int]:
        """Findings that became no records, by rule."""
        return {id: found.unlisted for id, found in self.found.rules.items() if found.unlisted}

    def incomplete_lists(
        self, left_out: Mapping[str, int] | None = None, rows: int | None = None
    ) -> list[FindingRecord]:
        """Return a finding for each rule whose findings did not all become records. Call it after everything else.
        `left_out`: by rule, what a list of at most `rows` rows lacks."""
        facts = [Unlisted(*one, rows) for one in sorted((self.unlisted if left_out is None else left_out).items())]
        return self._standalone(said for one in facts for said in self._messages(self._rules[Of.UNLISTED], one))

    def site(self, facts: SiteFacts, which: Iterable[Of] = ON_THE_SITE) -> Iterator[FindingRecord]:
        """Yield findings on the whole site, rule by rule and file by file. `which`: only run rules on these."""
        facts.per_file = None if self._choice.looks_at_urls else max(self._per_rule, 1)
        facts.rules = {rule.id for rule in self.selected}
        for of in which:
            for rule in self._rules[of]:
                if facts.stopped():
                    self._skip_on_site(rule)
                    continue
                facts.rule = rule.id
                try:
                    if unjudged := facts.unjudged(of):
                        self._skip_on_site(rule, unjudged)
                    if facts.serves(of):
                        yield from self._of_site(rule, facts)
                    if self._choice.looks_at_urls:
                        facts.forget_marks(partial(self._choice.allowed, rule))
                except Exception as error:
                    if facts.stopped():
                        self._skip_on_site(rule)
                    else:
                        yield from self._standalone(self._fail(rule.id, error), tally=self.of_site)

    def mark_entries(self, facts: SiteFacts) -> None:
        """Mark the entries for which rules have reported their files. Call it after `site`."""
        if facts.stopped():
            return
        facts.mark_files({rule.id for of in ON_FILES for rule in self._rules[of]}, self.replaced)

    def _leave_out_replaced(self, rule: Rule, site: str | None, severity: Severity) -> None:
        """Remove the finding on a site that a rule reports in place of another (`Rule.instead_of`)."""
        if not rule.instead_of:
            return
        site, least = site or "", SEVERITIES.index(severity)
        found = self._sites.get(site, FindingTally()).known(rule.instead_of)
        found.sums = {key: one for key, one in found.sums.items() if SEVERITIES.index(one.first.severity) < least}
        if not found.sums:
            self.replaced[rule.instead_of].add(site)

    def skip_site(self) -> None:
        """Count site-wide rules as skipped: there is no database, or the crawl was stopped."""
        for of in (Of.SITE, Of.WHOLE_SITE):
            for rule in self._rules[of]:
                self._skip_on_site(rule)

    def _skip_on_site(self, rule: Rule, files: int = 1) -> None:
        """Count files, or the whole site, that a rule on the site could not judge."""
        self.of_site.of(rule.id).unjudged += files

    def _of_site(self, rule: Rule, facts: SiteFacts) -> Iterator[FindingRecord]:
        if rule.per is Per.FILE:
            yield from self._of_files(rule, facts)
            return
        told: Counter[str | None] = Counter()
        for message, severity in self._site_messages(rule, facts):
            told[message.sitemap] += 1
            self._leave_out_replaced(rule, message.value, severity)
            is_listed = told[message.sitemap] <= self._per_rule
            self.of_site.of(rule.id).count(severity, message.times, message.times - is_listed)
            if is_listed:
                yield self._record(rule, severity, message, message.sitemap, url=message.url)

    def _of_files(self, rule: Rule, facts: SiteFacts) -> Iterator[FindingRecord]:
        """Yield one finding per file of a rule on the site, those it found before an exception included."""
        found = RuleTally()
        failure: Exception | None = None
        try:
            for message, severity in self._site_messages(rule, facts):
                key = f"{severity} {message.sitemap}"
                if key not in found.sums:
                    found.sums[key] = Sum(self._record(rule, severity, message, message.sitemap, url=message.url))
                found.sums[key].entries += message.times
        except Exception as error:  # `site` reports it
            failure = error
        sums = self._told(found)
        self.of_site.of(rule.id).add(found)
        for one in sums:
            yield summed_up(rule, one)
        if failure is not None:
            raise failure

    def _site_messages(self, rule: Rule, facts: SiteFacts) -> Iterator[tuple[SiteMessage, Severity]]:
        """Yield what a rule finds on the site and the allowlist does not accept, with its severity."""
        for message in cast("Iterator[SiteMessage]", rule.check(facts)):
            if not self._choice.allowed(rule, message.url or message.sitemap or ""):
                yield message, self._choice.severity(rule, message.severity)

    def _standalone(
        self, said: Iterable[RuleMessage], sitemap: str | None = None, tally: FindingTally | None = None
    ) -> list[FindingRecord]:
        """Make findings that are not attached to a record. `tally`: where they count; default: among those of the
        crawl."""
        findings = []
        for rule, message in said:
            severity = self._choice.severity(rule, message.severity)
            (tally or self._of_crawl).of(rule.id).count(severity, 1, unlisted=0)
            findings.append(self._record(rule, severity, message, sitemap))
        return findings

    def _listed_messages(self, file: FileFacts) -> Iterator[Placed]:
        """Yield messages on the reader's faults, and on the children of an index."""
        yield from self._on_faults(file)
        odd = file.odd_children() if file.children else {}
        rules_on = cache(self._on_child)
        for child in file.children:
            repeated, fields = odd.get(id(child), (False, 0))
            for said in self._messages(rules_on(fields), ChildFacts(child, file, repeated, fields)):
                yield *said, child.line, child.loc

    def _file_messages(self, record: SitemapRecord, file: FileFacts) -> Iterator[Placed]:
        whole = record.outcome in WHOLE and not file.narrowed
        for rule, message in self._messages([*self._rules[Of.FILE], *(self._rules[Of.WHOLE] if whole else ())], file):
            yield rule, message, None, message.url
        if not whole:
            for rule in self._rules[Of.WHOLE]:
                self._found(rule, file).unjudged = 1

    def _on_faults(self, file: FileFacts) -> Iterator[Placed]:
        """Yield messages on the reader's faults. Faults beyond those kept in full are only counted."""
        by_id = {rule.id: rule for rule in self._rules[Of.FAULT]}
        uncounted = Counter({id: file.document.faults.counts[id] for id in by_id})
        first: dict[str, RuleMessage] = {}
        for fault in file.document.faults:
            if fault.rule in by_id:
                uncounted[fault.rule] -= 1
                for rule, message in self._run(by_id[fault.rule], fault):
                    yield rule, message, fault.line, fault.url
                    if not self._choice.allowed(rule, fault.url or file.url):
                        first.setdefault(fault.rule, (rule, message))
        for id, number in uncounted.items():
            if number > 0 and id in first:
                self._repeat([first[id]], file, number)

    def _messages(self, rules: Iterable[Rule], facts: object) -> Iterator[RuleMessage]:
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
            logger.exception("rule %s failed; its further failures are only counted", rule)
        return [
            (internal, message)
            for internal in self._rules[Of.FAILURE]
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
        """Count messages, and add their rules to the issues of a record. Returns the findings, up to the limit per rule
        and file. `gathers`: those of rules that report once per file or site are summed up, one for each entry or
        line of robots.txt."""
        issues: dict[str, Severity] = {}
        findings: list[FindingRecord] = []
        values: set[tuple[str, str]] = set()
        for rule, message, line, url in said:
            if self._choice.allowed(rule, url or file.url):
                continue
            severity = self._choice.severity(rule, message.severity)
            if self._sums_up_entries(rule, message) if gathers else self._sums_up_files(rule, record):
                known = rule.id in issues or rule.id in record.issues
                if rule.by_value:
                    value = rule.id, key_of(rule, message, severity)
                    known = value in values
                    values.add(value)
                if not known or not isinstance(record, UrlRecord):
                    self._sum_up((rule, message, line, url), severity, file, int(gathers))
            else:
                found = self._found(rule, file)
                is_listed = found.findings < self._per_rule
                found.count(severity, 1, unlisted=not is_listed)
                if is_listed:
                    findings.append(self._record(rule, severity, message, file.url, line, url))
            issues.setdefault(rule.id, severity)
        if issues:
            self._add_issues(record, file, issues)
        return findings

    def _add_issues(
        self,
        record: UrlRecord | SitemapRecord | RobotsRecord,
        file: FileFacts | Counted,
        issues: Mapping[str, Severity],
    ) -> None:
        """Add rules to the issues of a record, and count an entry once for each severity. `issues`: {rule: severity}"""
        new = [id for id in issues if id not in record.issues]
        if not new:
            return
        if isinstance(record, UrlRecord):
            known = {self._severity_in(file, id) for id in record.issues}
            add_counts(file.found.entries, dict.fromkeys({issues[id] for id in new} - known, 1))
        record.issues = [*record.issues, *new]

    def _severity_in(self, file: FileFacts | Counted, id: str) -> str:
        """A severity with which a rule found something in a file; its own before the findings have come."""
        found = file.found.known(id)
        first = next((one.first.severity for one in found.sums.values()), None)
        rule = self._by_id.get(id)
        own = None if rule is None else self._choice.severity(rule)
        return min(found.severities, key=SEVERITIES.index, default=first or own or "")

    @staticmethod
    def _sums_up_entries(rule: Rule, message: Message) -> bool:
        """True for a message on an entry, or on a line of robots.txt, that becomes part of one finding."""
        scope = per(rule, message)
        return scope is Per.FILE if Of.ROBOTS in rule.of else scope is not Per.ENTRY

    @staticmethod
    def _sums_up_files(rule: Rule, record: object) -> bool:
        """True for a rule on files that reports once per site."""
        return rule.per is Per.SITE and isinstance(record, SitemapRecord)

    def _sum_up(self, said: Placed, severity: Severity, file: FileFacts | Counted, entries: int) -> None:
        """Count a message in what will be one finding. `entries`: 1 for an entry, 0 for the file itself."""
        rule, message, line, url = said
        found = self._found(rule, file)
        key = key_of(rule, message, severity)
        if key not in found.sums:
            is_new_value = rule.by_value and not is_note(rule, message)
            if is_new_value and len(found.sums) >= self._per_rule:  # beyond those that become records
                found.count(severity, 1, unlisted=1)
                return
            number = sum(len(other.sums) for other in file.found.rules.values())
            found.sums[key] = Sum(self._record(rule, severity, message, file.url, line, url), number)
        found.sums[key].entries += entries

    def _found(self, rule: Rule, file: FileFacts | Counted) -> RuleTally:
        """What a rule has found in a file so far, to be added to."""
        if not file.found.rules:
            self._open[id(file.found)] = file.found
        return file.found.of(rule.id)

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


def key_of(rule: Rule, message: Message, severity: Severity) -> str:
    """Key of a message in `RuleTally.sums`: the severity, and the value if the rule reports each one."""
    by_value = rule.by_value and not is_note(rule, message)
    return f"{severity} {shown(message.value) or ''}" if by_value else str(severity)


def _is_true(test: Callable[[UrlFacts], bool], facts: UrlFacts) -> bool:
    """Return the result of `Objects.usual`; False if it raises an exception, so that the rules run and report it."""
    try:
        return test(facts)
    except Exception:
        logger.debug("a check of entries failed", exc_info=True)
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
    if isinstance(file, Drawn) or (isinstance(file, FileFacts) and Of.REPLY in rule.of):
        return sum(number for kind, number in file.replies.items() if kind not in list(Reason))
    return file.entries


def summed_up(rule: Rule, one: Sum) -> FindingRecord:
    """Make the one finding of a sum: that on the only entry, line or file, or their number with the first as an
    example."""
    first, number = one.first, one.entries or one.files
    if number == 1:
        return first
    if not one.entries or (one.entries == one.files and not first.url):
        what, example = f"{number:,} files", quoted(first.sitemap or "")
    elif Of.ROBOTS in rule.of:
        what, example = f"{number:,} lines", f"line {first.line}" if first.line else ""
    else:
        where = f" in {one.files:,} files" if one.files > 1 else ""
        is_among_them = one.of >= number and first.url  # entries without a URL are not among those that were read
        all_of = f" of {one.of:,}" if is_among_them else ""
        what, example = f"{number:,}{all_of} entries{where}", quoted(first.url or "")
    such = f", for example {example}" if example not in ("", "''") else ""
    return replace(first, message=f"{what} {rule.many}".rstrip() + f"{such}: {first.message}")


SCHEMA_RULE = "xml-schema-violation"
"""Rule to report as failed if validation against the schemas raises an exception."""
MAX_SHAPES = 10_000
"""Shapes to remember; a site has a few."""
VALID_SHAPES: set[object] = set()
"""Shapes of entries (`Unparsed.shape`) that the schemas allow."""


def schema_faults(urls: Sequence[UrlRecord], file: FileFacts, notes: Notes) -> Iterator[tuple[UrlRecord, Fault]]:
    """Yield what violates a schema in entries of a urlset, each with its entry. Plain entries are valid by definition,
    and the problems of repaired ones are already reported."""
    judged: list[tuple[UrlRecord, Element, object]] = []
    for note in notes.of(urls):
        shape = note.written.shape if isinstance(note.written, Unparsed) else None
        if not note.record.recovered and shape not in VALID_SHAPES:
            element = note.element
            if element is not None and element.name == ENTRIES[WITH_EXTENSIONS]:
                judged.append((note.record, element, shape))
    if not judged:
        return
    elements = [element for _, element, _ in judged]
    core = core_namespaces(file.document.root_uri, elements[0].uri)
    wrong: set[int] = set()
    for place, found in chain(violations(WITH_EXTENSIONS, elements, core), plugged_violations(elements)):
        wrong.add(place)
        yield judged[place][0], Fault(found.rule, found.message, found.line, None, found.value)
    if len(VALID_SHAPES) < MAX_SHAPES:
        VALID_SHAPES.update(shape for place, (*_, shape) in enumerate(judged) if shape and place not in wrong)
