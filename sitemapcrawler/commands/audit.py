"""`scrapy audit`: audits one site, sitemap or file, and writes a folder with a report and tables."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from scrapy.settings import SETTINGS_PRIORITIES, Settings

from sitemapcrawler.crawl.params import ARGUMENTS, Use
from sitemapcrawler.crawl.wiring import complete_for_audit
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.feeds.folder import PAGE, PART, REPORT_FILES, complete_reports, folder
from sitemapcrawler.feeds.reporting import Reporting, audit_files
from sitemapcrawler.feeds.scratch import claim, is_abandoned
from sitemapcrawler.feeds.setup import part_of_name
from sitemapcrawler.options.base import (
    THRESHOLDS,
    BaseCommand,
    add_threshold_option,
    chosen,
    complain,
    describe_arguments,
    drop_reported,
    require_output,
    without_options,
)
from sitemapcrawler.options.configuration import Config, read_config
from sitemapcrawler.options.targets import DOMAIN, FILE, Target, target
from sitemapcrawler.report.advice import in_words
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.wording import DAY, SEVERITIES, answers, health, reasons, sentences
from sitemapcrawler.rules.catalogue import Paint
from sitemapcrawler.spiders.running import plan, policy_code, quieten, run
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.terminal.streams import OutputError, is_terminal, painter, put, wants_colour
from sitemapcrawler.urls.display import counted, inert

FAILED = 1
"""Exit code if findings reach `--fail-on`, or if the verdict cannot be printed."""
MOST = 5
"""Number of problems that are printed; the report has all."""
LEAST_WIDTH = 30
"""Characters of a sentence in a line, at least."""
DEFAULTS = {"verify": "get", "findings": "all"}
"""Defaults of arguments that differ from those of a crawl."""
SETTINGS: dict[str, object] = {"LOG_LEVEL": "ERROR", "JOBDIR": None}
"""Settings that differ from those of a crawl; the command line takes precedence."""
PRIORITY = SETTINGS_PRIORITIES["cmdline"] - 1
SEVERAL = "; for several sites: crawl sitemap -a domain=A,B -a verify=get -a report=DIR"
"""End of the message about several targets."""


class Command(BaseCommand):
    """Audits a site: finds and reads its sitemaps, requests their pages, and writes a folder."""

    passes = "an argument, see below"

    def syntax(self) -> str:
        return "[options] SITE|URL|FILE"

    def short_desc(self) -> str:
        return "Audit the sitemaps of a site: verdict, report and spreadsheet"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. Finds the sitemaps of a site (example.com), or reads one (a URL or a file), "
            "requests every listed page, and writes a folder with report.html, audit.xlsx, urls.csv and findings.csv. "
            "Exit codes: 0 done, 1 errors (--fail-on), a broken policy, or the folder cannot be written, "
            "2 wrong argument, 3 stopped before the end, 4 nothing could be read."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        assert self.settings is not None
        self.settings.setdict(SETTINGS, PRIORITY)  # the help shows the log level
        complete_for_audit(self.settings)
        super().add_options(parser)
        add = parser.add_argument
        add("--out", metavar="DIR", help="folder to write to (default: a new one, named after the host and the date)")
        add(
            "--sample",
            metavar="N",
            help="request only this number or share of the listed pages, such as 500 or 2.5%% (default: all)",
        )
        add(
            "--baseline",
            metavar="FOLDER",
            help="folder of an earlier audit: report what has changed since, and which problems are new or solved",
        )
        add("--no-pages", action="store_true", help="request no listed page; check only the sitemap files")
        add_threshold_option(parser)
        describe_arguments(parser, [name for name in ARGUMENTS if is_passed(name)], **DEFAULTS)

    def check(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        with ExitStack() as claims:
            self._prepare(args, opts, settings, claims)
            self._claims = claims.pop_all()

    def _prepare(self, args: list[str], opts: argparse.Namespace, settings: Settings, claims: ExitStack) -> None:
        require_output()
        found = _target(without_options(args))
        config = read_config(settings)
        opts.fail_on = chosen("fail-on", opts.fail_on, config, [*THRESHOLDS])
        opts.spargs = arguments_of(found, opts, config, claims)
        config.note_limits(settings, opts.spargs, {"fail-on": opts.fail_on}, DEFAULTS)
        config.note_place(settings, opts.spargs)
        opts.out, opts.named = opts.spargs["report"], found.text
        if not settings.getlist(REPORT_FILES):
            settings.set(REPORT_FILES, audit_files(settings), "cmdline")
        self._offer = offered(found, Path(opts.out)) if "baseline" not in opts.spargs else None
        self._plan = plan(settings, opts.spargs)
        if opts.loglevel is None:
            quieten()
            drop_reported()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Audit, print the verdict, and set the exit code."""
        assert self.crawler_process is not None
        crawler = self.crawler_process.create_crawler(AuditSpider)
        if self._offer is not None:
            with suppress(OutputError):  # the report at the end says so
                put(f"{self._offer}\n")
        with self._claims:
            self.exitcode = run(self.crawler_process, crawler, opts.spargs, self._plan)
        if self.crawler_process.bootstrap_failed:
            return
        self.exitcode = policy_code(self.exitcode, crawler.stats.get_stats())
        reporting = crawler.get_extension(Reporting)
        if reporting is None or not (reporting.folder / PAGE).is_file() or (report := reporting.report) is None:
            return
        columns = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 0
        shown = lines(report, opts.named, reporting.folder, wants_colour(sys.stdout), columns)
        found = report.summary.severities
        if not self.exitcode and any(found.get(severity) for severity in THRESHOLDS[opts.fail_on]):
            self.exitcode = FAILED
        try:
            put("".join(f"{line}\n" for line in shown))
        except OutputError as error:
            complain(f"{error}; the report is in {_shown(reporting.folder)}")
            self.exitcode = self.exitcode or FAILED


