"""`scrapy fix`: writes a corrected set of sitemaps into a folder, with a list of all changes."""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from tempfile import gettempdir

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler import urls
from sitemapcrawler.api import child
from sitemapcrawler.crawl.argument_values import base_url, quoted
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.extensions.progress import PROGRESS_FILE, displayed, is_live
from sitemapcrawler.feeds.folder import BASELINES, unfinished
from sitemapcrawler.feeds.scratch import scratch
from sitemapcrawler.items import READ, SitemapRecord
from sitemapcrawler.options.base import BaseCommand, complain, refuse, require_output, without_options
from sitemapcrawler.options.configuration import read_config
from sitemapcrawler.options.targets import FILE, Targets, of_file, read_targets, target
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.repair import publishing
from sitemapcrawler.repair.additions import RULES, Additions
from sitemapcrawler.repair.audited import AuditedSite, is_audit
from sitemapcrawler.repair.change_list import NAME, Action, ChangeList
from sitemapcrawler.repair.page_list import PageList
from sitemapcrawler.repair.publishing import FolderError
from sitemapcrawler.repair.readme import FOLDER
from sitemapcrawler.repair.readme import NAME as README
from sitemapcrawler.repair.site_repair import Repaired, SiteRepair
from sitemapcrawler.repair.sources import NO_BODY, OWN_FAULTS, AuditedFiles, LocalFiles, Source, is_failed_guess
from sitemapcrawler.repair.streaming import OF_HISTORY, Rules, repairable
from sitemapcrawler.robots import is_robots_url
from sitemapcrawler.rules.facts.given import GONE
from sitemapcrawler.terminal.progress_rows import load
from sitemapcrawler.terminal.signals import Interruptible, postponed
from sitemapcrawler.terminal.streams import OutputError, put
from sitemapcrawler.urls.display import MAX_URL, counted, inert, masked_argument, masked_url
from sitemapcrawler.urls.segments import Segment

DONE, LOST, PARTLY, NOTHING_READ, STOPPED = 0, 1, 3, 4, 5
"""Exit codes: done; the folder could not be written; some files could not be read; none could; stopped by a signal."""
LIST = "@"
"""Start of a target that is a list of pages."""
OF_LISTS = (".csv", ".tsv", ".jsonl", ".parquet")
"""Suffixes of files that are lists, and no sitemaps."""
MADE_OF_LIST = f"`fix {LIST}pages.csv --base-url URL` makes a set of the pages that an audit with links=site has found"
BY_FOLDER, BY_SEGMENT = "folder", "segment"
SCRATCH = "sitemapcrawler-fix"
"""Prefix of the folder for temporary files."""
PROGRAM = "sitemapcrawler.cli"
VERIFY = "get"
"""Default of the argument `verify` of the crawl of a site: what pages say decides what is listed."""
LINKS = "site"
"""Default of the argument `links` with --add, unless lists are given: pages to add are found by links."""
PRIORITY = SETTINGS_PRIORITIES["cmdline"] - 1
MOST = 20
"""Rules, and files, that the summary names."""
SHOWN = {Action.UNREAD: "not read"}
"""Actions by the words of the summary, where they differ."""


UNWRITTEN = re.compile(r" cannot be (?:used|written): ([^;]*)")
"""Reason in the last line of a crawl that could not write its job."""


class LostCrawl(Exception):
    """The crawl of a site could not store what it read: a fault of this machine. The message is one line."""


