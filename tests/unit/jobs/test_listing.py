"""The list of all findings: the rows that complete it at the end."""

from __future__ import annotations

from collections import Counter

import pytest

from sitemapcrawler.items import FindingRecord
from sitemapcrawler.jobs import listing
from sitemapcrawler.jobs.listing import Listing
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.rules.facts.site import SiteFacts

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


def filled(store: Store, only_changes: bool = False, is_finished: bool = False) -> tuple[Listing, list[FindingRecord]]:
    """The list, and its rows."""
    rows = Listing(store, only_changes)
    with store.cursor() as cursor:
        rows.fill(cursor, SiteFacts(rows_of(cursor)) if is_finished else None)
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


def of_page(path: str, rule: str, versions: tuple[str, ...] = (), **reply: object) -> dict[str, object]:
    """A requested page with language versions, for which a rule has reported its file."""
    links = [{"hreflang": one[1:3], "href": f"https://example.com{one}"} for one in versions]
    return {
        "loc": f"https://example.com{path}", "sitemap": FILE, "line": 1, "issues": [rule] if rule else [],
        "alternates": links, "reply": {"kind": "ok", "status": 200, **reply}, "indexable": True,
        "indexability": "canonicalised" if "canonical" in reply else "ok",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "reply", "message"),
    [
        ("hreflang-target-noindex", {"noindex": True}, "is noindex"),
        ("hreflang-target-status", {"kind": "http-error", "final_status": 410}, "answers 410"),
        ("hreflang-target-status", {"soft_404": "no items"}, "is a soft 404: no items"),
        ("hreflang-target-redirect", {"kind": "redirected", "final_url": "https://e.com/"}, "redirects to 'https://e.com/'"),
        ("hreflang-target-noncanonical", {"canonical": "https://e.com/?s=1"}, "names 'https://e.com/?s=1' as canonical"),
    ],
)  # fmt: skip
def test_row_names_the_language_version_that_is_at_fault(
    store: Store, rule: str, reply: dict[str, object], message: str
) -> None:
    links = ("/en/", "/fr/", "/de/")
    with store.transaction():
        store.insert_rows("urls", [of_page("/en/", rule, links), of_page("/fr/", ""), of_page("/de/", "", **reply)])
    [found] = [one for one in filled(store, is_finished=True)[1] if one.rule == rule]
    assert found.url == "https://example.com/en/"
    assert (found.message, found.value) == (
        f"the version 'https://example.com/de/' {message}",
        "https://example.com/de/",
    )
    [found] = [one for one in filled(store)[1] if one.rule == rule]
    assert found.message.startswith("A language version "), "of a crawl that ended early"


def test_row_names_the_page_with_the_same_text(store: Store) -> None:
    rule, hash = "page-duplicate-content", "1-" + "0" * 60
    text = {"words": 90, "content_hash": hash, "simhash": "00ff00ff00ff00ff"}
    near = {**text, "simhash": "00ff00ff00ff00fe"}
    with store.transaction():
        store.insert_rows("urls", [of_page("/a", "", **text), of_page("/b", rule, **text), of_page("/c", rule, **near)])
    found = {one.url: one for one in filled(store, is_finished=True)[1] if one.rule == rule}
    assert found["https://example.com/b"].message == "has the same text as 'https://example.com/a'"
    assert found["https://example.com/c"].message == "Listed pages have the same text, or nearly the same"
