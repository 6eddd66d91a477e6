"""Records that wait for the sample to be known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.notes import Note
from sitemapcrawler.verification import sampling as holding
from sitemapcrawler.verification.sampling import Holding

SITEMAP = "https://e.com/s.xml"


def notes(*numbers: int, sitemap: str = SITEMAP) -> list[Note]:
    made = [UrlRecord(f"https://e.com/{number}", sitemap=sitemap, line=number) for number in numbers]
    return [Note(record, place=record.line or 0) for record in made]


def lines(held: Holding) -> dict[str, list[int | None]]:
    return {url: [note.record.line for note in drawn] for url, drawn in held.draw().items()}


@pytest.mark.parametrize("segment", [lambda _: None, lambda number: "ab"[number % 2], lambda number: str(number % 40)])
def test_every_record_is_released_or_drawn_and_none_twice(segment: Callable[[int], str | None]) -> None:
    held = Holding(10, 0)
    offered = notes(*range(500))
    for note in offered:
        note.record.segment = segment(note.place)
    released = [record for start in range(0, 500, 7) for record in held.offer(offered[start : start + 7])]
    drawn = [record for alike in held.draw().values() for record in alike]
    assert len(drawn) == 10
    assert sorted(map(id, released + drawn + held.others())) == sorted(map(id, offered))


def test_sample_is_the_same_in_any_order() -> None:
    numbers = list(range(200))
    one, other = Holding(5, 3), Holding(5, 3)
    one.offer(notes(*numbers))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        other.offer(notes(number))
    assert lines(one) == lines(other)


def test_records_of_one_url_stay_together() -> None:
    held = Holding(1, 0)
    assert held.offer(notes(1)) == []
    assert held.offer(notes(1, sitemap="https://e.com/t.xml")) == []
    assert lines(held) == {SITEMAP: [1], "https://e.com/t.xml": [1]}
    assert held.listed == {SITEMAP: {None: 1}, "https://e.com/t.xml": {None: 1}}


def test_what_is_listed_over_and_over_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "MAX_REPEATS", 3)
    held = Holding(1, 0)
    assert [len(held.offer(notes(1))) for _ in range(6)] == [0, 0, 0, 0, 1, 1]
    assert len(lines(held)[SITEMAP]) == 4


def test_population_is_never_more_than_was_offered() -> None:
    held = Holding(5, 0)
    held.offer(notes(*range(40)))
    assert 5 < held.population <= 40
    few = Holding(50, 0)
    few.offer(notes(*range(40), *range(40)))
    assert few.population == 40
