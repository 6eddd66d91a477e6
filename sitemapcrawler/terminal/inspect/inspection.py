"""Result of an inspection, collected from the items of a crawl: files as a tree, and counts of their entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sitemapcrawler.envelopes import SitemapEnd
from sitemapcrawler.items import READ, RobotsRecord, SitemapRecord, SummaryRecord, UrlRecord, objects_in, records
from sitemapcrawler.replies.discovery import INDEX

Child = tuple[str, str | None]
"""URL and `lastmod_at` of a sitemap that an index lists."""
MAX_VALUES = 1000
"""Different values counted by name: more than there are language codes in use."""
MAX_VALUE = 200
"""Characters kept of a value."""
NO_CODE = "(none)"
"""Stands for the language of an alternate without a code."""
CORE = "schemas/sitemap/0."
"""Part of the URI of the protocol's own namespace, in every form it has had. Source:
https://www.sitemaps.org/protocol.html, and Google's earlier one (`.../schemas/sitemap/0.84`)"""
DAY, MONTH, YEAR = len("2024-05-01"), len("2024-05"), len("2024")
"""Characters of a date up to its day, month and year."""
UNITS = {DAY: "day", MONTH: "month", YEAR: "year"}
MAX_DAYS = 4000
"""Different days that are counted; beyond that, years are."""
MAX_BARS = 16
"""Maximum bars of a histogram; with more days, it shows months, and then years."""


@dataclass(slots=True)
class TreeEntry:
    """Line of the tree: a file that was read, or one that an index lists."""

    url: str
    lastmod_at: str | None = None
    """Last change according to its index."""
    record: SitemapRecord | None = None
    """None if it was not requested, or is read in another place of the tree."""
    below: list[TreeEntry] = field(default_factory=list)
    elsewhere: bool = False
    """True if it is read in another place."""

    def all(self) -> Iterator[TreeEntry]:
        """Yield the entry and all entries below."""
        waiting = [self]
        while waiting:
            entry = waiting.pop()
            waiting += entry.below
            yield entry


@dataclass(slots=True)
class FileGroup:
    """Files that no index of the inspection lists, found in the same way."""

    found_by: str
    """robots, common-path, html-link or argument."""
    parent: str | None
    """URL of the robots.txt or page that lists them."""
    entries: list[TreeEntry]


class Files:
    """Records of files, and what the indexes among them list, in the order of arrival."""

    def __init__(self) -> None:
        self.records: list[SitemapRecord] = []
        self._children: dict[str, Sequence[Child]] = {}

    def add(self, record: SitemapRecord) -> None:
        self.records.append(record)
        if isinstance(record, SitemapEnd) and record.result.children:
            self._children[record.sitemap] = record.result.children

    def children(self, sitemap: str) -> Sequence[Child]:
        """Return what an index lists, in its order."""
        return self._children.get(sitemap, ())

    @property
    def failed(self) -> list[SitemapRecord]:
        """Files that were not read, or only in part."""
        return [record for record in self.records if record.outcome not in READ]

    @cached_property
    def groups(self) -> list[FileGroup]:
        """The tree; use it when all records have been added."""
        known = {record.sitemap: record for record in self.records}
        groups: dict[tuple[str, str | None], FileGroup] = {}
        for record in self.records:
            if record.found_by != INDEX.name or record.parent not in known:
                key = record.found_by, record.parent
                group = groups.setdefault(key, FileGroup(*key, []))
                group.entries.append(self._grown(TreeEntry(record.sitemap, None, record), known))
        return list(groups.values())

    def _grown(self, root: TreeEntry, known: dict[str, SitemapRecord]) -> TreeEntry:
        """Add everything below an entry. Each file has one record, so there are no cycles."""
        waiting = [root]
        while waiting:
            entry = waiting.pop()
            taken: set[str] = set()
            for url, lastmod_at in self.children(entry.url) if entry.record is not None else ():
                record = known.get(url)
                own = record is not None and record.parent == entry.url and url not in taken
                child = TreeEntry(url, lastmod_at, record if own else None, elsewhere=record is not None and not own)
                taken.add(url)
                entry.below.append(child)
                if own:
                    waiting.append(child)
        return root


