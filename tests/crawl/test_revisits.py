"""Two nights of a site whose generator writes the time of its run into lastmod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.crawl.crawling import Crawl
from tests.crawl.days import JOBDIR, Days, urlset_of
from tests.crawl.documents import robots
from tests.crawl.job_site import html
from tests.crawl.site_server import Reply, SiteServer

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
