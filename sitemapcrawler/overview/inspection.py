"""All that an inspection knows in the end, taken from the items of a crawl as they pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sitemapcrawler.items import RobotsRecord, SitemapRecord, SummaryRecord, UrlRecord, records
from sitemapcrawler.overview.files import Files
from sitemapcrawler.overview.tally import Tally
from sitemapcrawler.targets import DOMAIN, Target

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
        """True where the sitemaps of a site were looked for."""
        return self.target.kind == DOMAIN

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
