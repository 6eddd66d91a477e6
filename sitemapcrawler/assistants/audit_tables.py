"""Records of finished audits as tables, and SQL on them that can read nothing else.

Source: https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import TYPE_CHECKING

from sitemapcrawler.feeds.folder import FEEDS, FORMATS, SUMMARY
from sitemapcrawler.jobs.store.queries import reading
from sitemapcrawler.jobs.store.schema import columns
from sitemapcrawler.reader.duck import ALONE, Config, duckdb
from sitemapcrawler.reader.rows import MAX_LINE
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.urls.display import first_line

if TYPE_CHECKING:
    import duckdb as _duckdb

SECONDS = 20.0
"""Seconds of a query at most."""
MAX_ROWS = 1_000
"""Rows of a result at most."""
LOCKED: Config = {"enable_external_access": False, "memory_limit": "512MB", "threads": 2, "temp_directory": ""}
"""Settings of a connection for SQL from elsewhere: no file, extension or other database, and bounded memory."""
COMPARED = f"""
    WITH one AS (SELECT DISTINCT ON (loc) loc, indexability, segment FROM before.urls WHERE {CURRENT}),
         two AS (SELECT DISTINCT ON (loc) loc, indexability, segment FROM now.urls WHERE {CURRENT})
    SELECT CASE WHEN one.loc IS NULL THEN 'added' WHEN two.loc IS NULL THEN 'removed' ELSE 'indexability' END AS change,
           coalesce(two.loc, one.loc) AS loc, one.indexability AS before, two.indexability AS now,
           CASE WHEN two.loc IS NULL THEN one.segment ELSE two.segment END AS segment
    FROM one FULL JOIN two USING (loc)
    WHERE one.loc IS NULL OR two.loc IS NULL OR one.indexability IS DISTINCT FROM two.indexability"""
"""SQL: URLs that only one of two audits lists, or of which the indexability differs, with their segment."""
COUNTS = "SELECT segment, change, count(*) FROM compared GROUP BY ALL ORDER BY segment, change"


class QueryFailed(ValueError):
    """SQL that cannot be run, or takes too long. The message is one line."""


class Tables:
    """Databases with the records of audits, made with the first question, in a temporary folder."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="sitemapcrawler-assistants-")
        self._made: dict[tuple[Path, int], Path] = {}

    def close(self) -> None:
        self._folder.cleanup()

    def query(
        self, audit: Path, sql: str, parameters: Sequence[object] = (), most: int = MAX_ROWS, offset: int = 0
    ) -> tuple[list[str], list[tuple[object, ...]]]:
        """Run one SELECT on the tables of an audit's folder, each named as its feed. Returns the names of the columns
        and up to `most` rows and one more, from row `offset` on. Raises QueryFailed."""
        with self._connected(self._database(audit)) as connection, _limited(connection):
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise QueryFailed("accepted: one SELECT")
            found = connection.execute(sql, parameters)
            while offset > 0 and (skipped := len(found.fetchmany(min(offset, MAX_ROWS)))):
                offset -= skipped
            return [column[0] for column in found.description or ()], found.fetchmany(most + 1)

    def segments(self, audit: Path) -> list[str]:
        """Names of the segments that URLs of an audit belong to. Raises QueryFailed."""
        sql = "SELECT DISTINCT segment FROM urls WHERE segment IS NOT NULL ORDER BY segment"
        return [str(name) for (name,) in self.query(audit, sql)[1]]

    def compare(self, now: Path, before: Path) -> tuple[dict[str | None, Counter[str]], list[tuple[object, ...]]]:
        """Count changes between two audits by segment (None without one) and kind, and return up to `MAX_ROWS` rows of
        (change, loc, before, now, segment)."""
        with self._connected(":memory:", locked=False) as connection, _limited(connection):
            for name, folder in (("now", now), ("before", before)):
                connection.execute(f"ATTACH '{self._database(folder)}' AS {name} (READ_ONLY)")
            connection.execute(f"CREATE TEMP TABLE compared AS {COMPARED}")
            counts: dict[str | None, Counter[str]] = defaultdict(Counter)
            for segment, change, number in connection.execute(COUNTS).fetchall():
                counts[segment][change] = number
            rows = connection.execute(f"FROM compared ORDER BY change DESC, loc LIMIT {MAX_ROWS}").fetchall()
            return counts, rows

    def _database(self, audit: Path) -> Path:
        """The database of an audit, made from its feeds with the first question."""
        key = audit, (audit / SUMMARY).stat().st_mtime_ns
        if key not in self._made:
            path = Path(self._folder.name) / f"{len(self._made)}.duckdb"
            with self._connected(path, locked=False) as connection:
                for feed, kind in FEEDS.items():
                    for format in FORMATS:
                        if (file := audit / f"{feed}.{format}").is_file():
                            source = "read_parquet(?)" if format == "parquet" else reading(columns(kind), MAX_LINE)
                            connection.execute(f"CREATE OR REPLACE TABLE {feed} AS FROM {source}", [str(file)])
            self._made[key] = path
        return self._made[key]

    @staticmethod
    @contextmanager
    def _connected(place: Path | str, locked: bool = True) -> Iterator[_duckdb.DuckDBPyConnection]:
        connection = duckdb.connect(place, read_only=locked, config=ALONE | (LOCKED if locked else {}))
        try:
            if locked:
                connection.execute("SET lock_configuration = true")
            yield connection
        finally:
            connection.close()


@contextmanager
def _limited(connection: _duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt what takes longer than `SECONDS`, and raise errors of DuckDB as QueryFailed."""
    timer = Timer(SECONDS, connection.interrupt)
    timer.start()
    try:
        yield
    except duckdb.InterruptException:
        raise QueryFailed(f"took longer than {SECONDS:.0f} s") from None
    except duckdb.Error as error:
        raise QueryFailed(first_line(error)) from None
    finally:
        timer.cancel()
