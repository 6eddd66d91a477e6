"""The domains of a fleet: lists of them, and the tables of the data set with a row for each domain."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from sitemapcrawler import urls
from sitemapcrawler.audit import argument_values as values
from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.words import counted

TABLES: Mapping[str, type] = MappingProxyType(
    {"url": UrlRecord, "sitemap": SitemapRecord, "finding": FindingRecord, "robots": RobotsRecord}
)
"""Record of each table."""
DOMAIN = "domain"
"""First column of all tables, and name of the table with a row for each domain, which is written last."""
BUCKETS = 256
"""Partitions of each table, by a hash of the domain: `TABLE/bucket=N/FILE.parquet`, N from 0."""
FINISHED, PARTIAL, UNREAD, FAILED = "finished", "partial", "unread", "failed"
"""States of a domain: read completely; read in part, up to a limit or stop; no sitemap could be read; no result, since
its crawl or output failed repeatedly."""
WRITING: Mapping[str, Any] = MappingProxyType({"compression": "zstd", "store_schema": False})
"""Arguments of `pyarrow.parquet.ParquetWriter`: without Arrow's copy of the schema, which is as large as some thousand
rows."""


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


MAX_LIST_BYTES = 2**30
"""Most bytes of an @file: some 50 million hosts."""
MAX_LINE_BYTES = 64 * 1024
"""Most bytes of a line of it: more than servers accept as a URL."""
MAX_STEM = 100
"""Most characters of the host in a file name, which may have 255 bytes."""
HASH_DIGITS = 16
"""Hexadecimal digits behind it: a million domains collide with a chance of 3 in 100 million."""
# Device names on Windows, with any suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])\.")


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain to crawl."""

    name: str
    """As the argument `domain` of a crawl takes it: `example.com`, `example.com:8080`, `https://example.com`."""
    host: str
    """Host without port and brackets: lower case, ASCII."""
    site: str
    """The host without a leading `www.`: two domains of one site never run at once."""
    bucket: int
    """Partition of its results, 0 to `BUCKETS` - 1: a stable hash of the name."""
    file: str
    """Name of its files, without suffix: host and hash. Never begins with `_` or `.`: readers of data sets skip such
    files."""


@dataclass(slots=True)
class DomainList:
    """The domains of a list."""

    domains: list[Domain] = field(default_factory=list)
    """Each once, in order of first mention."""
    repeated: int = 0
    """Items that repeat a domain."""


def domain(text: str) -> Domain:
    """Domain of a host or URL. ValueError as from `argument_values.start`."""
    start = values.start(text)
    place = urls.authority(start.url_candidates[0])
    assert place is not None
    name, host = str(start), place.host
    host = name if name == host else host  # one text in memory, not two
    digest = sha256(name.encode()).digest()
    bare = host.removeprefix("www.")
    bucket = int.from_bytes(digest[-8:]) % BUCKETS
    return Domain(name, host, bare or host, bucket, f"{_stem(host)}-{digest.hex()[:HASH_DIGITS]}")


def _stem(host: str) -> str:
    safe = host[:MAX_STEM].replace(":", "-").lstrip("_-.")
    return (safe.replace(".", "-", 1) if _DEVICE.match(safe) else safe) or "host"


def read_domains(items: Sequence[str]) -> DomainList:
    """Read the domains of a command line: hosts, URLs, and @files with one per line.

    Files may have comments (`#`), blank lines, byte order marks and any line ends. ValueError, one line: a file cannot
    be read, or the first invalid item, its place, and the number of further ones.
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
            first, bad = first or f"{place}{_quoted(text)}: {error}", bad + 1
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
    """True if the name is that of a file, whose @ was forgotten."""
    return found.name == found.host and Path(found.name).is_file()


def _texts(items: Sequence[str]) -> Iterator[tuple[str, str | bytes]]:
    """(place, text) of each item; the place is empty on the command line."""
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


def _lines(path: str) -> Iterator[tuple[int, str | bytes]]:
    """Lines of an @file with their numbers, without blank ones; bytes if a line is too long or not UTF-8."""
    try:
        with _opened(Path(path)) as file:
            for number in count(1):
                raw = file.readline(MAX_LINE_BYTES + 1)
                if not raw:
                    return
                if len(raw) > MAX_LINE_BYTES:
                    _skip_line(file, raw)
                    yield number, raw
                elif line := _decoded(raw):
                    yield number, line
    except OSError as error:
        raise ValueError(f"cannot read {values.quoted(path)}, {error.strerror or error}") from None


def _opened(file: Path) -> IO[bytes]:
    if not file.is_file():
        raise OSError("no such file")
    if file.stat().st_size > MAX_LIST_BYTES:
        raise OSError(f"larger than {MAX_LIST_BYTES} bytes")
    return file.open("rb")


def _skip_line(file: IO[bytes], raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(MAX_LINE_BYTES)


def _decoded(raw: bytes) -> str | bytes:
    # Concatenated lists have a byte order mark inside.
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return values.without_comment(raw.decode())
    except UnicodeDecodeError:
        return raw.strip()


def _checked(text: str | bytes) -> str:
    if isinstance(text, bytes):
        raise ValueError("no text in UTF-8" if len(text) <= MAX_LINE_BYTES else f"longer than {MAX_LINE_BYTES} bytes")
    if not text:
        raise ValueError("is empty")
    if values.CONTROL.search(text):
        raise ValueError("has a control character")
    return text


def _quoted(text: str | bytes) -> str:
    return values.quoted(text.decode(errors="backslashreplace") if isinstance(text, bytes) else text)
