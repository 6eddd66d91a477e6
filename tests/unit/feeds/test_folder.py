"""The folder of a report: which one may be written to, and what is said of one that is there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sitemapcrawler.feeds.folder import NAMES, PAGE, SUMMARY, folder, unfinished

REPORT = {SUMMARY: '{"type": "summary"}', PAGE: "<!doctype html>", "urls.jsonl": ""}


def made(place: Path, names: dict[str, str]) -> Path:
    """A folder with these files."""
    place.mkdir()
    for name, text in names.items():
        (place / name).write_text(text)
    return place


def refusal(place: Path | str) -> str:
    """Why a folder is refused; it is as it was."""
    with pytest.raises(ValueError) as caught:
        folder(str(place))
    return str(caught.value)


@pytest.mark.parametrize(
    "held",
    [
        {},
        REPORT,
        dict.fromkeys(NAMES, "") | REPORT,
        {".feed@host@a": "", ".cache@host@b": ""},
        {**REPORT, ".feed@host@a": ""},
    ],
    ids=lambda held: f"{len(held)} files",
)
def test_folder_that_is_empty_or_holds_a_report_may_be_written_to(tmp_path: Path, held: dict[str, str]) -> None:
    place = made(tmp_path / "report", held)
    assert folder(str(place)) == str(place.resolve())
    assert {one.name for one in place.iterdir()} == held.keys()


@pytest.mark.parametrize("name", ["new", "new/deep", "100%", "a b", "ü?*\\", "%(name)s"])
def test_new_folder_is_not_made_yet(tmp_path: Path, name: str) -> None:
    assert folder(f"{tmp_path}/{name}") == str(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_link_is_followed(tmp_path: Path) -> None:
    place = made(tmp_path / "report", REPORT)
    (tmp_path / "latest").symlink_to(place)
    assert folder(str(tmp_path / "latest")) == str(place.resolve())


@pytest.mark.parametrize(
    ("held", "problem"),
    [
        ({"notes.txt": ""}, "is not empty, it contains 'notes.txt', which is not part of a report"),
        ({**REPORT, "audit.duckdb": ""}, "is not empty, it contains 'audit.duckdb', which is not part of a report"),
        ({"urls.jsonl": ""}, "is not empty, and contains no report: summary.json is missing or invalid"),
        ({PAGE: "", SUMMARY: "[]"}, "is not empty, and contains no report: summary.json is missing or invalid"),
        ({PAGE: "", SUMMARY: '{"type": "url"}'}, "is not empty, and contains no report: summary.json is missing or invalid"),
        ({PAGE: "", SUMMARY: "\0"}, "is not empty, and contains no report: summary.json is missing or invalid"),
        ({SUMMARY: "[" * 100_000}, "is not empty, and contains no report: summary.json is missing or invalid"),
        ({".feeds": ""}, "is not empty, it contains '.feeds', which is not part of a report"),
    ],
)  # fmt: skip
def test_folder_with_anything_else_is_refused(tmp_path: Path, held: dict[str, str], problem: str) -> None:
    assert refusal(made(tmp_path / "report", held)) == problem


def is_file(place: Path) -> Path:
    place.write_text("")
    return place


def below_a_file(place: Path) -> Path:
    return is_file(place) / "deep" / "report"


def with_folder(place: Path) -> Path:
    made(place, REPORT)
    (place / "findings.jsonl").mkdir()
    return place


def loop(place: Path) -> Path:
    place.symlink_to(place)
    return place


def too_long(place: Path) -> Path:
    return place.with_name("x" * 300)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (is_file, "is not a folder"),
        (below_a_file, "is not a folder"),
        (with_folder, "is not empty, it contains 'findings.jsonl', which is not part of a report"),
        (loop, "cannot be"),  # read; from Python 3.13 on, written
        (too_long, "cannot be read, File name too long"),
    ],
)
def test_place_that_is_no_folder_is_refused(tmp_path: Path, make: Callable[[Path], Path], problem: str) -> None:
    assert problem in refusal(make(tmp_path / "report"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; tests/crawl/test_report.py takes that away")
@pytest.mark.parametrize("name", [".", "new", "new/deep"])
def test_folder_that_cannot_be_written_to_is_refused(tmp_path: Path, name: str) -> None:
    place = made(tmp_path / "locked", {})
    place.chmod(0o500)
    assert "no permission to write" in refusal(place / name)


@pytest.mark.parametrize(
    ("summary", "page", "expected"),
    [
        ({"type": "summary"}, True, None),
        ({"type": "summary", "partial": "max_time"}, True, "max_time"),
        ({"type": "summary", "only": "changes"}, True, "only=changes"),
        ({"type": "summary"}, False, "report.html is missing"),
        ({"type": "url", "partial": "x"}, True, None),
        (["summary"], True, None),
    ],
)
def test_report_says_whether_it_is_finished(tmp_path: Path, summary: object, page: bool, expected: str | None) -> None:
    made(tmp_path / "report", {SUMMARY: json.dumps(summary), **({PAGE: ""} if page else {})})
    assert unfinished(tmp_path / "report") == expected
    assert unfinished(tmp_path) is None
