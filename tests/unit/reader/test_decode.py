"""Bytes to text."""

from __future__ import annotations

import codecs

import pytest

from sitemapcrawler.reader.decode import decode
from sitemapcrawler.reader.faults import Faults
from tests.unit.reader.reading import CORE, END, GOOD, pieces, read, url, urlset

TEXT = f'<?xml version="1.0" encoding="%s"?>\n<urlset xmlns="{CORE}">\n<url><loc>https://e.com/é</loc></url>\n{END}'
SIZES = (1, 2, 3, 5, 1000)


def decoded(data: bytes, size: int = 1000) -> tuple[str, str, dict[str, int]]:
    faults = Faults()
    text = "".join(decode(pieces(data, size), faults))
    return faults.encoding or "", text, dict(faults.counts)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("declared", "codec", "mark", "name"),
    [
        ("UTF-8", "utf-8", b"", "utf-8"),
        ("utf-8", "utf-8", codecs.BOM_UTF8, "utf-8"),
        ("UTF-16", "utf-16-le", codecs.BOM_UTF16_LE, "utf-16-le"),
        ("UTF-16", "utf-16-be", codecs.BOM_UTF16_BE, "utf-16-be"),
        ("UTF-16", "utf-16-le", b"", "utf-16-le"),
        ("UTF-16", "utf-16-be", b"", "utf-16-be"),
        ("UTF-32", "utf-32-le", codecs.BOM_UTF32_LE, "utf-32-le"),
        ("UTF-32", "utf-32-be", codecs.BOM_UTF32_BE, "utf-32-be"),
        ("UTF-32", "utf-32-le", b"", "utf-32-le"),
        ("UTF-32", "utf-32-be", b"", "utf-32-be"),
        ("ISO-8859-1", "iso-8859-1", b"", "iso8859-1"),
        ("latin1", "iso-8859-1", b"", "iso8859-1"),
        ("windows-1252", "cp1252", b"", "cp1252"),
        ("iso-8859-15", "iso-8859-15", b"", "iso8859-15"),
        ("GB2312", "utf-8", b"", None),
        ("US-ASCII", "utf-8", b"", "utf-8"),
    ],
)
def test_the_encoding_is_found_and_the_url_read(
    declared: str, codec: str, mark: bytes, name: str | None, size: int
) -> None:
    data = mark + (TEXT % declared).encode(codec)
    reading = read(data, size)
    if name is None:  # declared as something it is not
        assert reading.locs != ["https://e.com/Ã©"]
        return
    assert reading.locs == ["https://e.com/é"]
    assert reading.document.encoding == name
    assert reading.document.outcome == "ok"
    assert ("doc-encoding-not-utf8" in reading.rules) is (name != "utf-8")
    assert ("doc-bom" in reading.rules) is (name == "utf-8" and bool(mark))


@pytest.mark.parametrize(
    ("label", "codec", "path"),
    [
        ("ISO-8859-8-I", "iso8859-8", "שלום"), ("windows-874", "cp874", "ไทย"), ("x-sjis", "cp932", "日本"),
        ("ISO-2022-JP", "iso2022_jp", "日本"), ("windows-949", "cp949", "한국"), ("x-euc-jp", "euc_jp", "日本"),
        ("shift_jis", "shift_jis", "日本"), ("euc-kr", "euc-kr", "한국"), ("gb18030", "gb18030", "中文"),
        ("big5", "big5", "中文"), ("koi8-r", "koi8-r", "привет"), ("windows-1251", "windows-1251", "привет"),
    ],
)  # fmt: skip
def test_legacy_encodings_under_names_that_python_has_and_lacks(label: str, codec: str, path: str) -> None:
    data = (TEXT.replace("é", path) % label).encode(codec)
    for size in SIZES:
        assert read(data, size).locs == [f"https://e.com/{path}"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("charset", "path"), [("cp1251", "ключ"), ("cp932", "日本"), ("cp1252", "café"), ("gb18030", "中文")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_what_is_not_utf_8_has_the_encoding_of_the_header(end: str, charset: str, path: str, size: int) -> None:
    locs = ["https://e.com/a", f"https://e.com/{path}", "https://e.com/b", f"https://e.com/2/{path}"]
    text = (end or "\r\n").join(locs) + end
    reading = read(text.encode(charset), size, charset=charset)
    assert (reading.locs, reading.lines) == (locs, [1, 2, 3, 4])
    assert reading.document.encoding == charset
    assert [(fault.rule, fault.line) for fault in reading.document.faults] == [("doc-encoding-not-utf8", 2)]
    assert reading.document.outcome == "ok"
    xml = urlset(*map(url, locs)).partition("\n")[2].replace("\n", end or "\n")
    assert read(xml.encode(charset), size, charset=charset).locs == locs


@pytest.mark.parametrize("charset", ["cp1251", "utf-8", "ascii", "utf-16", "x-unknown"])
def test_utf_8_is_utf_8_whatever_the_header_says(charset: str) -> None:
    reading = read("https://e.com/ключ\n", 3, charset=charset)
    assert (reading.locs, reading.rules) == (["https://e.com/ключ"], {})


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, b"<?xml version='1.0' encoding='koi8-r'?>\n"])
def test_a_mark_or_declaration_counts_more_than_the_header(mark: bytes) -> None:
    name = "koi8-r" if mark.startswith(b"<") else "utf-8"
    reading = read(mark + urlset(url("https://e.com/a")).partition("\n")[2].encode() + b"\xe9", charset="cp1251")
    assert reading.document.encoding == name


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "rot13", "x-unknown"])
def test_bad_bytes_stay_bad_if_the_header_is_of_no_use(charset: str) -> None:
    reading = read(b"https://e.com/caf\xe9\n", charset=charset)
    assert (reading.locs, reading.document.encoding) == (["https://e.com/caf\ufffd"], "utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "x-unknown", "rot13", "utf-7", "UTF-16", "cp037", "punycode", "base64", "idna", "undefined", "zlib",
        "unicode_escape",
    ],
)  # fmt: skip
def test_a_declared_encoding_that_cannot_be_is_read_as_utf_8(name: str) -> None:
    reading = read(TEXT % name)
    assert reading.locs == ["https://e.com/é"]
    assert reading.document.encoding == "utf-8"
    assert reading.rules == {"doc-encoding-not-utf8": 1}
    assert reading.document.outcome == "ok"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_count_alike(end: str, size: int) -> None:
    body = urlset(GOOD, GOOD, url("https://e.com/é")).replace("\n", end)
    for data in (body.encode(), body.replace("UTF-8", "UTF-16").encode("utf-16")):
        assert read(data, size).lines == [3, 4, 5]


