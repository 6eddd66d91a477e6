"""A folder that a fleet writes to: every file there is whole, and what killed runs have left goes away."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.fleet import output
from sitemapcrawler.fleet.output import Folder, Output, OutputFailed, output_at, reason
from tests.unit.fleet.object_servers import check_that_files_come

ROOT = Path(__file__).parents[3]
NAME = "url/bucket=7/example.com-0.parquet"


@pytest.fixture
def out(tmp_path: Path) -> Output:
    return output_at(str(tmp_path / "out"))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        call()
    return str(caught.value)


def failure(call: Callable[[], object]) -> str:
    with pytest.raises(OutputFailed, match=r"\A[^\n]*\Z") as caught:
        call()
    return str(caught.value)


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that says something when it is ready, and then waits."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys\nfrom sitemapcrawler.fleet.output import Output, output_at\n{code}",
            *arguments,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_files_come(out: Output, tmp_path: Path) -> None:
    check_that_files_come(out, NAME)
    assert sorted(files(tmp_path / "out")) == sorted(["_lock", "_state.json", NAME])


def test_nothing_is_below_a_small_file(out: Output) -> None:
    out.write_bytes("_state.json", b"1")
    assert out.read_bytes("_state.json/below") is None


def test_partitions_have_the_files_of_results(out: Output) -> None:
    shown = ["url/bucket=0/a.parquet", "url/bucket=0/b.parquet", "url/bucket=12/c.parquet"]
    for name in (*shown, "url/_x", "url/.x", "url/bucket=0/_x.parquet", "url/bucket=0/.x.parquet", "url/_tmp/x"):
        out.write_bytes(name, b"")
    assert list(out.partitions("url")) == [shown[:2], shown[2:]]
    assert list(out.partitions("none")) == []


def test_folder_is_named_in_other_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("my out", f"file://{tmp_path}/my%20out", f"{tmp_path}/my out/"):
        found = output_at(url)
        assert isinstance(found, Folder)
        assert found.url == str(tmp_path / "my out")


def test_check_makes_the_folder_and_leaves_nothing(out: Output, tmp_path: Path) -> None:
    out.check()
    assert files(tmp_path) == []
    assert (tmp_path / "out").is_dir()


@pytest.mark.parametrize("below", ["", "/below/it"])
def test_file_in_place_of_the_folder(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    place = f"{tmp_path}/file{below}"
    assert refusal(output_at(place).check) == f"{place}/_parts cannot be written to: Not a directory"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        *(
            (
                url,
                f"{shown or url} is not a place for results; accepted: a folder, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX",
            )
            for url, shown in (
                ("", "''"),
                ("a\0b", r"a\x00b"),
                ("simplecache::s3://bucket/x", ""),
                ("file://elsewhere/x", ""),
                ("ftp://host/x", ""),
                ("s3://", ""),
                ("gs:///x", ""),
            )
        ),
        *((f"/tmp/{name}/out", "accepted: a folder without") for name in ("a*", "a?b", "a[1]", "a\\b")),  # DuckDB's
    ],
)
def test_url_that_cannot_be_used(url: str, told: str) -> None:
    assert told in refusal(lambda: output_at(url))


@pytest.mark.parametrize(
    ("url", "package", "told"),
    [
        ("s3://bucket/x", "s3fs", "s3:// needs s3fs: pip install 'scrapy-sitemapcrawler[s3]'"),
        ("gs://bucket/x", "gcsfs", "gs:// needs gcsfs: pip install 'scrapy-sitemapcrawler[gcs]'"),
    ],
)
def test_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch, url: str, package: str, told: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # type: ignore[arg-type]  # how a package is made to be missing
    assert refusal(lambda: output_at(url)) == told


def test_second_fleet_is_kept_out(out: Output, tmp_path: Path) -> None:
    with out.lock():
        assert refusal(lambda: out.lock().__enter__()) == f"another fleet writes to {tmp_path / 'out'}"
    with out.lock():
        assert list(out.partitions("url")) == []


def test_lock_is_free_when_its_process_was_killed(out: Output) -> None:
    code = "with output_at(sys.argv[1]).lock():\n print('ready', flush=True)\n sys.stdin.read()"
    with python(code, out.url) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        assert "another fleet" in refusal(lambda: out.lock().__enter__())
        process.kill()
    with out.lock():
        pass


def test_what_a_killed_attempt_left_goes_with_the_next(out: Output, tmp_path: Path) -> None:
    code = (
        "with output_at(sys.argv[1]).scratch() as folder:\n"
        " (folder / 'part').touch(); print('ready', flush=True); sys.stdin.read()"
    )
    with python(code, out.url) as process, out.scratch() as mine:
        assert process.stdout and process.stdout.readline() == "ready\n"
        with out.scratch():
            assert len(list((tmp_path / "out" / "_parts").iterdir())) == 3
        process.kill()
        process.wait()
        with out.scratch():
            assert mine.is_dir()
            assert len(list((tmp_path / "out" / "_parts").iterdir())) == 2
    assert files(tmp_path / "out") == []


def test_clean_removes_parts_and_nothing_else(out: Output, tmp_path: Path) -> None:
    out.write_bytes(NAME, b"content")
    out.write_bytes("_state.json", b"1")
    left = tmp_path / "out" / "_parts" / "sitemapcrawler-fleet@elsewhere@0"
    left.mkdir(parents=True)
    (left / "part").touch()
    with out.scratch():
        assert left.is_dir()
    out.clean()
    assert files(tmp_path / "out") == ["_state.json", NAME]
    out.clean()


def test_attempt_that_fails_leaves_nothing(out: Output, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="of the crawl"), out.scratch() as folder:
        (folder / "part").touch()
        raise RuntimeError("of the crawl")
    assert files(tmp_path / "out") == []


def test_full_disk_leaves_what_was_there(out: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out.write_bytes(NAME, b"first")
    elsewhere = tmp_path / "part"
    elsewhere.write_bytes(b"second")

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output, "_to_disk", full)
    told = f"{tmp_path / 'out' / NAME} cannot be written: No space left on device"
    assert failure(lambda: out.publish(elsewhere, NAME)) == told
    assert failure(lambda: out.write_bytes(NAME, b"second")) == told
    assert out.read_bytes(NAME) == b"first"
    assert files(tmp_path / "out") == [NAME]


def test_folder_that_cannot_be_made(out: Output, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"")
    place = tmp_path / "out"
    assert failure(lambda: out.scratch().__enter__()).startswith(f"{place}/_parts cannot be written to: ")
    assert refusal(out.check).startswith(f"{place}/_parts cannot be written to: ")
    assert failure(lambda: out.lock().__enter__()).startswith(f"{place} cannot be written to: ")
    (tmp_path / "out").unlink()
    (tmp_path / "out" / "x").mkdir(parents=True)
    assert failure(lambda: out.read_bytes("x")).startswith(f"{place}/x cannot be read: ")


def test_failure_travels_to_another_process(out: Output) -> None:
    error = OutputFailed("s3://bucket/x cannot be written: it is full")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "Permission denied"),
        (OSError("Forbidden:\n /x"), "Forbidden: /x"),
        (FileNotFoundError("bucket/x"), "bucket/x not found"),
        (TimeoutError(), "TimeoutError"),
        (RuntimeError("a\x1b[2Jb"), r"a\x1b[2Jb"),
    ],
)
def test_reason_is_one_line(error: Exception, told: str) -> None:
    assert reason(error) == told
