"""Standard input as a file: all of it, no more than is wanted, and one line where there is none."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sitemapcrawler.terminal.streams import CHUNK, put, spool_input


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A standard input in place of that of the tests; its content is in `buffer`."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    fake = SimpleNamespace(buffer=io.BytesIO(b"x" * 1000), fileno=lambda: descriptor, isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", fake)
    yield fake
    os.close(descriptor)


def content(stdin: Any) -> bytes:
    return os.pread(stdin.fileno(), 10 * CHUNK, 0)


@pytest.mark.parametrize("size", [0, 1, CHUNK, 3 * CHUNK + 1])
def test_all_of_it_is_in_the_file(stdin: Any, size: int) -> None:
    data = os.urandom(size)
    stdin.buffer = io.BytesIO(data)
    spool_input()
    assert content(stdin) == data


@pytest.mark.parametrize(("limit", "size"), [(100, 101), (999, 1000), (1000, 1000), (5000, 1000)])
def test_one_byte_more_than_wanted_tells_that_there_are_more(stdin: Any, limit: int, size: int) -> None:
    spool_input(limit)
    assert content(stdin) == b"x" * size


def test_input_that_cannot_be_read_is_told(stdin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: int) -> bytes:
        raise IsADirectoryError(21, "Is a directory")

    stdin.buffer = SimpleNamespace(read=read)
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        spool_input()
    stdin.isatty = lambda: True
    with pytest.raises(ValueError, match="is a terminal"):
        spool_input()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="closed"):
        spool_input()


def test_output_holds_escapes_for_what_it_cannot_show(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(encoding="ascii", fileno=lambda: 1))
    put("caf\u00e9 \udcff\n")
    assert capfdbinary.readouterr().out == b"caf\\xe9 \\udcff\n"
