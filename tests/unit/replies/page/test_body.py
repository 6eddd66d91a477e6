"""How much of a page is read, and in which encoding."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import PAGE_LIMIT, Html, PageReader, is_html, media_type
from sitemapcrawler.replies.page.tree import MAX_TAGS
from tests.unit.tables import cases


def read(body: bytes | str, **options: str) -> Html:
    reader = PageReader(**options)
    reader.feed(body if isinstance(body, bytes) else body.encode())
    return reader.close()


@pytest.mark.parametrize("unit", [b"<!--", b"<script>", b" ", b"\0", b"x", b"\xff"])
def test_endless_page_is_read_to_the_limit_only(unit: bytes) -> None:
    reader, piece = PageReader("text/html"), unit * (2**16 // len(unit))
    pieces = 0
    while not reader.feed(piece):
        pieces += 1
    assert pieces <= PAGE_LIMIT / len(piece)
    page = reader.close()
    assert (page.whole, page.is_html) == (False, True)


def test_page_with_too_many_tags_is_cut() -> None:
    page = read("x" + "<br>" * (MAX_TAGS + 1))
    assert (page.text.count("<"), page.whole) == (MAX_TAGS - 1, False)


# charset


PAGE = "<html><head><title>café — 日本</title></head>"


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"\xef\xbb\xbf" + PAGE.encode(), "text/html; charset=windows-1252", "utf-8"),
        (b"\xff\xfe" + PAGE.encode("utf-16-le"), "text/html; charset=utf-8", "utf-16-le"),
        (b"\xfe\xff" + PAGE.encode("utf-16-be"), None, "utf-16-be"),
        (PAGE.encode("utf-16-le"), "text/html; charset=UTF-16", "utf-16-le"),
        (PAGE.encode(), "text/html; charset=utf-8", "utf-8"),
        (PAGE.encode(), 'text/html;charset="utf-8"', "utf-8"),
        (PAGE.encode("shift_jis", "replace"), "text/html; charset=Shift_JIS", "cp932"),
        (PAGE.encode(), None, "utf-8"),  # 13.2.3.2, step 8: "may attempt to autodetect"
        (("<meta charset=gbk>" + PAGE).encode("gb18030"), None, "gb18030"),
        (("<meta charset=utf-16>" + PAGE).encode(), None, "utf-8"),
    ],
)
def test_order_of_the_standard_for_the_charset(body: bytes, content_type: str | None, encoding: str) -> None:
    reader = PageReader(content_type)
    reader.feed(body)
    page = reader.close()
    assert (page.encoding, page.text.removeprefix("<meta charset=gbk>").removeprefix("<meta charset=utf-16>")[:22]) == (
        encoding,
        PAGE[:22],
    )
    assert "日本</title>" in page.text


@pytest.mark.parametrize(
    ("start", "content_type", "encoding"),
    [
        (b"<meta charset=iso-8859-1>\xe9", None, "cp1252"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', None, "koi8-r"),
        (b"<!-- <meta charset=koi8-r> -->\xe9", None, "cp1252"),
        (b" " * 1024 + b"<meta charset=koi8-r>\xe9 ", None, "cp1252"),
        (b"<meta charset=koi8-r>", "text/html; charset=utf-8", "utf-8"),
        (b"<meta charset=koi8-r>", "text/html; charset=nonsense", "koi8-r"), (b"\xe9", "text/html", "cp1252"),
        (b"\xe9", "text/html; charset=ISO-8859-8-I", "iso8859-8"), (b"<meta charset=windows-874>", None, "cp874"),
        (b"<meta charset=iso-2022-jp>", None, "iso2022_jp"), (b"\xe9", "text/html; charset=utf-7", "cp1252"), (b"\xe9", "text/html; charset=idna", "cp1252"),
        (b"\xe9", "text/html; charset=base64", "cp1252"), (b"\xe9", "text/html; charset=unicode_escape", "cp1252"),
        (b"\xe9", "text/html; charset=cp037", "cp1252"), (b"", None, "utf-8"),
    ],
)  # fmt: skip
def test_charset_that_is_declared_or_not(start: bytes, content_type: str | None, encoding: str) -> None:
    reader = PageReader(content_type)
    reader.feed(start)
    assert reader.close().encoding == encoding


def test_wrong_encoding_loses_letters_and_no_tags() -> None:
    assert read(b"caf\xe9<p>", content_type="text/html; charset=utf-8").text == "caf\ufffd<p>"


# compression


PACKED = {
    "gzip": gzip.compress(PAGE.encode()),
    "x-gzip": gzip.compress(PAGE.encode()),
    "GZIP": gzip.compress(PAGE.encode()),
    "identity": PAGE.encode(),
    "": PAGE.encode(),
}


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("size", [7, 10_000])
def test_compressed_page_is_inflated_piece_by_piece(encoding: str, size: int) -> None:
    reader, packed = PageReader(content_encoding=encoding), PACKED[encoding]
    for at in range(0, len(packed), size):
        reader.feed(packed[at : at + size])
    assert reader.close() == Html(PAGE, "utf-8", whole=True, is_html=True)


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "x"])
def test_page_in_another_encoding_is_not_read(encoding: str) -> None:
    reader = PageReader(content_encoding=encoding)
    assert reader.feed(b"\x1b\x03\x00\xf8")
    assert not reader.close().whole


def test_page_that_is_not_compressed_as_said_is_not_whole() -> None:
    assert not read(PAGE, content_encoding="gzip").whole


def test_bomb_is_inflated_to_the_limit_only() -> None:
    reader, bomb = PageReader(content_encoding="gzip"), gzip.compress(b" " * 50 * 2**20)
    for at in range(0, len(bomb), 1000):
        assert reader.feed(bomb[at : at + 1000]) == (len(reader._body) == PAGE_LIMIT)
    assert not reader.close().whole


@given(st.binary(max_size=3000), st.lists(st.integers(1, 700), max_size=8), st.sampled_from(["", "gzip", "br"]))
def test_pieces_make_no_difference(body: bytes, sizes: list[int], encoding: str) -> None:
    parts, rest = PageReader("text/html", encoding), body
    for size in sizes:
        parts.feed(rest[:size])
        rest = rest[size:]
    parts.feed(rest)
    whole = PageReader("text/html", encoding)
    whole.feed(body)
    assert parts.close() == whole.close()


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        (None, True), ("", True), ("text/html", True), ("TEXT/HTML; charset=x", True), ("application/xhtml+xml", True),
        ("application/pdf", False), ("text/plain", False), ("image/png", False), ("application/xml", False),
        # Malformed, and so unknown: the content decides.
        ("text/html charset=utf-8", True), ("html", True), ("text/", True), ("/html", True), ("text/html/x", True),
        ("charset=utf-8", True), ("Content-Type: text/html", True), ("*/*", True), ("unknown/unknown", True),
        # Of several, the last valid one counts.
        ("text/html,charset=utf-8", True), ("text/html, text/html; charset=utf-8", True), ("text/html, */*", True),
        ("application/pdf, text/html", True), ("text/html, application/pdf", False), ("application/pdf, html", False),
        ('application/pdf; name=", text/html"', False), ('application/pdf; name="\\", text/html', False),
    ],
)  # fmt: skip
def test_what_is_read_as_html(content_type: str | None, expected: bool) -> None:
    assert is_html(content_type) is expected


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html", None),
        ('text/html;x=", text/plain";charset="ISO-8859-2"', "iso8859-2"),
        ("text/html; charset=iso-8859-2, text/html", "iso8859-2"),
        ("text/html; charset=iso-8859-2, text/html; charset=utf-8", "utf-8"),
        ("text/plain; charset=iso-8859-2, text/html", None),
    ],
)
def test_charset_of_a_content_type(content_type: str, charset: str | None) -> None:
    assert media_type(content_type) == ("text/html", charset)


@pytest.mark.parametrize("unit", [",", '"', '"a",', "a/b,", "a/b;charset=utf-8,", '"\\', "text/html;"])
def test_quarter_of_a_megabyte_of_a_content_type_takes_linear_time(unit: str) -> None:
    start = time.process_time()
    media_type(unit * (2**18 // len(unit)))
    assert time.process_time() - start < 10  # seconds; were it quadratic, minutes


@pytest.mark.parametrize("content_type", [None, "html", "*/*", "text/html charset=utf-8"])
@pytest.mark.parametrize(
    ("body", "complete"),
    cases(
        ([b"<!DOCTYPE html><title>x</title>", b"\n <html lang=en><title>x</title>", b"<!-- x --><p>text",
          b"\xef\xbb\xbf<html><title>x</title>",
          b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x"><html><title>x</title>'], True),
        ([b"%PDF-1.7", b'{"a": "<html>"}', b"<rss><channel>", b"<pre-view>", b""], False),
    ),
)  # fmt: skip
def test_content_decides_without_a_valid_type(content_type: str | None, body: bytes, complete: bool) -> None:
    reader = PageReader(content_type)
    reader.feed(body)
    assert reader.close().is_html is complete
