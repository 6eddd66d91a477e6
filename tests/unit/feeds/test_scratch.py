"""Temporary folders: whoever has one keeps it until the end, and nothing else stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sitemapcrawler.feeds.scratch import prefix_of, scratch, sweep

NAME = ".feed"


def test_folder_that_was_never_locked_is_removed(tmp_path: Path) -> None:
    (tmp_path / f"{prefix_of(NAME)}killed early").mkdir()
    with scratch(tmp_path, NAME) as folder:
        assert [*tmp_path.iterdir()] == [folder]
    assert [*tmp_path.iterdir()] == []


def test_many_that_begin_together_keep_theirs(tmp_path: Path) -> None:
    def use(number: int) -> bool:
        with scratch(tmp_path, NAME) as folder:
            (folder / "rows").write_text(str(number))
            sweep(tmp_path, prefix_of(NAME))
            return (folder / "rows").read_text() == str(number)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(400)))
    assert [*tmp_path.iterdir()] == []
