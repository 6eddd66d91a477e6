"""`scrapy crawl`: checks arguments and feeds before the crawl, and returns exit codes."""

from __future__ import annotations

import argparse
import logging
import sys

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from sitemapcrawler.commands.running import (
    add_progress_option,
    apply_progress_option,
    check_pairs,
    describe_arguments,
    open_stderr,
    prepare,
    read_config,
    refuse,
)
from sitemapcrawler.commands.targets import target
from sitemapcrawler.crawl import scrapy_cloud
from sitemapcrawler.crawl.argument_values import quoted
from sitemapcrawler.crawl.params import ARGUMENTS
from sitemapcrawler.crawl.state import Plan
from sitemapcrawler.feeds.setup import add_exporters, choose_record_types, components_in, named_formats
from sitemapcrawler.spiders.running import BAD_ARGUMENT, check, plan, quieten, run
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.urls.display import inert

logger = logging.getLogger("sitemapcrawler")


class Command(CrawlCommand):
    """Scrapy's command for our spider; other spiders of a project run as usual."""

    _plan: Plan | None = None

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
        try:
            add_exporters(self.settings)
            exporters = components_in(self.settings, "FEED_EXPORTERS")
            opts.output = named_formats(opts.output, exporters)
            opts.overwrite_output = named_formats(opts.overwrite_output, exporters)
            check_pairs(opts.set)
            super().process_options(args, opts)
            apply_progress_option(self.settings, opts)
            ours = args[:1] == [AuditSpider.name]
            if ours:
                links = opts.spargs.get("links", "no") != "no"
                choose_record_types(self.settings, [*opts.output, *opts.overwrite_output], links)
            if ours and scrapy_cloud.runs_there(self.settings):
                opts.spargs = scrapy_cloud.without_empty(opts.spargs)
                scrapy_cloud.adapt(self.settings)
            elif ours:
                config = read_config(self.settings)
                opts.spargs = config.arguments(opts.spargs)
                config.note_limits(self.settings, opts.spargs)
            if ours:
                self._plan = plan(self.settings, opts.spargs)
            else:
                check(self.settings)
        except ValueError as error:
            if scrapy_cloud.runs_there(self.settings):  # which logs standard error as information
                logger.error("%s", error)
                sys.exit(BAD_ARGUMENT)
            refuse(str(error), self.settings)
        if opts.loglevel is None:
            quieten()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, and set the exit code."""
        if len(args) != 1:
            raise UsageError
        assert self.crawler_process is not None
        try:
            crawler = self._create_crawler(args[0])
        except KeyError:
            refuse(f"spider {quoted(args[0])}: no such spider; {self._meant(args[0])}", self.settings)
        self.exitcode = run(self.crawler_process, crawler, opts.spargs, self._plan)

    def _meant(self, name: str) -> str:
        """Suggestion for an unknown spider."""
        try:
            return f"did you mean: crawl {AuditSpider.name} -a {target(name).argument}={inert(name)}"
        except ValueError:
            assert self.crawler_process is not None
            return f"accepted: {', '.join(sorted(self.crawler_process.spider_loader.list()))}"
