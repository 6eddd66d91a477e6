"""The tree of files as lines: as many as a glance takes in, the rest summed up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.terminal.inspect import facts
from sitemapcrawler.terminal.inspect.facts import PLAIN, meaning, outcome
from sitemapcrawler.terminal.inspect.inspection import INDEX, Entry, Group, Inspection
from sitemapcrawler.words import counted

ALL = 40
"""Lines of a tree that is shown whole."""
MOST, LEAST = 20, 4
"""Entries of one file that are shown of a larger one: the more files, the fewer of each."""
USUAL = ("xml-urlset", INDEX, "unknown")
"""Formats that go without saying."""
WAYS = {
    "robots": "named in {parent}",
    "common-path": "at usual paths",
    "html-link": "linked from {parent}",
    "index": "listed in {parent}",
    "argument": "named",
}
"""How the files of a group were found."""


class Guides(NamedTuple):
    """The strokes of a tree."""

    branch: str = "├── "
    last: str = "└── "
    down: str = "│   "
    none: str = "    "


ASCII = Guides("|-- ", "`-- ", "|   ", "    ")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the tree."""

    stem: str
    name: str
    count: str = ""
    day: str = ""
    remark: str = ""
    meaning: str = PLAIN
    heading: bool = False
    url: str = ""
    """Of the file that it shows; empty where it shows none that was read."""


class Outline:
    """Draws the tree of an inspection."""

    def __init__(self, inspection: Inspection, guides: Guides) -> None:
        self._inspection = inspection
        self._guides = guides

    def lines(self) -> Iterator[Line]:
        """All lines: what the file lists that was named, or of a site its files by the way they were found."""
        groups = self._inspection.files.groups
        count = sum(1 for group in groups for entry in group.entries for _ in entry.all())
        room = ALL if count > ALL else count * count  # enough on each level
        for group in groups:
            if self._inspection.is_site:
                yield Line("", self._way(group), heading=True)
                yield from self._entries(group.entries, group.parent, "", room, group)
            else:
                for entry in group.entries:
                    yield from self._entries(entry.below, entry.url, "", room)

    def _way(self, group: Group) -> str:
        way = WAYS.get(group.found_by, group.found_by)
        return way.format(parent=facts.place(group.parent or ""))

    def _entries(
        self, entries: Sequence[Entry], parent: str | None, stem: str, room: int, group: Group | None = None
    ) -> Iterator[Line]:
        most = room if room > ALL else max(LEAST, min(MOST, room))
        shown = entries if len(entries) <= most + 1 else entries[:most]  # one more takes no more room than its sum
        hidden = entries[len(shown) :]
        for number, entry in enumerate(shown):
            is_last = number == len(shown) - 1 and not hidden
            yield self._line(entry, parent, stem + (self._guides.last if is_last else self._guides.branch), group)
            below = stem + (self._guides.none if is_last else self._guides.down)
            yield from self._entries(entry.below, entry.url, below, room if room > ALL else room // len(shown))
        if hidden:
            yield self._rest(hidden, stem + self._guides.last)

    def _line(self, entry: Entry, parent: str | None, stem: str, group: Group | None) -> Line:
        name, record = facts.place(entry.url, parent), entry.record
        if record is None:
            return Line(stem, name, "", facts.day(entry.lastmod_at), "read in another place" if entry.elsewhere else "")
        remarks = [*self._found(record, group), *_remarks(record)]
        newest = facts.day(record.lastmod_max or entry.lastmod_at)
        return Line(stem, name, _count(record), newest, ", ".join(remarks), meaning(record), url=entry.url)

    def _found(self, record: SitemapRecord, group: Group | None) -> Iterator[str]:
        if group is not None and record.found_by == "robots" and record.parent:
            line = self._inspection.line_of(record.parent, record.sitemap)
            if line is not None:
                yield f"line {line}"

    def _rest(self, hidden: Sequence[Entry], stem: str) -> Line:
        records = [one.record for entry in hidden for one in entry.all() if one.record is not None]
        urls = sum(record.url_count for record in records if record.format != INDEX)
        count = counted(urls, "URL") if records else ""
        newest = max((record.lastmod_max or "" for record in records), default="")
        return Line(stem, f"... and {len(hidden):,} more", count, facts.day(newest))


def _count(record: SitemapRecord) -> str:
    if record.outcome in UNREAD:
        return ""
    return counted(record.url_count, "sitemap" if record.format == INDEX else "URL")


def _remarks(record: SitemapRecord) -> Iterator[str]:
    if record.format not in USUAL and record.outcome != "failed":
        yield facts.FORMATS.get(record.format, record.format)
    if getattr(getattr(record, "told", None), "alias", False):
        yield f"read already as {facts.place(record.final_url or '', record.sitemap)}"
    elif record.outcome != "ok":
        yield outcome(record)
