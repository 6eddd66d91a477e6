"""Rules on what crawlers requested, by access logs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.rules.sites import HOME, A, B, Site, page

ERRORS, DENIED = "crawler-gets-errors", "crawler-fetches-denied"
NEVER, NO_SITEMAP = "crawler-never-fetched", "crawler-sitemap-never-fetched"
LAST = "2026-05-08 10:00:00"


def site(days: int = 30, engine: str = "googlebot", fetched: int = 1, requests: int = 1) -> Site:
    """Two files with two pages each. A crawler requested some pages of the first file and the file, of the second none;
    the log spans so many days."""
    made = Site(page("/1", A), page("/2", A), page("/3", B), page("/4", B))
    made.connection.execute(
        "INSERT INTO compared_lists VALUES (0, 'crawl.csv', NULL, NULL), "
        "(1, 'access.log', TIMESTAMP '2026-05-01', TIMESTAMP '2026-05-01' + to_days(?))",
        [days],
    )
    made.connection.execute(
        "INSERT INTO fetched_files VALUES (?, ?, 2, ?, 0, ?, ?, ?)", [A, engine, fetched, LAST, requests, LAST]
    )
    return made


def problem(made: Site, kind: str, crawler: str, path: str, status: int = 200, **fields: Any) -> None:
    made.connection.execute(
        "INSERT INTO fetched_problems VALUES (?, ?, ?, ?, ?, ?, ?)",
        [kind, crawler, HOME + path, status, LAST, fields.get("verified", True), fields.get("number", 1)],
    )


def told(made: Site) -> list[tuple[str, str | None, str]]:
    return [one for one in made.told() if one[0].startswith("crawler-")]


def test_pages_and_sitemaps_that_were_not_requested() -> None:
    assert told(site()) == [
        (NEVER, "/a.xml", "Googlebot requested 1 of 2 listed pages from 2026-05-01 to 2026-05-31"),
        (NEVER, "/b.xml", "Googlebot requested 0 of 2 listed pages from 2026-05-01 to 2026-05-31"),
        (NO_SITEMAP, "/b.xml", "no search engine requested the file from 2026-05-01 to 2026-05-31"),
    ]


@pytest.mark.parametrize(
    "made",
    [site(days=6), site(fetched=0), site(engine="gptbot")],
    ids=["short log", "nothing of it", "no search engine"],
)
def test_logs_that_say_nothing_of_search_engines(made: Site) -> None:
    assert told(made) == []


def test_a_file_of_which_all_was_requested_has_no_finding() -> None:
    assert ("/a.xml") not in {path for _, path, _ in told(site(fetched=2))}


def test_errors_of_search_engines_are_reported_by_page() -> None:
    made = site(days=1)
    problem(made, "error", "googlebot", "/1", 404)
    problem(made, "error", "bingbot", "/1", 503, verified=False)
    problem(made, "error", "gptbot", "/2", 500)
    assert told(made) == [
        (ERRORS, "/1", "Bingbot got 503 on 2026-05-08; recognised by name only"),
        (ERRORS, "/1", "Googlebot got 404 on 2026-05-08"),
    ]


def test_denied_pages_are_reported_by_crawler_that_obeys() -> None:
    made = site(days=1)
    problem(made, "denied", "gptbot", "/1", number=2)
    problem(made, "denied", "gptbot", "/2", number=2)
    problem(made, "denied", "chatgpt-user", "/1")
    [(rule, _, message)] = told(made)
    assert rule == DENIED
    assert message.startswith("GPTBot requested 2 listed pages that robots.txt disallows, such as ")
    assert message.endswith("on 2026-05-08")


def test_without_logs_nothing_is_reported() -> None:
    made = Site(page("/1", A))
    made.connection.execute("INSERT INTO compared_lists VALUES (0, 'crawl.csv', NULL, NULL)")
    assert told(made) == []
