"""The database itself: made whole, opened by one process, and refused in one line where it is not ours."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.items import SCHEMA_VERSION, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store import Store, StoreError, check, files
from sitemapcrawler.jobs.store.database import FILE, SPOOLS
from sitemapcrawler.jobs.store.files import create, in_words, refusal
from sitemapcrawler.jobs.store.queries import AT_ONCE
from sitemapcrawler.jobs.store.schema import VIEWS, iso, tables
from sitemapcrawler.reader import duck
from tests.unit.jobs.store.making import lines

ANEW, ELSEWHERE = "fresh=yes starts over", "use another JOBDIR"
HOLD = "import sys, duckdb; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A new database."""
    create(tmp_path / FILE)
    return tmp_path / FILE


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def refused(path: Path, opening: Callable[[Path], object] = check) -> str:
    """The one line by which a database is refused, which is left as it was."""
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        opening(path)
    assert path.read_bytes() == before
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return str(caught.value)


def open_folder(path: Path) -> object:
    return Store.open(path.parent)


BOTH = pytest.mark.parametrize("opening", [check, open_folder])


# Making and opening


def test_new_database_has_all_tables_and_views(path: Path) -> None:
    with duckdb.connect(path, read_only=True) as database:
        found = {row[0] for row in database.execute("SELECT table_name FROM information_schema.tables").fetchall()}
    assert found == {*tables(), *VIEWS}
    assert check(path) == {"version": SCHEMA_VERSION}
    assert names(path.parent) == {FILE}


def test_times_are_in_utc_whatever_the_zone_of_the_machine() -> None:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'America/New_York'")
        files.confine(database)
        query = f"SELECT {iso('moment')} FROM (SELECT TIMESTAMPTZ '2024-05-01T10:00:00Z' AS moment)"
        assert database.execute(query).fetchall() == [("2024-05-01T10:00:00Z",)]


def test_database_that_could_not_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "statements", lambda: ["CREATE TABLE half (a INTEGER)", "nonsense"])
    with pytest.raises(duckdb.ParserException):
        create(tmp_path / FILE)
    assert names(tmp_path) == set()


def test_folder_of_a_job_is_made(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "jobs" / "shop")
    assert names(tmp_path / "jobs" / "shop") == {FILE, SPOOLS}
    store.close()
    assert names(tmp_path / "jobs" / "shop") == {FILE}


def test_rows_are_there_when_it_is_opened_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    store.set(arguments={"domain": "e.com"}, run=1)
    store.set(run=2)
    store.close()
    store = Store.open(tmp_path)
    assert (store.get("arguments"), store.get("run"), store.get("state")) == ({"domain": "e.com"}, 2, None)
    store.close()
    assert check(tmp_path / FILE) == {"version": SCHEMA_VERSION, "arguments": {"domain": "e.com"}, "run": 2}


def test_temporary_database_goes_with_all_that_is_in_it() -> None:
    store = Store.temporary()
    spool = store.spool()
    spool.flush()
    folder = store.path.parent
    assert folder.exists()
    spool.discard()
    store.close()
    assert not folder.exists()


def test_temporary_database_is_opened_once_and_has_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, connect = [], duck.duckdb.connect

    def logged(path: Path, config: dict[str, str | bool | int | float | list[str]]) -> duckdb.DuckDBPyConnection:
        opened.append(path)
        return connect(path, config=config)

    monkeypatch.setattr(duck.duckdb, "connect", logged)
    store = Store.temporary()
    found = store.execute("SELECT table_name FROM information_schema.tables")
    assert {name for (name,) in found} == {*tables(), *VIEWS}
    assert store.get("version") == SCHEMA_VERSION
    assert opened == [store.path]
    store.close()


def test_temporary_database_that_could_not_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(files, "statements", lambda: ["CREATE TABLE half (a INTEGER)", "nonsense"])
    with pytest.raises(duckdb.ParserException):
        Store.temporary()
    assert names(tmp_path) == set()


def test_rows_that_a_killed_crawl_left_are_cleared_away(path: Path) -> None:
    (path.parent / SPOOLS).mkdir()
    (path.parent / SPOOLS / "rows-x.jsonl").write_text("{}")
    store = Store.open(path.parent)
    assert names(store.spools) == set()
    store.close()


def test_crawl_leaves_the_machine_to_others_until_the_end(path: Path) -> None:
    store = Store.open(path.parent)
    setting = "SELECT current_setting('threads'), current_setting('memory_limit')"
    [(threads, memory)] = store.execute(setting)
    store.resources(512)
    [(more_threads, more_memory)] = store.execute(setting)
    assert (threads, more_threads) == (1, 2)
    assert memory.startswith("12") and more_memory.startswith("48"), "in MiB"
    store.close()


