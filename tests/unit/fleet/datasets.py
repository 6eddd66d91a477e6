"""Data sets of fleets, as a fleet writes them: four tables and a row for each domain that is done."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sitemapcrawler.feeds.arrow import Columns
from sitemapcrawler.fleet.domains import BUCKETS, DOMAIN, TABLES, DomainRecord


def write_domain(root: Path, record: DomainRecord, **rows: Sequence[Any]) -> None:
    """Write all that is known of a domain; `rows` are the records of its tables."""
    write_tables(root, record.domain, **rows)
    put(root, DOMAIN, record.domain, Columns(DomainRecord).table([record]))


def write_tables(root: Path, domain: str, **rows: Sequence[Any]) -> None:
    """Write the four tables of a domain alone, as one that was begun has them."""
    for table, kind in TABLES.items():
        put(root, table, domain, Columns(kind, constants={DOMAIN: domain}).table(rows.get(table, ())))


def put(root: Path, table: str, domain: str, content: Any) -> None:
    """Write one file of a table."""
    digest = hashlib.sha256(domain.encode()).hexdigest()
    path = root / table / f"bucket={int(digest, 16) % BUCKETS}" / f"{digest[:32]}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(content, path, compression="zstd")
