"""`scrapy parse`: Scrapy's command for spiders of the user's own, which may request its URL at any address."""

from __future__ import annotations

import argparse

from scrapy import Request
from scrapy.commands import parse
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.spider import spidercls_for_request
from w3lib.url import is_url

from sitemapcrawler.options.base import refuse
from sitemapcrawler.options.single import SingleUrl
from sitemapcrawler.urls.display import inert


class Command(SingleUrl, parse.Command):
    """Scrapy's command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check that a spider can parse the URL, and name the URL."""
        assert self.settings is not None
        super().process_options(args, opts)
        for url in args[:1]:
            if not is_url(url):
                refuse(f"parse {inert(url)}: not a URL; accepted: one like https://example.com/")
            if opts.spider is None and spidercls_for_request(get_spider_loader(self.settings), Request(url)) is None:
                refuse(f"parse: no spider of this project is for {inert(url)}; to read a sitemap: inspect {inert(url)}")
