"""Runs the requests of a job with our download handlers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.crawl import forks
from tests.crawl.forks import environment

JOB_TIME = 60  # seconds; a crawl that takes longer hangs


class Outcome(dict[str, dict[str, Any]]):
    """{name of a request: its result}, as `download_job` writes it."""

    stats: dict[str, Any]
    """Stats of the crawl."""
    beside: list[dict[str, dict[str, Any]]]
    """Results of other crawls in the same process."""


def run(folder: Path, **job: Any) -> Outcome:
    """Make the requests of a job, as `download_job` describes it, in a process of its own."""
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    done = forks.run(
        [sys.executable, "-m", "tests.crawl.download_job", str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=JOB_TIME,
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(path.with_suffix(".out").read_text())
    outcome = Outcome(written["results"])
    outcome.stats, outcome.beside = written["stats"], written["beside"]
    assert set(outcome) >= set(job["requests"]), done.stderr
    assert "Unhandled" not in done.stderr
    assert "Traceback" not in done.stderr
    return outcome
