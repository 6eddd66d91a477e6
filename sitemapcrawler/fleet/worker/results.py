"""What a crawl of a fleet has left, made a row of its domain, and put into the data set."""

from __future__ import annotations

import platform
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from importlib import import_module
from pathlib import Path

from sitemapcrawler.commands import running
from sitemapcrawler.fleet.control.domains import Domain
from sitemapcrawler.fleet.output.destination import Output, OutputFailed
from sitemapcrawler.fleet.output.folders import MAX_REASON, telling
from sitemapcrawler.fleet.records import DOMAIN, FINISHED, PARTIAL, TABLES, UNREAD, WRITING, DomainRecord
from sitemapcrawler.fleet.worker.crawling import LOG, summary
from sitemapcrawler.fleet.worker.link import FAULT
from sitemapcrawler.rules.registry import SEVERITIES
from sitemapcrawler.urls.display import inert

Check = Callable[[], None]
"""Raises what it likes where nothing may be put into its place any more."""
LOGS = "_logs"
"""Folder of the logs of crawls that did not end as they should."""
LOG_BYTES = 1024 * 1024
"""Bytes of the end of a log that are kept."""


class CrawlDied(Exception):
    """The process of a crawl ended without a result; it may be tried again."""


class CrawlFault(CrawlDied):
    """A crawl could not begin, or raised: a setting, a package or our own code is at fault, not the site."""


def record_of(domain: Domain, folder: Path, code: int, tries: int) -> DomainRecord:
    """The row of a domain, from what its crawl has left. CrawlDied where that is no result, OutputFailed where its
    files could not be written."""
    states = {0: FINISHED, running.STOPPED: PARTIAL, running.NOTHING_READ: UNREAD}
    if code == running.FEED_LOST:
        raise OutputFailed(f"its files could not be written{last_error(folder)}")
    if code == FAULT:
        raise CrawlFault(f"its crawl could not run{last_error(folder)}")
    if code not in states:
        raise CrawlDied(f"{ended(code)}{last_error(folder)}")
    try:
        held = summary(folder)
        size = sum((folder / f"{table}.parquet").stat().st_size for table in TABLES)
    except (OSError, ValueError) as error:
        raise CrawlDied(f"its files are not whole: {error}") from None
    bad = held.get("bad") or {}
    same = {one.name: held[one.name] for one in fields(DomainRecord) if one.name in held and one.name != "bad"}
    record = DomainRecord(**same)
    state = PARTIAL if record.partial and code == 0 else states[code]
    record.domain, record.state, record.attempts, record.bytes = domain.name, state, tries, size
    record.node, record.findings = platform.node(), sum(record.severities.values())
    record.bad, record.checked = bad.get("bad"), bad.get("checked")
    record.worst = heaviest(folder / "finding.parquet")
    record.error = reason_of(folder) if state == UNREAD else None
    return record


def heaviest(findings: Path) -> dict[str, str]:
    """The heaviest severity of the findings of each rule."""
    table = import_module("pyarrow.parquet").read_table(findings, columns=["rule", "severity"], partitioning=None)
    found: dict[str, str] = {}
    for row in table.group_by(["rule", "severity"]).aggregate([]).to_pylist():
        earlier = found.get(row["rule"], SEVERITIES[-1])
        found[row["rule"]] = min(earlier, row["severity"], key=SEVERITIES.index)
    return dict(sorted(found.items()))


def reason_of(folder: Path) -> str | None:
    """Why nothing could be read: what the first file says that could not, or robots.txt."""
    for table in ("sitemap", "robots"):
        path = folder / f"{table}.parquet"
        errors = import_module("pyarrow.parquet").read_table(path, columns=["error"], partitioning=None)
        for error in errors.column("error").drop_null().to_pylist():
            return inert(error, MAX_REASON)
    return None


def ended(code: int) -> str:
    """How a process ended, in words."""
    return (
        f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with code {code}"
    )


def last_error(folder: Path) -> str:
    """The last line of a log that says what is wrong; empty where none does."""
    try:
        lines = tail(folder / LOG).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    begins = [number for number, line in enumerate(lines) if "ERROR: " in line]
    if not begins:
        return ""
    told, *rest = lines[begins[-1] :]
    trace = [line for line in rest if line and not line[0].isspace() and not line[0].isdigit()]
    # A traceback ends with what was raised, where the line before it says only that something was.
    said = trace[-1] if any(line.startswith("Traceback") for line in rest) else told.partition("ERROR: ")[2]
    return f": {inert(said, MAX_REASON)}"


def tail(log: Path) -> bytes:
    """The end of a log."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_BYTES))
        return file.read()


def publish(
    output: Output, domain: Domain, folder: Path, record: DomainRecord, began: float, check: Check = lambda: None
) -> None:
    """Put the tables of a domain into their places, then its row, and `check` before each. OutputFailed."""
    if record.state != FINISHED:
        keep_log(output, domain, folder)
    for table in TABLES:
        check()
        output.publish(folder / f"{table}.parquet", place(table, domain))
    record.wall_s = round(time.monotonic() - began, 3)
    row = folder / f"{DOMAIN}.parquet"
    with telling(f"{domain.name}: its row cannot be written"):
        write_row(row, record)
    check()
    output.publish(row, place(DOMAIN, domain))


def keep_log(output: Output, domain: Domain, folder: Path) -> None:
    """Keep the end of a crawl's log, where that can be done."""
    with suppress(OSError):
        output.write_bytes(f"{LOGS}/{domain.file}.txt", tail(folder / LOG))


def place(table: str, domain: Domain) -> str:
    """Name of a domain's file in a table."""
    return f"{table}/bucket={domain.bucket}/{domain.file}.parquet"


def write_row(path: Path, record: DomainRecord) -> None:
    """A Parquet file with one row."""
    from sitemapcrawler.feeds.arrow import Columns  # pyarrow may not be there where others import this

    import_module("pyarrow.parquet").write_table(Columns(DomainRecord).table([record]), path, **WRITING)
