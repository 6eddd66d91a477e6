"""The tables of DuckDB that an overview is made of: a row for each domain, and what files of each format it has.

Everything is read once, and lies on disk: neither memory nor the number of requests grows with what is asked later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from sitemapcrawler.feeds.arrow import Columns, pa
from sitemapcrawler.fleet.records import DOMAIN, FAILED, DomainRecord
from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.jobs.store.columns import literal, quoted
from sitemapcrawler.jobs.store.confining import ALONE, confine
from sitemapcrawler.jobs.store.errors import in_words
from sitemapcrawler.reader.dates import iso

AT_ONCE = 500
"""Files that are read together: each of them is small, and holds one domain."""
PARTITION = "bucket="
SUFFIX = ".parquet"

Source = tuple[Any | None, str]
"""Where a data set is: a file system of fsspec, None for that of this machine, and the path of the folder in it."""


def batches(source: Source, table: str, folder: Path) -> Iterator[list[str]]:
    """Paths of the Parquet files of a table, up to `AT_ONCE` at a time, in order of their names. Files that were copied
    lie in `folder` until the next ones are asked for. OSError where the data set cannot be read."""
    system, root = source
    for bucket in _held(system, f"{root}/{table}"):
        if not _name(bucket).startswith(PARTITION):
            continue
        files = [path for path in _held(system, bucket) if _is_data(_name(path))]
        for start in range(0, len(files), AT_ONCE):
            paths = files[start : start + AT_ONCE]
            yield paths if system is None else _copied(system, paths, folder)


def _held(system: Any | None, folder: str) -> list[str]:
    """What lies in a folder; nothing where there is none."""
    try:
        if system is None:
            return sorted(map(str, Path(folder).iterdir()))
        system.invalidate_cache()  # it knows nothing of what others wrote, and would keep all names
        return sorted(_asked(system.ls, folder, detail=False))
    except FileNotFoundError:
        return []


def _copied(system: Any, paths: list[str], folder: Path) -> list[str]:
    """Copy files, in requests that run at the same time; those before are gone."""
    here = [str(folder / f"{at}{SUFFIX}") for at in range(len(paths))]
    _asked(system.get, paths, here)
    return here


def _asked(ask: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a file system answers; OSError for whatever its libraries raise."""
    try:
        return ask(*arguments, **options)
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_data(name: str) -> bool:
    """False for what a writer that was killed left behind."""
    return name.endswith(SUFFIX) and not name.startswith((".", "_"))


CONFIG: dict[str, Any] = ALONE | {
    "memory_limit": "512MB",  # enough to sort a million domains
    "threads": 2,
    "preserve_insertion_order": False,
}
MAX_REASON = 300
"""Characters kept of what went wrong with a file."""
ROWS = 50_000
"""Rows of a row group."""
INDEX = "xml-index"
"""Format of files that list no pages."""
FILES = f"""
    SELECT
        domain, format, count(*) AS files, count(*) FILTER (outcome IN {UNREAD}) AS unread,
        sum(url_count) FILTER (format <> '{INDEX}')::BIGINT AS urls, sum(bytes_fetched)::BIGINT AS fetched,
        max(lastmod_max) AS newest, max(lastmod_max) FILTER (lastmod_max <= $now) AS past,
        min(left(error, {MAX_REASON})) FILTER (outcome IN {UNREAD}) AS error
    FROM {{source}} GROUP BY domain, format"""
"""SQL for the rows of `files`. Parameters: the time now, ISO 8601 in UTC, and those of the source."""
RESULTS = f"CREATE VIEW results AS SELECT * FROM domains WHERE state <> '{FAILED}'"
"""Only these have rows in the other tables that count."""


@contextmanager
def loaded(source: Source, failed: Sequence[DomainRecord], folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of the tables `domains` and `files`, and the view `results`, for as long as it is needed. It lies in
    `folder`. OSError where the data set cannot be read or the folder not be written, now or while it is asked."""
    with TemporaryDirectory(prefix=".overview.", dir=folder) as scratch:
        copies = Path(scratch, "copies")
        copies.mkdir()
        try:
            with duckdb.connect(Path(scratch, "overview.duckdb"), config=CONFIG) as connection:
                confine(connection, [folder] if source[0] is not None else [folder, Path(source[1])])
                _load_domains(connection, source, failed, copies)
                _load_files(connection, source, copies)
                connection.execute(RESULTS)
                yield connection
        except duckdb.Error as error:
            raise OSError(in_words(error)) from error


def write_domains(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write all domains to a Parquet file, by name, with the columns that their table in the data set has: DuckDB
    sorts, and pyarrow adds what the columns say of themselves."""
    schema = Columns(DomainRecord).schema
    parquet = import_module("pyarrow.parquet")
    sorted_ones = path.with_name(f".{path.name}.sorted")
    try:
        query = f"SELECT {_names(schema)} FROM domains ORDER BY domain"
        connection.execute(f"COPY ({query}) TO {literal(str(sorted_ones))} (FORMAT parquet, ROW_GROUP_SIZE {ROWS})")
        with parquet.ParquetFile(sorted_ones) as rows, parquet.ParquetWriter(path, schema, compression="zstd") as file:
            for batch in rows.iter_batches(ROWS):
                file.write_table(pa.Table.from_batches([batch]).cast(schema))
    finally:
        sorted_ones.unlink(missing_ok=True)


def _load_domains(
    connection: duckdb.DuckDBPyConnection, source: Source, failed: Sequence[DomainRecord], copies: Path
) -> None:
    """A domain that has a result did not fail."""
    table = Columns(DomainRecord).table(failed)
    connection.register("failed", table)
    connection.execute("CREATE TABLE domains AS FROM failed LIMIT 0")
    for paths in batches(source, DOMAIN, copies):
        connection.execute(f"INSERT INTO domains SELECT {_names(table.schema)} FROM {_reading()}", {"paths": paths})
    connection.execute("INSERT INTO domains FROM failed ANTI JOIN domains USING (domain)")
    connection.unregister("failed")


def _load_files(connection: duckdb.DuckDBPyConnection, source: Source, copies: Path) -> None:
    now = {"now": iso(datetime.now(UTC))}
    connection.register("none", Columns(SitemapRecord, constants={DOMAIN: ""}).schema.empty_table())
    connection.execute(f"CREATE TABLE files AS {FILES.format(source='none')} LIMIT 0", now)
    connection.unregister("none")
    for paths in batches(source, "sitemap", copies):
        connection.execute(f"INSERT INTO files {FILES.format(source=_reading())}", now | {"paths": paths})


def _reading() -> str:
    """The SQL of a table function that reads Parquet files, those of the parameter `paths`."""
    return "read_parquet($paths, hive_partitioning = false)"


def _names(schema: Any) -> str:
    return ", ".join(map(quoted, schema.names))
