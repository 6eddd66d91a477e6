"""Settings and logs are checked before a crawl runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.spiders.running import COLLECTED_AFTER, check_settings, collecting_seldom, plan


def settings(name: str, value: object) -> Settings:
    changed = project_settings()
    changed.set(name, value, priority="cmdline")
    return changed


@pytest.mark.parametrize("name", ["SITEMAP_STORE", "SITEMAP_PROGRESS"])
def test_switch_is_on_or_off(name: str) -> None:
    for value in (True, "False", "1", "0"):
        check_settings(settings(name, value))
    with pytest.raises(ValueError, match=f"^setting {name}='perhaps': accepted: True, False$"):
        check_settings(settings(name, "perhaps"))


def test_interval_is_a_number() -> None:
    check_settings(settings("SITEMAP_PROGRESS_INTERVAL", "0"))
    with pytest.raises(ValueError, match=r"^setting SITEMAP_PROGRESS_INTERVAL='often': accepted: a number$"):
        check_settings(settings("SITEMAP_PROGRESS_INTERVAL", "often"))


@pytest.mark.parametrize(
    ("name", "accepted"),
    [("SITEMAP_ITEMS", ("auto", "batches", "records")), ("SITEMAP_CSV_CELLS", ("flat", "json"))],
)
def test_setting_is_one_of_several_words(name: str, accepted: tuple[str, ...]) -> None:
    for value in accepted:
        check_settings(settings(name, value))
    with pytest.raises(ValueError, match=f"^setting {name}='xml': accepted: {', '.join(accepted)}$"):
        check_settings(settings(name, "xml"))


def test_refused_arguments_leave_no_log(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    with pytest.raises(ValueError, match=r"^argument verify='perhaps': "):
        plan(settings("LOG_FILE", str(log)), {"domain": "e.com", "verify": "perhaps"})
    assert not log.exists()


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (".", "Is a directory"),
        ("nosuch/crawl.log", "No such file or directory"),
        ("file/crawl.log", "Not a directory"),
        ("/proc/crawl.log", "[A-Z].*"),
    ],
)
def test_log_that_cannot_be_written(tmp_path: Path, place: str, problem: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / place
    with pytest.raises(ValueError, match=f"^the log {path} cannot be written: {problem}$"):
        check_settings(settings("LOG_FILE", str(path)))


def test_earlier_log_stays_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    log.write_text("earlier\n")
    check_settings(settings("LOG_FILE", str(log)))
    assert log.read_text() == "earlier\n"


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
