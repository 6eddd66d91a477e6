"""What is read does not depend on the pieces a document arrives in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.reader import Document, Limits
from tests.unit.reader import growing, mutating
from tests.unit.reader.reading import URL, URLSET, Reading, read, url

DATA = Path(__file__).parents[2] / "data"
HARD = sorted(path for folder in ("hard", "pitfalls") for path in (DATA / folder).iterdir() if path.is_file())
SMALL = Limits(max_element=300, max_head=2000)
"""Limits that short documents reach."""
TIMES = 6


def cut(body: bytes, seed: int, mean: int) -> Iterator[bytes]:
    """`body` in pieces of any size, `mean` bytes on average."""
    sizes = random.Random(seed)
    start = 0
    while start < len(body):
        size = 1 + int(sizes.expovariate(1 / mean))
        yield body[start : start + size]
        start += size


def in_pieces(body: bytes, seed: int, mean: int, limits: Limits) -> dict[str, Any]:
    document = Document(URL, limits=limits)
    reading = Reading(document)
    for records in document.read(cut(body, seed, mean)):
        reading.records += records
    return told(reading)


def told(reading: Reading) -> dict[str, Any]:
    """What was read; of a document that was given up, without the bytes of it that had come."""
    facts = reading.facts()
    return facts if facts["outcome"] in ("ok", "recovered") else {**facts, "bytes": None}


@pytest.mark.parametrize("limits", [Limits(), SMALL], ids=["usual limits", "small limits"])
@pytest.mark.parametrize("path", HARD, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_hard_document_is_read_alike_in_any_pieces(path: Path, limits: Limits) -> None:
    body = path.read_bytes()[: 1 << 16]
    whole = told(read(body, limits=limits))
    for seed in range(TIMES):
        assert in_pieces(body, seed, 1 + 4**seed % 1000, limits) == whole


def test_blanks_behind_an_entry_do_not_count_for_its_limit() -> None:
    body = (DATA / "fuzz" / "xml-blanks-across-the-limit.xml").read_bytes()
    limits = Limits(max_element=700)
    whole = told(read(body, limits=limits))
    assert whole["url_count"] == 3
    for seed in range(TIMES):
        assert in_pieces(body, seed, 1 + 4**seed % 1000, limits) == whole


@given(st.data(), growing.documents, st.integers(0, 1 << 16), st.sampled_from((1, 4, 20, 100)))
def test_a_broken_document_is_read_alike_in_any_pieces(data: st.DataObject, text: str, seed: int, mean: int) -> None:
    body = data.draw(mutating.mutated(text.encode()))
    limits = data.draw(st.sampled_from((Limits(), SMALL)))
    assert in_pieces(body, seed, mean, limits) == told(read(body, limits=limits))


@pytest.mark.parametrize("end", ["</url >", "</sitemap>", "</s:url>", "</url\n>"])
def test_an_end_tag_of_another_kind_is_not_jumped_over(end: str) -> None:
    other = f"<url><loc>https://e.com/?a&b</loc>{end}"
    body = (URLSET.replace(">\n", ' xmlns:s="urn:s">\n') + url("https://e.com/1", "<x/>") + other * 3).encode()
    whole = read(body).facts()
    for size in range(1, len(body)):
        assert read(body, size).facts() == whole
