"""The Parquet feed: what DuckDB, polars and pandas read in it."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, get_args, get_type_hints

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds import arrow, exporters
from sitemapcrawler.feeds.exporters import ParquetExporter
from sitemapcrawler.feeds.storages import AtomicFileStorage
from sitemapcrawler.items import (
    Counts,
    FindingRecord,
    Hop,
    Lastmods,
    Record,
    RobotsRecord,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
    UtcTime,
)
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.reader.notes import Note, Notes
from tests.unit.feeds import exporting

SITEMAP = "https://e.com/sitemap.xml"
SCHEMA = json.loads((Path(__file__).parents[3] / "docs/records.schema.json").read_text("utf-8"))["$defs"]
"""Of each type of record, as `tests/unit/test_records_schema.py` has it made: that takes a second for each."""
TREE = {"name": "a", "attributes": {"b": "c"}, "children": [{"name": "d", "value": "é"}, "text"]}
RICH = UrlRecord(
    loc="https://e.com/1", loc_raw="/1", sitemap=SITEMAP, line=3, lastmod="2024", lastmod_at="2024-01-01T00:00:00Z",
    changefreq="daily", priority=0.5,
    images=[Image(loc="https://e.com/1.png", title="=1+1"), Image(loc="https://e.com/2.png", extra=[TREE])],
    videos=[
        Video(title="plain", player_loc="https://e.com/player"),
        Video(
            player_loc={"value": "https://e.com/player", "autoplay": "ap=1"}, tag=["x", "y"],
            restriction={"value": "DE FR", "relationship": "deny"},
            price=[{"value": "1", "currency": "EUR"}, {"value": "2", "currency": "USD"}],
        ),
    ],
    news=News(publication={"name": "The Lamp", "language": "en"}, title="News"),
    alternates=[Alternate("de", "https://e.com/de", attributes={"media": "print"})], extra={"urn:x": [TREE]}, recovered=True,
)  # fmt: skip
PLAIN = UrlRecord(loc="https://e.com/2", sitemap=SITEMAP, line=4)
RECORDS = [RICH, PLAIN]
TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=5)
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=[]), max_size=5)
MAPS = st.dictionaries(TEXT, TEXT, max_size=2)
IMAGES = st.builds(Image, loc=st.none() | TEXT, title=st.none() | TEXT, extra=st.just([]) | st.just([TREE]))
VIDEOS = st.builds(
    Video, player_loc=st.none() | TEXT | MAPS, restriction=st.none() | MAPS, tag=st.lists(TEXT), price=st.lists(MAPS)
)
URLS = st.builds(
    UrlRecord,
    loc=TEXT,
    line=st.none() | st.integers(min_value=1, max_value=2**63 - 1),
    lastmod_at=st.none() | st.datetimes(timezones=st.just(UTC)).map(iso),
    priority=st.none() | st.floats(allow_nan=False),
    images=st.lists(IMAGES, max_size=3),
    videos=st.lists(VIDEOS, max_size=3),
    news=st.none() | st.builds(News, publication=st.none() | MAPS, title=st.none() | TEXT),
    alternates=st.lists(st.builds(Alternate, TEXT, TEXT, attributes=MAPS), max_size=3),
    recovered=st.booleans(),
)


def export(*items: Any, file: io.BytesIO | None = None, **options: Any) -> io.BytesIO:
    file = file or io.BytesIO()
    exporting.write(ParquetExporter, file, items, **options)
    return file


def rows(*items: Any, **options: Any) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = pq.read_table(export(*items, **options)).to_pylist(maps_as_pydicts="strict")
    return read


def row_groups(file: io.BytesIO) -> list[int]:
    metadata = pq.ParquetFile(file).metadata
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def expected(value: Any) -> Any:
    """What Arrow gives back for a value of a record."""
    if isinstance(value, (list, tuple)):
        return [expected(part) for part in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    times = [name for name, hint in get_type_hints(type(value), include_extras=True).items() if "datetime" in str(hint)]
    row = {each.name: expected(getattr(value, each.name)) for each in fields(value)}
    row |= {name: datetime.fromisoformat(row[name]) if row[name] else None for name in times}
    if isinstance(row.get("player_loc"), str):
        row["player_loc"] = {"value": row["player_loc"]}
    if "extra" in row and not isinstance(value, Counts):
        row["extra"] = json.dumps(row["extra"], separators=(",", ":"), ensure_ascii=False) if row["extra"] else None
    return row


def as_dict(value: Any) -> Any:
    """A map as polars gives it: since version 2 a dict, a list of pairs before."""
    return value if isinstance(value, dict) else {pair["key"]: pair["value"] for pair in value}


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("feed") / "urls.parquet"
    path.write_bytes(export(NotedBatch(SITEMAP, RECORDS), SummaryRecord()).getvalue())
    return path


class TestOtherRecords:
    FINDINGS = (FindingRecord("loc-relative", "error", "it is", SITEMAP, 3), FindingRecord("robots-missing", "info"))
    ALIKE = (FindingRecord, SitemapRecord, RobotsRecord, SummaryRecord)

    @pytest.mark.parametrize("kind", ALIKE)
    def test_table_has_the_fields_of_the_record_that_is_named(self, kind: type) -> None:
        filled = SitemapRecord(SITEMAP, hops=[Hop(301, SITEMAP)], replies={"ok": 3}, lastmod=Lastmods(0.5, 3))
        records = [filled, RobotsRecord(agents={"GPTBot": 7}, sitemaps=[SITEMAP]), SummaryRecord(rules={"a": 2}), PLAIN]
        items = [*records, *self.FINDINGS, NotedBatch(SITEMAP, RECORDS)]
        table = pq.read_table(export(*items, item_classes=[kind]))
        assert table.column_names == [each.name for each in fields(kind)]  # type: ignore[arg-type]  # a record
        alike = [item for item in items if isinstance(item, kind)]
        assert table.to_pylist(maps_as_pydicts="strict") == [expected(item) for item in alike]

    def test_findings_of_a_batch_are_rows(self) -> None:
        found = UrlRecord("https://e.com/3")
        batch = NotedBatch(SITEMAP, [PLAIN, found], Notes.table([Note(found, findings=list(self.FINDINGS))]))
        name = "sitemapcrawler.items.FindingRecord"
        assert [row["rule"] for row in rows(batch, item_classes=[name])] == ["loc-relative", "robots-missing"]
        assert rows(NotedBatch(SITEMAP, [found]), item_classes=[name]) == []

    def test_of_several_types_url_records_are_written(self) -> None:
        assert [row["loc"] for row in rows(RICH, *self.FINDINGS, item_classes=[UrlRecord, FindingRecord])] == [RICH.loc]

    def test_one_table_cannot_hold_several_types(self) -> None:
        with pytest.raises(ValueError, match="name one of the item_classes"):
            exporters.ParquetExporter.check_options({"item_classes": [SitemapRecord, FindingRecord]})
        exporters.ParquetExporter.check_options({"item_classes": ["sitemapcrawler.items.RobotsRecord"]})


class TestReaders:
    QUERIES: ClassVar[dict[str, list[tuple[Any, ...]]]] = {
        "SELECT loc, loc_raw, line, priority, news IS NULL, len(images), recovered FROM read_parquet(?)": [
            ("https://e.com/1", "/1", 3, 0.5, False, 2, True), ("https://e.com/2", None, 4, None, True, 0, False),
        ],
        "SELECT loc, image.loc, image.title FROM (SELECT loc, unnest(images) AS image FROM read_parquet(?))": [
            ("https://e.com/1", "https://e.com/1.png", "=1+1"), ("https://e.com/1", "https://e.com/2.png", None),
        ],
        """SELECT video.player_loc['value'], video.player_loc['autoplay'], video.restriction['relationship'],
            video.tag, [price['currency'] FOR price IN video.price], news.publication['name']
            FROM (SELECT news, unnest(videos) AS video FROM read_parquet(?))""": [
            ("https://e.com/player", None, None, [], [], "The Lamp"),
            ("https://e.com/player", "ap=1", "deny", ["x", "y"], ["EUR", "USD"], "The Lamp"),
        ],
    }  # fmt: skip

    @pytest.mark.parametrize(("query", "found"), QUERIES.items(), ids=["scalars and nulls", "objects", "maps"])
    def test_duckdb_reads_every_column(self, feed: Path, query: str, found: list[tuple[Any, ...]]) -> None:
        assert duckdb.execute(query, [str(feed)]).fetchall() == found

    def test_duckdb_reads_trees_as_json_text(self, feed: Path) -> None:
        texts = duckdb.execute("SELECT extra FROM read_parquet(?)", [str(feed)]).fetchall()
        assert [text and json.loads(text) for (text,) in texts] == [{"urn:x": [TREE]}, None]

    def test_polars_reads_every_column(self, feed: Path) -> None:
        table = polars.read_parquet(feed)
        assert table.columns == [each.name for each in fields(UrlRecord)]
        assert table["loc"].to_list() == ["https://e.com/1", "https://e.com/2"]
        assert table["priority"].to_list() == [0.5, None]
        assert table["news"].struct.field("title").to_list() == ["News", None]
        images = table["images"].explode().struct.field("loc").drop_nulls()
        assert images.to_list() == ["https://e.com/1.png", "https://e.com/2.png"]
        (video, restricted), no_video = table["videos"].to_list()
        assert (video["restriction"], no_video) == (None, [])
        assert as_dict(restricted["restriction"]) == {"value": "DE FR", "relationship": "deny"}

    def test_pandas_reads_every_column(self, feed: Path) -> None:
        table = pandas.read_parquet(feed)
        assert list(table.columns) == [each.name for each in fields(UrlRecord)]
        assert table["line"].tolist() == [3, 4]
        assert table["recovered"].tolist() == [True, False]
        assert pandas.isna(table["priority"][1])
        assert [image["loc"] for image in table["images"][0]] == ["https://e.com/1.png", "https://e.com/2.png"]
        assert table["videos"][0][1]["price"][1] == [("value", "2"), ("currency", "USD")]
        assert table["news"][0]["publication"] == [("name", "The Lamp"), ("language", "en")]
        assert (len(table["images"][1]), table["news"][1]) == (0, None)

    @settings(max_examples=30)
    @given(st.lists(URLS, max_size=5))
    def test_any_record_comes_back(self, urls: list[UrlRecord]) -> None:
        assert rows(NotedBatch(SITEMAP, urls)) == expected(urls)


class TestColumns:
    def test_every_field_is_a_column_in_order(self) -> None:
        schema = pq.read_schema(export())
        assert schema.names == [each.name for each in fields(UrlRecord)]
        assert [str(schema.field(name).type) for name in ("loc", "line", "priority", "recovered", "extra")] == [
            "string", "int64", "double", "bool", "string",
        ]  # fmt: skip
        image = schema.field("images").type.value_type
        assert [(image[number].name, image[number].type) for number in (0, 5)] == [
            ("loc", pa.string()),
            ("extra", pa.string()),
        ]
        video = schema.field("videos").type.value_type
        assert video.field("player_loc").type == video.field("restriction").type == pa.map_(pa.string(), pa.string())
        assert video.field("tag").type == pa.list_(pa.string())
        assert video.field("price").type.value_type == pa.map_(pa.string(), pa.string())

    def test_columns_carry_what_is_written_under_their_fields(self) -> None:
        schema = pq.read_schema(export())
        assert schema.field("line").metadata[b"description"].startswith(b"Line of the file on which")
        assert b"\n" not in schema.field("lastmod_at").metadata[b"description"]
        image = schema.field("images").type.value_type
        assert image.field("loc").metadata[b"description"] == b"URL of the image."

    def test_fields_are_chosen_and_renamed(self) -> None:
        assert rows(RICH, fields_to_export=["line", "colour", "loc"]) == [
            {"line": 3, "colour": None, "loc": "https://e.com/1"}
        ]
        file = export(RICH, fields_to_export={"loc": "URL", "colour": "Farbe"})
        assert pq.read_table(file).to_pylist() == [{"URL": "https://e.com/1", "Farbe": None}]
        assert b"Absolute URL" in pq.read_schema(file).field("URL").metadata[b"description"]

    def test_no_chosen_fields_are_all(self) -> None:
        assert list(rows(PLAIN, fields_to_export=[])[0]) == [each.name for each in fields(UrlRecord)]

    @pytest.mark.parametrize(
        ("hint", "kind"),
        [
            (str | None, pa.string()),
            (UtcTime, pa.timestamp("us", "UTC")),
            (UtcTime | None, pa.timestamp("us", "UTC")),
            (Sequence[str], pa.list_(pa.string())),
            (list[str] | None, pa.list_(pa.string())),
            (dict[str, list[int]], pa.map_(pa.string(), pa.list_(pa.int64()))),
        ],
    )
    def test_hints_with_a_form_are_nested(self, hint: Any, kind: Any) -> None:
        assert arrow.column_of(hint).type == kind

    @pytest.mark.parametrize(
        "hint", [Any, dict, list, list[Any], int | str, dict[int, str], list[dict[str, Any]], set[str], str | list[str]]
    )
    def test_hints_without_a_form_are_json_text(self, hint: Any) -> None:
        assert arrow.column_of(hint) is arrow.JSON

    @pytest.mark.parametrize("record", get_args(Record))
    def test_a_field_is_described_as_in_the_schema_of_records(self, record: Any) -> None:
        fields = SCHEMA[record().type]["properties"]
        described = {field.name: field.metadata[b"description"].decode() for field in arrow.Columns(record).schema}
        assert described == {name: " ".join(fields[name]["description"].split()) for name in described}

    def test_a_field_without_a_string_under_it_has_no_description(self) -> None:
        @dataclass
        class Bare:
            name: str = ""

        assert arrow.Columns(Bare).schema.field("name").metadata is None


class TestFileMetadata:
    @pytest.mark.parametrize("options", [{}, {"store_schema": False}])
    def test_a_file_of_a_crawl_states_what_the_spider_says(self, options: dict[str, Any]) -> None:
        crawler: Any = SimpleNamespace(
            settings=Settings({"SITEMAP_ITEMS": "auto"}),
            spider=SimpleNamespace(file_metadata={"site": "e.com", "started": "2026-05-01T10:00:00Z"}),
        )
        file = io.BytesIO()
        exporting.write(partial(ParquetExporter.from_crawler, crawler), file, [], **options)
        stated = pq.read_metadata(file).metadata
        assert (stated[b"site"], stated[b"started"]) == (b"e.com", b"2026-05-01T10:00:00Z")
        assert b"schema_version" in stated


class TestTimes:
    MOMENT = datetime(2024, 5, 1, 10, tzinfo=UTC)

    def test_times_are_timestamps_in_utc(self) -> None:
        file = export(UrlRecord(lastmod_at="2024-05-01T10:00:00Z"), UrlRecord())
        assert pq.read_schema(file).field("lastmod_at").type == pa.timestamp("us", "UTC")
        assert pq.read_table(file)["lastmod_at"].to_pylist() == [self.MOMENT, None]
        assert str(pandas.read_parquet(file)["lastmod_at"].dtype) == "datetime64[us, UTC]"
        assert polars.read_parquet(file.getvalue())["lastmod_at"].dtype == polars.Datetime("us", "UTC")

    def test_a_reader_without_arrows_schema_finds_timestamps_too(self) -> None:
        file = export(RICH, store_schema=False)
        assert pq.read_schema(file).field("lastmod_at").type == pa.timestamp("us", "UTC")

    @pytest.mark.parametrize(
        ("value", "time"),
        [
            ("2024-05-01T10:00:00.500000Z", datetime(2024, 5, 1, 10, 0, 0, 500_000, UTC)),
            ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
            ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
            ("", None),
            ("soon", None),
            ("2024-05-01T10:00:00", MOMENT),
            ("2024-05-01T12:00:00+02:00", MOMENT),
            ("2024-05-01T10:00:00.123456789Z", datetime(2024, 5, 1, 10, 0, 0, 123_456, UTC)),
            (datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))), MOMENT),
            (date(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC)),
            (7, None),
        ],
    )
    def test_whatever_stands_there_is_a_time_or_null(self, value: Any, time: datetime | None) -> None:
        written = rows(UrlRecord(lastmod_at="2024-05-01T10:00:00Z"), UrlRecord(lastmod_at=value))
        assert [row["lastmod_at"] for row in written] == [self.MOMENT, time]


class TestValues:
    def test_null_and_empty_are_two_things(self) -> None:
        @dataclass
        class Blocked:
            by: list[str] | None = None
            tags: dict[str, str] | None = None
            extra: list[Any] = field(default_factory=list)

        columns = arrow.Columns(Blocked)
        assert columns.table([Blocked(), Blocked([], {}), Blocked(["a"]), Blocked()]).to_pylist() == [
            {"by": None, "tags": None, "extra": None},
            {"by": [], "tags": [], "extra": None},
            {"by": ["a"], "tags": None, "extra": None},
            {"by": None, "tags": None, "extra": None},
        ]

    @pytest.mark.parametrize("text", ["=1+1", "\t@x", "a\x00b\r\n", "😀", ""])
    def test_text_is_kept_as_it_is(self, text: str) -> None:
        (row,) = rows(UrlRecord(loc=text, images=[Image(title=text)]))
        assert (row["loc"], row["images"][0]["title"]) == (text, text)

    @settings(max_examples=30)
    @given(st.lists(ANY_TEXT, min_size=1, max_size=3))
    def test_lone_surrogates_become_the_replacement_character(self, texts: list[str]) -> None:
        urls = [
            UrlRecord(loc=text, extra={text: [{"name": text}]}, videos=[Video(restriction={"value": text}, tag=[text])])
            for text in texts
        ]
        for row, text in zip(rows(*urls), texts, strict=True):
            whole = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
            assert row["loc"] == whole
            assert json.loads(row["extra"]) == {whole: [{"name": whole}]}
            assert (row["videos"][0]["restriction"], row["videos"][0]["tag"]) == ({"value": whole}, [whole])

    @pytest.mark.parametrize("text", ["\\ud800", "\\\ud800", "\\\\ud800\\", '"\ud800\udc00"', "\\\\\udfff"])
    def test_backslashes_beside_surrogates_stay_in_trees(self, text: str) -> None:
        (row,) = rows(UrlRecord(extra={"urn:x": [{"name": text}]}))
        whole = text.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd").replace("\udfff", "\ufffd")
        assert json.loads(row["extra"]) == {"urn:x": [{"name": whole}]}

    def test_what_is_no_text_is_written_as_text(self) -> None:
        odd: dict[str, Any] = {"loc": Path("a"), "lastmod": date(2024, 5, 1)}
        assert [(row["loc"], row["lastmod"]) for row in rows(UrlRecord(**odd), PLAIN)] == [
            ("a", "2024-05-01"),
            (PLAIN.loc, None),
        ]

    def test_what_is_no_number_is_null(self) -> None:
        bad: dict[str, Any] = {"line": 2**70, "priority": "high", "recovered": "yes"}
        read = [(row["line"], row["priority"], row["recovered"]) for row in rows(RICH, UrlRecord(**bad), RICH)]
        assert read == [(3, 0.5, True), (None, None, None), (3, 0.5, True)]


class TestItems:
    def test_other_types_of_record_are_not_in_the_table(self) -> None:
        judged = UrlRecord(loc="https://e.com/3")
        notes = Notes.table([Note(judged, findings=[FindingRecord()])])
        items = [SitemapRecord(), NotedBatch(SITEMAP, [PLAIN]), NotedBatch(SITEMAP, [judged], notes), {"loc": "x"}]
        assert [row["loc"] for row in rows(*items, SummaryRecord())] == [PLAIN.loc, judged.loc]

    def test_an_empty_crawl_has_all_columns_and_no_rows(self) -> None:
        for file in (export(), export(SummaryRecord(), NotedBatch(SITEMAP, []))):
            assert row_groups(file) == []
            assert pq.read_table(file).schema.names == [each.name for each in fields(UrlRecord)]
            assert polars.read_parquet(file.getvalue()).height == 0

    def test_batches_and_single_records_give_the_same_bytes(self) -> None:
        urls = [UrlRecord(loc=f"https://e.com/{number}", images=[Image(loc="i")]) for number in range(2500)]
        batches = [NotedBatch(SITEMAP, urls[:700]), NotedBatch(SITEMAP, urls[700:])]
        assert export(*batches).getvalue() == export(*urls).getvalue()

    def test_a_batch_stays_as_it_is(self) -> None:
        batch = NotedBatch(SITEMAP, [PLAIN] * 1500)
        export(batch, batch)
        assert len(batch.urls) == 1500


class TestRowGroups:
    def test_many_records_are_several_row_groups(self) -> None:
        file = export(*[NotedBatch(SITEMAP, [PLAIN] * 1000)] * 120)
        assert row_groups(file) == [50_000, 50_000, 20_000]

    def test_their_size_can_be_set(self) -> None:
        locs = [f"https://e.com/{number}" for number in range(1700)]
        file = export(NotedBatch(SITEMAP, [UrlRecord(loc=loc) for loc in locs]), row_group_size=600)
        assert row_groups(file) == [600, 600, 500]
        assert pq.read_table(file)["loc"].to_pylist() == locs

    def test_a_full_row_group_is_written_at_once(self) -> None:
        file = io.BytesIO()
        writer = ParquetExporter(file)
        writer.start_exporting()
        writer.export_item(NotedBatch(SITEMAP, [PLAIN] * 49_999))
        assert file.getvalue() == b"PAR1"
        writer.export_item(NotedBatch(SITEMAP, [PLAIN] * 1001))
        assert len(file.getvalue()) > len(b"PAR1")
        writer.finish_exporting()
        assert row_groups(file) == [50_000, 1000]

    def test_heavy_rows_fill_a_row_group_sooner(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(exporters, "ROW_GROUP_BYTES", 1_100_000)
        heavy = UrlRecord(loc="https://e.com/", images=[Image(loc="https://e.com/" + "i" * 100)] * 5)
        assert row_groups(export(NotedBatch(SITEMAP, [heavy] * 4500))) == [2000, 2000, 500]

    def test_a_record_that_fails_takes_no_later_ones_with_it(self) -> None:
        writer = ParquetExporter(file := io.BytesIO())
        writer.start_exporting()
        broken: Any = UrlRecord(images=3)
        with pytest.raises(TypeError):
            writer.export_item(NotedBatch(SITEMAP, [broken] * 1000))
        writer.export_item(PLAIN)
        writer.finish_exporting()
        assert pq.read_table(file)["loc"].to_pylist() == [PLAIN.loc]


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "packed"), [({}, "ZSTD"), ({"compression": "gzip", "compression_level": 9}, "GZIP")]
    )
    def test_it_is_packed(self, options: dict[str, Any], packed: str) -> None:
        assert pq.ParquetFile(export(PLAIN, **options)).metadata.row_group(0).column(0).compression == packed

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            *(({"row_group_size": n}, f"^row_group_size {n!r} is not a whole number above 0$")
              for n in (0, -1, 1.5, "x")),
            *(({"constants": value}, "^constants .* is not a mapping of columns to texts$")
              for value in (5, ["site"], {"site": 7})),
        ],
    )  # fmt: skip
    def test_options_that_make_no_sense_are_refused(self, options: dict[str, Any], problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            export(PLAIN, **options)

    def test_constants_are_the_first_columns_of_every_row(self) -> None:
        batch = NotedBatch(SITEMAP, [UrlRecord(loc="a"), UrlRecord(loc="b")])
        found = rows(batch, constants={"site": "e.com", "run": "7"})
        assert [list(row)[:3] for row in found] == [["site", "run", "type"]] * 2
        assert [(row["site"], row["run"], row["loc"]) for row in found] == [("e.com", "7", "a"), ("e.com", "7", "b")]

    def test_a_table_without_rows_has_the_columns_of_constants_too(self) -> None:
        assert pq.read_table(export(constants={"site": "e.com"})).column_names[:2] == ["site", "type"]

    def test_options_that_cannot_work_raise(self) -> None:
        exporters.ParquetExporter.check_options({"compression": "brotli"})
        with pytest.raises(TypeError, match="colour"):
            exporters.ParquetExporter.check_options({"colour": "red"})
        with pytest.raises(OSError, match="LZO"):
            exporters.ParquetExporter.check_options({"compression": "lzo"})


class TestFile:
    def test_it_goes_through_our_storage(self, tmp_path: Path) -> None:
        target = AtomicFileStorage(str(tmp_path / "urls.parquet"), feed_options={"overwrite": True})
        file = target.open(None)  # type: ignore[arg-type]  # the spider is of no use to it
        exporting.write(ParquetExporter, file, [RICH])
        target.store(file)
        assert [path.name for path in tmp_path.iterdir()] == ["urls.parquet"]
        assert pq.read_table(tmp_path / "urls.parquet")["loc"].to_pylist() == [RICH.loc]

    def test_an_earlier_feed_is_not_appended_to(self, tmp_path: Path) -> None:
        path = tmp_path / "urls.parquet"
        earlier = export(RICH).getvalue()
        path.write_bytes(earlier)
        target = AtomicFileStorage(str(path), feed_options={"overwrite": False})
        file = target.open(None)  # type: ignore[arg-type]  # as above
        with pytest.raises(ValueError, match=r"^parquet cannot be appended to; use overwrite$"):
            ParquetExporter(file).start_exporting()
        target.store(file)
        assert path.read_bytes() == earlier
