"""Lists of URLs to verify: text, CSV, JSON, JSON lines and Parquet, in gzip too; what is bad is told with its line."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.columns import Cells, cell_reader
from sitemapcrawler.feeds.exporters import CsvExporter, JsonExporter, JsonLinesExporter, ParquetExporter
from sitemapcrawler.items import FindingRecord, SitemapRecord, SummaryRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import Image
from sitemapcrawler.reader import rows
from sitemapcrawler.reader.lists import ListedUrl, read_list
from sitemapcrawler.reader.rows import Unread
from tests.unit.feeds.exporting import export

A, B, C = (f"https://example.com/{name}" for name in "abc")


def entries(data: bytes | str, name: str = "") -> list[ListedUrl | Unread]:
    content = data.encode() if isinstance(data, str) else data
    with TemporaryDirectory() as folder:  # Parquet is read by path
        path = Path(folder, name or "list")
        path.write_bytes(content)
        return list(read_list(io.BytesIO(content), str(path), cell_reader))


def listed(data: bytes | str, name: str = "") -> list[tuple[str, int]]:
    """All entries, of which none may be unread."""
    found = entries(data, name)
    assert [one for one in found if isinstance(one, Unread)] == []
    return [(one.loc, one.line) for one in found if isinstance(one, ListedUrl)]


def unread(data: bytes | str, name: str = "") -> list[tuple[int | None, str]]:
    return [(one.line, one.problem) for one in entries(data, name) if isinstance(one, Unread)]


LISTED: dict[str, tuple[tuple[bytes | str, ...], list[tuple[str, int]]]] = {
    "a URL a line": (
        (f"{A}\n{B}\n", f"{A}\r\n{B}\r\n", f"{A}\r{B}", f"\ufeff{A}\n{B}", f"{A}\n{B}".encode("utf-16"),
         f"  {A}\t\n {B} # yesterday", f'"{A}"\n"{B}"\n', gzip.compress(f"{A}\n{B}\n".encode()),
         gzip.compress(f"{A}\n".encode()) + gzip.compress(f"{B}\n".encode())),
        [(A, 1), (B, 2)],
    ),
    "comments, blank lines and fragments": (
        (f"# pages\n\n   \n{A}#top\n  # more\n{B} #1\n",), [(f"{A}#top", 4), (B, 6)],
    ),
    "a column of URLs": (
        (f"loc\n{A}\n{B}\n", f"type,loc,lastmod\nurl,{A},2026-01-01\nurl,{B},\n",
         f"loc;status\r\n{A};404\r\n{B};500\r\n", f"Address\tStatus Code\n{A}\t404\n{B}\t404\n",
         f'"URL","Title"\n"{A}","one, two"\n"{B}",""\n', f"\ufeffloc,x\n{A}\n{B}",
         gzip.compress(f"loc,x\n{A},\n{B},\n".encode()), f"loc,images\n{A},{'x' * 300_000}\n{B},\n"),
        [(A, 2), (B, 3)],
    ),
    "cells with line breaks": (
        (f'\nloc,title\n\n{A},"one\ntwo\nthree"\n# note,\n{B},x\n',), [(A, 4), (B, 8)],
    ),
    "other types of record": ((f"type,loc\nurl,{A}\nsitemap,{C}\n,{B}\n",), [(A, 2), (B, 4)]),
    "a header below a title": ((f"Internal - HTML\nLanding page,Views\n{A},1\n{B},2\n",), [(A, 3), (B, 4)]),
    "a header below comments": ((f"# Pages\n# Account\nLanding page,Views\n{A},1\n{B},2\n",), [(A, 4), (B, 5)]),
    "lines of objects": (
        (f'{{"type": "sitemap", "sitemap": "{C}"}}\n{{"type": "url", "loc": "{A}"}}\n{{"type": "finding", "url": "{C}"}}\n'
         f'{{"type": "summary"}}\n\n{{"url": "{B}", "status": 404}}\n',),
        [(A, 2), (B, 6)],
    ),
}  # fmt: skip
"""{what: (files, their URLs with lines)}."""


@pytest.mark.parametrize(("files", "expected"), LISTED.values(), ids=LISTED)
def test_urls_of_a_list_and_their_lines(files: tuple[bytes | str, ...], expected: list[tuple[str, int]]) -> None:
    for data in files:
        assert listed(data) == expected, data


@pytest.mark.parametrize("delimiter", ";\t")
def test_text_with_dates_behind_the_urls_is_a_table(delimiter: str) -> None:
    assert listed(f"{A}{delimiter}2026-01-05\n{B}{delimiter}2026-02-01\n") == [(A, 1), (B, 2)]


@pytest.mark.parametrize("text", [f"{A},12\n{B},34\n", f"{A};id=7\n{B};id=8\n", f"{A};1\n{B}\n", f"{A};1\n{A};2\n"])
def test_delimiters_that_may_belong_to_urls_stay(text: str) -> None:
    assert listed(text) == [(line, number) for number, line in enumerate(text.split(), 1)]


def test_bytes_that_are_no_text_spoil_their_line_alone() -> None:
    found = entries(f"{A}\nhttps://example.com/".encode() + b"caf\xe9\n" + B.encode())
    assert [type(one) for one in found] == [ListedUrl, Unread, ListedUrl]
    assert found[2] == ListedUrl(B, 3)


def test_messages_hold_no_control_characters() -> None:
    ((_, problem),) = unread("\x1b[31m\x07" + "x" * 5000)
    assert problem.isprintable()
    assert len(problem) < 200


def test_line_too_long_is_no_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_LINE", 100)
    data = f"{A}\n{C}{'x' * 300_000}\n{B}\n"
    assert [line for line, _ in unread(data)] == [2]
    assert entries(data)[2] == ListedUrl(B, 3)


def test_list_whose_first_line_does_not_end_is_refused_early() -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        for _ in range(4 * rows.MAX_LINE // rows.CHUNK):
            read += rows.CHUNK
            yield bytes(rows.CHUNK)

    with pytest.raises(ValueError, match="first line of more than 16,777,216 characters"):
        list(read_list(Endless(endless())))  # type: ignore[arg-type]  # only read
    assert read < 2 * rows.MAX_LINE


@pytest.mark.parametrize("data", [b"# nothing\n", b"[]", b" [ ] \n", b"loc\n"])
def test_list_without_rows_has_no_entries(data: bytes) -> None:
    assert entries(data) == []


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        *((data, "is empty") for data in (b"", b"\n\n", b"\xef\xbb\xbf", gzip.compress(b""))),
        (
            b'1.2.3.4 - - [01/May/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5\n',
            "an access log, which the argument compare",
        ),
        (b'{"ClientRequestURI": "/a", "EdgeResponseStatus": 200}\n', "an access log, which the argument compare"),
        (b"<?xml version='1.0'?><urlset/>", "argument sitemap"),
        (b"  \n<!doctype html>", "argument sitemap"),
        (b"PK\x03\x04\x14\x00\x08", "is an archive that cannot be read"),
        (gzip.compress(b"PAR1" + bytes(50)), "unpack it"),
        (b"PAR1" + bytes(50) + b"PAR1", "damaged Parquet"),
    ],
)
def test_file_that_is_no_list_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as raised:
        entries(data)
    assert "\n" not in str(raised.value)


def test_gzip_that_ends_early_gives_no_half_url() -> None:
    urls = [f"https://example.com/{number * 7919}" for number in range(3000)]
    data = gzip.compress("\n".join(urls).encode())
    *found, last = entries(data[: len(data) // 2])
    assert found == [ListedUrl(url, line) for line, url in enumerate(urls[: len(found)], 1)]
    assert len(found) > 100
    assert isinstance(last, Unread)
    assert "the rest was not read" in last.problem


# Tables


def test_disarmed_cell_is_armed_again_and_an_apostrophe_stays() -> None:
    found = entries(f"loc\n'=cmd\n'{A}\n'@x\n")
    assert [one.problem.partition(" is ")[0] for one in found if isinstance(one, Unread)] == [
        "'=cmd'",
        f'"\'{A}"',
        "'@x'",
    ]


def test_url_behind_a_disarmed_blank_is_read() -> None:
    """A feed disarms a cell that begins with a line break, also where a URL follows."""
    cells = Cells()
    assert cells.armed("'\t'=1") == "\t=1"
    assert cells.armed("'quoted'") == "'quoted'"
    assert cells.armed("-5") == "-5"
    assert listed(f'loc\n"\'\n{A}"\n') == [(A, 2)]


TEXT, TABLE, OBJECTS = (
    f"{A}\n~\n{B}\n",
    f"id,loc,title\n1,{A},t\n~\n2,{B},t\n",
    f'{{"loc": "{A}"}}\n~\n{{"loc": "{B}"}}\n',
)
BAD_LINES = [
    (TEXT, "example.com/a", "'example.com/a' is not an http or https URL"),
    (TEXT, "ftp://example.com/", "is not an http or https URL"),
    (TEXT, "https://", "is not an http or https URL"),
    (TEXT, f"{A} {B}", "contains whitespace"),
    (TEXT, f"{A}\t404", "contains whitespace"),
    (TEXT, "javascript:alert(1)", "is not an http or https URL"),
    (TABLE, f"x,{B},y,z", "has 4 cells, the header 3"),
    (TABLE, "x", "has no loc"),
    (TABLE, "x,,y", "there is no URL"),
    (TABLE, "x,/relative,y", "not an http or https URL"),
    (TABLE, 'x,"a"b,y', "cannot be read"),
    (TABLE, f'x,"{B}?\ntwo=1",y', "has characters that no URL has"),
    (OBJECTS, '{"loc": "https://e', "is not JSON"),
    (OBJECTS, '{"loc": 5}', "has no loc"),
    (OBJECTS, '{"type": "url"}', "has no loc"),
    (OBJECTS, "5", "'5' is not an object"),
    (OBJECTS, "[1]", "'[1]' is not an object"),
    (OBJECTS, "[" * 100_000, "is not JSON"),
    (OBJECTS, "9" * 5000, "is not JSON"),
    (OBJECTS, '{"loc": "\\ud800"}', "not an http or https URL"),
]  # fmt: skip
"""(list, a bad line in it, what is said of that)."""


@pytest.mark.parametrize(("data", "line", "problem"), BAD_LINES)
def test_bad_line_is_told_and_the_others_are_read(data: str, line: str, problem: str) -> None:
    first, bad, last = entries(data.replace("~", line))
    at = data[: data.index("~")].count("\n") + 1
    assert (first, last) == (ListedUrl(A, at - 1), ListedUrl(B, at + 1 + line.count("\n")))
    assert isinstance(bad, Unread)
    assert bad.line == at
    assert problem in bad.problem


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (f'{A},x\n{B},"open\n{C},x\n', [2, 3, 4]),
        (f'{A},"open\n{B},x\n{C},"y, z"\n', [2, 3, 4]),
        (f'{A},6" nails\n{B},"7" nails"\n{C},x\n', [2, 3, 4]),
        (f'{A},"open\n\n# note\n{B},x\n{C},"open\n', [2, 5, 6]),
        (f'{A},"two\nlines"\n{B},"open\n{C},"two\nlines"\n', [2, 4, 5]),
    ],
)
def test_wrong_quote_costs_no_other_row(rows: str, lines: list[int]) -> None:
    found = [one for one in entries(f"loc,title\n{rows}") if isinstance(one, ListedUrl)]
    assert found == [ListedUrl(url, line) for url, line in zip((A, B, C), lines, strict=True)]


def test_wrong_quote_in_the_url_or_a_row_of_another_length_is_unread() -> None:
    assert unread(f'title,loc\nx,"{A}\ny,{B},"z"\n') == [
        (2, "the row cannot be read: ',' expected after '\"'"),
        (3, "the row has 3 cells, the header 2"),
    ]


def test_table_by_name_needs_the_column() -> None:
    with pytest.raises(ValueError, match="has no column with URLs; its columns are 'id', 'status'"):
        entries("id,status\n1,404\n", "errors.CSV.gz")
    assert listed(f"{A},404\n") == [(f"{A},404", 1)]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (f"{A}\n{B}\n", "no-header.csv"),
        (f"{A},404\n{B},500\n", "no-header.csv"),
        (f"{A};x;404\n{B};y;500\n", "no-header.csv.gz"),
    ],
)
def test_table_by_name_without_a_header(data: str, name: str) -> None:
    assert listed(gzip.compress(data.encode()) if name.endswith(".gz") else data, name) == [(A, 1), (B, 2)]


def test_first_line_that_is_a_url_is_no_header() -> None:
    assert listed(f"{A},url\n{B}\n") == [(f"{A},url", 1), (B, 2)]
    assert [one.line for one in entries(f"{A}\nlink\n{B}\n") if isinstance(one, ListedUrl)] == [1, 3]


# Objects


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_array_of_objects_and_urls(indent: int | None) -> None:
    rows = [{"type": "url", "loc": A, "images": [{"loc": C}]}, {"type": "finding", "url": C}, B]
    found = listed(json.dumps(rows, indent=indent))
    assert [url for url, _ in found] == [A, B]
    if indent:
        assert [line for _, line in found] == [2, 15]


@pytest.mark.parametrize(
    ("data", "urls", "problem"),
    [
        (f'["{A}", "{B}"', [A, B], "a comma or the end is missing"),
        (f'["{A}" "{B}"]', [A], "is missing"),
        (f'["{A}", {{"loc": ]', [A], "is not JSON"),
        (f'["{A}",]', [A], "is not JSON"),
        (f'["{A}"] ["{B}"]', [A], "there is text after its end"),
        ("[" * 100_000, [], "is not JSON"),
        ("[", [], "is not JSON"),
    ],
)
def test_broken_array_is_read_up_to_the_break(data: str, urls: list[str], problem: str) -> None:
    *found, last = entries(data)
    assert [one.loc for one in found if isinstance(one, ListedUrl)] == urls
    assert isinstance(last, Unread)
    assert problem in last.problem


class Slow(io.BytesIO):
    """Gives a few bytes at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 1, 3))