def test_memory_is_given_as_it_is_needed(path: Path) -> None:
    store = Store.open(path.parent)
    limit = "SELECT current_setting('memory_limit')"
    given = []
    store.resources(500, sparing=True)
    setting = "SELECT current_setting('memory_limit'), current_setting('threads')"
    given += store.execute(setting)
    while store.give_more_memory():
        given += store.execute(setting)
    assert given == [("122.0 MiB", 2), ("244.1 MiB", 2), ("476.8 MiB", 2), ("476.8 MiB", 1)]
    store.resources(100, sparing=True)
    assert store.execute(setting) == [("95.3 MiB", 2)]
    assert store.give_more_memory() and not store.give_more_memory()
    with store.memory(50):
        assert store.execute(limit)[0][0] == "95.3 MiB", "never less"
    store.close()


def test_statement_outside_of_a_transaction_gets_more_memory(path: Path) -> None:
    large = "SELECT len(list(i)) FROM range(15_000_000) t(i)"
    store = Store.open(path.parent)
    store.resources(2000, sparing=True)
    with pytest.raises(duckdb.OutOfMemoryException), store.transaction():
        store.execute(large)
    assert store.execute(large) == [(15_000_000,)]
    store.close()


def test_rows_that_need_more_memory_get_it(path: Path) -> None:
    store = Store.open(path.parent)
    store.insert_rows("urls", [{"sitemap": "s", "loc": f"{number}{'x' * 100_000}"} for number in range(300)])
    store.resources(500, sparing=True)
    store.execute("SET memory_limit = '8MB'")
    assert sum(map(len, store.lines("urls"))) == 300
    assert store.execute("SELECT current_setting('memory_limit')")[0][0] != "7.6 MiB"
    store.close()


# What is refused

NO_DATABASE = [b"no database", b"", b"\0" * 20_000, b"SQLite format 3\0" + b"\0" * 5000]
OTHERS: list[tuple[str, str]] = [
    *(
        (
            f"UPDATE job SET value = '{version}' WHERE name = 'version'",
            f"version {version}, this is version {SCHEMA_VERSION}; use the sitemapcrawler that wrote it, or ",
        )
        for version in (SCHEMA_VERSION + 1, SCHEMA_VERSION - 1)
    ),
    (
        "DELETE FROM job",
        f"version None, this is version {SCHEMA_VERSION}; use the sitemapcrawler that wrote it, or another JOBDIR",
    ),
    ("DROP TABLE files", "not the database of a crawl"),
]
"""(what was done to a database, part of the message)."""


@BOTH
@pytest.mark.parametrize(("sql", "message"), OTHERS)
def test_other_database_is_refused(path: Path, sql: str, message: str, opening: Callable[[Path], object]) -> None:
    with duckdb.connect(path) as database:
        database.execute(sql)
    assert message in refused(path, opening)


@BOTH
def test_database_of_another_program_is_refused(tmp_path: Path, opening: Callable[[Path], object]) -> None:
    with duckdb.connect(tmp_path / FILE) as database:
        database.execute("CREATE TABLE customers (name VARCHAR)")
    assert "not the database of a crawl" in refused(tmp_path / FILE, opening)


@BOTH
def test_file_that_is_no_database_is_refused(path: Path, opening: Callable[[Path], object]) -> None:
    whole = path.read_bytes()
    for content in (*NO_DATABASE, *(whole[: int(len(whole) * share)] for share in (0.01, 0.5, 0.99))):
        path.write_bytes(content)
        assert "cannot be used" in refused(path, opening), (len(content), content[:20])


@BOTH
def test_database_of_a_running_crawl_is_refused(path: Path, opening: Callable[[Path], object]) -> None:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        text = refused(path, opening)
        holder.communicate("")
    assert "in use by another program" in text and f"(process {holder.pid})" in text
    assert check(path)["version"] == SCHEMA_VERSION, "and taken when that has ended"


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used: Not a directory"):
        Store.open(tmp_path / "file" / "job")


