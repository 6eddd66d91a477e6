"""Keeps for each page the hash of its content, when it was first read, and when its content was seen to change.

The table outlives jobs: each crawl takes over that of its baseline, and with `fresh=yes` that of the job it replaces.
"""

from __future__ import annotations

from pathlib import Path

from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.loading import BASELINE
from sitemapcrawler.jobs.store.schema import CONTENTS, TIME, literal
from sitemapcrawler.rules.facts.sites import CURRENT, REMOVED

COLUMNS = ", ".join(CONTENTS)
READ = f"""
    SELECT loc AS url, try_cast(split_part(min(reply.content_hash), '-', 1) AS UTINYINT) AS version,
           try_cast('0x' || split_part(min(reply.content_hash), '-', 2) AS UHUGEINT) AS content_hash,
           try_cast('0x' || min_by(reply.simhash, reply.content_hash) AS UBIGINT) AS simhash
    FROM {{database}}.urls WHERE reply.content_hash IS NOT NULL AND {CURRENT}
    GROUP BY loc HAVING content_hash IS NOT NULL AND version IS NOT NULL"""
"""SQL for the content of the pages that a crawl has read."""
OF_BASELINE = f"""
    SELECT {COLUMNS} FROM {BASELINE}.contents
    UNION ALL
    SELECT r.*, $2::{TIME}, NULL FROM ({READ.format(database=BASELINE)}) r
    WHERE url NOT IN (SELECT url FROM {BASELINE}.contents)"""
"""SQL for the table of the baseline. A feed has none; its pages count as first read by the crawl that wrote it."""
UPDATED = f"""
    CREATE OR REPLACE TEMP TABLE contents_now AS
    WITH earlier AS (
        SELECT * REPLACE (min(first_seen) OVER (PARTITION BY url) AS first_seen) FROM ({{known}})
        QUALIFY row_number() OVER (PARTITION BY url ORDER BY coalesce(changed_at, first_seen) DESC NULLS LAST) = 1
    ), found AS ({READ.format(database="main")})
    SELECT url, coalesce(f.version, e.version) AS version, coalesce(f.content_hash, e.content_hash) AS content_hash,
           coalesce(f.simhash, e.simhash) AS simhash,
           CASE WHEN e.url IS NULL THEN $1::{TIME} ELSE e.first_seen END AS first_seen,
           CASE WHEN f.version = e.version AND f.content_hash <> e.content_hash THEN $1::{TIME}
                ELSE e.changed_at END AS changed_at
    FROM found f FULL JOIN earlier e USING (url)
    WHERE url NOT IN (SELECT loc FROM main.urls WHERE change = '{REMOVED}')"""
"""SQL: the contents after this crawl. Pages that it did not read keep their row, removed ones lose it. Another version
of the extraction is no change. Parameters: start of this crawl, and of the baseline."""


def update(store: Store, started: str, baseline: bool, since: str | None) -> None:
    """Update the table, in the writing thread and a transaction of the caller. Raises duckdb.Error, OSError.

    `started`: start of this crawl; `baseline`: whether it has one; `since`: start of that, if known."""
    known = f"SELECT {COLUMNS} FROM main.contents" + (f" UNION ALL {OF_BASELINE}" if baseline else "")
    store.execute(UPDATED.format(known=known), [started, since] if baseline else [started])
    store.execute("DELETE FROM main.contents")
    store.execute("INSERT INTO main.contents BY NAME FROM temp.contents_now ORDER BY url")
    store.execute("DROP TABLE temp.contents_now")


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
