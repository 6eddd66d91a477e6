"""Findings as lines: compiler-style for people and editors, or as workflow commands, which GitHub shows in the diff.

Lines are sorted by severity (errors first), by file (in command-line order, then by URL) and by line, so that every run
gives the same output. Files are read concurrently and rules on the whole site run last; therefore all lines are written
at the end.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from sitemapcrawler.feeds.exporters import RecordExporter
from sitemapcrawler.feeds.findings import POLICY, findings_of
from sitemapcrawler.feeds.scratch import spool
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.items import LIMITS, FindingRecord, SummaryRecord
from sitemapcrawler.rules.catalogue import Paint
from sitemapcrawler.rules.reach import places
from sitemapcrawler.rules.registry import SEVERITIES, Severity
from sitemapcrawler.terminal.streams import painter
from sitemapcrawler.urls import STANDARD_INPUT, local_path
from sitemapcrawler.urls.display import MAX_URL, counted, inert

MAX_LISTED = 200
"""Characters of a listed URL after a message: two lines of a terminal."""
CRAWL = "crawl"
"""Shown in place of the file for a finding without one."""
UNREAD = {
    "offline": "that an index lists, but not found on disk; a local file leads to no request",
    "max_depth": "that are too deep in indexes (max_depth)",
    "max_sitemaps": "beyond the limit (max_sitemaps)",
    "max_site_time": "of a site that exceeded its time budget (SITEMAP_MAX_SITE_TIME)",
    "follow": "that do not match follow",
}
"""Words for skipped sitemaps, by reason."""
UNJUDGED = {
    "image-blocked-by-robots": "images: the robots.txt of their host is not known",
    "video-asset-blocked": "videos: the robots.txt of their host is not known",
}
"""Words for files that a rule could not check, by rule."""
COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
"""Workflow command by severity. Source:
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands"""
COMMAND = "::"
"""Start of a workflow command, after blanks. Source: ActionCommand.cs of https://github.com/actions/runner"""
ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
ESCAPED_PROPERTY = {**ESCAPED, ":": "%3A", ",": "%2C"}
"""Escapes in messages and in properties. Source: command.ts of https://github.com/actions/toolkit"""
WORKSPACE = "GITHUB_WORKSPACE"
"""Variable that names the folder of the checkout, to which GitHub's paths are relative."""


class LinesExporter(RecordExporter):
    """One line `path:line:column severity rule message` per finding, then a summary.

    Unknown lines and columns are omitted. Keyword arguments (`item_export_kwargs`): `names`, {URL of a file: path to
    display}, in output order; `colour`, True for a terminal; `robots`, URLs of robots.txt files among the targets,
    which count as files; `least`, the severity below which the caller leaves findings out; `quiet`, True for no
    summary. Characters that `encoding` lacks are escaped. `fields` and `indent` have no effect.
    """

    record_types = (FindingRecord,)
    has_fields = False

    def __init__(
        self,
        file: IO[bytes],
        names: Mapping[str, str] | None = None,
        colour: bool = False,
        robots: Collection[str] = (),
        least: str = Severity.INFO,
        quiet: bool = False,
        **kwargs: object,
    ) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, self.encoding, "backslashreplace", painted=True)
        self._least = least
        self._quiet = quiet
        self._names = dict(names or {})
        self._order = {url: number for number, url in enumerate(self._names)}
        self._paint = painter(colour)
        self._robots = len(robots)
        self._lines = spool("CREATE TABLE lines (rank, number, file, line, position, text)")
        self._count = 0
        self._summary: SummaryRecord | None = None

    def export_item(self, item: object) -> None:
        """Store the item's findings."""
        if found := findings_of(item):
            self._count += len(found)
            rows = [(*self._key(finding), self._line(finding)) for finding in found]
            self._lines.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)", rows)
        if isinstance(item, SummaryRecord):
            self._summary = item

    def finish_exporting(self) -> None:
        """Write all findings, and the summary."""
        for (line,) in self._lines.execute("SELECT text FROM lines ORDER BY rank, number, file, line, position, text"):
            self.outlet.write_text(f"{line}\n")
        self._lines.close()
        if self._summary is not None:
            summary = self._summary
            for breach in summary.breaches or ():
                self.outlet.write_text(f"{self._breach(inert(str(breach)))}\n")
            for line in summary_lines(summary, self._count, self._paint, self._robots, self._least, self._quiet):
                self.outlet.write_text(f"{line}\n")

    def _key(self, finding: FindingRecord) -> tuple[int, int, str, int, int]:
        file = finding.sitemap or ""
        number = self._order.get(file, len(self._order) + (not file))
        return (
            rank(finding.severity),
            number,
            inert(file, MAX_URL),
            max(finding.line or 0, 0),
            max(finding.column or 0, 0),
        )

    def _line(self, finding: FindingRecord) -> str:
        severity = inert(finding.severity)
        painted = f"{self._paint(self._place(finding), 'place')} {self._paint(severity, severity)}"
        return f"{painted} {inert(finding.rule)} {self._message(finding)}"

    def _breach(self, text: str) -> str:
        """The line of a broken limit of the policy."""
        return f"{self._paint(CRAWL, 'place')} {self._paint(Severity.ERROR, Severity.ERROR)} {POLICY} {text}"

    def _place(self, finding: FindingRecord) -> str:
        """Path or URL, line and column; never the start of a workflow command, as a path may be."""
        file = inert(self._names.get(finding.sitemap or "") or display_path(finding.sitemap or CRAWL), MAX_URL)
        at = [finding.line, finding.column] if finding.line else []
        place = ":".join((file, *(str(number) for number in at if number and number > 0)))
        return f"./{place}" if place.lstrip().startswith(COMMAND) else place

    def _message(self, finding: FindingRecord) -> str:
        """The message, with paths as the user gave them, and the listed URL."""
        message = inert(finding.message)
        for url, name in self._names.items() if "file:" in message else ():
            for mark in ("'", " "):
                message = message.replace(f"{mark}{url}{mark}", f"{mark}{inert(name, MAX_URL)}{mark}")
        url = f" ({inert(finding.url, MAX_LISTED)})" if finding.url and finding.url not in finding.message else ""
        return f"{message}{url}"


