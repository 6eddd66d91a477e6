"""`scrapy inspect`: shows an overview of a sitemap, or of the sitemaps of a site."""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Mapping

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.settings import SETTINGS_PRIORITIES, Settings

from sitemapcrawler import urls
from sitemapcrawler.crawl.params import ARGUMENTS, Use, names_of
from sitemapcrawler.crawl.state import Plan
from sitemapcrawler.crawl.wiring import leave_out_pipelines
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import READ, SitemapRecord
from sitemapcrawler.options.base import (
    BaseCommand,
    complain,
    leave_out_retries,
    require_output,
    without_options,
)
from sitemapcrawler.options.configuration import Config, read_config
from sitemapcrawler.options.targets import DOMAIN, FILE, Target, site_of, target
from sitemapcrawler.reader.formats import HTML
from sitemapcrawler.replies.indexability import why_unread
from sitemapcrawler.robots import is_robots_url
from sitemapcrawler.robots.policy import RobotsOutcome
from sitemapcrawler.spiders.running import FEED_LOST, NOTHING_READ, STOPPED, plan, quieten, run
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.terminal.inspect import as_json
from sitemapcrawler.terminal.inspect.inspection import Inspection
from sitemapcrawler.terminal.inspect.screen import Screen
from sitemapcrawler.terminal.streams import StandardOutput, is_terminal, wants_colour
from sitemapcrawler.urls.display import counted, inert

OVERVIEW, URLS, JSON = "overview", "urls", "json"
"""Output modes."""
LEFT = "the reader of the output has closed it"
"""Reason for ending a crawl without a message."""
MAX_ERRORS = 20
"""Maximum lines about single files or errors."""


