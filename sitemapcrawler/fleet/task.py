"""Crawls one domain: runs its crawl in a process of its own, and publishes the results."""

from __future__ import annotations

import platform
import signal
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from pathlib import Path

from sitemapcrawler.feeds.scratch import scratch
from sitemapcrawler.fleet.crawling import LOG, CrawlJob, crawl, summary
from sitemapcrawler.fleet.domains import DOMAIN, FINISHED, PARTIAL, TABLES, UNREAD, WRITING, Domain, DomainRecord
from sitemapcrawler.fleet.output import MAX_REASON, Output, OutputFailed, failing_as, output_at
from sitemapcrawler.items import PROXY
from sitemapcrawler.processes import RAISED, running
from sitemapcrawler.replies.indexability import why_unread
from sitemapcrawler.spiders.running import FEED_LOST, NOTHING_READ, STOPPED
from sitemapcrawler.urls.display import inert

PRELOAD = "sitemapcrawler.fleet.preload"
GRACE_S = 300.0
"""Seconds by which a crawl may exceed `max_time`, for the files of a site of millions of URLs."""
LONGEST_S = 2_000_000
"""Seconds that the crawl of a domain is waited for: poll(2) takes 2^31 ms."""
KILL_S = 30.0
"""Seconds from SIGTERM to SIGKILL."""
MAX_TIME = "max_time"
"""Reason of the end of a crawl that exceeded its time."""


class DomainFailed(Exception):
    """A domain has no result. The reason is one line; the error can be pickled."""

    def __init__(self, reason: str, common: bool = False, again: bool = True) -> None:
        """`common`: True if other domains will probably fail too, since the output cannot be written, or a setting, a
        package or our code is at fault, not the site; `again`: True if another attempt may succeed."""
        super().__init__(reason, common, again)
        self.reason, self.common, self.again = reason, common, again

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """Parameters of all crawls of a fleet."""

    output: str
    """URL of the data set's folder."""
    arguments: dict[str, str]
    """Arguments of the spider, except `domain`."""
    settings: dict[str, tuple[object, int]] = field(repr=False)
    """{name: (value, priority)} of settings."""
    max_time: float
    """Time limit per crawl in seconds."""
    retries: int
    """Further attempts after the first."""
    path: tuple[str, ...] = ()
    """`sys.path` of the command."""
    sockets: str | None = None
    """Folder for sockets of a local cluster, which removes it; None: `sockets` of each worker."""


def crawl_domain(domain: Domain, plan: FleetPlan, attempt: int) -> DomainRecord:
    """Crawl a domain and publish its results, with its own row last; the body of a Ray task. `attempt`: from 1.

    Raises DomainFailed or OutputFailed if there is no result; the domain then has no row.
    """
    began = time.monotonic()
    output = output_at(plan.output)
    with output.scratch() as folder:
        job = CrawlJob(domain.name, plan.arguments, plan.settings, str(folder), plan.path)
        try:
            code, is_late = _crawl(job, plan)
            record = record_of(domain, folder, code, attempt)
        except (DomainFailed, OutputFailed):
            keep_log(output, domain, folder)
            raise
        record.partial = MAX_TIME if is_late and record.partial else record.partial
        publish(output, domain, folder, record, began)
        return record


def _crawl(job: CrawlJob, plan: FleetPlan) -> tuple[int, bool]:
    """Run the crawl in its own process, and return its exit code, and whether it exceeded its time and was stopped for
    that: one that starts late, or is too busy to stop in time, notices only the signal."""
    most = min(plan.max_time + GRACE_S, LONGEST_S)
    try:
        with running(crawl, job, preload=PRELOAD, folder=plan.sockets or sockets()) as process:
            process.join(most)  # from here on: the first process of a worker waits for PRELOAD
            if is_late := process.exitcode is None:
                process.terminate()
                process.join(KILL_S)
            if process.exitcode is None:
                raise DomainFailed(f"the crawl did not end within {most + KILL_S:.0f} s, and was killed", again=False)
            return process.exitcode, is_late
    except (OSError, EOFError) as error:
        raise DomainFailed(f"no process could be started: {error}") from None


_kept = ExitStack()


@cache
def sockets() -> str:
    """Folder for the socket of this worker's server. Ray kills workers, so that the next worker of this machine removes
    it. Its path is short, as unix(7) demands."""
    return str(_kept.enter_context(scratch(Path("/tmp"))))


LOGS = "_logs"
"""Folder for the logs of incomplete crawls."""
LOG_BYTES = 1024 * 1024
"""Number of bytes kept from the end of a log."""


