"""The time that the rules take for a value grows with its length alone, whatever it is made of."""

from __future__ import annotations

import time

import pytest

from sitemapcrawler.rules.families.news import _folded
from sitemapcrawler.urls.grammar import form_of
from tests.unit.rules.listing import on_url

LENGTH = 50_000
MOST_S = 3.0
"""Seconds of this process; a hundredth of it is usual, and minutes where the time grows with the square."""


@pytest.mark.parametrize(
    "part", ["l", "a=1&", "sitemap", "/sitemap", " ", "\t", " \n", "%20", "../", "@a.", "-", "(", "password"]
)
def test_long_text(part: str) -> None:
    text = part * (LENGTH // len(part))
    before = time.process_time()
    on_url(f"https://e.com/{text}b")
    form_of(f"https://e.com/a{text}b")
    _folded(f"a{text}b")
    assert time.process_time() - before < MOST_S
