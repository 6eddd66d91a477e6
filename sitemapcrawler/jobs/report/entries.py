"""What is listed: its dates, what asking for it came to, and what has changed."""

from __future__ import annotations

from typing import Any

import msgspec

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.store.columns import json_object
from sitemapcrawler.jobs.store.schema import CURRENT
from sitemapcrawler.report.model import MAX_BAD, MAX_CHANGED, MAX_MONTHS
from sitemapcrawler.rules.facts.site import SiteFacts

CHANGES = ("added", "removed", "changed", "unchanged")
MONTHS = f"SELECT left(lastmod_at, {len('2024-05')}) AS month, count(*) FROM urls WHERE {CURRENT} GROUP BY month"
ASKED = "reply.kind <> 'unchecked'"
STATUSES = f"""
    SELECT coalesce(reply.status::VARCHAR, reply.kind) AS answer, count(*) AS number FROM urls
    WHERE {ASKED} AND {CURRENT} GROUP BY answer ORDER BY number DESC, answer"""
BAD = f"""
    SELECT {json_object(UrlRecord, ("loc", "sitemap", "line", "reply"))} FROM urls JOIN (
        SELECT min(rowid) AS row, bool_and(reply.kind = 'redirected') AS moved FROM urls
        WHERE {ASKED} AND {CURRENT} AND (reply.kind <> 'ok' OR reply.soft_404 IS NOT NULL)
        GROUP BY loc ORDER BY moved, row LIMIT {MAX_BAD}) b ON b.row = urls.rowid
    ORDER BY moved, row"""
"""SQL for the first entry of each URL that is no page at once; redirects come last."""
SHOWN = ("loc", "sitemap", "line", "lastmod", "lastmod_at", "change", "changed_fields")
CHANGED = f"""
    SELECT {json_object(UrlRecord, SHOWN)} FROM urls
    JOIN (SELECT rowid AS row FROM urls WHERE change = ? ORDER BY row LIMIT {MAX_CHANGED}) c ON c.row = urls.rowid
    ORDER BY row"""
FIELDS = """
    SELECT name, count(*) AS number FROM (SELECT unnest(changed_fields) AS name FROM urls WHERE change = 'changed')
    GROUP BY name ORDER BY number DESC, name"""

_url = msgspec.json.Decoder(UrlRecord).decode


def months(site: SiteFacts) -> dict[str, Any]:
    """Entries by the month of their date."""
    counts = dict(site.query(MONTHS))
    undated = counts.pop(None, 0)
    most = sorted(counts, key=lambda month: (-counts[month], month))[:MAX_MONTHS]
    shown = {month: counts[month] for month in sorted(most)}
    return {"months": shown, "other_months": sum(counts.values()) - sum(shown.values()), "undated": undated}


def statuses(site: SiteFacts) -> dict[str, Any]:
    """Entries that were asked for, by what came of it."""
    return {"statuses": dict(site.query(STATUSES))}


def bad(site: SiteFacts) -> dict[str, Any]:
    """URLs that do not answer with a page at once."""
    return {"bad": [_url(line) for (line,) in site.query(BAD)]}


def changes(site: SiteFacts) -> dict[str, Any]:
    """Entries by what became of them since the baseline."""
    counts = dict(site.query("SELECT change, count(*) FROM urls WHERE change IS NOT NULL GROUP BY change"))
    return {"changes": {change: counts.get(change, 0) for change in CHANGES} if counts else {}}


def changed(site: SiteFacts) -> dict[str, Any]:
    """Entries that are not what they were."""
    found = {change: [_url(line) for (line,) in site.query(CHANGED, change)] for change in CHANGES[:-1]}
    return {"changed": {change: entries for change, entries in found.items() if entries}}


def changed_fields(site: SiteFacts) -> dict[str, Any]:
    """What has changed of them."""
    return {"changed_fields": dict(site.query(FIELDS))}
