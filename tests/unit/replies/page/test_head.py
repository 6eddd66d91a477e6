"""How much of a page is read, and what its head is."""

from __future__ import annotations

import gzip
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import HEAD_LIMIT, SAMPLE, HeadReader, HtmlHead, is_html, media_type
from sitemapcrawler.replies.page.head import BEHIND, MAX_TAGS
from tests.unit.tables import cases


def read(body: bytes | str, **options: str) -> HtmlHead:
    reader = HeadReader(**options)
    reader.feed(body if isinstance(body, bytes) else body.encode())
    return reader.close()


def tags(head: HtmlHead) -> list[str]:
    return [token.name for token in head.tags]


@pytest.mark.parametrize(
    "end", ["</head>", "</HEAD\n>", "<body>", "<BODY class='a>b'>", "</html>", "<frameset>", "</head><body>"]
)
def test_reading_ends_with_the_head(end: str) -> None:
    reader = HeadReader()
    assert not reader.feed(b"<html><head><title>x</title>" + b" " * 2000)
    assert reader.feed(end.encode())
    head = reader.close(whole=False)
    assert (tags(head), head.complete, head.broken_by) == (["html", "title"], True, None)


@pytest.mark.parametrize(
    "hiding",
    [
        "<!-- </head> -->", "<script>'</head>'</script>", "<style></head></style>", "<title></head></title>",
        "<noscript></head></noscript>", "<meta content='</head>'>", "<script><!-- </head> --></script>",
        "<textarea", "<!-- </head>", "<script></head>", "<meta content='</head>", "<headers </head",
    ],
)  # fmt: skip
def test_end_of_head_that_is_none_does_not_end_it(hiding: str) -> None:
    reader = HeadReader()
    assert not reader.feed(("<head>" + hiding).encode() + b" " * 2000)


def test_page_without_any_end_of_head_is_complete_when_it_ends() -> None:
    head = read("<title>x</title><link rel=canonical href=/>")
    assert (tags(head), head.complete, head.broken_by) == (["title", "link"], True, None)


def test_page_that_is_cut_in_its_head_is_not_complete() -> None:
    reader = HeadReader()
    reader.feed(b"<head><title>x</title><link rel=cano")
    head = reader.close(whole=False)
    assert (tags(head), head.complete) == (["title"], False)


# The HTML standard, 13.2.6.4.4: "anything else" ends the head.
@pytest.mark.parametrize(
    ("thing", "name"),
    [
        ("<img>", "img"), ("<div>", "div"), ("<iframe></iframe>", "iframe"), ("<h1>", "h1"), ("<svg>", "svg"), ("<p>", "p"),
        ("word", "text"), ("\ufeff", "text"), ("\xa0", "text"), ("<3", "text"), ("<template-x>", "template-x"),
    ],
)  # fmt: skip
def test_what_may_not_stand_in_a_head_ends_it(thing: str, name: str) -> None:
    head = read(f"<head><meta charset=utf-8><title>a</title>{thing}<link rel=canonical href=/></head>")
    assert head.broken_by == name
    assert tags(head) == ["meta", "title"]
    assert [token.name for token in head.behind] == ["link"]
    assert head.complete


@pytest.mark.parametrize(
    "thing",
    [
        "<noscript><img></noscript>", "<template><div></div></template>", "<script></script>", "<!-- x -->", "</p>",
        "\0", "<bgsound>",
    ],
)  # fmt: skip
def test_what_may_stand_in_a_head_does_not_end_it(thing: str) -> None:
    head = read(f"<head>{thing}<link rel=canonical href=/></head>")
    assert (tags(head), head.broken_by) == (["link"], None)


def test_byte_order_mark_at_the_start_does_not_end_the_head() -> None:
    assert read("\ufeff<!doctype html><head><title>a</title></head>").broken_by is None


def test_warning_in_front_of_the_document_breaks_the_head() -> None:
    head = read(
        "<br />Warning: include(): in /a.php<br /><html><head><title>a</title><link rel=canonical href=/></head>"
    )
    assert (head.broken_by, head.tags) == ("br", [])
    assert [token.name for token in head.behind] == ["html", "title", "link"]


def test_page_without_body_tag_is_not_read_to_its_end() -> None:
    reader = HeadReader()
    reader.feed(b"<title>x</title><div id=root>" + b"<p>text</p>" * 100)
    assert not reader.enough
    for _ in range(100):
        if reader.feed(b"<p>text</p>" * 50):
            break
    assert reader.enough
    assert reader._tokens.cut < BEHIND + 4096
    assert reader.close().complete


