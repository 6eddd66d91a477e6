"""Committing what was found: whole or not at all, whatever stands in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sitemapcrawler.envelopes import FileResult, FileTally
from sitemapcrawler.items import FindingRecord, ReplyRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.files import CONFIG
from sitemapcrawler.jobs.store.loading import Commit, FileRows, load
from sitemapcrawler.jobs.store.spool import IN_MEMORY, Spool
from sitemapcrawler.namespaces.extensions import Alternate, Image, Video
from tests.unit.jobs.store.making import lines

A, B, C = (f"https://e.com/{name}.xml" for name in "abc")
RUN = 3


def spooled(store: Store, records: Sequence[Any]) -> Spool:
    spool = store.spool()
    spool.write(lines(records), len(records))
    return spool


def file(store: Store, sitemap: str, *urls: UrlRecord, record: bool = True, **rest: Any) -> FileRows:
    """A file that was read: with a finding for each of its entries."""
    found = [FindingRecord("a-rule", "error", sitemap=sitemap, url=one.loc) for one in urls]
    own = [SitemapRecord(sitemap, url_count=len(urls))] if record else []
    return FileRows(sitemap, spooled(store, urls), spooled(store, found), spooled(store, own), FileResult(**rest))


def entry(sitemap: str, number: int = 0, **fields: Any) -> UrlRecord:
    return UrlRecord(f"https://e.com/{number}", sitemap=sitemap, line=number, **fields)


def group(*files: FileRows, **rest: Any) -> Commit:
    made = Commit(**rest)
    for one in files:
        made.add(one)
    return made


def counts(store: Store) -> dict[str, int]:
    tables = ("urls", "findings", "sitemaps", "files", "children", "policies", "replies")
    return {table: store.execute(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def left(store: Store) -> list[Path]:
    return list(store.spools.iterdir())


def test_group_is_true_where_there_is_something_in_it(store: Store) -> None:
    assert not Commit()
    assert Commit(rows={"policies": [{}]}) and Commit(replies=[b"{}\n"])
    made = group(file(store, A, entry(A), entry(A, 1)), file(store, B, entry(B)))
    assert made and made.urls == 3


def test_everything_of_a_group_is_committed(store: Store) -> None:
    files = [
        file(store, A, entry(A), entry(A, 1), digest="d", tally=FileTally(alias=True)),
        file(store, B, children=[(C, None)]),
    ]
    policy = {"origin": "https://e.com", "asked_at": "2026-01-02T03:04:05.000006", "answer": {"status": 200}}
    reply = b'{"url":"u","method":"GET","asked_at":"2026-01-02T03:04:05","status":200,"step":{"status":200}}\n'
    load(store, RUN, group(*files, rows={"policies": [policy]}, replies=[reply, reply]))
    told = {"urls": 2, "findings": 2, "sitemaps": 2, "files": 2, "children": 1, "policies": 1, "replies": 2}
    assert counts(store) == told
    done = store.execute("SELECT sitemap, run, digest, tally FROM files ORDER BY sitemap")
    assert [(*row[:3], json.loads(row[3])) for row in done] == [
        (A, RUN, "d", {"found": {}, "alias": True}),
        (B, RUN, "", {"found": {}}),
    ]
    assert store.execute("SELECT * FROM children") == [(B, C, None)]
    assert store.execute("SELECT strftime(asked_at, '%f'), answer->>'status' FROM policies") == [("000006", "200")]
    assert store.execute("SELECT status, step->>'status', failure FROM replies LIMIT 1") == [(200, "200", None)]
    assert left(store) == []


@pytest.mark.parametrize("table", ["findings", "sitemaps", "files", "children", "policies", "replies"])
def test_group_that_fails_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    insert = Store.insert

    def failing(self: Store, name: str, spools: Any) -> None:
        if name == table:
            raise duckdb.IOException("IO Error: No space left on device")
        insert(self, name, spools)

    monkeypatch.setattr(Store, "insert", failing)
    large = file(store, A, *(entry(A, number, lastmod="x" * 100) for number in range(IN_MEMORY // 100)))
    rows = {"policies": [{"origin": "https://e.com"}]}
    with pytest.raises(duckdb.IOException):
        load(store, RUN, group(large, file(store, B, children=[(C, None)]), rows=rows, replies=[b'{"url":"u"}\n']))
    assert set(counts(store).values()) == {0}
    assert left(store) == [], "not even on the disk"


def test_database_can_be_written_after_a_failure(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(duckdb.IOException):
        patch.setattr(Store, "insert", lambda *_: (_ for _ in ()).throw(duckdb.IOException("x")))
        load(store, RUN, group(file(store, A, entry(A))))
    load(store, RUN, group(file(store, A, entry(A))))
    assert counts(store)["urls"] == 1


def test_guess_that_was_no_sitemap_is_a_file_without_a_record(store: Store) -> None:
    load(store, RUN, group(file(store, A, record=False, tally=FileTally(missed=True))))
    assert (counts(store)["files"], counts(store)["sitemaps"]) == (1, 0)


def test_rows_of_large_and_small_files_stand_in_their_order(store: Store) -> None:
    sizes = {A: 3, B: IN_MEMORY // 50, C: 5}
    load(store, RUN, group(*(file(store, url, *(entry(url, n) for n in range(size))) for url, size in sizes.items())))
    for url, size in sizes.items():
        found = store.execute(f"SELECT line, rowid FROM urls WHERE sitemap = '{url}' ORDER BY rowid")
        assert [line for line, _ in found] == list(range(size))
        assert found[-1][1] - found[0][1] == size - 1, "without others between"


def test_row_that_no_column_can_hold_keeps_its_place_alone(store: Store) -> None:
    bad = entry(A, lastmod="2026", reply=ReplyRecord("ok", attempts=2**70))
    load(store, RUN, group(file(store, A, bad, entry(A, 1)), file(store, B, entry(B, 2, lastmod="2025"))))
    assert (counts(store)["files"], counts(store)["findings"]) == (2, 3)
    rows = store.execute("SELECT loc, line, lastmod FROM urls ORDER BY sitemap, line")
    assert rows[0] == ("https://e.com/0", 0, None)
    assert rows[2] == ("https://e.com/2", 2, "2025"), "other files have their columns"
    assert left(store) == []


@pytest.mark.parametrize("error", [
    duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block"),
    duckdb.TransactionException("Failed to commit: failed to pin block of size 880.0 KiB (121.2 MiB/122.0 MiB used)"),
])  # fmt: skip
@pytest.mark.parametrize("times", [1, 3])
def test_group_that_needs_more_memory_gets_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: duckdb.Error, times: int
) -> None:
    insert, limits = Store.insert, []

    def scarce(self: Store, name: str, spools: Any) -> None:
        limits.append(self.execute("SELECT current_setting('memory_limit')")[0][0])
        if len(set(limits)) <= times:
            raise error
        insert(self, name, spools)

    before = store.execute("SELECT current_setting('memory_limit')")[0][0]
    monkeypatch.setattr(Store, "insert", scarce)
    load(store, RUN, group(file(store, A, entry(A))))
    assert (counts(store)["urls"], counts(store)["files"]) == (1, 1)
    assert limits[0] == before and len(set(limits)) == times + 1
    assert store.execute("SELECT current_setting('memory_limit')")[0][0] == before, CONFIG["memory_limit"]


def long_entry(sitemap: str, number: int, items: int = 300) -> UrlRecord:
    """An entry with long lists; every third item has more than the usual fields."""
    links = [
        Alternate(f"x-{n}", f"https://e.com/ä/{n}?\U0001f30d", attributes={"media": "print"} if n % 3 == 0 else {})
        for n in range(items)
    ]
    images = [Image(f"https://e.com/{n}.png", title='"\\\n' if n % 3 == 0 else None) for n in range(items)]
    videos = [Video(title=str(n), tag=["a", "b"], player_loc={"value": "x", "autoplay": "1"}) for n in range(items)]
    return entry(sitemap, number, alternates=links, images=images, videos=videos)


def test_long_lists_are_read_back_as_they_were(store: Store) -> None:
    entries = [long_entry(A, 0), entry(A, 1), long_entry(A, 2, 11), long_entry(A, 3, 200)]
    load(store, RUN, group(file(store, A, *entries)))
    read = [line for rows in store.tagged_lines("urls", "sitemap", "TRUE") for _, line in rows]
    assert [json.loads(line) for line in read] == [json.loads(line) for line in lines(entries).splitlines()]
    links = store.execute("SELECT line, hreflang, href FROM alternates ORDER BY line, href, hreflang")
    made = [(one.line, link.hreflang, link.href) for one in entries for link in one.alternates]
    assert links == sorted(made, key=itemgetter(0, 2, 1))


def test_long_list_with_a_lone_surrogate_is_read_back(store: Store) -> None:
    long = long_entry(A, 0)
    long.alternates[299].href = "https://e.com/\ud800"  # type: ignore[index]  # a list
    load(store, RUN, group(file(store, A, long)))
    [[(_, line)]] = store.tagged_lines("urls", "sitemap", "TRUE")
    assert json.loads(line)["alternates"][299]["href"] == "https://e.com/\ufffd"
    assert len(json.loads(line)["alternates"]) == len(long.alternates)
