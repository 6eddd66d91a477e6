"""Cells: what a spreadsheet would run is disarmed, everything else stays."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemapcrawler.feeds.columns import Cells, quoted

CELLS = Cells()
UNSEEN = "\"'" + "".join(
    map(chr, [*range(33), *range(0x7F, 0xA1), *range(0x200B, 0x2010), 0x2060, 0xFEFF, 0x2028, 0x3000])
)
FULL_WIDTH = "\uff1d\uff0b\uff0d\uff20"
FORMULA = f"=+-@{FULL_WIDTH}"


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\"=1", "'=1", " =1", "\u00a0=1", "\x00=1",
        "\ufeff=cmd|'/c calc'!A1",
        "\tplain", "\rplain", "\nplain", *FULL_WIDTH, "--1", "-1 ", " -1", "-", "-1,5", "-1e5", "=",
    ],
)  # fmt: skip
def test_a_cell_that_would_be_run_is_disarmed(text: str) -> None:
    assert CELLS.disarmed(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "https://e.com/=1", "-1", "-0.5", "weekly", "é", "中", "/+1", "1-2"])
def test_a_cell_that_is_text_stays(text: str) -> None:
    assert CELLS.disarmed(text) == text


@pytest.mark.slow
@given(st.text())
@example("-1\n")
@example("-\uff11")
def test_no_text_begins_like_a_formula(text: str) -> None:
    shown = CELLS.disarmed(text)
    assert CELLS.armed(shown) == text
    seen = shown.lstrip(UNSEEN)
    assert shown.startswith("'") or not seen.startswith(tuple(FORMULA)) or re.fullmatch(r"-[0-9]+(\.[0-9]+)?", shown)


@pytest.mark.parametrize(
    ("text", "delimiter", "shown"),
    [
        ("a;=1", ",", "a;'=1"), ("a\t+1", ",", "a\t'+1"), ("a\n \"@x", ",", "a\n' \"@x"), ("a;-1+1", ",", "a;'-1+1"),
        ("a;-1;b", ",", "a;-1;b"), ("a;b=1", ",", "a;b=1"), ("a,=1", ",", "a,=1"), ("a,=1", ";", "a,'=1"),
        ("a;=1", ";", "a;=1"), ("a;'=1", ",", "a;''=1"), ("=1;=1", ",", "'=1;'=1"),
    ],
)  # fmt: skip
def test_what_another_spreadsheet_takes_for_a_cell_is_disarmed(text: str, delimiter: str, shown: str) -> None:
    cells = Cells(delimiter)
    assert cells.disarmed(text) == shown
    assert cells.column([text], json.dumps) == [shown]
    assert cells.armed(shown) == text


@pytest.mark.slow
@given(st.recursive(st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
       st.sampled_from([",", ";"]))  # fmt: skip
@example(["x;=1", ';"=1', "\\;=", "a,-1", -1, [1, -2.5]], ",")
def test_disarmed_json_means_the_same_and_holds_no_formula(value: object, delimiter: str) -> None:
    shown = Cells(delimiter).disarmed_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(shown) == value
    for part in re.split("[,\t\r\n]" if delimiter == ";" else "[;\t\r\n]", shown)[1:]:
        seen = part.lstrip(UNSEEN)
        assert not seen.startswith(tuple(FORMULA)) or re.match(r"-[0-9]", seen)


NUMBERS = st.lists(st.floats() | st.integers())
CELL_VALUES = st.none() | st.integers() | st.floats() | st.text(alphabet="a\",;\r\n\t '\x00")


@given(st.lists(CELL_VALUES, max_size=4) | NUMBERS)
@example([2e-05, 1.0])
@example([1e16, 12345678901234567.0])
@example([-0.0, 0.0, 10**400])
@example([math.nan, -math.inf])
def test_column_is_quoted_as_by_the_csv_module(values: list[object]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([value, "x"] for value in values)
    assert "".join(f"{cell},x\r\n" for cell in quoted(values)) == text.getvalue()


def test_numbers_that_are_none_are_empty() -> None:
    assert CELLS.column([float("-inf"), 1.0, float("nan")], json.dumps) == ["", 1.0, ""]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""), (True, "true"), (False, "false"), (0, 0), (-0.5, -0.5), ("", ""), ("=1", "'=1"),
        ([], ""), ({}, ""), ([1], "[1]"), ({"a": None}, '{"a": null}'),
    ],
)  # fmt: skip
def test_each_kind_of_value_has_its_cell(value: object, expected: object) -> None:
    assert CELLS.cell(value, json.dumps) == expected
    assert type(CELLS.cell(value, json.dumps)) is type(expected)


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers()))
COLUMNS = st.one_of(
    st.lists(VALUES), st.lists(st.none() | st.text()), st.lists(st.none() | st.floats(allow_nan=False) | st.integers())
)


@given(COLUMNS)
def test_a_column_is_made_of_the_cells_of_its_values(values: list[object]) -> None:
    shown = ["" if value is None else value for value in CELLS.column(values, json.dumps)]
    assert shown == [CELLS.cell(value, json.dumps) for value in values]


@pytest.mark.parametrize("text", ["\t", ";", "; ", '"', " ", "\r\n", "a;'", ";-1"])
def test_time_grows_with_the_length_alone(text: str) -> None:
    cells = Cells()
    before = time.process_time()
    cells.disarmed_json(cells.armed(cells.disarmed(text * 200_000)))
    assert time.process_time() - before < 5, "half a second; minutes where it grows with its square"


def test_numbers_of_any_size_are_cells() -> None:
    huge, cells = 10**400, Cells()
    assert cells.cell(huge, str) == huge
    assert [*cells.column([huge, 1], str)] == [huge, 1]
    assert [*cells.column([math.inf, 1.5, None], str)] == ["", 1.5, ""]
