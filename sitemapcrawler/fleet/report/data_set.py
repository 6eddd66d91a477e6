"""Loads a data set into DuckDB for the summary: one row per domain, and one per domain and file format.

Reads each file once. The database is on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ParamSpec, TypeVar

import duckdb
import pyarrow as pa

from sitemapcrawler.feeds.arrow import Columns, writer
from sitemapcrawler.fleet.domains import DOMAIN, FAILED, DomainRecord, FileSystem
from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.jobs.store.files import confine, in_words
from sitemapcrawler.jobs.store.schema import iso, literal, quoted
from sitemapcrawler.reader.duck import ALONE, Config
from sitemapcrawler.reader.formats import format_names

AT_ONCE = 500
"""Files read at once. Files are small; each holds one domain."""
PARTITION = "bucket="
SUFFIX = ".parquet"

P = ParamSpec("P")
T = TypeVar("T")
Source = tuple[FileSystem | None, str]
"""fsspec file system of a data set, None for the local one, and the path within it."""


def batches(source: Source, table: str, folder: Path) -> Iterator[list[str]]:
    """Yield the paths of a table's Parquet files, `AT_ONCE` at a time, sorted by name. Remote files are copied to
    `folder` and stay until the next batch. Raises OSError if the data set cannot be read."""
    system, root = source
    for bucket in _entries(system, f"{root}/{table}"):
        if not _name(bucket).startswith(PARTITION):
            continue
        files = [path for path in _entries(system, bucket) if _is_data(_name(path))]
        for start in range(0, len(files), AT_ONCE):
            paths = files[start : start + AT_ONCE]
            yield paths if system is None else _copied(system, paths, folder)


def _entries(system: FileSystem | None, folder: str) -> list[str]:
    """Sorted paths in a folder; empty if it does not exist."""
    try:
        if system is None:
            return sorted(map(str, Path(folder).iterdir()))
        system.invalidate_cache()  # other processes write there too
        return sorted(_call(system.ls, folder, detail=False))
    except FileNotFoundError:
        return []


def _copied(system: FileSystem, paths: list[str], folder: Path) -> list[str]:
    """Copy files in one call, replacing those of the previous batch."""
    here = [str(folder / f"{at}{SUFFIX}") for at in range(len(paths))]
    _call(system.get, paths, here)
    return here


def _call(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a file system's method. Raises errors of its libraries as OSError."""
    try:
        return function(*arguments, **options)
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_data(name: str) -> bool:
    """False for unfinished files of killed writers."""
    return name.endswith(SUFFIX) and not name.startswith((".", "_"))


CONFIG: Config = ALONE | {
    "memory_limit": "512MB",  # enough to sort a million domains
    "threads": 2,
    "preserve_insertion_order": False,
}
MAX_REASON = 300
"""Maximum length of a file's error in characters."""
ROWS = 50_000
"""Rows per row group."""
PARQUET = "read_parquet($paths, hive_partitioning = false)"
"""SQL to read the Parquet files of the parameter `paths`."""
FILES = f"""
    SELECT
        domain, format, count(*) AS files, count(*) FILTER (outcome IN {UNREAD}) AS unread,
        sum(url_count) FILTER (format NOT IN $indexes)::BIGINT AS urls, sum(bytes_fetched)::BIGINT AS fetched,
        max(lastmod_max) AS newest, max(lastmod_max) FILTER (lastmod_max <= $now) AS past,
        min(left(error, {MAX_REASON})) FILTER (outcome IN {UNREAD}) AS error
    FROM {{source}} GROUP BY domain, format"""
"""SQL for the rows of `files`. Parameters: `now`, `indexes` (formats that list no pages) and
those of the source."""
RESULTS = f"CREATE VIEW results AS SELECT * FROM domains WHERE state <> '{FAILED}'"
"""SQL view of domains with a result. Rows of other domains in other tables are ignored."""


@contextmanager
def loaded(source: Source, failed: Sequence[DomainRecord], folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Temporary database in `folder`, with the tables `domains` and `files` and the view `results`.

    Raises OSError, also during queries, if the data set cannot be read or the folder cannot be written.
    """
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
    """Write all domains to a Parquet file, sorted by name. DuckDB sorts; pyarrow adds the descriptions of columns, and
    the start of the first crawl as metadata of the file."""
    schema = Columns(DomainRecord).schema
    [(first,)] = connection.execute(f"SELECT {iso('min(started)')} FROM domains").fetchall()
    facts = {} if first is None else {"started": first}
    sorted_ones = path.with_name(f".{path.name}.sorted")
    try:
        query = f"SELECT {_names(schema)} FROM domains ORDER BY domain"
        connection.execute(f"COPY ({query}) TO {literal(str(sorted_ones))} (FORMAT parquet, ROW_GROUP_SIZE {ROWS})")
        with (
            import_module("pyarrow.parquet").ParquetFile(sorted_ones) as rows,
            writer(path, schema, facts, compression="zstd") as file,
        ):
            for batch in rows.iter_batches(ROWS):
                file.write_table(pa.Table.from_batches([batch]).cast(schema))
    finally:
        sorted_ones.unlink(missing_ok=True)


def _load_domains(
    connection: duckdb.DuckDBPyConnection, source: Source, failed: Sequence[DomainRecord], copies: Path
) -> None:
    """Load the rows of all domains, and of failed ones without a row."""
    table = Columns(DomainRecord).table(failed)
    connection.register("failed", table)
    connection.execute("CREATE TABLE domains AS FROM failed LIMIT 0")
    for paths in batches(source, DOMAIN, copies):
        connection.execute(f"INSERT INTO domains SELECT {_names(table.schema)} FROM {PARQUET}", {"paths": paths})
    connection.execute("INSERT INTO domains FROM failed ANTI JOIN domains USING (domain)")
    connection.unregister("failed")


def _load_files(connection: duckdb.DuckDBPyConnection, source: Source, copies: Path) -> None:
    now = {"now": datetime.now(UTC), "indexes": format_names(lambda format: format.is_index)}
    connection.register("none", Columns(SitemapRecord, constants={DOMAIN: ""}).schema.empty_table())
    connection.execute(f"CREATE TABLE files AS {FILES.format(source='none')} LIMIT 0", now)
    connection.unregister("none")
    for paths in batches(source, "sitemap", copies):
        connection.execute(f"INSERT INTO files {FILES.format(source=PARQUET)}", now | {"paths": paths})


def _names(schema: pa.Schema) -> str:
    return ", ".join(map(quoted, schema.names))
