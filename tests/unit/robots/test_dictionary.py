"""Dictionaries of structured fields: RFC 9651."""

from __future__ import annotations

import time

import pytest

from sitemapcrawler.robots.usage import parse_dictionary


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("", {}),
        ("train-ai=y, search=n", {"train-ai": "y", "search": "n"}),
        ("  a=1,\tb=2 \t,c=3 ", {"a": "1", "b": "2", "c": "3"}),
        ("a", {"a": "?1"}),
        ("a=?0, b;x=1, c", {"a": "?0", "b": "?1", "c": "?1"}),
        ("a=1;x;y=2, b=2;  z", {"a": "1", "b": "2"}),
        ('a="x, \\"y\\"", b=:aGk=:', {"a": '"x, \\"y\\""', "b": ":aGk=:"}),
        ("a=1.5, b=-999999999999999, c=@1659578233", {"a": "1.5", "b": "-999999999999999", "c": "@1659578233"}),
        ('a=%"f%c3%bc"', {"a": '%"f%c3%bc"'}),
        ("a=(b c;x  d), e=()", {"a": "(b c;x  d)", "e": "()"}),
        ("*a.b_c-1=*t/x:y", {"*a.b_c-1": "*t/x:y"}),
        ("a=1, b=2, a=3", {"a": "3", "b": "2"}),
    ],
)
def test_values_are_as_written_and_the_last_of_equal_keys_counts(text: str, members: dict[str, str]) -> None:
    assert parse_dictionary(text) == members


@pytest.mark.parametrize(
    "text",
    [
        "a=1,", ",a=1", "a=1 b=2", "a=1,,b=2", "A=1", "1a=1", "a =1", "a= 1", "a=", "a=é", "a=٣", 'a="é"', 'a="x',
        'a="\\n"', "a=1.", "a=1.2345", "a=1234567890123456", "a=?2", "a=:x", "a=(b", "a=(b,c)", "a;", "a;X=1",
        "a=1;x=", 'a=%"f%C3"', "a\n", "train-ai: n",
    ],
)  # fmt: skip
def test_anything_else_is_no_dictionary(text: str) -> None:
    assert parse_dictionary(text) is None


@pytest.mark.parametrize("text", ['a="' + "\\" * 16_000, "a=(" + "b " * 8_000, "a" + ";b" * 8_000 + ";", "a," * 8_000])
def test_a_long_broken_value_takes_no_longer_than_its_length(text: str) -> None:
    start = time.thread_time()
    assert parse_dictionary(text) is None
    assert time.thread_time() - start < 0.5