MANY = [f"https://example.com/{number}" for number in range(60)]  # more than the reader waits for to tell the encoding


@pytest.mark.parametrize(
    "data",
    [
        json.dumps([*MANY, *[12345] * 60, {"loc": B, "x": [1, {"y": None}]}, C], indent=1),
        "\n".join(
            [*(json.dumps({"loc": url}) for url in MANY), *["12345"] * 60, json.dumps({"loc": B}), json.dumps(C)]
        ),
        "\n".join([f"{'id' * 400},loc", *(f"1,{url}" for url in MANY), *["2,nothing"] * 60, f"3,{B}", f'"4",{C}']),
        "\r\n".join([*MANY, *["nothing"] * 60, B, C]),
    ],
    ids=["json", "jsonl", "csv", "text"],
)
def test_what_arrives_in_small_pieces_is_read_the_same(data: str) -> None:
    for packed in (data.encode(), gzip.compress(data.encode())):
        whole = entries(packed)
        assert [type(one) for one in whole] == [*[ListedUrl] * 60, *[Unread] * 60, ListedUrl, ListedUrl]
        assert list(read_list(Slow(packed))) == whole


@given(st.binary(max_size=300))
def test_any_bytes_are_a_list_or_an_error(data: bytes) -> None:
    for start in (b"", b"[", b"{", b"loc,x\n", b"PAR1"):
        try:
            found = entries(start + data)
        except ValueError as error:
            assert "\n" not in str(error)
            continue
        assert all(one.loc.startswith(("http://", "https://")) for one in found if isinstance(one, ListedUrl))
        assert all("\n" not in one.problem for one in found if isinstance(one, Unread))


