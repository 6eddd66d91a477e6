"""Results in a bucket of a real server of S3, whole or not at all, whatever breaks on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from sitemapcrawler.fleet import output
from sitemapcrawler.fleet.output import Output, OutputFailed, output_at
from tests.unit.fleet.object_servers import (
    BUCKET,
    PAGE,
    S3_ENVIRONMENT,
    Fault,
    Proxy,
    check_that_files_come,
    environment,
    proxy,
    s3_server,
)  # fmt: skip

NAME = "url/bucket=7/example.com-0.parquet"
PART = 5 * 2**20
"""Bytes of a part, the least that S3 takes."""


@pytest.fixture(scope="module")
def server() -> Iterator[Proxy]:
    with s3_server() as url, proxy(url) as state, environment(S3_ENVIRONMENT | {"AWS_ENDPOINT_URL": state.url}):
        yield state


@pytest.fixture
def s3(server: Proxy, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 2)
    monkeypatch.setattr(output, "PART_BYTES", PART)
    server.faults.clear()
    server.requests.clear()
    return server


@pytest.fixture
def out(s3: Proxy, request: pytest.FixtureRequest) -> Output:
    return output_at(f"s3://{BUCKET}/{request.node.name}/")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file of three parts."""
    path = tmp_path / "part"
    path.write_bytes(os.urandom(2 * PART + 1))
    return path


def one_line(error: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(error, match=r"\A[^\n]*\Z") as caught:
        call()
    return str(caught.value)


def uploads(out: Output) -> list[str]:
    """Keys of the uploads in the bucket that were not completed."""
    page = out.fs.call_s3("list_multipart_uploads", Bucket=BUCKET)
    return [upload["Key"] for upload in page.get("Uploads", [])]


def test_files_come_and_go(out: Output) -> None:
    assert out.url.endswith("/test_files_come_and_go")
    check_that_files_come(out, NAME)


def test_large_file_goes_up_in_parts(out: Output, s3: Proxy, large: Path) -> None:
    out.publish(large, NAME)
    assert out.read_bytes(NAME) == large.read_bytes()
    assert [s3.asked("PUT", f"partNumber={number}&") for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
    assert uploads(out) == []


@pytest.mark.parametrize("status", [500, None], ids=["error", "reset"])
def test_large_upload_that_breaks_leaves_what_was_there(
    out: Output, s3: Proxy, large: Path, status: int | None
) -> None:
    out.write_bytes(NAME, b"first")
    s3.faults.append(Fault("PUT", "partNumber=2&", status))
    told = one_line(OutputFailed, lambda: out.publish(large, NAME))
    assert told.startswith(f"{out.url}/{NAME} cannot be written: ")
    assert s3.asked("PUT", "partNumber=1&") == 1
    assert out.read_bytes(NAME) == b"first"
    assert uploads(out) == []
    s3.faults.clear()
    out.publish(large, NAME)
    assert out.read_bytes(NAME) == large.read_bytes()


@pytest.mark.parametrize("status", [500, None], ids=["error", "reset"])
def test_small_upload_that_breaks_leaves_nothing(out: Output, s3: Proxy, tmp_path: Path, status: int | None) -> None:
    part = tmp_path / "part"
    part.write_bytes(bytes(100_000))
    s3.faults.append(Fault("PUT", "example.com", status))
    for call in (lambda: out.publish(part, NAME), lambda: out.write_bytes(NAME, b"1")):
        assert one_line(OutputFailed, call).startswith(f"{out.url}/{NAME} cannot be written: ")
    assert list(out.partitions("url")) == []
    assert out.read_bytes(NAME) is None


def test_connection_that_breaks_once_is_made_again(out: Output, s3: Proxy, large: Path) -> None:
    s3.faults += [Fault("PUT", "partNumber=2&", None, times=1), Fault("GET", "list-type=2", None, times=1)]
    out.publish(large, NAME)
    assert out.read_bytes(NAME) == large.read_bytes()
    assert list(out.partitions("url")) == [[NAME]]
    assert [fault.times for fault in s3.faults] == [0, 0]


def test_partitions_of_many_pages(out: Output, s3: Proxy) -> None:
    names = [f"url/bucket={number % 2}/{number:02}.parquet" for number in range(4 * PAGE)]
    root = out.url.removeprefix("s3://")
    out.fs.pipe({f"{root}/{name}": b"" for name in (*names, "url/_x", "url/.x", "_state/x", "url/bucket=0/_y")})
    s3.requests.clear()
    assert list(out.partitions("url")) == [names[::2], names[1::2]]
    assert s3.asked("GET", "continuation-token") >= 2
    assert not s3.asked("GET", "_state")
    assert list(out.partitions("none")) == []
    s3.faults.append(Fault("GET", "continuation-token"))
    told = one_line(OutputFailed, lambda: list(out.partitions("url")))
    assert told.startswith(f"{out.url}/url cannot be listed: ")


def test_file_that_another_process_has_written_is_seen(out: Output) -> None:
    assert list(out.partitions("url")) == []
    output_at(out.url).write_bytes(NAME, b"1")
    assert list(out.partitions("url")) == [[NAME]]


def test_bucket_that_cannot_be_written_to(s3: Proxy, out: Output) -> None:
    assert one_line(ValueError, output_at("s3://no-bucket/out").check) == (
        "s3://no-bucket/out/_probe cannot be written: The specified bucket does not exist"
    )
    s3.faults.append(Fault("PUT", "_probe", 500))
    assert one_line(ValueError, out.check) == f"{out.url}/_probe cannot be written: It broke on the way"


@pytest.mark.slow
def test_readers_take_the_data_set_as_it_is(out: Output, tmp_path: Path) -> None:
    for bucket in (0, 7):
        rows = {"domain": ["a.example"] * 3, "loc": [f"https://a.example/{bucket}/{row}" for row in range(3)]}
        pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "part")
        out.publish(tmp_path / "part", f"url/bucket={bucket}/a.example-0.parquet")
    fs, root = out.fs, out.url.removeprefix("s3://")
    with duckdb.connect() as connection:
        connection.register_filesystem(fs)
        rows = connection.sql(
            f"SELECT bucket, count(*) FROM read_parquet('s3://{root}/url/*/*.parquet', hive_partitioning = true) "
            "GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    assert rows == [(0, 3), (7, 3)]
    table = pyarrow.dataset.dataset(f"{root}/url", filesystem=fs, format="parquet", partitioning="hive").to_table()
    assert sorted(table["bucket"].to_pylist()) == [0, 0, 0, 7, 7, 7]