@pytest.mark.parametrize(
    ("error", "words", "advice"),
    [
        (OSError(28, "No space left on device"), "No space left on device", ELSEWHERE),
        (
            duckdb.IOException('IO Error: Could not write file "/x": No space left on device'),
            "No space left on device",
            ELSEWHERE,
        ),
        (
            duckdb.TransactionException('Failed to commit: Could not write file "/x": No space left on device'),
            "No space left on device",
            ELSEWHERE,
        ),
        (
            duckdb.IOException("IO Error: Cannot open file: Read-only file system\nmore"),
            "Read-only file system",
            ELSEWHERE,
        ),
        (duckdb.InvalidInputException("Invalid Input Error: it is wrong\nand more"), "it is wrong", ANEW),
        (duckdb.Error("without a kind"), "without a kind", ANEW),
    ],
)
def test_errors_are_told_in_a_few_words(error: Exception, words: str, advice: str) -> None:
    assert in_words(error) == words
    assert str(refusal("a.duckdb", error)) == f"a.duckdb cannot be used: {words}; {advice}"


# Reading and writing


def test_transaction_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(KeyError), store.transaction():
        store.set(run=1)
        raise KeyError
    assert store.get("run") is None
    with store.transaction():
        store.set(run=2)
    assert store.get("run") == 2


def test_others_read_while_one_writes(store: Store) -> None:
    reader = store.cursor()
    with store.transaction():
        store.set(run=1)
        assert reader.execute("SELECT count(*) FROM job WHERE name = 'run'").fetchone() == (0,)
    assert reader.execute("SELECT value FROM job WHERE name = 'run'").fetchone() == ("1",)


def test_rows_are_put_by_name(store: Store) -> None:
    store.insert_rows("children", [{"loc": "b", "sitemap": "a"}, {"sitemap": "\ud800", "loc": "'"}])
    assert store.execute("SELECT sitemap, loc, lastmod_at FROM children") == [("a", "b", None), ("?", "'", None)]
    store.insert_rows("children", [])
    assert names(store.spools) == set()


def test_lines_come_in_pieces_and_in_order(store: Store) -> None:
    spool = store.spool()
    records = [
        UrlRecord(str(number), sitemap="even" if number % 2 == 0 else "odd") for number in range(2 * AT_ONCE + 1)
    ]
    spool.write(lines(records), len(records))
    store.insert("urls", [spool])
    spool.discard()
    pieces = list(store.lines("urls"))
    assert [len(piece) for piece in pieces] == [AT_ONCE, AT_ONCE, 1]
    assert [json.loads(line)["loc"] for piece in pieces for line in piece] == [record.loc for record in records]
    assert [json.loads(line)["loc"] for [line] in store.lines("urls", "loc = '7'")] == ["7"]
    tagged = [pair for piece in store.tagged_lines("urls", "sitemap", "loc < '2'") for pair in piece]
    assert all(json.loads(line)["sitemap"] == tag for tag, line in tagged) and len(tagged) > AT_ONCE


@pytest.mark.slow
def test_rows_that_do_not_fit_into_memory_together_are_read_in_smaller_groups(path: Path) -> None:
    store = Store(path)
    store.resources(100, sparing=True)  # the least that the setting allows
    long = [f"{number}{'x' * 900_000}" for number in range(40)]
    for loc in long:
        store.execute("INSERT INTO urls (sitemap, loc) VALUES ('s', ?)", [loc])
    read = [json.loads(line)["loc"] for piece in store.tagged_lines("urls", "sitemap", "TRUE") for _, line in piece]
    store.close()
    assert read == long


def test_row_longer_than_usual_is_read(store: Store) -> None:
    spool = store.spool()
    spool.write(lines([UrlRecord("x" * 5_000_000), UrlRecord("b")]), 2)
    store.insert("urls", [spool])
    spool.discard()
    assert store.execute("SELECT length(loc) FROM urls") == [(5_000_000,), (1,)]


@pytest.mark.parametrize("name", ["feed.jsonl", "feed.jsonl.gz"])
def test_feed_is_read_by_type_of_record(store: Store, name: str) -> None:
    feed = lines([UrlRecord("a", line=1), SitemapRecord("s"), UrlRecord("b")])
    (store.spools / name).write_bytes(gzip.compress(feed) if name.endswith(".gz") else feed)
    store.read_feed("urls", store.spools / name, "url")
    assert store.execute("SELECT loc, line FROM urls") == [("a", 1), ("b", None)]


def test_view_has_a_row_for_each_language_version(store: Store) -> None:
    text = '{"loc":"a","sitemap":"s","line":4,"alternates":[{"hreflang":"de","href":"d"},{"hreflang":"en"}]}\n{"loc":"b"}\n'
    spool = store.spool()
    spool.write(text.encode(), 2)
    store.insert("urls", [spool])
    spool.discard()
    assert store.execute("FROM alternates") == [("s", 4, "a", "de", "d"), ("s", 4, "a", "en", None)]
