"""`scrapy validate`: checks sitemaps, prints findings, and returns an exit code for CI."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import gettempdir

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings

from sitemapcrawler.cli import ended_in_a_line
from sitemapcrawler.crawl.params import Use, names_of
from sitemapcrawler.crawl.setting_values import check_settings
from sitemapcrawler.crawl.state import Audit, Plan
from sitemapcrawler.crawl.wiring import complete_for_audit, leave_out_pipelines
from sitemapcrawler.envelopes import NotedBatch, RecordBatch, SitemapEnd
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.feeds.lines import rank, summary_lines
from sitemapcrawler.feeds.scratch import OF_A_CRAWL, scratch
from sitemapcrawler.feeds.setup import add_exporters, check_columns, components_in, exporter_of, prepare_feeds
from sitemapcrawler.items import LIMITS, UNREAD, FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord
from sitemapcrawler.options import targets
from sitemapcrawler.options.base import (
    THRESHOLDS,
    BaseCommand,
    add_threshold_option,
    chosen,
    leave_out_retries,
    refuse,
    without_options,
)
from sitemapcrawler.options.configuration import Config, read_config
from sitemapcrawler.options.targets import Targets
from sitemapcrawler.pipelines import CrawlPipeline
from sitemapcrawler.replies.discovery import ARGUMENT
from sitemapcrawler.replies.indexability import why_unread
from sitemapcrawler.robots import is_robots_url
from sitemapcrawler.robots.policy import RobotsOutcome
from sitemapcrawler.rules import Severity
from sitemapcrawler.rules.registry import SEVERITIES, load_rules
from sitemapcrawler.spiders.running import plan, run
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.terminal.rule_pages import print_pages
from sitemapcrawler.terminal.streams import plain, pour, put, spool_input, wants_colour
from sitemapcrawler.urls.display import MAX_URL, inert

CLEAN, FOUND, NOT_RUN = 0, 1, 2
"""Exit codes of the command."""
READ, STOPPED, NOTHING_READ = 0, 3, 4
"""Exit codes of `running.exit_code` after which findings decide; STOPPED only if the user set the limit that was
reached. With any other code, the run is not reliable."""
TEXT, JSON = "text", "json"
"""Output formats besides those that hold findings only; the first is the default."""
GITHUB = "github"
"""Output format of workflow commands. Like text, it is no feed of a crawl."""
ASKING = ("verify", "agents")
"""Arguments that make requests for what a file lists. For files alone, a configuration file does not decide them."""
NO_CONFIG = Config()
METHODS = ("head", "get", "off")
"""Values of --verify; the first applies to the option without a value."""
SHOWN = tuple(reversed(SEVERITIES))
"""Values of --min-severity; the first, which shows all findings, is the default."""
EXPORTERS = {
    TEXT: "sitemapcrawler.feeds.lines.LinesExporter",
    GITHUB: "sitemapcrawler.feeds.lines.GitHubExporter",
}
"""Exporters of the formats that are no feeds of a crawl."""
RECORDS = (SitemapRecord, RobotsRecord, FindingRecord, SummaryRecord)
"""Record types of the format json: all but the URLs."""

logger = logging.getLogger("sitemapcrawler")


def arguments_of(
    targets: Targets, options: Mapping[str, str | None], given: Mapping[str, str], config: Config = NO_CONFIG
) -> dict[str, str]:
    """Return the arguments of the spider. Files alone are read offline, unless the command line requires requests.

    `options`: options of the command, None if not given. `given`: arguments of -a, which take precedence. `config`:
    arguments from a file, which come last. Raises ValueError, one line, if -a names a target.
    """
    if taken := given.keys() & {*names_of(Use.TARGET)}:
        raise ValueError(f"-a {min(taken)}=: name what to validate without -a")
    typed = {**{name: value for name, value in options.items() if value is not None}, **given}
    if targets.folder is not None:
        typed.setdefault("base_dir", targets.folder)
    arguments = config.arguments(typed, ASKING if targets.local else ())
    if targets.names:
        arguments = config.places() | arguments
    for name, named in (("domain", targets.sites), ("sitemap", targets.sitemaps)):
        if named:
            arguments[name] = ",".join(named)
    if targets.names and arguments.get("verify", "off") == "off":
        arguments.setdefault("agents", "none")
        if targets.local and arguments["agents"] == "none":
            arguments.setdefault("offline", "yes")
    return arguments


def named_in(arguments: Sequence[str]) -> list[str]:
    """Return the positional arguments, and everything after `--`. Raises ValueError if there are none, or for an
    unknown option."""
    named = without_options(arguments)
    if not named:
        raise ValueError("name a URL, a file, a folder, a domain, or - for standard input; -h lists the options")
    return named


def formats_in(settings: BaseSettings) -> list[str]:
    """Return the output formats, the default first: text, json, github, and each feed format that holds findings
    only."""
    add_exporters(settings)
    exporters = components_in(settings, "FEED_EXPORTERS")
    held = {name: exporter_of(name, exporters).record_types for name in exporters}
    return [TEXT, JSON, GITHUB, *(name for name, types in held.items() if types == (FindingRecord,))]


def set_feed(settings: BaseSettings, place: str, format: str, **options: object) -> None:
    """Configure the feed of the run. Raises ValueError, one line, if it cannot be written. `format`: one of
    `formats_in`. `options`: those of the exporter of text and github."""
    feed: dict[str, object] = {"format": format, "overwrite": True}
    if format in EXPORTERS:
        settings.set("FEED_EXPORTERS", {**settings.getdict("FEED_EXPORTERS"), **EXPORTERS}, "cmdline")
        feed |= {"encoding": options.pop("encoding"), "item_export_kwargs": options}
    elif format == JSON:
        # ASCII survives every terminal and character set.
        feed |= {"item_classes": RECORDS, "indent": 0, "encoding": "ascii"}
    settings.set("FEEDS", {place: feed}, "cmdline")
    prepare_feeds(settings)


@dataclass
class ValidationResult:
    """Result of a run, collected from its items."""

    summary: SummaryRecord | None = None
    unreached: dict[str, str] = field(default_factory=dict)
    """{URL that the user named: why its host did not answer}."""
    reached: bool = False
    """True if any host answered."""
    read: bool = False
    """True if a file could be read, at least in part."""
    why_not: str | None = None
    """First file that could not be read, and why."""
    robots: Collection[str] = ()
    """URLs of robots.txt files among the targets."""
    named: Collection[str] = ()
    """Names of the spider arguments that were given."""
    answers: list[tuple[int | None, str | None]] = field(default_factory=list)
    """Status and error of each robots.txt, in the order of the crawl."""
    unreadable: Sequence[str] = ()
    """Why files of a folder could not be read, a text with the path for each."""

    def add(self, item: object) -> None:
        if isinstance(item, SummaryRecord):
            self.summary = item
        elif isinstance(item, SitemapRecord):
            silent = item.status is None and item.outcome == "failed" and not item.sitemap.startswith("file:")
            self.reached = self.reached or not silent
            self.read = self.read or item.outcome not in UNREAD
            if not self.read and self.why_not is None:
                self.why_not = f"{inert(item.sitemap, MAX_URL)}: {inert(item.error or item.outcome)}"
            if silent and item.found_by == ARGUMENT.name:
                self.unreached[item.sitemap] = item.error or "no answer"
        elif isinstance(item, RobotsRecord):
            self.answers.append((item.status, item.error))
            if item.robots in self.robots:
                self._add_robots(item)

    def _add_robots(self, record: RobotsRecord) -> None:
        self.reached = self.reached or record.status is not None
        self.read = self.read or record.outcome == RobotsOutcome.PARSED
        if record.status is None:
            self.unreached[record.robots] = record.error or "no answer"
        elif not self.read and self.why_not is None:
            self.why_not = f"{inert(record.robots, MAX_URL)}: {inert(record.error or record.outcome)}"

    def exit_code(self, code: int, lost: bool, fail_on: str) -> int:
        """Return the exit code of the command. `code`: exit code of the crawl. `lost`: a site did not answer."""
        if self.summary is None or lost or self.unreadable or self.unreached or not self.reached:
            return NOT_RUN
        asked_for = code == STOPPED and self.summary.partial in {*LIMITS}.intersection(self.named)
        if code not in (READ, NOTHING_READ) and not asked_for:
            return NOT_RUN
        if self.summary.breaches or any(self.summary.severities.get(name) for name in THRESHOLDS[fail_on]):
            return FOUND
        return CLEAN if self.read or self._says_why else NOT_RUN

    @property
    def _says_why(self) -> bool:
        """True if findings explain the failure: if nothing can be read, some rule reports an error."""
        return self.summary is not None and bool(self.summary.severities.get(Severity.ERROR))

    def explain(self, lost: bool) -> None:
        """Log why the run could not do what was requested, unless the log says so already."""
        if self.unreadable:
            more = len(self.unreadable) - 1
            logger.error("%s%s", inert(self.unreadable[0], MAX_URL), f" (and {more:,} more)" if more else "")
        for url, reason in self.unreached.items():
            logger.error("%s: %s", inert(url, MAX_URL), inert(reason))
        if self.summary is not None and not (self.summary.sitemaps or self.robots or lost):
            why = f"; robots.txt answers with {inert(error)}" if (error := why_unread((), self.answers)) else ""
            logger.error("%s: no sitemap was found%s", ", ".join(map(inert, self.summary.domains)), why)
        if self.why_not and not (self.read or self.unreached or self._says_why):
            logger.error("nothing could be read; %s", self.why_not)


ARGUMENTS = {
    "base_url": ("URL", "where a file will live: its URL, or that of its folder, ending in /"),
    "base_dir": (
        "FOLDER",
        "the folder that will live at --base-url (default: the named folder, or that of each file)",
    ),
    "agents": ("NAMES", "crawlers to check robots.txt for, such as search,ai (default for files: none)"),
    "select": ("RULES", "rules and rule families to run, separated by commas"),
    "ignore": ("RULES", "rules and rule families not to run"),
    "findings": ("all", "list all findings, not only the first of each rule and file"),
    "baseline": ("PATH", "an earlier job or feed; also runs the rules on what has changed since"),
}
"""Options that are spider arguments: (value, help)."""
MIN_SEVERITY = "SITEMAP_MIN_SEVERITY"
"""Setting in which the command passes --min-severity to its pipeline."""
LAST_PIPELINE = 2000
"""Order after all pipelines of ours, and after those of users, which are below 1000 by Scrapy's convention."""
OF_TEMPORARY_FILES = ("sitemapcrawler.jobs.job", "sitemapcrawler.feeds.storages", "scrapy.extensions.feedexport")
"""Loggers of errors that follow from each other if a disk is full."""
LOG = {"LOG_LEVEL": "ERROR", "LOG_FORMAT": "sitemapcrawler: %(message)s"}
"""Log settings unless a level is chosen: only errors."""


