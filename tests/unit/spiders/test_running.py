"""What is checked before a crawl runs, and what is set while it does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.spiders.running import COLLECTED_AFTER, FEED_LOST, STOPPED, collecting_seldom, exit_code, plan


def settings(name: str, value: object) -> Settings:
    changed = project_settings()
    changed.set(name, value, priority="cmdline")
    return changed


def test_refused_arguments_leave_no_log(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    with pytest.raises(ValueError, match=r"^argument verify='perhaps': "):
        plan(settings("LOG_FILE", str(log)), {"domain": "e.com", "verify": "perhaps"})
    assert not log.exists()


@pytest.mark.parametrize(
    ("stats", "stopped", "feeds", "code"),
    [
        ({"feedexport/success_count/AtomicFileStorage": 2}, False, 2, 0),
        ({"feedexport/success_count/AtomicFileStorage": 1}, False, 2, FEED_LOST),
        ({}, False, 1, FEED_LOST),
        ({}, True, 1, FEED_LOST),
        ({"feedexport/success_count/S3FeedStorage": 1, "feedexport/failed_count/S3FeedStorage": 1}, True, 1, FEED_LOST),
        ({"finish_reason": None}, True, 1, STOPPED),
    ],
)
def test_feed_that_was_not_stored_is_lost(stats: dict[str, Any], stopped: bool, feeds: int, code: int) -> None:
    """Without a reason for its end, a second signal has ended the crawl before its feeds."""
    ended = {name: value for name, value in {"finish_reason": "finished", **stats}.items() if value is not None}
    assert exit_code({"sitemap/files_read": 1, **ended}, stopped, feeds) == code


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize(("before", "during"), [((700, 10, 10), COLLECTED_AFTER), ((5000, 5, 5), (5000, 5, 5))])
def test_default_thresholds_of_the_garbage_collector_are_raised_for_a_crawl(
    before: tuple[int, int, int], during: tuple[int, int, int]
) -> None:
    gc.set_threshold(*before)
    with collecting_seldom():
        assert gc.get_threshold() == during
        assert gc.get_freeze_count() > 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
