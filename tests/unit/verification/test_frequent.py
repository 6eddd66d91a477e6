"""The value that most of many have."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.rules.facts.tally import CAPACITY, Frequent

VALUES = st.lists(st.lists(st.integers(0, 300).map(str)), max_size=8)


@given(VALUES, VALUES)
def test_count_is_short_by_no_more_than_its_bound(batches: list[list[str]], others: list[list[str]]) -> None:
    one, other = Frequent(), Frequent()
    for values in batches:
        one.count(values)
    for values in others:
        other.count(values)
    one.merge(other)
    every = [value for values in batches + others for value in values]
    most = max(Counter(every).values(), default=0)
    assert one.total == len(every)
    assert most - len(every) / (CAPACITY + 1) <= one.most <= most


def test_frequent_value_is_found_among_thousands_of_others() -> None:
    counted = Frequent()
    for number in range(100):
        counted.count(["often"] * 90 + [f"rare {number} {place}" for place in range(10)])
    assert 9_000 - 10_000 / (CAPACITY + 1) <= counted.most <= 9_000
    assert len(counted._counts) <= CAPACITY


@given(VALUES, VALUES)
def test_count_goes_on_where_it_was_kept(batches: list[list[str]], others: list[list[str]]) -> None:
    whole = Frequent()
    for values in batches:
        whole.count(values)
    kept = Frequent.from_state(json.loads(json.dumps(whole.state())))
    assert (kept.total, kept.most, kept.state()) == (whole.total, whole.most, whole.state())
    for values in others:
        whole.count(values)
        kept.count(values)
    assert kept.state() == whole.state()


def test_what_was_kept_is_no_part_of_what_goes_on() -> None:
    counted = Frequent()
    counted.count(["a"])
    total, counts = counted.state()
    counted.count(["a"])
    assert (total, counts) == (1, {"a": 1})
