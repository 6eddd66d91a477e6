"""URLs: what counts as one, and which two are the same request."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.urls import Authority
from sitemapcrawler.urls.authority import _resolve

BASE = "https://e.com/dir/sitemap.xml"
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
HOSTILE = [
    "http://[",
    "http://]/",
    "http://[::1",
    "http://[v1.x]/",
    "http://[fe80::1%25eth0]/",
    "http://a:99999999/",
    "http://a:0/",
    "http://a:65536/",
    "http://a:x/",
    "http://a:\uff11/",
    "http://",
    "http:///path",
    "http://?q",
    "http://:80/",
    "http://a b/",
    "http://a\0b/",
    "http://a..b/",
    "http://.a/",
    "http://a%2eb/",
    "http://\u2100.com/",
    "http://a\u200db.de/",
    "http://\u00ad/",
    "http://xn--a.\u00fc/",
    "http://\u0661\u0662\u0663.1/",
    "http://\u00fc..de/",
    "http://" + "\u00fc" * 64 + ".de/",
    "http://\ud800/",
    "http://good.com\\@evil.com/",
    f"http://{'a' * 64}/",
    f"http://{'a.' * 130}a/",
    f"http://{'a' * 2**20}/",
]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://e.com/", Authority("e.com", 443)),
        ("http://e.com", Authority("e.com", 80)),
        ("HTTP://E.Com:8080?q", Authority("e.com", 8080)),
        ("https://e.com.:443/", Authority("e.com", 443)),
        ("https://e.com:/", Authority("e.com", 443)),
        ("http://user:pass@e.com/", Authority("e.com", 80)),
        ("http://a.com@e.com/", Authority("e.com", 80)),
        ("http://e.com#@a.com", Authority("e.com", 80)),
        ("http://[::0001]:81/", Authority("::1", 81)),
        ("http://[2001:DB8::1]/", Authority("2001:db8::1", 80)),
        ("https://m\u00fcnchen.de/", Authority("xn--mnchen-3ya.de", 443)),
        ("http://127\u30020\u30020\u30021/", Authority("127.0.0.1", 80)),
        ("http://my_host/", Authority("my_host", 80)),
        ("https://stra\u00dfe.example/", Authority("xn--strae-oqa.example", 443)),
        ("https://STRASSE.example/", Authority("strasse.example", 443)),
        ("https://xn--strae-oqa.example/", Authority("xn--strae-oqa.example", 443)),
        ("https://\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2.gr/", Authority("xn--kxa6ajbbmh.gr", 443)),
        ("https://I\u2764.Example/", Authority("xn--i-7iq.example", 443)),
        ("https://M\u00dcNCHEN.DE/", Authority("xn--mnchen-3ya.de", 443)),
        ("https://e\uff0ecom\uff61/", Authority("e.com", 443)),
        ("https://\uff45.com/", Authority("e.com", 443)),
        ("http://xn--a.example/", Authority("xn--a.example", 80)),
    ],
)
def test_authority_is_normalised(url: str, expected: Authority) -> None:
    assert urls.authority(url) == expected
    assert urls.is_web(url)


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_url_has_no_authority(url: str) -> None:
    assert urls.authority(url) is None
    assert urls.origin(url) is None
    assert not urls.is_web(url)
    assert urls.resolve(BASE, url) is None


@pytest.mark.parametrize(
    "url", ["", "e.com", "//e.com/", "/path", "file:///etc/passwd", "ftp://e.com/", " http://e.com/"]
)
def test_other_text_is_no_web_url(url: str) -> None:
    assert not urls.is_web(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://E.com:443/a?b#c", "https://e.com"),
        ("http://u:p@e.com:443/", "http://e.com:443"),
        ("http://[::1]:80/", "http://[::1]"),
        ("https://[::1]:8443/", "https://[::1]:8443"),
    ],
)
def test_origin(url: str, expected: str) -> None:
    assert urls.origin(url) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.com", "https://e.com/"),
        ("HTTPS://E.COM:443/s.xml", "https://e.com/s.xml#part"),
        ("https://u:p@e.com./s.xml", "https://e.com/s.xml"),
        ("https://e.com/%c3%a9 x", "https://e.com/\u00e9%20x"),
        ("https://e.com?a", "https://e.com/?a"),
        ("file:///a.xml#x", "file:///a.xml"),
    ],
)
def test_spellings_of_one_request_share_a_key(one: str, other: str) -> None:
    assert urls.visit_key(one) == urls.visit_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.com/", "http://e.com/"),
        ("https://e.com/", "https://www.e.com/"),
        ("https://e.com/S.xml", "https://e.com/s.xml"),
        ("https://e.com/s.xml?a=1&b=2", "https://e.com/s.xml?b=2&a=1"),
        ("https://e.com/s.xml?", "https://e.com/s.xml"),
        ("https://e.com/s.xml?a?", "https://e.com/s.xml?a"),
        ("https://e.com/s.xml/", "https://e.com/s.xml"),
        ("https://e.com/%2F", "https://e.com//"),
        ("http://e.com:443/", "https://e.com/"),
    ],
)
def test_different_requests_have_different_keys(one: str, other: str) -> None:
    assert urls.visit_key(one) != urls.visit_key(other)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("https://a.com/b?c#d", "https://a.com/b?c#d"),
        ("HTTPS://A.com/B", "https://A.com/B"),
        ("\u00a0\u200b\ufeff https://a.com/ \r\n\u00a0", "https://a.com/"),
        ("https://a.com/\n      page", "https://a.com/page"),
        ("https://a.\tcom/", "https://a.com/"),
        ("https://a.com/with space", "https://a.com/with space"),
        ("https://a.com/a/../b", "https://a.com/a/../b"),
        ("//cdn.com/s.xml", "https://cdn.com/s.xml"),
        ("/s2.xml", "https://e.com/s2.xml"),
        ("s2.xml", "https://e.com/dir/s2.xml"),
        ("../s2.xml", "https://e.com/s2.xml"),
        ("?page=2", "https://e.com/dir/sitemap.xml?page=2"),
    ],
)
def test_reference_is_made_absolute(reference: str, expected: str) -> None:
    assert urls.resolve(BASE, reference) == expected


@pytest.mark.parametrize(
    "reference",
    ["", " \n\u00a0", "mailto:a@b.c", "javascript:void(0)", "file:///etc/passwd", "data:,x", "e.com:80/x", "/\ud800",
     "//[x", "https:page", "https:/e.com/page", "https:e.com"],
)  # fmt: skip
def test_reference_that_is_no_web_url_is_none(reference: str) -> None:
    assert urls.resolve(BASE, reference) is None


@pytest.mark.parametrize("base", ["", "file:///a/s.xml", "http://[", "mailto:x"])
def test_base_that_is_no_web_url_resolves_absolute_references_only(base: str) -> None:
    assert urls.resolve(base, "https://a.com/x") == "https://a.com/x"
    assert urls.resolve(base, "x") is None
    assert urls.resolve(base, "//a.com/x") is None


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["", "http://", "https://e.com", "//", "http://[", "file:"]))
def test_nothing_raises_whatever_the_text(base: str, text: str, prefix: str) -> None:
    url = prefix + text
    assert isinstance(urls.visit_key(url), str)
    assert urls.is_web(url) == (urls.origin(url) is not None)
    urls.local_path(url)
    for resolved in (urls.resolve(base, url), urls.resolve(BASE, url)):
        assert resolved is None or (urls.is_web(resolved) and resolved.encode())


BASES = st.sampled_from(
    (
        BASE, "HTTP://E.com", "https://e.com:443/a", "https://user:key@e.com/", "https://e.com/?q", "https://[::1]/",
        "file:///a", "https://e/#f",
    )
)  # fmt: skip
PIECES = st.sampled_from(
    (
        "/", "//", "a", ".", "..", "?", "#", ";", "=", "&", "%2F", "%", "\n", " ", ":", "@", "é", "https://e.com",
        "HTTP://E.com", "http://x",
    )
)  # fmt: skip


@given(BASES, st.lists(PIECES, max_size=8).map("".join) | ANY_TEXT.map("/".__add__))
def test_usual_references_resolve_as_all_others(base: str, reference: str) -> None:
    assert urls.resolve(base, reference) == _resolve(base, reference)


@given(ANY_TEXT)
def test_resolving_and_keying_twice_changes_nothing(text: str) -> None:
    resolved = urls.resolve(BASE, "https://e.com/" + text)
    assert resolved is None or urls.resolve(BASE, resolved) == resolved
    assert urls.visit_key(urls.visit_key("https://e.com/" + text)) == urls.visit_key("https://e.com/" + text)


@pytest.mark.parametrize(
    "unit", ["a", " ", "/", "../", "%", "@", ":", "[", "\n", "\t", "\\", "a.", "\u00e9", "http://"]
)
@pytest.mark.parametrize("prefix", ["", "http://", "http://e.com/"])
def test_a_megabyte_of_anything_is_survived(prefix: str, unit: str) -> None:
    url = prefix + unit * (2**20 // len(unit))
    assert urls.visit_key(url)
    resolved = urls.resolve(BASE, url)
    assert resolved is None or urls.is_web(resolved)


def test_file_url_and_path_are_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "a b#c?d%41\u00e9.xml")
    url = urls.file_url(path)
    assert url.isascii()
    assert "#" not in url
    assert urls.local_path(url) == path


def test_file_url_is_absolute_without_dots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert urls.file_url("./x/../s.xml") == (tmp_path / "s.xml").as_uri()


def test_file_url_of_localhost_names_a_path() -> None:
    assert urls.local_path("FILE://localhost/s.xml") == "/s.xml"
    assert urls.local_path("file:/s%FF.xml") == os.fsdecode(b"/s\xff.xml")


@pytest.mark.parametrize(
    "url", ["https://e.com/s.xml", "file://host/s.xml", "file:s.xml", "file:", "/s.xml", "file://["]
)
def test_other_url_names_no_path(url: str) -> None:
    assert urls.local_path(url) is None


def test_empty_query_is_not_asked_for_apart() -> None:
    assert urls.request_key("https://E.com/a?") == urls.request_key("https://e.com/a#b") == "https://e.com/a"
    assert urls.request_key("https://e.com/a?b?") == "https://e.com/a?b?"
    assert urls.request_key("https://e.com/a?b") == "https://e.com/a?b"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://E.com:8080/a", "e.com"),
        ("http://user:p@ss@e.com?x=@y", "e.com"),
        ("http://[2001:DB8::1]:80/", "2001:db8::1"),
        ("HTTPS://e.com#x", "e.com"),
        ("ftp://e.com/", ""),
        ("/a", ""),
        ("http://", ""),
    ],
)
def test_host_of_a_url(url: str, host: str) -> None:
    assert urls.host_of(url) == host


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://stra\u00dfe.example/\u00df?\u00df#\u00df", "https://xn--strae-oqa.example/\u00df?\u00df#\u00df"),
        ("HTTP://\u00dc.example:81", "HTTP://xn--tda.example:81"),
        ("//stra\u00dfe.example/a", "//xn--strae-oqa.example/a"),
        ("https://u:\u00df@stra\u00dfe.example.", "https://u:\u00df@xn--strae-oqa.example."),
        ("https://e.com/\u00df", "https://e.com/\u00df"),
        ("https://Stra.example/", "https://Stra.example/"),
        ("/stra\u00dfe", "/stra\u00dfe"),
        ("stra\u00dfe.example", "stra\u00dfe.example"),
        ("file:///stra\u00dfe.xml", "file:///stra\u00dfe.xml"),
        ("http://\u2100.com/", "http://\u2100.com/"),
        ("http://[::1]/\u00df", "http://[::1]/\u00df"),
        ("http://a\u200db.de/", "http://a\u200db.de/"),
        ("http://\ud800.de/", "http://\ud800.de/"),
    ],
)
def test_host_is_encoded_as_browsers_do(url: str, sent: str) -> None:
    assert urls.as_sent(url) == sent


@given(ANY_TEXT)
def test_host_that_is_sent_is_the_one_that_is_compared(text: str) -> None:
    url = f"http://{text}/"
    assert urls.authority(urls.as_sent(url)) == urls.authority(url)
    host = re.split("[/?#]", urls.as_sent(url).partition("://")[2])[0].rpartition("@")[2]
    assert not urls.is_web(url) or host.isascii()
