"""A fleet's command around its crawls: whose data set it is, its summary, what cannot be written."""

from __future__ import annotations

import errno
import logging
import signal
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
from scrapy.settings import Settings

from sitemapcrawler.fleet import driver, task
from sitemapcrawler.fleet import launching as fleet
from sitemapcrawler.fleet.cluster import ClusterFailed
from sitemapcrawler.fleet.domains import DOMAIN, TABLES, Domain, DomainList, DomainRecord, domain
from sitemapcrawler.fleet.driver import FleetStop
from sitemapcrawler.fleet.launching import CLAIM, claim, sum_up
from sitemapcrawler.fleet.output import Output, OutputFailed, output_at
from sitemapcrawler.fleet.task import DomainFailed, file_name
from sitemapcrawler.items import SCHEMA_VERSION
from sitemapcrawler.spiders.running import STOPPED

FLEET: Any = SimpleNamespace(counts=SimpleNamespace(failed=[]))


def options(out: Path, one: Domain) -> Namespace:
    """Options of the command for a fleet of one domain."""
    return Namespace(out=str(out), arguments={}, listed=DomainList([one]), max_time=60.0, retries=0, again=None,
        address=None, workers=1, cpus=1.0, per_address=1)  # fmt: skip


@pytest.fixture
def out(tmp_path: Path) -> Output:
    return output_at(str(tmp_path / "out"))


def test_a_data_set_is_for_the_arguments_it_was_made_with(out: Output) -> None:
    claim(out, {"verify": "head", "max_time": "60"})
    claim(out, {"verify": "head", "max_time": "90"})
    with pytest.raises(ValueError, match="with verify=head, and this would be with no arguments; accepted: the same"):
        claim(out, {})


UNREADABLE = (b"", b"{", b"[]", b"{}", b'{"arguments": [1]}', b'{"arguments": null}', b"\xff")


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (b'{"arguments": {}}', f"are of version 6 or earlier, and this is version {SCHEMA_VERSION}; [^\n]*"),
        (
            b'{"arguments": {}, "schema_version": 999}',
            f"are of version 999, and this is version {SCHEMA_VERSION}; [^\n]*",
        ),
        *((text, "cannot be read; accepted: another place") for text in UNREADABLE),
    ],
)
def test_a_data_set_with_other_columns_or_an_unreadable_claim_is_refused(out: Output, held: bytes, told: str) -> None:
    out.write_bytes(CLAIM, held)
    with pytest.raises(ValueError, match=rf"\A[^\n]*{told}\Z"):
        claim(out, {})


def test_a_folder_with_the_report_of_a_crawl_is_refused(out: Output) -> None:
    out.write_bytes("report.html", b"of a crawl")
    with pytest.raises(ValueError, match=r"\A[^\n]*has a report.html that no fleet wrote; accepted: another place\Z"):
        claim(out, {})
    assert out.read_bytes(CLAIM) is None


def test_a_broken_file_of_the_data_set_is_named(out: Output) -> None:
    out.write_bytes("domain/bucket=0/broken.parquet", b"junk")
    with pytest.raises(OutputFailed, match=r"\A[^\n]*out/domain/bucket=0/broken.parquet[^\n]*\Z"):
        sum_up(out, FLEET, judged=True)


def test_a_row_that_the_disk_has_no_room_for_is_the_output_s_fault(
    out: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, record: DomainRecord) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(task, "write_row", full)
    for table in TABLES:
        (tmp_path / f"{table}.parquet").touch()
    with pytest.raises(OutputFailed, match=r"example.com: its row cannot be written: No space left on device"):
        task.publish(out, domain("example.com"), tmp_path, DomainRecord("example.com"), 0.0)
    assert list(out.partitions("domain")) == []


@pytest.mark.parametrize(("number", "now"), [(signal.SIGINT, False), (signal.SIGTERM, True), (signal.SIGHUP, True)])
def test_signals_are_heard_and_a_terminal_that_goes_is_one(number: signal.Signals, now: bool) -> None:
    inherited, stop = signal.signal(number, signal.SIG_DFL), FleetStop()  # under nohup, SIGHUP is ignored
    try:
        with stop.handling_signals():
            signal.raise_signal(number)
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, inherited)
    assert (stop.begun, stop.now) == (True, now)


class DyingCluster:
    """A local cluster whose processes get the same SIGTERM as the command, at the first call of the method `at`."""

    room = 2

    def __init__(self, at: str) -> None:
        self._at = at

    def __enter__(self) -> Self:
        self._die("start")
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start(self, domain: Domain, plan: object, attempt: int) -> object:
        return domain

    def wait(self, running: list[object], seconds: float) -> list[object]:
        self._die("wait")
        if self._at == "result":
            signal.raise_signal(signal.SIGTERM)
        return running

    def result(self, reference: object) -> DomainFailed:
        return DomainFailed("its worker died", common=False, again=True)

    def _die(self, at: str) -> None:
        if at == self._at:
            signal.raise_signal(signal.SIGTERM)
            raise ClusterFailed("the cluster is gone")


@pytest.mark.parametrize(("at", "lines"), [("start", 3), ("wait", 4), ("result", 4)])
def test_a_signal_that_ends_the_cluster_too_is_a_stop_and_no_failure(
    at: str, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fleet, "RayCluster", lambda *_: DyingCluster(at))
    with caplog.at_level(logging.INFO):
        assert fleet.run(Settings(), {}, options(tmp_path / "out", domain("127.0.0.1"))) == STOPPED
    assert [record.getMessage() for record in caplog.records][-1] == (
        "stopped before the end; run the same command to resume"
    )
    assert len(caplog.records) == lines
    assert not (tmp_path / "out/report.html").exists()


def test_fleet_of_which_all_is_done_needs_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = domain("127.0.0.1")
    monkeypatch.setattr(driver, "finished", lambda output: {file_name(DOMAIN, one)})
    monkeypatch.setattr(fleet, "sum_up", lambda output, found, judged: found.counts.earlier)
    monkeypatch.delattr(fleet, "RayCluster")
    assert fleet.run(Settings(), {}, options(tmp_path / "out", one)) == 0


def test_results_that_other_machines_keep_to_themselves_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = domain("127.0.0.1")
    monkeypatch.setattr(driver, "finished", lambda output: {file_name(DOMAIN, one)})
    with pytest.raises(OutputFailed, match=r"out lacks the results of 1 domain: name a place that all machines "):
        fleet.run(Settings(), {}, options(tmp_path / "out", one))


def test_second_ctrl_c_may_come_as_soon_as_the_first_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = FleetStop()
    monkeypatch.setattr(driver.logger, "info", lambda _: signal.raise_signal(signal.SIGINT))
    with stop.handling_signals():
        signal.raise_signal(signal.SIGINT)
    assert stop.now


def test_fleet_that_is_to_outlive_its_terminal_does() -> None:
    before, stop = signal.signal(signal.SIGHUP, signal.SIG_IGN), FleetStop()
    try:
        with stop.handling_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not stop.begun
