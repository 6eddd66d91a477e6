"""Rows for entries that findings on their file or site sum up: each entry once, or a share of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from sitemapcrawler.jobs import listing
from sitemapcrawler.jobs.listing import Listing, share
from sitemapcrawler.jobs.store import Store

FILE, TWICE, DATES, DEAD = "https://example.com/a.xml", "cross-duplicate-url", "lastmod-missing", "status-404"


@pytest.fixture
def store() -> Iterator[Store]:
    """The database of a crawl: 20 entries without a date, 5 that are listed twice, 3 dead ones with findings."""
    made = Store.temporary()
    issues = [[DATES, *([TWICE] if n < 5 else []), *([DEAD] if n < 3 else [])] for n in range(20)]
    urls = [
        {"loc": f"https://example.com/{n}", "sitemap": FILE, "line": n, "issues": issues[n]} for n in range(len(issues))
    ]
    found = [(DEAD, "error", n) for n in range(3)] + [(TWICE, "warning", 0)]
    with made.transaction():
        made.insert_rows("urls", urls)
        made.insert_rows(
            "findings",
            [{"rule": id, "severity": severity, "sitemap": FILE, "url": urls[n]["loc"]} for id, severity, n in found],
        )
    yield made
    made.close()


def test_each_entry_without_a_finding_of_its_own_has_a_row(store: Store) -> None:
    rows = Listing(store, only_changes=False)
    found = [finding for batch in rows.rows() for finding in batch.records]
    assert Counter(finding.rule for finding in found) == {DATES: 20, TWICE: 4}
    first = found[0]
    assert (first.rule, first.severity, first.sitemap, first.url) == (TWICE, "warning", FILE, "https://example.com/1")
    assert (first.message, first.line) == ("Several files of a site list the same page", 1)
    assert rows.left_out() == {}


def test_a_list_that_is_full_has_a_share_of_each_rule(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_ROWS", 14)
    rows = Listing(store, only_changes=False)
    found = Counter(finding.rule for batch in rows.rows() for finding in batch.records)
    assert found == {DATES: 6, TWICE: 4}
    assert rows.left_out() == {DATES: 14}


@pytest.mark.parametrize(
    ("counts", "room", "each"),
    [([], 10, 0), ([1, 2], 10, 2), ([1, 50], 10, 9), ([50, 50], 10, 5), ([3, 50, 50], 10, 3), ([5], 0, 0)],
)
def test_shares(counts: list[int], room: int, each: int) -> None:
    assert share(counts, room) == each
