"""Which pages become records: include, exclude, since and max_urls."""

from __future__ import annotations

import pytest

from sitemapcrawler.audit.params import Params
from sitemapcrawler.audit.selection import Selection
from sitemapcrawler.items import UrlRecord


def selection(**arguments: object) -> Selection:
    return Selection(Params.parse({"domain": "e.com", **arguments}))


def record(loc: str, lastmod_at: str | None = None) -> UrlRecord:
    return UrlRecord(loc, lastmod_at=lastmod_at)


def locs(records: list[UrlRecord]) -> list[str]:
    return [record.loc for record in records]


def test_everything_is_kept_without_arguments() -> None:
    chosen = selection()
    listed = [record("b"), record("a"), record("a")]
    assert chosen.keep(listed) == listed
    assert (chosen.count, chosen.full, chosen.skipped) == (3, False, {})


def test_expression_is_searched_anywhere_in_the_url() -> None:
    chosen = selection(include="shop", exclude=r"\?page=[0-9]+$")
    listed = [record(loc) for loc in ("https://e.com/shop/1", "https://e.com/blog", "https://shop.e.com/?page=12")]
    assert locs(chosen.keep(listed)) == ["https://e.com/shop/1"]
    assert chosen.skipped == {"include": 1, "exclude": 1}


def test_order_of_the_document_is_kept() -> None:
    chosen = selection(include="[135]")
    assert locs(chosen.keep([record(name) for name in "54321"])) == ["5", "3", "1"]


@pytest.mark.parametrize(
    ("moment", "kept"),
    [
        ("2024-05-01T00:00:00Z", True),
        ("2024-05-01T00:00:00.000001Z", True),
        ("2024-04-30T23:59:59.999Z", False),
        ("2030-01-01T00:00:00Z", True),
        (None, False),
    ],
)
def test_since_is_inclusive_and_leaves_out_the_undated(moment: str | None, kept: bool) -> None:
    chosen = selection(since="2024-05-01")
    assert len(chosen.keep([record("a", moment)])) == kept
    assert chosen.skipped["since"] == (not kept)


def test_max_urls_holds_over_several_lists() -> None:
    chosen = selection(max_urls=3)
    assert locs(chosen.keep([record("1"), record("2")])) == ["1", "2"]
    assert not chosen.full
    assert locs(chosen.keep([record("3"), record("4")])) == ["3"]
    assert chosen.full
    assert chosen.keep([record("5")]) == []
    assert chosen.count == 3


def test_max_urls_counts_what_passed_the_other_tests() -> None:
    chosen = selection(max_urls=2, exclude="no")
    assert locs(chosen.keep([record("no"), record("1"), record("no"), record("2"), record("3")])) == ["1", "2"]
    assert chosen.skipped["exclude"] == 2


def test_empty_list() -> None:
    chosen = selection(max_urls=1, include="a")
    assert chosen.keep([]) == []
    assert not chosen.full
