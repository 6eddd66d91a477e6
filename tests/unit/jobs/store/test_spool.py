"""Rows on their way into the database: what is in memory, what in a file, and what is changed on the way."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.store.spool import IN_MEMORY, LINE, Spool, reduced
from tests.unit.jobs.store.making import lines

ROW = b'{"loc":"a"}\n'


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Callable[[], Spool]]:
    """Makes spools whose files are in the test's folder."""
    made: list[Spool] = []

    def spool() -> Spool:
        made.append(Spool(tmp_path))
        return made[-1]

    yield spool
    for one in made:
        one.discard()


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def many(size: int) -> bytes:
    """So many bytes of rows, at least."""
    return ROW * (size // len(ROW) + 1)


class FullDisk(io.FileIO):
    """A file of which only a part of what is written fits on the disk."""

    def write(self, data: Any) -> int:
        super().write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


def test_rows_for_which_there_is_no_room_leave_no_part_of_a_row(new: Callable[[], Spool]) -> None:
    spool = new()
    spool.write(many(IN_MEMORY), 1)
    spool._file = FullDisk(spool.flush(), "ab")
    with pytest.raises(OSError, match="No space left"):
        spool.write(many(IN_MEMORY), 1)
    spool.write(ROW, 1)
    assert b"".join(spool.lines()) == many(IN_MEMORY) + ROW


def test_few_rows_need_no_file_and_many_go_to_one(tmp_path: Path, new: Callable[[], Spool]) -> None:
    spool = new()
    spool.write(b"", 0)
    spool.write(ROW * 3, 3)
    assert (spool.rows, files(tmp_path)) == (3, [])
    spool.write(many(IN_MEMORY), 1)
    [file] = files(tmp_path)
    written = ROW * 3 + many(IN_MEMORY)
    assert file.read_bytes() == written
    spool.write(ROW, 1)
    assert file.read_bytes() == written, "the next ones wait again"
    assert spool.flush() == file
    assert file.read_bytes() == written + ROW


@pytest.mark.parametrize("written", [ROW, many(IN_MEMORY)])
def test_rows_come_back_one_by_one(new: Callable[[], Spool], written: bytes) -> None:
    spool = new()
    spool.write(written, 1)
    assert b"".join(spool.lines()) == written
    assert next(spool.lines()) == ROW


@pytest.mark.parametrize("written", [b"", ROW, many(IN_MEMORY)])
def test_discarded_rows_leave_nothing(tmp_path: Path, new: Callable[[], Spool], written: bytes) -> None:
    spool = new()
    spool.write(written, 1)
    spool.discard()
    spool.discard()
    assert files(tmp_path) == []


def test_rows_in_memory_are_taken_over_and_those_in_a_file_are_not(new: Callable[[], Spool]) -> None:
    one, few, large = new(), new(), new()
    one.write(ROW, 1)
    few.write(ROW * 2, 2)
    large.write(many(IN_MEMORY), 5)
    assert one.absorb_if_in_memory(few)
    assert not one.absorb_if_in_memory(large)
    assert (one.rows, large.rows, b"".join(one.lines())) == (3, 5, ROW * 3)


def test_rows_that_have_become_many_by_taking_go_to_a_file(tmp_path: Path, new: Callable[[], Spool]) -> None:
    one = new()
    for _ in range(3):
        other = new()
        other.write(many(IN_MEMORY // 2), 1)
        assert one.absorb_if_in_memory(other)
    assert len(files(tmp_path)) == 1
    assert b"".join(one.lines()) == many(IN_MEMORY // 2) * 3


@pytest.mark.parametrize("written", [b"", ROW, many(IN_MEMORY), many(IN_MEMORY) * 3 + ROW])
def test_absorbed_rows_change_their_place(tmp_path: Path, new: Callable[[], Spool], written: bytes) -> None:
    one, other = new(), new()
    one.write(ROW, 1)
    other.write(written, 7)
    rows = other.rows
    one.absorb(other)
    assert (one.rows, other.rows) == (1 + rows, 0)
    assert len(files(tmp_path)) <= 1
    assert b"".join(one.lines()) == ROW + written
    assert b"".join(other.lines()) == b""


@pytest.mark.parametrize(("length", "longest"), [(10, LINE), (LINE + 100, LINE + 111)])
def test_longest_row_is_known(new: Callable[[], Spool], length: int, longest: int) -> None:
    long = json.dumps({"loc": "x" * length}, separators=(",", ":")).encode() + b"\n"
    one, other = new(), new()
    one.write(ROW + long + ROW, 3)
    assert one.longest == longest == max(LINE, len(long))
    if other.absorb_if_in_memory(one):
        assert other.longest == longest


def test_full_disk_is_told(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "missing")
    with pytest.raises(OSError):
        spool.write(many(IN_MEMORY), 1)


def test_row_is_reduced_to_what_fits_in_any_case() -> None:
    [line] = lines([UrlRecord("a", sitemap="s", line=3, lastmod="2026")]).splitlines(keepends=True)
    assert json.loads(reduced(line)) == {"loc": "a", "sitemap": "s", "line": 3}