class Inspection:
    """Counts and records of one inspected target."""

    def __init__(
        self,
        name: str,
        kind: str,
        is_robots: bool = False,
        expanded: bool = False,
        line_of: Callable[[str, str], int | None] = lambda _, __: None,
    ) -> None:
        """`name`: the target as the user wrote it. `kind`: domain, file or url. `is_robots`: it is a robots.txt.
        `expanded`: what indexes list is fetched too. `line_of`: returns the line of a robots.txt (its URL) that lists a
        sitemap, or None."""
        self.name = name
        self.kind = kind
        self.is_robots = is_robots
        self.expanded = expanded
        self.line_of = line_of
        self.files = Files()
        self.tally = EntryCounts()
        self.robots: list[RobotsRecord] = []
        """The robots.txt files that were fetched."""
        self.summary = SummaryRecord()

    def add(self, item: object) -> Sequence[object]:
        """Add an item of the crawl; return its records."""
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
        """True if the target is a domain or a robots.txt, so that its sitemaps are discovered."""
        return self.kind == "domain" or self.is_robots

    @property
    def single(self) -> SitemapRecord | None:
        """Record of the file that is the target; None for a site."""
        return None if self.is_site or not self.files.records else self.files.records[0]

    @property
    def listed(self) -> EntryCounts:
        """Counts and dates of what the indexes list."""
        tally = EntryCounts()
        for record in self.files.records:
            children = self.files.children(record.sitemap)
            tally.urls += len(children)
            tally.dates.add([moment for _, moment in children if moment is not None])
        return tally


class Bounded:
    """Counts values by name, up to `MAX_VALUES` different ones."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.others = 0
        """Values counted together, because there were too many different ones before."""

    def add(self, values: Iterable[str]) -> None:
        for value in values:
            name = value[:MAX_VALUE]
            if name in self.counts or len(self.counts) < MAX_VALUES:
                self.counts[name] += 1
            else:
                self.others += 1

    def ranked(self) -> list[tuple[str, int]]:
        """Return (value, count), the most frequent first, then by name."""
        return sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))


def is_core(uri: str) -> bool:
    """True for the namespace of the protocol itself, in any form."""
    return CORE in uri


class EntryCounts:
    """Counts URL records, batch by batch."""

    def __init__(self) -> None:
        self.urls = 0
        self.unreadable = 0
        """Entries whose lastmod is not a date."""
        self.dates = Dates()
        self.counts: Counter[str] = Counter()
        """Images, videos, news articles and language versions."""
        self.carriers: Counter[str] = Counter()
        """URLs that have at least one of them."""
        self.languages = Bounded()
        """Language versions by code, as written."""
        self.namespaces = Bounded()
        """URLs with elements of an unknown namespace, by its URI."""

    @property
    def undated(self) -> int:
        """Entries without a readable lastmod."""
        return self.urls - self.dates.total

    def add(self, urls: Sequence[UrlRecord]) -> None:
        self.urls += len(urls)
        moments = [record.lastmod_at for record in urls if record.lastmod_at is not None]
        self.dates.add(moments)
        if len(moments) < len(urls):
            self.unreadable += sum(1 for record in urls if record.lastmod and record.lastmod_at is None)
        for record in urls:
            if numbers := objects_in(record):
                self.counts.update(numbers)
                self.carriers.update(numbers.keys())
                self.languages.add(alternate.hreflang or NO_CODE for alternate in record.alternates)
            if record.extra is not None:
                self.namespaces.add(uri for uri in record.extra if uri and uri not in numbers and not is_core(uri))


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """Row of a histogram."""

    label: str
    """A day, a month or a year; `until 2010` for everything before the next row."""
    count: int


class Dates:
    """Counts moments (ISO 8601 in UTC, as `lastmod_at`) in bounded memory."""

    def __init__(self) -> None:
        self.total = 0
        self.first: str | None = None
        """Oldest moment."""
        self.last: str | None = None
        """Newest moment."""
        self._length = DAY
        self._counts: Counter[str] = Counter()

    def add(self, moments: Sequence[str]) -> None:
        if not moments:
            return
        self.total += len(moments)
        self.first = min(moments) if self.first is None else min(self.first, *moments)
        self.last = max(moments) if self.last is None else max(self.last, *moments)
        length = self._length
        self._counts.update([moment[:length] for moment in moments])
        if len(self._counts) > MAX_DAYS and length > YEAR:
            self._length = YEAR
            self._counts = self._by(YEAR)

    def histogram(self) -> tuple[str, dict[str, int]]:
        """Return day, month or year, the shortest with at most `MAX_BARS` rows, and {its name: count}, the oldest
        first."""
        units = (unit for unit in (DAY, MONTH) if unit <= self._length and 0 < len(self._by(unit)) <= MAX_BARS)
        length = next(units, YEAR)
        return UNITS[length], dict(sorted(self._by(length).items()))

    def bars(self) -> list[HistogramRow]:
        """The histogram as at most `MAX_BARS` rows, the oldest first; years before them are merged."""
        bars = [HistogramRow(label, count) for label, count in self.histogram()[1].items()]
        if len(bars) <= MAX_BARS:
            return bars
        old, kept = bars[: 1 - MAX_BARS], bars[1 - MAX_BARS :]
        return [HistogramRow(f"until {old[-1].label}", sum(bar.count for bar in old)), *kept]

    def _by(self, length: int) -> Counter[str]:
        counts: Counter[str] = Counter()
        for name, count in self._counts.items():
            counts[name[:length]] += count
        return counts
