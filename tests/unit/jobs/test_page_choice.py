"""Which pages are requested as crawlers, and which are rendered."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import pytest

from sitemapcrawler.items import AnswerRecord, RenderedRecord, ReplyRecord
from sitemapcrawler.jobs.page_choice import CANDIDATES, SPARE, listed_of, pages_to_ask, pages_to_render, rendered
from sitemapcrawler.jobs.store import Store
from tests.unit.rules.sites import HOME, Site, page

SITE = "example.com"
PAGES = [page(f"/{folder}/{at}") for folder, many in (("a", 2), ("b", 9), ("c", 4)) for at in range(many)]


class Rows:
    """What these functions use of a `Store`."""

    def __init__(self, *records: Any) -> None:
        self._connection = Site(*records).connection

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        return self._connection.execute(sql, parameters).fetchall()


def store(*records: Any) -> Store:
    return cast(Store, Rows(*records))


def to_ask(*records: Any) -> list[str]:
    return [url.removeprefix(HOME) for url in pages_to_ask(store(*records), {SITE}).get(SITE, [])]


def to_render(count: int, *records: Any, seed: int = 0) -> list[str]:
    _, pages = pages_to_render(store(*records), {SITE}, count, None, seed)
    return [url.removeprefix(HOME) for url in pages]


def test_folders_take_turns_the_largest_first() -> None:
    found = to_ask(*PAGES)
    assert len(found) == len(set(found)) == CANDIDATES
    assert [url[1] for url in found] == [*"bca", *"bca", *"bc", *"bc"]
    assert to_ask(*reversed(PAGES)) == found


def test_pages_that_do_not_answer_us_are_left_out_and_those_that_do_come_first() -> None:
    replies = {"/ok": ReplyRecord("ok", final_status=200), "/gone": ReplyRecord("http-error", final_status=404)}
    replies |= {f"/sampled-out/{at}": ReplyRecord("unchecked", "sampled-out") for at in range(9)}
    pages = [page(path, reply=reply) for path, reply in replies.items()] + [page(f"/unknown-{at}") for at in range(9)]
    found = to_ask(*pages)
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
def test_only_pages_of_the_named_site_are_to_ask(url: str, is_own: bool) -> None:
    assert bool(to_ask(page(url))) is is_own


def test_pages_of_an_earlier_run_come_first() -> None:
    pages = [page(f"/{at}") for at in range(30)]
    earlier = next(path for path in ("/0", "/1", "/2", "/3") if path not in to_ask(*pages)[:5])
    assert to_ask(*pages, AnswerRecord(f"{HOME}{earlier}", "GPTBot", "same"))[0] == earlier


def test_folders_take_turns_the_largest_first_and_some_pages_are_spare() -> None:
    found = to_render(3, *PAGES)
    assert len(found) == len({*found}) == 3 * SPARE
    assert [url[1] for url in found] == [*"bca", *"bca", *"bcb"]


def test_segments_take_turns_and_their_folders_within() -> None:
    shop = [page(f"/shop/{folder}/{at}", segment="shop") for folder in "ab" for at in range(20)]
    few = [page(f"/blog/{at}", segment="blog") for at in range(3)] + [page("/imprint", segment="other")]
    found = to_render(3, *shop, *few)
    assert [url.split("/")[1] for url in found] == ["shop", "blog", "imprint", *["shop", "blog"] * 2, "shop", "shop"]


def test_the_seed_alone_selects_the_pages() -> None:
    assert to_render(3, *reversed(PAGES), seed=1) == to_render(3, *PAGES, seed=1) != to_render(3, *PAGES, seed=2)


@pytest.mark.parametrize(
    ("count", "share", "wanted"),
    [(5, None, 5), (100, None, 15), (None, Fraction(1, 10), 2), (None, Fraction(1, 10**6), 1), (None, Fraction(1), 15)],
)
def test_number_of_pages_is_that_of_the_argument(count: int | None, share: Fraction | None, wanted: int) -> None:
    number, pages = pages_to_render(store(*PAGES), {SITE}, count, share, 0)
    assert number == wanted <= len(pages)


def test_pages_of_other_sites_and_those_that_failed_are_left_out() -> None:
    gone = page("/gone", reply=ReplyRecord("http-error", final_status=404))
    records = [page("/a"), page("https://foreign.example/"), gone]
    assert to_render(9, *records) == ["/a"]
    assert len(pages_to_render(store(*records), None, 9, None, 0)[1]) == 2, "of a list of URLs, any site"


def test_no_listed_page_is_none_to_render() -> None:
    assert pages_to_render(store(page("https://foreign.example/")), {SITE}, None, Fraction(1, 2), 0) == (0, [])


def test_rendered_and_listed_pages_are_known() -> None:
    known = store(*PAGES, RenderedRecord(f"{HOME}/a/0", "timeout"))
    assert rendered(known) == {f"{HOME}/a/0"}
    assert listed_of(known, [f"{HOME}/b/1", f"{HOME}/unlisted", f"{HOME}/a/0"]) == [f"{HOME}/b/1", f"{HOME}/a/0"]
