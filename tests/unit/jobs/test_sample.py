"""Which pages of a site a sample of a fixed size has."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from sitemapcrawler.jobs import page_choice
from sitemapcrawler.jobs.page_choice import FEW, SampleDraw, drawn
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.urls.segments import Segment
from sitemapcrawler.verification.sampling import page_number

SITEMAP = "https://e.com/s.xml"
SEED = 3
SEGMENTS = [Segment.parse(text) for text in ("shop=/shop/", "blog=/blog/", "legal=/legal/")]
NUMBERS = [f"https://e.com/{number}" for number in range(300)]
UNASKED = {"kind": "unchecked", "reason": "sampled-out"}


def draw(
    store: Store, listed: Mapping[str, Sequence[str]], count: int, segments: Sequence[Segment] = (), seed: int = SEED
) -> SampleDraw:
    """A sample of the URLs that files list."""
    rows = [{"loc": loc, "sitemap": file, "reply": UNASKED} for file, locs in listed.items() for loc in locs]
    with store.transaction() as connection:
        connection.execute("DELETE FROM urls")
        store.insert_rows("urls", rows)
    return drawn(store, count, segments, partial(page_number, seed=seed))


def locs(sample: SampleDraw) -> list[str]:
    return [note.record.loc for notes in sample.notes.values() for note in notes]


def smallest(urls: Sequence[str], count: int) -> list[str]:
    """Those that are drawn without segments, in the order of their numbers."""
    return sorted(urls, key=partial(page_number, seed=SEED))[:count]


def test_urls_with_the_smallest_numbers_are_drawn_in_any_order(store: Store) -> None:
    for order in range(3):
        found = draw(store, {SITEMAP: random.Random(order).sample(NUMBERS, len(NUMBERS))}, 100)
        assert {*locs(found)} == {*smallest(NUMBERS, 100)}
        assert (found.population, len(locs(found))) == (300, 100)
    assert {*locs(draw(store, {SITEMAP: NUMBERS}, 100, seed=4))} != {*smallest(NUMBERS, 100)}


def test_entries_come_file_by_file_with_their_numbers(store: Store) -> None:
    files = {f"https://e.com/{name}.xml": NUMBERS[at * 100 : at * 100 + 100] for at, name in enumerate("bac")}
    found = draw(store, files, 60)
    assert [*found.notes] == sorted(files)
    for file, notes in found.notes.items():
        assert [files[file][note.number - 1] for note in notes] == [note.record.loc for note in notes]
        assert [note.number for note in notes] == sorted(note.number for note in notes)
    assert found.offered == {file: {None: 100} for file in files}


def test_url_listed_or_written_twice_is_one_and_all_its_entries_are_drawn(store: Store) -> None:
    again = [url.replace("https://e.com/", "HTTPS://e.com:443/") for url in NUMBERS[:50]]
    found = draw(store, {SITEMAP: [*NUMBERS[:50], *again], "https://e.com/t.xml": NUMBERS[:50]}, 20)
    assert found.population == 50
    assert len(locs(found)) == 60
    assert {url.replace("HTTPS://e.com:443/", "https://e.com/") for url in locs(found)} == {*smallest(NUMBERS[:50], 20)}


def test_url_that_is_listed_over_and_over_does_not_fill_the_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = page_choice.SAMPLE.replace(str(page_choice.MAX_REPEATS), "3")
    monkeypatch.setattr(page_choice, "SAMPLE", limited)
    found = locs(draw(store, {SITEMAP: [NUMBERS[0]] * 50 + NUMBERS[1:10]}, 10))
    assert {*found} == {*NUMBERS[:10]}
    assert len(found) == 13


def test_what_may_not_be_requested_is_not_drawn(store: Store) -> None:
    blocked = {**UNASKED, "reason": "blocked"}
    rows = [{"loc": url, "sitemap": SITEMAP, "reply": UNASKED if url.endswith("7") else blocked} for url in NUMBERS]
    with store.transaction():
        store.insert_rows("urls", rows)
    found = drawn(store, 500, (), partial(page_number, seed=SEED))
    assert sorted(locs(found)) == sorted(url for url in NUMBERS if url.endswith("7"))
    assert [note.number for note in found.notes[SITEMAP]] == [*range(8, 300, 10)]
    assert found.offered == {SITEMAP: {None: 30}}


def test_site_without_urls_has_an_empty_sample(store: Store) -> None:
    found = draw(store, {}, 10, SEGMENTS)
    assert (locs(found), found.population, found.shares()) == ([], 0, {})


@pytest.mark.parametrize("count", [1, 3, 7, 30, 100, 400])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (0, 5, 200), (40, 40, 0), (3, 150, 12)])
def test_sample_has_its_size_and_pages_of_every_segment(store: Store, sizes: Sequence[int], count: int) -> None:
    by_segment = {
        one.name: [f"https://e.com/{one.name}/{at}" for at in range(size)]
        for one, size in zip(SEGMENTS, sizes, strict=True)
        if size
    }
    urls = [url for part in by_segment.values() for url in part]
    found = draw(store, {SITEMAP: random.Random(count).sample(urls, len(urls))}, count, SEGMENTS)
    chosen = {*locs(found)}
    assert len(locs(found)) == len(chosen) == min(count, len(urls))
    assert found.offered == {SITEMAP: {name: len(part) for name, part in by_segment.items()}}
    assert sum(found.shares().values()) == 1
    least = min(FEW, max(1, count // (2 * len(by_segment)))) if count >= len(by_segment) else 0
    for part in by_segment.values():
        of_segment = chosen.intersection(part)
        assert len(of_segment) >= min(least, len(part))
        assert of_segment == {*smallest(part, len(of_segment))}


def test_sample_is_proportional_to_large_segments_and_has_a_few_pages_of_small_ones(store: Store) -> None:
    sizes = {"shop": 2000, "blog": 990, "legal": 10}
    urls = [f"https://e.com/{name}/{at}" for name, size in sizes.items() for at in range(size)]
    found = Counter(url.split("/")[3] for url in locs(draw(store, {SITEMAP: urls}, 300, SEGMENTS)))
    assert found["legal"] == FEW
    assert abs(found["shop"] - 193) < 4 * (300 * 2 / 9) ** 0.5
    assert found.total() == 300
