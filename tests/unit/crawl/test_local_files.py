"""Files that stand for what an index lists: those in its folder or below, and never any other."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl import local_files
from sitemapcrawler.crawl.frontier import Selection
from sitemapcrawler.crawl.local_files import (
    MAX_TOLD,
    FolderContent,
    Listing,
    Published,
    content_of,
    file_beside,
    missing_files,
)
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.items import SitemapRecord
from sitemapcrawler.rules.facts.given import MissingFile

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


# A folder that is published as a whole


@pytest.mark.parametrize(
    ("index", "place", "url", "site", "name"),
    [
        ("sub/b.xml", f"{HOME}sub/b.xml", f"{HOME}a.xml", HOME, "a.xml"),
        ("sub/b.xml", f"{HOME}sub/b.xml", "https://e.com/a.xml", HOME, None),
        ("sub/b.xml", None, "https://any.host/a.xml", None, "a.xml"),
        ("sub/b.xml", None, "https://any.host/sub/b.xml", None, "sub/b.xml"),
        ("sub/b.xml", None, "https://any.host/link.xml", None, None),
        ("sub/b.xml", None, "https://any.host/../secret.xml", None, None),
        ("sub/b.xml", None, "ftp://any.host/a.xml", None, None),
        ("../secret.xml", None, "https://any.host/a.xml", None, None),
        ("../secret.xml", f"{HOME}secret.xml", f"{HOME}public/a.xml", HOME, "a.xml"),
    ],
)
def test_published_folder_holds_what_its_indexes_list(
    folder: Path, index: str, place: str | None, url: str, site: str | None, name: str | None
) -> None:
    start = Path(os.path.normpath(folder / index)).as_uri()
    found = file_beside(start, place, url, Published(str(folder), site))
    assert found == (name and (folder / name).as_uri())


@pytest.mark.parametrize("site", [HOME, None])
def test_missing_files_are_looked_for_in_all_of_the_published_folder(folder: Path, site: str | None) -> None:
    listed = [(f"{HOME}a.xml", 3), (f"{HOME}sub/gone.xml", 4), (f"{HOME}sub/b.xml", 5)]
    place = f"{site}sub/b.xml" if site else None
    found = missing_files((folder / "sub/b.xml").as_uri(), place, listed, Published(str(folder), site))
    assert found == [MissingFile(4, f"{HOME}sub/gone.xml", "sub/gone.xml")]


def test_missing_file_of_a_published_folder_is_certain_even_if_nothing_is_there(folder: Path) -> None:
    listed = [("https://e.com/x.xml", 3)]
    index = (folder / "index.xml").as_uri()
    assert [one.certain for one in missing_files(index, None, listed, Published(str(folder), None))] == [True]
    assert [one.certain for one in missing_files(index, None, listed)] == [False]


# What a folder holds

URLSET = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>"
CONTENT = {
    "a.xml": URLSET,
    "b.XML": b"\xef\xbb\xbf<?xml version='1.0'?><sitemapindex/>",
    "c.txt": b"https://e.com/1\nhttps://e.com/2\n",
    "deep/down/d.gz": gzip.compress(URLSET),
    "sitemap.xml": b"",
    "news-sitemap-2.txt": b"nothing",
    ".well-known/e.xml": URLSET,
}
"""Files that are sitemaps, by their content or their name."""
OTHERS = {
    "config.xml": b"<config/>",
    "page.xml": b"<html><p>https://e.com/</html>",
    "feed.xml": b"<rss version='2.0'><channel/></rss>",
    "humans.txt": b"We are\nhttps://e.com/1\n",
    "empty.txt": b"",
    "app.js.gz": gzip.compress(b"let x"),
    "urlset.html": URLSET,
    "noise.gz": b"\x00\xff",
    ".git/f.xml": URLSET,
    "deep/robots.txt": b"User-agent: *\n",
    "sitemap.xsl": URLSET,
}
"""Files that are none."""


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, body in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)


def held(folder: Path) -> list[str]:
    return [os.path.relpath(path, folder) for path in content_of(str(folder)).files]


def test_sitemaps_of_a_folder_are_recognised_by_content_or_name(tmp_path: Path) -> None:
    fill(tmp_path, {**CONTENT, **OTHERS})
    content = content_of(str(tmp_path))
    assert {os.path.relpath(path, tmp_path) for path in content.files} == {*CONTENT}
    assert (content.has_sitemaps, content.unreadable) == (True, [])


def test_robots_txt_is_first_and_names_files_whatever_they_are(tmp_path: Path) -> None:
    robots = (
        b"User-agent: *\nSitemap: https://e.com/feed.xml\nSitemap: /list.php\nSitemap: https://e.com/../x/gone.xml\n"
    )
    fill(
        tmp_path,
        {"robots.txt": robots, "feed.xml": b"<rss/>", "list.php": b"?", "a.xml": URLSET, "z/feed.xml": b"<rss/>"},
    )
    assert held(tmp_path) == ["robots.txt", "a.xml", "feed.xml", "list.php"]


def test_folder_with_robots_txt_alone_has_no_sitemaps(tmp_path: Path) -> None:
    fill(tmp_path, {"robots.txt": b"User-agent: *\n", **OTHERS})
    (tmp_path / "feed.xml").unlink()
    content = content_of(str(tmp_path))
    assert content == FolderContent([str(tmp_path / "robots.txt")], False, [])


def test_feeds_count_if_there_is_no_other_sitemap(tmp_path: Path) -> None:
    feeds = {"blog.rss": b"<rss version='2.0'/>", "feed.xml": b"<feed xmlns='http://www.w3.org/2005/Atom'/>"}
    fill(tmp_path, {"robots.txt": b"", "page.xml": b"<html/>", "note.atom": b"none", **feeds})
    assert held(tmp_path) == ["robots.txt", *feeds]
    fill(tmp_path, {"z/a.xml": URLSET})
    assert held(tmp_path) == ["robots.txt", "z/a.xml"]


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        ([], ["a.xml"]),
        (["a.xml"], ["a.xml"]),
        (["a.xml.gz"], ["a.xml.gz"]),
        (["a.xml", "a.xml.gz"], ["a.xml"]),
    ],
)
def test_compressed_copy_counts_if_robots_txt_names_it_alone(tmp_path: Path, named: list[str], kept: list[str]) -> None:
    robots = "".join(f"Sitemap: https://e.com/{name}\n" for name in named).encode()
    fill(tmp_path, {"a.xml": URLSET, "a.xml.gz": gzip.compress(URLSET), "robots.txt": robots})
    assert held(tmp_path) == ["robots.txt", *kept]


def test_links_that_leave_the_folder_are_not_followed(tmp_path: Path) -> None:
    fill(tmp_path, {"secret.xml": URLSET, "outside/sitemap.xml": URLSET, "public/a.xml": URLSET})
    public = tmp_path / "public"
    (public / "sitemap.xml").symlink_to(tmp_path / "secret.xml")
    (public / "robots.txt").symlink_to(tmp_path / "secret.xml")
    (public / "sitemap-gone.xml").symlink_to(tmp_path / "gone.xml")
    (public / "folder").symlink_to(tmp_path / "outside")
    (public / "up").symlink_to(tmp_path)
    (public / "inner.xml").symlink_to("a.xml")
    assert (held(public), content_of(str(public)).unreadable) == (["a.xml", "inner.xml"], [])
    (tmp_path / "link").symlink_to(public)
    assert held(tmp_path / "link") == ["a.xml", "inner.xml"], "the folder itself may be a link"


def test_what_cannot_be_read_is_named_and_the_rest_is_found(tmp_path: Path) -> None:
    fill(tmp_path, {"a.xml": URLSET})
    (tmp_path / "broken.xml").symlink_to("gone.xml")
    (tmp_path / "circle.txt").symlink_to("circle.txt")
    (tmp_path / "picture.png").symlink_to("gone.png")
    os.mkfifo(tmp_path / "pipe.xml")
    content = content_of(str(tmp_path))
    assert [os.path.relpath(path, tmp_path) for path in content.files] == ["a.xml"]
    assert [text.rpartition("/")[2].partition(":")[0] for text in content.unreadable] == [
        "broken.xml cannot be read",
        "circle.txt cannot be read",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["b.xml", "robots.txt", "deep"])
def test_file_without_permission_is_named(tmp_path: Path, name: str) -> None:
    fill(tmp_path, {"a.xml": URLSET, "b.xml": URLSET, "robots.txt": b"", "deep/c.xml": URLSET})
    (tmp_path / name).chmod(0)
    content = content_of(str(tmp_path))
    (tmp_path / name).chmod(0o700)
    assert content.unreadable == [f"{tmp_path / name} cannot be read: Permission denied"]
    assert str(tmp_path / "a.xml") in content.files and str(tmp_path / name) not in content.files


# What an index lists and is not beside it


def missing(folder: Path, *listed: str, place: str | None = f"{HOME}index.xml") -> list[MissingFile]:
    return missing_files((folder / "index.xml").as_uri(), place, [(url, line) for line, url in enumerate(listed, 3)])


@pytest.mark.parametrize(
    ("url", "path", "hint"),
    [
        (f"{HOME}gone.xml", "gone.xml", ""),
        (f"{HOME}A.xml", "A.xml", "'a.xml' exists, but most servers are case-sensitive"),
        (f"{HOME}Sub/b.xml", "Sub/b.xml", "'sub' exists, but most servers are case-sensitive"),
        (f"{HOME}sub/c.xml", "sub/c.xml", ""),
        (f"{HOME}no/such/c.xml", "no/such/c.xml", ""),
        (f"{HOME}a.xml.gz", "a.xml.gz", "'a.xml' exists, not compressed"),
        (f"{HOME}zipped.xml", "zipped.xml", "'zipped.xml.gz' exists"),
        (f"{HOME}sub", "sub", "'sub' is a folder there"),
        (f"{HOME}a.xml/b.xml", "a.xml/b.xml", "'a.xml' is not a regular file"),
        (f"{HOME}{'a' * 5000}", "a" * 5000, ""),
    ],
)
def test_missing_file_is_named_with_what_is_there_instead(folder: Path, url: str, path: str, hint: str) -> None:
    (folder / "zipped.xml.gz").touch()
    assert missing(folder, f"{HOME}a.xml", url) == [MissingFile(4, url, path, hint)]


@pytest.mark.parametrize("mode", ["names", "files"])
def test_file_in_a_folder_that_may_not_be_read_is_not_missing(
    folder: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder does not let its names be listed, or its files be opened."""

    def refuse(path: Path) -> bool:
        if path == folder / "sub/b.xml":
            raise PermissionError
        return path.exists()

    if mode == "files":
        monkeypatch.setattr(Path, "is_file", refuse)
    else:
        (folder / "sub/b.xml").rename(folder / "sub/hidden.xml")
        monkeypatch.setattr(local_files.os, "access", lambda path, _: path != folder / "sub")
    assert missing(folder, f"{HOME}a.xml", f"{HOME}sub/b.xml") == []
    if mode == "files":
        assert file_beside((folder / "index.xml").as_uri(), HOME, f"{HOME}sub/b.xml") is not None


