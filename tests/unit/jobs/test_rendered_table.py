"""Which pages are rendered."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import pytest

from sitemapcrawler.items import RenderedRecord, ReplyRecord
from sitemapcrawler.jobs.rendered_table import SPARE, RenderedTable
from sitemapcrawler.jobs.store import Store
from tests.unit.jobs.test_answer_table import SITE, Rows
from tests.unit.rules.sites import HOME, page

PAGES = [page(f"/{folder}/{at}") for folder, many in (("a", 2), ("b", 9), ("c", 4)) for at in range(many)]


def table(*records: Any) -> RenderedTable:
    return RenderedTable(cast(Store, Rows(*records)))


def chosen(count: int, *records: Any, seed: int = 0) -> list[str]:
    _, pages = table(*records).pages({SITE}, count, None, seed)
    return [url.removeprefix(HOME) for url in pages]


def test_folders_take_turns_the_largest_first_and_some_pages_are_spare() -> None:
    found = chosen(3, *PAGES)
    assert len(found) == len({*found}) == 3 * SPARE
    assert [url[1] for url in found] == [*"bca", *"bca", *"bcb"]


def test_segments_take_turns_and_their_folders_within() -> None:
    shop = [page(f"/shop/{folder}/{at}", segment="shop") for folder in "ab" for at in range(20)]
    few = [page(f"/blog/{at}", segment="blog") for at in range(3)] + [page("/imprint", segment="other")]
    found = chosen(3, *shop, *few)
    assert [url.split("/")[1] for url in found] == ["shop", "blog", "imprint", *["shop", "blog"] * 2, "shop", "shop"]


def test_the_seed_alone_selects_the_pages() -> None:
    assert chosen(3, *reversed(PAGES), seed=1) == chosen(3, *PAGES, seed=1) != chosen(3, *PAGES, seed=2)


@pytest.mark.parametrize(
    ("count", "share", "wanted"),
    [(5, None, 5), (100, None, 15), (None, Fraction(1, 10), 2), (None, Fraction(1, 10**6), 1), (None, Fraction(1), 15)],
)
def test_number_of_pages_is_that_of_the_argument(count: int | None, share: Fraction | None, wanted: int) -> None:
    number, pages = table(*PAGES).pages({SITE}, count, share, 0)
    assert number == wanted <= len(pages)


def test_pages_of_other_sites_and_those_that_failed_are_left_out() -> None:
    gone = page("/gone", reply=ReplyRecord("http-error", final_status=404))
    records = [page("/a"), page("https://foreign.example/"), gone]
    assert chosen(9, *records) == ["/a"]
    assert len(table(*records).pages(None, 9, None, 0)[1]) == 2, "of a list of URLs, any site"


def test_no_listed_page_is_none_to_render() -> None:
    assert table(page("https://foreign.example/")).pages({SITE}, None, Fraction(1, 2), 0) == (0, [])


def test_rendered_and_listed_pages_are_known() -> None:
    known = table(*PAGES, RenderedRecord(f"{HOME}/a/0", "timeout"))
    assert known.known() == {f"{HOME}/a/0"}
    assert known.listed([f"{HOME}/b/1", f"{HOME}/unlisted", f"{HOME}/a/0"]) == [f"{HOME}/b/1", f"{HOME}/a/0"]
