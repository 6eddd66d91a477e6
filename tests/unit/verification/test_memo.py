"""What has been asked is known again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sitemapcrawler.replies.chase import Step
from sitemapcrawler.replies.page import read_page
from sitemapcrawler.verification.asking import Memo

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


@pytest.fixture
def memo() -> Iterator[Memo]:
    memo = Memo()
    yield memo
    memo.close()


@pytest.mark.parametrize("step", STEPS)
def test_answer_comes_back_as_it_was(memo: Memo, step: Step) -> None:
    memo.put("GET", "https://e.com/", step)
    assert memo.get("GET", "https://e.com/") == step


def test_other_methods_and_urls_are_not_known(memo: Memo) -> None:
    memo.put("HEAD", "https://e.com/", STEPS[0])
    assert memo.get("GET", "https://e.com/") is None
    assert memo.get("HEAD", "https://e.com/a") is None
    assert memo.get("HEAD", "https://e.com/\ud800") is None


def test_newer_answer_takes_the_place_of_an_older_one(memo: Memo) -> None:
    memo.put("GET", "u", STEPS[0])
    memo.put("GET", "u", STEPS[1])
    assert memo.get("GET", "u") == STEPS[1]


def test_full_disk_is_told_once_and_nothing_is_known_from_then_on(memo: Memo, caplog: pytest.LogCaptureFixture) -> None:
    memo._base.execute("PRAGMA max_page_count = 40")
    for number in range(5_000):
        memo.put("GET", str(number), STEPS[0])
        memo.mark(str(number))
        memo.get("GET", str(number // 2))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert {memo.get("GET", str(number)) for number in range(5_000)} == {None}
    assert memo.mark("0")


def test_url_is_new_once(memo: Memo) -> None:
    assert [memo.mark("a"), memo.mark("b"), memo.mark("a")] == [True, True, False]