def test_path_that_is_not_utf_8_is_shown_as_in_its_url(folder: Path) -> None:
    url = f"{HOME}caf%E9%20.xml"
    assert missing(folder, f"{HOME}a.xml", url) == [MissingFile(4, url, "caf%E9%20.xml", "")]
    (folder / os.fsdecode(b"Caf\xe9 .xml")).touch()
    hint = "'Caf%E9%20.xml' exists, but most servers are case-sensitive"
    assert missing(folder, f"{HOME}a.xml", url) == [MissingFile(4, url, "caf%E9%20.xml", hint)]


def test_what_is_there_or_belongs_elsewhere_is_not_missing(folder: Path) -> None:
    (folder / "cafe\u0301.xml").touch()  # as file systems of Apple spell it
    there = ("a.xml", "sub/b.xml", "..odd.xml", "caf%C3%A9%201.xml", "caf%C3%A9.xml", "inner.xml", "link.xml")
    elsewhere = ("https://cdn.example/x.xml", f"{HOME}x.xml?page=2", "https://e.com/x.xml", f"{HOME}../x.xml")
    assert missing(folder, *(HOME + name for name in there), *elsewhere, f"{HOME}%2e%2e/x.xml", f"{HOME}%00") == []


@pytest.mark.parametrize("home", ["https://e.com/", "https://e.com/maps/", "https://e.com/a/b/"])
def test_index_without_a_url_lives_where_most_of_its_files_are(folder: Path, home: str) -> None:
    listed = [f"{home}gone.xml", f"{home}a.xml", f"{home}sub/b.xml", "https://cdn.example/x.xml"]
    assert missing(folder, *listed, place=None) == [MissingFile(3, f"{home}gone.xml", "gone.xml")]