# Feeds of this project

RECORDS = [
    SitemapRecord("https://example.com/sitemap.xml"),
    NotedBatch(
        "https://example.com/sitemap.xml",
        [UrlRecord(A, line=3), UrlRecord(f"{B} c", images=[Image(loc=C)], changefreq="=1")],
    ),
    FindingRecord("status-404", "error", "m", url=C),
    UrlRecord(C, lastmod="2026-01-01"),
    SummaryRecord(["example.com"]),
]
EXPORTERS: dict[str, Callable[..., object]] = {
    "csv": CsvExporter,
    "json": partial(JsonExporter, indent=2),
    "jsonl": JsonLinesExporter,
    "parquet": ParquetExporter,
}


@pytest.mark.parametrize("format", EXPORTERS)
def test_feed_is_read_back(format: str) -> None:
    feed = export(EXPORTERS[format], *RECORDS)
    packed = [] if format == "parquet" else [gzip.compress(feed)]
    for data in [feed, *packed]:
        assert [url for url, _ in listed(data)] == [A, f"{B} c", C]


def parquet(path: Path, table: dict[str, list[object]]) -> bytes:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(table), path)
    return path.read_bytes()


def test_parquet_of_others(tmp_path: Path) -> None:
    data = parquet(tmp_path / "x", {"n": [1, 2, 3], "URL": [A, None, "nothing"]})
    found = entries(data)
    assert found[0] == ListedUrl(A, 1)
    assert [one.line for one in found[1:] if isinstance(one, Unread)] == [2, 3]


