"""Rules on what Google says of listed URLs, by rows of URL Inspection."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import IndexStatus, ReplyRecord
from sitemapcrawler.rules.facts.index_reasons import OTHER, REASONS, SPELLINGS, advice_on, is_indexed, key_of
from tests.unit.rules.sites import HOME, A, B, Site, at, page

NOT_INDEXED, OTHER_CANONICAL = "listed-not-indexed", "google-other-canonical"
CRAWLED = "Crawled - currently not indexed"


def status(made: Site, path: str, reason: str | None, indexed: bool | None, canonical: str = "") -> None:
    other = canonical != path if canonical else None
    made.connection.execute(
        "INSERT INTO index_statuses VALUES (?, NULL, ?, ?, NULL, ?, ?)",
        [at(path), reason, at(canonical) if canonical else None, indexed, other],
    )


def told(made: Site) -> list[tuple[str, str | None, str]]:
    return [one for one in made.told() if one[0] in (NOT_INDEXED, OTHER_CANONICAL)]


def test_urls_that_are_not_indexed_are_one_finding_for_each_reason() -> None:
    found = {"/1": "ok", "/2": "noindex", "/3": "not checked", "/4": None, "/5": "ok"}
    pages = [page(path, B if path == "/4" else A, indexability=value) for path, value in found.items()]
    made = Site(*pages, page("/1", B, indexability="ok"))
    for path in ("/1", "/2", "/3"):
        status(made, path, "Excluded by ‘noindex’ tag", False)
    status(made, "/4", None, False)
    status(made, "/5", "Neu", True)
    assert told(made) == [
        (NOT_INDEXED, None, f"1 listed URL is not indexed: no reason is given, such as '/4'. {OTHER}"),
        (
            NOT_INDEXED,
            None,
            "3 listed URLs are not indexed: 'Excluded by ‘noindex’ tag', such as '/1'; this crawl finds 1 noindex, 1 indexable. "
            "Remove noindex from the pages, or remove the entries.",
        ),
    ]


def test_other_canonicals_are_told_with_what_the_page_says() -> None:
    replies = {"/1": f"{HOME}/x", "/2": f"{HOME}/2", "/3": None}
    pages = [page(path, reply=ReplyRecord(canonical=canonical)) for path, canonical in replies.items()]
    made = Site(*pages, page("/4"), page("/1", B))
    for path in replies:
        status(made, path, CRAWLED, None, "/x")
    status(made, "/4", CRAWLED, None, "/4")
    assert told(made) == [
        (OTHER_CANONICAL, "/1", "Google indexes '/x' instead; the page names it too"),
        (OTHER_CANONICAL, "/2", "Google indexes '/x' instead; the page names itself"),
        (OTHER_CANONICAL, "/3", "Google indexes '/x' instead"),
    ]


@pytest.mark.parametrize("indexed", [True, None])
def test_indexed_and_unknown_urls_are_not_reported(indexed: bool | None) -> None:
    made = Site(page("/1"))
    status(made, "/1", "Gesendet und indexiert", indexed)
    assert told(made) == []


@pytest.mark.parametrize(
    ("verdict", "reason", "indexed"),
    [
        ("PASS", None, True),
        ("PARTIAL", CRAWLED, True),
        ("FAIL", "Submitted and indexed", False),
        ("NEUTRAL", None, False),
        (None, "Submitted and indexed", True),
        (None, "Indexed, though blocked by robots.txt", True),
        (None, "Indexed; consider marking as canonical", True),
        (None, "Page indexed without content", True),
        (None, CRAWLED, False),
        (None, "Gecrawlt – zurzeit nicht indexiert", None),
        (None, "indexedness", None),
        (None, None, None),
    ],
)
def test_verdict_counts_more_than_the_reason(verdict: str | None, reason: str | None, indexed: bool | None) -> None:
    assert is_indexed(IndexStatus(verdict, reason)) is indexed


@pytest.mark.parametrize(
    ("reason", "key"),
    [
        ("Crawled – currently not indexed", "crawled - currently not indexed"),
        ("Discovered—currently not indexed", "discovered - currently not indexed"),
        ("Excluded by ‘noindex’ tag", "excluded by noindex tag"),
        ('Excluded by "noindex" tag', "excluded by noindex tag"),
        ("Submitted URL marked ‘noindex’", "excluded by noindex tag"),
        ("URL blocked by robots.txt", "blocked by robots.txt"),
        ("Duplicate, Google chose different canonical than user", "duplicate google chose different canonical than user"),
    ],
)  # fmt: skip
def test_reasons_in_other_spellings_have_the_same_advice(reason: str, key: str) -> None:
    assert key_of(reason) == key
    assert advice_on(reason) == REASONS[key] != OTHER


def test_table_of_reasons_is_spelt_as_it_is_looked_up() -> None:
    assert all(key_of(key) == key for key in REASONS)
    assert {*SPELLINGS.values()} <= REASONS.keys()