@pytest.mark.parametrize(
    "unit", [b"<meta>", b"<!--", b"<script>", b"<a b='", b" ", b"\0", b"<link>x", b"\xff", b"<title>"]
)
def test_endless_head_is_given_up(unit: bytes) -> None:
    reader, fed = HeadReader("text/html"), 0
    piece = unit * (4096 // len(unit))
    while not reader.feed(piece):
        fed += len(piece)
        assert fed < HEAD_LIMIT + 8192
    head = reader.close(whole=False)
    assert len(head.tags) <= MAX_TAGS
    assert head.complete == (head.broken_by is not None)


def test_nothing_is_kept_of_what_comes_later() -> None:
    reader = HeadReader(sample=SAMPLE)
    reader.feed(b"<head></head>")
    for _ in range(100):
        reader.feed(b"x" * 10_000)
    assert len(reader.close().sample) == SAMPLE


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
    reader = HeadReader(content_type)
    reader.feed(body)
    head = reader.close()
    assert head.encoding == encoding
    title = next(token.text for token in head.tags if token.name == "title")
    assert title.startswith("caf")
    assert title.endswith("日本")


@pytest.mark.parametrize(
    ("start", "content_type", "encoding"),
    [
        (b"<meta charset=iso-8859-1>\xe9", None, "cp1252"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', None, "koi8-r"),
        (b"<!-- <meta charset=koi8-r> -->\xe9", None, "cp1252"),
        (b" " * 1024 + b"<meta charset=koi8-r>\xe9 ", None, "cp1252"),
        (b"<meta charset=koi8-r>", "text/html; charset=utf-8", "utf-8"),
        (b"<meta charset=koi8-r>", "text/html; charset=nonsense", "koi8-r"), (b"\xe9", "text/html", "cp1252"),
        (b"\xe9", "text/html; charset=utf-7", "cp1252"), (b"\xe9", "text/html; charset=idna", "cp1252"),
        (b"\xe9", "text/html; charset=base64", "cp1252"), (b"\xe9", "text/html; charset=unicode_escape", "cp1252"),
        (b"\xe9", "text/html; charset=cp037", "cp1252"), (b"", None, "utf-8"),
    ],
)  # fmt: skip
def test_charset_that_is_declared_or_not(start: bytes, content_type: str | None, encoding: str) -> None:
    reader = HeadReader(content_type)
    reader.feed(start)
    assert reader.close().encoding == encoding


def test_wrong_encoding_loses_letters_and_no_tags() -> None:
    head = read(b"<title>caf\xe9</title><link rel=canonical href=/>", content_type="text/html; charset=utf-8")
    assert tags(head) == ["title", "link"]
    assert head.tags[0].text == "caf\ufffd"


# compression


DEFLATE = zlib.compressobj(wbits=-15)
PACKED = {
    "gzip": gzip.compress(PAGE.encode()),
    "x-gzip": gzip.compress(PAGE.encode()),
    "GZIP": gzip.compress(PAGE.encode()),
    "deflate": zlib.compress(PAGE.encode()),
    "deflate ": DEFLATE.compress(PAGE.encode()) + DEFLATE.flush(),  # without zlib's header: RFC 9110, 8.4.1.2
    "identity": PAGE.encode(),
    "": PAGE.encode(),
}


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("size", [7, 10_000])
def test_compressed_page_is_inflated_piece_by_piece(encoding: str, size: int) -> None:
    reader, packed = HeadReader(content_encoding=encoding), PACKED[encoding]
    for at in range(0, len(packed), size):
        reader.feed(packed[at : at + size])
    head = reader.close()
    assert (tags(head), head.complete) == (["html", "title"], True)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "x"])
def test_page_in_another_encoding_is_not_read(encoding: str) -> None:
    reader = HeadReader(content_encoding=encoding)
    assert reader.feed(b"\x1b\x03\x00\xf8")
    assert not reader.close().complete


def test_page_that_is_not_compressed_as_said_is_not_complete() -> None:
    head = read(PAGE, content_encoding="gzip")
    assert not head.complete


def test_bomb_is_inflated_to_the_limit_only() -> None:
    reader, bomb = HeadReader(content_encoding="gzip"), gzip.compress(b" " * 50 * 2**20)
    for at in range(0, len(bomb), 1000):
        assert reader.feed(bomb[at : at + 1000]) == (reader._taken == HEAD_LIMIT)
    assert reader._taken == HEAD_LIMIT
    assert not reader.close().complete


# the sample


def test_sample_is_what_follows_the_head() -> None:
    reader = HeadReader(sample=100)
    assert not reader.feed(b"<head></head><body><p>one")
    assert not reader.feed(b"<p>two")
    head = reader.close()
    assert (head.sample, head.sampled) == ("<body><p>one<p>two", True)


def test_sample_of_a_page_that_goes_on_is_not_all_of_it() -> None:
    reader = HeadReader(sample=5)
    assert reader.feed(b"<head></head>" + b"x" * 2000)
    assert not reader.close(whole=False).sampled


def test_sample_of_a_page_without_body_tag_begins_where_the_head_broke() -> None:
    assert read("<title>x</title><h1>Hi</h1>text").sample == "<h1>Hi</h1>text"


@given(
    st.binary(max_size=3000), st.lists(st.integers(1, 700), max_size=8), st.sampled_from(["", "gzip", "deflate", "br"])
)
def test_nothing_raises(body: bytes, sizes: list[int], encoding: str) -> None:
    reader = HeadReader("text/html", encoding, SAMPLE)
    for size in sizes:
        reader.feed(body[:size])
        body = body[size:]
    reader.feed(body)
    assert reader.close().tags is not None


@given(st.text(alphabet="<>!-/ ='\"metalinkhdbody\n\0é", max_size=300), st.lists(st.integers(1, 40), max_size=20))
def test_pieces_make_no_difference(text: str, sizes: list[int]) -> None:
    body, whole, parts = (
        b" " * 1024 + text.encode(),
        HeadReader("text/html; charset=utf-8"),
        HeadReader("text/html; charset=utf-8"),
    )
    whole.feed(body)
    rest = body
    for size in [1024, *sizes]:
        parts.feed(rest[:size])
        rest = rest[size:]
    parts.feed(rest)
    # What was waited for when the text ended is not looked at any more: a piece more tells it.
    whole.feed(b" " * 3000)
    parts.feed(b" " * 3000)
    one, other = whole.close(), parts.close()
    assert (one.tags, one.behind, one.broken_by, one.complete) == (
        other.tags,
        other.behind,
        other.broken_by,
        other.complete,
    )


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
    reader = HeadReader(content_type)
    reader.feed(body)
    assert reader.close().complete is complete
