"""Files that stand for what an index lists: those in its folder or below, and never any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemapcrawler.nearby import file_beside

HOME = "https://e.com/maps/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an index and what it may list; secrets are beside the folder."""
    here = tmp_path / "public"
    (here / "sub").mkdir(parents=True)
    for name in ("index.xml", "a.xml", "sub/b.xml", "caf\u00e9 1.xml", "..odd.xml"):
        (here / name).touch()
    (tmp_path / "secret.xml").touch()
    (here / "link.xml").symlink_to(tmp_path / "secret.xml")
    (here / "inner.xml").symlink_to(here / "a.xml")
    return here


def beside(folder: Path, url: str, place: str = f"{HOME}index.xml") -> str | None:
    return file_beside((folder / "index.xml").as_uri(), place, url)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (f"{HOME}a.xml", "a.xml"),
        ("HTTPS://E.com:443/maps/a.xml#part", "a.xml"),
        (f"{HOME}sub/b.xml", "sub/b.xml"),
        (f"{HOME}caf%C3%A9%201.xml", "caf\u00e9 1.xml"),
        (f"{HOME}caf\u00e9 1.xml", "caf\u00e9 1.xml"),
        (f"{HOME}..odd.xml", "..odd.xml"),
        (f"{HOME}inner.xml", "inner.xml"),
        (f"{HOME}index.xml", "index.xml"),
    ],
)
def test_file_beside_the_index_stands_for_its_url(folder: Path, url: str, name: str) -> None:
    assert beside(folder, url) == (folder / name).as_uri()


@pytest.mark.parametrize(
    "url",
    [
        f"{HOME}missing.xml",
        f"{HOME}a.xml?page=2",
        f"{HOME}",
        f"{HOME}sub",
        f"{HOME}../secret.xml",
        f"{HOME}%2e%2e/secret.xml",
        f"{HOME}..%2fsecret.xml",
        f"{HOME}sub/../../secret.xml",
        f"{HOME}link.xml",
        f"{HOME}/etc/passwd",
        f"{HOME}%2fetc/passwd",
        f"{HOME}a.xml%00",
        f"{HOME}{'a' * 5000}",
        "https://e.com/a.xml",
        "http://e.com/maps/a.xml",
        "https://www.e.com/maps/a.xml",
        "file:///etc/passwd",
        "",
    ],
)
def test_nothing_else_is_named(folder: Path, url: str) -> None:
    assert beside(folder, url) is None


def test_root_folder_holds_folders_below(folder: Path) -> None:
    assert beside(folder, "https://e.com/sub/b.xml", "https://e.com/index.xml") == (folder / "sub/b.xml").as_uri()
    assert beside(folder, "https://e.com//etc/passwd", "https://e.com/index.xml") is None


def test_dots_behind_a_link_name_the_file_that_was_looked_at(folder: Path) -> None:
    (folder / "sub" / "deep").mkdir()
    (folder / "jump").symlink_to(folder / "sub" / "deep")
    (folder.parent / "jump").symlink_to(folder / "sub")
    assert beside(folder, f"{HOME}jump/../a.xml") == (folder / "a.xml").as_uri(), "as any client of the web has it"
    assert beside(folder, f"{HOME}jump/../b.xml") is None, "there is sub/b.xml alone"
    assert beside(folder, f"{HOME}../jump/../secret.xml") is None


def test_index_of_the_web_has_no_files_beside_it(folder: Path) -> None:
    assert file_beside(f"{HOME}index.xml", f"{HOME}index.xml", f"{HOME}a.xml") is None