def test_a_lone_carriage_return_at_the_end_is_a_line_end() -> None:
    assert decoded(b"a\r\nb\rc\nd\r\r\na\r", 1)[1] == "a\nb\nc\nd\n\na\n"


@pytest.mark.parametrize("size", SIZES)
def test_a_bad_byte_is_noted_once_with_its_line(size: int) -> None:
    faults = Faults()
    text = "".join(decode(pieces(b"one\ntw\xff\xfeo\nthr\xffee", size), faults))
    assert text == "one\ntw\ufffd\ufffdo\nthr\ufffdee"
    assert [(fault.rule, fault.line) for fault in faults] == [("doc-encoding-not-utf8", 2)]


@pytest.mark.parametrize("size", SIZES)
def test_a_bad_byte_in_a_url_is_lost_and_the_entry_is_kept(size: int) -> None:
    reading = read(urlset(url("https://e.com/caf~"), GOOD).encode().replace(b"~", b"\xe9"), size)
    assert reading.records[0].loc == "https://e.com/caf\ufffd"
    assert reading.recovered == ["https://e.com/caf\ufffd"]
    assert reading.locs[1] == "https://e.com/good"
    assert reading.document.outcome == "recovered"
    assert [(fault.rule, fault.line, fault.url) for fault in reading.document.faults] == [
        ("doc-encoding-not-utf8", 3, None),
        ("doc-encoding-not-utf8", 3, "https://e.com/caf\ufffd"),
    ]


@pytest.mark.parametrize(
    ("codec", "bad", "shown"),
    [("utf-16-le", b"\x00\xd8", "\ufffd"), ("shift_jis", b"\x81\xff", "\ufffd\ufffd")],
    ids=["utf-16-le", "shift_jis"],
)
def test_an_entry_with_bad_bytes_is_no_good_outcome(codec: str, bad: bytes, shown: str) -> None:
    start = f'<?xml version="1.0" encoding="{codec}"?><urlset><url><loc>https://e.com/'.encode(codec)
    reading = read(start + bad + f"x</loc></url>{GOOD}{END}".encode(codec))
    assert reading.locs == [f"https://e.com/{shown}x", "https://e.com/good"]
    assert reading.document.outcome == "recovered"
    assert reading.document.error is not None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_file_that_ends_within_a_character_is_truncated(encoding: str) -> None:
    data = urlset(GOOD, GOOD).encode(encoding)
    for missing in range(1, 12):
        assert read(data[:-missing]).document.outcome == "truncated"


def test_utf_8_that_ends_within_a_character_is_truncated() -> None:
    data = urlset(GOOD, url("https://e.com/é"))[: -len(END)].encode()
    cut = data[: data.index("é".encode()) + 1]
    reading = read(cut, 1)
    assert reading.locs == ["https://e.com/good"]
    assert reading.document.outcome == "truncated"


def test_an_empty_document_has_an_encoding() -> None:
    assert decoded(b"") == ("utf-8", "", {})


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"\xff", "the byte FF is not UTF-8"),
        (b"\xc3<", "the byte C3 is not UTF-8"),
        (b"\xe2\x82", "the bytes E2 82 are not UTF-8"),
    ],
)
def test_a_bad_byte_is_named_with_its_line_whatever_the_line_ends(
    bad: bytes, message: str, end: bytes, size: int
) -> None:
    body = end.join((b"<urlset>", b"<url>", b"", b"<loc>https://e.com/%s</loc></url>" % bad, b"</urlset>"))
    (fault,) = (fault for fault in read(body, size).document.faults if fault.message.endswith(" not UTF-8"))
    assert (fault.line, fault.message) == (4, message)
    alone = end * 3 + bad
    (fault,) = (fault for fault in read(alone, size).document.faults if fault.rule != "xml-root-unknown")
    assert fault.line == 4


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("earlier", ["caf\ufffd", "caf\x01"], ids=["U+FFFD in the file", "a character left out"])
def test_a_bad_byte_says_nothing_about_earlier_entries(earlier: str, size: int) -> None:
    titled = f"<url><loc>https://e.com/a</loc><priority>{earlier}</priority></url>"
    reading = read(urlset(titled, url("https://e.com/caf~")).encode().replace(b"~", b"\xe9"), size)
    noted = [fault.url for fault in reading.document.faults if fault.rule == "doc-encoding-not-utf8"]
    assert noted == [None, "https://e.com/caf\ufffd"]
