from __future__ import annotations

from pathlib import Path

import pytest

from sitemapcrawler.commands.targets import DOMAIN, FILE, URL, site_of, target
from sitemapcrawler.crawl.params import Params


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a sitemap, a list without a suffix, and copies of a site."""
    monkeypatch.chdir(tmp_path)
    for name in ("sitemap.xml", "localhost", "a,b.xml"):
        Path(name).write_text("<urlset/>")
    for name in ("example.com", "maps"):
        Path(name).mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("https://e.com/sitemap.xml", URL, "https://e.com/sitemap.xml"),
        (" HTTP://e.com/s?x=1#top ", URL, "http://e.com/s?x=1"),
        ("https://e.com/?feed=rss", URL, "https://e.com/?feed=rss"),
        ("https://e.com/a,/b,https://f.com/c,", URL, "https://e.com/a%2C/b%2Chttps://f.com/c%2C"),
        ("e.com/sitemap.xml", URL, "https://e.com/sitemap.xml"),
        ("127.0.0.1:8000/sitemap.xml", URL, "https://127.0.0.1:8000/sitemap.xml"),
        ("https://e.com", DOMAIN, "https://e.com"),
        ("https://e.com:8443/#top", DOMAIN, "https://e.com:8443"),
        ("e.com", DOMAIN, "e.com"),
        ("e.com/", DOMAIN, "e.com"),
        ("example.com", DOMAIN, "example.com"),
        ("127.0.0.1:8000", DOMAIN, "127.0.0.1:8000"),
        ("http://intranet/", DOMAIN, "http://intranet"),
        ("sitemap.xml", FILE, "/sitemap.xml"),
        ("./maps/../sitemap.xml", FILE, "/sitemap.xml"),
        ("localhost", FILE, "/localhost"),
        ("a,b.xml", FILE, "/a%2Cb.xml"),
    ],
)
def test_target_is_told_apart_and_fits_its_argument(text: str, kind: str, value: str, here: Path) -> None:
    found = target(text)
    assert (found.kind, found.value) == (kind, here.as_uri() + value if kind == FILE else value)
    params = Params.parse({found.argument: found.value})
    assert params.sitemaps == ((found.value,) if kind != DOMAIN else ())
    assert len(params.starts) == (kind == DOMAIN)


def test_file_url_is_a_file(here: Path) -> None:
    assert target((here / "sitemap.xml").as_uri()).value == (here / "sitemap.xml").as_uri()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("-", "standard input"),
        ("nosuch.xml", "no such file"),
        ("./e.com", "no such file"),
        ("maps/nosuch", "no such file"),
        ("sitemap.xml/a.xml", "no such file"),
        ("maps", "is a folder"),
        ("./example.com", "is a folder"),
        ("/dev/null", "is no regular file"),
        ("file:///nosuch.xml", "no such file"),
        ("file://host/x.xml", "is no file of this machine"),
        ("ftp://e.com/s.xml", "no valid http or https URL"),
        ("https://user:word@e.com/s.xml", "user name or a password"),
        ("https://user:word@e.com/", "user name or a password"),
        ("a b", "no such file"),
        ("intranet", "no such file; as a host, write http://intranet/"),
        ("e.com,f.com", "no valid host"),
        ("e.com\x1b[2J", "control character"),
        ("x" * 5_000, "no such file"),
        ("x/" * 5_000, "cannot be read: File name too long"),
    ],
)
def test_what_names_nothing_is_refused_in_one_short_line(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as refusal:
        target(text)
    assert str(refusal.value).isprintable() and len(str(refusal.value)) < 400


def test_site_of_a_url_is_its_origin() -> None:
    assert site_of(target("https://e.com:8443/a/b.xml")).value == "https://e.com:8443"
    assert site_of(target("e.com")).value == "e.com"
    with pytest.raises(ValueError, match="is a file"):
        site_of(target("sitemap.xml"))