def test_index_of_which_nothing_is_there_may_be_a_lone_copy(folder: Path) -> None:
    assert [(one.path, one.certain) for one in missing(folder, "https://e.com/x.xml", place=None)] == [("x.xml", False)]
    [similar] = missing(folder, "https://e.com/A.xml", place=None)
    assert similar.certain, "a file that differs in case belongs to the index"
    assert missing(folder, place=None) == []


def test_index_of_the_root_with_queries_has_no_files(folder: Path) -> None:
    assert missing(folder, "https://e.com/?sitemap=pages", "https://e.com/?sitemap=news", place=None) == []
    assert missing(folder, "https://e.com/", place=None) == []


def test_relative_urls_of_an_index_without_a_url(folder: Path) -> None:
    listed = [(folder / name).as_uri() for name in ("a.xml", "gone.xml")]
    assert [one.path for one in missing(folder, *listed, place=None)] == ["gone.xml"]


def test_index_on_the_web_or_from_standard_input_has_no_folder() -> None:
    listed = [("https://e.com/x.xml", 3)]
    assert missing_files("https://e.com/i.xml", None, listed) == []
    assert missing_files("file:///dev/stdin", HOME, listed) == []


def listed(path: Path, batch_size: int = 1000, **arguments: str) -> tuple[list[NotedBatch], SitemapRecord]:
    """The batches and the record of a list."""
    selection = Selection(Params.parse({"urls": str(path), **arguments}))
    *batches, record = Listing(selection, batch_size, Stop(get_crawler())).read(path.as_uri())
    assert isinstance(record, SitemapRecord)
    return [batch for batch in batches if isinstance(batch, NotedBatch)], record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "urls.txt"


