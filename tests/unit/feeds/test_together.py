"""Files that are put into their places together, and a report that is."""

from __future__ import annotations

import logging
import stat
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitemapcrawler.feeds.folder import PAGE, SUMMARY, folder, unfinished
from sitemapcrawler.feeds.reporting import LOST, Reporting, publish
from sitemapcrawler.feeds.storages import FeedLost, create
from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.report.model import Report

BEFORE = {"a": "old a", "b": "old b", "gone": "old", "page": "old page"}
NEW = ("a", "b", "c", "page")


def earlier_in(folder: Path) -> dict[str, str]:
    """The contents without new files that were not moved."""
    return {name: text for name, text in contents(folder).items() if not name.endswith(".new")}


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def parts(tmp_path: Path) -> dict[Path, Path]:
    """New files, whole, beside old ones."""
    for name, text in BEFORE.items():
        (tmp_path / name).write_text(text)
    for name in NEW:
        (tmp_path / f".{name}.new").write_text(f"new {name}")
    return {tmp_path / name: tmp_path / f".{name}.new" for name in NEW}


def test_all_are_replaced_and_the_unwanted_removed(tmp_path: Path, parts: dict[Path, Path]) -> None:
    (tmp_path / "a").chmod(0o604)
    publish(parts, [tmp_path / "gone", tmp_path / "never"])
    assert contents(tmp_path) == {name: f"new {name}" for name in NEW}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o604


@pytest.mark.parametrize("missing", NEW)
def test_missing_file_leaves_all_as_it_was(tmp_path: Path, parts: dict[Path, Path], missing: str) -> None:
    parts[tmp_path / missing].unlink()
    with pytest.raises(FeedLost, match=f"/{missing} could not be replaced: .* has been deleted in the meantime$"):
        publish(parts, [tmp_path / "gone"])
    assert earlier_in(tmp_path) == BEFORE


@pytest.mark.parametrize("steps", range(4))
def test_last_file_is_missing_while_others_are_replaced(
    tmp_path: Path, parts: dict[Path, Path], monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    replace, moved = Path.replace, []

    def breaks(part: Path, place: Path) -> Path:
        if len(moved) == steps:
            raise OSError(5, "Input/output error")
        moved.append(place.name)
        return replace(part, place)

    monkeypatch.setattr(Path, "replace", breaks)
    with pytest.raises(FeedLost, match="Input/output error"):
        publish(parts, [tmp_path / "gone"])
    assert not (tmp_path / "page").exists() and moved == [*NEW][:steps]


@pytest.mark.parametrize("name", ["a", "gone", "page"])
def test_folder_in_the_place_of_a_file_leaves_all_as_it_was(tmp_path: Path, parts: dict[Path, Path], name: str) -> None:
    (tmp_path / name).unlink()
    (tmp_path / name / "deep").mkdir(parents=True)
    before = contents(tmp_path)
    with pytest.raises(FeedLost, match=f"/{name} could not be replaced: Is a directory$"):
        publish(parts, [tmp_path / "gone"])
    assert contents(tmp_path) == before
    assert (tmp_path / name / "deep").is_dir()


def test_temporary_names_are_those_that_the_folder_of_a_report_may_hold(tmp_path: Path) -> None:
    made = [create(tmp_path / PAGE) for _ in range(4)]
    for file in made:
        file.close()
    assert len([*tmp_path.iterdir()]) == 4
    assert folder(str(tmp_path)) == str(tmp_path)


# A report


class Crawl:
    """A crawl that writes a report without feeds."""

    def __init__(self, folder: Path) -> None:
        self._said: dict[str, Any] = {}
        stats = SimpleNamespace(get_value=self._said.get, set_value=self._said.__setitem__)
        crawler: Any = SimpleNamespace(stats=stats, settings=SimpleNamespace(getdict=lambda _: {}))
        self.reporting = Reporting(crawler, folder)
        self.reporting.report = Report(SummaryRecord())

    @property
    def said(self) -> Mapping[str, Any]:
        """The stats."""
        return self._said


def test_report_that_cannot_be_moved_leaves_the_earlier_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "report"
    Crawl(place).reporting.finish()
    (place / "urls.parquet").write_text("earlier")
    before = contents(place)
    assert before.keys() == {PAGE, SUMMARY, "urls.parquet"}
    (place / "robots.jsonl").mkdir()
    crawl = Crawl(place)
    with caplog.at_level(logging.ERROR):
        crawl.reporting.finish()
    assert contents(place) == before
    why = f"{place}/robots.jsonl could not be replaced: Is a directory"
    assert crawl.said == {LOST: why}
    assert caplog.messages == [f"the report {place} is not written: {why}; the previous file is kept"]


def test_report_that_fails_while_it_is_moved_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Crawl(tmp_path).reporting.finish()

    def fails(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "replace", fails)
    with caplog.at_level(logging.ERROR):
        Crawl(tmp_path).reporting.finish()
    [line] = caplog.messages
    assert line.endswith(f"{SUMMARY} could not be replaced: Read-only file system; the earlier one is incomplete")
    assert unfinished(tmp_path) == f"{PAGE} is missing"
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("made", ["", "one", "one/two", "one/two/report"])
def test_lost_report_leaves_no_folder_that_it_made(tmp_path: Path, made: str) -> None:
    (tmp_path / made).mkdir(parents=True, exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    reporting = Crawl(tmp_path / "one/two/report").reporting
    reporting.create("urls.jsonl").close()
    reporting.report = None
    reporting.finish()
    assert sorted(tmp_path.rglob("*")) == before


def test_lost_report_leaves_what_others_use(tmp_path: Path) -> None:
    reporting = Crawl(tmp_path / "one/two/report").reporting
    reporting.create("urls.jsonl").close()
    (tmp_path / "one/log").touch()
    reporting.report = None
    reporting.finish()
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "one", tmp_path / "one/log"]
