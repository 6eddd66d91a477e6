"""`scrapy crawl`: checks arguments and feeds before the crawl, and returns exit codes."""

from __future__ import annotations

import argparse
import logging
import sys

from scrapy import Spider
from scrapy.addons import AddonManager
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoaderProtocol, get_spider_loader

from sitemapcrawler.crawl import scrapy_cloud
from sitemapcrawler.crawl.argument_values import quoted
from sitemapcrawler.crawl.params import ARGUMENTS
from sitemapcrawler.crawl.state import ArgumentSpider, Plan
from sitemapcrawler.crawl.wiring import complete_for_audit
from sitemapcrawler.download.private import new_crawler
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.feeds.folder import on_demand
from sitemapcrawler.feeds.setup import add_exporters, choose_record_types, components_in, named_formats, prepare_feeds
from sitemapcrawler.feeds.writable import check_writable
from sitemapcrawler.options.base import (
    add_progress_option,
    apply_progress_option,
    check_pairs,
    describe_arguments,
    open_stderr,
    prepare,
    refuse,
)
from sitemapcrawler.options.configuration import read_config
from sitemapcrawler.options.targets import target
from sitemapcrawler.policy import BREACHES
from sitemapcrawler.spiders.running import BAD_ARGUMENT, plan, policy_code, quieten, run
from sitemapcrawler.spiders.sitemap import AuditSpider, check
from sitemapcrawler.urls.display import inert

logger = logging.getLogger("sitemapcrawler")


class Command(CrawlCommand):
    """Scrapy's command for our spiders; other spiders of a project run as usual."""

    _plan: Plan | None = None
    _spider: type[Spider] | None = None
    """Class of the spider to run."""

    def short_desc(self) -> str:
        return "Run a spider: crawl sitemap -a domain=example.com -O urls.csv"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        prepare(parser)
        add_progress_option(parser)
        describe_arguments(parser, tuple(ARGUMENTS))

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the command line. Invalid values end the process with one line and exit code 2."""
        assert self.settings is not None
        open_stderr()
        spiders = _spiders(self.settings)
        self._spider = spiders.load(args[0]) if args and args[0] in spiders.list() else None
        if self._spider is None or not issubclass(self._spider, ArgumentSpider):
            super().process_options(args, opts)
            if self._spider is None and len(args) == 1:
                problem = f"spider {quoted(args[0])}: no such spider; {_meant(args[0], spiders)}"
                refuse(problem, self.settings)
            return
        try:
            self._check(self._spider, args, opts)
        except ValueError as error:
            if scrapy_cloud.runs_there(self.settings):  # which logs standard error as information
                logger.error("%s", error)
                sys.exit(BAD_ARGUMENT)
            refuse(str(error), self.settings)
        if opts.loglevel is None:
            quieten()

    def _check(self, spider: type[ArgumentSpider], args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if issubclass(spider, AuditSpider):
            self.settings.setdict(spider.custom_settings or {}, "spider")  # what is added must not outrank these
            complete_for_audit(self.settings)
        add_exporters(self.settings)
        exporters = components_in(self.settings, "FEED_EXPORTERS")
        opts.output = named_formats(opts.output, exporters)
        opts.overwrite_output = named_formats(opts.overwrite_output, exporters)
        check_pairs(opts.set)
        super().process_options(args, opts)
        apply_progress_option(self.settings, opts)
        if not issubclass(spider, AuditSpider):
            prepare_feeds(self.settings)
            completed = self.settings.copy()
            spider.update_settings(completed)
            check(completed)
            check_writable(completed)
            return
        choose_record_types(self.settings, [*opts.output, *opts.overwrite_output], on_demand(opts.spargs))
        if scrapy_cloud.runs_there(self.settings):
            opts.spargs = scrapy_cloud.without_empty(opts.spargs)
            scrapy_cloud.adapt(self.settings)
        else:
            config = read_config(self.settings)
            opts.spargs = config.arguments(opts.spargs)
            config.note_limits(self.settings, opts.spargs)
        self._plan = plan(self.settings, opts.spargs, spider)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, and set the exit code."""
        if len(args) != 1:
            raise UsageError
        assert self.crawler_process is not None and self._spider is not None
        if not issubclass(self._spider, ArgumentSpider):
            super().run(args, opts)
            return
        crawler = new_crawler(self, args[0])
        self.exitcode = run(self.crawler_process, crawler, opts.spargs, self._plan)
        if self.crawler_process.bootstrap_failed:  # such as a spider that refuses an argument: it has no stats
            return
        stats = crawler.stats.get_stats()
        for breach in stats.get(BREACHES, ()):
            logger.error("policy: %s", inert(breach, MAX_LINE))
        self.exitcode = policy_code(self.exitcode, stats)


def _meant(name: str, spiders: SpiderLoaderProtocol) -> str:
    """Suggestion for an unknown spider."""
    try:
        return f"did you mean: crawl {AuditSpider.name} -a {target(name).argument}={inert(name)}"
    except ValueError:
        return f"accepted: {', '.join(sorted(spiders.list()))}"


def _spiders(settings: BaseSettings) -> SpiderLoaderProtocol:
    """The spiders that Scrapy will find once it has applied the add-ons of the project."""
    found = settings.copy()
    AddonManager.load_pre_crawler_settings(found)
    return get_spider_loader(found)
