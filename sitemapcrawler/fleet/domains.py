"""Domain lists of a fleet, and the layout of its result tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.items import FindingRecord, Reach, RobotsRecord, SitemapRecord, UrlRecord, UtcTime
from sitemapcrawler.urls.display import counted

TABLES: Mapping[str, type] = MappingProxyType(
    {"url": UrlRecord, "sitemap": SitemapRecord, "finding": FindingRecord, "robots": RobotsRecord}
)
"""Tables and their records."""
DOMAIN = "domain"
"""First column of all tables, and name of the table with one row per domain, which is written last."""
BUCKETS = 256
"""Partitions per table, by a hash of the domain: `TABLE/bucket=N/FILE.parquet`, N from 0."""
FINISHED, PARTIAL, UNREAD, FAILED = "finished", "partial", "unread", "failed"
"""States of a domain: read completely; read in part (limit or stop); no sitemap could be read; no result because its
crawl or output failed repeatedly."""
WRITING: Mapping[str, object] = MappingProxyType({"compression": "zstd", "store_schema": False})
"""Arguments of `pyarrow.parquet.ParquetWriter`. Arrow's copy of the schema is as large as thousands of rows."""


@dataclass(slots=True)
class DomainRecord:
    """Result of one domain. The row exists only if all other tables hold the domain's results."""

    domain: str = ""
    """The site, as in the argument `domain`: `example.com`, or an origin with scheme and port."""
    state: str = FINISHED
    """finished, partial (ended by limit, stop or proxy), unread (no sitemap could be read) or, only in the summary,
    failed (no result)."""
    partial: str | None = None
    """Why the crawl ended early; null if it did not."""
    error: str | None = None
    """Why there is no result or nothing could be read, in one sentence; else null."""
    attempts: int = 1
    """Number of attempts, including this one."""
    node: str = ""
    """Name of the machine that ran the crawl."""
    started: UtcTime | None = None
    """Start of the crawl; null if it failed."""
    elapsed_s: float = 0.0
    """Duration of the crawl in seconds, as in its summary."""
    wall_s: float = 0.0
    """Duration of the task in seconds, until the last table is published."""
    peak_mb: float = 0.0
    """Peak resident memory of the crawl's process in MiB."""
    bytes: int = 0
    """Size of the domain's files in the four tables, in bytes."""
    sitemaps: int = 0
    """Number of sitemap records."""
    urls: int = 0
    """Number of url records."""
    findings: int = 0
    """Number of findings, including those beyond the rows kept per rule."""
    severities: dict[str, int] = field(default_factory=dict)
    """Findings by severity, including those not kept."""
    rules: dict[str, int] = field(default_factory=dict)
    """Findings by rule, including those not kept."""
    reach: dict[str, Reach] = field(default_factory=dict)
    """What each rule concerns: distinct URLs, entries and files, with the highest severity of its findings."""
    severity_reach: dict[str, Reach] = field(default_factory=dict)
    """What the findings of each severity concern."""
    agents: dict[str, int] = field(default_factory=dict)
    """Listed URLs that robots.txt blocks, by crawler; crawlers without any are left out."""
    replies: dict[str, int] = field(default_factory=dict)
    """Url records by kind of reply; empty if nothing was verified."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Skipped items by reason."""
    bad: int | None = None
    """Distinct checked URLs that failed or redirected; null if none was checked."""
    checked: int | None = None
    """Distinct checked URLs; null if none was checked."""
    not_indexable: int | None = None
    """Distinct URLs that are not indexable, of `indexability_checked`; null without `verify`."""
    indexability_checked: int | None = None
    """Distinct URLs that were requested, or that robots.txt blocks for search engines and us; null without `verify`."""


MAX_LIST_BYTES = 2**30
"""Maximum size of an @file in bytes: some 50 million hosts."""
MAX_STEM = 100
"""Maximum length of the host in a file name; file systems allow 255 bytes."""
HASH_DIGITS = 16
"""Hexadecimal digits after the host: the odds of a collision among a million domains are 3 in 100 million."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain to crawl."""

    name: str
    """As in the argument `domain`: `example.com`, `example.com:8080`, `https://example.com`."""
    host: str
    """Host without port and brackets, in lower-case ASCII."""
    site: str
    """Host without a leading `www.`. Two domains of one site never run at once."""
    bucket: int
    """Partition of the results, 0 to `BUCKETS` - 1, from a stable hash of the name."""
    file: str
    """File name without suffix: host and hash. Never starts with `_` or `.`, which readers of data sets skip."""


@dataclass(slots=True)
class DomainList:
    """Result of `read_domains`."""

    domains: list[Domain] = field(default_factory=list)
    """Unique, in order of first mention."""
    repeated: int = 0
    """Number of duplicates."""


def domain(text: str) -> Domain:
    """Parse a host or URL. Raises ValueError like `argument_values.start`."""
    start = values.start(text)
    place = urls.authority(start.url_candidates[0])
    assert place is not None
    name, host = str(start), place.host
    host = name if name == host else host  # keep one string in memory, not two
    digest = sha256(name.encode()).digest()
    bare = host.removeprefix("www.")
    bucket = int.from_bytes(digest[-8:]) % BUCKETS
    return Domain(name, host, bare or host, bucket, f"{_stem(host)}-{digest.hex()[:HASH_DIGITS]}")


def _stem(host: str) -> str:
    return host[:MAX_STEM].replace(":", "-").lstrip("_-.") or "host"


def read_domains(items: Sequence[str]) -> DomainList:
    """Read the domains of a command line: hosts, URLs, and @files with one item per line.

    Files may contain comments (`#`), blank lines, byte order marks and any line ends. Raises ValueError, one line, if a
    file cannot be read or an item is invalid: it names the first one and counts the others.
    """
    listed, seen = DomainList(), set[str]()
    first, bad = "", 0
    for place, text in _texts(items):
        try:
            found = domain(_checked(text))
            if not place and found.name == text and _is_file(found):
                raise ValueError(
                    f"is a file here; accepted: @{found.name} for the list in it, https://{found.name} for the host"
                )
        except ValueError as error:
            first, bad = first or f"{place}{values.quoted(text)}: {error}", bad + 1
            continue
        listed.repeated += found.name in seen
        if found.name not in seen:
            seen.add(found.name)
            listed.domains.append(found)
    if bad:
        more = f" (and {counted(bad - 1, 'more item')} that cannot be used)" if bad > 1 else ""
        raise ValueError(first + more)
    return listed


def _is_file(found: Domain) -> bool:
    """True if a file has this name: the @ is probably missing."""
    return found.name == found.host and Path(found.name).is_file()


def _texts(items: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of each item; the place is empty for items of the command line."""
    for item in map(str.strip, items):
        if not item.startswith("@"):
            yield "", item
            continue
        named = 0
        for number, line in _lines(item[1:]):
            named += 1
            yield f"{values.quoted(item[1:])}, line {number}: ", line
        if not named:
            raise ValueError(f"{values.quoted(item[1:])} lists nothing")


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of an @file, except blank ones."""
    try:
        with values.open_list(path, MAX_LIST_BYTES) as file:
            for number, raw in enumerate(file, 1):
                # Concatenated lists contain byte order marks in the middle.
                if line := values.without_comment(raw.decode("utf-8-sig")):
                    yield number, line
    except OSError as error:
        raise ValueError(f"cannot read {values.quoted(path)}, {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {values.quoted(path)}, line {number} is not UTF-8 text") from None


def _checked(text: str) -> str:
    if not text:
        raise ValueError("is empty")
    if values.CONTROL.search(text):
        raise ValueError("has a control character")
    return text
