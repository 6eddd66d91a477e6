"""Two nights of a site whose generator writes the time of its run into lastmod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.feeds.folder import CONTENTS
from tests.crawl.crawling import Crawl, run
from tests.crawl.days import JOBDIR, Days, urlset_of
from tests.crawl.documents import robots
from tests.crawl.job_site import html
from tests.crawl.site_server import Reply, SiteServer

pytestmark = pytest.mark.slow

PAGES = 40
MOVED, EDITED, TRUE, TITLED = range(1, 36), 36, 37, 38
"""Pages of which the date moves alone, the text alone, both, and the date with the title. The rest stays."""
MORE = (
    "The gallery on the upper floor is open again, with forty paintings of the harbour that were restored in winter. "
)


def publish(site: SiteServer, night: int) -> None:
    """Put the site of a night in place. The year and the visitors in its footer change every night."""
    dates, site.routes = {}, {"/robots.txt": robots(site.url("/sitemap.xml"))}
    for number in range(1, PAGES + 1):
        is_next = night == 2
        text = "".join(
            f"Exhibit {number} shows object {number * n} of the old castle by the river. " for n in range(20)
        )
        title = "Renamed" if is_next and number == TITLED else f"Exhibit {number}"
        edited = MORE if is_next and number in (EDITED, TRUE) else ""
        site.routes[f"/{number}"] = html(
            f"<title>{title}</title>",
            body=f"<main><h1>Exhibit {number}</h1><p>{text}</p><p>{edited}</p></main>"
            f"<footer>© {2025 + night} Museum, {night * 317} visitors online</footer>",
        )
        moves = is_next and (number in MOVED or number in (TRUE, TITLED))
        dates[f"/{number}"] = f"<lastmod>{f'2026-02-01T04:00:{number:02}Z' if moves else '2026-01-05'}</lastmod>"
    site.routes["/sitemap.xml"] = Reply(urlset_of(site, dates), headers={"Content-Type": "application/xml"})


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, Crawl, Path]]:
    """The crawls of both nights, and the database of the second."""
    with SiteServer() as site:
        days = Days(site, tmp_path_factory.mktemp("nights"))
        publish(site, 1)
        first = days.crawl("one", verify="get")
        publish(site, 2)
        second = days.crawl("two", before=f"one/{JOBDIR}", verify="get")
        yield first, second, days.job("two")


def numbers(done: Crawl, rule: str) -> set[int]:
    """Pages that a rule reports."""
    return {int(row["loc"].rpartition("/")[2]) for row in done.of_type("url") if rule in row.get("issues", ())}


def test_dates_that_moved_alone_are_reported(nights: tuple[Crawl, Crawl, Path]) -> None:
    first, second, _ = nights
    assert "revisits" not in first.summary
    assert numbers(second, "lastmod-moved-content-same") == set(MOVED)
    assert numbers(second, "lastmod-same-content-changed") == {EDITED}
    assert second.summary["rules"]["lastmod-moved-together"] == 1
    found = second.summary["revisits"]
    assert (found["compared"], found["true"], found["moved"], found["stayed"]) == (PAGES, 4, len(MOVED), 1)


def test_rows_say_what_changed(nights: tuple[Crawl, Crawl, Path]) -> None:
    _, second, _ = nights
    kinds = Counter(row.get("what_changed", row["change"]) for row in second.of_type("url"))
    assert kinds == {"lastmod": 35, "content": 2, "title": 1, "unchanged": 2}
    assert second.summary["changes"]["what_changed"] == {"lastmod": 35, "content": 2, "title": 1}
    edits = [row for row in second.of_type("change") if row.get("what") == "content"]
    assert len(edits) == 2 and all("changed a little" in row["after"] for row in edits)


def test_job_knows_since_when_a_page_has_its_content(nights: tuple[Crawl, Crawl, Path]) -> None:
    first, second, path = nights
    with duckdb.connect(path, read_only=True) as job:
        rows = job.execute("SELECT url, strftime(first_seen, '%xT%X'), strftime(changed_at, '%xT%X') FROM contents")
        found = {int(url.rpartition("/")[2]): (seen, changed) for url, seen, changed in rows.fetchall()}
    began, next_began = (done.summary["started"][: len("2026-11-27T07:43:03")] for done in (first, second))
    assert {number for number, (_, changed) in found.items() if changed} == {EDITED, TRUE}
    assert {changed for _, changed in found.values()} == {None, next_began}
    assert {seen for seen, _ in found.values()} == {began} and len(found) == PAGES


def test_folders_of_audits_take_over_what_was_seen(tmp_path: Path) -> None:
    """An edit of the second night is known after the third, though each night has only the folder before it."""
    with SiteServer() as site:
        days = Days(site, tmp_path)
        for night, name, before in ((1, "one", None), (2, "two", "one/report"), (2, "three", "two/report")):
            publish(site, night)
            days.crawl(name, before=before, keep=False, verify="get", report="report")
    known = [contents_of(tmp_path / name / "report") for name in ("one", "two", "three")]
    [first] = {first for first, _ in known[0].values()}
    assert [{first for first, _ in rows.values()} for rows in known] == [{first}] * 3
    changed = [{number: changed for number, (_, changed) in rows.items() if changed} for rows in known]
    assert changed[0] == {}
    assert changed[1].keys() == {EDITED, TRUE}
    assert changed[2] == changed[1]
    fixed = run(tmp_path, "fix", "three/report", "--lastmod", "content")
    assert "2 changed       lastmod-same-content-changed" in fixed.stdout, fixed.stdout + fixed.stderr


def contents_of(report: Path) -> dict[int, tuple[datetime, datetime | None]]:
    """{page: when it was first read, when its content was seen to change}"""
    query = f"SELECT url, first_seen, changed_at FROM read_parquet('{report / CONTENTS}')"
    return {int(url.rpartition("/")[2]): (first, changed) for url, first, changed in duckdb.sql(query).fetchall()}


EDITED_OF_BOTH = {3, 15}
"""Pages with another sentence in the second night, one of each template."""


def publish_unsteady(site: SiteServer, night: int) -> None:
    """Two templates of twelve pages, a third of two. All have a count and a list of pages that differ every night, and
    that no name or known word tells."""
    dates, site.routes = {}, {"/robots.txt": robots(site.url("/sitemap.xml"))}
    for number in range(1, 27):
        text = " ".join(f"Boat {number} has mast {number * n} of the yard in the old harbour." for n in range(9))
        text += MORE if night == 2 and number in EDITED_OF_BOTH else ""
        count, teasers = (
            f"<i>{number * night}</i> skates",
            "".join(f"<li>Ship {number + n * night} of the northern yard has left the harbour." for n in range(5)),
        )
        main = (
            f"<div class=wide><h1>Boat {number}</h1><p>{text}</p><div>{count}</div><ul>{teasers}</ul></div>",
            f"<table><tr><td><h1>Boat {number}</h1>{text}<td>{count}<td>{teasers}</table>",
            f"<main><h1>Boat {number}</h1>{count}<p>{text}</p>{teasers}</main>",
        )[(number - 1) // 12]
        site.routes[f"/{number}"] = html(f"<title>Boat {number}</title>", body=main)
        dates[f"/{number}"] = "<lastmod>2026-01-05</lastmod>"
    site.routes["/sitemap.xml"] = Reply(urlset_of(site, dates), headers={"Content-Type": "application/xml"})


def test_parts_that_change_by_themselves_are_learned(tmp_path: Path) -> None:
    with SiteServer() as site:
        days = Days(site, tmp_path)
        publish_unsteady(site, 1)
        days.crawl("one", verify="get")
        publish_unsteady(site, 2)
        second = days.crawl("two", before=f"one/{JOBDIR}", verify="get")
    rare = {25, 26}  # two pages are too few to learn from
    rows = second.of_type("url")
    assert {int(row["loc"].rpartition("/")[2]) for row in rows if row["change"] == "changed"} == EDITED_OF_BOTH | rare
    assert numbers(second, "lastmod-same-content-changed") == EDITED_OF_BOTH | rare
    assert [row["line"] for row in rows] == sorted(row["line"] for row in rows)
    with duckdb.connect(days.job("two"), read_only=True) as job:
        changed = job.execute("SELECT url FROM contents WHERE changed_at IS NOT NULL").fetchall()
    assert {int(url.rpartition("/")[2]) for (url,) in changed} == EDITED_OF_BOTH | rare
