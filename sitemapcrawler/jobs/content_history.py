"""Keeps for each page the hash of its content, when it was first read, and when its content was seen to change. Parts
of pages that change by themselves do not count (`rules/facts/contents.py`).

The table outlives jobs: each crawl takes over that of its baseline, and with `fresh=yes` that of the job it replaces.
"""

from __future__ import annotations

from pathlib import Path

from sitemapcrawler.jobs.rewriting import NewValues
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.baseline import CONTENT, LISTED, RESPELLED, kind_of_change
from sitemapcrawler.jobs.store.loading import BASELINE
from sitemapcrawler.jobs.store.schema import CONTENTS, TIME, literal
from sitemapcrawler.rules.facts.contents import TEMPLATE, number, version, volatile
from sitemapcrawler.rules.facts.sites import CHANGED, CURRENT, REMOVED, UNCHANGED

FIELD = f"reply.{CONTENT}"
COLUMNS = ", ".join(CONTENTS)
READ = f"""
    SELECT loc AS url, {version("min(reply.content_hash)")} AS version,
           {number("min(reply.content_hash)")} AS content_hash,
           try_cast('0x' || min_by(reply.simhash, reply.content_hash) AS UBIGINT) AS simhash
    FROM {{database}}.urls WHERE reply.content_hash IS NOT NULL AND {CURRENT}
    GROUP BY loc HAVING content_hash IS NOT NULL AND version IS NOT NULL"""
"""SQL for the content of the pages that a crawl has read."""
OF_BASELINE = f"""
    SELECT {COLUMNS} FROM {RESPELLED}.contents
    UNION ALL
    SELECT r.*, $1::{TIME}, $1::{TIME}, NULL, NULL FROM ({READ.format(database=RESPELLED)}) r
    WHERE url NOT IN (SELECT url FROM {RESPELLED}.contents)"""
"""SQL for the table of the baseline. A feed has none; its pages count as first read by the crawl that wrote it."""
PAIRS = f"""
    CREATE OR REPLACE TEMP TABLE contents_found AS
    WITH earlier AS (
        SELECT * REPLACE (min(first_seen) OVER (PARTITION BY url) AS first_seen) FROM ({{known}})
        QUALIFY row_number() OVER (PARTITION BY url ORDER BY coalesce(changed_at, first_seen) DESC NULLS LAST) = 1
    ), found AS ({READ.format(database="main")})
    SELECT url, e AS was, f AS now FROM found f FULL JOIN earlier e USING (url)
    WHERE url NOT IN (SELECT loc FROM main.urls WHERE change = '{REMOVED}')"""
"""SQL: each page as it was known and as this crawl has read it. Removed ones are left out."""
HELD = "SELECT EXISTS (FROM {database}.contents) OR EXISTS (FROM {database}.urls WHERE reply.content_hash IS NOT NULL)"
"""SQL: whether a crawl has, or knows, the content of any page."""
VOLATILE = f"""
    CREATE OR REPLACE TEMP TABLE contents_compared AS
    {
    volatile(
        "SELECT now.content_hash AS now, was.content_hash AS before FROM contents_found WHERE now.version = was.version"
    )
}"""
UPDATED = f"""
    CREATE OR REPLACE TEMP TABLE contents_now AS
    SELECT url, coalesce(now.version, was.version) AS version,
           coalesce(now.content_hash, was.content_hash) AS content_hash, coalesce(now.simhash, was.simhash) AS simhash,
           CASE WHEN was.url IS NULL THEN $1::{TIME} ELSE was.first_seen END AS first_seen,
           CASE WHEN now.url IS NULL THEN was.last_seen ELSE $1::{TIME} END AS last_seen,
           now.version = was.version AND xor(now.content_hash, was.content_hash) & compared <> 0 AS is_other,
           CASE WHEN is_other THEN was.last_seen ELSE was.changed_after END AS changed_after,
           CASE WHEN is_other THEN $1::{TIME} ELSE was.changed_at END AS changed_at
    FROM contents_found LEFT JOIN contents_compared ON template = now.content_hash {TEMPLATE}"""
