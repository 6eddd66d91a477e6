"""Imports all that a crawl needs, in the server that forks the crawls of a worker (`sitemapcrawler.processes`).

Ignores errors, which the crawl will report.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from sitemapcrawler import settings as ours
from sitemapcrawler.feeds.exporters import ParquetExporter
from sitemapcrawler.fleet import crawling
from sitemapcrawler.fleet.domains import TABLES
from sitemapcrawler.rules import all_rules

__all__ = ["crawling"]

PARTS = ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES")
"""Settings with ordered lists of components."""
NAMED = ("FEED_EXPORTERS", "FEED_STORAGES", "DOWNLOAD_HANDLERS")
"""Settings that map names to components."""
LATER = ("duckdb", "scrapy.core.engine", "scrapy.pqueues", "scrapy.squeues", "scrapy.statscollectors")
"""Modules that a crawl imports on first use."""


def preload() -> None:
    settings = Settings()
    settings.setmodule(ours, "project")
    named = [path for setting in NAMED for path in settings.getwithbase(setting).values()]
    for path in [*named, *(path for setting in PARTS for path in build_component_list(settings.getwithbase(setting)))]:
        with suppress(ImportError, NameError, AttributeError):
            load_object(path) if path is not None else None
    for module in LATER:
        with suppress(ImportError):
            __import__(module)
    all_rules()
    with suppress(ImportError):
        for record in TABLES.values():  # pyarrow imports more modules with the first rows of a table
            ParquetExporter.check_options({"item_classes": [record]})
    gc.collect()
    gc.freeze()  # a collection writes to every object, and would copy the memory shared with the crawls


preload()
