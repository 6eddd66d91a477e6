"""`scrapy crawl`, with the arguments and feeds checked before a crawler exists, and exit codes that tell."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from sitemapcrawler import settings as ours
from sitemapcrawler.addresses import AddressGuard
from sitemapcrawler.choosing import choose
from sitemapcrawler.configuring import names_in, prepare_feeds
from sitemapcrawler.downloads import guarded_handler
from sitemapcrawler.feeds import named_formats
from sitemapcrawler.opening import check_job
from sitemapcrawler.params import Params
from sitemapcrawler.spiders.sitemap import SitemapSpider

NOT_STARTED = FEED_LOST = 1
BAD_ARGUMENT, STOPPED, NOTHING_READ = 2, 3, 4
"""Exit codes besides 0: finished."""
ITEMS = ("batches", "records")
"""Values of SITEMAP_ITEMS."""
LEAST = {"SITEMAP_STORE_MEMORY": 100, "SITEMAP_STORE_THREADS": 1}
"""The least that DuckDB works with."""
CHATTY = (
    "scrapy.utils.log",
    "scrapy.addons",
    "scrapy.middleware",
    "scrapy.crawler",
    "scrapy.core.engine",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.logstats",
)
"""Loggers of Scrapy whose INFO tells of its own parts, or counts batches as items; `-L` shows them."""


class Command(CrawlCommand):
    """Scrapy's command for our spider; other spiders of a project run as they always do."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check everything that the command line says. One line and exit code 2 for what cannot work."""
        assert self.settings is not None
        try:
            formats = names_in(self.settings, "FEED_EXPORTERS")
            opts.output = named_formats(opts.output, formats)
            opts.overwrite_output = named_formats(opts.overwrite_output, formats)
            super().process_options(args, opts)
            check_settings(self.settings)
            prepare_feeds(self.settings)
            choose(self.settings)
            AddressGuard(networks=self.settings.getlist("SITEMAP_ALLOW_NETWORKS"))
            guarded_handler(self.settings)
            if args[:1] == [SitemapSpider.name]:
                check_job(self.settings, Params.parse(opts.spargs))
        except ValueError as error:
            refuse(str(error))
        if opts.loglevel is None:
            for name in CHATTY:
                logging.getLogger(name).addFilter(is_news)  # a level would not outlive Scrapy's own set-up

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, and turn how it ended into the exit code."""
        if len(args) != 1:
            raise UsageError
        assert self.crawler_process is not None
        crawler = self._create_crawler(args[0])
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        if self.crawler_process.bootstrap_failed:
            self.exitcode = NOT_STARTED
        elif args[0] == SitemapSpider.name:
            self.exitcode = exit_code(crawler.stats.get_stats(), getattr(crawler.spider, "stop_reason", None))


def check_settings(settings: BaseSettings) -> None:
    """ValueError, one line, for a setting of ours that cannot be used."""
    if settings["SITEMAP_ITEMS"] not in ITEMS:
        raise ValueError(f"setting SITEMAP_ITEMS={settings['SITEMAP_ITEMS']!r}: accepted: {', '.join(ITEMS)}")
    for name, default in vars(ours).items():
        if name.startswith("SITEMAP_") and type(default) in (int, float):
            try:
                settings.getfloat(name)
            except (TypeError, ValueError):
                raise ValueError(f"setting {name}={settings[name]!r}: accepted: a number") from None
    for name, least in LEAST.items():
        if settings.getfloat(name) < least:
            raise ValueError(f"setting {name}={settings[name]!r}: accepted: a number from {least}")
    try:
        settings.getbool("SITEMAP_STORE")
    except ValueError:
        raise ValueError(f"setting SITEMAP_STORE={settings['SITEMAP_STORE']!r}: accepted: True, False") from None


def is_news(record: logging.LogRecord) -> bool:
    """True for a log record that should be seen in any case: a warning, or the answer to Ctrl-C."""
    return record.levelno >= logging.WARNING or "shutting down" in str(record.msg)


def exit_code(stats: Mapping[str, Any], stop_reason: str | None = None) -> int:
    """What a crawl that ran came to: lost feeds, a stop before the end, nothing read, or success."""
    if "sitemap/store_lost" in stats or any(name.startswith("feedexport/failed_count/") for name in stats):
        return FEED_LOST
    if stop_reason or stats.get("sitemap/partial"):
        return STOPPED
    return 0 if stats.get("sitemap/files_read") else NOTHING_READ


def refuse(message: str) -> NoReturn:
    """One line on standard error, exit code 2."""
    print(f"sitemapcrawler: {message}", file=sys.stderr)
    sys.exit(BAD_ARGUMENT)
