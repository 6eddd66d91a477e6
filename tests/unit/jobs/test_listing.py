"""The list of all findings: what feeds write at once, and the rows at the end, or a share of them for each rule."""

from __future__ import annotations

from collections import Counter

import pytest

from sitemapcrawler.envelopes import FindingBatch, RecordBatch
from sitemapcrawler.items import FindingRecord
from sitemapcrawler.jobs import listing
from sitemapcrawler.jobs.listing import FirstFindings, Listing, share
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.rules import all_rules

FILE, TWICE, DATES, DEAD = "https://example.com/a.xml", "cross-duplicate-url", "lastmod-missing", "status-404"
TITLE = "Several files of a site list the same page"


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


def hold(store: Store, number: int, **fields: object) -> None:
    """Insert findings that feeds have not written, on entries and with a message of their own."""
    finding = {"rule": DEAD, "severity": "error", "sitemap": FILE, "message": "m", "held": True, **fields}
    with store.transaction():
        store.insert_rows("findings", [{**finding, "url": f"https://example.com/{n}"} for n in range(number)])


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


def test_findings_that_wait_come_with_their_messages(store: Store) -> None:
    hold(store, 20, rule=DATES, severity="info")
    rows, found = filled(store)
    assert Counter((finding.rule, finding.message) for finding in found) == {(DATES, "m"): 20, (TWICE, TITLE): 4}
    assert [type(batch) for batch in rows.batches()] == [RecordBatch, FindingBatch], "SARIF and JUnit have the first"


@pytest.mark.parametrize(("held", "left_out"), [(0, {DATES: 14}), (12, {DATES: 16, DEAD: 8})])
def test_a_list_that_is_full_has_a_share_of_each_rule(
    store: Store, monkeypatch: pytest.MonkeyPatch, held: int, left_out: dict[str, int]
) -> None:
    monkeypatch.setattr(listing, "MAX_ROWS", 16 if held else 14)
    hold(store, held)
    rows, found = filled(store)
    whole = {DATES: 20, TWICE: 4, DEAD: held}
    assert Counter(finding.rule for finding in found) == Counter(whole) - Counter(left_out)
    assert rows.left_out == left_out


def test_findings_on_unchanged_entries_are_no_changes(store: Store) -> None:
    hold(store, 5)
    store.execute("UPDATE urls SET change = CASE WHEN line < 3 THEN 'unchanged' WHEN line < 5 THEN 'added' END")
    _, found = filled(store, only_changes=True)
    assert Counter(finding.rule for finding in found) == {DATES: 17, TWICE: 2, DEAD: 2}


def test_feeds_write_the_first_findings_of_each_rule(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_ROWS", 4 * len({rule.id for rule in all_rules()}))
    hold(store, 9)
    first = FirstFindings()
    first.restore(store)  # 3 findings of DEAD, which do not wait
    assert [first.has(FindingRecord(DEAD)) for _ in range(3)] == [True, False, False]
    assert [first.has(FindingRecord(DATES)) for _ in range(5)] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("counts", "room", "each"),
    [([], 10, 0), ([1, 2], 10, 2), ([1, 50], 10, 9), ([50, 50], 10, 5), ([3, 50, 50], 10, 3), ([5], 0, 0)],
)
def test_shares(counts: list[int], room: int, each: int) -> None:
    assert share(counts, room) == each
