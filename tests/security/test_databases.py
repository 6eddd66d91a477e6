"""A database that a stranger has made, given as a baseline or lying in the folder of a job: nothing in it is run."""

from __future__ import annotations

import gzip
import os
import random
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.jobs.store import Store, StoreError, check
from sitemapcrawler.jobs.store.database import FILE
from sitemapcrawler.jobs.store.files import create
from tests.unit.jobs.baselines import job, opened, page

MIB = 2**20
SECRET = "what only its owner may read"
HOSTILE = {
    "view in place of a table": "ALTER TABLE urls RENAME TO mine; CREATE VIEW urls AS SELECT * REPLACE ({secret} AS loc) FROM mine",
    "view in place of the job": "ALTER TABLE job RENAME TO mine; CREATE VIEW job AS SELECT name, {secret}::JSON AS value FROM mine",
    "another view": "CREATE OR REPLACE VIEW alternates AS SELECT {secret} AS loc",
    "macro for a function of ours": "CREATE MACRO regexp_extract(a, b, c) AS ({secret})",
    "macro that counts": "CREATE MACRO hash(a) AS ({secret})",
    "default": "ALTER TABLE job ALTER value SET DEFAULT 'x'",
    "generated column": "CREATE TABLE job2 AS FROM job; DROP TABLE job; CREATE TABLE job (name VARCHAR, value JSON AS (upper(name)))",
    "missing table": "DROP TABLE children",
}
"""SQL that a stranger adds to a database; `secret` stands for what reads a file."""


SAID = {
    "list for arguments": "UPDATE job SET value = '[1]' WHERE name = 'arguments'",
    "no arguments": "DELETE FROM job WHERE name IN ('arguments', 'run'); INSERT INTO job VALUES ('run', '1')",
    "number without end": "UPDATE job SET value = '1e999' WHERE name <> 'version'",
}
"""SQL that changes what a database says of itself."""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(SECRET)
    return path


def spoilt(folder: Path, secret: Path, sql: str) -> Path:
    """The database of a finished job, with more in it."""
    path = job(folder, [page(), page("/gone")])
    with duckdb.connect(path) as connection:
        connection.execute(sql.format(secret=f"(SELECT content FROM read_text('{secret}'))"))
    return path


@pytest.mark.parametrize("what", SAID)
def test_database_that_says_what_no_crawl_says_is_refused(what: str, tmp_path: Path, secret: Path) -> None:
    path = spoilt(tmp_path / "job", secret, SAID[what])
    for use in (check, lambda path: Store.open(path.parent)):
        with pytest.raises(StoreError, match="not the database of a crawl, its metadata"):
            use(path)


@pytest.mark.parametrize("what", HOSTILE)
def test_database_with_code_in_it_is_refused(what: str, tmp_path: Path, secret: Path) -> None:
    path = spoilt(tmp_path / "job", secret, HOSTILE[what])
    with pytest.raises(StoreError, match="not the database of a crawl") as caught:
        check(path)
    assert SECRET not in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(StoreError, match="not the database of a crawl"):
        Store.open(path.parent)


def test_what_its_owner_added_is_no_matter(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS one; CREATE VIEW paths AS SELECT loc FROM urls")
    assert check(path)["state"] == "finished"
    Store.open(tmp_path).close()


READING: dict[str, Callable[[Path], str]] = {
    "text": lambda secret: f"FROM read_text('{secret}')",
    "by way of a folder": lambda secret: f"FROM read_text('{secret.parent}/job/.spool/../../secret')",
    "table": lambda secret: f"FROM read_csv('{secret}')",
    "folder": lambda secret: f"FROM glob('{secret.parent}/*')",
    "written": lambda secret: f"COPY (SELECT 1) TO '{secret}'",
    "attached": lambda secret: f"ATTACH '{secret.parent}/other.duckdb'",
    "exported": lambda secret: f"EXPORT DATABASE '{secret.parent}/export'",
    "link": lambda secret: f"FROM read_text('{secret.parent}/job/.spool/link')",
    "extension": lambda _: "LOAD httpfs",
    "installed": lambda _: "INSTALL httpfs",
    "network": lambda _: "FROM read_text('http://169.254.169.254/latest/meta-data')",
    "variable of Python": lambda _: "FROM names",
    "let out": lambda _: "SET enable_external_access = true",
    "let in": lambda secret: f"SET allowed_directories = ['{secret.parent}']",
    "elsewhere": lambda secret: f"SET temp_directory = '{secret.parent}'",
}


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Path]:
    folder = tmp_path_factory.mktemp("confined")
    (folder / "secret").write_text(SECRET)
    store = Store.open(folder / "job")
    (store.spools / "link").symlink_to(folder / "secret")
    return store, folder / "secret"