class Command(BaseCommand):
    """Repairs the sitemaps of a site, of files, or of a finished audit."""

    requires_crawler_process = False
    passes = "an argument of the crawl of a site, such as verify=off (default: verify=get)"
    _unreadable: Sequence[str] = ()
    """Why the set lacks something: files of a folder could not be read, or the audit ended early."""

    def syntax(self) -> str:
        return "[options] SITE|URL|FILE|FOLDER|JOBDIR|@LIST"

    def short_desc(self) -> str:
        return "Write a corrected set of sitemaps: entries repaired or dropped, with a list of all changes"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. The target is a site, the URL of a sitemap, a file, a folder of files, or the "
            "JOBDIR or folder of a finished audit. @LIST is a list of pages (CSV, JSON, JSON lines, Parquet or text), "
            "and becomes a new set. Without --out, or with --dry-run, it prints what would change. "
            "Exit codes: 0 done, 1 the folder cannot be written, 2 wrong argument, 3 some files could not be read or "
            "the audit ended early, 4 no file could be read, 5 stopped by Ctrl-C or SIGTERM."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        assert self.settings is not None
        self.settings.set("LOG_LEVEL", "ERROR", PRIORITY)
        super().add_options(parser)
        add = parser.add_argument
        add("--out", metavar="DIR", help="folder to write: new, empty, or written by an earlier run")
        add("--dry-run", action="store_true", help="print what would change, and write nothing (default without --out)")
        add(
            "--base-url",
            metavar="URL",
            help="where local files will live: the URL of a file, or of a folder, ending in /",
        )
        add(
            "--split-by",
            choices=[BY_FOLDER, BY_SEGMENT],
            help="make a new set, with a sitemap per top-level folder or segment",
        )
        add("--add", action="store_true", help="add pages found by links or in lists that no sitemap lists")
        add(
            "--lastmod",
            choices=["content"],
            help="write the dates on which crawls and their baselines saw the content change",
        )
        add("--only", metavar="RULES", help="make only the changes of these rules, separated by commas")
        add("--list-rules", action="store_true", help="print the rules that lead to changes, and exit")
        add(
            "--keep-unverified",
            action="store_true",
            help="keep URLs that redirect or name another canonical if the audit did not verify the other URL",
        )
        add("--gz", action="store_true", help="compress all sitemaps (default: those that the site compresses)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Repair, print a summary, and set the exit code."""
        require_output()
        try:
            with Interruptible() as signals, ExitStack() as stack:
                try:
                    self.exitcode = self._fix(args, opts, stack, signals)
                finally:
                    signals.ignore()
        except KeyboardInterrupt:
            complain("stopped; nothing was written")
            self.exitcode = STOPPED
        except OutputError as error:
            complain(str(error))
            self.exitcode = LOST
        except ValueError as error:
            refuse(str(error))
        except (OSError, sqlite3.Error) as error:
            complain(_lost(error, opts.out))
            self.exitcode = LOST
        except LostCrawl as error:
            complain(f"the crawl of the site could not be stored in {gettempdir()}: {error}")
            self.exitcode = LOST

    def _fix(self, args: list[str], opts: argparse.Namespace, stack: ExitStack, signals: Interruptible) -> int:
        if opts.list_rules:
            put("".join(f"{rule}\n" for rule in repairable()))
            return DONE
        text = _target(args)
        rules = Rules.chosen(only := _only(opts.only))
        idle = {*(() if opts.add else RULES), *(() if opts.lastmod else OF_HISTORY)}
        if only and idle.issuperset(only):
            raise ValueError(f"--only {opts.only}: leads to changes with --add or --lastmod content")
        out = None if opts.out is None or opts.dry_run else _out(opts.out, text.removeprefix(LIST))
        with postponed():
            work = stack.enter_context(scratch(Path(gettempdir()), SCRATCH))
        repair, sources = self._plan(text, opts, rules, work, stack)
        result = repair.run(sources, out, work, signals.ignore)
        put("".join(f"{line}\n" for line in lines(result, masked_argument(text), out, opts.out, opts.add)))
        for unreadable in self._unreadable:
            complain(unreadable)
        if not result.sources:
            why = "no page can be listed" if text.startswith(LIST) else "no file could be read to its end"
            complain(f"{quoted(text)}: {why}, so nothing was written")
            return NOTHING_READ
        return PARTLY if result.unread or self._unreadable else DONE

    def _plan(
        self, text: str, opts: argparse.Namespace, rules: Rules, work: Path, stack: ExitStack
    ) -> tuple[SiteRepair, list[Source]]:
        """Find out what to repair, and how."""
        path = Path(text)
        arguments: dict[str, str] = opts.given
        if text.startswith(LIST):
            segments = self._segments(opts)
            _check_local(opts)
            pages = self._pages(text.removeprefix(LIST), _base(opts), segments, opts, work)
            return SiteRepair(Rules.chosen(is_new=True), _no_children, compress=opts.gz, pages=pages), pages.sources
        if opts.split_by is not None:
            return self._split(text, opts, work, stack)
        if path.is_dir() and is_audit(path):
            return self._of_audit(path, opts, rules, work, stack)
        if not path.is_dir():
            found = target(text)
            if found.kind != FILE:
                if opts.base_url is not None:
                    raise ValueError("--base-url: only for local files, which do not say where they will live")
                if opts.add and "compare" not in arguments:
                    arguments = {"links": LINKS, **arguments}
                job = self._crawl(found.argument, found.value, arguments, work)
                return self._of_audit(job, opts, rules, work, stack, text)
        _check_local(opts)
        if text.lower().endswith(OF_LISTS):
            raise ValueError(f"{quoted(text)}: is not a sitemap; a list of pages is named {LIST}{text}")
        targets = read_targets([text])
        self._unreadable = targets.unreadable
        return _of_files(text, targets, opts, rules)

    def _crawl(self, argument: str, value: str, arguments: dict[str, str], work: Path, reports: bool = False) -> Path:
        """Crawl a site into a temporary job, or into a report folder. Raises LostCrawl if that cannot be written, and
        ValueError, one line, if the crawl fails otherwise."""
        for name in ("domain", "sitemap", "urls", "report"):
            if name in arguments:
                raise ValueError(f"-a {name}=: name what to repair without -a")
        job = work / "job"
        report = work / "report"
        given = {argument: value, "verify": VERIFY, **arguments, **({"report": str(report)} if reports else {})}
        rows = work / "progress"
        settings = {"LOG_LEVEL": "ERROR", **self._settings(), "JOBDIR": job, PROGRESS_FILE: rows}
        command = ["sitemapcrawler", "crawl", "sitemap"]
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        command += [part for name, text in given.items() for part in ("-a", f"{name}={text}")]
        assert self.settings is not None
        with displayed(lambda _: load(rows)) if is_live(self.settings) else nullcontext():
            ended = child.run(PROGRAM, command, work)
        if ended.code == LOST or str(job) in ended.complaint:
            raise LostCrawl(_reason(ended.complaint))
        if ended.code == child.BAD_ARGUMENT or not is_audit(job):
            raise ValueError(ended.complaint)
        return report if reports else job

    def _segments(self, opts: argparse.Namespace) -> Sequence[Segment]:
        """The segments of --split-by: those of the command line, which are taken out of `opts`, or else of the
        configuration file."""
        if opts.split_by != BY_SEGMENT:
            return ()
        assert self.settings is not None
        text = opts.given.pop("segments", None) or read_config(self.settings).arguments({}).get("segments")
        if text is None:
            raise ValueError("--split-by segment: no segments; accepted: -a segments=, or the table segments of a file")
        return Params.read({"segments": text}).segments

    def _settings(self) -> dict[str, object]:
        """Settings of the command line, for a crawl. Dictionaries are JSON, as the command line takes them."""
        assert self.settings is not None
        names = [name for name in self.settings if self.settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]]
        values = {name: self.settings[name] for name in names}
        return {
            name: json.dumps(value.copy_to_dict()) if isinstance(value, BaseSettings) else value
            for name, value in values.items()
        }

    def _split(
        self, text: str, opts: argparse.Namespace, work: Path, stack: ExitStack
    ) -> tuple[SiteRepair, list[Source]]:
        """Make a new set of the pages that the sitemaps of a site list, by the records of its audit."""
        segments = self._segments(opts)
        for option in ("add", "lastmod"):
            if getattr(opts, option):
                raise ValueError(f"--{option}: not with --split-by, which makes a new set")
        job = Path(text)
        if not (job.is_dir() and is_audit(job)):
            found = target(text) if not job.is_dir() else None
            if found is None or found.kind == FILE:
                raise ValueError("--split-by: only for a site, a URL, an audit, or a list of pages such as @urls.csv")
            job = self._crawl(found.argument, found.value, opts.given, work, reports=True)
        elif opts.given:
            raise ValueError("-a: only for a site or a URL, which is crawled")
        records = next((feed for name in BASELINES if (feed := job / name).is_file()), None)
        if records is None:
            raise ValueError(
                f"--split-by: {quoted(text)} has no {' or '.join(BASELINES)}, which the folder of an audit has"
            )
        if why := unfinished(job):
            raise ValueError(f"--split-by: {quoted(text)} does not have all pages ({why})")
        audit = AuditedSite(job, work, opts.keep_unverified)
        stack.callback(audit.close)
        named = [one for one in audit.sitemaps if not is_failed_guess(one)]
        lacking = [(one.sitemap, one.error or one.outcome) for one in named if not _is_whole(one)]
        self._unreadable = [
            f"{inert(masked_url(url), MAX_URL)} was not read to its end ({inert(why)}): the set lacks its other pages"
            for url, why in lacking
        ]
        base = _base(opts) or audit.home() or ""
        others = audit.others(base)
        replaced = [one.sitemap for one in named if _is_whole(one) and one.sitemap not in others]
        pages = self._pages(str(records), base, segments, opts, work, replaced)
        pages.lacking, pages.is_named = lacking, audit.is_named(pages.index)
        rules = Rules.chosen(is_new=True)
        return SiteRepair(rules, _no_children, audit.verdicts, opts.gz, pages=pages), pages.sources

    def _pages(
        self,
        name: str,
        base: str | None,
        segments: Sequence[Segment],
        opts: argparse.Namespace,
        work: Path,
        replaced: Sequence[str] = (),
    ) -> PageList:
        """The set that is made of a list, or of the records of an audit that has read the files `replaced`; `base` is
        empty if these have no URL. Raises ValueError, one line, if none of it can be listed."""
        if opts.only is not None:
            raise ValueError("--only: not for a list, which becomes a new set")
        if base is None:
            raise ValueError("--base-url is missing: the URL of the folder where the files will be, with /")
        told = quoted(f"{LIST}{name}")
        if not base:
            raise ValueError(f"{told}: lists no URL")
        if not base.endswith("/"):
            raise ValueError(f"--base-url {quoted(base)}: is the URL of a file; accepted: that of a folder, with /")
        try:
            path = urls.local_path(of_file(name).value)
            suffix = ".xml.gz" if opts.gz else ".xml"
            pages = PageList(Path(path or ""), base, work, opts.split_by == BY_FOLDER, suffix, segments, replaced)
        except ValueError as error:
            raise ValueError(f"{told}: {error}") from None
        for column in sorted(pages.unread_columns):
            complain(f"{told}: column {column} has other values than {column}: they are left out")
        return pages

    def _of_audit(
        self, path: Path, opts: argparse.Namespace, rules: Rules, work: Path, stack: ExitStack, crawled: str = ""
    ) -> tuple[SiteRepair, list[Source]]:
        """Repair what an audit has read. `crawled`: the site or URL that was crawled for it."""
        if opts.base_url is not None:
            raise ValueError("--base-url: only for local files; an audit has the URLs of its files")
        audit = AuditedSite(path, work, opts.keep_unverified)
        stack.callback(audit.close)
        listed = [record for record in audit.sitemaps if record.format != "list"]
        if not listed:
            made = f"; {MADE_OF_LIST}" if opts.add else ""
            raise ValueError(f"{quoted(crawled or str(path))}: no sitemap was found{made}")
        additions = None
        if opts.add:
            try:
                additions = Additions(audit.found_pages(), rules)
            except ValueError as error:
                raise ValueError(f"--add: {quoted(crawled or str(path))}: {error}") from None
        if partial := audit.partial():
            early = f"the audit ended early ({inert(partial)}); what it did not read or check stays as it is"
            self._unreadable = [f"{quoted(crawled or str(path))}: {early}"]
        sources = AuditedFiles(path, work).sources(listed)
        if without := sum(source.error == NO_BODY for source in sources):
            lacking = f"the cache lacks {counted(without, 'file')}; run the audit again to repair all"
            self._unreadable = [*self._unreadable, f"{quoted(crawled or str(path))}: {lacking}"]
        dated = None
        if opts.lastmod is not None:
            try:
                dated = audit.dated()
            except ValueError as error:
                raise ValueError(f"--lastmod {opts.lastmod}: {quoted(crawled or str(path))}: {error}") from None
            if audit.is_first_sight:
                complain(f"--lastmod {opts.lastmod}: no page has been read by two crawls yet, so no date changes")
        repair = SiteRepair(
            rules, _no_children, audit.verdicts, opts.gz, audit.may_list, additions=additions, dated=dated
        )
        return repair, sources


