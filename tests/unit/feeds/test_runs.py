"""Lines in order, in memory and on disk."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.feeds.lines import MAX_RUNS, SortedLines

OPEN = Path("/proc/self/fd")
"""The open files of this process."""
LINE = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))


@given(st.lists(LINE), st.integers(1, 5))
def test_lines_come_back_in_order(lines: list[str], run: int) -> None:
    held = SortedLines(run)
    for line in lines:
        held.add(line)
    assert list(held) == sorted(lines, key=lambda line: f"{line}\n")
    assert list(held) == sorted(lines, key=lambda line: f"{line}\n")
    held.close()


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5, 8, 9])
def test_what_is_around_the_size_of_a_run(number: int) -> None:
    held = SortedLines(4)
    for line in range(number):
        held.add(f"{number - line:03}")
    assert list(held) == [f"{line + 1:03}" for line in range(number)]
    held.close()


@pytest.mark.skipif(not OPEN.exists(), reason="a folder of Linux")
def test_few_files_are_open_however_many_runs_there_are() -> None:
    gc.collect()  # what earlier tests have left open
    held, before = SortedLines(2), len(list(OPEN.iterdir()))
    lines = [f"{number * 7919 % 10_007:05}" for number in range(10_007)]
    most = 0
    for line in lines:
        held.add(line)
        most = max(most, len(list(OPEN.iterdir())) - before) if line.endswith("00") else most
    assert list(held) == sorted(lines)
    assert 0 < most <= 3 * MAX_RUNS
    held.close()
    assert len(list(OPEN.iterdir())) == before


def test_memory_does_not_grow_with_the_lines() -> None:
    tracemalloc.start()
    held = SortedLines(1000)
    for line in range(50_000):
        held.add(f"{line:0200}")
    assert sum(1 for _ in held) == 50_000
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held.close()
    assert top < 3_000_000, "ten megabytes were taken in"
