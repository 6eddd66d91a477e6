"""URLs as browsers read them: our own reading gives what ada gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.chase import NoTarget, target
from sitemapcrawler.urls import browsers

ada_url = pytest.importorskip("ada_url")
BASES = ("https://user@www.example.com:8080/a/b/c?x=1#f", "http://e.com", "https://e.com/a/..;/%2e/b?")
PIECES = (
    "http://", "https://", "HTTP:", "https:", "//", "/", "\\", "..", ".", "%2e", "%2E.", "a", "b;x", "?", "#", "@", ":", "80", ":443",
    ":8080", ":65536", "[::1]", "[1:0:0:2::3]", "[::1.2.3.4]", "[::1%1]", "1.2.3.4", "0x7f.1", "256", "4294967296", "08", "é", "ß", "xn--",
    "xn--ls8h", "日本", " ", "\t", "\n", "{", "}", "^", "|", "'", '"', "<", "`", "%", "%zz", "%C3%A9", "%00", "mailto:", "ftp://h/", "e.com",
    "EXAMPLE.com", "*", "_", "-", "☃", "\u200d", "\u0301", "ا", "\u00ad", "。", "K", "\x00", "\x7f", "\ud800", "\U0001f4a9",
)  # fmt: skip
LETTERS = st.characters(max_codepoint=0x24F) | st.sampled_from("אبक你한あЖΩ\u0301")
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(LETTERS, max_size=3), max_size=8).map("".join)
URLS = st.tuples(st.sampled_from(("", "http://", "https://")), TEXTS).map("".join)
Reading = Callable[..., object]


def outcome(read: Reading, *given: str) -> object:
    try:
        found = read(*given)
    except ValueError:
        return None
    if isinstance(found, tuple) and found[0] not in browsers.WEB:
        return None  # another scheme is not requested in any case
    return found


def both(read: Reading, *given: str) -> list[object]:
    """What a function gives with ada and without."""
    found = []
    for module in (ada_url, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(browsers, "ada", module)
            found.append(outcome(read, *given))
    return found


@given(URLS, st.sampled_from(BASES))
def test_any_reference_leads_where_ada_says(text: str, base: str) -> None:
    with_ada, without = both(browsers.target_of, text, base)
    assert without == with_ada


@given(TEXTS.map("https://{}".format))
@pytest.mark.parametrize("read", [browsers.path_of, browsers.address_of])
def test_any_web_url_has_the_path_and_the_address_that_ada_reads(read: Reading, url: str) -> None:
    with_ada, without = both(read, url)
    assert without == with_ada


@given(TEXTS)
def test_any_host_name_has_the_letters_that_ada_gives(name: str) -> None:
    if not re.search("[\\x00-\\x20#%/:<>?@\\[\\]^|\\x7f\\\\]", name):  # no URL has such a host
        with_ada, without = both(browsers.ascii_host, name)
        assert (without or None) == (with_ada or None)


def test_urls_of_all_documents_are_read_as_ada_reads_them() -> None:
    found: set[str] = set()
    for path in (Path(__file__).parents[2] / "data").rglob("*.xml"):
        found.update(re.findall(r"https?://[^<>\s]{1,500}", path.read_text("utf-8", "replace")))
    assert len(found) > 1000
    for url in found:
        for read in (browsers.path_of, browsers.address_of):
            assert len(set(both(read, url))) == 1, url
        assert len(set(both(browsers.target_of, url, BASES[0]))) == 1, url


@pytest.mark.parametrize("module", [ada_url, None])
@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("../d e?ü#x", "https://www.example.com:8080/a/d%20e?%C3%BC#x"), ("//straße.example", "https://xn--strae-oqa.example/"),
        ("http:\\\\0x7f.1\\a", "http://127.0.0.1/a"), ("https://[0:0:0:1:0:0:0:0]:443", "https://[0:0:0:1::]/"),
        ("?", "https://www.example.com:8080/a/b/c?"), ("mailto:a@e.com", None), ("https://a b/", None), ("https://x@:1", None),
    ],
)  # fmt: skip
def test_redirect_leads_to_the_same_url_with_and_without_ada(
    monkeypatch: pytest.MonkeyPatch, module: object, location: str, found: str | None
) -> None:
    monkeypatch.setattr(browsers, "ada", module)
    if found is None:
        with pytest.raises(NoTarget):
            target(location, BASES[0])
    else:
        assert target(location, BASES[0]) == found
