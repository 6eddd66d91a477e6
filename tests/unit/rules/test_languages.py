"""Codes of languages and countries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.rules.facts.languages import MAX_CODE, is_country, is_language, is_script, read_code


@pytest.mark.parametrize(
    "code", ["en", "EN", "zh", "sh", "eng", "deu", "ger", "fil", "ast", "tok", "isv", "mul", "sla", "cmn"]
)
def test_a_code_of_iso_639_is_a_language(code: str) -> None:
    assert is_language(code)


@pytest.mark.parametrize(
    "code",
    ["jp", "uk-UA", "cn", "", "e", "english", "qaa", "iw", "e n", "é", "\u212ao", "en-US", "zh-cn", "xxx", "en\n"],
)
def test_what_is_no_code_of_iso_639_is_no_language(code: str) -> None:
    assert not is_language(code)


@pytest.mark.parametrize("code", ["GB", "gb", "TW", "AX", "BQ", "SS", "XK"])
def test_a_code_of_iso_3166_in_use_is_a_country(code: str) -> None:
    assert is_country(code)


@pytest.mark.parametrize(
    "code", ["UK", "EU", "UN", "SU", "YU", "AN", "ZZ", "XX", "AA", "GBR", "826", "", "G", "ı", "ß"]
)
def test_what_is_reserved_former_or_unknown_is_no_country(code: str) -> None:
    assert not is_country(code)


def test_scripts_are_those_of_iso_15924() -> None:
    assert all(map(is_script, ("Hans", "hant", "LATN", "Cyrl")))
    assert not any(map(is_script, ("Hanz", "", "Latin", "XXXX", "ﬁﬁﬁﬁ", "ſyrc")))


@pytest.mark.parametrize(
    "code",
    [
        "en", "en-GB", "zh-Hant", "zh-Hant-TW", "sr-Latn-RS", "pt-BR", "no", "nb", "x-default", "sq-XK", "es-LA",
        "az-Cyrl-AZ",
    ],
)  # fmt: skip
def test_a_good_code_is_usual_as_it_stands(code: str) -> None:
    read = read_code(f" {code}\n")
    assert (read.written, read.canonical, read.fault, read.usual, read.counts) == (code, code, None, True, True)


@pytest.mark.parametrize(
    ("code", "canonical"),
    [
        ("en-gb", "en-GB"), ("EN", "en"), ("EN-us", "en-US"), ("zh-hant-tw", "zh-Hant-TW"), ("ZH-HANT", "zh-Hant"),
        ("X-Default", "x-default"),
    ],
)  # fmt: skip
def test_letters_of_another_case_are_the_same_code(code: str, canonical: str) -> None:
    read = read_code(code)
    assert (read.canonical, read.fault, read.usual, read.counts) == (canonical, None, False, True)


@pytest.mark.parametrize(
    ("code", "canonical"),
    [("en_US", "en-US"), ("zh_hant_tw", "zh-Hant-TW"), ("x_default", "x-default"), ("zh-Hant_TW", "zh-Hant-TW")],
)
def test_an_underscore_is_the_only_fault_of_a_code(code: str, canonical: str) -> None:
    read = read_code(code)
    assert (read.canonical, read.underscore, read.fault, read.usual, read.counts) == (
        canonical,
        True,
        None,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("jp", "a country (Japan)"), ("jp-JP", "a country (Japan)"), ("us", "(United States)"), ("cn", "(China)"),
        ("en-UK", "is GB"), ("en_UK", "is GB"), ("en-EU", "reserved"), ("fr-un", "reserved"), ("es-419", "by number"),
        ("us-en", "en-US"), ("gb-en", "en-GB"), ("zh-CN-Hans", "zh-Hans-CN"), ("sr-hu-latn", "sr-Latn-HU"), ("en-US-abcd", "form"), ("xx-en", "'xx'"),
        ("eng", "is en"), ("ger-DE", "is de"), ("en-EN", "'EN'"), ("en-SU", "'SU'"), ("zh-CHS", "'CHS'"), ("zh-Hanz", "'Hanz'"),
        ("es-LATAM", "'LATAM'"), ("ca-ES-valencia", "form"), ("en-x-foo", "form"), ("english", "form"),
        ("xx", "'xx'"), ("default", "form"), ("en-", "''"), ("-US", "form"), ("-", "form"), ("", "form"), ("en US", "form"), ("en,de", "form"),
        ("en–US", "form"), ("éé", "form"), ("en-ßß", "country"), ("zh-ﬁﬁﬁﬁ", "script"), ("und", "three-letter"), ("{{lang}}", "form"),
    ],
)  # fmt: skip
def test_a_code_that_is_none_says_why(code: str, words: str) -> None:
    read = read_code(code)
    assert read.fault is not None
    assert words in read.fault
    assert (read.canonical is None) == (code != "und")
    assert not read.usual


@pytest.mark.parametrize(
    ("code", "words"), [("fil", "three-letter"), ("fil-PH", "three-letter"), ("iw", "is he"), ("IN-ID", "is id")]
)
def test_a_language_that_is_not_documented_counts_and_says_so(code: str, words: str) -> None:
    read = read_code(code)
    assert read.counts
    assert read.fault is not None
    assert words in read.fault


def test_of_an_endless_value_only_the_start_is_kept() -> None:
    assert read_code("a" * 1_000_000).written == "a" * MAX_CODE


@given(st.one_of(st.text(), st.from_regex(r"[a-zA-Z]{1,4}([-_][A-Za-z0-9]{1,5}){0,4}", fullmatch=True)))
def test_any_text_is_read(text: str) -> None:
    read = read_code(text)
    is_language(text)
    is_country(text)
    is_script(text)
    assert read.counts or read.fault or read.underscore
    if read.canonical is not None:
        again = read_code(read.canonical)
        assert (again.canonical, again.underscore) == (read.canonical, False)
