"""docs/fleet.md says what the data set holds, and its queries run over one; what other programs read of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from sitemapcrawler.feeds.arrow import Columns
from sitemapcrawler.fleet.domains import BUCKETS, DOMAIN, TABLES, DomainRecord
from sitemapcrawler.fleet.output import output_at
from sitemapcrawler.fleet.summary_page import write_overview
from sitemapcrawler.items import FindingRecord, Lastmods, ReplyRecord, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from tests.unit.fleet.datasets import write_domain, write_tables

PAGE = (Path(__file__).parents[3] / "docs" / "fleet.md").read_text("utf-8")
SCHEMAS = {table: Columns(kind, constants={DOMAIN: ""}).schema for table, kind in TABLES.items()} | {
    DOMAIN: Columns(DomainRecord).schema
}
TRINO = {
    pa.string(): "varchar",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.timestamp("us", "UTC"): "timestamp",
}
TWICE = "https://twice.example/"


def part(title: str) -> str:
    """What stands below a title, up to the next one."""
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def fenced(title: str, language: str = "sql") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", part(title), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data set `out`: two domains, one without any row, one that was begun."""
    root = tmp_path_factory.mktemp("fleet")
    out = root / "out"
    url = UrlRecord(
        loc=TWICE,
        sitemap="https://a.example/s.xml",
        images=[Image(loc="https://a.example/i.png")],
        videos=[Video(player_loc={"value": "https://a.example/v", "autoplay": "1"}, price=[{"value": "1"}])],
        news=News(title="News", publication={"name": "a", "language": "en"}),
        alternates=[Alternate("de", "https://a.example/de")],
        blocked_for=["GPTBot"],
        reply=ReplyRecord("ok", status=200),
    )
    counts = {"rules": {"loc-http": 2}, "agents": {"GPTBot": 2}}
    tables: dict[str, Any] = {
        "url": [url, UrlRecord(loc="https://a.example/2")],
        "sitemap": [SitemapRecord(lastmod_max="2019-01-01T00:00:00Z", lastmod=Lastmods(1.0, 0), replies={"ok": 1})],
        "finding": [FindingRecord("loc-http", "warning")],
        "robots": [RobotsRecord("https://a.example/robots.txt", agents={"GPTBot": 2})],
    }
    write_domain(out, DomainRecord("a.example", urls=2, **counts), **tables)
    write_domain(out, DomainRecord("b.example", urls=1, rules={"loc-http": 1}), url=[UrlRecord(loc=TWICE)])
    write_domain(out, DomainRecord("none.example"))
    write_tables(out, "begun.example", **tables)
    write_overview(output_at(str(out)), [], out)
    for record in (DomainRecord("b.example", urls=3), DomainRecord("gone.example"), DomainRecord("none.example")):
        write_domain(root / "yesterday", record)
    write_overview(output_at(str(root / "yesterday")), [], root / "yesterday")
    return root


@pytest.fixture
def database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[duckdb.DuckDBPyConnection]:
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        connection.execute(fenced("DuckDB")[0])
        yield connection


def test_views_hold_what_counts(database: duckdb.DuckDBPyConnection) -> None:
    counts = {
        name: database.sql(f"SELECT count(*), min(bucket), max(bucket) FROM {name}").fetchall() for name in SCHEMAS
    }
    assert {name: found[0][0] for name, found in counts.items()} == {
        **{"domain": 3, "url": 3, "sitemap": 1, "finding": 1, "robots": 1}
    }
    assert all(0 <= low <= high < BUCKETS for [(_, low, high)] in counts.values())


ANSWERS: list[list[Any]] = [
    [("a.example", 2)],
    [
        ("a.example", None, "finished", None, None, None),
        ("b.example", "finished", "finished", -2, None, None),
        ("gone.example", "finished", None, None, None, None),
    ],
    [(TWICE, ["a.example", "b.example"])],
    [("a.example", "200", 1)],
]


@pytest.mark.parametrize(("query", "answers"), list(zip(fenced("DuckDB")[1:], ANSWERS, strict=True)))
def test_queries_of_the_page(query: str, answers: list[Any], database: duckdb.DuckDBPyConnection) -> None:
    assert database.sql(query).fetchall() == answers


