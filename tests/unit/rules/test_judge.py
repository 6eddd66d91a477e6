"""Running rules: what becomes a record, what is only counted, what is skipped, and what happens when a rule fails."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from sitemapcrawler.items import Reach, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces import OWN, Namespace
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.faults import MAX_KEPT
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules import Message, Objects, Of, Rule, Severity, all_rules
from sitemapcrawler.rules.choice import Allowance, Choice
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.reach import places
from sitemapcrawler.urls.expressions import Expression

from .expecting import BAD
from .judging import NOW, URL

INTERNAL = tuple(rule for rule in all_rules() if {Of.FAILURE, Of.ALLOWANCE, Of.GIVEN_UP} & set(rule.of))


def says(id: str, needs: Of, severity: Severity = Severity.WARNING, times: int = 1) -> Rule:
    def check(_: Any) -> Iterator[Message]:
        for number in range(times):
            yield Message(f"{id} {number}", value="v" * 1000)

    return Rule(id, severity, "https://example.com/source", (needs,), check)


def fails(id: str, needs: Of) -> Rule:
    def check(_: Any) -> Iterator[Message]:
        yield Message("before the failure")
        raise ZeroDivisionError("by hand")

    return Rule(id, Severity.ERROR, "", (needs,), check)


def judge_of(*rules: Rule, per_rule: int = 100, **choice: Any) -> Judge:
    return Judge(Choice((*rules, *INTERNAL), **choice), per_rule)


def facts(outcome: str = "ok") -> FileFacts:
    return FileFacts(URL, SitemapRecord(URL, outcome=outcome), Document(URL), fetched_at=NOW)


def suspects(number: int) -> list[UrlRecord]:
    """Entries that no judge takes for clean."""
    return [UrlRecord(f"https://example.com/#{n}", line=n) for n in range(1, number + 1)]


def test_a_finding_carries_what_the_rule_cannot_misstate() -> None:
    judge, file = judge_of(says("loc-x", Of.ENTRY)), facts()
    [record] = suspects(1)
    notes = Notes()
    judge.urls([record], file, notes)
    [finding] = notes.findings([record])
    assert (finding.rule, finding.severity, finding.message) == ("loc-x", "warning", "loc-x 0")
    assert (finding.sitemap, finding.line, finding.url) == (URL, 1, "https://example.com/#1")
    assert finding.source == "https://example.com/source"
    assert finding.value == "v" * 200
    assert record.issues == ["loc-x"]


def test_rows_are_capped_by_rule_and_file_and_counts_are_complete() -> None:
    judge = judge_of(says("loc-x", Of.ENTRY), says("loc-y", Of.FILE, times=7), per_rule=5)
    for file in (facts(), facts()):
        records = suspects(8)
        notes = Notes()
        judge.urls(records, file, notes)
        assert [len(notes.findings([record])) for record in records] == [1] * 5 + [0] * 3
        assert all(record.issues == ["loc-x"] for record in records)
        assert len(judge.file(file.record, file)) == 5
    assert judge.counts == {"loc-x": 16, "loc-y": 14}
    assert judge.severities == {"warning": 30}


def test_entries_and_files_are_counted_while_they_are_read() -> None:
    """What the live display shows: an entry counts once for each severity, however many rules report it."""
    odd = Rule("loc-z", Severity.ERROR, "", (Of.ENTRY,), lambda entry: says_on_odd(entry.record.line))
    judge = judge_of(says("loc-x", Of.ENTRY), says("loc-y", Of.ENTRY), odd, says("doc-x", Of.FILE), per_rule=2)
    first, second = facts(), facts()
    judge.urls(suspects(8), first, Notes())
    assert judge.reach == {"error": Reach("error", 0, 4), "warning": Reach("warning", 0, 8)}
    judge.file(first.record, first)
    judge.file(second.record, second)
    assert judge.reach == {"error": Reach("error", 0, 4, 1), "warning": Reach("warning", 0, 8, 2)}
    resumed = judge_of()
    for file in (first, second):
        resumed.add(file.found)
    assert resumed.reach == judge.reach


def says_on_odd(line: int) -> Iterator[Message]:
    if line % 2:
        yield Message("odd")


def test_findings_on_the_crawl_concern_the_site() -> None:
    judge = judge_of(
        allowances=(Allowance("loc-x", Expression("/old/"), "gone", date(2026, 5, 31)),), today=date(2026, 6, 1)
    )
    judge.crawl({})
    assert places(judge.reach) == {"warning": "warnings on the site"}


def test_faults_that_the_reader_only_counted_are_counted() -> None:
    judge, file = judge_of(says("xml-x", Of.FAULT)), facts()
    for line in range(MAX_KEPT + 500):
        file.document.faults.add("xml-x", "a fault", line)
    assert len(judge.file(file.record, file)) == 100
    assert judge.counts == {"xml-x": MAX_KEPT + 500}


@pytest.mark.parametrize("outcome", ["truncated", "failed", "blocked"])
def test_a_rule_on_whole_files_is_skipped_where_the_file_is_not_whole(outcome: str) -> None:
    judge, file = judge_of(says("loc-x", Of.WHOLE), says("loc-y", Of.FILE)), facts(outcome)
    judge.file(file.record, file)
    assert (judge.counts, judge.skipped) == ({"loc-y": 1}, {"loc-x": 1})


def test_a_rule_on_whole_files_judges_a_recovered_one() -> None:
    judge, file = judge_of(says("loc-x", Of.WHOLE)), facts("recovered")
    judge.file(file.record, file)
    assert (judge.counts, judge.skipped) == ({"loc-x": 1}, {})


@pytest.mark.parametrize("needs", [Of.ENTRY, Of.FILE, Of.FAULT, Of.WHOLE])
def test_a_rule_that_fails_is_a_finding_and_the_others_go_on(needs: Of, caplog: pytest.LogCaptureFixture) -> None:
    judge, file = judge_of(fails("loc-bad", needs), says("loc-y", needs)), facts()
    file.document.faults.add("loc-bad", "a fault", 3)
    file.document.faults.add("loc-y", "a fault", 4)
    with caplog.at_level(logging.ERROR):
        [record] = suspects(1)
        notes = Notes()
        judge.urls([record], file, notes)
        finding = [*notes.findings([record]), *judge.file(file.record, file)][0]
    assert judge.counts == {"internal-rule-failed": 1, "loc-y": 1}
    assert (finding.rule, finding.value, finding.sitemap) == ("internal-rule-failed", "loc-bad", URL)
    assert "the rule loc-bad failed with ZeroDivisionError" in finding.message
    assert "by hand" in caplog.text


def test_a_rule_that_always_fails_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    judge, file = judge_of(fails("loc-bad", Of.ENTRY)), facts()
    judge.urls(suspects(50), file, Notes())
    assert caplog.text.count("rule loc-bad failed") == 1
    assert judge.counts == {"internal-rule-failed": 50}


def test_what_is_allowed_is_neither_counted_nor_an_issue() -> None:
    allowance = Allowance("loc-x", Expression("#1$"), "known")
    judge, file = judge_of(says("loc-x", Of.ENTRY), allowances=(allowance,)), facts()
    first, second = suspects(2)
    judge.urls([first, second], file, Notes())
    assert (first.issues, second.issues) == ((), ["loc-x"])
    assert judge.counts == {"loc-x": 1}


def test_an_expired_allowance_is_a_finding_on_the_crawl() -> None:
    allowance = Allowance("loc-x", Expression("/old/"), "the archive", date(2026, 5, 31))
    judge = judge_of(allowances=(allowance,), today=date(2026, 6, 1))
    [finding] = judge.crawl({})
    assert (finding.rule, finding.severity, finding.sitemap) == ("allow-expired", "warning", None)
    assert finding.message == "the allowance of loc-x for /old/ ended on 2026-05-31; its reason was: the archive"
    assert judge.counts == {"allow-expired": 1}


def test_severities_that_are_set_are_counted() -> None:
    judge, file = judge_of(says("loc-x", Of.ENTRY), severities={"loc": Severity.ERROR}), facts()
    [record] = suspects(1)
    notes = Notes()
    judge.urls([record], file, notes)
    assert notes.findings([record])[0].severity == "error"
    assert judge.severities == {"error": 1}


def test_facts_of_an_entry_that_is_no_url_can_be_asked() -> None:
    entry = UrlFacts(UrlRecord("http://[broken"), facts())
    assert entry.parts.path == "http://[broken"


@pytest.mark.parametrize("namespace", OWN, ids=lambda namespace: namespace.prefix)
def test_a_rule_that_is_not_asked_would_have_nothing_to_say(namespace: Namespace) -> None:
    rules = [
        rule for rule in all_rules() if any(isinstance(one, Objects) and one.namespace is namespace for one in rule.of)
    ]
    told: Counter[bool] = Counter()
    for path in sorted(BAD.glob("*.xml")):
        document = Document(URL, keep_elements=True)
        file = FileFacts(URL, SitemapRecord(URL), document, fetched_at=NOW)
        for entry in (entry for entries in document.read([path.read_bytes()]) for entry in entries):
            if isinstance(entry, UrlRecord):
                present, element = bool(namespace.objects(entry)), document.notes.element(entry)
                told[present] += sum(len([*rule.check(UrlFacts(entry, file, False, element))]) for rule in rules)
    assert told[True] > len(rules) > 0
    assert told[False] == 0
