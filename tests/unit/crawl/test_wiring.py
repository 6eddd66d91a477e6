"""Settings of projects that are completed for our spiders; what somebody chose stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from scrapy.settings import BaseSettings, Settings

from sitemapcrawler import Addon
from sitemapcrawler import settings as ours
from sitemapcrawler.crawl.configuring import max_fetched
from sitemapcrawler.crawl.setting_values import check_settings
from sitemapcrawler.crawl.wiring import (
    complete_for_audit,
    complete_for_pages,
    is_guarded,
    leave_out_pipelines,
    log_unguarded,
)
from sitemapcrawler.items import RECORDS

Complete = Callable[[BaseSettings], None]
ROBOTS, OURS = (
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
    "sitemapcrawler.middlewares.adapted.RobotsMiddleware",
)
PROJECT: dict[str, Any] = {
    "BOT_NAME": "shop",
    "SPIDER_MODULES": ["shop.spiders"],
    "DOWNLOAD_DELAY": 1,
    "CONCURRENT_ITEMS": 100,
    "DEPTH_LIMIT": 1,
    "ITEM_PIPELINES": {"shop.pipelines.Shop": 300},
    "DOWNLOADER_MIDDLEWARES": {"shop.middlewares.Shop": 543, ROBOTS: 77},
    "EXTENSIONS": {"scrapy.extensions.logstats.LogStats": 5},
    "FEED_EXPORTERS": {"csv": "shop.exporters.Csv"},
    "DOWNLOAD_HANDLERS": {"ftp": "shop.handlers.Ftp"},
}
"""Settings of somebody's project."""


def completed(complete: Complete, project: dict[str, Any] | None = None, **cmdline: Any) -> Settings:
    settings = Settings(project, priority="project")
    settings.update(cmdline, priority="cmdline")
    before = settings.copy()
    complete(settings)
    settings.update(before)  # as Scrapy's commands do
    return settings


def test_defaults_of_scrapy_are_completed() -> None:
    settings = completed(complete_for_pages)
    assert settings["SITEMAP_MAX_BYTES"] == ours.SITEMAP_MAX_BYTES
    assert settings.getbool("ROBOTSTXT_OBEY") is True
    assert set(settings["EXTENSIONS"]) == {
        "sitemapcrawler.download.bodies.BodyCollector",
        "sitemapcrawler.extensions.stopping.Stopping",
        "sitemapcrawler.extensions.logs.InertLog",
        "scrapy.extensions.feedexport.FeedExporter",
        "sitemapcrawler.feeds.whole.WholeFeedExporter",
    }
    middlewares = settings.getwithbase("DOWNLOADER_MIDDLEWARES")
    assert (middlewares[ROBOTS], middlewares[OURS]) == (None, 100)
    assert middlewares["scrapy.downloadermiddlewares.retry.RetryMiddleware"] == 550
    assert is_guarded(settings)
    assert not settings["ITEM_PIPELINES"]
    assert (settings["HTTPERROR_ALLOW_ALL"], settings["JOBDIR"]) == (False, None)
    assert max_fetched(settings) == ours.DOWNLOAD_MAXSIZE


@pytest.mark.parametrize("priority", ["project", "cmdline"])
def test_what_the_user_chose_stays(priority: str) -> None:
    chosen: dict[str, Any] = {
        "ROBOTSTXT_OBEY": False,
        "SITEMAP_MAX_BYTES": 7,
        "DOWNLOAD_MAXSIZE": 5,
        "EXTENSIONS": {"a.B": 1, "sitemapcrawler.extensions.stopping.Stopping": None},
        "DOWNLOADER_MIDDLEWARES": {"c.D": 543, ROBOTS: None},
        "DOWNLOAD_HANDLERS": {"http": "e.F", "https": "e.F"},
        "ITEM_PIPELINES": {"g.H": 300},
        "HTTPERROR_ALLOW_ALL": True,
    }
    settings = (
        completed(complete_for_pages, chosen) if priority == "project" else completed(complete_for_pages, **chosen)
    )
    for name in ("ROBOTSTXT_OBEY", "SITEMAP_MAX_BYTES", "ITEM_PIPELINES", "HTTPERROR_ALLOW_ALL"):
        assert settings[name] == chosen[name]
    assert settings["EXTENSIONS"]["a.B"] == 1
    assert settings["EXTENSIONS"]["sitemapcrawler.extensions.stopping.Stopping"] is None
    assert OURS not in settings["DOWNLOADER_MIDDLEWARES"]
    assert settings["DOWNLOADER_MIDDLEWARES"]["c.D"] == 543
    assert settings["DOWNLOAD_HANDLERS"]["http"] == "e.F"
    assert not is_guarded(settings)
    assert max_fetched(settings) == 5


def test_wiring_of_an_audit_is_taken_back() -> None:
    settings = Settings()
    settings.setmodule(ours)
    before = settings.copy()
    complete_for_pages(settings)
    settings.update(before)
    assert set(settings["ITEM_PIPELINES"].values()) == {None}
    assert settings["EXTENSIONS"]["sitemapcrawler.extensions.stopping.ClosingLine"] is None
    assert (settings["HTTPERROR_ALLOW_ALL"], settings["DOWNLOAD_FAIL_ON_DATALOSS"]) == (False, True)
    assert settings["USER_AGENT"] == ours.USER_AGENT
    middlewares = settings.getwithbase("DOWNLOADER_MIDDLEWARES")
    assert middlewares["scrapy.downloadermiddlewares.retry.RetryMiddleware"] == 550


