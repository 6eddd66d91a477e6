"""An inspection as one JSON document, for programs. Fields are named as in feeds; docs/commands.md describes them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import msgspec

from sitemapcrawler.items import SitemapRecord
from sitemapcrawler.overview.bounded import Bounded
from sitemapcrawler.overview.inspection import Inspection
from sitemapcrawler.overview.tally import Tally
from sitemapcrawler.rows import Rows


def document(inspection: Inspection) -> dict[str, Any]:
    """The document. Empty lists and objects and null fields of the files are left out, as in JSON feeds."""
    target, summary = inspection.target, inspection.summary
    return {
        "type": "inspection",
        "target": target.text,
        "kind": target.kind,
        "expanded": inspection.expanded,
        "sitemaps": [_sitemap(record, inspection) for record in inspection.files.records],
        "robots": [_row(record) for record in inspection.robots],
        "urls": _urls(inspection.tally),
        "skipped": summary.skipped,
        "partial": summary.partial,
    }


def text(inspection: Inspection) -> str:
    """The document as text of ASCII alone, which no terminal and no character set can spoil."""
    return json.dumps(document(inspection), indent=2) + "\n"


def _sitemap(record: SitemapRecord, inspection: Inspection) -> dict[str, Any]:
    row = _row(record)
    line = inspection.line_of(record.parent, record.sitemap) if record.parent and record.found_by == "robots" else None
    if line is not None:
        row["robots_line"] = line
    children = inspection.files.children(record.sitemap)
    if children:
        row["children"] = [{"loc": url, **({"lastmod_at": at} if at else {})} for url, at in children]
    return row


def _row(record: Any) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(Rows().of([record])[0], enc_hook=str)
    return row


def _urls(tally: Tally) -> dict[str, Any]:
    unit, histogram = tally.dates.histogram()
    return {
        "count": tally.urls,
        "lastmod_min": tally.dates.first,
        "lastmod_max": tally.dates.last,
        "undated": tally.undated,
        "unreadable": tally.unreadable,
        "lastmods": {"unit": unit, "counts": histogram},
        "counts": dataclasses.asdict(tally.counts),
        "carriers": dataclasses.asdict(tally.carriers),
        "languages": _ranked(tally.languages),
        "namespaces": _ranked(tally.namespaces),
    }


def _ranked(values: Bounded) -> dict[str, int]:
    return dict(values.ranked()) | ({"(others)": values.others} if values.others else {})
