"""The tables of a job's database. docs/formats.md documents those that users query."""

from __future__ import annotations

from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store.columns import columns, items_of, quoted

VERSION = 2
"""Version of the tables. A database of another version is refused."""
CARRIED = "carried"
"""Table of entries of the baseline of which a crawl could not say whether they are listed still: a file of them was not
to be had. The next crawl is compared with them too."""
RECORDS: dict[str, type] = {
    "sitemaps": SitemapRecord,
    "urls": UrlRecord,
    CARRIED: UrlRecord,
    "findings": FindingRecord,
    "robots": RobotsRecord,
}
"""The record whose rows a table holds; the columns are its fields."""
ODD = "odd"
"""Column of the JSON line of a record that the columns cannot hold exactly (lone surrogates); null of all others."""

ENTRY = "entry"
"""Column that numbers an entry with long lists; null of all others."""
FIRST = 10
"""Items of a long list that stand in the row of the entry."""
MORE = {name: f"more_{name}" for name in ("images", "videos", "alternates")}
"""Tables of the other items of long lists, by field. DuckDB handles 2,048 rows at a time, however long they are."""

CURRENT = "change IS DISTINCT FROM 'removed'"
"""SQL: true for what was listed; removed URLs are rows too."""
ODD_UNCHANGED = (
    f"regexp_replace({ODD}, "
    """'(,"change":"[a-z]+"(,"changed_fields":[^]]*])?)?}$', ',"change":"unchanged"}')"""
)
"""SQL for the text of an odd row that has not changed since the baseline."""
WHOLE_SITE = "whole_site"
"""Column of findings: true for those on more than one file; null for others."""

REPLIES = {
    "url": "VARCHAR",
    "method": "VARCHAR",
    "asked_at": "TIMESTAMP",
    "status": "INTEGER",
    "failure": "VARCHAR",
    "why": "VARCHAR",
    "attempts": "INTEGER",
    "elapsed_ms": "INTEGER",
    "soft_404": "VARCHAR",
    "step": "JSON",
}
"""One row for each request of a listed URL, a redirect, a canonical or an asset. `step` is the whole of it
(`reply.step.Step`)."""
OTHERS = {
    "replies": REPLIES,
    "job": {"name": "VARCHAR", "value": "JSON"},
    "files": {"sitemap": "VARCHAR", "run": "INTEGER", "digest": "VARCHAR", "tally": "JSON"},
    "children": {"sitemap": "VARCHAR", "loc": "VARCHAR", "lastmod_at": "VARCHAR"},
    "policies": {"origin": "VARCHAR", "asked_at": "TIMESTAMP", "answer": "JSON"},
}
"""Tables besides those of records: what a job needs to go on."""
VIEWS = {
    "alternates": "SELECT sitemap, line, loc, alternate.hreflang AS hreflang, alternate.href AS href FROM "
    "(SELECT sitemap, line, loc, unnest(alternates) AS alternate FROM urls "
    f"WHERE alternates IS NOT NULL AND {CURRENT}) UNION ALL "
    f"SELECT sitemap, line, loc, hreflang, href FROM {MORE['alternates']} JOIN urls USING ({ENTRY}) WHERE {CURRENT}",
}


def tables() -> dict[str, dict[str, str]]:
    """{table: {column: SQL type}}."""
    of_urls = {ODD: "VARCHAR", ENTRY: "BIGINT"}
    added = {"urls": of_urls, CARRIED: of_urls, "findings": {WHOLE_SITE: "BOOLEAN"}}
    return (
        {name: columns(record) | added.get(name, {}) for name, record in RECORDS.items()}
        | {table: {ENTRY: "BIGINT"} | columns(items_of(UrlRecord, name)) for name, table in MORE.items()}
        | OTHERS
    )


def statements() -> list[str]:
    """The SQL that makes all tables and views."""
    made = [
        f"CREATE TABLE {name} ({', '.join(f'{quoted(column)} {kind}' for column, kind in held.items())})"
        for name, held in tables().items()
    ]
    return made + [f"CREATE VIEW {name} AS {query}" for name, query in VIEWS.items()]
