"""The files of an inspection as they name each other: how each was found, and what is below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sitemapcrawler.items import READ, SitemapRecord

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
