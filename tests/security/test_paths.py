"""No name that a stranger gave becomes the name of a file, and no text that is filled in leads out of a folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitemapcrawler.crawl.state import uri_params
from sitemapcrawler.feeds import setup as feeds
from sitemapcrawler.feeds.scratch import lock_file, prefix_of
from sitemapcrawler.feeds.setup import MAX_PART, FeedNameParts, part_of_name
from sitemapcrawler.feeds.storages import AtomicFileStorage, FeedLost
from sitemapcrawler.settings import FEED_URI_PARAMS
from tests.crawl.crawling import crawl
from tests.crawl.documents import index, robots, urlset
from tests.crawl.site_server import SiteServer

STRANGER = 12345
"""A user id that nobody here has."""
NAMES = (
    "../../x",
    "..",
    ".",
    "a/b",
    "/etc/passwd",
    "C:\\x",
    "..\\x",
    "a\0b",
    "%2e%2e%2fx",
    "https://e.com/../../x",
    "~",
    "-rf",
    ".htaccess",
    "a\nb",
    "\u202egnp.exe",
    "x" * 5000,
    "ä" * 5000,
    "界" * 90,
    "",
    " ",
    "a:b",
    "$(x)",
    "`x`",
    "a;b",
    "\ud800",
    "%(name)s",
    "*",
)


@pytest.mark.parametrize("text", NAMES, ids=repr)
def test_text_becomes_part_of_one_name(text: str, tmp_path: Path) -> None:
    made = part_of_name(text)
    assert re.fullmatch(r"[\w,+][\w.,+-]*", made) and len(made.encode()) <= MAX_PART
    assert len(f"out-{made}.csv".encode()) <= 255
    (tmp_path / f"{made}.csv").touch()
    assert [path.parent for path in tmp_path.rglob("*")] == [tmp_path]
    assert part_of_name(text) == made


def test_texts_that_differ_stay_apart() -> None:
    assert part_of_name("example.com") == "example.com"
    assert len({part_of_name(text) for text in NAMES}) == len(NAMES)
    assert len({part_of_name(text) for text in ("a/b", "a-b", "a\\b", "a//b")}) == 4


def test_numbers_stay_numbers_and_other_spiders_their_own() -> None:
    parts = FeedNameParts({"batch_id": 7, "time": "2026-11-22T05-40-00+00-00", "params": object()})
    named = "%(batch_id)05d %(time)s %(params)s" % parts  # noqa: UP031  # as Scrapy does it
    assert named.startswith("00007 2026-11-22T05-40-00+00-00 object-object-at-")
    given = {"folder": "a/b"}
    assert uri_params(given, SimpleNamespace()) is given  # type: ignore[arg-type]  # what a spider of somebody's may be
    assert f"{uri_params.__module__}.{uri_params.__name__}" == FEED_URI_PARAMS


@pytest.mark.slow
def test_nothing_leaves_the_folder_whatever_site_and_sitemap_are_called(site: SiteServer, tmp_path: Path) -> None:
    climbing = "/../../../../../../../../tmp/climbed/x"
    names = ["/..%2f..%2fx.xml", "/con.xml", "/%00.xml", f"{climbing}.xml", "/" + "x" * 2000 + ".xml", "/-rf.xml"]
    site.otherwise = urlset(site.url("/../../x"), site.url("/%2e%2e/x"), "file:///etc/passwd")
    site.routes = {"/robots.txt": robots(site.url("/index.xml")), "/index.xml": index(*map(site.url, names))}
    start = tmp_path / "start"
    start.mkdir()
    done = crawl(
        start,
        "-O", "here/%(domain)s.csv:csv", "-O", "%(name)s/%(_job)s-%(time)s.jsonl:jsonl", "-O", "records.jsonl",
        domain=site.url(climbing), _job="../../job", report="report", probe="never",
    )  # fmt: skip
    assert done.code == 0, done.log
    assert len(done.sitemaps) == 1 + len(names)
    assert {path.name for path in tmp_path.iterdir()} == {"start"} and not Path("/tmp/climbed").exists()
    held = {str(path.parent.relative_to(start)) for path in start.rglob("*") if path.is_file()}
    assert held == {".", "here", "sitemap", "report", "report/cache"}
    [named] = (start / "here").iterdir()
    assert named.name.startswith("http-127.0.0.1-") and named.suffix == ".csv"


def test_what_a_killed_crawl_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left, used, link, strange = (
        tmp_path / f"{prefix_of('.feed')}{name}" for name in ("left", "used", "link", "strange")
    )
    for folder in (left, used, strange, tmp_path / ".feed", tmp_path / "precious"):
        folder.mkdir()
        (folder / "rows").touch()
    link.symlink_to(tmp_path / "precious")
    if os.geteuid() == 0:
        os.lchown(strange, STRANGER, STRANGER)
    lock = os.open(used, os.O_RDONLY)
    assert lock_file(lock)
    written(tmp_path / "out.csv", overwrite=True)
    os.close(lock)
    kept = {used, link, tmp_path / ".feed", tmp_path / "precious", tmp_path / "out.csv"}
    assert {*tmp_path.iterdir()} == (kept | {strange} if os.geteuid() == 0 else kept)
    assert (tmp_path / "precious" / "rows").exists()


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder like /tmp, with links of another user to files of ours."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of another user")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("precious")
    (tmp_path / "mine" / "own.csv").write_text("own\n")
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    for name, target in (("out.csv", "../mine/precious"), ("nowhere", "../mine/new"), ("device", "/dev/null")):
        (folder / name).symlink_to(target)
        os.lchown(folder / name, STRANGER, STRANGER)
    (folder / "own.csv").symlink_to("../mine/own.csv")
    (folder / "own").symlink_to("../mine")
    return folder


def written(path: Path, **options: object) -> None:
    """Write a row as a crawl does."""
    storage = AtomicFileStorage(str(path), feed_options=options)
    file = storage.open(None)  # type: ignore[arg-type]  # no spider is needed
    file.write(b"rows\n")
    storage.store(file)


@pytest.mark.parametrize("name", ["out.csv", "nowhere", "device"])
def test_link_of_another_user_is_not_followed(name: str, shared: Path) -> None:
    before = {path.name: path.read_text() for path in (shared.parent / "mine").iterdir()}
    feeds.prepared({str(shared / name): {"format": "csv", "overwrite": True}})
    written(shared / name, overwrite=True)
    assert not (shared / name).is_symlink() and (shared / name).read_text() == "rows\n"
    assert (shared / name).stat().st_mode & 0o111 == 0, "no mode of a link"
    assert {path.name: path.read_text() for path in (shared.parent / "mine").iterdir()} == before


def test_rows_behind_the_link_of_another_user_are_not_copied(shared: Path) -> None:
    with pytest.raises(FeedLost, match=r"out\.csv was not written: "):
        written(shared / "out.csv", overwrite=False)
    assert (shared / "out.csv").is_symlink() and (shared.parent / "mine" / "precious").read_text() == "precious"


def test_links_of_ones_own_are_followed(shared: Path) -> None:
    written(shared / "own.csv", overwrite=False)
    written(shared / "own" / "new.csv", overwrite=True)
    mine = shared.parent / "mine"
    assert (shared / "own.csv").is_symlink()
    assert ((mine / "own.csv").read_text(), (mine / "new.csv").read_text()) == ("own\nrows\n", "rows\n")


def test_mode_that_runs_as_somebody_else_is_not_taken_over(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.touch()
    target.chmod(0o4755)
    storage = AtomicFileStorage(str(target))
    file = storage.open(None)  # type: ignore[arg-type]  # no spider is needed
    storage.store(file)
    assert oct(target.stat().st_mode & 0o7777) == oct(0o755)
