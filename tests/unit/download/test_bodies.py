"""What a `Body` keeps of the bytes that arrive, and when its collector ends a download."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, HtmlResponse
from twisted.web.iweb import UNKNOWN_LENGTH

from sitemapcrawler.download import bodies
from sitemapcrawler.download.bodies import BODY_KEY, DRAIN_BYTES, Body, BodyCollector, PageBody
from sitemapcrawler.replies.page import PAGE_LIMIT


def content(body: Body) -> bytes:
    return b"".join(body.chunks())


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


@pytest.fixture
def body() -> Iterator[Body]:
    body = Body(limit=10)
    yield body
    body.close()


@pytest.fixture
def unlimited() -> Iterator[Body]:
    body = Body()
    yield body
    body.close()


def test_new_body_is_empty(body: Body) -> None:
    assert content(body) == b""
    assert body.size == 0
    assert body.digest() == digest(b"")
    assert body.headers is None


def test_chunks_written_are_read_from_the_beginning(body: Body) -> None:
    body.write(b"abc")
    body.write(b"")
    body.write(b"def")
    assert list(body.chunks(4)) == [b"abcd", b"ef"]
    assert list(body.chunks(4)) == [b"abcd", b"ef"]
    assert body.size == 6
    assert body.digest() == digest(b"abcdef")


def test_readers_take_turns_with_the_writer(body: Body) -> None:
    body.write(b"abcdef")
    first, second = body.chunks(2), body.chunks(3)
    assert next(first) == b"ab"
    assert next(second) == b"abc"
    body.write(b"gh")
    assert list(first) == [b"cd", b"ef", b"gh"]
    assert list(second) == [b"def", b"gh"]


@pytest.mark.parametrize(
    ("pieces", "overflows"),
    [((b"0123456789",), False), ((b"01234567", b"89ab", b"more"), True)],
    ids=["exactly the limit", "over the limit"],
)
@pytest.mark.parametrize("is_attached", [False, True], ids=["written", "attached"])
def test_body_keeps_its_limit(
    body: Body, tmp_path: Path, pieces: tuple[bytes, ...], overflows: bool, is_attached: bool
) -> None:
    if is_attached:
        body.write(b"before")
        (tmp_path / "sitemap.xml").write_bytes(b"".join(pieces))
        body.attach((tmp_path / "sitemap.xml").open("rb"))
    else:
        for piece in pieces:
            body.write(piece)
    assert (body.size, body.overflowed, content(body)) == (10, overflows, b"0123456789")
    assert body.digest() == digest(b"0123456789")


def test_body_without_a_limit_keeps_all_of_a_large_body(unlimited: Body) -> None:
    piece = bytes(range(256)) * 4096
    for _ in range(3):
        unlimited.write(piece)
    assert len(piece) == bodies.SPOOL_BYTES
    assert content(unlimited) == piece * 3
    assert {len(chunk) for chunk in unlimited.chunks()} == {bodies.CHUNK_BYTES}
    assert unlimited.digest() == digest(piece * 3)


def test_restart_drops_what_was_collected(body: Body) -> None:
    body.write(b"moved to another place")
    body.restart(Headers({"ETag": "x"}))
    assert (body.size, body.overflowed, content(body)) == (0, False, b"")
    assert body.headers == {b"Etag": [b"x"]}
    body.write(b"here")
    assert content(body) == b"here"
    assert body.digest() == digest(b"here")


def test_closed_body_keeps_its_counts(body: Body) -> None:
    body.write(b"abc")
    body.close()
    body.close()
    assert content(body) == b""
    assert body.size == 3
    assert body.digest() == digest(b"abc")


def test_attached_file_that_shrinks_ends_early(unlimited: Body, tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_bytes(b"x" * (2 * bodies.CHUNK_BYTES))
    unlimited.attach(path.open("rb"))
    chunks = unlimited.chunks()
    assert next(chunks)
    with path.open("r+b") as file:
        file.truncate(bodies.CHUNK_BYTES)
    assert list(chunks) == []


def test_write_error_ends_the_body_before_the_hole(body: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    body.write(b"abc")
    with monkeypatch.context() as full_disk:
        full_disk.setattr(Body, "_append", raise_disk_full)
        body.write(b"def")
    body.write(b"ghi")
    assert content(body) == b"abc"
    assert body.error is not None
    assert body.error.strerror == "No space left on device"


def test_memory_that_ends_costs_the_body_alone(unlimited: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_memory_error(self: Body, data: bytes) -> None:
        raise MemoryError

    unlimited.write(b"some")
    with monkeypatch.context() as without_memory:
        without_memory.setattr(Body, "_append", raise_memory_error)
        unlimited.write(b"more")
    assert unlimited.receive(b"and more"), "no more is wanted"
    assert (unlimited.size, content(unlimited)) == (0, b"")
    assert unlimited.error is not None
    assert unlimited.error.strerror == "Cannot allocate memory"


def raise_disk_full(self: Body, data: bytes) -> None:
    raise OSError(28, "No space left on device")


def test_meta_turns_scrapys_own_limits_off(body: Body) -> None:
    assert Request("http://a.example/", meta=body.meta()).meta == {
        BODY_KEY: body,
        "download_maxsize": 0,
        "download_warnsize": 0,
        "download_fail_on_dataloss": False,
        "dont_cache": True,
    }


@pytest.fixture
def request_of(body: Body) -> Request:
    """The request for a body."""
    return Request("http://a.example/", meta={BODY_KEY: body})


def test_collector_ends_the_download_at_the_limit(body: Body, request_of: Request) -> None:
    collector = BodyCollector()
    collector.bytes_received(b"0123456789", request_of)
    with pytest.raises(StopDownload) as raised:
        collector.bytes_received(b"a", request_of)
    assert raised.value.fail is False
    assert content(body) == b"0123456789"


def test_collector_ends_the_download_on_a_full_disk(
    body: Body, request_of: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Body, "_append", raise_disk_full)
    with pytest.raises(StopDownload):
        BodyCollector().bytes_received(b"abc", request_of)
    assert (body.size, content(body)) == (0, b"")


def test_body_knows_how_much_its_reader_has_taken(unlimited: Body) -> None:
    unlimited.write(b"0123456789")
    chunks = unlimited.chunks(4)
    taken = [(next(chunks), unlimited.given) for _ in range(3)]
    assert taken == [(b"0123", 4), (b"4567", 8), (b"89", 10)]
    next(unlimited.chunks(1))
    assert unlimited.given == 1


HTML = {"Content-Type": "text/html; charset=utf-8"}
HEAD = b"<!doctype html><html><head><title>t</title><meta name=robots content=noindex></head><body>"
REST = b"<p>words of a page </p>" * 2000
MUCH = 10 * DRAIN_BYTES


def test_page_is_read_to_its_limit() -> None:
    body = PageBody(wanted=True)
    assert not body.begin(Headers(HTML), None)
    assert not body.receive(HEAD + REST)
    assert body.receive(b"x" * PAGE_LIMIT)


@pytest.mark.parametrize("length", [MUCH, UNKNOWN_LENGTH, None])
@pytest.mark.parametrize(
    ("wanted", "kind"), [(True, "application/pdf"), (False, "text/html")], ids=["no HTML", "not wanted"]
)
def test_other_body_is_not_fetched(wanted: bool, kind: str, length: object) -> None:
    assert PageBody(wanted=wanted).begin(Headers({"Content-Type": kind}), length)


def test_little_is_fetched_though_nobody_wants_it() -> None:
    body = PageBody(wanted=False)
    assert not body.begin(Headers(HTML), DRAIN_BYTES)
    assert not body.receive(b"x" * DRAIN_BYTES)


def test_rest_of_a_page_is_fetched_where_it_is_little() -> None:
    body = PageBody(wanted=True)
    assert not body.begin(Headers(HTML), len(HEAD) + len(REST) + DRAIN_BYTES)
    assert not body.receive(HEAD + REST)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_facts_of_a_page_that_came_in_pieces(pack: type[bytes]) -> None:
    packed = pack(HEAD + REST)
    headers = dict(HTML) if pack is bytes else {**HTML, "Content-Encoding": "gzip"}
    body = PageBody(wanted=True)
    body.begin(Headers(headers), len(packed))
    for start in range(0, len(packed), 100):
        body.receive(packed[start : start + 100])
    facts = body.facts(HtmlResponse("https://e.com/", headers=headers), {}, whole=True)
    assert facts is not None
    assert (facts.title, facts.noindex, facts.complete) == ("t", True, True)


def test_facts_of_a_page_from_the_cache() -> None:
    response = HtmlResponse("https://e.com/", headers=HTML, body=HEAD + REST)
    facts = PageBody(wanted=True).facts(response, {}, whole=True)
    assert facts is not None
    assert facts.noindex


def test_answer_after_a_retry_is_read_from_its_beginning() -> None:
    body = PageBody(wanted=True)
    body.begin(Headers(HTML), MUCH)
    body.receive(b"<title>first</title>")
    body.begin(Headers(HTML), MUCH)
    body.receive(b"<title>second</title></body>")
    facts = body.facts(HtmlResponse("https://e.com/", headers=HTML), {}, whole=True)
    assert facts is not None
    assert facts.title == "second"


def test_nothing_is_said_of_a_page_that_was_not_wanted() -> None:
    assert PageBody(wanted=False).facts(HtmlResponse("https://e.com/", headers=HTML, body=HEAD), {}, whole=True) is None
