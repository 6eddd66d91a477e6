"""What has been asked is known again."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from sitemapcrawler.memo import Memo
from sitemapcrawler.page import read_page
from sitemapcrawler.reply.step import Step

PAGE = read_page(
    b"<title>t</title><meta name=robots content=noindex><link rel=canonical href=/c>",
    {"content-type": ["text/html"]},
    "https://e.com/",
)
STEPS = [
    Step(200, {"etag": ['"1"']}, elapsed_ms=12, page=PAGE),
    Step(failure="timeout", why="no answer in time", attempts=3),
    Step(301, {"location": ["/x", "é"]}, soft_404=None, cut="truncated"),
]


@pytest.mark.parametrize("step", STEPS)
def test_answer_comes_back_as_it_was(step: Step) -> None:
    memo = Memo()
    memo.put("GET", "https://e.com/", step)
    assert memo.get("GET", "https://e.com/") == step


def test_other_methods_and_urls_are_not_known() -> None:
    memo = Memo()
    memo.put("HEAD", "https://e.com/", STEPS[0])
    assert memo.get("GET", "https://e.com/") is None
    assert memo.get("HEAD", "https://e.com/a") is None
    assert memo.get("HEAD", "https://e.com/\ud800") is None


def test_newer_answer_takes_the_place_of_an_older_one() -> None:
    memo = Memo()
    memo.put("GET", "u", STEPS[0])
    memo.put("GET", "u", STEPS[1])
    assert memo.get("GET", "u") == STEPS[1]


def test_full_disk_is_told_once_and_what_was_kept_stays(caplog: pytest.LogCaptureFixture) -> None:
    memo = Memo()
    memo.put("GET", "a", STEPS[0])
    memo._base = Full(memo._base)  # type: ignore[assignment]  # as much of a connection as is used
    memo.put("GET", "b", STEPS[0])
    memo.put("GET", "c", STEPS[0])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert memo.get("GET", "a") == STEPS[0]
    assert memo.get("GET", "b") is None


class Full:
    """A database on a full disk."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        if statement.startswith("INSERT"):
            raise sqlite3.OperationalError("database or disk is full")
        return self._base.execute(statement, values)
