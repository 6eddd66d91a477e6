"""Inspections made by hand, and how they look."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler.envelopes import FileResult, SitemapEnd
from sitemapcrawler.items import SitemapRecord, SummaryRecord
from sitemapcrawler.terminal.inspect.inspection import Inspection
from sitemapcrawler.terminal.inspect.screen import Screen

SITE = "https://site.example"


def record(path: str, count: int = 1, children: Sequence[str] = (), **fields: object) -> SitemapRecord:
    """The record of a file of `SITE`; an index where it has children (their paths)."""
    found = SitemapEnd(SITE + path)
    found.format = "xml-index" if children else "xml-urlset"
    found.url_count = len(children) or count
    found.result = FileResult(children=[(SITE + child, None) for child in children])
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def below(parent: str, path: str, count: int = 1, children: Sequence[str] = (), **fields: object) -> SitemapRecord:
    """The record of a file that an index lists."""
    return record(path, count, children, parent=SITE + parent, found_by="index", **fields)


def inspection(*records: SitemapRecord, site: bool = False, expanded: bool = True) -> Inspection:
    """An inspection of the first of these files, or of the site."""
    name, kind = ("site.example", "domain") if site else (records[0].sitemap, "url")
    made = Inspection(name, kind, False, expanded, lambda _, url: 7 if url.endswith("/index.xml") else None)
    for one in records:
        made.add(one)
    made.add(SummaryRecord())
    return made


def drawn(made: Inspection, width: int = 0, unicode: bool = True, colour: bool = False) -> list[str]:
    """Its lines."""
    return Screen(width, unicode, colour).draw(made).splitlines()
