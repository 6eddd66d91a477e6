"""What is different on Scrapy Cloud, with the settings that its own entry point makes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from sh_scrapy.settings import populate_settings

from sitemapcrawler.audit.scrapy_cloud import OUR_STORAGE, THEIR_STORAGE, adapt, given, runs_there
from sitemapcrawler.cli import project_settings
from sitemapcrawler.spiders.sitemap import AuditSpider


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary folders, of this test; and the variable that a project's settings are found by."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "sitemapcrawler.settings")


def of_a_job(**chosen: object) -> Settings:
    """The settings of a job, some of them chosen for it."""
    made: Settings = populate_settings({"job_settings": chosen}, "sitemap")
    return made


def storages(settings: Settings) -> dict[str, Any]:
    """Those of the two extensions that a crawl would have, with their places."""
    extensions = settings.getwithbase("EXTENSIONS")
    return {name: extensions[name] for name in (THEIR_STORAGE, OUR_STORAGE) if extensions.get(name) is not None}


def test_items_are_records_that_ours_writes() -> None:
    settings = of_a_job()
    assert runs_there(settings) and storages(settings) == {THEIR_STORAGE: 100}
    AuditSpider.update_settings(settings)
    assert settings["SITEMAP_ITEMS"] == "records"
    assert runs_there(settings) and storages(settings) == {OUR_STORAGE: 100}


@pytest.mark.parametrize("chosen", ["batches", "records"])
def test_what_a_setting_says_holds(chosen: str) -> None:
    settings = of_a_job(SITEMAP_ITEMS=chosen)
    adapt(settings)
    assert settings["SITEMAP_ITEMS"] == chosen
    assert storages(settings) == {OUR_STORAGE: 100}


def test_auto_of_a_job_is_auto() -> None:
    settings = of_a_job(SITEMAP_ITEMS="auto")
    adapt(settings)
    again = settings.copy()
    again.update(of_a_job(SITEMAP_ITEMS="auto"))  # as Scrapy does when a crawl begins
    assert again["SITEMAP_ITEMS"] == "records"


def test_folder_that_every_job_is_given_is_none(tmp_path: Path) -> None:
    settings = of_a_job()
    assert Path(settings["JOBDIR"]).parent == tmp_path
    AuditSpider.update_settings(settings)
    assert (settings["JOBDIR"], settings.get("SITEMAP_JOBDIR")) == (None, None)


@pytest.mark.parametrize("folder", ["crawls/shop", "jobdata-shop"])
def test_folder_that_was_chosen_is_kept(folder: str) -> None:
    settings = of_a_job(JOBDIR=folder)
    AuditSpider.update_settings(settings)
    assert settings["SITEMAP_JOBDIR"] == folder


def test_storage_that_was_switched_off_stays_off() -> None:
    settings = of_a_job()
    settings.set("EXTENSIONS", {THEIR_STORAGE: None}, "cmdline")
    adapt(settings)
    assert not runs_there(settings) and settings["SITEMAP_ITEMS"] == "auto"


def test_storage_that_was_put_elsewhere_is_replaced_there() -> None:
    settings = of_a_job()
    settings.set("EXTENSIONS", {THEIR_STORAGE: 7}, "cmdline")
    adapt(settings)
    assert storages(settings) == {OUR_STORAGE: 7}


def test_nothing_changes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHUB_JOBKEY", "1/2/3")  # of the job that has started this program
    settings = project_settings()
    settings.set("JOBDIR", str(tmp_path / "jobdata-mine"), "cmdline")
    before = dict(settings)
    adapt(settings)
    assert dict(settings) == before and not runs_there(settings)


def test_arguments_without_a_value_are_not_given() -> None:
    assert given({"domain": "e.com", "since": "None", "include": "", "exclude": "  ", "fresh": "False"}) == {
        "domain": "e.com",
        "fresh": "False",
    }
