"""What real sitemaps look like: each pitfall that concerns reading, with a file of its own in tests/data/pitfalls.

The numbers are those of the list of pitfalls, `t` and a number the rows of its table of hard inputs with what is wanted
of a reader. Every file is read whole and in pieces.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.unit.reader.reading import Reading, read

FOLDER = Path(__file__).resolve().parents[2] / "data" / "pitfalls"
URL = "https://example.com/dir/sitemap.xml"
HOME = "https://example.com"
A, B = f"{HOME}/a", f"{HOME}/b"
GOOD = f"{HOME}/good"
ELSEWHERE = {
    "11": "robots.txt is read by discovery",
    "16": "huge sets are written while testing, not kept",
    "20": "what Scrapy does is tested by real crawls",
}
"""Pitfalls without a file here."""


@dataclass
class Case:
    """What is wanted of one file."""

    locs: list[str] = field(default_factory=lambda: [A, B])
    """URLs listed, in order."""
    repaired: list[str] = field(default_factory=list)
    """Those of them that must be marked recovered."""
    rules: tuple[str, ...] = ()
    """What is noted."""
    outcome: str = "ok"
    format: str = "xml-urlset"


def broken(*locs: str, repaired: str = "", rule: str, outcome: str = "recovered") -> Case:
    return Case(list(locs), [repaired] if repaired else [], (rule,), outcome)


def none(format: str, *rules: str, outcome: str = "failed") -> Case:
    return Case([], [], rules, outcome, format)


CASES = {
    "01-plain-xml-named-gz.xml.gz": Case(),
    "01-gzip-without-a-name.xml": Case(),
    "01-gzip-in-gzip.xml.gz": Case(rules=("doc-gzip-name-mismatch",)),
    "01-gzip-of-a-text-file.txt": Case(format="text"),
    "01-gzip-of-two-members.gz": Case(),
    "02-sitemap.php": Case(),
    "02-sitemap-products.aspx": Case(),
    "02-sitemap": Case(),
    "02-sitemap.html": Case(),
    "02-text-named-xml.xml": Case(format="text"),
    "02-index-named-txt.txt": Case([f"{HOME}/a.xml"], format="xml-index"),
    "03-bom.xml": Case(rules=("doc-bom",)),
    "03-utf-16-with-bom.xml": Case(rules=("doc-bom", "doc-encoding-not-utf8")),
    "03-utf-16-without-bom.xml": Case(rules=("doc-encoding-not-utf8",)),
    "03-blank-lines-before-declaration.xml": Case(rules=("doc-leading-whitespace",)),
    "03-bom-and-blank-lines-before-declaration.xml": Case(rules=("doc-bom", "doc-leading-whitespace")),
    "03-blank-lines-before-root.xml": Case(),
    "03-bom-in-text.txt": Case(rules=("doc-bom",), format="text"),
    "04-raw-ampersand.xml": broken(
        A, f"{HOME}/?a=1&b=2", B, repaired=f"{HOME}/?a=1&b=2", rule="doc-unescaped-ampersand"
    ),
    "04-raw-ampersand-in-lastmod.xml": broken(A, f"{HOME}/x", B, repaired=f"{HOME}/x", rule="doc-unescaped-ampersand"),
    "04-html-entity.xml": broken(A, f"{HOME}/café", B, repaired=f"{HOME}/café", rule="doc-undeclared-entity"),
    "04-control-character.xml": broken(A, B, rule="doc-control-character"),
    "04-null-bytes.xml": broken(A, B, rule="doc-control-character"),
    "04-bad-byte.xml": broken(A, f"{HOME}/caf\ufffd", B, repaired=f"{HOME}/caf\ufffd", rule="doc-encoding-not-utf8"),
    "04-latin-1-declared.xml": Case([A, f"{HOME}/café", B], rules=("doc-encoding-not-utf8",)),
    "04-truncated-in-a-url.xml": broken(A, rule="doc-truncated", outcome="truncated"),
    "04-truncated-in-an-end-tag.xml": broken(A, rule="doc-truncated", outcome="truncated"),
    "04-truncated-behind-a-url.xml": broken(A, B, repaired=B, rule="doc-truncated", outcome="truncated"),
    "04-truncated-between-entries.xml": broken(A, B, rule="doc-truncated", outcome="truncated"),
    "04-text-after-the-end.xml": broken(A, B, rule="doc-trailing-content"),
    "05-cdata-with-line-breaks.xml": Case([f"{HOME}/?a=1&b=2", B]),
    "05-blanks-around-urls.xml": Case([A, B, f"{HOME}/c"], rules=("loc-whitespace",)),
    "05-line-break-inside-a-url.xml": Case([f"{HOME}/a/b", B]),
    "06-namespace-none.xml": Case(),
    "06-namespace-https.xml": Case(),
    "06-namespace-google-084.xml": Case(),
    "06-namespace-google-09.xml": Case(),
    "06-namespace-google-090.xml": Case(),
    "06-namespace-trailing-slash.xml": Case(),
    "06-namespace-relative.xml": Case(),
    "06-namespace-wrong-host.xml": Case(),
    "06-prefixed-core.xml": Case(),
    "06-namespace-far-into-the-file.xml": Case(),
    "06-namespace-declared-on-the-entry.xml": Case(),
    "07-extension-before-core.xml": Case(),
    "07-undeclared-prefix.xml": broken(A, B, repaired=A, rule="xml-ext-namespace-missing"),
    "07-undeclared-schema-location.xml": broken(A, B, rule="xml-ext-namespace-missing"),
    "07-schema-location.xml": Case(),
    "07-xhtml-link-in-mixed-forms.xml": Case(),
    "08-empty-loc.xml": Case([B], rules=("loc-empty",)),
    "08-missing-loc.xml": Case([B], rules=("xml-entry-without-loc",)),
    "08-relative-loc.xml": Case([f"{HOME}/a/b", f"{HOME}/dir/c?d=1", B]),
    "08-protocol-relative-loc.xml": Case(["https://www.example.com/a", B]),
    "08-upper-case-scheme.xml": Case(),
    "08-url-in-the-text-of-the-entry.xml": broken(A, B, repaired=A, rule="xml-entry-without-loc"),
    "09-index-nested.xml": Case([f"{HOME}/index2.xml"], format="xml-index"),
    "10-page-instead-of-a-sitemap.html": none("html"),
    "12-html-with-an-error.html": none("html"),
    "12-xml-with-an-error.xml": none("unknown", "xml-root-unknown"),
    "12-nothing.xml": none("unknown", "doc-empty-body"),
    "12-blank.xml": none("unknown", "doc-empty-body"),
    "12-empty-urlset.xml": none("xml-urlset", outcome="ok"),
    "12-empty-index.xml": none("xml-index", outcome="ok"),
    "12-json-with-an-error.json": none("unknown", "xml-root-unknown"),
    "13-dates-in-many-dialects.xml": Case([f"{HOME}/{number}" for number in range(11)]),
    "14-priority-in-many-forms.xml": Case([f"{HOME}/{number}" for number in range(6)]),
    "14-empty-price.xml": Case([A]),
    "15-duplicates.xml": Case([A, A, f"{HOME}/a?utm_source=x&PHPSESSID=1", A]),
    "17-challenge-of-a-firewall.html": none("html", "doc-waf-blocked"),
    "18-external-entity.xml": Case([B], [], ("doc-doctype", "doc-undeclared-entity"), "recovered"),
    "18-billion-laughs.xml": Case([B], [], ("doc-doctype", "doc-undeclared-entity"), "recovered"),
    "18-gzip-bomb.xml.gz": Case([A], [], ("doc-decompression-bomb",), "truncated"),
    "19-empty-news-file.xml": none("xml-urlset", outcome="ok"),
    "19-images-and-languages-elsewhere.xml": Case([A]),
    # The table of hard inputs: what is wanted.
    "t01-raw-ampersand.xml": broken(
        f"{HOME}/?a=1&b=2", GOOD, repaired=f"{HOME}/?a=1&b=2", rule="doc-unescaped-ampersand"
    ),
    "t02-html-entity.xml": broken(f"{HOME}/café", GOOD, repaired=f"{HOME}/café", rule="doc-undeclared-entity"),
    "t03-escaped-ampersand.xml": Case([f"{HOME}/?a=1&copy=2", GOOD]),
    "t04-blank-lines-before-declaration.xml": Case([GOOD], rules=("doc-leading-whitespace",)),
    "t05-doctype.xml": Case([GOOD], rules=("doc-doctype",)),
    "t06-prefixed-core.xml": Case([GOOD]),
    "t07-undeclared-image-prefix.xml": broken(
        f"{HOME}/1", GOOD, repaired=f"{HOME}/1", rule="xml-ext-namespace-missing"
    ),
    "t08-control-character.xml": broken(GOOD, rule="doc-control-character"),
    "t09-empty-loc.xml": Case([GOOD], rules=("loc-empty",)),
    "t10-relative-loc.xml": Case([f"{HOME}/a/b", GOOD]),
    "t11-url-in-an-index.xml": Case(
        [f"{HOME}/page", f"{HOME}/s.xml"], rules=("xml-mixed-index-urlset",), format="xml-index"
    ),
    "t12-html.html": none("html"),
    "t13-no-xml-name.php": Case([GOOD]),
}
BOMB = "18-gzip-bomb.xml.gz"
"""How much of it is inflated before it is known for one depends on the pieces."""
ENTRY = re.compile("<url|<sitemap|<s:url|^\ufeff?https?://")
OWN_TESTS = {"04-truncated-gzip.xml.gz", "09-index-that-lists-everything.xml"}
"""Files that have a test of their own below."""


def pitfall(name: str, size: int | None = None) -> Reading:
    return read((FOLDER / name).read_bytes(), size, url=URL)


def test_every_pitfall_and_every_file_has_a_case() -> None:
    files = {path.name for path in FOLDER.iterdir()}
    assert files == set(CASES) | OWN_TESTS
    numbers = {name.partition("-")[0] for name in files}
    assert numbers | set(ELSEWHERE) == {f"{n:02}" for n in range(1, 21)} | {f"t{n:02}" for n in range(1, 14)}


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


@pytest.mark.parametrize("name", sorted({*CASES, *OWN_TESTS} - {BOMB}))
@pytest.mark.parametrize("size", [1, 13])
def test_pieces_make_no_difference(name: str, size: int) -> None:
    assert pitfall(name, size).facts() == pitfall(name).facts()


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


def test_a_relative_url_keeps_what_was_written() -> None:
    assert [record.loc_raw for record in pitfall("08-relative-loc.xml").records] == ["/a/b", "c?d=1", None]
    assert pitfall("t10-relative-loc.xml").records[0].loc_raw == "/a/b"


def test_a_url_in_an_index_is_a_page_and_no_child() -> None:
    records = pitfall("t11-url-in-an-index.xml").records
    assert [type(record).__name__ for record in records] == ["UrlRecord", "ChildRecord"]


def test_dates_are_read_where_they_are_unambiguous_and_always_kept() -> None:
    records = pitfall("13-dates-in-many-dialects.xml").records
    assert [(record.lastmod, record.lastmod_at) for record in records] == [
        ("2024-05-01", "2024-05-01T00:00:00Z"),
        ("2024-05-01T10:00:00", "2024-05-01T10:00:00Z"),
        ("2024-05-01T10:00:00+0200", "2024-05-01T08:00:00Z"),
        ("2024-05-01 10:00:00", "2024-05-01T10:00:00Z"),
        ("05/13/2024", "2024-05-13T00:00:00Z"),
        ("0000-00-00", None),
        ("1714557600", "2024-05-01T10:00:00Z"),
        ("", None),
        ("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00Z"),
        ("1. Mai 2024", "2024-05-01T00:00:00Z"),
        ("01/02/2024", None),
    ]


def test_priorities_are_numbers_or_kept_as_written() -> None:
    records = pitfall("14-priority-in-many-forms.xml").records
    assert [record.priority for record in records] == [0.8, None, None, 0.5, None, None]
    assert [record.extra is not None for record in records] == [True, True, True, False, True, True]


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
