"""A fleet's command around its crawls: whose data set it is, its summary, what cannot be written."""

from __future__ import annotations

import errno
import json
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitemapcrawler.fleet.control import driver
from sitemapcrawler.fleet.control.driver import FleetStop
from sitemapcrawler.fleet.domains import TABLES, DomainRecord, domain
from sitemapcrawler.fleet.output.destination import Output, OutputFailed
from sitemapcrawler.fleet.running import CLAIM, claim, sum_up
from sitemapcrawler.fleet.worker import task
from sitemapcrawler.items import SCHEMA_VERSION

FLEET: Any = SimpleNamespace(counts=SimpleNamespace(failed=[]))


@pytest.fixture
def out(tmp_path: Path) -> Output:
    return Output(str(tmp_path / "out"))


def test_a_data_set_is_for_the_arguments_it_was_made_with(out: Output) -> None:
    claim(out, {"verify": "head", "max_time": "60"})
    claim(out, {"verify": "head", "max_time": "90"})
    with pytest.raises(ValueError, match="with verify=head, and this would be with no arguments; accepted: the same"):
        claim(out, {})


@pytest.mark.parametrize(("stated", "told"), [({}, "6 or earlier"), ({"schema_version": 999}, "999")])
def test_a_data_set_with_other_columns_is_refused(out: Output, stated: dict[str, int], told: str) -> None:
    out.write_bytes(CLAIM, json.dumps({"arguments": {}, **stated}).encode())
    with pytest.raises(
        ValueError, match=rf"\A[^\n]*are of version {told}, and this is version {SCHEMA_VERSION}; [^\n]*\Z"
    ):
        claim(out, {})


def test_a_folder_with_the_report_of_a_crawl_is_refused(out: Output) -> None:
    out.write_bytes("report.html", b"of a crawl")
    with pytest.raises(ValueError, match=r"\A[^\n]*has a report.html that is no fleet's; accepted: another place\Z"):
        claim(out, {})
    assert out.read_bytes(CLAIM) is None


@pytest.mark.parametrize("held", [b"", b"{", b"[]", b"{}", b'{"arguments": [1]}', b'{"arguments": null}', b"\xff"])
def test_a_claim_that_is_none_is_refused(out: Output, held: bytes) -> None:
    out.write_bytes(CLAIM, held)
    with pytest.raises(ValueError, match=r"\A[^\n]*cannot be read; accepted: another place\Z"):
        claim(out, {})


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
    assert list(out.names("domain")) == []


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
