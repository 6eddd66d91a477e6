"""Cells: what a spreadsheet would run is disarmed, everything else stays."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemapcrawler.cells import cell, column, disarmed

UNSEEN = "".join(map(chr, [*range(33), *range(0x7F, 0xA1), *range(0x200B, 0x2010), 0x2060, 0xFEFF, 0x2028, 0x3000]))
FULL_WIDTH = "\uff1d\uff0b\uff0d\uff20"
FORMULA = f"=+-@{FULL_WIDTH}"


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\x00=1",
        "\ufeff=cmd|'/c calc'!A1",
        "\tplain", "\rplain", "\nplain", *FULL_WIDTH, "--1", "-1 ", " -1", "-", "-1,5", "-1e5", "=",
    ],
)  # fmt: skip
def test_a_cell_that_would_be_run_is_disarmed(text: str) -> None:
    assert disarmed(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", "https://e.com/=1", "-1", "-0.5", "'=1", "a\n=1", "weekly", "é", "中", "/+1", "1-2"]
)
def test_a_cell_that_is_text_stays(text: str) -> None:
    assert disarmed(text) == text


@given(st.text())
@example("-1\n")
@example("-\uff11")
def test_no_text_begins_like_a_formula(text: str) -> None:
    shown = disarmed(text)
    assert shown in (text, f"'{text}")
    seen = shown.lstrip(UNSEEN)
    assert not seen.startswith(tuple(FORMULA)) or re.fullmatch(r"-[0-9]+(\.[0-9]+)?", shown)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""), (True, "true"), (False, "false"), (0, 0), (-0.5, -0.5), ("", ""), ("=1", "'=1"),
        ([], ""), ({}, ""), ([1], "[1]"), ({"a": None}, '{"a": null}'),
    ],
)  # fmt: skip
def test_each_kind_of_value_has_its_cell(value: object, expected: object) -> None:
    assert cell(value, json.dumps) == expected
    assert type(cell(value, json.dumps)) is type(expected)


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers()))
COLUMNS = st.one_of(
    st.lists(VALUES), st.lists(st.none() | st.text()), st.lists(st.none() | st.floats(allow_nan=False) | st.integers())
)


@given(COLUMNS)
def test_a_column_is_made_of_the_cells_of_its_values(values: list[object]) -> None:
    shown = ["" if value is None else value for value in column(values, json.dumps)]
    assert shown == [cell(value, json.dumps) for value in values]
