"""Findings as lines for people and editors, like those of a compiler: file, line, column, severity, rule, message.

The order is that of the files as they were named, then of their URLs, then of the lines: the same in every run, though
files are read side by side and rules on the whole site speak last. So all lines are written at the end.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from scrapy.exporters import BaseItemExporter

from sitemapcrawler.feeds.findings import findings_of
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.items import LIMITS, FindingRecord, SummaryRecord
from sitemapcrawler.rules.catalogue import Paint
from sitemapcrawler.rules.registry import SEVERITIES, findings
from sitemapcrawler.terminal.streams import painter
from sitemapcrawler.urls import local_path
from sitemapcrawler.urls.display import MAX_URL, inert
from sitemapcrawler.words import counted

RUN = 10_000
"""Lines that are held in memory at most: some 5 MB of them."""
MAX_RUNS = 32
"""Sorted runs of about one size that become a single one: so a billion lines need some hundred open files, of the 256
that the most frugal system allows (launchd of macOS), and each line is copied three times."""


class SortedLines:
    """Takes lines in any order, gives them in that of their texts. What is too much for memory waits on disk, in
    temporary files that have no name: sorted runs, which are merged when they are many and when they are read."""

    def __init__(self, run: int = RUN) -> None:
        self._run = run
        self._held: list[str] = []
        self._levels: list[list[IO[str]]] = []
        """The runs, each level with those that were merged once more often than those before."""

    def add(self, line: str) -> None:
        """Take a line, without any end of line in it. OSError where the disk is full."""
        self._held.append(f"{line}\n")
        if len(self._held) >= self._run:
            self._put_away()

    def __iter__(self) -> Iterator[str]:
        self._held.sort()
        files = [file for level in self._levels for file in level]
        for line in merged(files, self._held):
            yield line[:-1]

    def close(self) -> None:
        """Forget all of it."""
        for level in self._levels:
            close_all(level)
        self._levels, self._held = [], []

    def _put_away(self) -> None:
        self._keep(sorted(self._held), 0)
        self._held = []

    def _keep(self, lines: Iterable[str], number: int) -> None:
        """Write a run, and where its level is full, merge that into one of the next."""
        if number == len(self._levels):
            self._levels.append([])
        level = self._levels[number]
        file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed by close()
        level.append(file)
        file.writelines(lines)
        if len(level) == MAX_RUNS:
            self._keep(merged(level), number + 1)
            close_all(level)


def merged(files: Sequence[IO[str]], *others: Iterable[str]) -> Iterator[str]:
    """The lines of sorted files, and of others, in order."""
    for file in files:
        file.seek(0)
    return heapq.merge(*others, *files)


def close_all(files: list[IO[str]]) -> None:
    """Close files, and forget them."""
    for file in files:
        file.close()
    files.clear()


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
UNJUDGED = {
    "image-blocked-by-robots": "images: the robots.txt of their host is not known",
    "video-asset-blocked": "videos: the robots.txt of their host is not known",
}
"""What the summary says of files that such a rule could not judge."""


class LinesExporter(BaseItemExporter):
    """`path:line:column severity rule message`, a line each, then a summary. Line and column are left out where they
    are not known.

    Keyword arguments (`item_export_kwargs`): `names`, {URL of a file: path to show}, whose order counts; `colour`, True
    for a terminal; `robots`, URLs of the robots files that were named, which count as files. Text that `encoding`
    cannot hold becomes escapes. `fields` and `indent` change nothing.
    """

    def __init__(
        self,
        file: IO[bytes],
        names: Mapping[str, str] | None = None,
        colour: bool = False,
        robots: Collection[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, self.encoding, "backslashreplace", painted=True)
        self._names = dict(names or {})
        self._order = {url: number for number, url in enumerate(self._names)}
        self._paint = painter(colour)
        self._robots = len(robots)
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
            for line in told(self._summary, self._shown, self._paint, self._robots):
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


def told(summary: SummaryRecord, shown: int | None, paint: Paint, robots: int = 0) -> list[str]:
    """What a run came to, in a few lines. `shown`: findings that became lines; None where that is not known. `robots`:
    robots files that were named."""
    counts = {name: summary.severities.get(name, 0) for name in SEVERITIES}
    found = ", ".join(paint(findings(count, name), name) for name, count in counts.items() if count)
    end = f"; the rest was not read ({summary.partial})" if summary.partial in LIMITS else ""
    lines = [
        f"{counted(summary.sitemaps + robots, 'file')}, {counted(summary.urls, 'URL')}: {found or 'nothing found'}{end}"
    ]
    hidden = sum(summary.severities.values()) - shown if shown is not None else 0
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
