"""The cache of sitemaps: whole files that only their owner can read, for those who were logged in as well."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Headers

from sitemapcrawler.download import cache
from sitemapcrawler.download.bodies import SPOOL_BYTES, Body
from sitemapcrawler.download.cache import ABOUT, BodyStorage, DamagedBody, Rights
from sitemapcrawler.urls import Authority

URL = "https://example.com/sitemap.xml"
REQUEST = Request(URL)
LOGIN = b"Basic dXNlcjpzZWNyZXQ="
CONTENTS = {
    "text": b"<urlset/>",
    "empty": b"",
    "gzip": gzip.compress(b"<urlset/>"),
    "on disk": b"<url>" * (SPOOL_BYTES // 4),
}


def stored(storage: BodyStorage, content: bytes = b"<urlset/>", login: bytes = b"", **headers: str) -> BodyStorage:
    body = Body()
    body.write(content)
    storage.store(REQUEST, Headers(headers), body, login)
    body.close()
    return storage


def content_of(storage: BodyStorage) -> bytes | None:
    kept = storage.named(URL)
    return None if kept is None else b"".join(kept.chunks())


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_body_is_kept_byte_for_byte(content: bytes, tmp_path: Path) -> None:
    assert content_of(stored(BodyStorage(tmp_path / "cache"), content)) == content


def test_only_the_owner_can_read_it_and_no_login_or_cookie_is_in_it(tmp_path: Path) -> None:
    stored(BodyStorage(tmp_path / "cache"), login=LOGIN, **{"Set-Cookie": "session=1", "ETag": "7"})
    files = [*(tmp_path / "cache").iterdir()]
    assert len(files) == 2
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert not any(secret in file.read_bytes() for file in files for secret in (LOGIN, b"session"))


@pytest.mark.parametrize("login", [b"", b"Basic other"])
def test_a_body_answers_no_request_with_another_login(login: bytes, tmp_path: Path) -> None:
    storage = stored(BodyStorage(tmp_path / "cache"), login=LOGIN)
    assert BodyStorage(tmp_path / "cache").find(REQUEST, LOGIN) is not None
    assert storage.find(REQUEST, login) is None


@pytest.mark.parametrize(
    ("headers", "is_found"), [({}, True), ({"If-None-Match": "7"}, True), ({"If-None-Match": "8"}, False)]
)
def test_a_request_with_validators_is_about_one_version(
    headers: Mapping[str, str], is_found: bool, tmp_path: Path
) -> None:
    storage = stored(BodyStorage(tmp_path / "cache"), ETag="7")
    assert (storage.find(Request(URL, headers=dict(headers)), b"") is not None) == is_found


def test_bodies_beyond_the_limit_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = stored(BodyStorage(tmp_path / "cache"))
    monkeypatch.setattr(cache, "LIMIT_BYTES", 1000)
    stored(storage, gzip.compress(b"") + b"x" * 1000)
    assert content_of(storage) is None, "nor is the earlier one of its URL"
    assert [file.name for file in (tmp_path / "cache").iterdir()] == [ABOUT]
    assert content_of(stored(storage)) == b"<urlset/>"


@pytest.mark.parametrize("damage", ["cut", "overwritten", "replaced"])
def test_a_damaged_body_says_so(damage: str, tmp_path: Path) -> None:
    storage = stored(BodyStorage(tmp_path / "cache"), b"<urlset>" + bytes(range(256)) * 100)
    kept = storage.named(URL)
    assert kept is not None
    head, data = kept.path.read_bytes().split(b"\n", 1)
    damaged = {"cut": data[:-20], "overwritten": data[:20] + b"\xff" * 40 + data[60:], "replaced": b"<urlset/>"}
    kept.path.write_bytes(head + b"\n" + damaged[damage])
    with pytest.raises(DamagedBody):
        b"".join(kept.chunks())


def test_what_a_killed_crawl_left_is_removed(tmp_path: Path) -> None:
    stored(BodyStorage(tmp_path / "cache"))
    (tmp_path / "cache" / "tmp.part").write_bytes(b"half")
    storage = BodyStorage(tmp_path / "cache")
    storage.open()
    assert not (tmp_path / "cache" / "tmp.part").exists()
    assert content_of(storage) == b"<urlset/>"


def test_a_body_of_an_earlier_crawl_is_copied_with_the_key_of_this_one(tmp_path: Path) -> None:
    stored(BodyStorage(tmp_path / "monday"), login=LOGIN)
    tuesday = BodyStorage(tmp_path / "tuesday", [tmp_path / "monday"])
    kept = tuesday.find(REQUEST, LOGIN)
    assert kept is not None
    tuesday.keep(kept, LOGIN)
    assert content_of(tuesday) == b"<urlset/>"
    assert BodyStorage(tmp_path / "tuesday").find(REQUEST, LOGIN) is not None


def test_a_cache_notes_which_hosts_the_user_named(tmp_path: Path) -> None:
    host = Authority("example.com", 443)
    rights = Rights(frozenset({host, Authority("::1", 80)}), frozenset({host}))
    BodyStorage(tmp_path / "cache", rights=rights).open()
    assert BodyStorage(tmp_path / "cache").rights == rights


@pytest.mark.parametrize("text", ["", "[]", "null", json.dumps({"own": [["a"], 1, ["b", "c"]], "authorities": {}})])
def test_a_damaged_cache_gives_no_rights(text: str, tmp_path: Path) -> None:
    (tmp_path / ABOUT).write_text(text)
    assert BodyStorage(tmp_path).rights == Rights()


def test_a_full_disk_costs_the_bodies_and_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "cache").write_text("a file in its place")
    storage = stored(stored(BodyStorage(tmp_path / "cache")))
    assert content_of(storage) is None
    assert len(caplog.records) == 1
