"""What a sample tells of all URLs: the share of bad ones, with the interval it lies in.

The interval is exact for what is drawn without replacement from a finite number (hypergeometric, equal tails): it
holds the truth in at least 95 of 100 samples, however few are bad and however many of all are drawn. Nothing is
assumed that fails near 0 %, where sitemaps are. Source: J. P. Buonaccorsi, A Note on Confidence Intervals for
Proportions in Finite Populations, The American Statistician 41 (1987).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2
"""Chance that the truth lies beyond one end of the interval, at most."""
NEGLIGIBLE = 1e-12
"""Share of a sum that its smaller and smaller terms may lack."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The share of bad URLs among all, by those that were checked."""

    population: int
    """Distinct URLs that the sample was drawn from."""
    checked: int
    """URLs of the sample that were asked and answered for."""
    bad: int
    """How many of these are bad."""
    share: float | None
    """Share of bad ones, from 0 to 1; null where nothing was checked."""
    low: float
    """Lower end of the 95 % interval of the share."""
    high: float
    """Upper end."""

    @property
    def exact(self) -> bool:
        """True where all were checked: nothing is estimated."""
        return self.checked == self.population

    def __str__(self) -> str:
        """`2.0 % of 9,000 (1.1 to 3.3 %, by 600 of them)`."""
        if self.share is None:
            return f"unknown of {self.population:,}: none was checked"
        if self.exact:
            return f"{_percent(self.share)} % of {self.population:,}"
        interval = f"{_percent(self.low)} to {_percent(self.high)} %"
        return f"{_percent(self.share)} % of {self.population:,} ({interval}, by {self.checked:,} of them)"


def estimate(bad: int, checked: int, population: int) -> Estimate:
    """Estimate the share of bad ones in a population by the number of bad ones among those checked.

    Those checked must be a chance sample of the population; where its size is a matter of chance too (a share of all
    was drawn), it is taken as given, which changes nothing. A `population` that is itself an estimate may be smaller
    than what was checked: then all were. ValueError where `bad` is not from 0 to `checked`.
    """
    if not 0 <= bad <= checked:
        raise ValueError(f"{bad} bad ones of {checked}")
    population = max(population, checked)
    if not checked:
        return Estimate(population, 0, 0, None, 0.0, 1.0)
    low = population - most(checked - bad, checked, population)
    high = most(bad, checked, population)
    return Estimate(population, checked, bad, bad / checked, low / population, high / population)


@lru_cache(maxsize=4096)
def most(found: int, drawn: int, population: int) -> int:
    """The largest number of marked ones in a population of which `drawn` may hold as few as `found`, by no less a
    chance than `TAIL`."""
    low, high = found, population - (drawn - found)
    while low < high:
        middle = (low + high + 1) // 2
        if _is_likely(found, drawn, middle, population):
            low = middle
        else:
            high = middle - 1
    return low


def _is_likely(found: int, drawn: int, marked: int, population: int) -> bool:
    """True where `drawn` of a population hold `found` marked ones or fewer by a chance above `TAIL`."""
    if found * population >= drawn * marked:
        return True  # no fewer than are to be expected
    rest = population - marked
    term = exp(_log_choose(marked, found) + _log_choose(rest, drawn - found) - _log_choose(population, drawn))
    total = term
    # Below what is to be expected each term is smaller than the one before; an impossible one is 0.
    for x in range(found, 0, -1):
        term *= x * (rest - drawn + x) / ((marked - x + 1) * (drawn - x + 1))
        total += term
        if total > TAIL or term < total * NEGLIGIBLE:
            break
    return total > TAIL


def _log_choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


def _percent(share: float) -> str:
    """With one decimal, or two where that would be 0.0 of something, or 100 of not all."""
    text = f"{100 * share:.1f}"
    return f"{100 * share:.2f}" if text in ("0.0", "100.0") and 0 < share < 1 else text
