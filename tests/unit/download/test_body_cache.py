"""The cache of sitemaps: whole files that only their owner can read."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Headers

from sitemapcrawler.download import body_cache
from sitemapcrawler.download.bodies import SPOOL_BYTES, Body
from sitemapcrawler.download.body_cache import BodyStorage, DamagedBody

URL = "https://example.com/sitemap.xml"
REQUEST = Request(URL)
ROOT = Path(__file__).parents[3]
CONTENTS = {
    "text": b"<urlset/>",
    "empty": b"",
    "gzip": gzip.compress(b"<urlset/>"),
    "on disk": b"<url>" * (SPOOL_BYTES // 4),
}


def stored(storage: BodyStorage, content: bytes = b"<urlset/>", **headers: str) -> BodyStorage:
    body = Body()
    body.write(content)
    storage.store(REQUEST, Headers(headers), body)
    body.close()
    return storage


def content_of(storage: BodyStorage) -> bytes | None:
    kept = storage.named(URL)
    return None if kept is None else b"".join(kept.chunks())


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_body_is_kept_byte_for_byte(content: bytes, tmp_path: Path) -> None:
    assert content_of(stored(BodyStorage(tmp_path / "cache"), content)) == content


def test_only_the_owner_can_read_it_and_no_cookie_is_in_it(tmp_path: Path) -> None:
    stored(BodyStorage(tmp_path / "cache"), **{"Set-Cookie": "session=1", "ETag": "7"})
    [file] = (tmp_path / "cache").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert b"session" not in file.read_bytes()


@pytest.mark.parametrize(
    ("headers", "is_found"), [({}, True), ({"If-None-Match": "7"}, True), ({"If-None-Match": "8"}, False)]
)
def test_a_request_with_validators_is_about_one_version(
    headers: Mapping[str, str], is_found: bool, tmp_path: Path
) -> None:
    storage = stored(BodyStorage(tmp_path / "cache"), ETag="7")
    assert (storage.find(Request(URL, headers=dict(headers))) is not None) == is_found


def test_bodies_beyond_the_limit_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = stored(BodyStorage(tmp_path / "cache"))
    monkeypatch.setattr(body_cache, "LIMIT_BYTES", 1000)
    stored(storage, gzip.compress(b"") + b"x" * 1000)
    assert content_of(storage) is None, "nor is the earlier one of its URL"
    assert not [*(tmp_path / "cache").iterdir()]
    assert content_of(stored(storage)) == b"<urlset/>"


@pytest.mark.parametrize("is_gzip", [False, True], ids=["text", "gzip"])
@pytest.mark.parametrize("damage", ["cut", "overwritten", "replaced"])
def test_a_damaged_body_says_so(damage: str, is_gzip: bool, tmp_path: Path) -> None:
    content = b"<urlset>" + bytes(range(256)) * 100
    storage = stored(BodyStorage(tmp_path / "cache"), gzip.compress(content) if is_gzip else content)
    kept = storage.named(URL)
    assert kept is not None
    assert kept.is_whole()
    head, data = kept.path.read_bytes().split(b"\n", 1)
    damaged = {"cut": data[:-20], "overwritten": data[:20] + b"\xff" * 40 + data[60:], "replaced": b"<urlset/>"}
    kept.path.write_bytes(head + b"\n" + damaged[damage])
    with pytest.raises(DamagedBody):
        b"".join(kept.chunks())
    assert not kept.is_whole()


def test_a_damaged_body_of_an_earlier_crawl_costs_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stored(BodyStorage(tmp_path / "monday"))
    tuesday = BodyStorage(tmp_path / "tuesday", [tmp_path / "monday"])
    kept = tuesday.find(REQUEST)
    assert kept is not None
    kept.path.write_bytes(kept.path.read_bytes()[:-9])
    tuesday.keep(kept)
    assert content_of(tuesday) is None
    assert content_of(stored(tuesday)) == b"<urlset/>"
    assert not caplog.records


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_no_part_of_a_file_passes_for_a_body(content: bytes, tmp_path: Path) -> None:
    """After a power failure, a file may be shorter than what was written."""
    storage = stored(BodyStorage(tmp_path / "cache"), content)
    path = tmp_path / "cache" / body_cache.name_of(URL)
    whole = path.read_bytes()
    for kept in range(0, len(whole), 1 + len(whole) // 200):
        path.write_bytes(whole[:kept])
        torn = storage.named(URL)
        assert torn is None or not torn.is_whole(), kept


KILLED = """
import json, os, signal, sys
from pathlib import Path
from sitemapcrawler.download import body_cache
from tests.unit.download.test_body_cache import VERSIONS, content_of, stored

def store_until(lines, content):
    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename != body_cache.__file__:
            return None
        lines -= event == "line"
        if lines < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    sys.settrace(trace)
    stored(body_cache.BodyStorage(place), content)
    os._exit(0)

place, found, killed = Path(sys.argv[1]), [], True
while killed:
    child = os.fork() or store_until(len(found), VERSIONS[len(found) % 2])
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    content = content_of(body_cache.BodyStorage(place))
    found.append(None if content is None else content.decode("latin-1"))
print(json.dumps(found))
"""
"""Stores a body again and again, and is killed one line of the module later each time. Prints what is then found."""
VERSIONS = (b"<urlset>" * 100, gzip.compress(b"<urlset/>" * 100, mtime=0))


@pytest.mark.slow
def test_a_kill_at_any_line_leaves_a_whole_body_or_none(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(place)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert not done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {None, *(version.decode("latin-1") for version in VERSIONS)}
    assert len(found) > 50, "as many kills as lines"
    BodyStorage(place).open()
    assert {path.name for path in place.iterdir()} == {body_cache.name_of(URL)}


def test_what_a_killed_crawl_left_is_removed(tmp_path: Path) -> None:
    stored(BodyStorage(tmp_path / "cache"))
    (tmp_path / "cache" / "tmp.part").write_bytes(b"half")
    storage = BodyStorage(tmp_path / "cache")
    storage.open()
    assert not (tmp_path / "cache" / "tmp.part").exists()
    assert content_of(storage) == b"<urlset/>"


def test_a_body_of_an_earlier_crawl_is_copied(tmp_path: Path) -> None:
    stored(BodyStorage(tmp_path / "monday"))
    tuesday = BodyStorage(tmp_path / "tuesday", [tmp_path / "monday"])
    kept = tuesday.find(REQUEST)
    assert kept is not None
    tuesday.keep(kept)
    assert content_of(BodyStorage(tmp_path / "tuesday")) == b"<urlset/>"


def test_a_full_disk_costs_the_bodies_and_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "cache").write_text("a file in its place")
    storage = stored(stored(BodyStorage(tmp_path / "cache")))
    assert content_of(storage) is None
    assert len(caplog.records) == 1
