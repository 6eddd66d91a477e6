"""`scrapy inspect`: what a sitemap, or the sitemaps of a site, are and hold, at a glance."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES

from sitemapcrawler.inspecting import JSON, OVERVIEW, URLS, Inspector
from sitemapcrawler.running import (
    FEED_LOST,
    add_progress_option,
    apply_progress_option,
    check,
    complain,
    given,
    leave_out_retries,
    quieten,
    refuse,
    without_options,
)
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.standard_output import CLOSED
from sitemapcrawler.targets import Target, site_of, target

SETTINGS: dict[str, Any] = {
    "SITEMAP_STORE": False,
    "SITEMAP_STOP_GRACE": 0.0,
    "SITEMAP_ITEMS": "batches",
    "CONCURRENT_ITEMS": 2,  # of a file that is read, as many batches wait for a slow reader of the output
    "FEEDS": {},
    "JOBDIR": None,
    "LOG_ENABLED": False,
}
"""What an inspection needs otherwise than a crawl; what stands on the command line counts more."""
PRIORITY = SETTINGS_PRIORITIES["cmdline"] - 1
LOGGING = ("LOG_ENABLED", "LOG_FILE", "LOG_LEVEL")
PASSED = (
    "probe", "include", "exclude", "follow", "since", "max_urls", "max_sitemaps", "max_depth", "max_time",
)  # fmt: skip
"""Arguments of the spider that `-a` takes here; the others are about judging."""
ONE = "takes one URL, file or domain"


class Command(ScrapyCommand):
    """Shows one sitemap, the tree below an index, or the sitemaps of a site."""

    def syntax(self) -> str:
        """What stands behind the name of the command."""
        return "[options] URL|FILE|DOMAIN"

    def short_desc(self) -> str:
        """One line."""
        return "Show what a sitemap, or the sitemaps of a site, are and hold"

    def long_desc(self) -> str:
        """The same, and how the target is understood."""
        return (
            f"{self.short_desc()}. A URL or a file is read; of a domain (example.com, http://127.0.0.1:8000/) the "
            "sitemaps are found. Exit codes: 0 shown, 1 the output cannot be written, 2 wrong argument, 3 stopped "
            "before the end, 4 nothing could be read."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Ours, and those of all commands."""
        super().add_options(parser)
        parser.add_argument("--discover", action="store_true", help="find the sitemaps of the site that a URL is on")
        parser.add_argument("--expand", action="store_true", help="read what indexes list, and sum it up")
        parser.add_argument("--urls", action="store_true", help="print the URLs alone, one a line, as they are read")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        add_progress_option(parser)
        parser.add_argument(
            "-a",
            dest="spargs",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"an argument of the crawl, may be repeated: {', '.join(PASSED)}",
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check everything that the command line says. One line and exit code 2 for what cannot work."""
        assert self.settings is not None
        if sys.stdout is None:
            complain(CLOSED)
            sys.exit(FEED_LOST)
        try:
            super().process_options(args, opts)
            opts.target = _target(args, opts)
            opts.spargs = _arguments(opts.target, opts)
            self.settings.setdict(SETTINGS, PRIORITY)
            opts.no_progress = opts.no_progress or opts.urls  # which others print while it would be drawn
            apply_progress_option(self.settings, opts)
            check(self.settings, opts.spargs)
        except (ValueError, UsageError) as error:
            refuse(str(error))
        except OSError as error:
            refuse(f"{error.filename}: {error.strerror}")
        if opts.loglevel is None:
            quieten()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Inspect, and turn how it ended into the exit code."""
        assert self.crawler_process is not None and self.settings is not None
        show = URLS if opts.urls else JSON if opts.json else OVERVIEW
        inspector = Inspector(opts.target, opts.expand, show, complain)
        if not any(self.settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"] for name in LOGGING):
            logging.root.addHandler(inspector.errors)
            leave_out_retries()
        crawler = self.crawler_process.create_crawler(AuditSpider)
        self.exitcode = inspector.run(self.crawler_process, crawler, opts.spargs)


def _target(args: list[str], opts: argparse.Namespace) -> Target:
    named = without_options(args)
    if len(named) != 1:
        raise ValueError(f"inspect {ONE}, and got {len(named) or 'none'}")
    if opts.urls and opts.json:
        raise ValueError("--urls and --json are two outputs; accepted: one of them")
    found = target(named[0])
    return site_of(found) if opts.discover else found


def _arguments(found: Target, opts: argparse.Namespace) -> Mapping[str, str]:
    """The arguments of the spider."""
    arguments = given(opts.spargs)
    for name, value in arguments.items():
        if name not in PASSED:
            raise ValueError(f"argument {name}={value!r}: not for inspect; accepted: {', '.join(PASSED)}")
    own = {found.argument: found.value, "select": "none", "agents": "none"}
    return own | ({} if opts.expand else {"max_depth": "0"}) | arguments
