"""What Scrapy's commands for a single URL share here: the user names the URL, so it may have a private address."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scrapy.commands import ScrapyCommand
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.url import guess_scheme

from sitemapcrawler.crawl.argument_values import quoted
from sitemapcrawler.download.shared import NAMED_URLS
from sitemapcrawler.options.base import refuse
from sitemapcrawler.spiders.sitemap import AuditSpider

FILES = {"file": "scrapy.core.downloader.handlers.file.FileDownloadHandler"}
"""Handler of a file that the command line names; that of crawls reads sitemaps alone."""


class SingleUrl(ScrapyCommand):
    """Base of Scrapy's commands for one URL, which may be at any address."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check `--spider`, and name the URL."""
        assert self.settings is not None
        super().process_options(args, opts)
        _name_url(self.settings, args, opts)


def _name_url(settings: BaseSettings, args: Sequence[str], opts: argparse.Namespace) -> None:
    """Let a command request the URL on its command line. Exits with one line if it cannot use `--spider`."""
    if opts.spider is not None:
        _check_spider(settings, opts.spider, args)
    for url in map(guess_scheme, args[:1]):
        settings.set(NAMED_URLS, [url], "cmdline")
        if url.startswith("file:"):
            settings.set("DOWNLOAD_HANDLERS", {**settings.getdict("DOWNLOAD_HANDLERS"), **FILES}, "cmdline")


def _check_spider(settings: BaseSettings, name: str, args: Sequence[str]) -> None:
    loader = get_spider_loader(settings)
    if name not in loader.list():
        refuse(f"--spider {quoted(name)}: no such spider; accepted: {', '.join(sorted(loader.list()))}")
    if issubclass(loader.load(name), AuditSpider):
        target = " ".join(args[:1]) or "URL"
        refuse(f"--spider {name}: it audits sitemaps and cannot parse a single page; to read one: inspect {target}")