def test_urls_come_in_batches_with_their_lines(path: Path) -> None:
    path.write_text("https://e.com/1\n\n# a comment\nhttps://e.com/2\nhttps://e.com/3\n")
    batches, record = listed(path, 2)
    assert [[(url.loc, url.line, url.sitemap) for url in batch.urls] for batch in batches] == [
        [("https://e.com/1", 1, path.as_uri()), ("https://e.com/2", 4, path.as_uri())],
        [("https://e.com/3", 5, path.as_uri())],
    ]
    assert (record.format, record.outcome, record.url_count, record.error) == ("list", "ok", 3, None)
    assert record.bytes == path.stat().st_size


def test_feed_of_an_earlier_crawl_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"type":"url","loc":"https://e.com/1"}\n{"type":"summary"}\n'))
    batches, _ = listed(path)
    assert [url.loc for batch in batches for url in batch.urls] == ["https://e.com/1"]


def test_lines_that_are_no_urls_are_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text("https://e.com/\n" + "no url\n" * 50)
    batches, record = listed(path)
    assert sum(len(batch.urls) for batch in batches) == 1
    assert record.outcome == "recovered"
    assert record.error is not None
    assert record.error.startswith("line 2: ")
    assert record.error.endswith("(and 49 more)")
    assert len(caplog.records) == MAX_TOLD


@pytest.mark.parametrize(
    ("content", "words"), [("", "is empty"), ("# nothing\n", "lists no URL"), ("<urlset/>", "is XML or HTML")]
)
def test_list_without_urls_has_failed(path: Path, content: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text(content)
    batches, record = listed(path)
    assert (batches, record.outcome) == ([], "failed")
    assert words in (record.error or "")
    assert words in caplog.text


def test_filters_apply(path: Path) -> None:
    path.write_text("https://e.com/a\nhttps://e.com/b\n")
    batches, record = listed(path, include="b")
    assert [url.loc for batch in batches for url in batch.urls] == ["https://e.com/b"]
    assert record.url_count == 2


def test_list_that_has_gone_is_told(path: Path) -> None:
    path.write_text("https://e.com/a\n")
    selection = Selection(Params.parse({"urls": str(path)}))
    path.unlink()
    [record] = Listing(selection, 10, Stop(get_crawler())).read(path.as_uri())
    assert isinstance(record, SitemapRecord)
    assert record.outcome == "failed"
    assert "No such file" in (record.error or "")
