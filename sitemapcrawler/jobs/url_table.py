"""Query for the table of all URLs in the report."""

from __future__ import annotations

from collections.abc import Mapping

from sitemapcrawler.jobs.coverage import FOLDER
from sitemapcrawler.report.model import MAX_ENTRIES, Entries
from sitemapcrawler.report.packing import MAX_CHARACTERS, MAX_PACKED, Packer
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.sites import CURRENT


def _of_this_crawl(sql: str) -> str:
    """Null for removed URLs, whose rows are those of the baseline."""
    return f"CASE WHEN {CURRENT} THEN {sql} END"


COLUMNS: Mapping[str, str] = {
    "loc": "loc",
    "indexability": _of_this_crawl("indexability"),
    "status": _of_this_crawl("coalesce(reply.status::VARCHAR, nullif(reply.kind, 'unchecked'))"),
    "problem": _of_this_crawl("issues"),
    "target": _of_this_crawl("coalesce(target.url, nullif(reply.final_url, loc))"),
    "sitemap": "sitemap",
    "line": "line",
    "host": "coalesce(regexp_extract(loc, '^https?://([^/?#]+)', 1), '')",
    "segment": "segment",
    "folder": FOLDER.format(url="loc"),
    "lastmod": "strftime(lastmod_at, '%Y-%m-%d')",
    "month": "strftime(lastmod_at, '%Y-%m')",
    "denied": _of_this_crawl("blocked_for"),
    "google": _of_this_crawl("coalesce(google.reason, google.verdict)"),
    "change": "change",
}
"""SQL for each column of the table, by name. It holds for the job's database and for a feed of URLs in Parquet."""
KIND = ("indexability", "status", "problem", "denied", "google", "change")
"""Columns whose values together are the kind of an entry."""
ALL = f"SELECT {', '.join(COLUMNS.values())} FROM urls {{sample}} ORDER BY loc, sitemap, line"
SAMPLE = f"""
    SEMI JOIN (
        SELECT row FROM (SELECT rowid AS row, hash({", ".join(COLUMNS[name] for name in KIND)}) AS kind FROM urls)
        ORDER BY row_number() OVER (PARTITION BY kind ORDER BY hash(row), row), row LIMIT {{most}}) s
    ON s.row = urls.rowid"""
"""SQL: as many entries of each kind as there is room for."""


def entries(site: SiteFacts) -> dict[str, object]:
    """The table of all URLs."""
    [(total,)] = site.query("SELECT count(*) FROM urls")
    most = min(total, MAX_ENTRIES)
    while most:
        packer = Packer(COLUMNS)
        for row in site.query(ALL.format(sample=SAMPLE.format(most=most) if most < total else "")):
            packer.add(row)
            if packer.characters > MAX_CHARACTERS:
                break
        else:
            packed = packer.packed()
            if len(packed) <= MAX_PACKED:
                return {"entries": Entries(packed, packer.rows, total)}
        most //= 2  # very long URLs
    return {}