@pytest.mark.parametrize("way", READING)
def test_queries_reach_nothing_but_the_database(way: str, confined: tuple[Store, Path]) -> None:
    store, secret = confined
    with pytest.raises(duckdb.Error) as caught:
        store.execute(READING[way](secret))
    assert SECRET not in str(caught.value)
    assert secret.read_text() == SECRET and {one.name for one in secret.parent.iterdir()} == {"secret", "job"}


def test_room_that_queries_take_on_disk_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Store.open(tmp_path / "job")
        store.resources(100)
        query = "SELECT count(*) FROM (SELECT DISTINCT range::VARCHAR || repeat('x', 60) FROM range(2_000_000))"
        assert store.execute(query) == [(2_000_000,)]
        assert store.execute("SELECT current_setting('temp_directory')") == [(str(store.spools / "spilled"),)]
        assert (store.spools / "spilled").exists(), "it did not fit into memory"
        assert stat.S_IMODE(store.spools.stat().st_mode) == 0o700
        store.close()
        assert {one.name for one in (tmp_path / "job").iterdir()} == {FILE}
    finally:
        os.umask(before)


def test_database_is_made_where_nobody_looks(tmp_path: Path) -> None:
    """A link under a name that could be guessed leads nowhere."""
    target = tmp_path / "target"
    for left in (f".{FILE}.{os.getpid()}.new", f".{FILE}.{os.getpid()}.new.wal"):
        (tmp_path / left).symlink_to(target)
    create(tmp_path / FILE)
    assert not target.exists() and check(tmp_path / FILE)


@pytest.mark.parametrize("option", [["-a", "baseline={}"], ["-s", "JOBDIR={.parent}"]], ids=["baseline", "job"])
def test_crawl_refuses_it_before_anything_is_asked(
    option: list[str], refusal: Callable[..., str], tmp_path: Path, secret: Path
) -> None:
    path = spoilt(tmp_path / "job", secret, HOSTILE["view in place of a table"])
    line = refusal("crawl", "sitemap", "-a", "domain=127.0.0.1:1", *(word.format(path) for word in option))
    assert "not the database of a crawl, urls is" in line and SECRET not in line


TRY = """
import sys
from pathlib import Path
from sitemapcrawler.jobs.store import StoreError, Store, check
from sitemapcrawler.jobs.store.baseline import Baseline
for name in sys.argv[1:]:
    path = Path(name)
    try:
        check(path, thorough=True)
        store = Store.temporary(beside=[path])
        try:
            Baseline(store, path)
        finally:
            store.close()
    except StoreError as error:
        assert len(str(error).splitlines()) == 1, error
"""


def test_damaged_database_is_refused_or_read(tmp_path: Path) -> None:
    whole = job(tmp_path / "job", [page(f"/{number}") for number in range(2000)]).read_bytes()
    chance, paths = random.Random(10), []
    for number in range(12):
        data = bytearray(whole[: len(whole) if number % 3 else chance.randrange(len(whole))])
        for _ in range(1 << (number % 6)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        paths.append(tmp_path / f"{number}.duckdb")
        paths[-1].write_bytes(data)
    done = subprocess.run([sys.executable, "-c", TRY, *map(str, paths)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_feed_that_inflates_without_a_line_end_costs_little(tmp_path: Path) -> None:
    path = tmp_path / "urls.jsonl.gz"
    start = b'{"type":"url","loc":"https://e.com/\\ud800","sitemap":"https://e.com/s.xml"}\n{"type":"url","loc":"'
    path.write_bytes(gzip.compress(start) + gzip.compress(b"a" * MIB) * 512)
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match=r"^baseline .* a line of it has more than 16,777,216 bytes"), opened(path):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * MIB
