"""The share of bad URLs that a sample tells, and how often its interval holds the truth."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import partial
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.jobs.page_choice import FEW
from sitemapcrawler.rules.facts.replied import CONFIDENCE, Stratum, estimate, most, stratified
from sitemapcrawler.verification.sampling import ShareDraw, page_number


def chance(found: int, drawn: int, marked: int, population: int) -> Fraction:
    """Of `found` marked ones among those drawn, exactly."""
    return Fraction(comb(marked, found) * comb(population - marked, drawn - found), comb(population, drawn))


def coverage(drawn: int, marked: int, population: int) -> float:
    """How often the interval holds the truth, over all samples."""
    holds = Fraction(0)
    for found in range(max(0, drawn - (population - marked)), min(drawn, marked) + 1):
        told = estimate(found, drawn, population)
        if told.low * population - 1e-6 <= marked <= told.high * population + 1e-6:
            holds += chance(found, drawn, marked, population)
    return float(holds)


@pytest.mark.parametrize(
    ("drawn", "population"), [(1, 2), (1, 50), (5, 6), (10, 1000), (30, 60), (59, 60), (100, 400), (200, 5000)]
)
def test_interval_holds_the_truth_in_95_of_100_samples(drawn: int, population: int) -> None:
    parts = {population // part for part in (1, 2, 5, 20, 100)}
    truths = {0, 1, 2, 3, population - 1, *parts} & set(range(population + 1))
    assert min(coverage(drawn, marked, population) for marked in truths) >= CONFIDENCE


def test_interval_is_no_wider_than_it_must_be() -> None:
    """One more at either end would have been told by fewer than 1 in 40 samples."""
    population, drawn, found = 500, 80, 6
    told = estimate(found, drawn, population)
    high, low = round(told.high * population), round(told.low * population)
    assert sum(chance(x, drawn, high + 1, population) for x in range(found + 1)) <= Fraction(1, 40)
    assert sum(chance(x, drawn, high, population) for x in range(found + 1)) > Fraction(1, 40)
    assert 1 - sum(chance(x, drawn, low - 1, population) for x in range(found)) <= Fraction(1, 40)
    assert 1 - sum(chance(x, drawn, low, population) for x in range(found)) > Fraction(1, 40)


TRUTHS = (0, 0.002, 0.02, 0.1, 0.5, 0.97, 1)
SITE = [f"https://example.com/page/{number}" for number in range(1000)]


def bad_ones(urls: list[str], truth: float) -> int:
    """Of a site whose first pages are bad: what is near in the sitemap is often bad together."""
    return sum(int(url.rpartition("/")[2]) < truth * len(SITE) for url in urls)


def held(samples: list[list[str]], population: int | None, truth: float) -> float:
    told = [estimate(bad_ones(urls, truth), len(urls), population or round(len(urls) / 0.1)) for urls in samples]
    return sum(one.low - 1e-9 <= truth <= one.high + 1e-9 for one in told) / len(told)


def test_samples_by_share_hold_the_truth() -> None:
    """A share is drawn, so the number drawn is a matter of chance; the population may be known or estimated from it."""
    samples = [list(filter(ShareDraw(Fraction(1, 10), seed).takes, SITE)) for seed in range(150)]
    assert len(set(map(len, samples))) > 10
    assert all(held(samples, len(SITE), truth) >= 0.93 for truth in TRUTHS)
    assert all(held(samples, None, truth) >= 0.93 for truth in TRUTHS)


def test_samples_by_number_hold_the_truth() -> None:
    samples = [sorted(SITE, key=partial(page_number, seed=seed))[:80] for seed in range(150)]
    assert all(held(samples, len(SITE), truth) >= 0.93 for truth in TRUTHS)


def test_nothing_checked_tells_nothing() -> None:
    told = estimate(0, 0, 50)
    assert (told.checked, told.low, told.high) == (0, 0, 1)
    assert str(estimate(0, 0, 0)) == "unknown: none of 0 was checked"


def test_all_checked_is_exact() -> None:
    told = estimate(3, 12, 12)
    assert (told.share, told.low, told.high, told.exact) == (0.25, 0.25, 0.25, True)
    assert str(told) == "25.0 % of 12"


def test_population_estimated_too_small_is_what_was_checked() -> None:
    assert estimate(1, 10, 7) == estimate(1, 10, 10)


def test_impossible_numbers_are_refused() -> None:
    for bad, checked in ((-1, 3), (4, 3)):
        with pytest.raises(ValueError, match="bad ones of 3"):
            estimate(bad, checked, 10)


def test_wide_samples_of_large_sites_agree_with_the_normal_distribution() -> None:
    told = estimate(5_000, 100_000, 10**9)
    half = 1.96 * (0.05 * 0.95 / 100_000) ** 0.5
    assert told.high - told.low == pytest.approx(2 * half, rel=0.01)
    # Where a half of all was drawn, the interval shrinks by the root of the other half.
    half_drawn = estimate(5_000, 100_000, 200_000)
    assert half_drawn.high - half_drawn.low == pytest.approx(2 * half * 0.5**0.5, rel=0.01)


@pytest.mark.parametrize(
    ("bad", "checked", "population", "text"),
    [
        (12, 600, 9000, "2.0 % of 9,000 (1.1 to 3.4 %, from a sample of 600)"),
        (0, 40_000, 10**6, "0.0 % of 1,000,000 (0.0 to 0.01 %, from a sample of 40,000)"),
        (0, 0, 50, "unknown: none of 50 was checked"),
        (39_999, 40_000, 10**6, "100.00 % of 1,000,000 (99.99 to 100.00 %, from a sample of 40,000)"),
    ],
)
def test_estimate_as_text(bad: int, checked: int, population: int, text: str) -> None:
    assert str(estimate(bad, checked, population)) == text


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(n, 3000))))
def test_interval_holds_the_share_and_what_is_known(numbers: tuple[int, int, int]) -> None:
    bad, checked, population = numbers
    told = estimate(bad, checked, population)
    assert bad / population <= told.low + 1e-9
    assert told.low <= told.share + 0.5 / population
    assert told.share <= told.high + 0.5 / population
    assert told.high <= 1 - (checked - bad) / population + 1e-9


def test_more_found_means_more_in_all() -> None:
    ends = [most(found, 50, 700) for found in range(51)]
    assert ends == sorted(ends)
    assert ends[-1] == 700


def test_share_of_strata_weighs_each_by_its_population() -> None:
    """Of a large part with 1 % of bad pages and a small one with 50 %, sampled alike."""
    strata = [Stratum(1, 100, 9900), Stratum(50, 100, 100)]
    found = stratified(strata, 10_000)
    assert (found.bad, found.checked, found.population) == (51, 200, 10_000)
    assert found.share == pytest.approx(0.0149)
    assert found.low < 0.0149 < found.high < 0.08


@pytest.mark.parametrize("strata", [[], [Stratum(3, 40, 900)], [Stratum(3, 40, 900), Stratum(0, 0, 7)]])
def test_one_stratum_is_a_random_sample(strata: list[Stratum]) -> None:
    assert stratified(strata, 907) == estimate(3 * bool(strata), 40 * bool(strata), 907)


def test_strata_that_were_checked_as_a_whole_are_exact() -> None:
    assert stratified([Stratum(1, 10, 10), Stratum(2, 30, 30)], 40) == estimate(3, 40, 40)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(1, 500)), min_size=1, max_size=8))
def test_share_of_any_strata_is_in_its_interval(parts: list[tuple[int, int, int]]) -> None:
    strata = [Stratum(min(bad, checked), checked, checked + more) for bad, checked, more in parts]
    found = stratified(strata, sum(int(one.population) for one in strata))
    assert 0 <= found.low <= found.share + 1e-9 and found.share <= found.high + 1e-9 <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("truths", [(0.02, 0.02, 0.3), (0.0, 0.1, 1.0), (0.5, 0.05, 0.0)])
def test_interval_of_strata_holds_the_truth_in_95_of_100_samples(truths: tuple[float, ...]) -> None:
    sizes = {"a": 2000, "b": 900, "c": 100}
    pages = {
        f"https://e.com/{name}/{at}": (name, at < size * truth)
        for (name, size), truth in zip(sizes.items(), truths, strict=True)
        for at in range(size)
    }
    truth = sum(bad for _, bad in pages.values()) / len(pages)
    holds = 0
    for seed in range(100):
        by_number = sorted(pages, key=partial(page_number, seed=seed))
        few = [url for name in sizes for url in [url for url in by_number if pages[url][0] == name][:FEW]]
        found = Counter(pages[url] for url in list(dict.fromkeys([*few, *by_number]))[:150])
        strata = [
            Stratum(found[name, True], found[name, True] + found[name, False], size) for name, size in sizes.items()
        ]
        told = stratified(strata, len(pages))
        holds += told.low <= truth <= told.high
    assert holds >= 91  # a fair coin of 95 % falls below in 3 of 100 runs