def test_parquet_in_several_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "AT_ONCE", 2)
    data = parquet(tmp_path / "x", {"loc": [A, B, C, A, B]})
    assert listed(data) == [(A, 1), (B, 2), (C, 3), (A, 4), (B, 5)]


def test_parquet_without_a_column_of_urls(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no column with URLs; its columns are 'name'"):
        entries(parquet(tmp_path / "x", {"name": [A]}))


def test_parquet_by_a_writer_that_does_not_mark_text(tmp_path: Path) -> None:
    assert listed(parquet(tmp_path / "x", {"loc": [A.encode(), B.encode()]})) == [(A, 1), (B, 2)]


def test_parquet_that_is_damaged_behind_its_start(tmp_path: Path) -> None:
    data = bytearray(parquet(tmp_path / "x", {"loc": [f"{A}{number}" for number in range(100_000)]}))
    data[len(data) // 2 : len(data) // 2 + 4000] = bytes(4000)
    found = entries(bytes(data))
    assert isinstance(found[-1], Unread)
    assert found[-1].problem.endswith(": the rest was not read")


class Endless(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts

    def read(self, size: int = -1, /) -> bytes:
        return next(self._parts, b"")


def many(start: str, one: str, between: str, end: str) -> Iterator[bytes]:
    yield start.encode()
    for number in range(0, 12_000, 500):
        text = between.join(one.replace("N", str(number + place)) for place in range(500))
        yield (text + (between if number < 11_500 else "")).encode()
    yield end.encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        ("", "https://example.com/N?text=of-some-length-so-that-it-shows", "\n", "\n"),
        ("loc,title\n", "https://example.com/N,of some length so that it shows", "\n", ""),
        ("", '{"loc": "https://example.com/N", "title": "of some length"}', "\n", "\n"),
    ],
    ids=["text", "csv", "jsonl"],
)
def test_memory_does_not_grow_with_the_list(parts: tuple[str, str, str, str]) -> None:
    tracemalloc.start()
    count = sum(isinstance(one, ListedUrl) for one in read_list(Endless(many(*parts))))  # type: ignore[arg-type]  # only read
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 12_000
    assert peak < 1_000_000


def test_memory_does_not_grow_with_a_line_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_LINE", 100_000)
    tracemalloc.start()
    parts = chain([b"\n"], (b"x" * 10_000 for _ in range(2000)))
    (found,) = read_list(Endless(parts))  # type: ignore[arg-type]  # only read
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found, Unread)
    assert peak < 2_000_000


def test_memory_does_not_grow_with_a_row_that_never_ends() -> None:
    """Each line closes the quoted cell of the line before, and opens one."""
    parts = chain([f'loc,title\n{A},"x\n'.encode()], (b'x","y\n' * 1000 for _ in range(40)), [f'"\n{B},y\n'.encode()])
    tracemalloc.start()
    found = [one for one in read_list(Endless(parts)) if isinstance(one, ListedUrl)]  # type: ignore[arg-type]  # only read
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[0] == ListedUrl(A, 2)
    assert found[-1].loc == B
    assert peak < 5_000_000
