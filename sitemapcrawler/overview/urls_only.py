"""The URLs alone, one a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from sitemapcrawler.items import UNREAD, SitemapRecord, UrlRecord
from sitemapcrawler.overview.inspection import Inspection

COMMAND = "##"
"""Begins a command to a CI server wherever it stands in a line (`findings.inert`); no URL has more than one `#`.
Source: RFC 3986, 3.5"""


def lines(rows: Sequence[Any], inspection: Inspection, encoding: str) -> str:
    """What the records of an item add: pages; where indexes are not expanded, what an index lists; and where the
    sitemaps of a site are looked for, these."""
    if inspection.is_site and not inspection.expanded:
        found = [row.sitemap for row in rows if isinstance(row, SitemapRecord) and row.outcome not in UNREAD]
    elif rows and isinstance(rows[0], UrlRecord):
        found = [row.loc for row in rows if isinstance(row, UrlRecord)]
    elif inspection.expanded:
        return ""
    else:
        found = [url for row in rows if isinstance(row, SitemapRecord) for url, _ in _children(row, inspection)]
    return _lines(found, encoding)


def _children(record: SitemapRecord, inspection: Inspection) -> Iterable[tuple[str, str | None]]:
    return inspection.files.children(record.sitemap)


def _lines(found: Sequence[str], encoding: str) -> str:
    text = "\n".join(found) + "\n" if found else ""
    if _shows("".join(found), encoding) and COMMAND not in text:
        return text
    return "".join(f"{written(url, encoding)}\n" for url in found)


def written(url: str, encoding: str) -> str:
    """A URL as one line that shows all it holds: what cannot be seen, or written in the encoding, is escaped as in any
    URL (`%C3%A9`), and so is the second of two number signs: what follows them may be a command to a CI server."""
    url = url.replace(COMMAND, "#%23")
    return "".join(char if _shows(char, encoding) else quote(char, safe="", errors="replace") for char in url)


def _shows(text: str, encoding: str) -> bool:
    if not text.isprintable():
        return False
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
