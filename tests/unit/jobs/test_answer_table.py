"""Which pages are requested as crawlers."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sitemapcrawler.items import AnswerRecord, ReplyRecord
from sitemapcrawler.jobs.answer_table import CANDIDATES, AnswerTable
from sitemapcrawler.jobs.store import Store
from tests.unit.rules.sites import HOME, Site, page

SITE = "example.com"


class Rows:
    """What `AnswerTable` uses of a `Store`."""

    def __init__(self, *records: Any) -> None:
        self._connection = Site(*records).connection

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        return self._connection.execute(sql, parameters).fetchall()


def chosen(*records: Any, site: str = SITE) -> list[str]:
    pages = AnswerTable(cast(Store, Rows(*records))).pages({site})
    return [url.removeprefix(HOME) for url in pages.get(site, [])]


def test_folders_take_turns_the_largest_first() -> None:
    pages = [page(f"/{folder}/{at}") for folder, many in (("a", 2), ("b", 9), ("c", 4)) for at in range(many)]
    found = chosen(*pages)
    assert len(found) == len(set(found)) == CANDIDATES
    assert [url[1] for url in found] == [*"bca", *"bca", *"bc", *"bc"]
    assert chosen(*reversed(pages)) == found


def test_pages_that_do_not_answer_us_are_left_out_and_those_that_do_come_first() -> None:
    replies = {"/ok": ReplyRecord("ok", final_status=200), "/gone": ReplyRecord("http-error", final_status=404)}
    replies |= {f"/sampled-out/{at}": ReplyRecord("unchecked", "sampled-out") for at in range(9)}
    pages = [page(path, reply=reply) for path, reply in replies.items()] + [page(f"/unknown-{at}") for at in range(9)]
    found = chosen(*pages)
    assert "/gone" not in found
    assert found[0] == "/ok"


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        ("https://example.com/", True),
        ("http://www.example.com/", True),
        ("https://shop.example.com/", False),
        ("https://example.com:8443/", False),
        ("https://foreign.example/", False),
    ],
)
def test_only_pages_of_the_named_site_are_chosen(url: str, is_own: bool) -> None:
    assert bool(chosen(page(url))) is is_own


def test_pages_of_an_earlier_run_come_first() -> None:
    pages = [page(f"/{at}") for at in range(30)]
    earlier = next(path for path in ("/0", "/1", "/2", "/3") if path not in chosen(*pages)[:5])
    assert chosen(*pages, AnswerRecord(f"{HOME}{earlier}", "GPTBot", "same"))[0] == earlier
