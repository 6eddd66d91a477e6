"""Records that wait for their verification: what waits, where, and when its turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sitemapcrawler.envelopes import FreshBatch
from sitemapcrawler.items import FindingRecord, UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.verification import backlog as module
from sitemapcrawler.verification.backlog import Backlog

A, B = "https://a.example/1.xml", "https://a.example/2.xml"


class Pipelines:
    """What was sent, in order."""

    def __init__(self) -> None:
        self.sent: list[FreshBatch] = []
        self.backlog = Backlog(self)

    async def send(self, item: object) -> None:
        assert isinstance(item, FreshBatch) and item.is_judged
        await asyncio.sleep(0)
        self.sent.append(item)

    @property
    def locs(self) -> list[str]:
        return [record.loc for batch in self.sent for record in batch.urls]

    async def release(self, *sitemaps: str, may_begin: Callable[[], bool] = lambda: True) -> None:
        await asyncio.gather(*(self.backlog.release(sitemap, "a.example", may_begin) for sitemap in sitemaps))


@pytest.fixture
def pipelines() -> Iterator[Pipelines]:
    made = Pipelines()
    yield made
    made.backlog.close()


def batch(sitemap: str, *locs: str) -> FreshBatch:
    return FreshBatch(sitemap, [UrlRecord(loc, sitemap=sitemap) for loc in locs])


def test_batches_come_back_as_they_were(pipelines: Pipelines) -> None:
    pipelines.backlog.open(A)
    first, second = batch(A, "u1", "u2"), batch(A, "u3")
    element = Element("", "url", {}, 7)
    element.content.append("text")
    note = Note(first.urls[1], element, ("a-fault",), [FindingRecord("rule", "error", "m")], 1)
    first.notes = Notes.table([note])
    assert pipelines.backlog.put(first)
    assert pipelines.backlog.put(second)
    assert (first.urls, first.notes, second.urls) == ([], {}, [])
    asyncio.run(pipelines.release(A))
    assert pipelines.locs == ["u1", "u2", "u3"]
    [one, _] = pipelines.sent
    [kept] = one.notes.values()
    assert kept.record is one.urls[1]
    assert one.notes.on(one.urls[1]) is kept
    assert (kept.faults, kept.findings, kept.number) == (("a-fault",), note.findings, 1)
    assert kept.element is not None
    assert (kept.element.name, kept.element.line, kept.element.text) == ("url", 7, "text")


def test_file_that_was_not_opened_is_verified_at_once(pipelines: Pipelines) -> None:
    one = batch(A, "u1")
    assert not pipelines.backlog.put(one)
    assert len(one.urls) == 1
    asyncio.run(pipelines.release(A))
    assert pipelines.sent == []


@pytest.mark.parametrize(("limit", "value"), [("MAX_FILES", 1), ("MAX_BYTES", 1)])
def test_beyond_the_limits_files_are_verified_at_once_and_the_others_get_their_turn(
    limit: str, value: int, pipelines: Pipelines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, value)
    pipelines.backlog.open(A)
    assert pipelines.backlog.put(batch(A, "u1"))
    assert pipelines.backlog.full
    pipelines.backlog.open(B)
    assert not pipelines.backlog.put(batch(B, "u2"))
    asyncio.run(pipelines.release(A, may_begin=lambda: False))
    assert pipelines.locs == ["u1"]
    assert not pipelines.backlog.full
    pipelines.backlog.open(B)
    assert pipelines.backlog.put(batch(B, "u2"))


def test_full_disk_costs_nothing(
    pipelines: Pipelines, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_place() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "TemporaryFile", no_place)
    pipelines.backlog.open(A)
    one = batch(A, "u1")
    assert not pipelines.backlog.put(one)
    assert len(one.urls) == 1
    assert "No space left" in caplog.text
    asyncio.run(pipelines.release(A))


def test_disk_that_becomes_full_does_not_end_the_crawl(pipelines: Pipelines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TemporaryFile", lambda: Path("/dev/full").open("w+b"))  # noqa: SIM115  # `close` closes it
    pipelines.backlog.open(A)
    assert not pipelines.backlog.put(batch(A, "u1"))
    pipelines.backlog.close()  # what is buffered does not fit either


def test_deeply_nested_entry_is_verified_at_once(pipelines: Pipelines) -> None:
    pipelines.backlog.open(A)
    one = batch(A, "u1")
    top = inner = Element("", "url", {}, 1)
    for _ in range(5000):
        below = Element("", "x", {}, 1)
        inner.content.append(below)
        inner = below
    one.notes = Notes.table([Note(one.urls[0], top)])
    assert not pipelines.backlog.put(one)
    assert len(one.urls) == 1


def test_turn_comes_when_the_rest_is_read(pipelines: Pipelines) -> None:
    read = False

    async def play() -> None:
        nonlocal read
        for sitemap in (A, B):
            pipelines.backlog.open(sitemap)
            assert pipelines.backlog.put(batch(sitemap, sitemap))
        waiting = asyncio.ensure_future(pipelines.release(A, B, may_begin=lambda: read))
        for _ in range(3):
            pipelines.backlog.look_again()
            await asyncio.sleep(0.01)
        assert pipelines.sent == []
        read = True
        pipelines.backlog.look_again()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(play())
    assert pipelines.locs == [A, B]


def test_two_files_of_a_site_at_a_time() -> None:
    most = running = 0

    class Slow:
        async def send(self, item: object) -> None:
            nonlocal most, running
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1

    async def play() -> None:
        backlog = Backlog(Slow())
        names = [f"https://{site}.example/{number}.xml" for site in "abcdefg" for number in range(4)]
        for name in names:
            backlog.open(name)
            assert backlog.put(batch(name, name))
        await asyncio.gather(*(backlog.release(name, name[8], lambda: True) for name in names if name[8] == "a"))
        assert most == module.AT_ONCE_OF_A_SITE
        await asyncio.gather(*(backlog.release(name, name[8], lambda: True) for name in names if name[8] != "a"))
        assert most == module.AT_ONCE
        backlog.close()

    asyncio.run(play())
