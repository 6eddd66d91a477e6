"""What the commands need: named as in pyproject.toml, and missed in one line."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import pytest
import scrapy
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from sitemapcrawler import commands
from sitemapcrawler.commands.crawl import Command
from sitemapcrawler.spiders.sitemap import AuditSpider

ROOT = Path(__file__).parents[3]
BROUGHT = {"scrapy", "twisted", "w3lib", "zope-interface", "google-re2"}
"""Scrapy and what it brings; and re2, without which all works."""


def test_every_dependency_is_needed() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    others = [text for text in declared if text.partition(">=")[0] not in BROUGHT]
    assert sorted(commands.NEEDED.values()) == sorted(others)
    assert f"scrapy>={commands.SCRAPY[0]}.{commands.SCRAPY[1]},<3" in declared


def test_nothing_is_lacking_here() -> None:
    assert commands.lacking() == []
    commands.require()


def test_all_that_is_lacking_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(commands.NEEDED, "no_such_module", "no-such-module>=1")
    monkeypatch.setitem(commands.NEEDED, "none_of_this", "none-of-this>=2")
    monkeypatch.setattr(scrapy, "version_info", (2, 17, 3))
    with pytest.raises(SystemExit, match=r"install 'scrapy>=2\.18,<3' 'no-such-module>=1' 'none-of-this>=2' there$"):
        commands.require()


class WithoutPipelines(AuditSpider):
    custom_settings: ClassVar[dict[str, Any]] = {"ITEM_PIPELINES": {}}


def test_custom_settings_of_a_spider_count_before_those_of_its_project() -> None:
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings({"ITEM_PIPELINES": {"shop.pipelines.Shop": 300}})
    command.add_options(parser)
    command._check(WithoutPipelines, ["sitemap"], parser.parse_args(["-a", "domain=e.com", "-a", "select=none"]))
    command._plan.discard()
    crawler = Crawler(WithoutPipelines, command.settings)  # applies the custom settings
    assert "shop.pipelines.Shop" not in crawler.settings.getdict("ITEM_PIPELINES")
