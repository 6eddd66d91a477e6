"""Several things named on one command line: URLs, files, sites and standard input."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitemapcrawler import urls
from sitemapcrawler.commands.targets import read_targets


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.com").mkdir()
    for name in ("sitemap.xml", "bare", "a,b.xml", "x:80", "e.com/kept.xml", "caf\u00e9.xml"):
        (tmp_path / name).touch()
    return tmp_path


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
    targets = read_targets([text])
    assert (targets.sitemaps, targets.names, targets.local) == ([url], {url: text}, True)


def test_file_may_be_named_by_its_url(folder: Path) -> None:
    url = (folder / "sitemap.xml").as_uri()
    assert read_targets([url]).sitemaps == [url]


def test_file_whose_name_is_no_utf_8(folder: Path) -> None:
    name = os.fsdecode(b"\xff.xml")
    (folder / name).touch()
    assert read_targets([name]).sitemaps == [f"{folder.as_uri()}/%FF.xml"]


def test_order_is_kept_and_what_is_named_again_counts_once(folder: Path) -> None:
    named = ["sitemap.xml", "https://e.com/s.xml", "bare", "./sitemap.xml", "https://e.com/s.xml", "-", "-"]
    targets = read_targets(named)
    wanted = [(folder / "sitemap.xml").as_uri(), "https://e.com/s.xml", (folder / "bare").as_uri(), urls.STANDARD_INPUT]
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


def test_folder_stands_for_its_sitemaps_which_are_named_as_it_is(folder: Path) -> None:
    (folder / "public").mkdir()
    (folder / "public" / "sitemap.xml").touch()
    (folder / "public" / "robots.txt").touch()
    for text in ("public", "public/", "./public", str(folder / "public"), "e.com/../public"):
        targets = read_targets(["bare", text, "public/sitemap.xml"])
        paths = [folder / "bare", folder / "public" / "robots.txt", folder / "public" / "sitemap.xml"]
        assert targets.sitemaps == [path.as_uri() for path in paths]
        assert [*targets.names.values()] == ["bare", *(f"{text.rstrip('/')}/{path.name}" for path in paths[1:])]
        assert (targets.folder, targets.local) == (text, True)


def test_folder_may_be_named_by_its_url(folder: Path) -> None:
    (folder / "e.com" / "sitemap.xml").touch()
    targets = read_targets([(folder / "e.com").as_uri()])
    assert targets.sitemaps == [(folder / "e.com" / "sitemap.xml").as_uri()]
    assert targets.folder == str(folder / "e.com")


def test_folder_named_like_a_host_is_a_site(folder: Path) -> None:
    (folder / "e.com" / "sitemap.xml").touch()
    assert read_targets(["e.com"]).sites == ["e.com"]
    assert read_targets(["./e.com"]).sitemaps == [(folder / "e.com/sitemap.xml").as_uri()]


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
    folder: Path, named: list[str], problem: str | None
) -> None:
    (folder / "empty").mkdir()
    (folder / "unread").mkdir()
    (folder / "unread" / "a.xml").symlink_to("gone.xml")
    if problem is None:
        targets = read_targets(named)
        assert (folder / "sitemap.xml").as_uri() in targets.sitemaps
        assert len(targets.unreadable) == 1
        return
    with pytest.raises(ValueError, match=problem) as caught:
        read_targets(named)
    assert str(caught.value).isprintable()