class GitHubExporter(LinesExporter):
    """One workflow command `::error file=path,line=3,col=5,title=rule::message` per finding, then a summary.

    Paths are relative to the folder in GITHUB_WORKSPACE, or else to the working directory. A finding without a file in
    the checkout has its place in the message. Keyword arguments are those of `LinesExporter`.
    """

    def _line(self, finding: FindingRecord) -> str:
        path = None if finding.sitemap == STANDARD_INPUT else local_path(finding.sitemap or "")
        properties = {}
        if path is not None:
            properties["file"] = inert(path_in_checkout(path), MAX_URL)
            at = {"line": finding.line, "col": finding.column} if finding.line else {}
            properties |= {name: str(number) for name, number in at.items() if number and number > 0}
        properties["title"] = inert(finding.rule)
        written = ",".join(f"{name}={_escaped(value, ESCAPED_PROPERTY)}" for name, value in properties.items())
        message = self._message(finding) if path is not None else f"{self._place(finding)}: {self._message(finding)}"
        return f"::{COMMANDS.get(finding.severity, 'warning')} {written}::{_escaped(message, ESCAPED)}"

    def _breach(self, text: str) -> str:
        return f"::{COMMANDS[Severity.ERROR]} title={POLICY}::{_escaped(text, ESCAPED)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)


def path_in_checkout(path: str) -> str:
    """Return a path relative to the folder of the checkout, with `/`; an absolute one outside of it."""
    folder = Path(os.environ.get(WORKSPACE) or Path.cwd())
    for file, root in ((Path(path), folder), (Path(path), folder.resolve()), (Path(path).resolve(), folder.resolve())):
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return path


def rank(severity: str) -> int:
    """Return the position of a severity, the worst being 0; an unknown one is last."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def display_path(url: str) -> str:
    """Return the path of a local file, relative to the current folder if it is inside; any other URL unchanged."""
    path = local_path(url)
    if path is None:
        return url
    with suppress(ValueError, OSError):
        return str(Path(path).relative_to(Path.cwd()))
    return path


def summary_lines(
    summary: SummaryRecord,
    written: int | None,
    paint: Paint,
    robots: int = 0,
    least: str = Severity.INFO,
    quiet: bool = False,
) -> list[str]:
    """Summarise a run in a few lines. `written`: findings that became lines, None if unknown. `robots`: number of
    robots.txt files among the targets. `least`: severity below which findings are not shown on request. `quiet`: say
    only that the run did not reach its end."""
    if quiet:
        return [f"stopped before the end: {inert(summary.partial)}"] if summary.partial else []
    found = ", ".join(paint(text, severity) for severity, text in places(summary.severity_reach).items())
    end = f"; the rest was not read ({summary.partial})" if summary.partial in LIMITS else ""
    lines = [
        f"{counted(summary.sitemaps + robots, 'file')}, {counted(summary.urls, 'URL')}: {found or 'nothing found'}{end}"
    ]
    if summary.limited_by:
        lines.append(f"limited by {inert(summary.limited_by)}")
    shown = sum(count for name, count in summary.severities.items() if rank(name) <= rank(least))
    hidden = shown - written if written is not None else 0
    if hidden > 0:
        why = "only the first of each rule and file are listed (SITEMAP_FINDINGS_PER_RULE)"
        why = f"only what has changed (only={summary.only}), and {why}" if summary.only else why
        lines.append(f"{counted(hidden, 'more finding')} not shown: {why}")
    for reason, words in UNREAD.items():
        if left := summary.skipped.get(reason, 0):
            lines.append(f"not read: {counted(left, 'sitemap')} {words}")
    for rule, words in UNJUDGED.items():
        if left := summary.skipped.get(rule, 0):
            lines.append(f"{rule} skipped for {counted(left, 'file')} with {words}")
    if summary.partial and not end:
        lines.append(f"stopped before the end: {inert(summary.partial)}")
    return lines
