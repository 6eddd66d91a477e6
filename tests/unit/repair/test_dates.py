"""Dates of pages by what earlier crawls have seen of their content."""

from __future__ import annotations

import random
import re
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from sitemapcrawler.feeds.folder import CONTENTS
from sitemapcrawler.repair.audited import AuditedSite
from sitemapcrawler.rules.facts.tally import TOLERANCE
from tests.unit.jobs.baselines import HOME
from tests.unit.jobs.test_content_history import night, read
from tests.unit.repair.repairing import check, repair, urlset

SITES, PAGES, RUNS = 20, 5, 5
BEFORE = "2026-01-01"
DAYS = [str(date(2026, 11, 1) + 7 * number * TOLERANCE) for number in range(RUNS)]
ENTRY = re.compile(r"<url><loc>([^<]*)</loc>(?:<lastmod>([^<]*)</lastmod>)?</url>")


@dataclass
class Planned:
    """A page, and how its site dates it."""

    path: str
    policy: str
    changes: list[bool]
    """Whether its content changes before each run. What is new in the first run is no change."""

    def version(self, run: int) -> int:
        return sum(self.changes[1 : run + 1])

    @property
    def changed(self) -> str | None:
        """Day of the run that saw the last change."""
        return next((DAYS[run] for run in reversed(range(1, RUNS)) if self.changes[run]), None)

    @property
    def listed(self) -> str | None:
        """Its date in the sitemap, in the last run."""
        true = self.changed or BEFORE
        between = str(date.fromisoformat(true) - 3 * TOLERANCE) if self.changed else BEFORE
        return {"true": true, "between": between, "nightly": DAYS[-1], "stale": BEFORE, "none": None}[self.policy]

    @property
    def expected(self) -> str | None:
        if self.changed is not None:
            return (
                self.listed
                if self.policy in ("true", "between") or self.listed == self.changed
                else f"{self.changed}T00:00:00Z"
            )
        return None if self.policy == "nightly" else self.listed


def planned() -> list[Planned]:
    chance = random.Random(41)  # a plan, no secret
    policies = ("true", "between", "nightly", "stale", "none")
    return [
        Planned(f"/site{site}/{page}", chance.choice(policies), [chance.random() < 0.2 for _ in range(RUNS)])
        for site in range(SITES)
        for page in range(PAGES)
    ]


def documents(pages: list[Planned]) -> list[bytes]:
    """A sitemap for each site."""

    def entry(page: Planned) -> str:
        lastmod = f"<lastmod>{page.listed}</lastmod>" if page.listed else ""
        return f"<url><loc>{HOME}{page.path}</loc>{lastmod}</url>"

    return [urlset(*map(entry, pages[start : start + PAGES])) for start in range(0, len(pages), PAGES)]


def crawled(folder: Path, pages: list[Planned], runs: int) -> Path:
    """Crawl the sites on some days, each with the run before as baseline. Returns the folder of the last job."""
    before = None
    for run in range(runs):
        records = [read(page.path, f"1-{page.version(run):032x}") for page in pages]
        night(folder / str(run), f"{DAYS[run]}T00:00:00Z", before, *records)
        before = folder / str(run) / "audit.duckdb"
    return folder / str(runs - 1)


@pytest.mark.slow
def test_every_date_of_twenty_sites_follows_five_runs(tmp_path: Path) -> None:
    pages = planned()
    assert {page.policy for page in pages if page.changed} == {"true", "between", "nightly", "stale", "none"}
    job = crawled(tmp_path, pages, RUNS)
    (tmp_path / "work").mkdir()
    with closing(AuditedSite(job, tmp_path / "work", keep_unverified=False)) as audit:
        once = repair(tmp_path / "once", *documents(pages), dated=audit.dated())
        assert not audit.is_first_sight
        again = repair(tmp_path / "again", *map(once.data, once.names), names=once.names, dated=audit._date_of)
    check(once)
    found = {
        loc.removeprefix(HOME): day or None
        for name in once.names
        for loc, day in ENTRY.findall(once.data(name).decode())
    }
    assert found == {page.path: page.expected for page in pages}
    changed = [page for page in pages if page.expected != page.listed]
    rule = {True: "lastmod-same-content-changed", False: "lastmod-moved-content-same"}
    assert {(row["url"].removeprefix(HOME), row["rule"], row["old"] or "", row["new"] or "") for row in once.rows} >= {
        (page.path, rule[True], page.listed or "", page.expected) for page in changed if page.expected
    }
    assert {row["url"].removeprefix(HOME) for row in once.rows if row["rule"] == rule[False]} == {
        page.path for page in changed if not page.expected
    }
    assert again.rows == []


def test_first_sight_of_a_page_is_no_change(tmp_path: Path) -> None:
    pages = planned()
    job = crawled(tmp_path, pages, 1)
    (tmp_path / "work").mkdir()
    with closing(AuditedSite(job, tmp_path / "work", keep_unverified=False)) as audit:
        once = repair(tmp_path / "once", *documents(pages), dated=audit.dated())
        assert audit.is_first_sight
    assert once.rows == []


def test_damaged_table_of_contents_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / CONTENTS).write_text("garbage")
    with (
        closing(AuditedSite(tmp_path, tmp_path / "work", keep_unverified=False)) as audit,
        pytest.raises(
            ValueError, match=r"\Acannot be read: File '.*contents.parquet' too small to be a Parquet file\Z"
        ),
    ):
        audit.dated()


def test_folder_without_a_table_of_contents_has_no_history(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with (
        closing(AuditedSite(tmp_path, tmp_path / "work", keep_unverified=False)) as audit,
        pytest.raises(ValueError, match="has no history of contents"),
    ):
        audit.dated()
