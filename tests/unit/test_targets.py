"""What a person names on the command line: URLs, files, sites and standard input are told apart."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sitemapcrawler import urls
from sitemapcrawler.targets import read


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.com").mkdir()
    for name in ("sitemap.xml", "bare", "a,b.xml", "x:80", "e.com/kept.xml", "caf\u00e9.xml"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "e.com:443",
        "www.e.com",
        "https://e.com",
        "https://e.com/",
        "HTTP://e.com:8000",
        "localhost",
        "[::1]:80",
        "a.com/",
    ],
)
def test_site_is_a_host_without_a_path(text: str) -> None:
    assert (read([text]).sites, read([text]).sitemaps) == ([text], [])


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://e.com/sitemap.xml", "https://e.com/sitemap.xml"),
        ("HTTPS://e.com/a b#c", "https://e.com/a%20b"),
        ("https://e.com?sitemap=1", "https://e.com?sitemap=1"),
        ("www.e.com/sitemap.xml", "https://www.e.com/sitemap.xml"),
        ("localhost:8000/map", "https://localhost:8000/map"),
    ],
)
def test_sitemap_is_a_url_with_a_path(text: str, url: str) -> None:
    assert (read([text]).sites, read([text]).sitemaps, read([text]).local) == ([], [url], False)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sitemap.xml", "sitemap.xml"),
        ("./e.com/../sitemap.xml", "sitemap.xml"),
        ("bare", "bare"),
        ("a,b.xml", "a,b.xml"),
        ("x:80", "x:80"),
        ("e.com/kept.xml", "e.com/kept.xml"),
        ("caf\u00e9.xml", "caf\u00e9.xml"),
    ],
)
def test_file_is_shown_as_it_was_named(folder: Path, text: str, name: str) -> None:
    url = (folder / name).as_uri()
    targets = read([text])
    assert (targets.sitemaps, targets.names, targets.local) == ([url], {url: text}, True)


def test_file_may_be_named_by_its_url(folder: Path) -> None:
    url = (folder / "sitemap.xml").as_uri()
    assert read([url]).sitemaps == [url]


def test_file_whose_name_is_no_utf_8(folder: Path) -> None:
    name = os.fsdecode(b"\xff.xml")
    (folder / name).touch()
    assert read([name]).sitemaps == [f"{folder.as_uri()}/%FF.xml"]


def test_order_is_kept_and_what_is_named_again_counts_once(folder: Path) -> None:
    named = ["sitemap.xml", "https://e.com/s.xml", "bare", "./sitemap.xml", "https://e.com/s.xml", "-", "-"]
    targets = read(named)
    wanted = [(folder / "sitemap.xml").as_uri(), "https://e.com/s.xml", (folder / "bare").as_uri(), urls.STANDARD_INPUT]
    assert targets.sitemaps == wanted
    assert targets.names[wanted[0]] == "sitemap.xml"


def test_standard_input_is_a_file() -> None:
    targets = read(["-"])
    assert (targets.reads_stdin, targets.local, targets.names) == (True, True, {urls.STANDARD_INPUT: "<stdin>"})
    assert not read(["bare"]).reads_stdin


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("missing.xml", "'missing.xml': no such file"),
        ("missing.xml.gz", "no such file"),
        ("build/sitemap.xml", "no such file"),
        ("../missing", "no such file"),
        ("sitemap", "no such file"),
        ("bare/below.xml", "no such file"),
        ("file:///missing.xml", "no such file"),
        ("file://host/bare", "no such file"),
        ("", "no such file"),
        ("a\0b", "no such file"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("e.com", "is a folder"),
        (".", "is a folder"),
        ("/dev/null", "is no regular file; - reads standard input"),
        ("https://", "no valid host and port"),
        ("https://me:secret@e.com", "a password"),
        ("https://me:secret@e.com/s.xml", "a password"),
        ("https://e.com:0/s.xml", "no valid http or https URL"),
        ("ftp://e.com/s.xml", "no http or https URL"),
        ("https://e.com/\n", "control character"),
    ],
)
def test_what_cannot_be_looked_at_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        read([text])
    assert str(caught.value).isprintable()