class ValidatingSpider(AuditSpider):
    """Spider that checks a robots.txt among the targets by itself, without reading the sitemaps that it names."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Complete and check the settings, including columns of feeds. Raises ValueError for an invalid one."""
        super().update_settings(settings)
        check_columns(settings)

    async def enter_robots(self, url: str) -> None:
        """Fetch the robots.txt, which counts as a file that was read."""
        policy = await self.audit.policies.load(url, self.params.place_of(url))
        if policy is not None and policy.outcome is RobotsOutcome.PARSED:
            self.crawler.stats.inc_value("sitemap/files_read")


class ShownFindings(CrawlPipeline):
    """The last pipeline: removes findings below --min-severity from what feeds get, whatever their format. All of them
    are counted before, so that the exit code stays the same."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._least = rank(crawler.settings[MIN_SEVERITY])

    async def process_item(self, item: object) -> object:
        """Remove findings from an item. Raises DropItem for a finding that is not shown."""
        if isinstance(item, NotedBatch):
            for note in item.notes.values():
                note.findings = self._shown(note.findings)
        elif isinstance(item, SitemapEnd):
            item.findings = self._shown(item.findings)
        elif isinstance(item, RecordBatch):
            if found := [record for record in item.records if isinstance(record, FindingRecord)]:
                item.records = self._shown(found)
        elif isinstance(item, FindingRecord) and not self._shown([item]):
            raise DropItem(f"finding below {MIN_SEVERITY}", log_level="DEBUG")
        return item

    def _shown(self, found: list[FindingRecord]) -> list[FindingRecord]:
        return [finding for finding in found if rank(finding.severity) <= self._least]


class Command(BaseCommand):
    """Runs our spider in this process on the targets, with one feed of findings."""

    _plan: Plan
    _folder: Path | None = None
    """Folder of the findings until they are copied to standard output; None if they go to a file."""

    def __init__(self) -> None:
        super().__init__()
        self._temporary = ExitStack()

    def syntax(self) -> str:
        return "[options] URL|FILE|FOLDER|-|DOMAIN ..."

    def short_desc(self) -> str:
        return "Check sitemaps (URLs, files, folders, sites): print findings; exit code 1 if there are errors"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        assert self.settings is not None
        leave_out_pipelines(self.settings)
        complete_for_audit(self.settings)
        super().add_options(parser)
        add = parser.add_argument
        add("--format", metavar="|".join(formats_in(self.settings)), help="format of the output (default: text)")
        add("-o", "--output", metavar="FILE", help="write the findings to FILE instead of standard output")
        add_threshold_option(parser)
        add("--min-severity", metavar="|".join(SHOWN), help="lowest severity to show (default: info, which shows all)")
        quiet = argparse.BooleanOptionalAction
        add("-q", "--quiet", action=quiet, help="print findings, and nothing else")
        add(
            "--verify",
            metavar="head|get",
            nargs="?",
            const="head",
            help="request every listed URL to see whether it works",
        )
        for name, (value, text) in ARGUMENTS.items():
            add(f"--{name.replace('_', '-')}", metavar=value, help=text)
        add("--explain", metavar="RULE", action="append", help="print the documentation of a rule, and exit")
        add("--list-rules", action="store_true", help="print all rules, one per line, and exit")

    def check(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        opts.output = None if opts.output == targets.STDIN else opts.output
        self.requires_crawler_process = not (opts.explain or opts.list_rules)
        if sys.stdout is None and not opts.output:
            raise ValueError("standard output is closed; --output names a file")
        if self.requires_crawler_process:
            self._prepare(args, opts, settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Validate, or print the pages of rules; set the exit code."""
        assert self.settings is not None
        try:
            if self.requires_crawler_process:
                self.exitcode = self._validate(opts)
            else:
                load_rules(self.settings)
                print_pages(opts.explain or (), opts.list_rules)
        except ValueError as error:
            refuse(str(error))

    def _prepare(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        """Convert options to settings and spider arguments."""
        config = read_config(settings)
        choices = {"format": formats_in(settings), "fail-on": [*THRESHOLDS], "min-severity": [*SHOWN]}
        for option, accepted in choices.items():
            name = option.replace("-", "_")
            setattr(opts, name, chosen(option, getattr(opts, name), config, accepted))
        if opts.verify not in (None, *METHODS):  # it took a target as its value
            args, opts.verify = [opts.verify, *args], METHODS[0]
        named = targets.read_targets(named_in(args))
        options = {name: getattr(opts, name) for name in (*ARGUMENTS, "verify")}
        self._robots = [url for url in named.sitemaps if is_robots_url(url)]
        self._arguments = arguments_of(named, options, opts.given, config)
        own = ASKING if named.local else ()
        arguments = {name: text for name, text in self._arguments.items() if name not in own}
        limited = config.note_limits(settings, arguments, {"fail-on": opts.fail_on})
        config.note_place(settings, arguments)
        if opts.quiet is None:  # a file that leaves something out cannot hide that
            opts.quiet = bool(config.options.get("quiet")) and not limited
        self._unreadable = named.unreadable
        self._set_log(opts)
        self._show = {"least": opts.min_severity, "quiet": opts.quiet}
        if opts.min_severity != SHOWN[0]:
            pipelines = {**settings.getdict("ITEM_PIPELINES"), ShownFindings: LAST_PIPELINE}
            settings.set("ITEM_PIPELINES", pipelines, "cmdline")
            settings.set(MIN_SEVERITY, opts.min_severity, "cmdline")
        if named.reads_stdin:
            check_settings(settings)  # it reads one of them
            with ended_in_a_line():  # Scrapy's own console script lacks this
                spool_input(settings.getint("DOWNLOAD_MAXSIZE"))
        if opts.output is not None:
            show = {"names": named.names, "robots": self._robots, **self._show}
            set_feed(settings, opts.output, opts.format, encoding="utf-8", **show)
        self._plan = plan(settings, self._arguments, ValidatingSpider)
        if opts.output is None:
            self._folder = self._temporary.enter_context(scratch(Path(gettempdir()), OF_A_CRAWL))
            errors = count()
            for name in OF_TEMPORARY_FILES:
                logging.getLogger(name).addFilter(lambda record: record.levelno < logging.ERROR or not next(errors))
            show = {"encoding": sys.stdout.encoding, "colour": wants_colour(sys.stdout)}
            show |= {"names": named.names, "robots": self._robots, **self._show}
            set_feed(settings, str(self._feed), opts.format, **show)

    @property
    def _feed(self) -> Path:
        """File of the findings until they are copied to standard output."""
        assert self._folder is not None
        return self._folder / "findings"

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
        crawler = self.crawler_process.create_crawler(ValidatingSpider)
        outcome = ValidationResult(named=self._arguments.keys(), robots=self._robots, unreadable=self._unreadable)
        crawler.signals.connect(outcome.add, signals.item_scraped)
        with self._temporary:
            code = run(self.crawler_process, crawler, self._arguments, self._plan)
            audit = Audit.of(crawler)
            lost = audit is not None and bool(audit.lost)
            outcome.explain(lost)
            if self._folder is not None and self._feed.exists():
                with self._feed.open("rb") as feed:
                    pour(feed)
        if self._folder is None or opts.format not in EXPORTERS:  # the output is not read on the terminal
            for breach in (outcome.summary.breaches or ()) if outcome.summary is not None else ():
                logger.error("policy: %s", inert(str(breach), MAX_LINE))
        if self._folder is None and outcome.summary is not None and sys.stdout is not None:
            lines = summary_lines(outcome.summary, None, plain, len(self._robots), quiet=opts.quiet)
            put("".join(f"{line}\n" for line in lines))
        return outcome.exit_code(code, lost, opts.fail_on)
