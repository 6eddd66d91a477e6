"""Which URLs are drawn: the argument, and shares."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.verification.sampling import MAX_COUNT, MAX_SEED, RANKS, Sample, ShareDraw, rank

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
        ("100.01%", "at most 100 %"),
        ("1000%", "at most 100 %"),
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