def _is_whole(record: SitemapRecord) -> bool:
    """True for a file whose pages are all known: it was read, or does not exist."""
    return record.outcome in READ or record.status in GONE


def _no_children(source: Source, children: list[ChildRecord]) -> list[Source]:
    """An audit names all its files."""
    return []


def _reason(complaint: str) -> str:
    """Why a crawl could not write its job, without what to do with a job that is temporary."""
    found = UNWRITTEN.search(complaint)
    return found[1] if found is not None else complaint


def _lost(error: OSError | sqlite3.Error, out: str | None) -> str:
    """Say that the set was not written: what failed is a disk or a limit of this machine, not the site."""
    why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename} cannot be {'opened' if error.errno in OWN_FAULTS else 'written'}: {why}"
    try:
        temporary = f"temporary files in {gettempdir()}"
    except FileNotFoundError:  # no folder takes any, which is the error
        temporary = "temporary files"
    return f"{f'{out} or ' if out is not None else ''}{temporary} cannot be written: {why}"


def _target(args: Sequence[str]) -> str:
    named = without_options(args)
    if len(named) != 1:
        raise ValueError(f"fix takes one site, URL, file, folder or job, and got {len(named) or 'none'}")
    return named[0]


def _only(text: str | None) -> list[str]:
    """Rules that --only names. Raises ValueError, one line, for a rule that changes nothing."""
    if text is None:
        return []
    names = [name for part in text.split(",") if (name := part.strip())]
    known = repairable()
    for name in names:
        if name not in known:
            raise ValueError(f"--only {quoted(name)}: no rule that leads to changes; --list-rules prints them")
    if not names:
        raise ValueError("--only: names no rule; --list-rules prints them")
    return names


