"""Findings as lines for people and editors, like those of a compiler: file, line, column, severity, rule, message.

The order is that of the files as they were named, then of their URLs, then of the lines: the same in every run, though
files are read side by side and rules on the whole site speak last. So all lines are written at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from scrapy.exporters import BaseItemExporter

from sitemapcrawler.colours import Paint, painter
from sitemapcrawler.findings import MAX_URL, findings_of, inert
from sitemapcrawler.items import LIMITS, FindingRecord, SummaryRecord
from sitemapcrawler.outlet import Outlet
from sitemapcrawler.runs import SortedLines
from sitemapcrawler.urls import local_path
from sitemapcrawler.words import SEVERITIES, counted, findings

MAX_LISTED = 200
"""Characters of a listed URL behind a message: two lines of a terminal."""
CRAWL = "crawl"
"""Stands for the file, where a finding is about no file at all."""
UNREAD = {
    "offline": "that an index lists; no request is made for a file, and --base-url tells which stand beside it on disk",
    "max_depth": "that are too deep in indexes (max_depth)",
    "max_sitemaps": "beyond the limit (max_sitemaps)",
    "max_site_time": "of a site that took too long for what it lists (SITEMAP_MAX_SITE_TIME)",
    "follow": "that do not match follow",
}
"""What the summary says of sitemaps that were left out, by reason."""


class LinesExporter(BaseItemExporter):
    """`path:line:column severity rule message`, a line each, then a summary. Line and column are left out where they
    are not known.

    Keyword arguments (`item_export_kwargs`): `names`, {URL of a file: path to show}, whose order counts; `colour`, True
    for a terminal. Text that `encoding` cannot hold becomes escapes. `fields` and `indent` change nothing.
    """

    def __init__(
        self, file: IO[bytes], names: Mapping[str, str] | None = None, colour: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, self.encoding, "backslashreplace", painted=True)
        self._names = dict(names or {})
        self._order = {url: number for number, url in enumerate(self._names)}
        self._paint = painter(colour)
        self._lines = SortedLines()
        self._shown = 0
        self._summary: SummaryRecord | None = None

    def export_item(self, item: Any) -> None:
        """Keep the findings of the item."""
        for finding in findings_of(item):
            self._shown += 1
            self._lines.add(f"{self._key(finding)}\0{self._line(finding)}")
        if isinstance(item, SummaryRecord):
            self._summary = item

    def finish_exporting(self) -> None:
        """Write all of them, and the summary."""
        for line in self._lines:
            self.outlet.write_text(f"{line.rpartition(chr(0))[2]}\n")
        self._lines.close()
        if self._summary is not None:
            for line in told(self._summary, self._shown, self._paint):
                self.outlet.write_text(f"{line}\n")
        self.outlet.finish()

    def _key(self, finding: FindingRecord) -> str:
        file = finding.sitemap or ""
        number = self._order.get(file, len(self._order) + (not file))
        places = (max(place or 0, 0) for place in (finding.line, finding.column))
        return "\0".join((f"{number:09d}", inert(file, MAX_URL), *(f"{place:012d}" for place in places)))

    def _line(self, finding: FindingRecord) -> str:
        file = inert(self._names.get(finding.sitemap or "") or shown(finding.sitemap or CRAWL), MAX_URL)
        at = [finding.line, finding.column] if finding.line else []
        place = ":".join((file, *(str(number) for number in at if number and number > 0)))
        severity = inert(finding.severity)
        url = f" ({inert(finding.url, MAX_LISTED)})" if finding.url and finding.url not in finding.message else ""
        painted = f"{self._paint(place, 'place')} {self._paint(severity, severity)}"
        return f"{painted} {inert(finding.rule)} {self._renamed(inert(finding.message))}{url}"

    def _renamed(self, message: str) -> str:
        """A message that names files of this machine as the user does."""
        for url, name in self._names.items() if "file:" in message else ():
            message = message.replace(f"'{url}'", f"'{inert(name, MAX_URL)}'")
        return message


def shown(url: str) -> str:
    """The path of a file of this machine, relative to the current folder where it is in there; any other URL as it
    is."""
    path = local_path(url)
    if path is None:
        return url
    with suppress(ValueError, OSError):
        return str(Path(path).relative_to(Path.cwd()))
    return path


def told(summary: SummaryRecord, shown: int | None, paint: Paint) -> list[str]:
    """What a run came to, in a few lines. `shown`: findings that became lines; None where that is not known."""
    counts = {name: summary.severities.get(name, 0) for name in SEVERITIES}
    found = ", ".join(paint(findings(count, name), name) for name, count in counts.items() if count)
    end = f"; the rest was not read ({summary.partial})" if summary.partial in LIMITS else ""
    lines = [f"{counted(summary.sitemaps, 'file')}, {counted(summary.urls, 'URL')}: {found or 'nothing found'}{end}"]
    hidden = sum(summary.severities.values()) - shown if shown is not None else 0
    if hidden > 0:
        why = "of a rule and file only the first (SITEMAP_FINDINGS_PER_RULE)"
        why = f"only what has changed (only={summary.only}), and {why}" if summary.only else why
        lines.append(f"{counted(hidden, 'more finding')} not shown: {why}")
    for reason, words in UNREAD.items():
        if left := summary.skipped.get(reason, 0):
            lines.append(f"not read: {counted(left, 'sitemap')} {words}")
    if summary.partial and not end:
        lines.append(f"stopped before the end: {inert(summary.partial)}")
    return lines
