"""Scrapy add-on that gives a project the audit spider: `ADDONS = {"sitemapcrawler.Addon": 500}`."""

from __future__ import annotations

from scrapy.settings import BaseSettings

SPIDERS = "sitemapcrawler.spiders"


class Addon:
    """Adds the audit spider to a Scrapy project. The spider brings its own settings, so nothing else changes."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Add our spiders to SPIDER_MODULES. Those of the project come last: if two spiders have the same name, Scrapy
        runs the last one."""
        modules = settings.getlist("SPIDER_MODULES")
        if SPIDERS not in modules:
            settings.set("SPIDER_MODULES", [SPIDERS, *modules], settings.getpriority("SPIDER_MODULES") or "addon")