def is_passed(name: str) -> bool:
    """True for a spider argument that `-a` accepts here, plug-ins' included."""
    return Use.TARGET not in ARGUMENTS[name].use and name != "report"


def arguments_of(found: Target, opts: argparse.Namespace, config: Config, claims: ExitStack) -> Mapping[str, str]:
    """Return the arguments of the spider; those of `-a` take precedence, those of a file come last. A new folder is
    locked until `claims` end. Raises ValueError, one line, for an invalid one."""
    given: dict[str, str] = opts.given
    for name, value in given.items():
        if name in ARGUMENTS and not is_passed(name):
            how = "--out DIR" if name == "report" else "the target without -a"
            raise ValueError(f"argument {name}={value!r}: not for audit; accepted: {how}")
    if opts.no_pages and opts.sample is not None:
        raise ValueError("--sample and --no-pages exclude each other; accepted: one of them")
    if opts.no_pages and (verify := given.get("verify", "off")) != "off":
        raise ValueError(f"--no-pages and -a verify={verify} exclude each other; accepted: one of them")
    is_first = opts.baseline is not None and _replaces_nothing(opts.baseline, opts.out)
    own = {found.argument: found.value, "report": _out(found, opts.out, claims)}
    if opts.no_pages:
        own["verify"] = "off"
    if opts.sample is not None:
        own["sample"] = opts.sample
    if opts.baseline is not None and not is_first:
        own["baseline"] = opts.baseline
    arguments = config.arguments(own | given, defaults=DEFAULTS)
    if found.kind != FILE:
        return arguments
    if arguments["verify"] == "off" and "agents" not in arguments:
        arguments.setdefault("offline", "yes")  # the site may not be published yet
    return config.places() | arguments


def _replaces_nothing(baseline: str, out: str | None) -> bool:
    """True if the baseline is the audit that this one replaces, and there is none yet: the first run of a schedule."""
    folder = Path(baseline)
    return out is not None and folder.resolve() == Path(out).resolve() and not folder.exists()


def lines(report: Report, name: str, out: Path, colour: bool, columns: int = 0) -> Iterator[str]:
    """The most important problems with what to do about them, where the report is, and the verdict, which is to stay on
    the screen. `columns`: width that sentences are folded to; 0: not at all."""
    paint, verdict = painter(colour), health(report)
    yield from _problems(report, paint, columns)
    yield f"Report: {inert(str(_shown(out / PAGE)))}"
    yield ""
    yield f"{inert(name)}: {paint(verdict.headline, verdict.level)}"
    yield fold(" ".join(map(inert, reasons(report, verdict))), columns)
    for answer in answers(report):
        yield fold(inert(answer), columns)
    for breach in report.summary.breaches or ():
        yield f"{paint('Policy', 'error')}  {inert(str(breach), MAX_LINE)}"  # one line each, for programs too


