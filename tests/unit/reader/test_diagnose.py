"""What a fault is called, and where it is."""

from __future__ import annotations

import pytest

from tests.unit.reader.reading import CORE, END, GOOD, read, url, urlset


@pytest.mark.parametrize(
    ("entry", "rule", "column"),
    [
        (url("https://e.com/?a=1&b=2"), "doc-unescaped-ampersand", 29),
        (url("https://e.com/?a=1& b"), "doc-unescaped-ampersand", 29),
        (url("https://e.com/?a=1&&b"), "doc-unescaped-ampersand", 29),
        (url("https://e.com/?a&"), "doc-unescaped-ampersand", 27),
        (url("https://e.com/caf&eacute;"), "doc-undeclared-entity", 28),
        (url("https://e.com/&x;"), "doc-undeclared-entity", 25),
        (url("https://e.com/\x08"), "doc-control-character", 25),
        (url("https://e.com/&#8;"), "doc-control-character", 25),
        (url("https://e.com/<"), "doc-xml-malformed", 26),
        (url("https://e.com/", "<lastmod>1&2</lastmod>"), "doc-unescaped-ampersand", 41),
        (url("https://e.com/", "<lastmod>\x08</lastmod>"), "doc-control-character", 40),
        (url("https://e.com/", "<image:image/>"), "xml-ext-namespace-missing", 31),
        (url("https://e.com/", "<x a=1/>"), "doc-xml-malformed", 36),
        ("<url><loc>https://e.com/1</lok></url>\n", "doc-xml-malformed", 28),
        ("text & more\n", "doc-unescaped-ampersand", 6),
        ("</b>\n", "doc-xml-malformed", 3),
    ],
)
def test_a_fault_is_named_and_placed(entry: str, rule: str, column: int) -> None:
    reading = read(urlset(GOOD, entry, GOOD))
    (fault,) = reading.document.faults
    assert (fault.rule, fault.line, fault.column) == (rule, 4, column)
    assert f"{entry}{GOOD}"[column - 1 :].startswith(fault.value or "")
    assert reading.locs.count("https://e.com/good") == 2


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (urlset(url("https://e.com/?a&b")), "not well formed (an & that is not escaped): 1 entry read after repair"),
        (
            urlset(url("https://e.com/?a&b", "<x/>")),
            "not well formed (an & that is not escaped): 1 entry read after repair",
        ),
        (urlset(url("https://e.com/a<b")), "not well formed (illegal character): 1 entry left out"),
        (urlset(GOOD, "&", GOOD), "not well formed (an & that is not escaped)"),
        (urlset(url("https://e.com/\x08")), "not well formed (illegal character): 1 entry left out"),
        (urlset("<!-- \x08 -->", GOOD), "not well formed (illegal character)"),
        (
            f"<urlset xmlns='{CORE}' a=b>{GOOD}{END}",
            "not well formed (illegal character), in the start tag of the root",
        ),
        (f"<urlset xmlns='{CORE}' a='' a=''>{GOOD}{END}", "duplicate attribute, in the start tag of the root"),
    ],
)
def test_a_fault_has_one_wording_whatever_finds_it(document: str, message: str) -> None:
    assert message in [fault.message for fault in read(document).document.faults]


def test_each_of_many_faults_is_counted() -> None:
    entries = [url(f"https://e.com/?a={number}&b") for number in range(30)]
    reading = read(urlset(*entries))
    assert reading.rules == {"doc-unescaped-ampersand": 30}
    assert [fault.line for fault in reading.document.faults] == list(range(3, 33))
    assert reading.document.error == (
        "not well formed (an & that is not escaped): 1 entry read after repair (line 3, and 29 more of the kind)"
    )


def test_a_bad_byte_in_an_attribute_is_an_encoding_fault() -> None:
    reading = read(urlset('<url><loc>https://e.com/1</loc><x a="?"/></url>', GOOD).encode().replace(b'"?"', b'"\xe9"'))
    assert not {"doc-xml-malformed", "doc-control-character"} & set(reading.rules)
    assert reading.document.outcome == "recovered"
