"""An inspection as one JSON document, for programs. Fields are named as in feeds; docs/commands.md describes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import quote

from sitemapcrawler.items import UNREAD, JsonObject, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces import declared
from sitemapcrawler.replies.discovery import ROBOTS
from sitemapcrawler.terminal.inspect.inspection import Bounded, EntryCounts, Inspection

Row = Callable[[object], JsonObject]
"""Converts a record to a JSON object, without null and empty fields."""
COMMAND = "##"
"""Starts a command to a CI server anywhere in a line (`findings.inert`); no URL has more than one `#`. Source: RFC
3986, 3.5"""


def lines(rows: Sequence[object], inspection: Inspection, encoding: str) -> str:
    """Return what the records of an item add: pages; for unexpanded indexes, what they list; for a site, its
    sitemaps."""
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
    """Format a URL as one line without ambiguity.

    Characters that are invisible, or missing in the encoding, are percent-encoded (`%C3%A9`). So is the second of two
    number signs, because the text after them could be a command to a CI server.
    """
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


def document(inspection: Inspection, row: Row) -> dict[str, object]:
    """Return the document. Empty lists and objects and null fields of files are omitted, as in JSON feeds."""
    summary = inspection.summary
    return {
        "type": "inspection",
        "target": inspection.name,
        "kind": inspection.kind,
        "expanded": inspection.expanded,
        "sitemaps": [_sitemap(row(record), record, inspection) for record in inspection.files.records],
        "robots": [row(record) for record in inspection.robots],
        "urls": _urls(inspection.tally),
        "skipped": summary.skipped,
        "partial": summary.partial,
    }


def text(inspection: Inspection, row: Row) -> str:
    """Encode the document in ASCII, which every terminal and character set shows, without commands to a CI server."""
    return json.dumps(document(inspection, row), indent=2).replace(COMMAND, r"#\u0023") + "\n"


def _sitemap(row: dict[str, object], record: SitemapRecord, inspection: Inspection) -> dict[str, object]:
    line = None
    if record.parent and record.found_by == ROBOTS.name:
        line = inspection.line_of(record.parent, record.sitemap)
    if line is not None:
        row["robots_line"] = line
    children = inspection.files.children(record.sitemap)
    if children:
        row["children"] = [{"loc": url, **({"lastmod_at": at} if at else {})} for url, at in children]
    return row


def _urls(tally: EntryCounts) -> dict[str, object]:
    unit, histogram = tally.dates.histogram()
    return {
        "count": tally.urls,
        "lastmod_min": tally.dates.first,
        "lastmod_max": tally.dates.last,
        "undated": tally.undated,
        "unreadable": tally.unreadable,
        "lastmods": {"unit": unit, "counts": histogram},
        "counts": _by_namespace(tally.counts),
        "carriers": _by_namespace(tally.carriers),
        "languages": _ranked(tally.languages),
        "namespaces": _ranked(tally.namespaces),
    }


def _by_namespace(numbers: Mapping[str, int]) -> dict[str, int]:
    return {namespace.field: numbers.get(namespace.field, 0) for namespace in declared()}


def _ranked(values: Bounded) -> dict[str, int]:
    return dict(values.ranked()) | ({"(others)": values.others} if values.others else {})
