"""Which URLs are drawn: the argument, shares, numbers; the same ones in any order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.verification.sampling import FEW, MAX_COUNT, MAX_SEED, RANKS, Sample, ShareDraw, Smallest, rank

URLS = [f"https://example.com/{number}" for number in range(3000)]


@pytest.mark.parametrize(
    ("text", "sample", "canonical"),
    [
        ("1", Sample(count=1), "1"), ("0500", Sample(count=500), "500"),
        (str(MAX_COUNT), Sample(count=MAX_COUNT), str(MAX_COUNT)), ("5%", Sample(share=Fraction(1, 20)), "5%"),
        ("2.5 %", Sample(share=Fraction(1, 40)), "2.5%"), (".1%", Sample(share=Fraction(1, 1000)), "0.1%"),
        ("100.0%", Sample(share=Fraction(1)), "100%"),
        ("0.000000000001%", Sample(share=Fraction(1, 10**14)), "0.000000000001%"),
        ("99.999999999999%", Sample(share=1 - Fraction(1, 10**14)), "99.999999999999%"),
    ],
)  # fmt: skip
def test_argument_is_read_and_written(text: str, sample: Sample, canonical: str) -> None:
    assert Sample.parse(text) == sample
    assert str(sample) == canonical
    assert Sample.parse(canonical) == sample


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0", "verifies nothing"),
        ("100001", "more than 100000; take a share"),
        ("0%", "above 0 %"),
        ("0.0%", "above 0 %"),
        ("100.01%", "up to 100 %"),
        ("1000%", "up to 100 %"),
        *((text, "neither a number nor a share") for text in ("", "%", ".%", "5.%", "-5", "+5", "1e3", "5%%", "٣", "1,5%", "half", "1_000", "9" * 13)),
    ],
)  # fmt: skip
def test_bad_argument_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Sample.parse(text)


@given(st.text(max_size=20))
def test_any_text_is_a_sample_or_an_error(text: str) -> None:
    try:
        sample = Sample.parse(text)
    except ValueError:
        return
    assert Sample.parse(str(sample)) == sample


def test_rank_is_fixed_for_ever() -> None:
    """A change would give every user another sample for the same seed."""
    assert rank("https://example.com/", 0) == 0x356F458D60FB9853E76D8B1A4D1137D6
    assert rank("https://example.com/", MAX_SEED) != rank("https://example.com/", 0)
    assert 0 <= rank("\udcff", 7) < RANKS


@pytest.mark.parametrize("percent", [1, 10, 50])
def test_share_draws_about_that_share(percent: int) -> None:
    drawn = sum(map(ShareDraw(Fraction(percent, 100)).takes, URLS))
    deviation = (len(URLS) * percent * (100 - percent)) ** 0.5 / 100
    assert abs(drawn - len(URLS) * percent / 100) < 4 * deviation


def test_share_of_all_draws_all() -> None:
    assert all(map(ShareDraw(Fraction(1)).takes, URLS))


def test_seeds_draw_other_urls_and_the_same_seed_the_same() -> None:
    one, other = (set(filter(ShareDraw(Fraction(1, 4), seed).takes, URLS)) for seed in (1, 2))
    assert one == set(filter(ShareDraw(Fraction(1, 4), 1).takes, URLS))
    assert 0.15 < len(one & other) / len(one) < 0.35


def test_smaller_share_is_part_of_a_larger_one() -> None:
    small, large = (set(filter(ShareDraw(Fraction(percent, 100), 3).takes, URLS)) for percent in (5, 10))
    assert small < large


def drawn(urls: list[str], count: int, seed: int = 0) -> Smallest[str]:
    smallest: Smallest[str] = Smallest(count, seed)
    for url in urls:
        smallest.offer(url, f"payload of {url}")
    return smallest


def test_number_draws_the_urls_of_the_smallest_ranks_in_any_order() -> None:
    expected = sorted(URLS, key=lambda url: rank(url, 5))[:100]
    for order in range(3):
        urls = random.Random(order).sample(URLS, len(URLS))
        assert drawn(urls, 100, 5).chosen() == [(url, f"payload of {url}") for url in expected]


def test_url_listed_twice_is_one() -> None:
    smallest = drawn(URLS[:10] * 3, 20)
    assert (len(smallest), smallest.complete, smallest.distinct) == (10, True, 10)
    assert sorted(url for url, _ in smallest.chosen()) == sorted(URLS[:10])


@given(st.lists(st.integers(0, 40), max_size=120), st.integers(1, 30))
def test_every_payload_waits_or_is_given_back_once(numbers: list[int], count: int) -> None:
    smallest: Smallest[int] = Smallest(count)
    back = [one for place, number in enumerate(numbers) for one in smallest.offer(f"https://e.com/{number}", place)]
    held = [payload for _, payload in smallest.chosen()] + smallest.others()
    assert sorted(back + held) == list(range(len(numbers)))
    urls = {f"https://e.com/{number}" for number in numbers}
    assert [url for url, _ in smallest.chosen()] == sorted(urls, key=lambda url: rank(url, 0))[:count]
    assert smallest.complete == (len(urls) <= count)


def stratified(segments: dict[str, str], order: Iterable[str], count: int) -> Smallest[str]:
    smallest: Smallest[str] = Smallest(count, 3)
    for url in order:
        smallest.offer(url, url, segments[url])
    return smallest


@given(st.lists(st.sampled_from("abcdef"), max_size=200), st.integers(1, 120), st.randoms(use_true_random=False))
def test_sample_of_any_site_has_its_size_and_pages_of_every_segment(
    names: list[str], count: int, shuffle: Random
) -> None:
    segments = {f"https://e.com/{number}": name for number, name in enumerate(names)}
    smallest = stratified(segments, segments, count)
    urls = [url for url, _ in smallest.chosen()]
    assert len(set(urls)) == len(urls) == len(smallest) == min(count, len(names))
    found, sizes = Counter(map(segments.__getitem__, urls)), Counter(names)
    if count >= len(sizes):
        least = min(FEW, max(1, count // (2 * len(sizes)))) if sizes else 0
        assert all(found[name] >= min(least, size) for name, size in sizes.items())
    assert urls == [
        url for url, _ in stratified(segments, shuffle.sample(list(segments), len(segments)), count).chosen()
    ]
    by_rank = sorted(segments, key=lambda url: rank(url, 3))
    for name, number in found.items():  # of each segment a random part: those of the smallest ranks
        assert {url for url in urls if segments[url] == name} == set(
            [url for url in by_rank if segments[url] == name][:number]
        )


def test_sample_is_proportional_to_large_segments_and_has_a_few_pages_of_small_ones() -> None:
    segments = {url: "shop" if at < 2000 else "blog" if at < 2990 else "legal" for at, url in enumerate(URLS)}
    found = Counter(segments[url] for url, _ in stratified(segments, URLS, 300).chosen())
    assert found["legal"] == FEW
    assert abs(found["shop"] - 193) < 4 * (300 * 2 / 9) ** 0.5
    assert found.total() == 300


def test_sample_without_segments_is_the_one_of_one_segment() -> None:
    one = stratified(dict.fromkeys(URLS, "all"), URLS, 100)
    assert [url for url, _ in one.chosen()] == [url for url, _ in drawn(URLS, 100, 3).chosen()]


def test_payload_of_a_held_url_can_be_found_and_the_first_one_stays() -> None:
    smallest: Smallest[str] = Smallest(1)
    assert smallest.offer("https://e.com/a", "first") == []
    assert smallest.offer("https://e.com/a", "second") == ["second"]
    assert smallest.find("https://e.com/a") == "first"
    assert smallest.find("https://e.com/b") is None


def test_memory_is_bounded_by_the_number() -> None:
    smallest = drawn(URLS, 50)
    assert len(smallest._held) == len(smallest) == 50
    for url in URLS:
        smallest.offer(url, url, url[-1])
    assert len(smallest._held) <= 50 + 10 * FEW


@pytest.mark.parametrize("count", [100, 1000])
def test_number_of_distinct_urls_is_estimated(count: int) -> None:
    errors = [drawn(URLS, count, seed).distinct / len(URLS) - 1 for seed in range(20)]
    assert all(abs(error) < 4 / (count - 2) ** 0.5 for error in errors)
    assert abs(sum(errors)) / 20 < 1.5 / (20 * (count - 2)) ** 0.5


def test_estimate_of_distinct_urls_is_above_what_is_held() -> None:
    assert all(drawn(URLS[:2], 1, seed).distinct >= 2 for seed in range(20))
