"""What rules are given: an entry, a child of an index, or a file, with what is known around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from sitemapcrawler.element import Element
from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.reader.document import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.rules.suspects import Suspects
from sitemapcrawler.rules.tally import Tally
from sitemapcrawler.urls import Authority, authority

MAX_CHILDREN = 100_000
"""Children of one index that are judged one by one: twice what the protocol allows."""


@dataclass
class FileFacts:
    """A sitemap file while it is judged. Complete when its record comes."""

    url: str
    """URL the file was asked for under."""
    record: SitemapRecord
    document: Document
    """The document as it was read: `root`, `faults`, `format`, and so on."""
    content_type: str | None = None
    """Content-Type header as sent."""
    fetched_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    children: list[ChildRecord] = field(default_factory=list)
    """What an index lists, `MAX_CHILDREN` at most."""
    child_count: int = 0
    """How many it lists."""
    indexes: int = 0
    """Indexes of this crawl so far, this one included."""
    findings: Counter[str] = field(default_factory=Counter)
    """Findings of each rule in this file so far."""

    def list_child(self, child: ChildRecord) -> None:
        """Note what an index lists."""
        self.child_count += 1
        if len(self.children) < MAX_CHILDREN:
            self.children.append(child)

    @cached_property
    def tally(self) -> Tally:
        """Counts over the entries."""
        return Tally(self.fetched_at)

    @cached_property
    def suspects(self) -> Suspects:
        """Finds the entries that need a closer look."""
        return Suspects(self.url, self.fetched_at)

    @cached_property
    def parts(self) -> SplitResult:
        """The parts of the file's URL."""
        return split(self.url)

    @cached_property
    def authority(self) -> Authority | None:
        """Host and port of the file's URL; None for a file of this machine."""
        return authority(self.url)

    @cached_property
    def directory(self) -> str:
        """Path of the folder the file is in, with a slash at its end."""
        return self.parts.path.rpartition("/")[0] + "/"

    def proven(self, url: str) -> bool:
        """True where the host of `url` is known to let this file list its URLs (cross-submission)."""
        return False


@dataclass
class UrlFacts:
    """One entry of a urlset, a feed or a text file."""

    record: UrlRecord
    file: FileFacts
    repeated: bool = False
    """True where the same URL stood earlier in the file."""

    @property
    def element(self) -> Element | None:
        """The entry as it stands in the XML; None for plain entries, feeds and text."""
        return getattr(self.record, "element", None)

    @cached_property
    def parts(self) -> SplitResult:
        """The parts of the entry's URL."""
        return split(self.record.loc)

    @cached_property
    def written(self) -> str:
        """The URL as written."""
        return self.record.loc_raw if self.record.loc_raw is not None else self.record.loc

    def children(self, name: str) -> Iterator[Element]:
        """The elements of the entry with this local name, in any namespace."""
        if self.element is not None:
            yield from (child for child in self.element.children if child.name == name)

    def line_of(self, name: str) -> int | None:
        """Line of the first child of this local name, or of the entry."""
        return next((child.line for child in self.children(name)), self.record.line)


@dataclass
class ChildFacts:
    """One `<sitemap>` of an index."""

    record: ChildRecord
    file: FileFacts

    @cached_property
    def parts(self) -> SplitResult:
        """The parts of the child's URL."""
        return split(self.record.loc)

    @cached_property
    def written(self) -> str:
        """The URL as written."""
        return self.record.loc_raw if self.record.loc_raw is not None else self.record.loc


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that raised."""

    rule: str
    """Its id."""
    error: Exception


def split(url: str) -> SplitResult:
    """`urlsplit` that takes any text."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")
