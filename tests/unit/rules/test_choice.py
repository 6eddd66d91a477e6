"""Which rules run, how severe they are, and what the allowlist covers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import pytest

from sitemapcrawler.rules import Message, Of, Rule, Severity, all_rules
from sitemapcrawler.rules.choice import Allowance, Choice, check_names, parse, severities
from sitemapcrawler.urls.expressions import Expression

TODAY = date(2026, 6, 1)


def nothing(_: object) -> Iterator[Message]:
    yield from ()


def rule(id: str, needs: Of = Of.ENTRY, severity: Severity = Severity.ERROR) -> Rule:
    return Rule(id, severity, "", (needs,), nothing)


RULES = (rule("loc-relative"), rule("loc-empty"), rule("lastmod-future"), rule("internal-x", Of.FAILURE))


def chosen(select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> list[str]:
    choice = Choice(RULES, select, ignore)
    return [rule.id for needs in Of for rule in choice.rules(needs)]


def test_all_rules_run_without_a_choice() -> None:
    assert chosen() == ["loc-relative", "loc-empty", "lastmod-future", "internal-x"]


def test_families_and_ids_are_selected_and_ignored() -> None:
    assert chosen(select=("loc",), ignore=("loc-empty",)) == ["loc-relative", "internal-x"]


def test_failures_of_rules_are_reported_whatever_is_selected() -> None:
    assert chosen(select=("lastmod-future",)) == ["lastmod-future", "internal-x"]
    assert chosen(ignore=("internal",)) == ["loc-relative", "loc-empty", "lastmod-future"]


def test_none_runs_nothing() -> None:
    assert chosen(select=("none",)) == []


def test_an_unknown_id_suggests_the_nearest() -> None:
    with pytest.raises(ValueError, match="no rule or family 'loc-relativ', did you mean loc-relative"):
        check_names(["loc-relativ"], RULES)


def test_severity_of_the_rule_of_the_case_of_the_family_and_of_the_id() -> None:
    a, b = RULES[:2]
    assert Choice(RULES).severity(a) is Severity.ERROR
    assert Choice(RULES).severity(a, Severity.INFO) is Severity.INFO
    set_by = Choice(RULES, severities=severities({"loc": "warning", "loc-empty": "info"}, RULES))
    assert set_by.severity(a, Severity.INFO) is Severity.WARNING
    assert set_by.severity(b) is Severity.INFO


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"loc-relative": "fatal"}, "severity 'fatal' of loc-relative: accepted: error, warning, info"),
        ({"loc-relativ": "error"}, "did you mean loc-relative"),
        ({"loc-relative": 3}, "severity 3 of loc-relative"),
    ],
)
def test_a_bad_severity_is_refused(setting: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        severities(setting, RULES)


ALLOW = """
[[allow]]
rule = "loc-relative"
url = '^https://a\\.com/old/'
reason = "the archive"

[[allow]]
rule = "lastmod"
url = "a.com"
reason = "until the new system is there"
until = 2026-05-31
"""


def test_an_allowlist_is_read() -> None:
    first, second = parse(ALLOW, RULES)
    assert first == Allowance("loc-relative", Expression(r"^https://a\.com/old/"), "the archive")
    assert second.until == date(2026, 5, 31)


def test_allowances_cover_their_rule_on_their_urls_until_they_expire() -> None:
    choice = Choice(RULES, allowances=parse(ALLOW, RULES), today=TODAY)
    relative, empty, future, _ = RULES
    assert choice.allowed(relative, "https://a.com/old/1")
    assert not choice.allowed(relative, "https://a.com/new/old/")
    assert not choice.allowed(empty, "https://a.com/old/1")
    assert not choice.allowed(future, "https://a.com/")
    assert [allowance.rule for allowance in choice.expired] == ["lastmod"]


def test_a_family_is_allowed_on_its_last_day() -> None:
    choice = Choice(RULES, allowances=parse(ALLOW, RULES), today=date(2026, 5, 31))
    assert choice.allowed(RULES[2], "https://a.com/")
    assert choice.expired == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[allow]", "not TOML"),
        ("a = " + "[" * 100_000, "not TOML: it nests too deeply"),
        ("[allow]\nrule = 'loc'", "accepted: tables [[allow]]"),
        ("allow = ['loc']", "accepted: tables [[allow]]"),
        ("other = 1", "accepted: tables [[allow]]"),
        ("[[allow]]\nrule='loc'\nurl='x'", "entry 1: reason is missing"),
        ("[[allow]]\nrule='loc'\nurl=''\nreason='r'", "entry 1: url is missing"),
        (
            "[[allow]]\nrule='loc'\nurl='('\nreason='r'",
            "entry 1: url='(': RE2: missing ): (; accepted: a regular expression",
        ),
        ("[[allow]]\nrule='loc'\nurl='(?=a)'\nreason='r'", "entry 1: url='(?=a)': RE2: invalid perl operator: (?=;"),
        ("[[allow]]\nrule='lok'\nurl='x'\nreason='r'", "entry 1: no rule or family 'lok', did you mean loc"),
        ("[[allow]]\nrule='loc'\nurl='x'\nreason='r'\nuntil='2027'", "entry 1: until='2027' is not a date"),
        ("[[allow]]\nrule='loc'\nurl='x'\nreason='r'\nuntil=2027-01-01T00:00:00", "is not a date like"),
        ("[[allow]]\nrule='loc'\nurl='x'\nreason='r'\nwho='me'", "entry 1: no key 'who'"),
    ],
)
def test_a_bad_allowlist_is_refused_by_the_entry(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse(text, RULES)


def test_no_entries_allow_nothing() -> None:
    assert parse("", all_rules()) == ()
