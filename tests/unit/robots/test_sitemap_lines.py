"""The sitemaps that a robots.txt names, however it names them."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.robots import Policy, RobotsSitemap
from sitemapcrawler.robots import text as robots_text
from sitemapcrawler.robots.text import MAX_LINE

ROBOTS = "https://e.com/robots.txt"
REAL = Path(__file__).resolve().parents[3].parent / "shared" / "real"


def sitemaps_of(body: bytes, base: str) -> list[RobotsSitemap]:
    """The sitemaps of a robots.txt that answers at `base`."""
    return Policy.from_response(base, 200, body).sitemaps


def found(text: str, base: str = ROBOTS) -> list[str]:
    return [sitemap.url for sitemap in sitemaps_of(text.encode(), base)]


PLAIN = ("SITEMAP: {}", "  \t sItEmAp \t:\t {}  ", "\u00a0Sitemap:\u00a0{}", "\0Sitemap: {}")
TYPOS = (
    "site-map: {}", "Sitemaps: {}", "Site map: {}", "site_map : {}", "Sitemap-index: {}", "Sitemap {}", "{}", "<{}>",
)  # fmt: skip


@pytest.mark.parametrize(("line", "typo"), [(line, line in TYPOS) for line in (*PLAIN, *TYPOS)])
def test_typo_is_read_and_marked_and_case_and_blanks_are_none(line: str, typo: bool) -> None:
    (sitemap,) = sitemaps_of(line.format("https://e.com/s.xml").encode(), ROBOTS)
    assert (sitemap.url, sitemap.typo) == ("https://e.com/s.xml", typo)


def test_every_field_of_the_table_is_read() -> None:
    for field in robots_text.SITEMAP_FIELDS:
        assert found(f"{field}: https://e.com/s.xml") == ["https://e.com/s.xml"]


@pytest.mark.parametrize(
    "line",
    [
        "# Sitemap: https://e.com/s.xml", "#Sitemap: https://e.com/s.xml", "Sitemap:",
        "Sitemap: # https://e.com/s.xml", "Sitemap", "Sitemap files stand below", "sitemap help", "sitemap/s.xml",
        "Disallow: /sitemap.xml", "Allow: https://e.com/sitemap.xml", "Host: https://e.com/sitemap.xml",
        "https://e.com/", "https://e.com/page.html", "see https://e.com/sitemap.xml",
        "https://e.com/sitemap.xml is ours", "Sitemap: ftp://e.com/s.xml", "Sitemap: file:///etc/passwd",
        "Sitemap: https://", "Sitemap: http://[",
    ],
)  # fmt: skip
def test_line_that_names_no_sitemap(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize(
    ("line", "url", "comment"),
    [
        ("Sitemap: https://e.com/s.xml # main", "https://e.com/s.xml", True),
        ("Sitemap: https://e.com/s.xml\t#main", "https://e.com/s.xml", True),
        ("Sitemap: https://e.com/s.xml#main", "https://e.com/s.xml", False),
        ("Sitemap: https://e.com/s.xml", "https://e.com/s.xml", False),
    ],
)
def test_comment_and_fragment_end_the_url(line: str, url: str, comment: bool) -> None:
    assert sitemaps_of(line.encode(), ROBOTS) == [RobotsSitemap(url, 1, line, comment=comment)]


@pytest.mark.parametrize(
    ("value", "url"),
    [("/s.xml", "https://e.com/s.xml"), ("s.xml", "https://e.com/s.xml"), ("//cdn.com/s.xml", "https://cdn.com/s.xml")],
)
def test_relative_url_is_resolved_and_marked(value: str, url: str) -> None:
    (sitemap,) = sitemaps_of(f"Sitemap: {value}".encode(), ROBOTS)
    assert sitemap.url == url
    assert sitemap.relative
    assert not sitemap.typo


def test_bytes_that_are_not_utf8_stay_the_bytes_they_are() -> None:
    (sitemap,) = sitemaps_of(b"# caf\xe9\nSitemap: https://e.com/caf\xe9.xml", ROBOTS)
    assert sitemap.url == "https://e.com/caf%E9.xml"
    assert sitemap.raw == "Sitemap: https://e.com/caf%E9.xml"


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html>\nSitemap: https://e.com/s.xml\n</html>",
        b"\xef\xbb\xbf\n\n  <html lang=en>\nSitemap: https://e.com/s.xml",
        b"Not found\n<head>\nSitemap: https://e.com/s.xml",
        b"<!-- cached --><!doctype html>\nSitemap: https://e.com/s.xml",
        b"<!-- cached -->\n<html>\nSitemap: https://e.com/s.xml",
        b"<div>Not found</div>\n<p>Sitemap: /sitemap.xml</p>",
        b"<html><head><script>\nconst site = {\n  sitemap: 'https://e.com/s.xml',\n  userAgent: navigator.userAgent,\n}\n",
        b"<html><script>\nUser-agent: *\nSitemap: https://e.com/s.xml\n</script>\n<p>Not found</p>",
        b"<html><body><p>Disallow: /</p>\n<p>Sitemap: https://e.com/s.xml</p></body></html>",
        b"<?xml version='1.0'?>\nSitemap: https://e.com/s.xml",
        b"<html><body><pre>User-agent: *\nDisallow: /x\n\nSitemap: https://e.com/s.xml\n</pre></body></html>",
        "<html>\nSitemap: https://e.com/s.xml".encode("utf-16"),
    ],
)
def test_html_in_place_of_robots_names_nothing(body: bytes) -> None:
    assert sitemaps_of(body, ROBOTS) == []


RULES = "User-agent: *\nDisallow: /x\n\n"
NAMED = "Sitemap: https://e.com/s.xml"
QUOTED = [form.format("https://e.com/s.xml") for form in ('"{}"', "'{}'", "<{}>", "\u201c{}\u201d", "{},", '<"{}">')]
SEVERAL = ["https://e.com/a.xml", "https://e.com/b,c.xml"]


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- WP Super Cache is installed but broken. -->\n{RULES}{NAMED}",
        f"{RULES}{NAMED}\n<!-- WP Super Cache is installed but broken. -->\n",
        f"<!-- cached -->\n{NAMED}",
        f"<br />\n<b>Notice</b>:  Undefined index: x in <b>/a.php</b> on line <b>2</b><br />\n{RULES}{NAMED}",
        f"{RULES}<br />\n<b>Warning</b>:  x in <b>/a.php</b> on line <b>2</b><br />\n{NAMED}",
        f"\ufeff# ours\n{RULES}{NAMED}\n<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
        f"{RULES}{NAMED}\n".replace("\n", "<br />\n"),
    ],
)
def test_sitemaps_are_read_from_a_robots_txt_with_markup(text: str) -> None:
    robots = Policy.from_response(ROBOTS, 200, text.encode())
    assert [sitemap.url for sitemap in robots.sitemaps] == ["https://e.com/s.xml"]
    assert robots.names("https://e.com/s.xml")


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("Sitemap:\nhttps://e.com/sitemap_index.php?page=1\n", ["https://e.com/sitemap_index.php?page=1"]),
        ("Sitemap: http://cdn.net/s.xml", ["http://cdn.net/s.xml"]),
        *((f"Sitemap: {quoted}", ["https://e.com/s.xml"]) for quoted in QUOTED),
        *((f"Sitemap: https://e.com/a.xml{gap}https://e.com/b,c.xml", SEVERAL) for gap in (" ", ", ", ",", "  \t")),
        ("# <html> is not allowed here\nSitemap: https://e.com/s.xml", ["https://e.com/s.xml"]),
        (f"{RULES}# <b>{NAMED}</b>", []),
        (f"Sitemap: /{'a' * MAX_LINE}\nSitemap: /s.xml", ["https://e.com/s.xml"]),
    ],
)
def test_urls_that_are_named(text: str, urls: list[str]) -> None:
    assert found(text) == urls


def test_field_behind_a_tag_is_a_typo() -> None:
    [sitemap] = sitemaps_of(f"{RULES}<br>{NAMED}".encode(), ROBOTS)
    assert (sitemap.typo, sitemap.raw) == (True, f"<br>{NAMED}")


def test_line_past_the_size_limit_is_not_read_and_a_cut_one_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = b"Sitemap: https://e.com/a.xml\n", b"Sitemap: https://e.com/b.xml\n"
    monkeypatch.setattr(robots_text, "MAX_SITEMAP_BYTES", len(first + second) - 3)
    assert [sitemap.url for sitemap in sitemaps_of(first + second, ROBOTS)] == ["https://e.com/a.xml"]
    monkeypatch.setattr(robots_text, "MAX_SITEMAP_BYTES", len(first + second))
    assert len(sitemaps_of(first + second, ROBOTS)) == 2


def test_number_of_sitemaps_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_text, "MAX_SITEMAPS", 3)
    assert len(found("\n".join(f"Sitemap: /{number}" for number in range(9)))) == 3


ENCODINGS = [
    (b"", "utf-8"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "utf-16-le"),
    (b"", "utf-16-be"),
]
LINES = {
    "Sitemap: https://e.com/a.xml": "https://e.com/a.xml",
    "SITEMAP:https://e.com/b.xml.gz # b": "https://e.com/b.xml.gz",
    "site-map: /c.xml": "https://e.com/c.xml",
    "  sitemap : 'https://m\u00fcnchen.de/d'": "https://m\u00fcnchen.de/d",
    "https://e.com/sitemap-e.xml": "https://e.com/sitemap-e.xml",
    "Sitemap: https://e.com/?a=1&amp;b=2": "https://e.com/?a=1&amp;b=2",
    "User-agent: *": None,
    "Disallow: /f.xml": None,
    "# Sitemap: /g.xml": None,
    "": None,
}


@given(
    st.lists(st.sampled_from(sorted(LINES))),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(ENCODINGS),
    st.booleans(),
)
def test_known_lines_come_back_whatever_the_encoding_and_line_end(
    lines: list[str], line_end: str, encoding: tuple[bytes, str], final: bool
) -> None:
    mark, codec = encoding
    body = mark + line_end.join(["User-agent: *", *lines, ""] if final else ["User-agent: *", *lines]).encode(codec)
    expected = {url: lines.index(line) + 2 for line in lines if (url := LINES[line])}
    assert {sitemap.url: sitemap.line for sitemap in sitemaps_of(body, ROBOTS)} == expected


@pytest.mark.parametrize(
    ("value", "url", "raw"),
    [
        ("https://u:p@e.com/s.xml", "https://e.com/s.xml", "https://***@e.com/s.xml"),
        ("//u:p@e.com/s.xml", "https://e.com/s.xml", "//***@e.com/s.xml"),
        ("https://e.com/s?of=https://u:p@f.com/", "https://e.com/s?of=https://u:p@f.com/", None),
    ],
)
def test_password_is_no_part_of_a_sitemap(value: str, url: str, raw: str | None) -> None:
    [sitemap] = sitemaps_of(f"Sitemap: {value}".encode(), ROBOTS)
    assert sitemap.url == url
    assert raw is None or sitemap.raw == f"Sitemap: {raw}"


@given(
    st.binary(), st.sampled_from([b"", b"Sitemap: ", codecs.BOM_UTF16_LE, b"<html><link rel=sitemap href=", b"<link "])
)
def test_arbitrary_bytes_never_raise(body: bytes, prefix: bytes) -> None:
    for sitemap in sitemaps_of(prefix + body, ROBOTS):
        assert urls.is_web(sitemap.url)
        assert sitemap.raw.encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [b"\n", b"\r", b" ", b"\0", b"a", b"Sitemap:", b"sitemap ", b"Sitemap: a https://", b"#", b"<", b"\xff"]
)
def test_megabytes_of_anything_are_survived(unit: bytes) -> None:
    body = b"Sitemap: /first.xml\n" + unit * (2**20 // len(unit))
    assert sitemaps_of(body, ROBOTS)[0].url == "https://e.com/first.xml"


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b"<html>\nUser-agent: *\n", b"<!-- x -->\n"])
@pytest.mark.parametrize(
    "unit",
    [b"<!--", b"<!-- --", b"<a", b"<a>", b"<br>\n", b"</a ", b"<script>", b"<?", b"user-agent: a ", b"disallow: "],
)
def test_megabytes_of_markup_are_survived(start: bytes, unit: bytes) -> None:
    sitemaps_of(start + unit * (2**18 // len(unit)) + b"!", ROBOTS)


@pytest.mark.parametrize("blanks", [b" ", b"\t", b" \t"])
def test_megabytes_of_blanks_in_a_field_are_survived(blanks: bytes) -> None:
    for field in (b"user-agent", b"user-agent: a", b"disallow:", b"sitemap"):
        sitemaps_of(b"<html>\n" + field + blanks * 2**20 + b"!", ROBOTS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("55-robots.txt", ["https://sitemap.adakhome.be/sitemap.xml", "https://sitemap.adakhome.be/video-sitemap.xml"]),
        ("56-robots.txt", ["https://jobalertindia.in"]),
        ("57-robots.txt", ["https://moab.news/sitemap.xml"]),
        ("58-robots.txt", []),
    ],
)
@pytest.mark.skipif(not REAL.is_dir(), reason="the corpus of real files is not beside the repository")
def test_real_robots(name: str, expected: list[str]) -> None:
    sitemaps = sitemaps_of((REAL / name).read_bytes(), ROBOTS)
    assert [sitemap.url for sitemap in sitemaps] == expected
    assert not any(sitemap.typo or sitemap.relative or sitemap.comment for sitemap in sitemaps)
