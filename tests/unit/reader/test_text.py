"""Text sitemaps: one URL a line."""

from __future__ import annotations

import pytest

from tests.unit.reader.reading import Reading, read

SIZES = (1, 3, 1000)


def both(text: str | bytes, **keywords: str) -> Reading:
    reading = read(text, **keywords)
    for size in SIZES:
        assert read(text, size, **keywords).facts() == reading.facts()
    return reading


ONE, TWO = "https://e.com/1", "https://e.com/2"
FILES: list[tuple[str | bytes, dict[str, str], list[tuple[str, int]], dict[str, int]]] = [
    *((end.join((ONE, "", TWO)), {}, [(ONE, 1), (TWO, 3)], {}) for end in ("\n", "\r\n", "\r")),
    (
        f"\ufeff{ONE} \n\t\n  {TWO}\t\n# https://e.com/no\n\n\ufeffhttps://e.com/3", {},
        [(ONE, 1), (TWO, 3), ("https://e.com/3", 6)], {"doc-bom": 1, "txt-not-url-line": 1},
    ),
    (f"{ONE} 2024-05-01 daily\n{TWO}\t0.5\n", {}, [(ONE, 1), (TWO, 2)], {"txt-has-metadata": 2}),
    ("https://e.com/ł\nhttps://e.com/中", {}, [("https://e.com/ł", 1), ("https://e.com/中", 2)], {}),
    (
        f"{ONE}\nhttps://e.com/é".encode("utf-16"), {}, [(ONE, 1), ("https://e.com/é", 2)],
        {"doc-encoding-not-utf8": 1},
    ),
    (f"{ONE}\n{TWO}2", {"cut": "the connection was lost"}, [(ONE, 1)], {"doc-truncated": 1, "txt-cut-line": 1}),
    (f"{ONE}\n{TWO}\n", {"cut": "cut"}, [(ONE, 1), (TWO, 2)], {"doc-truncated": 1}),
]  # fmt: skip
"""(file, how it was read, its URLs with their lines, faults)."""


@pytest.mark.parametrize(("text", "keywords", "listed", "rules"), FILES)
def test_urls_and_lines(
    text: str | bytes, keywords: dict[str, str], listed: list[tuple[str, int]], rules: dict[str, int]
) -> None:
    reading = both(text, **keywords)
    assert [*zip(reading.locs, reading.lines, strict=True)] == listed
    assert (reading.rules, reading.document.format) == (rules, "text")
    assert (reading.document.outcome, reading.document.error) == (
        ("truncated", keywords["cut"]) if keywords else ("ok", None)
    )


def test_a_table_with_commas_is_reported() -> None:
    """A comma may be a part of a URL: the line is kept as it stands, or not at all, but never cut."""
    reading = both("https://e.com/a,b\nhttps://e.com/1, 2024-05-01\n")
    assert reading.locs[0] == "https://e.com/a,b"
    assert set(reading.locs[1:]) <= {"https://e.com/1,", "https://e.com/1"}
    assert len(reading.document.faults) == 1


@pytest.mark.parametrize(
    "line", ["hello", "/relative", "www.e.com/1", "ftp://e.com/", "Sitemap: https://e.com/s.xml", "# All pages", "#"]
)
def test_a_line_that_is_no_url_is_reported(line: str) -> None:
    reading = both(f"https://e.com/1\n{line}\nhttps://e.com/2")
    assert reading.locs == ["https://e.com/1", "https://e.com/2"]
    (fault,) = reading.document.faults
    assert (fault.rule, fault.line, fault.value) == ("txt-not-url-line", 2, line)


@pytest.mark.parametrize(
    "line",
    [
        "https://e.com/</loc></url>",
        '<a href="https://e.com/">',
        "https://e.com/<b>",
        'https://e.com/"x"',
        "https://e.com/>",
    ],
)
def test_a_line_of_markup_is_no_url(line: str) -> None:
    reading = both(f"https://e.com/1\n{line}\nhttps://e.com/2")
    assert reading.locs == ["https://e.com/1", "https://e.com/2"]


def test_a_broken_urlset_is_no_text_file() -> None:
    reading = both("urlset>\n<url><loc>\nhttps://e.com/1</loc></url>\n</urlset>")
    assert [record for record in reading.records if not record.recovered] == []
    assert not [loc for loc in reading.locs if "<" in loc]


def test_urls_without_a_scheme_and_in_capitals_are_made_absolute() -> None:
    reading = both("//e.com/1\nHTTP://e.com/2")
    assert [(record.loc, record.loc_raw) for record in reading.records] == [
        ("https://e.com/1", "//e.com/1"),
        ("http://e.com/2", "HTTP://e.com/2"),
    ]


def test_bytes_that_are_not_utf_8_reach_no_feed() -> None:
    reading = both(b"https://e.com/caf\xe9\nhttps://e.com/2\nfoo\xe9\n")
    assert reading.locs in (["https://e.com/caf\ufffd", "https://e.com/2"], ["https://e.com/2"])
    assert [record.loc for record in reading.records if not record.recovered] == ["https://e.com/2"]
    for text in (*reading.locs, *(fault.value or "" for fault in reading.document.faults)):
        assert text.encode()
    assert reading.document.outcome == "recovered"


def test_a_line_that_is_too_long_costs_no_other() -> None:
    reading = read("https://e.com/1\nhttps://e.com/" + "x" * 200_000 + "\nhttps://e.com/2\n")
    assert reading.locs == ["https://e.com/1", "https://e.com/2"]
    assert reading.rules == {"txt-not-url-line": 1}
    for size in (1000, 70_000):
        assert (
            read("https://e.com/1\nhttps://e.com/" + "x" * 200_000 + "\nhttps://e.com/2\n", size).facts()
            == reading.facts()
        )


def test_a_binary_file_is_no_text_sitemap() -> None:
    assert read(bytes(range(256)) * 100).document.format == "unknown"


def test_a_file_without_line_ends_does_not_grow_the_memory() -> None:
    reading = read("https://e.com/1\n" + "x" * (5 << 20), 1 << 16)
    assert reading.locs == ["https://e.com/1"]