"""SQL: the contents after this crawl, with its start as parameter. Pages that it did not read keep their row. Another
version of the extraction is no change."""
SAME = f"""
    CREATE OR REPLACE TEMP TABLE contents_same AS
    SELECT DISTINCT u.rowid AS row, u.sitemap, u.changed_fields AS fields
    FROM main.urls u JOIN {LISTED} b USING (loc) JOIN contents_compared
      ON template = {number("u.reply.content_hash")} {TEMPLATE}
    WHERE list_contains(u.changed_fields, '{FIELD}')
      AND {version("u.reply.content_hash")} = {version("b.reply.content_hash")}
      AND xor({number("u.reply.content_hash")}, {number("b.reply.content_hash")}) & compared = 0"""
"""SQL: rows that count as changed, with the same content but for parts that change by themselves."""


def update(store: Store, started: str, baseline: bool, since: str | None) -> NewValues | None:
    """Update the table, in the writing thread and a transaction of the caller. Returns what takes back the changes of
    content of rows where parts have changed by themselves. Raises duckdb.Error, OSError.

    `started`: start of this crawl; `baseline`: whether it has one; `since`: start of that, if known."""
    databases = ("main", RESPELLED) if baseline else ("main",)
    if not any(store.execute(HELD.format(database=database))[0][0] for database in databases):
        return None  # of most crawls; the rest takes as long as a twentieth of a small crawl
    known = f"SELECT {COLUMNS} FROM main.contents" + (f" UNION ALL {OF_BASELINE}" if baseline else "")
    store.execute(PAIRS.format(known=known), [since] if baseline else [])
    store.execute(VOLATILE)
    store.execute(UPDATED, [started])
    store.execute("DELETE FROM main.contents")
    store.execute(f"INSERT INTO main.contents BY NAME SELECT {COLUMNS} FROM temp.contents_now ORDER BY url")
    taken_back = _taken_back(store) if baseline else None
    for table in ("found", "compared", "now"):
        store.execute(f"DROP TABLE temp.contents_{table}")
    return taken_back


def _taken_back(store: Store) -> NewValues | None:
    store.execute(SAME)
    kinds = []
    for (fields,) in store.execute("SELECT DISTINCT fields FROM contents_same"):
        others = [name for name in fields if name != FIELD]
        kinds.append(
            [fields, others or None, CHANGED if others else UNCHANGED, kind_of_change(others) if others else None]
        )
    store.execute(
        "CREATE OR REPLACE TEMP TABLE contents_kinds "
        "(fields VARCHAR[], changed_fields VARCHAR[], change VARCHAR, what_changed VARCHAR)"
    )
    for kind in kinds:
        store.execute("INSERT INTO contents_kinds VALUES (?, ?, ?, ?)", kind)
    store.execute(
        "CREATE OR REPLACE TEMP TABLE contents_rows AS "
        "SELECT * EXCLUDE (fields) FROM contents_same JOIN contents_kinds USING (fields)"
    )
    for table in ("same", "kinds"):
        store.execute(f"DROP TABLE temp.contents_{table}")
    row = "contents_rows"
    columns = ("change", "changed_fields", "what_changed")
    replaced = {name: f"CASE WHEN {row}.row IS NULL THEN u.{name} ELSE {row}.{name} END" for name in columns}
    return NewValues(row, replaced) if kinds else None


def export(store: Store, path: Path, baseline: bool) -> bool:
    """Write the table as a Parquet file, which `loading.import_feed` reads. Returns False, and writes nothing, if it is
    empty. Raises duckdb.Error, OSError.

    `baseline`: whether there is one. A crawl that ended early has no table of its own yet, and keeps that one.
    """
    tables = ["main.contents", *([f"{BASELINE}.contents"] if baseline else [])]
    held = next((table for table in tables if store.execute(f"SELECT EXISTS (FROM {table})")[0][0]), None)
    if held is None:
        return False
    store.execute(
        f"COPY (SELECT * REPLACE (content_hash::VARCHAR AS content_hash) FROM {held} ORDER BY url) "
        f"TO {literal(str(path))} (FORMAT parquet)"  # Parquet has no integers of 128 bits
    )
    return True


def take_over(store: Store, database: Path) -> None:
    """Take the table of a database that is to be discarded. Raises duckdb.Error."""
    store.execute(f"ATTACH {literal(str(database))} AS discarded (READ_ONLY)")
    try:
        store.execute(f"INSERT INTO main.contents BY NAME SELECT {COLUMNS} FROM discarded.contents")
    finally:
        store.execute("DETACH discarded")
