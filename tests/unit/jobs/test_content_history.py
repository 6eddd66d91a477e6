"""What a job keeps of the content of pages, over several crawls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from scrapy.settings import BaseSettings

from sitemapcrawler.crawl.params import Params
from sitemapcrawler.jobs import content_history
from sitemapcrawler.jobs.opening import open_job
from sitemapcrawler.jobs.rewriting import rewrite
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.baseline import Baseline
from tests.unit.jobs.baselines import HOME, job, jsonl, page, parquet, reply

FIRST, SECOND, THIRD = (f"2026-11-0{day}T00:00:00Z" for day in (1, 2, 3))
SAME, OTHER, NEWER = ("1-" + 32 * "a", "1-" + 32 * "b", "2-" + 32 * "c")
LENGTH = len("2026-11-01")


def read(path: str, content: str | None, **fields: Any) -> Any:
    """An entry of a page with this content."""
    return page(path, reply=reply(content_hash=content, simhash=content and 16 * content[-1]), **fields)


def night(folder: Path, started: str, before: Path | None, *records: Any) -> dict[str, tuple[Any, ...]]:
    """Add a crawl of these pages; returns {path: (version, last digit of the hash, first seen, changed)}."""
    path = job(folder, records, summary={"started": started})
    store = Store.open(folder, [] if before is None else [before])
    baseline = None if before is None else Baseline(store, before)
    since = baseline.summary.started if baseline is not None and baseline.summary is not None else None
    with store.transaction():
        taken_back = content_history.update(store, started, baseline is not None, since)
        rewrite(store, [taken_back] if taken_back is not None else [])
    rows = store.execute("SELECT url, version, content_hash, first_seen, changed_at FROM contents ORDER BY url")
    store.close()
    assert path.exists()
    return {
        url.removeprefix(HOME): (version, f"{digest:x}"[-1], *(time and str(time)[:LENGTH] for time in times))
        for url, version, digest, *times in rows
    }


def test_content_over_three_nights(tmp_path: Path) -> None:
    names = ("/same", "/other", "/back", "/newer", "/unread")
    one = night(tmp_path / "1", FIRST, None, *(read(name, SAME) for name in names), read("/removed", SAME))
    assert set(one.values()) == {(1, "a", "2026-11-01", None)}
    two = night(
        tmp_path / "2", SECOND, tmp_path / "1/audit.duckdb",
        read("/same", SAME), read("/other", OTHER), read("/back", OTHER), read("/newer", NEWER), read("/unread", None),
        read("/removed", None, change="removed"), read("/added", SAME),
    )  # fmt: skip
    assert two == {
        "/same": (1, "a", "2026-11-01", None),
        "/other": (1, "b", "2026-11-01", "2026-11-02"),
        "/back": (1, "b", "2026-11-01", "2026-11-02"),
        "/newer": (2, "c", "2026-11-01", None),
        "/unread": (1, "a", "2026-11-01", None),
        "/added": (1, "a", "2026-11-02", None),
    }
    three = night(
        tmp_path / "3", THIRD, tmp_path / "2/audit.duckdb",
        *(read(name, SAME) for name in names), read("/added", SAME),
    )  # fmt: skip
    assert three == two | {
        "/other": (1, "a", "2026-11-01", "2026-11-03"),
        "/back": (1, "a", "2026-11-01", "2026-11-03"),
        "/newer": (1, "a", "2026-11-01", None),
    }


def test_change_lies_between_two_crawls_that_read_the_page(tmp_path: Path) -> None:
    night(tmp_path / "1", FIRST, None, read("/a", SAME), read("/b", SAME))
    night(tmp_path / "2", SECOND, tmp_path / "1/audit.duckdb", read("/a", None), read("/b", SAME))
    night(tmp_path / "3", THIRD, tmp_path / "2/audit.duckdb", read("/a", OTHER), read("/b", SAME))
    with duckdb.connect(tmp_path / "3/audit.duckdb", read_only=True) as job:
        query = "SELECT last_seen::DATE::VARCHAR, changed_after::DATE::VARCHAR FROM contents ORDER BY url"
        assert job.execute(query).fetchall() == [(THIRD[:LENGTH], FIRST[:LENGTH]), (THIRD[:LENGTH], None)]


@pytest.mark.parametrize("kind", [jsonl, parquet])
def test_feed_contributes_its_hashes(tmp_path: Path, kind: Any) -> None:
    before = kind(tmp_path, [read("/same", SAME), read("/other", SAME), read("/unread", None)])
    found = night(tmp_path / "job", SECOND, before, read("/same", SAME), read("/other", OTHER), read("/unread", OTHER))
    assert found == {
        "/same": (1, "a", None, None),
        "/other": (1, "b", None, "2026-11-02"),
        "/unread": (1, "b", "2026-11-02", None),
    }


@pytest.mark.parametrize("odd", ["", "1-", "1", "x-" + 32 * "a", "1-" + 33 * "f", "300-" + 32 * "a"])
def test_malformed_hash_of_a_feed_is_ignored(tmp_path: Path, odd: str) -> None:
    before = jsonl(tmp_path, [read("/same", odd), read("/other", SAME)])
    assert set(night(tmp_path / "job", SECOND, before, read("/same", SAME))) == {"/same", "/other"}


def test_table_written_twice_stays_the_same(tmp_path: Path) -> None:
    path = job(tmp_path, [read("/same", SAME)])
    store = Store.open(tmp_path)
    for started in (FIRST, SECOND):
        content_history.update(store, started, False, None)
    [(count, first)] = store.execute("SELECT count(*), min(first_seen)::VARCHAR FROM contents")
    store.close()
    assert (path.name, count, first[:LENGTH]) == ("audit.duckdb", 1, "2026-11-01")


def fresh_job(folder: Path) -> list[tuple[Any, ...]]:
    """The table of a job that replaces the one in this folder."""
    settings = BaseSettings({"JOBDIR": str(folder), "SITEMAP_STORE": True})
    opened = open_job(settings, Params.parse({"domain": HOME, "fresh": "yes"}), needed=True)
    assert opened is not None
    rows = opened.store.execute("SELECT url, version, first_seen::VARCHAR FROM contents")
    opened.store.close()
    return rows


def test_fresh_job_takes_over_the_table_of_the_discarded_one(tmp_path: Path) -> None:
    night(tmp_path, FIRST, None, read("/same", SAME))
    assert fresh_job(tmp_path) == [(f"{HOME}/same", 1, "2026-11-01 00:00:00")]
    assert fresh_job(tmp_path) == [(f"{HOME}/same", 1, "2026-11-01 00:00:00")]


@pytest.mark.parametrize("before", [b"", b"no database"])
def test_fresh_job_in_place_of_a_damaged_one_begins_without(tmp_path: Path, before: bytes) -> None:
    (tmp_path / "audit.duckdb").write_bytes(before)
    assert fresh_job(tmp_path) == []
