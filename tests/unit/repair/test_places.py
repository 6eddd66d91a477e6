"""Where the files of a set go: at their URLs, else under a stable name; never two at one place, never outside."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemapcrawler.repair.places import MAX_NAME_BYTES, Place, SetFile, plan

HOME = "https://example.com"


def places(*urls: str, compress: bool = False) -> list[Place]:
    return [placed.own for placed in plan([SetFile(url) for url in urls], compress) if placed is not None]


@pytest.mark.parametrize(
    "path",
    [
        "/sitemap.xml", "/en/sitemap.xml", "/sitemap", "/sitemap.xml.gz", "/Sitemap.XML", "/caf%C3%A9.xml", "/a+b%20c.xml",
        "/.well-known/sitemap.xml", "/sitemap.php", "/%61.xml", f"/{'a' * 251}.xml",
    ],
)  # fmt: skip
def test_a_file_keeps_its_url(path: str) -> None:
    assert places(HOME + path) == [Place(unquote(path[1:]), HOME + path)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/sitemap.xml?page=1", "sitemap-page-1.xml"),
        ("/sitemap.php?type=a&n=2", "sitemap-type-a-n-2.xml"),
        ("/a/sitemap.xml.gz?v=2", "a/sitemap-v-2.xml.gz"),
        ("/", "sitemap.xml"),
        ("/feed/", "feed/sitemap.xml"),
        ("/../x.xml", "x.xml"),
        ("/a/%2e%2e/x.xml", "a/x.xml"),
        ("/a//x.xml", "a/x.xml"),
        ("/a%2Fx.xml", "a-x.xml"),
        ("/a%5Cx.xml", "a-x.xml"),
        ("/a%00.xml", "a.xml"),
        ("/%FF.xml", "sitemap.xml"),
        ("/.htaccess", "htaccess.xml"),
        ("/.git/sitemap.xml", "git/sitemap.xml"),
        ("/con.xml", "sitemap-con.xml"),
        ("/x.", "x.xml"),
        (f"/{'a' * 300}.xml", f"{'a' * 100}-a5de59a0.xml"),
    ],
)
def test_a_url_that_is_no_file_name_gets_a_name(path: str, name: str) -> None:
    assert places(HOME + path) == [Place(name, f"{HOME}/{name}")]


def test_a_feed_that_cannot_keep_its_url_stays_on_the_server() -> None:
    feeds = [SetFile(HOME + path, stays=True) for path in ("/feed.xml", "/feed/", "/Feed.xml")]
    placed = plan([*feeds, SetFile(f"{HOME}/feed/?page=1")])
    assert [one and one.own.path for one in placed] == ["feed.xml", None, None, "feed/page-1.xml"]
    assert plan(feeds, compress=True) == [None, None, None]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/sitemap.xml", "/Sitemap.xml"], ["sitemap.xml", "Sitemap-a1fe67be.xml"]),
        (["/sitemap", "/sitemap/1.xml"], ["sitemap.xml", "sitemap/1.xml"]),
        (["/sitemap", "/sitemap/1.xml", "/sitemap.xml"], ["sitemap-089d0924.xml", "sitemap/1.xml", "sitemap.xml"]),
        (["/", "/sitemap.xml"], ["sitemap-b67917ba.xml", "sitemap.xml"]),
        (["/%61.xml", "/a.xml"], ["a.xml", "a-ca46b5c4.xml"]),
    ],
)
def test_two_files_of_one_name(paths: list[str], names: list[str]) -> None:
    assert [place.path for place in places(*(HOME + path for path in paths))] == names


LONG = "a" * 250


@pytest.mark.parametrize(
    ("paths", "compress", "names"),
    [
        ([f"/{LONG}.xml"], True, [f"{LONG[:248]}.xml.gz"]),
        ([f"/{LONG}a.xml", f"/{LONG}A.xml"], False, [f"{LONG}a.xml", f"{LONG[:242]}-3ae81b1f.xml"]),
        ([f"/{LONG}", f"/{LONG}/1.xml"], False, [f"{LONG}.xml", f"{LONG}/1.xml"]),
        ([f"/{LONG}abcde", f"/{LONG}abcde/1.xml"], False, [f"{LONG}a.xml", f"{LONG}abcde/1.xml"]),
        ([f"/{'é' * 125}.xml"], True, [f"{'é' * 124}.xml.gz"]),
    ],
    ids=["compressed", "same but for case", "with room", "name of a folder", "several bytes a letter"],
)
def test_a_long_name_is_shortened_where_it_grows(paths: list[str], compress: bool, names: list[str]) -> None:
    assert [place.path for place in places(*(HOME + path for path in paths), compress=compress)] == names


def test_several_hosts_have_a_folder_each() -> None:
    urls = [f"{HOME}/a.xml", "http://example.com/b.xml", "https://cdn.example.net:8443/a.xml?v=1"]
    assert places(*urls) == [
        Place("example.com/a.xml", urls[0], "example.com"),
        Place("example.com/b.xml", urls[1], "example.com"),
        Place("cdn.example.net_8443/a-v-1.xml", "https://cdn.example.net:8443/a-v-1.xml", "cdn.example.net_8443"),
    ]


def test_a_split_file_is_an_index_of_its_parts_or_their_first() -> None:
    files = [
        SetFile(f"{HOME}/a.xml.gz", 2, True), SetFile(f"{HOME}/b.xml", 3), SetFile(f"{HOME}/b-2.xml"),
        SetFile(f"{HOME}/c.xml", 0),
    ]  # fmt: skip
    found = plan(files)
    assert [(one.own.path, [part.path for part in one.parts]) for one in found if one is not None] == [
        ("a.xml.gz", ["a-1.xml.gz", "a-2.xml.gz"]),
        ("b.xml", ["b.xml", "b-2-6c6acf1c.xml", "b-3.xml"]),
        ("b-2.xml", ["b-2.xml"]),
    ]
    assert found[3] is None
    assert [one.index is not None for one in found if one is not None] == [True, False, False]


def test_no_made_up_name_is_that_of_another_file_of_the_site() -> None:
    file = SetFile(f"{HOME}/a.xml?b")
    for other, name in [(f"{HOME}/a-b.xml", "a-b-94af2b11.xml"), ("https://other.example/a-b.xml", "a-b.xml")]:
        [placed] = plan([file], others=[other])
        assert placed is not None
        assert placed.own.path == name


def test_compressed_files_get_the_suffix() -> None:
    assert places(f"{HOME}/a.xml", f"{HOME}/b.xml.gz", compress=True) == [
        Place("a.xml.gz", f"{HOME}/a.xml.gz"),
        Place("b.xml.gz", f"{HOME}/b.xml.gz"),
    ]


segments = st.sampled_from(["", "a", "A", "sitemap", "sitemap.xml", "Sitemap.xml", "..", ".", "%2e%2e", "%2F", "%FF", "é", "e%CC%81",
                            "con", ".git", "a.xml.gz", "x" * 300, "x" * 255, "X" * 255, "x" * 254, "%E2%80%AE", "a-2.xml", "*", "a b", "sitemap-1.xml"]) | st.text(max_size=4)  # fmt: skip
queries = st.sampled_from(["", "", "?page=1", "?page=2", "?", "?a/../b", f"?{'q' * 300}"])
addresses = st.builds(
    lambda home, parts, query: f"{home}/{'/'.join(parts)}{query}",
    st.sampled_from([HOME, HOME, "http://example.com", "https://www.example.com", "https://example.com:8443", ""]),
    st.lists(segments, min_size=1, max_size=4), queries,
)  # fmt: skip
files = st.lists(
    st.builds(SetFile, addresses, st.integers(0, 3), st.booleans(), st.sampled_from([".xml", ".txt"])), max_size=12
)


@given(files, st.booleans())
@example([SetFile("https://example.com:8443/a"), SetFile("/a")], False)
def test_any_files_have_places_of_their_own(files: list[SetFile], compress: bool) -> None:
    found = plan(files, compress)
    assert [placed is not None for placed in found] == [file.parts > 0 for file in files]
    placed = [one for one in found if one is not None]
    paths = [place.path for one in placed for place in ({one.own} | {*one.parts})]
    assert len({path.casefold() for path in paths}) == len(paths)
    folders = {str(parent).casefold() for path in paths for parent in PurePosixPath(path).parents}
    assert folders.isdisjoint(path.casefold() for path in paths)
    for path in paths:
        assert str(PurePosixPath(path)) == path
        assert not path.startswith("/")
        assert all(part != ".." and len(part.encode()) <= MAX_NAME_BYTES for part in path.split("/"))
    assert all(len(one.parts) == file.parts for file, one in zip(files, found, strict=True) if one is not None)
    assert plan(files, compress) == found


clean = st.lists(st.sampled_from(["a", "b", "sitemap"]), max_size=2).map(
    lambda folders: "/".join([HOME, *folders, "x.xml"])
)


@given(st.lists(clean, unique=True, max_size=4), files)
def test_a_file_name_of_its_own_stays_whatever_else_there_is(urls: list[str], others: list[SetFile]) -> None:
    found = plan([*map(SetFile, urls), *others])
    assert [one.own.url for one in found[: len(urls)] if one is not None] == urls