def test_project_has_all_that_an_audit_needs() -> None:
    settings = completed(complete_for_audit)
    check_settings(settings)
    alone = Settings()
    alone.setmodule(ours)
    for name, entries in vars(ours).items():
        if name.isupper() and isinstance(entries, dict) and not name.startswith("FEED_"):
            assert {**settings.getdict(name)} == entries, name
    of_the_project = {"BOT_NAME", "SPIDER_MODULES", "COMMANDS_MODULE", "LOG_LEVEL", "STATS_DUMP"}
    differing = {name for name in vars(ours) if name.isupper() and settings[name] != alone[name]}
    assert differing == of_the_project | {"SITEMAP_ITEMS", "FEED_EXPORTERS"}
    assert settings["SITEMAP_ITEMS"] == "records"
    formats = {name for name, exporter in settings.getwithbase("FEED_EXPORTERS").items() if exporter is not None}
    assert formats == {*ours.FEED_EXPORTERS}  # also Scrapy's, which take single records


def test_choices_of_the_project_win() -> None:
    settings = completed(complete_for_audit, PROJECT)
    assert (settings["BOT_NAME"], settings["DOWNLOAD_DELAY"]) == ("shop", 1)
    assert settings["ITEM_PIPELINES"] == {**ours.ITEM_PIPELINES, "shop.pipelines.Shop": 300}
    assert settings["DOWNLOADER_MIDDLEWARES"]["shop.middlewares.Shop"] == 543
    assert (settings["DOWNLOADER_MIDDLEWARES"][ROBOTS], settings["DOWNLOADER_MIDDLEWARES"][OURS]) == (None, 77)
    assert settings["EXTENSIONS"]["scrapy.extensions.logstats.LogStats"] == 5
    assert settings["FEED_EXPORTERS"]["csv"] == "shop.exporters.Csv"
    assert settings["DOWNLOAD_HANDLERS"]["ftp"] == "shop.handlers.Ftp"


@pytest.mark.parametrize(("handlers", "lines"), [({}, 0), ({"https": "shop.handlers.Browser"}, 1)])
def test_log_says_that_handlers_of_the_project_check_no_address(
    handlers: dict[str, str], lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        log_unguarded(completed(complete_for_audit, {"DOWNLOAD_HANDLERS": handlers}))
    assert [record.getMessage().count("checks no address") for record in caplog.records] == [1] * lines


def test_limits_for_other_spiders_do_not_cut_an_audit() -> None:
    settings = completed(complete_for_audit, PROJECT)
    assert (settings["CONCURRENT_ITEMS"], settings["DEPTH_LIMIT"], settings["HTTPERROR_ALLOW_ALL"]) == (1, 0, True)
    assert completed(complete_for_audit, PROJECT, DEPTH_LIMIT=3)["DEPTH_LIMIT"] == 3


def test_images_pipeline_of_the_project_keeps_the_images_of_records() -> None:
    settings = completed(complete_for_audit, {**PROJECT, "IMAGES_RESULT_FIELD": "images"})
    assert settings["IMAGES_RESULT_FIELD"] not in {one.name for kind in RECORDS for one in fields(kind)}


@pytest.mark.parametrize("chosen", ["batches", "records"])
def test_items_are_what_the_project_says(chosen: str) -> None:
    assert completed(complete_for_audit, {**PROJECT, "SITEMAP_ITEMS": chosen})["SITEMAP_ITEMS"] == chosen


def test_settings_that_are_built_on_ours_stay() -> None:
    settings = Settings()
    settings.setmodule(ours)
    settings.set("ITEM_PIPELINES", {**ours.ITEM_PIPELINES, "shop.pipelines.Shop": 350}, "project")
    settings.set("EXTENSIONS", {}, "project")
    before = settings.copy_to_dict()
    complete_for_audit(settings)
    assert settings.copy_to_dict() == before


@pytest.mark.parametrize(
    ("pipelines", "priority", "left"),
    [
        ({"shop.pipelines.Shop": 300}, "project", {}),
        ({"shop.pipelines.Shop": 300}, "cmdline", {"shop.pipelines.Shop": 300}),
        ({**ours.ITEM_PIPELINES, "shop.pipelines.Shop": 350}, "project", {"shop.pipelines.Shop": 350}),
    ],
)
def test_command_that_prints_has_no_pipelines_of_other_spiders(
    pipelines: dict[str, int], priority: str, left: dict[str, int]
) -> None:
    settings = Settings()
    settings.set("ITEM_PIPELINES", pipelines, priority)
    leave_out_pipelines(settings)
    complete_for_audit(settings)
    assert settings.getdict("ITEM_PIPELINES") == {**ours.ITEM_PIPELINES, **left}


def test_completing_twice_changes_nothing() -> None:
    settings = completed(complete_for_audit, PROJECT)
    before = settings.copy_to_dict()
    complete_for_audit(settings)
    assert settings.copy_to_dict() == before


def test_spiders_of_the_add_on_come_first() -> None:
    """Of two spiders with the same name, Scrapy runs the last one."""
    settings = Settings({"SPIDER_MODULES": ["shop.spiders"]})
    for _ in range(2):
        Addon.update_pre_crawler_settings(settings)
        assert settings["SPIDER_MODULES"] == ["sitemapcrawler.spiders", "shop.spiders"]
