"""The history of a job: one line per finished run, bounded, replaced as a whole, and read whatever stands in it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from sitemapcrawler.download.shared import FINISHED
from sitemapcrawler.items import Reach, Share, SummaryRecord
from sitemapcrawler.jobs import history
from sitemapcrawler.jobs.history import HISTORY, MAX_RUNS, merged, read, run_of, run_of_job, write
from sitemapcrawler.report.model import Run

REACH = {"error": Reach("error", 3, None, 1)}


def run(day: int, **fields: object) -> Run:
    return Run(f"2026-11-{day:02}T03:00:00Z", **{"urls": day, **fields})  # type: ignore[arg-type]  # fields differ in type


def test_what_is_written_is_read(tmp_path: Path) -> None:
    runs = [run(1, indexable=9, checkable=10, arguments={"domain": "example.com"}), run(2, partial="max_time")]
    write(tmp_path, runs)
    assert read(tmp_path) == runs
    assert [path.name for path in tmp_path.iterdir()] == [HISTORY]


def test_missing_file_is_an_empty_history(tmp_path: Path) -> None:
    assert read(tmp_path) == read(tmp_path / "missing") == []


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b'{"errors": 1}', b'{"started": 7}', b"\xff\xfe", b"[" * 5000, b'{"started":"x","urls":"1"}'],
)
def test_damaged_lines_are_left_out(tmp_path: Path, line: bytes) -> None:
    write(tmp_path, [run(1), run(2)])
    first, second = (tmp_path / HISTORY).read_bytes().splitlines()
    (tmp_path / HISTORY).write_bytes(b"\n".join([first, line, second]))
    assert read(tmp_path) == [run(1), run(2)]


def test_only_the_last_runs_are_kept_in_order(tmp_path: Path) -> None:
    runs = [Run(f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z") for number in range(MAX_RUNS + 5)]
    write(tmp_path, reversed(runs))
    assert read(tmp_path) == runs[-MAX_RUNS:]


def test_a_run_of_two_histories_counts_once_and_the_later_one_is_right() -> None:
    assert merged([run(1), run(3)], [run(2)], [run(3, urls=0)]) == [run(1), run(2), run(3, urls=0)]


def test_failed_write_leaves_the_history_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, [run(1)])

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, [run(1), run(2)])
    assert read(tmp_path) == [run(1)]
    assert [path.name for path in tmp_path.iterdir()] == [HISTORY]


def test_huge_file_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, [run(1), run(2)])
    monkeypatch.setattr(history, "MAX_BYTES", (tmp_path / HISTORY).stat().st_size - 5)
    assert read(tmp_path) == [run(1)]


@pytest.mark.parametrize(
    ("share", "indexable", "not_indexable", "unknown", "sampled"),
    [
        (None, None, None, 0, False),
        (Share(100, 100, 7, 0.07, 0.07, 0.07), 93, 7, 0, False),
        (Share(1000, 100, 7, 0.07, 0.03, 0.14), 930, 70, 0, True),
        (Share(100, 100, 7, 0.07, 0.07, 0.07, 30), 63, 7, 30, False),
        (Share(1000, 100, 7, 0.07, 0.03, 0.14, 93), 0, 70, 930, True),
    ],
    ids=["not verified", "all", "sample", "all, some of them unknown", "sample, the others unknown"],
)
def test_run_of_a_summary(
    share: Share | None, indexable: int | None, not_indexable: int | None, unknown: int, sampled: bool
) -> None:
    summary = SummaryRecord(started="2026-11-01T03:00:00Z", urls=120, severity_reach=REACH, not_indexable=share)
    made = run_of(summary, {"domain": "example.com"})
    assert (made.started, made.found, made.urls) == ("2026-11-01T03:00:00Z", REACH, 120)
    assert made.reach("error") == REACH["error"] and made.reach("warning") == Reach("warning")
    assert (made.indexable, made.not_indexable, made.unknown, made.sampled) == (
        indexable,
        not_indexable,
        unknown,
        sampled,
    )
    assert made.checkable == (share.population if share else None)
    assert made.arguments == {"domain": "example.com"}


def test_run_of_a_finished_job_is_known_from_its_database() -> None:
    summary = {"started": "2026-11-01T03:00:00Z", "urls": 4, "severity_reach": msgspec.to_builtins(REACH)}
    job = {"state": FINISHED, "summary": summary, "arguments": {"domain": "example.com", "baseline": "old"}}
    [made] = run_of_job(job, {"baseline"})
    assert (made.found, made.urls, made.arguments) == (REACH, 4, {"domain": "example.com"})
    assert run_of_job({**job, "state": "running"}, ()) == []
    assert run_of_job({**job, "summary": {"urls": "many"}}, ()) == []
    assert run_of_job({**job, "arguments": None}, ()) == []
