"""Results in a bucket of a server that stands in for Google Cloud Storage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemapcrawler.fleet import output
from sitemapcrawler.fleet.output import Output, OutputFailed, output_at
from tests.unit.fleet.object_servers import (
    BUCKET,
    Fault,
    Proxy,
    check_that_files_come,
    environment,
    gcs_server,
    proxy,
)  # fmt: skip

NAME = "url/bucket=7/example.com-0.parquet"
PART = 2**20


@pytest.fixture(scope="module")
def server() -> Iterator[Proxy]:
    values = {"NO_GCE_CHECK": "true"}
    with gcs_server() as url, proxy(url) as state, environment(values | {"STORAGE_EMULATOR_HOST": state.url}):
        yield state


@pytest.fixture
def out(server: Proxy, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Output:
    monkeypatch.setattr(output, "PART_BYTES", PART)
    server.faults.clear()
    server.requests.clear()
    return output_at(f"gs://{BUCKET}/{request.node.name}/")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file of six parts."""
    path = tmp_path / "part"
    path.write_bytes(os.urandom(5 * PART + 1))
    return path


def test_files_come_and_go(out: Output) -> None:
    check_that_files_come(out, NAME)


def test_large_file_goes_up_in_parts(out: Output, server: Proxy, large: Path) -> None:
    out.publish(large, NAME)
    assert out.read_bytes(NAME) == large.read_bytes()
    assert server.asked("POST", "upload_id") == 6


def test_upload_that_breaks_leaves_what_was_there(
    out: Output, server: Proxy, large: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out.write_bytes(NAME, b"first")
    server.faults += [Fault("POST", "upload_id", 403), Fault("DELETE", "upload_id", 499)]
    with pytest.raises(OutputFailed, match=rf"\A{out.url}/{NAME} cannot be written: [^\n]*\Z"):
        out.publish(large, NAME)
    assert out.read_bytes(NAME) == b"first"
    assert server.asked("DELETE", "upload_id") == 1
    assert capfd.readouterr().err == ""


def test_bucket_that_is_not_there(out: Output) -> None:
    with pytest.raises(ValueError, match=r"\Ags://no-bucket/out/_probe cannot be written: [^\n]* not found\Z"):
        output_at("gs://no-bucket/out").check()