class Errors(logging.Handler):
    """Log handler that keeps the first line of each error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except Exception:  # the arguments do not fit: show the message without them
            message = str(record.msg)
        line = inert((message.strip().splitlines() or [""])[0])
        if len(self.lines) < MAX_ERRORS and line not in self.lines:
            self.lines.append(line)


class Inspector:
    """Runs the spider and shows the result."""

    def __init__(self, target: Target, expanded: bool, show: str, complain: Callable[[str], None]) -> None:
        """`complain`: writes a line to standard error."""
        self.output = StandardOutput(self._stop)
        self.errors = Errors()
        is_robots = target.kind != DOMAIN and is_robots_url(target.value)
        self._inspection = Inspection(target.text, target.kind, is_robots, expanded, self._line_of)
        self._show = show
        self._complain = complain
        self._complaints = 0
        self._crawler: Crawler | None = None
        self._left = False

    def run(self, process: CrawlerProcessBase, crawler: Crawler, arguments: Mapping[str, object], planned: Plan) -> int:
        """Inspect, and return the exit code."""
        self._crawler = crawler
        crawler.signals.connect(self._add, signals.item_scraped)
        crawler.signals.connect(self.output.watch, signals.engine_started)
        code = run(process, crawler, arguments, planned)
        if not self.output.gone and self.output.error is None:
            self._conclude(code)
        if self.output.error is not None:
            self._complain(self.output.error)
            return FEED_LOST
        return 0 if self.output.gone else code

    async def _add(self, item: object) -> None:
        rows = self._inspection.add(item)
        if self._show != URLS or not self.output.is_open:
            return
        await self.output.send(as_json.lines(rows, self._inspection, sys.stdout.encoding))
        for row in rows:
            if isinstance(row, SitemapRecord) and row.outcome not in READ and self._inspection.single is not row:
                self._tell(row)

    def _tell(self, record: SitemapRecord) -> None:
        """Report a file that cannot be read, if it is one of several; after `MAX_ERRORS`, only that there are more."""
        if not self.output.is_open:
            return
        self._complaints += 1
        if self._complaints <= MAX_ERRORS:
            self._complain(f"{inert(record.sitemap)}: {inert(record.error or record.outcome)}")
        elif self._complaints == MAX_ERRORS + 1:
            self._complain("more files cannot be read; the command without --urls shows how many")

    def _conclude(self, code: int) -> None:
        """Show the result, and the reason if it is incomplete."""
        inspection = self._inspection
        if self._show == JSON:
            self.output.write(as_json.text(inspection, json_row))
        elif self._show == OVERVIEW and (code != NOTHING_READ or len(inspection.files.records) > 1):
            self.output.write(self._screen().draw(inspection))
        complaint = self._complaint(code)
        for line in self.errors.lines:
            if complaint is None or code != NOTHING_READ:
                self._complain(line)
        if complaint is not None:
            self._complain(complaint)

    @staticmethod
    def _screen() -> Screen:
        width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) or os.environ.get("COLUMNS") else 0
        return Screen(width, sys.stdout.encoding.lower().startswith("utf"), wants_colour(sys.stdout))

    def _complaint(self, code: int) -> str | None:
        """Return one line on why not everything was read; None if the output shows it."""
        single, partial = self._inspection.single, self._inspection.summary.partial
        if code == NOTHING_READ:
            return f"{inert(self._inspection.name)}: {self._why_nothing(single)}"
        if self._show == URLS and single is not None and single.outcome not in READ:
            return f"{inert(self._inspection.name)}: {inert(single.error or single.outcome)}"
        if self._show == URLS and code == STOPPED:
            return f"stopped before the end: {inert(partial or 'stopped')}"
        return None

    def _why_nothing(self, single: SitemapRecord | None) -> str:
        records = self._inspection.files.records
        if single is not None:
            hint = single.format == HTML.name and self._inspection.kind != FILE
            return inert(single.error or "") + ("; --discover looks for the sitemaps of its site" if hint else "")
        if records:
            why = inert(records[0].error or "")
            return f"none of {counted(len(records), 'sitemap')} can be read, the first because: {why}"
        policies = [] if self._crawler is None else [*Policies.of(self._crawler).by_origin.values()]
        if policies and all(policy.outcome is RobotsOutcome.UNREACHABLE for policy in policies):
            return inert(policies[-1].reason or "no answer")
        if self._inspection.is_robots:
            return inert(next((policy.reason for policy in policies if policy.reason), "names no sitemap to read"))
        if why := why_unread((), [(policy.status, policy.reason) for policy in policies]):
            return f"no sitemap found; robots.txt answers with {inert(why)}"
        return "no sitemap found: none in robots.txt, at the common paths, or linked from the home page"

    def _line_of(self, robots: str, sitemap: str) -> int | None:
        policies = Policies.of(self._crawler) if self._crawler is not None else None
        policy = policies.at(robots) or policies.by_origin.get(robots) if policies is not None else None
        key = urls.visit_key(sitemap)
        named = policy.sitemaps if policy is not None else ()
        return next((one.line for one in named if urls.visit_key(one.url) == key), None)

    def _stop(self) -> None:
        """End the crawl at once, because nothing more can be written."""
        crawler = self._crawler
        if crawler is not None and crawler.engine is not None and crawler.engine.running and not self._left:
            self._left = True
            Stop.of(crawler).end(LEFT)


SETTINGS: dict[str, object] = {
    "SITEMAP_STORE": False,
    "SITEMAP_STOP_GRACE": 0.0,
    "SITEMAP_ITEMS": "batches",
    "CONCURRENT_ITEMS": 2,  # batches of a file that wait for a slow reader of the output
    "FEEDS": {},
    "JOBDIR": None,
    "LOG_ENABLED": False,
}
"""Settings that differ from those of a crawl; the command line takes precedence."""
PRIORITY = SETTINGS_PRIORITIES["cmdline"] - 1
LOGGING = ("LOG_ENABLED", "LOG_FILE", "LOG_LEVEL")
PASSED = tuple(name for name in names_of(Use.PAGES) if Use.TARGET not in ARGUMENTS[name].use)
"""Spider arguments that `-a` accepts here; the others are about rules."""
ONE = "takes one URL, file or domain"


class Command(BaseCommand):
    """Shows one sitemap, the tree below an index, or the sitemaps of a site."""

    passes = f"an argument of the crawl, may be repeated: {', '.join(PASSED)}"

    def syntax(self) -> str:
        return "[options] URL|FILE|DOMAIN"

    def short_desc(self) -> str:
        return "Show the contents of a sitemap, or of the sitemaps of a site"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. Reads a URL or a file; finds the sitemaps of a domain (example.com, "
            "http://127.0.0.1:8000/). Exit codes: 0 shown, 1 the output cannot be written, 2 wrong argument, 3 stopped "
            "before the end, 4 nothing could be read."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--discover", action="store_true", help="find the sitemaps of the site that a URL is on")
        parser.add_argument(
            "--expand", action="store_true", help="read the sitemaps that indexes list, and sum them up"
        )
        parser.add_argument("--urls", action="store_true", help="print only the URLs, one per line, as they are read")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def check(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        require_output()
        opts.target = _target(args, opts)
        opts.spargs = _arguments(opts.target, opts, read_config(settings))
        settings.setdict(SETTINGS, PRIORITY)
        leave_out_pipelines(settings)
        if opts.urls:  # printed URLs would mix with the display
            settings.set("SITEMAP_PROGRESS", False, "cmdline")
        self._plan = plan(settings, opts.spargs)
        if opts.loglevel is None:
            quieten()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Inspect, and set the exit code."""
        assert self.crawler_process is not None and self.settings is not None
        show = URLS if opts.urls else JSON if opts.json else OVERVIEW
        inspector = Inspector(opts.target, opts.expand, show, complain)
        if not any(self.settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"] for name in LOGGING):
            logging.root.addHandler(inspector.errors)
            leave_out_retries()
        crawler = self.crawler_process.create_crawler(AuditSpider)
        self.exitcode = inspector.run(self.crawler_process, crawler, opts.spargs, self._plan)


def _target(args: list[str], opts: argparse.Namespace) -> Target:
    named = without_options(args)
    if len(named) != 1:
        raise ValueError(f"inspect {ONE}, and got {len(named) or 'none'}")
    if opts.urls and opts.json:
        raise ValueError("--urls and --json are two outputs; accepted: one of them")
    found = target(named[0])
    return site_of(found) if opts.discover else found


def _arguments(found: Target, opts: argparse.Namespace, config: Config) -> Mapping[str, str]:
    """Return the arguments of the spider; those of a file come last. Raises ValueError, one line, for one of `-a` that
    inspect does not take."""
    arguments: dict[str, str] = opts.given
    for name, value in arguments.items():
        if name not in PASSED:
            raise ValueError(f"argument {name}={value!r}: not for inspect; accepted: {', '.join(PASSED)}")
    own = {found.argument: found.value, "select": "none", "agents": "none"}
    given = own | ({} if opts.expand else {"max_depth": "0"}) | arguments
    return config.arguments(given, without=ARGUMENTS.keys() - {*PASSED})


def json_row(record: object) -> dict[str, object]:
    """Convert a record to the object of a JSON feed."""
    row: dict[str, object] = json.loads(JsonText(Rows()).lines([record]))
    return row
