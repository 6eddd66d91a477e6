"""Rules on the whole site are run: how many findings become records, what is allowed, and what fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Allowance, Choice
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.registry import Of, Per, Rule, Severity, SiteMessage
from sitemapcrawler.urls.expressions import Expression

from .sites import RULES, A, B, Site, page

TWICE = "cross-duplicate-url"


def doubled(number: int) -> list[UrlRecord]:
    """Pages that both files list."""
    return [page(f"/{n}", sitemap) for sitemap in (B, A) for n in range(number)]


@pytest.mark.parametrize(("per_rule", "records"), [(1, 1), (3, 3), (5, 5), (6, 5), (0, 0)])
def test_counts_are_complete_however_few_become_records(per_rule: int, records: int) -> None:
    site = Site(*doubled(5), per_rule=per_rule)
    found = site.findings()
    assert [one.url for one in found] == [f"https://example.com/{n}" for n in range(records)]
    assert site.judge.counts == {TWICE: 5}
    assert site.judge.severities == {"warning": 5}


def test_each_file_has_its_records() -> None:
    site = Site(*doubled(4), page("/x", B), page("/x", "https://example.com/c.xml"), per_rule=2)
    assert Counter(one.sitemap for one in site.findings()) == {A: 2, B: 1}
    assert site.judge.counts == {TWICE: 5}


def test_what_is_allowed_is_no_finding_and_leaves_room_for_others() -> None:
    allowances = (Allowance(TWICE, Expression(r"/[012]$"), "known"),)
    site = Site(*doubled(5), choice=Choice(RULES, allowances=allowances), per_rule=2)
    assert [one.url for one in site.findings()] == ["https://example.com/3", "https://example.com/4"]
    assert site.judge.counts == {TWICE: 2}


def test_a_file_has_one_finding_with_the_number_of_its_entries() -> None:
    site = Site(*doubled(5), page("/x", B), page("/x", "https://example.com/c.xml"), choice=Choice(all_rules()))
    found = [(one.sitemap, one.url, one.message) for one in site.findings()]
    assert found == [
        (
            A,
            "https://example.com/0",
            f"5 entries are listed in other files too, for example 'https://example.com/0': 'https://example.com/0' is "
            f"listed in '{B}' too",
        ),
        (B, "https://example.com/x", "'https://example.com/x' is listed in 'https://example.com/c.xml' too"),
    ]
    assert site.judge.counts == {TWICE: 2}


def test_a_file_has_no_more_findings_than_become_records() -> None:
    site = Site(*doubled(5), choice=Choice(all_rules()), per_rule=2)
    assert [one.message.partition(" entries")[0] for one in site.findings()] == ["5"]


def test_what_a_rule_found_in_files_before_it_raised_is_kept() -> None:
    def check(site: SiteFacts) -> Iterator[SiteMessage]:
        yield SiteMessage("found", sitemap=A)
        yield SiteMessage("found", sitemap=A)
        raise ValueError("x")

    internal = next(rule for rule in RULES if rule.id == "internal-rule-failed")
    broken = Rule("cross-x", Severity.ERROR, "", (Of.SITE,), check, per=Per.FILE, many="are odd")
    site = Site(*doubled(1), choice=Choice((broken, internal)))
    assert [one.message.partition(":")[0] for one in site.findings()] == [
        "2 entries are odd", "the rule cross-x failed with ValueError",
    ]  # fmt: skip


def test_a_finding_has_the_severity_that_was_set() -> None:
    site = Site(*doubled(1), choice=Choice(RULES, severities={"cross": Severity.ERROR}))
    assert [one.severity for one in site.findings()] == ["error"]
    assert site.judge.severities == {"error": 1}


@pytest.mark.parametrize(
    "choice", [Choice(RULES, select=("loc",)), Choice(RULES, ignore=(TWICE,)), Choice(RULES, select=("none",))]
)
def test_rules_that_were_not_chosen_do_not_run(choice: Choice) -> None:
    site = Site(*doubled(1), choice=choice)
    assert site.findings(narrowed_by={"since": 1}) == []
    assert "hreflang-target-not-in-sitemap" not in Site(choice=Choice(RULES, select=("loc",))).judge.skipped


def test_findings_do_not_depend_on_the_order_in_which_files_were_read() -> None:
    records = doubled(3)
    one, other = Site(*records), Site(*records[3:], *records[:3])
    assert one.findings() == other.findings()


def failing(error: Exception) -> Choice:
    """The rule on doubled pages finds one and then raises; it runs with the one that tells so."""

    def check(site: SiteFacts) -> Iterator[SiteMessage]:
        yield SiteMessage("found", sitemap=A)
        raise error

    kept = [rule for rule in RULES if rule.id in ("internal-rule-failed", "cross-conflicting-lastmod")]
    broken = replace(next(rule for rule in RULES if rule.id == TWICE), check=check, of=(Of.SITE,))
    return Choice((broken, *kept))


@pytest.mark.parametrize("error", [ValueError("x"), duckdb.OutOfMemoryException("x")])
def test_a_rule_that_raises_keeps_what_it_found_and_the_others_run(error: Exception) -> None:
    older = page("/0", A, lastmod="2020-01-01", lastmod_at="2020-01-01T00:00:00Z")
    newer = page("/0", B, lastmod="2021-01-01", lastmod_at="2021-01-01T00:00:00Z")
    site = Site(older, newer, choice=failing(error))
    assert [one.rule for one in site.findings()] == [TWICE, "internal-rule-failed", "cross-conflicting-lastmod"]
    assert site.judge.counts["internal-rule-failed"] == 1


@pytest.mark.parametrize("table", ["urls", "sitemaps"])
def test_a_database_that_cannot_be_read_is_told_by_each_rule(table: str) -> None:
    site = Site(*doubled(1), choice=Choice(RULES, select=("hreflang",)))
    site.connection.execute(f"DROP VIEW alternates; DROP TABLE {table}")
    found = site.findings()
    assert {one.rule for one in found} == {"internal-rule-failed"}
    assert {one.value for one in found} == {
        rule.id for rule in RULES if rule.family == "hreflang" and {Of.SITE, Of.WHOLE_SITE} & {*rule.of}
    }


def test_a_crawl_of_nothing() -> None:
    assert Site().findings() == []


class Scarce:
    """A cursor that runs out of memory so often."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, times: int) -> None:
        self._cursor = cursor
        self._times = times

    def execute(self, sql: str, parameters: Sequence[Any]) -> duckdb.DuckDBPyConnection:
        if self._times:
            self._times -= 1
            raise duckdb.OutOfMemoryException("failed to pin block")
        return self._cursor.execute(sql, parameters)

    def fetchmany(self, size: int) -> list[Any]:
        return self._cursor.fetchmany(size)


@pytest.mark.parametrize(("times", "enough"), [(0, True), (2, True), (3, False)])
def test_a_query_gets_more_memory_until_there_is_no_more(times: int, enough: bool) -> None:
    more = iter([True, True, False])
    cursor = Scarce(Site().connection.cursor(), times)
    facts = SiteFacts(rows_of(cursor, lambda: next(more)))  # type: ignore[arg-type]  # the part that is used
    rows = facts.query("SELECT * FROM range(2500)")
    if enough:
        assert [number for (number,) in rows] == list(range(2500))
    else:
        with pytest.raises(duckdb.OutOfMemoryException):
            next(rows)
