"""All that an inspection knows in the end, taken from the items of a crawl as they pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sitemapcrawler.commands.targets import DOMAIN, Target
from sitemapcrawler.items import READ, RobotsRecord, SitemapRecord, SummaryRecord, UrlRecord, records
from sitemapcrawler.robots import is_robots_url
from sitemapcrawler.terminal.inspect.tally import Tally

Child = tuple[str, str | None]
"""URL and `lastmod_at` of what an index lists."""
LISTED = "index"
"""How a file was found that stands in an index (`SitemapRecord.found_by`)."""


@dataclass(slots=True)
class Entry:
    """One line of the tree: a file that was read, or one that an index only names."""

    url: str
    lastmod_at: str | None = None
    """When it was last changed, as its index says."""
    record: SitemapRecord | None = None
    """None where it was not asked for, or is read in another place of the tree."""
    below: list[Entry] = field(default_factory=list)
    """What it lists."""
    elsewhere: bool = False
    """True where it is read in another place."""

    def all(self) -> Iterator[Entry]:
        """Itself and all that is below."""
        waiting = [self]
        while waiting:
            entry = waiting.pop()
            waiting += entry.below
            yield entry


@dataclass(slots=True)
class Group:
    """Files that no index of the inspection names, found in the same way."""

    found_by: str
    """robots, common-path, html-link or argument."""
    parent: str | None
    """URL of the robots.txt or page that names them."""
    entries: list[Entry]


class Files:
    """The records of files, and what the indexes among them list, in the order in which they came."""

    def __init__(self) -> None:
        self.records: list[SitemapRecord] = []
        self._children: dict[str, Sequence[Child]] = {}

    def add(self, record: SitemapRecord) -> None:
        """Take the record of a file."""
        self.records.append(record)
        told: Any = getattr(record, "told", None)
        if told is not None and told.children:
            self._children[record.sitemap] = told.children

    def children(self, sitemap: str) -> Sequence[Child]:
        """What an index lists, in its order."""
        return self._children.get(sitemap, ())

    @property
    def failed(self) -> list[SitemapRecord]:
        """Those that do not tell all they list."""
        return [record for record in self.records if record.outcome not in READ]

    @cached_property
    def groups(self) -> list[Group]:
        """The tree, to be asked for when all records are there."""
        known = {record.sitemap: record for record in self.records}
        groups: dict[tuple[str, str | None], Group] = {}
        for record in self.records:
            if record.found_by != LISTED or record.parent not in known:
                key = record.found_by, record.parent
                group = groups.setdefault(key, Group(*key, []))
                group.entries.append(self._grown(Entry(record.sitemap, None, record), known))
        return list(groups.values())

    def _grown(self, root: Entry, known: dict[str, SitemapRecord]) -> Entry:
        """The entry with all that is below it. Each file has one record, so there is no circle."""
        waiting = [root]
        while waiting:
            entry = waiting.pop()
            taken: set[str] = set()
            for url, lastmod_at in self.children(entry.url) if entry.record is not None else ():
                record = known.get(url)
                own = record is not None and record.parent == entry.url and url not in taken
                child = Entry(url, lastmod_at, record if own else None, elsewhere=record is not None and not own)
                taken.add(url)
                entry.below.append(child)
                if own:
                    waiting.append(child)
        return root


INDEX = "xml-index"


class Inspection:
    """What a target came to.

    `expanded`: whether what indexes list was asked for too. `line_of`: gives the line of a robots.txt (its URL) that
    names a sitemap; None where it does not.
    """

    def __init__(
        self, target: Target, expanded: bool = False, line_of: Callable[[str, str], int | None] = lambda _, __: None
    ) -> None:
        self.target = target
        self.expanded = expanded
        self.line_of = line_of
        self.files = Files()
        self.tally = Tally()
        self.robots: list[RobotsRecord] = []
        """The robots files that were asked for."""
        self.summary = SummaryRecord()

    def take(self, item: Any) -> Sequence[Any]:
        """Count an item of the crawl; its records."""
        rows = records(item)
        if rows and isinstance(rows[0], UrlRecord):
            self.tally.add([row for row in rows if isinstance(row, UrlRecord)])
            return rows
        for row in rows:
            if isinstance(row, SitemapRecord):
                self.files.add(row)
            elif isinstance(row, RobotsRecord):
                self.robots.append(row)
            elif isinstance(row, SummaryRecord):
                self.summary = row
        return rows

    @property
    def is_site(self) -> bool:
        """True where the sitemaps of a site were looked for, or those that a robots.txt names."""
        return self.target.kind == DOMAIN or self.is_robots

    @property
    def is_robots(self) -> bool:
        """True where a robots.txt was named."""
        return self.target.kind != DOMAIN and is_robots_url(self.target.value)

    @property
    def single(self) -> SitemapRecord | None:
        """The record of the file that was named; None for a site."""
        return None if self.is_site or not self.files.records else self.files.records[0]

    @property
    def listed(self) -> Tally:
        """The dates of what the indexes list, where that was not asked for."""
        tally = Tally()
        for record in self.files.records:
            children = self.files.children(record.sitemap)
            tally.urls += len(children)
            tally.dates.add([moment for _, moment in children if moment is not None])
        return tally
