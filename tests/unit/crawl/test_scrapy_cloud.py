"""What is different on Scrapy Cloud, with the settings that its own entry point makes."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.settings import Settings
from scrapy_spider_metadata import Args, get_spider_metadata
from sh_scrapy.settings import populate_settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.crawl.params import ARGUMENTS, Params
from sitemapcrawler.crawl.scrapy_cloud import OUR_STORAGE, THEIR_STORAGE, adapt, runs_there, schema, without_empty
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
    assert without_empty({"domain": "e.com", "since": "None", "include": "", "exclude": "  ", "fresh": "False"}) == {
        "domain": "e.com",
        "fresh": "False",
    }


PROPERTIES: dict[str, dict[str, Any]] = schema()["properties"]
CHOICES = {
    "probe": ["auto", "always", "never"],
    "verify": ["off", "head", "get"],
    "only": ["changes"],
    "findings": ["all"],
    "links": ["no", "yes", "site"],
}
SWITCHES = {"offline", "verify_offsite", "verify_assets", "fresh", "force"}
COUNTS = {"gsc_sample": 1, "max_urls": 1, "max_sitemaps": 1, "max_pages": 1, "max_depth": 0, "seed": 0}
"""Whole numbers, with the least of each."""


def kind(name: str) -> dict[str, Any]:
    """What the property says of a value that is given."""
    told = PROPERTIES[name]
    given = {**told["anyOf"][0], **told} if "anyOf" in told else told
    return {key: value for key, value in given.items() if key not in ("anyOf", "default", "title", "description")}


class Modelled(Args[Params], Spider):
    name = "modelled"


def test_form_is_that_of_the_model() -> None:
    assert get_spider_metadata(AuditSpider, normalize=True)["param_schema"] == schema()
    modelled = get_spider_metadata(Modelled, normalize=True)["param_schema"]
    assert modelled.keys() == schema().keys()
    for name in ("domain", "max_urls", "max_time", "include", "verify", "fresh"):
        assert kind(name) == {
            key: value
            for key, value in (modelled["properties"][name].get("anyOf", [modelled["properties"][name]])[0]).items()
            if key not in ("default", "title", "description")
        }


def test_every_argument_is_a_property_with_its_help() -> None:
    import_module("jsonschema").Draft202012Validator.check_schema(schema())
    assert list(PROPERTIES) == [*ARGUMENTS]
    for name, argument in ARGUMENTS.items():
        told = PROPERTIES[name]["description"]
        assert told.startswith(argument.help) and PROPERTIES[name]["title"]
        assert name in SWITCHES or argument.accepted in told


def test_kinds_are_those_that_are_accepted() -> None:
    texts = PROPERTIES.keys() - CHOICES.keys() - SWITCHES - COUNTS.keys() - {"max_time"}
    assert all(kind(name) == {"type": "string"} for name in texts)
    assert all(kind(name) == {"type": "boolean"} for name in SWITCHES)
    assert {name: (kind(name)["type"], kind(name)["minimum"]) for name in COUNTS} == {
        name: ("integer", least) for name, least in COUNTS.items()
    }
    assert (kind("max_time")["type"], kind("max_time")["exclusiveMinimum"]) == ("number", 0)
    assert {name: kind(name) for name in CHOICES} == {
        name: {"type": "string", "enum": choices} for name, choices in CHOICES.items()
    }


def test_defaults_are_those_without_an_argument() -> None:
    defaults = {name: told["default"] for name, told in PROPERTIES.items() if told["default"] not in (None, "")}
    assert defaults.keys() == {name for name, argument in ARGUMENTS.items() if argument.default_text}
    assert Params.parse({"domain": "e.com", **defaults}) == Params.parse({"domain": "e.com"})
    for name, default in defaults.items():
        import_module("jsonschema").validate(default, kind(name))
