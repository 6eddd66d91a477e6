"""How many pages a spider may ask for, in one run and in several of one job."""

from __future__ import annotations

from pathlib import Path

from scrapy import Request
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from sitemapcrawler.pages.walking import KEY_BYTES, Quota

FINGERPRINT = RequestFingerprinter(get_crawler()).fingerprint


def taken(most: int | None, folder: Path | None, *paths: str) -> int:
    """How many of these pages are taken before a run is full."""
    quota = Quota(most, folder, FINGERPRINT)
    try:
        for number, path in enumerate(paths):
            if quota.full:
                return number
            quota.use(Request(f"https://a.example{path}"))
        return len(paths)
    finally:
        quota.close()


def test_page_counts_once() -> None:
    assert taken(2, None, "/1", "/1", "/1#top", "/2", "/3") == 4


def test_without_a_limit_nothing_is_counted_or_kept(tmp_path: Path) -> None:
    assert taken(None, tmp_path, "/1", "/2") == 2
    assert list(tmp_path.iterdir()) == []


def test_request_that_is_made_again_counts_again() -> None:
    quota = Quota(2, None, FINGERPRINT)
    for _ in range(2):
        assert not quota.full
        quota.use(Request("https://a.example/1", dont_filter=True))
    assert quota.full


def test_later_runs_of_a_job_count_on(tmp_path: Path) -> None:
    assert taken(3, tmp_path, "/1", "/2") == 2
    assert taken(3, tmp_path, "/2", "/5", "/6", "/7") == 2
    assert taken(3, tmp_path, "/8") == 0
    assert taken(4, tmp_path, "/8", "/9") == 1


def test_run_that_broke_off_while_it_wrote_is_taken_up(tmp_path: Path) -> None:
    taken(3, tmp_path, "/1", "/2")
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert taken(3, tmp_path, "/1", "/3", "/4", "/5") == 3
    assert path.stat().st_size == 3 * KEY_BYTES