def _out(text: str, source: str) -> Path:
    """The folder to write to. Raises ValueError, one line, if it cannot be used."""
    try:
        if not text:
            raise FolderError("is empty")
        if urls.has_scheme(text):
            raise FolderError("is a URL; accepted: a local folder")
        out = publishing.check(Path(text))
        read = Path(source).resolve()
        if read.exists() and (read == out or out in read.parents):
            raise FolderError("contains what to repair; accepted: another folder")
        if read.is_dir() and read in out.parents:
            raise FolderError("is in the folder to repair; accepted: another place")
    except FolderError as error:
        raise ValueError(f"--out {quoted(text)}: {error}") from None
    return out


def _base(opts: argparse.Namespace) -> str | None:
    """The value of --base-url. Raises ValueError, one line, if it is no URL."""
    try:
        return base_url(opts.base_url) if opts.base_url is not None else None
    except ValueError as error:
        raise ValueError(f"--base-url {quoted(opts.base_url)}: {error}") from None


def _check_local(opts: argparse.Namespace) -> None:
    """Raise ValueError, one line, for an option of a crawl or an audit."""
    if opts.given:
        raise ValueError("-a: only for a site or a URL, which is crawled")
    if opts.keep_unverified:
        raise ValueError("--keep-unverified: only for a site, a URL or an audit")
    if opts.lastmod is not None:
        raise ValueError("--lastmod: only for a JOBDIR or an audit, whose crawls have seen the content of pages")
    if opts.add:
        raise ValueError("--add: only for a site, a URL or an audit, which finds pages")