def record_of(domain: Domain, folder: Path, code: int, tries: int) -> DomainRecord:
    """Build a domain's row from the files of its crawl. Raises DomainFailed if there is no result, OutputFailed if the
    files could not be written."""
    states = {0: FINISHED, STOPPED: PARTIAL, NOTHING_READ: UNREAD}
    if code == FEED_LOST:
        raise OutputFailed(f"its files could not be written{last_error(folder)}")
    if code == RAISED:
        raise DomainFailed(f"its crawl could not run{last_error(folder)}", common=True)
    if code not in states:
        raise DomainFailed(f"{exit_reason(code)}{last_error(folder)}")
    try:
        found = summary(folder)
        size = sum((folder / f"{table}.parquet").stat().st_size for table in TABLES)
    except (OSError, ValueError) as error:
        raise DomainFailed(f"its files are not whole: {error}") from None
    names = {one.name for one in fields(DomainRecord)} & {one.name for one in fields(found)} - {"bad", "not_indexable"}
    record = DomainRecord(**{name: getattr(found, name) for name in names})
    state = PARTIAL if record.partial and code == 0 else states[code]
    if record.partial == PROXY and not record.urls:
        state = UNREAD  # `--again unread` repeats it when the proxy works
    record.domain, record.state, record.attempts, record.bytes = domain.name, state, tries, size
    record.node, record.findings = platform.node(), sum(record.severities.values())
    if found.bad is not None:
        record.bad, record.checked = found.bad.bad, found.bad.checked
    if found.not_indexable is not None:
        record.not_indexable, record.indexability_checked = found.not_indexable.bad, found.not_indexable.checked
    record.error = reason_of(folder) if state == UNREAD else None
    return record


def reason_of(folder: Path) -> str | None:
    """Why nothing could be read; None if the site just has no sitemap."""
    read = import_module("pyarrow.parquet").read_table
    tables = (
        read(folder / f"{name}.parquet", columns=["status", "error"], partitioning=None)
        for name in ("sitemap", "robots")
    )
    answers = [[(row["status"], row["error"]) for row in table.to_pylist()] for table in tables]
    return inert(why_unread(*answers), MAX_REASON) or None


def exit_reason(code: int) -> str:
    """Exit code in words."""
    return (
        f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with code {code}"
    )


def last_error(folder: Path) -> str:
    """Last error of the log after a colon; empty if there is none."""
    try:
        lines = tail(folder / LOG).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    begins = [number for number, line in enumerate(lines) if "ERROR: " in line]
    if not begins:
        return ""
    first, *rest = lines[begins[-1] :]
    trace = [line for line in rest if line and not line[0].isspace() and not line[0].isdigit()]
    # The last line of a traceback names the exception.
    error = trace[-1] if any(line.startswith("Traceback") for line in rest) else first.partition("ERROR: ")[2]
    return f": {inert(error, MAX_REASON)}"


def tail(log: Path) -> bytes:
    """Last `LOG_BYTES` bytes of a log."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_BYTES))
        return file.read()


def publish(output: Output, domain: Domain, folder: Path, record: DomainRecord, began: float) -> None:
    """Publish a domain's tables, then its row; one of an earlier crawl is removed first. Raises OutputFailed."""
    if record.state != FINISHED:
        keep_log(output, domain, folder)
    output.remove(file_name(DOMAIN, domain))
    for table in TABLES:
        output.publish(folder / f"{table}.parquet", file_name(table, domain))
    record.wall_s = round(time.monotonic() - began, 3)
    row = folder / f"{DOMAIN}.parquet"
    with failing_as(f"{domain.name}: its row cannot be written"):
        write_row(row, record)
    output.publish(row, file_name(DOMAIN, domain))


def keep_log(output: Output, domain: Domain, folder: Path) -> None:
    """Keep the end of a crawl's log. Ignores errors."""
    with suppress(OSError):
        output.write_bytes(f"{LOGS}/{domain.file}.txt", tail(folder / LOG))


def file_name(table: str, domain: Domain) -> str:
    """Path of a domain's file in a table, relative to the data set."""
    return f"{table}/bucket={domain.bucket}/{domain.file}.parquet"


def write_row(path: Path, record: DomainRecord) -> None:
    from sitemapcrawler.feeds.arrow import Columns, writer  # imports pyarrow

    table = Columns(DomainRecord).table([record])
    facts = {"site": record.domain, "started": record.started or ""}
    with writer(path, table.schema, facts, **WRITING) as file:
        file.write_table(table)