def _problems(report: Report, paint: Paint, columns: int) -> Iterator[str]:
    from sitemapcrawler.report.page import origin  # its charts and templates take 4 MB

    rules = [rule for rule in report.rules if rule.severity != "info"]
    if not rules:
        return
    yield "Most important problems:" if len(rules) > 1 else "The problem:"
    width = max(len(rule.reach.subject) for rule in rules[:MOST])
    indent = " " * (width + 13)
    for rule in rules[:MOST]:
        label = paint(f"{SEVERITIES.get(rule.severity, rule.severity):<7}", rule.severity)
        title = (sentences(rule.what) or [rule.rule])[0].replace("`", "")
        yield f"  {label}  {rule.reach.subject:>{width}}  {fold(f'{inert(title)} ({rule.rule})', columns, indent)}"
        if advice := in_words(rule, origin(report)):
            yield f"{indent}{fold(inert(advice), columns, indent)}"
    if len(rules) > MOST:
        yield f"  and {counted(len(rules) - MOST, 'other', 'others')}: see the report"
    yield ""


def fold(text: str, columns: int, indent: str = "") -> str:
    """Fold text between words so that it fits a terminal; further lines begin with `indent`. `columns` 0: not at all.
    A narrow terminal folds by itself."""
    width = columns - len(indent)
    if width < LEAST_WIDTH:
        return text
    return f"\n{indent}".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _shown(path: Path) -> Path:
    """The path relative to the working directory if it lies below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def offered(found: Target, out: Path) -> str | None:
    """One line that offers the newest complete audit of the target as a baseline: one beside `out`, or the one in `out`
    that is about to be replaced. None without one."""
    named = re.compile(rf"{re.escape(part_of_name(_name(found)))}-\d{{4}}-\d\d-\d\d(?:-\d+)?")
    audits = [
        (str(summary.get("started", "")), path)
        for path, summary in complete_reports(out.parent)
        if _is_of(summary, found) and (found.kind == DOMAIN or path == out or named.fullmatch(path.name))
    ]
    if not audits:
        return None
    started, path = max(audits)
    day, name = inert(started[:DAY]), inert(shlex.quote(str(_shown(path))))
    return f"Compare with the audit of {day}: add --baseline {name}"


def _is_of(summary: Mapping[str, object], found: Target) -> bool:
    """True if the summary is of the site; for a URL or a file, if it is of no site."""
    domains = summary.get("domains") or []
    if found.kind != DOMAIN:
        return domains == []
    return isinstance(domains, list) and list(map(_host, domains)) == [_host(found.value)]


def _host(site: object) -> str:
    return str(site).rpartition("://")[2].rstrip("/")


def _target(named: list[str]) -> Target:
    if len(named) != 1:
        raise ValueError(f"audit takes one site, URL or file, and got {len(named) or 'none'}{SEVERAL if named else ''}")
    try:
        return target(named[0])
    except ValueError as error:
        raise ValueError(f"{error}{SEVERAL if ',' in named[0] else ''}") from None


def _out(found: Target, given: str | None, claims: ExitStack) -> str:
    """The folder to write to. Raises ValueError, one line, if it cannot be used."""
    if given is not None:
        try:
            return folder(given)
        except ValueError as error:
            raise ValueError(f"--out {inert(given) or repr(given)}: {error}") from None
    name = f"{part_of_name(_name(found))}-{date.today().isoformat()}"
    number = 1
    while not _is_free(Path(path := name if number == 1 else f"{name}-{number}"), claims):
        number += 1
    try:
        return folder(path)
    except ValueError as error:
        raise ValueError(f"{inert(path)}: {error}; name a folder with --out") from None


def _is_free(path: Path, claims: ExitStack) -> bool:
    """Create and lock a folder. False for one that another audit has locked, or that holds more than what a killed
    audit left, and for a file."""
    try:
        claim(path, claims)
    except (BlockingIOError, FileExistsError):
        return False
    except OSError:  # `folder` says why
        return True
    return all(PART.fullmatch(held.name) and is_abandoned(held) for held in path.iterdir())


def _name(found: Target) -> str:
    """Host of a site or URL, or name of a file without its suffixes."""
    if found.kind == FILE:
        return Path(found.text).name.partition(".")[0] or "sitemap"
    text = found.value if "://" in found.value else f"//{found.value}"
    return urlsplit(text).netloc.replace(":", "-")
