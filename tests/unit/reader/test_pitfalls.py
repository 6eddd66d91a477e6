"""The reader gives what is expected of each hard document, whole and in pieces."""

from __future__ import annotations

import gzip
import re

import pytest

from tests.hard_documents import CASES, FOLDER, HOME, URL
from tests.unit.reader.reading import Reading, read

ELSEWHERE = {
    "11": "robots.txt is read by discovery",
    "16": "huge sets are written while testing, not kept",
    "20": "what Scrapy does is tested by real crawls",
}
"""Pitfalls without a file here."""


ENTRY = re.compile("<url|<sitemap|<s:url|^\ufeff?https?://")
OWN_TESTS = {"04-truncated-gzip.xml.gz", "09-index-that-lists-everything.xml"}
"""Files that have a test of their own below."""


def pitfall(name: str, size: int | None = None) -> Reading:
    return read((FOLDER / name).read_bytes(), size, url=URL)


def test_every_pitfall_and_every_file_has_a_case() -> None:
    files = {path.name for path in FOLDER.iterdir()}
    assert files == set(CASES) | OWN_TESTS
    numbers = {name.partition("-")[0] for name in files}
    assert numbers | set(ELSEWHERE) == {f"{n:02}" for n in range(1, 21)}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wanted(name: str) -> None:
    case, reading = CASES[name], pitfall(name)
    assert (reading.locs, reading.recovered) == (case.locs, case.repaired)
    assert (reading.document.format, reading.document.outcome) == (case.format, case.outcome)
    assert set(reading.rules) == set(case.rules)
    assert (reading.document.error is None) is (case.outcome == "ok")


@pytest.mark.parametrize("name", CASES)
def test_lines_are_those_on_which_the_entries_begin(name: str) -> None:
    body = (FOLDER / name).read_bytes()
    while body.startswith(b"\x1f\x8b"):
        body = gzip.decompress(body)
    encoding = "utf-16" if "utf-16-with-" in name else "utf-16-le" if "utf-16" in name else "utf-8"
    lines = re.split("\r\n|\r|\n", body.decode(encoding, "replace"))
    reading = pitfall(name)
    for line in reading.lines:
        assert ENTRY.search(lines[line - 1])
    assert reading.lines == sorted(set(reading.lines))


def test_a_truncated_gzip_gives_what_came_before() -> None:
    reading = pitfall("04-truncated-gzip.xml.gz")
    assert len(reading.records) > 50
    assert reading.locs == [f"{HOME}/{n}/{n * 7919 % 9973}" for n in range(len(reading.records))]
    assert (reading.document.outcome, reading.rules) == ("truncated", {"doc-truncated": 1})


def test_an_index_lists_its_children_whatever_they_are() -> None:
    """What may be asked for is decided where it is asked."""
    reading = pitfall("09-index-that-lists-everything.xml")
    paths = ("/sitemap.xml", "/sitemap_index.xml", "/robots.txt", "/page.html")
    assert reading.locs[:4] == [HOME + path for path in paths]
    assert reading.locs[4:] == [
        "https://cdn.example.net/s.xml",
        "http://example.com/s.xml",
        "http://127.0.0.1/s.xml",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
    ]
    assert reading.rules == {"loc-invalid-uri": 1}


def test_prices_are_kept_as_written() -> None:
    (record,) = pitfall("14-empty-price.xml").records
    assert record.videos[0].price == [{"value": "", "currency": "EUR"}, {"value": "1,99", "currency": "EUR"}]


def test_duplicates_are_all_listed_each_with_its_own_date() -> None:
    records = pitfall("15-duplicates.xml").records
    assert [record.lastmod for record in records] == ["2024-05-01", "2023-05-01", None, None]


def test_namespaces_are_read_wherever_they_are_declared() -> None:
    for name in ("06-namespace-declared-on-the-entry.xml", "07-extension-before-core.xml", "07-undeclared-prefix.xml"):
        assert len(pitfall(name).records[0].images) == 1
    alternates = pitfall("07-xhtml-link-in-mixed-forms.xml").records[0].alternates
    assert [alternate.hreflang for alternate in alternates] == ["de", "fr", "x-default"]


def test_an_image_on_another_host_and_a_language_on_another_domain_are_no_faults() -> None:
    reading = pitfall("19-images-and-languages-elsewhere.xml")
    assert (len(reading.records[0].images), len(reading.records[0].alternates), reading.rules) == (1, 1, {})


def test_entities_are_not_expanded_and_nothing_is_fetched() -> None:
    for name in ("18-external-entity.xml", "18-billion-laughs.xml"):
        reading = pitfall(name)
        assert "root:" not in repr(reading.facts())
        assert "hahaha" not in repr(reading.facts())
