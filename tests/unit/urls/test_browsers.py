"""URLs as browsers read them, with ada as the oracle."""

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


def target_by_ada(location: str, base: str) -> tuple[str, str]:
    url = ada_url.URL(location, base)
    url.username = url.password = ""
    return url.protocol.removesuffix(":"), url.href


def path_by_ada(url: str) -> str:
    return str(ada_url.URL(url).pathname)


def address_by_ada(url: str) -> str | None:
    read = ada_url.URL(url)
    return None if read.host_type == ada_url.HostType.DEFAULT else str(read.hostname)


def host_by_ada(name: str) -> str:
    return name.lower() if name.isascii() else str(ada_url.idna_to_ascii(name).decode("ascii"))


OF_A_URL = [(browsers.path_of, path_by_ada), (browsers.address_of, address_by_ada)]


@given(URLS, st.sampled_from(BASES))
def test_any_reference_leads_where_ada_says(text: str, base: str) -> None:
    assert outcome(browsers.target_of, text, base) == outcome(target_by_ada, text, base)


@given(TEXTS.map("https://{}".format))
@pytest.mark.parametrize(("read", "by_ada"), OF_A_URL)
def test_any_web_url_has_the_path_and_the_address_that_ada_reads(read: Reading, by_ada: Reading, url: str) -> None:
    assert outcome(read, url) == outcome(by_ada, url)


@given(TEXTS)
def test_any_host_name_has_the_letters_that_ada_gives(name: str) -> None:
    if not re.search("[\\x00-\\x20#%/:<>?@\\[\\]^|\\x7f\\\\]", name):  # no URL has such a host
        assert (outcome(browsers.ascii_host, name) or None) == (outcome(host_by_ada, name) or None)


def test_urls_of_all_documents_are_read_as_ada_reads_them() -> None:
    found: set[str] = set()
    for path in (Path(__file__).parents[2] / "data").rglob("*.xml"):
        found.update(re.findall(r"https?://[^<>\s]{1,500}", path.read_text("utf-8", "replace")))
    assert len(found) > 1000
    for url in found:
        for read, by_ada in OF_A_URL:
            assert outcome(read, url) == outcome(by_ada, url), url
        assert outcome(browsers.target_of, url, BASES[0]) == outcome(target_by_ada, url, BASES[0]), url


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("../d e?ü#x", "https://www.example.com:8080/a/d%20e?%C3%BC#x"), ("//straße.example", "https://xn--strae-oqa.example/"),
        ("http:\\\\0x7f.1\\a", "http://127.0.0.1/a"), ("https://[0:0:0:1:0:0:0:0]:443", "https://[0:0:0:1::]/"),
        ("?", "https://www.example.com:8080/a/b/c?"), ("mailto:a@e.com", None), ("https://a b/", None), ("https://x@:1", None),
    ],
)  # fmt: skip
def test_redirect_leads_to_the_url_that_browsers_open(location: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(NoTarget):
            target(location, BASES[0])
    else:
        assert target(location, BASES[0]) == found
