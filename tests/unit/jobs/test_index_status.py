"""Index status of URLs in the database of a job: which row counts, and what is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemapcrawler.items import ComparedList, IndexCounts
from sitemapcrawler.jobs.coverage import Lists
from sitemapcrawler.jobs.index_status import IndexStatuses
from sitemapcrawler.jobs.links import LinkScope
from sitemapcrawler.jobs.rewriting import rewrite
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.robots.addresses import read_ranges
from tests.examples import briefly

HOME = "https://www.example.com/"
SITEMAP = f"{HOME}sitemap.xml"
CRAWLED, UNKNOWN = "Crawled - currently not indexed", "URL is unknown to Google"
LISTED = ("", "a", "a/", "caf%C3%A9", "b", "c")
LASTMOD = "2026-11-10"


@pytest.fixture
def store(store: Store) -> Store:
    store.execute("INSERT INTO sitemaps (sitemap) VALUES (?)", [SITEMAP])
    for line, path in enumerate(LISTED, 1):
        row = [HOME + path, SITEMAP, line, LASTMOD]
        store.execute("INSERT INTO urls (loc, sitemap, line, lastmod_at) VALUES (?, ?, ?, ?)", row)
    return store


def row(path: str, verdict: str | None = "NEUTRAL", reason: str | None = CRAWLED, **more: str) -> str:
    fields = {"url": path if ":" in path else HOME + path, "verdict": verdict, "coverageState": reason, **more}
    return json.dumps(fields)


def compared(store: Store, folder: Path, *lists: str) -> tuple[IndexStatuses, list[ComparedList], IndexCounts]:
    """What lists of these lines say of the listed pages."""
    statuses = IndexStatuses(store)
    paths = [folder / f"{number}.jsonl" for number, _ in enumerate(lists)]
    for path, lines in zip(paths, lists, strict=True):
        path.write_bytes(lines.encode("utf-8", "surrogatepass"))
    made = Lists(store, LinkScope([HOME], None, max_pages=0), paths, read_ranges([]), statuses)  # type: ignore[arg-type]  # no robots.txt is asked
    totals = made.load()
    made.compare(totals, None)
    return statuses, totals, statuses.sum_up()


def known(store: Store) -> dict[str, object]:
    """Reasons by path."""
    return {loc.removeprefix(HOME): reason for loc, reason in store.execute("SELECT loc, reason FROM index_statuses")}


def test_counts_by_verdict_and_reason(store: Store, tmp_path: Path) -> None:
    rows = [
        row("", "PASS", "Submitted and indexed", lastCrawlTime="2026-11-12"),
        row("a", lastCrawlTime="2026-11-09T23:59:59Z"),
        row("a/", None, "Gecrawlt"),
        row("b", "FAIL", None),
        row("c", None, "Not found (404)", googleCanonical=f"{HOME}a"),
        row("unlisted", "PASS", "Indexed, not submitted in sitemap"),
        row("https://other.example/", lastCrawlTime="2026-11-01"),
    ]
    _, [total], counts = compared(store, tmp_path, "\n".join(rows))
    reasons = {"": 1, CRAWLED: 1, "Not found (404)": 1}
    assert counts == IndexCounts(5, 1, 3, other_canonical=1, not_crawled_since=1, reasons=reasons)
    assert (total.rows, total.inspected, total.left_out, total.urls, total.listed) == (7, 7, 4, 3, 2)


@pytest.mark.parametrize(
    "url",
    ["a", "HTTPS://WWW.Example.com:443/a", "a#part", "%61", "a?utm_source=x"],
)
def test_other_spellings_of_a_url_are_the_url(store: Store, tmp_path: Path, url: str) -> None:
    compared(store, tmp_path, row(url))
    assert known(store) == {"a": CRAWLED}


@pytest.mark.parametrize("url", ["http://www.example.com/b/", "http://www.example.com/b", "B", "b?x=1"])
def test_urls_of_other_pages_are_no_spelling_of_it(store: Store, tmp_path: Path, url: str) -> None:
    compared(store, tmp_path, row(url))
    assert known(store) == {}


@pytest.mark.parametrize(("canonical", "others"), [("café", 0), ("caf%c3%a9", 0), ("caf%C3%A9/", 1), ("cafe", 1)])
def test_other_spellings_of_a_canonical_are_no_other_canonical(
    store: Store, tmp_path: Path, canonical: str, others: int
) -> None:
    _, _, counts = compared(store, tmp_path, row("caf%C3%A9", googleCanonical=HOME + canonical))
    assert counts.other_canonical == others


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_rows_the_newest_crawl_counts(store: Store, tmp_path: Path, order: int) -> None:
    old, new = row("a", lastCrawlTime="2026-10-01"), row("%61", reason="New", lastCrawlTime="2026-11-01")
    never, crawl_alone = row("a", reason=UNKNOWN), row("a", None, None, lastCrawlTime="2026-11-20")
    compared(store, tmp_path, "\n".join([never, old, new, crawl_alone][::order]))
    assert known(store) == {"a": "New"}


def test_lists_are_read_again_in_place_of_what_was_read(store: Store, tmp_path: Path) -> None:
    compared(store, tmp_path, row("a"))
    compared(store, tmp_path, row("b"))
    assert known(store) == {"b": CRAWLED}


def test_inspected_urls_are_no_list_of_pages(store: Store, tmp_path: Path) -> None:
    compared(store, tmp_path, row("a", "PASS"), row("b") + "\nbroken")
    assert store.execute("SELECT count(*) FROM uncompared") == [(0,)]
    compared(store, tmp_path, row("a", "PASS"), f"{row('b')}\n{row('c', None, None)}\n")
    assert store.execute("SELECT loc FROM uncompared ORDER BY loc") == [
        (HOME,), (f"{HOME}a/",), (f"{HOME}caf%C3%A9",),
    ]  # fmt: skip


def test_entries_get_their_status_in_their_order(store: Store, tmp_path: Path) -> None:
    statuses, _, _ = compared(store, tmp_path, row("b", googleCanonical=f"{HOME}c", lastCrawlTime="2026-11-01"))
    with store.transaction():
        rewrite(store, [statuses.google()])
    found = store.execute("SELECT loc, google FROM urls")
    assert [loc.removeprefix(HOME) for loc, _ in found] == [*LISTED]
    [status] = [status for _, status in found if status is not None]
    assert {name: str(value) for name, value in status.items()} == {
        "verdict": "NEUTRAL", "reason": CRAWLED, "canonical": f"{HOME}c", "last_crawl": "2026-11-01 00:00:00",
    }  # fmt: skip


texts = st.text(max_size=30) | st.sampled_from(["PASS", CRAWLED, "2026-11-01", f"{HOME}b", "0001-01-01", "9999-12-31"])
rows = st.lists(
    st.fixed_dictionaries(
        {"url": st.sampled_from([f"{HOME}a", f"{HOME}b", f"{HOME}caf\u00e9"]) | texts},
        optional=dict.fromkeys(("verdict", "coverageState", "googleCanonical", "lastCrawlTime"), texts),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.slow
@given(rows)
@settings(briefly(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_rows_give_records(store: Store, tmp_path: Path, rows: list[dict[str, str]]) -> None:
    first = {"url": f"{HOME}a"}
    statuses, _, counts = compared(store, tmp_path, "\n".join(map(json.dumps, [first, *rows])))
    with store.transaction():
        rewrite(store, [statuses.google()])
    assert counts.indexed + counts.not_indexed <= counts.urls <= len(LISTED)
    assert store.execute("SELECT count(*) FROM urls") == [(len(LISTED),)]
