"""History of a job: one line per finished run, in a file next to the database.

The file outlives the database, which `fresh=yes` discards. It is replaced atomically, so that a kill leaves the old or
the new one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from sitemapcrawler.download.shared import FINISHED
from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.jobs.store.files import NEW, JobTable
from sitemapcrawler.report.model import Run

HISTORY = "history.jsonl"
"""Name of the file in a job's folder."""
MAX_RUNS = 100
"""Maximum number of runs in the file, the newest ones."""
MAX_BYTES = 4_000_000
"""Maximum size of the file in bytes; what stands beyond is ignored. A line has some hundred bytes."""

_line = msgspec.json.Encoder().encode
_run = msgspec.json.Decoder(Run).decode


def read(folder: Path) -> list[Run]:
    """Runs of a job, the oldest first. Ignores damaged lines, and a file that is missing or cannot be read."""
    try:
        with (folder / HISTORY).open("rb") as file:
            lines = file.read(MAX_BYTES).splitlines()
    except OSError:
        return []
    runs = []
    for line in lines:
        with suppress(msgspec.DecodeError, RecursionError):
            runs.append(_run(line))
    return merged(runs)


def write(folder: Path, runs: Iterable[Run]) -> None:
    """Replace the history of a job. Raises OSError."""
    text = b"".join(_line(run) + b"\n" for run in merged(runs))
    part = folder / f".{HISTORY}{NEW}"  # one process at a time uses a job
    try:
        with part.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / HISTORY)
    finally:
        part.unlink(missing_ok=True)


def merged(*histories: Iterable[Run]) -> list[Run]:
    """The last `MAX_RUNS` runs of several histories, the oldest first. Of two with the same start, the later one
    counts."""
    runs = {run.started: run for history in histories for run in history}
    return [runs[started] for started in sorted(runs)][-MAX_RUNS:]


def has(runs: Iterable[Run], summary: SummaryRecord) -> bool:
    """True if the run of a summary is among `runs`."""
    return any(run.started == summary.started for run in runs)


def run_of(summary: SummaryRecord, arguments: Mapping[str, str]) -> Run:
    """The run that a summary describes. `arguments`: those that decide what it found."""
    share = summary.not_indexable
    unknown = 0 if share is None or not share.checked else round(share.population * share.unknown / share.checked)
    return Run(
        started=summary.started,
        found=summary.severity_reach,
        urls=summary.urls,
        indexable=None if share is None else max(0, round(share.population * (1 - share.share)) - unknown),
        checkable=None if share is None else share.population,
        unknown=unknown,
        sampled=share is not None and share.checked < share.population,
        partial=summary.partial,
        arguments=dict(arguments),
    )


def run_of_job(job: JobTable, free: Iterable[str]) -> list[Run]:
    """The run of a finished job, from its table `job`; empty if it is not finished, or its summary cannot be read.
    `free`: arguments that do not decide what it found."""
    if job.get("state") != FINISHED:
        return []
    try:
        summary = msgspec.convert(job.get("summary"), SummaryRecord)
        arguments = msgspec.convert(job.get("arguments"), dict[str, str])
    except msgspec.ValidationError:
        return []
    return [run_of(summary, {name: text for name, text in arguments.items() if name not in set(free)})]