def test_copy_with_one_file_in_each_partition(database: duckdb.DuckDBPyConnection, folder: Path) -> None:
    [program] = fenced("Small files", "python")
    exec(program, {})
    for table in SCHEMAS:
        buckets = list((folder / "compact" / table).iterdir())
        assert [len(list(bucket.iterdir())) for bucket in buckets] == [1] * len(buckets)
        copied = f"SELECT * FROM read_parquet('compact/{table}/*/*.parquet', hive_partitioning = true)"
        assert database.sql(f"SELECT count(*) FROM ({copied} EXCEPT ALL FROM {table})").fetchall() == [(0,)]
        assert database.sql(f"SELECT count(*) FROM (FROM {table} EXCEPT ALL {copied})").fetchall() == [(0,)]


def test_every_column_of_domain_is_described() -> None:
    told = re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", part("Columns of domain"), re.MULTILINE)
    kinds = {
        pa.string(): "text",
        pa.timestamp("us", "UTC"): "time",
        pa.map_(pa.string(), pa.int64()): "map to numbers",
        pa.map_(pa.string(), pa.string()): "map to text",
    }
    kinds |= {
        field.type: "map to structs"
        for field in SCHEMAS[DOMAIN]
        if pa.types.is_map(field.type) and pa.types.is_struct(field.type.item_type)
    }
    assert told == [(field.name, kinds.get(field.type, "number")) for field in SCHEMAS[DOMAIN]]
    assert [name for name, _ in told] == [field.name for field in fields(DomainRecord)]


def test_columns_for_trino_are_those_of_the_files() -> None:
    [statements] = fenced("Trino")
    made = re.findall(r"CREATE TABLE hive\.fleet\.(\w+) \((.*?)\n\)", statements, re.DOTALL)
    assert [table for table, _ in made] == ["domain", "url"]
    for table, columns in made:
        *own, bucket = re.findall(r"^    (\w+) (.+?),?$", columns, re.MULTILINE)
        assert bucket == ("bucket", "integer")
        assert own == [(name, trino(SCHEMAS[table].field(name).type)) for name, _ in own]


def trino(kind: Any) -> str:
    """An Arrow type as Trino names it."""
    if pa.types.is_map(kind):
        return f"map({trino(kind.key_type)}, {trino(kind.item_type)})"
    if pa.types.is_list(kind):
        return f"array({trino(kind.value_type)})"
    if pa.types.is_struct(kind):
        return f"row({', '.join(f'{field.name} {trino(field.type)}' for field in kind)})"
    return TRINO[kind]


@pytest.mark.parametrize("table", SCHEMAS)
def test_types_are_those_that_every_reader_has(table: str) -> None:
    """Spark and Hive have no unsigned numbers, no columns without a type, no objects without fields, and do not tell
    capitals in names apart."""

    def check(kind: Any) -> None:
        if pa.types.is_map(kind):
            assert kind.key_type == pa.string() and not kind.key_field.nullable
            check(kind.item_type)
        elif pa.types.is_list(kind):
            check(kind.value_type)
        elif pa.types.is_struct(kind):
            names = [field.name for field in kind]
            assert names and len({name.lower() for name in names}) == len(names)
            for field in kind:
                check(field.type)
        else:
            assert kind in TRINO

    schema = SCHEMAS[table]
    assert schema.names[0] == DOMAIN and "bucket" not in schema.names
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in schema.names)
    for column in schema:
        check(column.type)


def test_lists_and_maps_are_stored_as_the_format_wants_it(folder: Path) -> None:
    """Source: https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#nested-types"""
    for path in (folder / "out").rglob("*/*.parquet"):
        schema = pq.read_schema(path)
        paths = [pq.ParquetFile(path).schema.column(at).path for at in range(len(pq.ParquetFile(path).schema))]
        for column in schema:
            if pa.types.is_list(column.type):
                assert any(name.startswith(f"{column.name}.list.element") for name in paths)
            if pa.types.is_map(column.type):
                assert f"{column.name}.key_value.key" in paths


@pytest.mark.parametrize("table", SCHEMAS)
def test_polars_and_pyarrow_read_the_partitions(table: str, folder: Path) -> None:
    root = folder / "out" / table
    read = ds.dataset(root, partitioning="hive").to_table()
    assert pa.types.is_integer(read.schema.field("bucket").type)
    frame = polars.scan_parquet(root / "*/*.parquet", hive_partitioning=True).collect()
    assert frame.schema["bucket"].is_integer()
    assert sorted(frame[DOMAIN]) == sorted(read[DOMAIN].to_pylist())
    assert set(frame.columns) == {*SCHEMAS[table].names, "bucket"}
