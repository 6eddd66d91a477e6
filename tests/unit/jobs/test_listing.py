"""The list of all findings: the rows that complete it at the end."""

from __future__ import annotations

from collections import Counter

import pytest

from sitemapcrawler.items import FindingRecord
from sitemapcrawler.jobs import listing
from sitemapcrawler.jobs.listing import Listing
from sitemapcrawler.jobs.store import Store

FILE, TWICE, DATES, DEAD = "https://example.com/a.xml", "cross-duplicate-url", "lastmod-missing", "status-404"


@pytest.fixture
def store(store: Store) -> Store:
    """The database of a crawl: 20 entries without a date, 5 that are listed twice, 3 dead ones with findings."""
    issues = [[DATES, *([TWICE] if n < 5 else []), *([DEAD] if n < 3 else [])] for n in range(20)]
    urls = [
        {"loc": f"https://example.com/{n}", "sitemap": FILE, "line": n, "issues": issues[n]} for n in range(len(issues))
    ]
    found = [(DEAD, "error", n) for n in range(3)] + [(TWICE, "warning", 0)]
    with store.transaction():
        store.insert_rows("urls", urls)
        store.insert_rows(
            "findings",
            [{"rule": id, "severity": severity, "sitemap": FILE, "url": urls[n]["loc"]} for id, severity, n in found],
        )
    return store


def filled(store: Store, only_changes: bool = False) -> tuple[Listing, list[FindingRecord]]:
    """The list, and its rows."""
    rows = Listing(store, only_changes)
    with store.cursor() as cursor:
        rows.fill(cursor)
    return rows, [finding for batch in rows.batches() for finding in batch.records]


def test_entries_that_a_note_sums_up_are_notes_beside_warnings(store: Store) -> None:
    with store.transaction():
        store.insert_rows(
            "findings",
            [{"rule": TWICE, "severity": "info", "sitemap": FILE, "url": "https://example.com/1"}],
        )
    _, found = filled(store)
    assert [finding.severity for finding in found if finding.rule == TWICE] == ["info"] * 3


def test_each_entry_without_a_finding_of_its_own_has_a_row(store: Store) -> None:
    rows, found = filled(store)
    assert Counter(finding.rule for finding in found) == {DATES: 20, TWICE: 4}
    first = found[0]
    assert (first.rule, first.severity, first.sitemap, first.url) == (TWICE, "warning", FILE, "https://example.com/1")
    assert (first.message, first.line) == ("Several files of a site list the same page", 1)
    assert rows.left_out == {}


def test_each_entry_of_a_url_that_a_file_lists_several_times_has_a_row(store: Store) -> None:
    again = {"loc": "https://example.com/0", "sitemap": FILE, "issues": [TWICE, DEAD]}
    with store.transaction():
        store.insert_rows("urls", [{**again, "line": line} for line in (40, 50)])
        store.insert_rows(
            "findings", [{"rule": DEAD, "severity": "error", "sitemap": FILE, "url": again["loc"], "line": 40}] * 2
        )
    rows, found = filled(store)
    assert [one.line for one in found if one.rule == TWICE and one.url == again["loc"]] == [40, 50]
    assert [one.line for one in found if one.rule == DEAD] == [50], "two entries have findings"
    assert rows.left_out == {}


def test_a_list_that_is_full_says_what_it_lacks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_ROWS", 14)
    rows, found = filled(store)
    assert Counter(finding.rule for finding in found) == {DATES: 14, TWICE: 4}
    assert rows.left_out == {DATES: 6}


def test_unchanged_entries_are_no_changes(store: Store) -> None:
    store.execute("UPDATE urls SET change = CASE WHEN line < 3 THEN 'unchanged' WHEN line < 5 THEN 'added' END")
    _, found = filled(store, only_changes=True)
    assert Counter(finding.rule for finding in found) == {DATES: 17, TWICE: 2}
