"""What the data set of a fleet holds: four tables of records, and a row for each domain that is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, UrlRecord

TABLES: Mapping[str, type] = MappingProxyType(
    {"url": UrlRecord, "sitemap": SitemapRecord, "finding": FindingRecord, "robots": RobotsRecord}
)
"""The record whose rows a table holds, by its name."""
DOMAIN = "domain"
"""Column that all tables begin with; and the name of the table with a row for each domain, which is written last."""
BUCKETS = 256
"""Partitions of each table, by a hash of the domain: `TABLE/bucket=N/FILE.parquet`, N from 0."""
FINISHED, PARTIAL, UNREAD, FAILED = "finished", "partial", "unread", "failed"
"""States of a domain: read to its end; read in part, since a limit or a stop came first; asked, and no sitemap could
be read; no result, since its crawl or its output failed again and again."""


WRITING: Mapping[str, Any] = MappingProxyType({"compression": "zstd", "store_schema": False})
"""How tables are written, as arguments of `pyarrow.parquet.ParquetWriter`: without Arrow's own copy of the schema,
which holds the descriptions of the columns, and takes as much room as some thousand rows."""


@dataclass(slots=True)
class DomainRecord:
    """One domain of a fleet: its row says that its results are complete in all other tables."""

    domain: str = ""
    """The site, as the argument `domain` of a crawl takes it: `example.com`, or an origin with scheme and port."""
    state: str = FINISHED
    """finished, partial (a limit or a stop came first), unread (no sitemap could be read) or, in the summary alone,
    failed (no result)."""
    partial: str | None = None
    """Why the crawl ended early; null where it did not."""
    error: str | None = None
    """Why there is no result, or why nothing could be read, in one sentence; null where something was."""
    attempts: int = 1
    """Times that the crawl was begun, this one included."""
    node: str = ""
    """Name of the machine that crawled it."""
    started: str = ""
    """Start of the crawl, ISO 8601 in UTC."""
    elapsed_s: float = 0.0
    """Duration of the crawl in seconds, as its summary has it."""
    wall_s: float = 0.0
    """Duration of the whole task in seconds, from its start to the last table in its place."""
    peak_mb: float = 0.0
    """Peak resident memory of the crawl's process in MiB."""
    bytes: int = 0
    """Size of its files in the four tables in bytes."""
    sitemaps: int = 0
    """Number of sitemap records."""
    urls: int = 0
    """Number of url records."""
    findings: int = 0
    """Findings, complete, also those beyond the rows kept of each rule."""
    severities: dict[str, int] = field(default_factory=dict)
    """Findings by severity, complete."""
    rules: dict[str, int] = field(default_factory=dict)
    """Findings by rule, complete."""
    worst: dict[str, str] = field(default_factory=dict)
    """The heaviest severity of each rule's findings; rules of which no finding was kept are left out."""
    agents: dict[str, int] = field(default_factory=dict)
    """Listed URLs that robots.txt denies each crawler; crawlers that are denied nothing are left out."""
    replies: dict[str, int] = field(default_factory=dict)
    """Url records by kind of reply; empty where nothing was verified."""
    skipped: dict[str, int] = field(default_factory=dict)
    """What was left out, by reason."""
    bad: int | None = None
    """Distinct URLs that do not answer with a page at once, of those that were asked; null where none was."""
    checked: int | None = None
    """Distinct URLs that were asked; null where none was."""
