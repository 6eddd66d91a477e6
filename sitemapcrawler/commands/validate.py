"""`scrapy validate`: judges sitemaps, prints what is wrong with them, and says it by the exit code."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from scrapy import signals
from scrapy.commands import ScrapyCommand
from scrapy.settings import SETTINGS_PRIORITIES

from sitemapcrawler import targets, validating
from sitemapcrawler.argument_values import shown
from sitemapcrawler.colours import painter, plain, wants_colour
from sitemapcrawler.lines import told
from sitemapcrawler.own_rules import load_rules
from sitemapcrawler.rules import all_rules, catalogue
from sitemapcrawler.running import (
    add_progress_option,
    apply_progress_option,
    check,
    given,
    leave_out_retries,
    open_stderr,
    refuse,
    run,
)
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.standard_input import spool_input
from sitemapcrawler.standard_output import pour, put

ARGUMENTS = {
    "base_url": ("URL", "where a file will live: its own URL, or one that ends in / for its folder"),
    "agents": ("NAMES", "crawlers to judge robots.txt for, such as search,ai; default for files: none"),
    "select": ("RULES", "rules and families of rules to run, separated by commas"),
    "ignore": ("RULES", "rules and families of rules not to run"),
    "baseline": ("PATH", "an earlier job or feed: rules on what has changed since run as well"),
}
"""Options that are arguments of the spider: what they take, what they are for."""
WIDTH = 100
"""Columns of a rule's page at most."""
LOG = {"LOG_LEVEL": "ERROR", "LOG_FORMAT": "sitemapcrawler: %(message)s"}
"""The log, unless its level is chosen: what a person must know."""


class Command(ScrapyCommand):
    """Runs our spider in this process on what is named, with one feed of findings."""

    _folder: tempfile.TemporaryDirectory[str] | None = None
    """Where the findings wait until they are poured into standard output; None where they go to a file."""

    def syntax(self) -> str:
        """What may be named."""
        return "[options] URL|FILE|-|DOMAIN ..."

    def short_desc(self) -> str:
        """For the list of commands."""
        return "Check sitemaps (URLs, files, sites): prints findings, exit code 1 where there are errors"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Options that are arguments of the spider, and those on the output."""
        parser.error = refuse  # type: ignore[method-assign]  # one line in place of the usage
        add = parser.add_argument
        add("--format", metavar="|".join(validating.FORMATS), default="text", help="of the output; default: text")
        add("-o", "--output", metavar="FILE", help="write the findings to FILE in place of standard output")
        add("--fail-on", metavar="|".join(validating.THRESHOLDS), default="error", help="what gives exit code 1: error")
        add("--verify", metavar="head|get", nargs="?", const="head", help="ask every listed URL whether it works")
        for name, (value, text) in ARGUMENTS.items():
            add(f"--{name.replace('_', '-')}", metavar=value, help=text)
        add("-a", dest="spargs", action="append", default=[], metavar="NAME=VALUE", help="any argument of the spider")
        add("--explain", metavar="RULE", action="append", help="print what a rule is about, and nothing else")
        add_progress_option(parser)
        add("--list-rules", action="store_true", help="print all rules, a line each, and nothing else")
        super().add_options(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check everything that was said. One line and exit code 2 for what cannot work."""
        open_stderr()
        super().process_options(args, opts)
        self.requires_crawler_process = not (opts.explain or opts.list_rules)
        opts.output = None if opts.output == targets.STDIN else opts.output
        try:
            if sys.stdout is None and not opts.output:
                raise ValueError("standard output is closed; --output names a file")
            if self.requires_crawler_process:
                self._prepare(args, opts)
        except ValueError as error:
            refuse(str(error))
        except OSError as error:  # no place for temporary files
            refuse(f"{error.filename or 'a temporary file'} cannot be written: {error.strerror}")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Judge and write, or print the pages of rules; how it ended becomes the exit code."""
        try:
            self.exitcode = self._validate(opts) if self.requires_crawler_process else self._explain(opts)
        except ValueError as error:
            refuse(str(error))

    def _prepare(self, args: list[str], opts: argparse.Namespace) -> None:
        """Turn options into settings and arguments of the spider."""
        assert self.settings is not None
        validating.check_choice("--format", opts.format, validating.FORMATS)
        validating.check_choice("--fail-on", opts.fail_on, validating.THRESHOLDS)
        if opts.verify not in (None, *validating.METHODS):  # what follows --verify alone is no method
            args, opts.verify = [opts.verify, *args], validating.METHODS[0]
        named = targets.read(validating.named_in(args))
        options = {name: getattr(opts, name) for name in (*ARGUMENTS, "verify")}
        self._arguments = validating.arguments_of(named, options, given(opts.spargs))
        self._set_log(opts)
        apply_progress_option(self.settings, opts)
        if named.reads_stdin:
            spool_input(self.settings.getint("DOWNLOAD_MAXSIZE"))
        if opts.output is not None:
            validating.set_feed(self.settings, opts.output, opts.format, encoding="utf-8", names=named.names)
        check(self.settings, self._arguments)
        if opts.output is None:
            self._folder = tempfile.TemporaryDirectory(prefix="sitemapcrawler-")
            show = {"encoding": sys.stdout.encoding, "names": named.names, "colour": wants_colour(sys.stdout)}
            validating.set_feed(self.settings, str(self._feed), opts.format, **show)

    @property
    def _feed(self) -> Path:
        """The file that waits for standard output."""
        assert self._folder is not None
        return Path(self._folder.name, "findings")

    def _set_log(self, opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if opts.loglevel is not None:
            return
        leave_out_retries()
        for name, value in LOG.items():
            if (self.settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["cmdline"]:
                self.settings.set(name, value, "cmdline")

    def _validate(self, opts: argparse.Namespace) -> int:
        assert self.crawler_process is not None
        crawler = self.crawler_process.create_crawler(AuditSpider)
        outcome = validating.Outcome(named=self._arguments.keys())
        crawler.signals.connect(outcome.take, signals.item_scraped)
        with self._folder or nullcontext():
            code = run(self.crawler_process, crawler, self._arguments)
            lost = bool(getattr(crawler.spider, "lost", False))
            outcome.explain(lost)
            if self._folder is not None and self._feed.exists():
                with self._feed.open("rb") as feed:
                    pour(feed)
        if self._folder is None and outcome.summary is not None and sys.stdout is not None:
            put("".join(f"{line}\n" for line in told(outcome.summary, None, plain)))
        return outcome.exit_code(code, lost, opts.fail_on)

    def _explain(self, opts: argparse.Namespace) -> int:
        """The pages of rules, or the list of all, those of the user's own included."""
        assert self.settings is not None
        load_rules(self.settings)
        rules, paint = all_rules(), painter(wants_colour(sys.stdout))
        by_id = {rule.id: rule for rule in rules}
        if opts.list_rules:
            put(catalogue.listed(by_id.values(), paint))
        width = min(shutil.get_terminal_size((WIDTH, 0)).columns, WIDTH)
        for name in opts.explain or ():
            if name not in by_id:
                near = catalogue.near(name, rules)
                meant = f"did you mean {', '.join(near)}?" if near else "--list-rules prints all"
                raise ValueError(f"--explain {shown(name)}: no such rule; {meant}")
        put("\n".join(catalogue.page(by_id[name], width, paint) for name in opts.explain or ()))
        return validating.CLEAN
