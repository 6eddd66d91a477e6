"""Parts of pages that change by themselves, learned from two crawls."""

from __future__ import annotations

import duckdb
import pytest

from sitemapcrawler.replies.page.content import PARTS
from sitemapcrawler.rules.facts.contents import MIN_DOUBTFUL, MIN_PAGES, volatile

PROSE, PRICES, NUMBERS, LINKS = "prose", "prices", "other numbers", "links"


def page(template: int, *changed: str) -> tuple[int, int]:
    """Hashes of a page now and before, of which these parts differ."""
    parts = [f"{0xAAAA if part in changed else 0:04x}" for part in PARTS[1:]]
    return int(f"{template:04x}{''.join(parts)}", 16), int(f"{template:04x}{'0000' * len(parts)}", 16)


def learned(*pages: tuple[int, int]) -> dict[int, tuple[set[str], set[str]]]:
    """{template: (parts that are not compared, those that are and may be of the template)}"""
    values = ", ".join(f"({now}::UHUGEINT, {before}::UHUGEINT)" for now, before in pages)
    rows = duckdb.sql(volatile(f"SELECT * FROM (VALUES {values}) pages(now, before)")).fetchall()
    found = {template: tuple(map(_parts, (compared, compared - certain))) for template, compared, certain in rows}
    assert len(found) == len(rows)
    every = set(PARTS[1:])
    return {template: (every - compared, doubtful) for template, (compared, doubtful) in found.items()}


def _parts(mask: int) -> set[str]:
    digits = f"{mask:032x}"
    return {part for at, part in enumerate(PARTS) if digits[4 * at : 4 * at + 4] == "ffff"}


@pytest.mark.parametrize(
    ("changed", "same", "parts", "ignored", "doubtful"),
    [
        (4, 4, [NUMBERS], {NUMBERS}, set()),
        (3, 5, [NUMBERS], set(), set()),
        (7, 0, [NUMBERS], set(), set()),
        (8, 0, [NUMBERS, LINKS], {NUMBERS, LINKS}, set()),
        (MIN_DOUBTFUL, 0, [PROSE, LINKS], {LINKS}, {PROSE}),
        (MIN_DOUBTFUL, 0, [PRICES], set(), {PRICES}),
        (MIN_DOUBTFUL - 1, 0, [PRICES], set(), set()),
        (MIN_DOUBTFUL, 2, [PROSE], set(), set()),
    ],
)  # fmt: skip
def test_part_that_changes_on_most_pages_of_a_template(
    changed: int, same: int, parts: list[str], ignored: set[str], doubtful: set[str]
) -> None:
    found = learned(*[page(1, *parts)] * changed, *[page(1)] * same, *[page(2, PROSE)] * MIN_PAGES)
    assert found == {1: (ignored, doubtful), 2: (set(), set())}


def test_pages_of_rare_templates_are_taken_together() -> None:
    rare = [page(template, NUMBERS) for template in range(3, 3 + MIN_PAGES)]
    found = learned(*[page(1)] * MIN_PAGES, *rare)
    assert found == {1: (set(), set())} | {template: ({NUMBERS}, set()) for template in range(3, 3 + MIN_PAGES)}
