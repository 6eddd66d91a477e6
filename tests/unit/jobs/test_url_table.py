"""The table of all URLs as the page holds it."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest

from sitemapcrawler.jobs.url_table import AT_ONCE, Packer, Value
from sitemapcrawler.report.wording import MAX_LINK


def unpacked(*rows: list[Value]) -> dict[str, Any]:
    """Columns as the page's script reads them."""
    packer = Packer({"loc": "loc", "issues": "CASE WHEN true THEN issues END"})
    for row in rows:
        packer.add(row)
    assert packer.rows == len(rows)
    columns: dict[str, Any] = json.loads(zlib.decompress(packer.packed(), wbits=-15))
    return columns


def test_columns_hold_each_value_once() -> None:
    columns = unpacked(["a", ["x", "y"]], ["b", []], ["a", ["x", "y"]], ["c", None], ["d", 7])
    assert columns["loc"] == {"sql": "loc", "codes": [0, 1, 0, 2, 3], "values": ["a", "b", "c", "d"]}
    assert columns["issues"]["sql"] == "CASE WHEN true THEN issues END"
    assert columns["issues"]["codes"] == [0, 1, 0, 2, 3]
    assert columns["issues"]["values"] == [["x", "y"], [], None, 7]


@pytest.mark.parametrize("number", [0, 1, AT_ONCE, AT_ONCE + 1])
def test_columns_of_any_length_are_whole(number: int) -> None:
    columns = unpacked(*([str(at), None] for at in range(number)))
    assert columns["loc"]["values"] == [str(at) for at in range(number)]
    assert columns["loc"]["codes"] == list(range(number))
    assert columns["issues"]["codes"] == [0] * number


def test_values_are_visible_and_bounded() -> None:
    columns = unpacked(["\x1b\u202e\ud800", ["\x00", "x" * 2 * MAX_LINK]], ["y" * 2 * MAX_LINK, None])
    assert columns["loc"]["values"][0] == r"\x1b\u202e\ud800"
    assert len(columns["loc"]["values"][1]) == MAX_LINK
    assert columns["issues"]["values"][0][0] == r"\x00"
    assert len(columns["issues"]["values"][0][1]) == MAX_LINK


def test_length_of_distinct_values_is_known() -> None:
    packer = Packer({"loc": "loc", "issues": "issues"})
    for row in ["abc", ["xy", "z"]], ["abc", ["xy", "z"]], ["d", None], ["e", []], ["f", 7]:
        packer.add(row)
    assert packer.characters == len("abcxyzdef")