def _of_files(text: str, targets: Targets, opts: argparse.Namespace, rules: Rules) -> tuple[SiteRepair, list[Source]]:
    """Repair local files, with those that an index lists and that lie beside it."""
    base = _base(opts)
    files = [url for url in targets.sitemaps if not is_robots_url(url)]
    if not files and targets.folder is None:
        raise ValueError(f"{quoted(text)}: is a robots.txt; accepted: a sitemap")
    if base is not None and not base.endswith("/") and targets.folder is not None:
        raise ValueError(f"--base-url {quoted(base)}: a folder cannot live at a file's URL; accepted: one ending in /")
    local = LocalFiles(files, targets.folder, base)
    return SiteRepair(rules, local.children, None, opts.gz), local.sources


def lines(result: Repaired, name: str, out: Path | None, given: str | None, adds: bool) -> Iterator[str]:
    """The summary: counts, changes by rule, and where the set is. `adds`: pages were to be added."""
    changes = result.changes
    assert changes is not None
    yield (
        f"{inert(name, MAX_URL)}: {counted(result.sources, 'file')} read, {counted(result.read, 'entry', 'entries')}: "
        f"{result.kept:,} kept, {result.changed:,} changed, {result.dropped:,} dropped, "
        f"{result.unrepaired:,} not repaired" + (f"; {counted(result.added, 'page')} added" if adds else "")
    )
    for action in Action:
        yield from _by_rule(changes, action, SHOWN.get(action, action))
    if not any(changes.counts.values()):
        yield "Nothing to change."
    yield from _of_files_emptied(result.advice.emptied)
    files = counted(len(result.files), "file")
    if out is None:
        yield f"Nothing was written; --out DIR writes {files} to upload, {NAME} and {README}."
    elif result.sources:
        yield f"Written to {inert(str(given))}: {files} in {FOLDER}/, {NAME} and {README}"


def _of_files_emptied(found: Sequence[str]) -> Iterator[str]:
    for url in found[:MOST]:
        yield f"No entry is left of {inert(masked_url(url), MAX_URL)}: remove it from robots.txt if it is named there."
    if len(found) > MOST:
        yield f"No entry is left of {counted(len(found) - MOST, 'other file')}; {README} names them."


def _by_rule(changes: ChangeList, action: Action, text: str) -> Iterator[str]:
    counts = Counter({rule: number for (kind, rule), number in sorted(changes.counts.items()) if kind == action})
    for rule, number in counts.most_common(MOST):
        yield f"  {number:>9,} {text:<12}  {rule}".rstrip()
    if len(counts) > MOST:
        yield f"  and {counted(len(counts) - MOST, 'other rule')}"
