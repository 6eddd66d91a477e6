"""What a command line names: URLs, files, folders, sites and standard input."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitemapcrawler import urls
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.options.targets import DOMAIN, FILE, URL, read_targets, site_of, target


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sitemaps, a list without a suffix, and copies of sites."""
    monkeypatch.chdir(tmp_path)
    for name in ("example.com", "maps", "e.com"):
        Path(name).mkdir()
    for name in ("sitemap.xml", "localhost", "a,b.xml", "bare", "x:80", "e.com/kept.xml", "caf\u00e9.xml"):
        Path(name).touch()
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
        ("f.com", DOMAIN, "f.com"),
        ("f.com/", DOMAIN, "f.com"),
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
    assert params.sitemap == ((found.value,) if kind != DOMAIN else ())
    assert len(params.domain) == (kind == DOMAIN)


def test_file_url_is_a_file(here: Path) -> None:
    assert target((here / "sitemap.xml").as_uri()).value == (here / "sitemap.xml").as_uri()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("-", "standard input"),
        ("nosuch.xml", "no such file"),
        ("./f.com", "no such file"),
        ("maps/nosuch", "no such file"),
        ("sitemap.xml/a.xml", "no such file"),
        ("maps", "is a folder"),
        ("./example.com", "is a folder"),
        ("/dev/null", "is not a regular file"),
        ("file:///nosuch.xml", "no such file"),
        ("file://host/x.xml", "is not a local file"),
        ("ftp://e.com/s.xml", "not a valid http or https URL"),
        ("https://user:word@e.com/s.xml", "user name or password"),
        ("https://user:word@e.com/", "user name or password"),
        ("a b", "no such file"),
        ("intranet", "no such file; as a host, write http://intranet/"),
        ("e.com,f.com", "not a valid host"),
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


# Several things on one command line


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
def test_file_is_shown_as_it_was_named(here: Path, text: str, name: str) -> None:
    url = (here / name).as_uri()
    targets = read_targets([text])
    assert (targets.sitemaps, targets.names, targets.local) == ([url], {url: text}, True)


def test_file_whose_name_is_no_utf_8(here: Path) -> None:
    name = os.fsdecode(b"\xff.xml")
    (here / name).touch()
    assert read_targets([name]).sitemaps == [f"{here.as_uri()}/%FF.xml"]


def test_order_is_kept_and_what_is_named_again_counts_once(here: Path) -> None:
    named = ["sitemap.xml", "https://e.com/s.xml", "bare", "./sitemap.xml", "https://e.com/s.xml", "-", "-"]
    targets = read_targets(named)
    wanted = [(here / "sitemap.xml").as_uri(), "https://e.com/s.xml", (here / "bare").as_uri(), urls.STANDARD_INPUT]
    assert targets.sitemaps == wanted
    assert targets.names[wanted[0]] == "sitemap.xml"


def test_standard_input_is_a_file() -> None:
    targets = read_targets(["-"])
    assert (targets.reads_stdin, targets.local, targets.names) == (True, True, {urls.STANDARD_INPUT: "<stdin>"})
    assert not read_targets(["bare"]).reads_stdin


def test_sites_and_sitemaps_are_told_apart() -> None:
    targets = read_targets(["https://e.com/", "www.e.com", "https://e.com/s.xml", "https://e.com"])
    assert (targets.sites, targets.sitemaps) == (["https://e.com", "www.e.com"], ["https://e.com/s.xml"])
    assert not targets.local


def test_first_that_is_nothing_is_one_line() -> None:
    with pytest.raises(ValueError, match=r"missing\.xml: no such file"):
        read_targets(["bare", "missing.xml", "nothing.xml"])


def test_folder_stands_for_its_sitemaps_which_are_named_as_it_is(here: Path) -> None:
    (here / "public").mkdir()
    (here / "public" / "sitemap.xml").touch()
    (here / "public" / "robots.txt").touch()
    for text in ("public", "public/", "./public", str(here / "public"), "e.com/../public"):
        targets = read_targets(["bare", text, "public/sitemap.xml"])
        paths = [here / "bare", here / "public" / "robots.txt", here / "public" / "sitemap.xml"]
        assert targets.sitemaps == [path.as_uri() for path in paths]
        assert [*targets.names.values()] == ["bare", *(f"{text.rstrip('/')}/{path.name}" for path in paths[1:])]
        assert (targets.folder, targets.local) == (text, True)


def test_folder_may_be_named_by_its_url(here: Path) -> None:
    (here / "e.com" / "sitemap.xml").touch()
    targets = read_targets([(here / "e.com").as_uri()])
    assert targets.sitemaps == [(here / "e.com" / "sitemap.xml").as_uri()]
    assert targets.folder == str(here / "e.com")


def test_folder_named_like_a_host_is_a_site(here: Path) -> None:
    (here / "e.com" / "sitemap.xml").touch()
    assert read_targets(["e.com"]).sites == ["e.com"]
    assert read_targets(["./e.com"]).sitemaps == [(here / "e.com/sitemap.xml").as_uri()]


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        (["."], None),
        (["empty"], "empty: no sitemap was found$"),
        (["unread"], "unread: no sitemap was found; unread/a.xml cannot be read: "),
        ([".", "e.com/.."], "e.com/..: is a second folder; accepted: one"),
    ],
)
def test_folder_without_a_sitemap_and_a_second_folder_are_refused(
    here: Path, named: list[str], problem: str | None
) -> None:
    (here / "empty").mkdir()
    (here / "unread").mkdir()
    (here / "unread" / "a.xml").symlink_to("gone.xml")
    if problem is None:
        targets = read_targets(named)
        assert (here / "sitemap.xml").as_uri() in targets.sitemaps
        assert len(targets.unreadable) == 1
        return
    with pytest.raises(ValueError, match=problem) as caught:
        read_targets(named)
    assert str(caught.value).isprintable()
