"""Findings as compiler-style lines for people and editors: file, line, column, severity, rule, message.

Lines are sorted by file (in command-line order, then by URL) and by line, so that every run gives the same output.
Files are read concurrently and rules on the whole site run last; therefore all lines are written at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from sitemapcrawler.feeds.exporters import RecordExporter
from sitemapcrawler.feeds.findings import findings_of
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.items import LIMITS, FindingRecord, SummaryRecord
from sitemapcrawler.rules.catalogue import Paint
from sitemapcrawler.rules.registry import SEVERITIES, findings
from sitemapcrawler.terminal.streams import painter
from sitemapcrawler.urls import local_path
from sitemapcrawler.urls.display import MAX_URL, inert
from sitemapcrawler.words import counted

MAX_LISTED = 200
"""Characters of a listed URL after a message: two lines of a terminal."""
CRAWL = "crawl"
"""Shown in place of the file for a finding without one."""
UNREAD = {
    "offline": "that an index lists; no request is made for a file, and --base-url tells which stand beside it on disk",
    "max_depth": "that are too deep in indexes (max_depth)",
    "max_sitemaps": "beyond the limit (max_sitemaps)",
    "max_site_time": "of a site that took too long for what it lists (SITEMAP_MAX_SITE_TIME)",
    "follow": "that do not match follow",
}
"""Words for skipped sitemaps, by reason."""
UNJUDGED = {
    "image-blocked-by-robots": "images: the robots.txt of their host is not known",
    "video-asset-blocked": "videos: the robots.txt of their host is not known",
}
"""Words for files that a rule could not check, by rule."""


class LinesExporter(RecordExporter):
    """One line `path:line:column severity rule message` per finding, then a summary.

    Unknown lines and columns are omitted. Keyword arguments (`item_export_kwargs`): `names`, {URL of a file: path to
    display}, in output order; `colour`, True for a terminal; `robots`, URLs of robots.txt files among the targets,
    which count as files. Characters that `encoding` lacks are escaped. `fields` and `indent` have no effect.
    """

    record_types = (FindingRecord,)
    has_fields = False

    def __init__(
        self,
        file: IO[bytes],
        names: Mapping[str, str] | None = None,
        colour: bool = False,
        robots: Collection[str] = (),
        **kwargs: object,
    ) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, self.encoding, "backslashreplace", painted=True)
        self._names = dict(names or {})
        self._order = {url: number for number, url in enumerate(self._names)}
        self._paint = painter(colour)
        self._robots = len(robots)
        # Findings may exceed the memory at 100 per rule and file; beyond 2 MB SQLite moves them to a nameless file.
        self._lines = sqlite3.connect("")
        self._lines.execute("CREATE TABLE lines (number, file, line, position, text)")
        self._count = 0
        self._summary: SummaryRecord | None = None

    def export_item(self, item: object) -> None:
        """Store the item's findings."""
        if found := findings_of(item):
            self._count += len(found)
            rows = [(*self._key(finding), self._line(finding)) for finding in found]
            self._lines.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?)", rows)
        if isinstance(item, SummaryRecord):
            self._summary = item

    def finish_exporting(self) -> None:
        """Write all findings, and the summary."""
        for (line,) in self._lines.execute("SELECT text FROM lines ORDER BY number, file, line, position, text"):
            self.outlet.write_text(f"{line}\n")
        self._lines.close()
        if self._summary is not None:
            for line in summary_lines(self._summary, self._count, self._paint, self._robots):
                self.outlet.write_text(f"{line}\n")
        self.outlet.finish()

    def _key(self, finding: FindingRecord) -> tuple[int, str, int, int]:
        file = finding.sitemap or ""
        number = self._order.get(file, len(self._order) + (not file))
        return number, inert(file, MAX_URL), max(finding.line or 0, 0), max(finding.column or 0, 0)

    def _line(self, finding: FindingRecord) -> str:
        file = inert(self._names.get(finding.sitemap or "") or display_path(finding.sitemap or CRAWL), MAX_URL)
        at = [finding.line, finding.column] if finding.line else []
        place = ":".join((file, *(str(number) for number in at if number and number > 0)))
        severity = inert(finding.severity)
        url = f" ({inert(finding.url, MAX_LISTED)})" if finding.url and finding.url not in finding.message else ""
        painted = f"{self._paint(place, 'place')} {self._paint(severity, severity)}"
        return f"{painted} {inert(finding.rule)} {self._renamed(inert(finding.message))}{url}"

    def _renamed(self, message: str) -> str:
        """Replace the URLs of local files in a message by the paths that the user gave."""
        for url, name in self._names.items() if "file:" in message else ():
            message = message.replace(f"'{url}'", f"'{inert(name, MAX_URL)}'")
        return message


def display_path(url: str) -> str:
    """Return the path of a local file, relative to the current folder if it is inside; any other URL unchanged."""
    path = local_path(url)
    if path is None:
        return url
    with suppress(ValueError, OSError):
        return str(Path(path).relative_to(Path.cwd()))
    return path


def summary_lines(summary: SummaryRecord, written: int | None, paint: Paint, robots: int = 0) -> list[str]:
    """Summarise a run in a few lines. `written`: findings that became lines, None if unknown. `robots`: number of
    robots.txt files among the targets."""
    counts = {name: summary.severities.get(name, 0) for name in SEVERITIES}
    found = ", ".join(paint(findings(count, name), name) for name, count in counts.items() if count)
    end = f"; the rest was not read ({summary.partial})" if summary.partial in LIMITS else ""
    lines = [
        f"{counted(summary.sitemaps + robots, 'file')}, {counted(summary.urls, 'URL')}: {found or 'nothing found'}{end}"
    ]
    hidden = sum(summary.severities.values()) - written if written is not None else 0
    if hidden > 0:
        why = "of a rule and file only the first (SITEMAP_FINDINGS_PER_RULE)"
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
