"""Changes: one row for everything that differs between the sitemaps of a site and the repaired ones."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from typing import TextIO

from sitemapcrawler.feeds.columns import Cells
from sitemapcrawler.urls import origin
from sitemapcrawler.urls.display import masked, masked_url

NAME = "changes.csv"
"""Name of the list in the folder."""
OFFSITE, CHILD_OFFSITE = "loc-offsite", "index-child-offsite"
"""The rules on pages and on sitemaps of other hosts."""
MAX_HOSTS = 1_000
"""Other hosts, by file, whose entries are counted."""
MAX_TEXT = 10_000
"""Characters of an old or new value. A spreadsheet holds 32,767 in a cell."""


class Action(StrEnum):
    """What happened."""

    CHANGED = "changed"
    """A value or an element of an entry, or the file around its entries."""
    DROPPED = "dropped"
    """The whole entry."""
    UNREPAIRED = "not repaired"
    """An entry that stays as it was, with its problem."""
    MOVED = "moved"
    """A file gets another URL, since its own is no file name."""
    EMPTIED = "not written"
    """A file without any entry left."""
    UNREAD = "unread"
    """A file, or the rest of one."""
    ADDED = "added"
    """A page that no sitemap listed."""
    UNADDED = "not added"
    """A page that no sitemap lists, and none is to list."""


OF_OTHER_HOSTS = ((Action.DROPPED, OFFSITE), (Action.UNREPAIRED, OFFSITE), (Action.UNREPAIRED, CHILD_OFFSITE))


class State(StrEnum):
    """State of an entry that is written."""

    KEPT = "kept"
    CHANGED = "changed"
    UNREPAIRED = "unrepaired"
    ADDED = "added"


@dataclass(slots=True)
class Change:
    """One row of the list."""

    action: str
    """An `Action`."""
    rule: str
    """Id of the rule that led to it; empty for a file that gets another URL."""
    url: str = ""
    """The listed URL, as in the file; empty for a change of the file itself."""
    old: str = ""
    """Value before: of an entry, an element or an attribute; for a dropped entry its whole text."""
    new: str = ""
    """Value after; empty for what was removed; for an added page its entry."""
    sitemap: str = ""
    """URL of the file that was read, or that lists the page now."""
    line: int | None = None
    """Line in that file on which the entry begins."""


Located = Callable[[str, int | None], tuple[str, int | None]]
"""Returns the file and line to name for the file that was read and its line."""
COLUMNS = tuple(field.name for field in fields(Change))


class ChangeList:
    """Writes changes as CSV (RFC 4180, UTF-8), and counts them."""

    def __init__(self, file: TextIO, located: Located | None = None) -> None:
        self._write = csv.writer(file, lineterminator="\r\n").writerow
        self._write(COLUMNS)
        self._cell = Cells().disarmed
        self._located = located
        self.counts: Counter[tuple[str, str]] = Counter()
        """Rows by (action, rule)."""
        self.offsite: Counter[tuple[str, str]] = Counter()
        """Entries of other hosts by (origin, file)."""

    def add(self, change: Change) -> None:
        """Write a row. Passwords are masked, and what a spreadsheet would run as a formula gets a quote in front."""
        self.counts[change.action, change.rule] += 1
        if self._located is not None:
            change.sitemap, change.line = self._located(change.sitemap, change.line)
        change.url = masked_url(change.url)
        if (change.action, change.rule) in OF_OTHER_HOSTS:
            self._count_offsite(origin(change.url), change.sitemap)
        change.old, change.new = (masked(value)[:MAX_TEXT] for value in (change.old, change.new))
        self._write("" if value is None else self._cell(str(value)) for value in astuple(change))

    def _count_offsite(self, host: str | None, sitemap: str) -> None:
        if host is not None and (len(self.offsite) < MAX_HOSTS or (host, sitemap) in self.offsite):
            self.offsite[host, sitemap] += 1

    def number(self, action: Action) -> int:
        """Number of rows of one kind."""
        return sum(count for (kind, _), count in self.counts.items() if kind == action)
