"""Exporters: what stands in a feed, byte by byte."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Field, Item
from scrapy.extensions.feedexport import FileFeedStorage
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.settings import Settings

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.columns import Cells
from sitemapcrawler.feeds.exporters import CsvExporter, JsonExporter, JsonLinesExporter, RecordFilter
from sitemapcrawler.feeds.jsontext import UNHOLDABLE, JsonText, Rows
from sitemapcrawler.feeds.setup import GZIP
from sitemapcrawler.items import (
    EXTENSIONS,
    AlternateRecord,
    FindingRecord,
    Hop,
    ImageRecord,
    IndexStatus,
    NewsRecord,
    ReplyRecord,
    SitemapRecord,
    SummaryRecord,
    Target,
    UrlBatch,
    UrlRecord,
    UsageRecord,
    VideoRecord,
)
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from sitemapcrawler.reader.notes import Note, Notes
from tests.objects import as_row
from tests.unit.feeds.exporting import export, write

Exporter = type[JsonLinesExporter] | type[CsvExporter]
EXPORTERS: list[Exporter] = [JsonLinesExporter, JsonExporter, CsvExporter]
SITEMAP = "https://e.com/sitemap.xml"
HEADER = "loc,status,status_error,indexable,indexability,final_status,final_url,redirects,canonical,target,target_indexability,noindex,title,h1,words,blocked_for,train,search,input,usage_by,fetched,google_verdict,google_reason,google_canonical,google_last_crawl,lastmod,changefreq,priority,images,videos,news,alternates,segment,problems,sitemap,line,change,what_changed,changed_fields,elapsed_ms,error,loc_raw,lastmod_at,extra,recovered"
FIELDS = "type,loc,loc_raw,sitemap,line,lastmod,lastmod_at,changefreq,priority,images,videos,news,alternates,extra,recovered,blocked_for,usage,fetched,segment,google,reply,indexable,indexability,target,issues,change,changed_fields,what_changed"


class Product(Item):
    name = Field()
    price = Field(serializer=lambda price: f"{price} EUR")


@dataclass
class Page:
    """An item that is no record."""

    url: str
    tags: list[str] = field(default_factory=list)


def lines(*items: Any, **options: Any) -> list[str]:
    return export(JsonLinesExporter, *items, **options).decode().splitlines()


def table(*items: Any, **options: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(export(CsvExporter, *items, **options).decode(), newline="")))


def a_url(loc: str = "https://e.com/", **values: Any) -> UrlRecord:
    return UrlRecord(loc=loc, sitemap=SITEMAP, **values)


TEXT = st.text()
URLS = st.builds(
    UrlRecord,
    loc=TEXT,
    loc_raw=st.none() | TEXT,
    sitemap=TEXT,
    line=st.none() | st.integers(min_value=1),
    lastmod=st.none() | TEXT,
    changefreq=st.none() | TEXT,
    priority=st.none() | st.floats(),
    images=st.lists(st.builds(Image, loc=st.none() | TEXT, title=st.none() | TEXT), max_size=3),
    alternates=st.lists(st.builds(Alternate, TEXT, TEXT, attributes=st.dictionaries(TEXT, TEXT)), max_size=3),
    extra=st.none() | st.dictionaries(TEXT, st.lists(st.fixed_dictionaries({"name": TEXT, "value": TEXT}))),
    recovered=st.booleans(),
)


def can_be_read(url: UrlRecord) -> bool:
    """No number has more than 64 bits."""
    try:
        msgspec.json.encode(url)
    except UNHOLDABLE:
        return False
    return True


def no_constant(name: str) -> None:
    pytest.fail(f"{name} is not JSON")


LINES: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "batch": (
        [NotedBatch(SITEMAP, [a_url("https://e.com/1", line=3), a_url("u", priority=0.5)])], {},
        ['{"type":"url","loc":"https://e.com/1","sitemap":"https://e.com/sitemap.xml","line":3,"recovered":false}',
         '{"type":"url","loc":"u","sitemap":"https://e.com/sitemap.xml","priority":0.5,"recovered":false}'],
    ),
    "empty batch": ([NotedBatch(SITEMAP, [])], {}, []),
    "chosen fields": ([a_url("u", line=3)], {"fields_to_export": ["line", "loc", "news"]}, ['{"line":3,"loc":"u"}']),
    "renamed field": ([a_url()], {"fields_to_export": {"loc": "url"}}, ['{"url":"https://e.com/"}']),
    "none of the fields": ([SitemapRecord(), a_url()], {"fields_to_export": ["loc"]}, ['{"loc":"https://e.com/"}']),
    "other items": (
        [{"b": None, "a": [Page("u")]}, Product(name="n", price=1), Page("u", [])], {},
        ['{"b":null,"a":[{"url":"u","tags":[]}]}', '{"name":"n","price":"1 EUR"}', '{"url":"u","tags":[]}'],
    ),
    "fields of other items": ([{"a": 1, "b": 2}], {"fields_to_export": {"b": "B"}}, ['{"B":2}']),
}  # fmt: skip
"""{what: (items, options, lines)}."""


class TestJsonLines:
    @pytest.mark.parametrize(("items", "options", "expected"), LINES.values(), ids=LINES)
    def test_lines(self, items: list[Any], options: dict[str, Any], expected: list[str]) -> None:
        assert lines(*items, **options) == expected

    @pytest.mark.slow
    @given(URLS)
    def test_any_record_comes_back(self, url: UrlRecord) -> None:
        (line,) = export(JsonLinesExporter, url).split(b"\n")[:-1]
        row = json.loads(line.decode(), parse_constant=no_constant)
        for name in ("loc", "loc_raw", "sitemap", "line", "lastmod", "changefreq", "recovered"):
            assert row.get(name) == getattr(url, name)
        assert [image.get("title") for image in row.get("images", [])] == [image.title for image in url.images]
        assert row.get("extra", {}) == (url.extra or {})

    @pytest.mark.slow
    @given(URLS, st.sampled_from(["ascii", "latin-1", "cp1252", "utf-16", "utf-8-sig", "gb18030", "utf-7"]))
    def test_no_character_set_loses_anything(self, url: UrlRecord, encoding: str) -> None:
        text = export(JsonLinesExporter, url, encoding=encoding).decode(encoding)
        assert json.loads(text) == json.loads(export(JsonLinesExporter, url))

    def test_what_a_character_set_cannot_hold_is_escaped(self) -> None:
        assert b'"loc":"\xe9 \\u4e2d \\ud83d\\ude00"' in export(JsonLinesExporter, a_url("é 中 😀"), encoding="latin-1")

    def test_without_a_character_set_it_is_utf_8(self) -> None:
        assert "é".encode() in export(JsonLinesExporter, a_url("é"), encoding=None)

    def test_a_lone_surrogate_is_replaced_and_its_neighbours_are_untouched(self) -> None:
        good, bad = a_url("https://e.com/é"), a_url("https://e.com/\ud800")
        assert lines(NotedBatch(SITEMAP, [good, bad, good])) == [*lines(good), *lines(bad), *lines(good)]
        assert json.loads(lines(bad)[0])["loc"] == "https://e.com/\ufffd"

    def test_a_number_beyond_64_bits_is_written(self) -> None:
        assert json.loads(lines(a_url(line=2**70))[0])["line"] == 2**70

    def test_no_number_is_null(self) -> None:
        assert json.loads(lines(a_url(priority=float("nan")))[0])["priority"] is None
        assert (
            json.loads(lines(a_url("\ud800", priority=float("inf")))[0], parse_constant=no_constant)["priority"] is None
        )

    def test_what_has_no_json_type_is_written_as_text(self) -> None:
        row = json.loads(lines(a_url(extra={"urn:x": [{"price": Decimal("1.10"), "at": Path("a")}]}))[0])
        assert row["extra"] == {"urn:x": [{"price": "1.10", "at": "a"}]}

    def test_an_unknown_argument_is_refused(self) -> None:
        with pytest.raises(TypeError, match="colour"):
            export(JsonLinesExporter, a_url(), colour="red")

    def test_empty_fields_are_written_on_request(self) -> None:
        row = json.loads(lines(a_url(), export_empty_fields=True)[0])
        assert (row["news"], row["images"], len(row)) == (None, [], len(FIELDS.split(",")))


class TestWrittenLines:
    """A batch that carries its lines, since the database has written them already."""

    LINES = b'{"type": "url", "loc": "https://e.com/a", "line": 3}\n'

    def batch(self) -> NotedBatch:
        return NotedBatch.of_lines(SITEMAP, self.LINES, 1)

    @pytest.mark.parametrize("classes", [[], [UrlRecord], ["sitemapcrawler.items.UrlRecord", SitemapRecord]])
    def test_lines_are_written_as_they_are(self, classes: list[Any]) -> None:
        assert export(JsonLinesExporter, self.batch(), item_classes=classes) == self.LINES

    def test_they_are_written_in_the_encoding_of_the_feed(self) -> None:
        batch = NotedBatch.of_lines(SITEMAP, '{"loc":"é"}\n'.encode(), 1)
        assert export(JsonLinesExporter, batch, encoding="latin-1") == '{"loc":"é"}\n'.encode("latin-1")

    def test_they_are_elements_of_an_array(self) -> None:
        batch = NotedBatch.of_lines(SITEMAP, self.LINES * 2, 2)
        array = json.loads(export(JsonExporter, SitemapRecord(), batch, a_url("last"), indent=0))
        assert [row.get("loc") for row in array] == [None, *["https://e.com/a"] * 2, "last"]
        assert json.loads(export(JsonExporter, batch, indent=2)) == array[1:3]

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({"fields_to_export": ["line"]}, '{"line":3}'),
            ({"fields_to_export": {"loc": "url"}}, '{"url":"https://e.com/a"}'),
        ],
    )
    def test_they_are_made_anew_where_options_alter_them(self, options: dict[str, Any], expected: str) -> None:
        assert lines(self.batch(), **options) == [expected]

    def test_a_feed_of_other_records_does_not_have_them(self) -> None:
        assert export(JsonLinesExporter, self.batch(), item_classes=[SitemapRecord]) == b""

    def test_a_table_is_made_of_the_records(self) -> None:
        assert table(self.batch(), fields_to_export=["loc"])[1] == ["https://e.com/a"]

    def test_a_batch_with_no_lines_left_writes_nothing(self) -> None:
        assert export(JsonLinesExporter, NotedBatch.of_lines(SITEMAP, b"", 0)) == b""
        assert json.loads(export(JsonExporter, NotedBatch.of_lines(SITEMAP, b"", 0))) == []


class TestJson:
    @pytest.mark.parametrize("indent", [None, 0, 2])
    def test_all_items_are_one_array(self, indent: int | None) -> None:
        items = [SitemapRecord(), NotedBatch(SITEMAP, [a_url("1"), a_url("\ud800")]), NotedBatch(SITEMAP, []), {"a": 1}]
        array = json.loads(export(JsonExporter, *items, indent=indent))
        assert array == [json.loads(line) for line in lines(*items)]

    @pytest.mark.parametrize(
        ("indent", "expected"),
        [
            (None, '[{"loc":"1"},{"loc":"2"}]'),
            (0, '[\n{"loc":"1"},\n{"loc":"2"}\n]\n'),
            (1, '[\n{\n "loc": "1"\n},\n{\n "loc": "2"\n}\n]\n'),
        ],
    )
    def test_indent_is_that_of_scrapy(self, indent: int | None, expected: str) -> None:
        batch = NotedBatch(SITEMAP, [a_url("1"), a_url("2")])
        assert export(JsonExporter, batch, indent=indent, fields_to_export=["loc"]).decode() == expected

    def test_without_items_it_is_an_empty_array(self) -> None:
        assert json.loads(export(JsonExporter)) == []

    def test_records_without_any_of_the_fields_leave_no_comma(self) -> None:
        text = export(JsonExporter, SitemapRecord(), a_url("1"), SitemapRecord(), a_url("2"), fields_to_export=["loc"])
        assert json.loads(text) == [{"loc": "1"}, {"loc": "2"}]

    def test_the_byte_order_mark_stands_once(self) -> None:
        text = export(JsonExporter, a_url("é"), a_url("中"), encoding="utf-16").decode("utf-16")
        assert [row["loc"] for row in json.loads(text)] == ["é", "中"]


PAGE = a_url(
    line=3, images=[Image("i", title="=1"), Image("j")], news=News({"name": "n"}, title="t"),
    videos=[Video("t", tag=["a", "b"], restriction={"relationship": "deny", "value": "US"}, price=[{"value": "=1"}])],
    alternates=[Alternate("de", "d", attributes={"type": "x"}), Alternate("en", "e")],
)  # fmt: skip
"""A record with objects of each extension."""
OBJECTS: dict[type, list[dict[str, Any]]] = {
    ImageRecord: [{"image_loc": "i", "title": "=1"}, {"image_loc": "j"}],
    VideoRecord: [
        {"thumbnail_loc": "t", "restriction": "US", "restriction_relationship": "deny", "tag": ["a", "b"], "price": [{"value": "=1"}]},
    ],
    NewsRecord: [{"publication_name": "n", "title": "t"}],
    AlternateRecord: [{"hreflang": "de", "href": "d", "attributes": {"type": "x"}}, {"hreflang": "en", "href": "e"}],
}  # fmt: skip
"""Its objects as rows, without the fields that all of them have."""


def rows_of_objects(kind: type) -> list[dict[str, Any]]:
    common = {"type": kind().type, "loc": "https://e.com/", "sitemap": SITEMAP, "line": 3}
    return [common | row for row in OBJECTS[kind]]


class TestExtensions:
    @pytest.mark.parametrize("kind", EXTENSIONS)
    @pytest.mark.parametrize("of_crawl", [False, True], ids=["record", "batch"])
    def test_objects_of_a_page_are_rows(self, kind: type, of_crawl: bool) -> None:
        item = NotedBatch.of_lines(SITEMAP, export(JsonLinesExporter, PAGE), 1) if of_crawl else PAGE
        assert [json.loads(line) for line in lines(item, a_url(), item_classes=[kind])] == rows_of_objects(kind)

    def test_feed_of_pages_and_images_has_them_behind_their_page(self) -> None:
        found = map(json.loads, lines(NotedBatch(SITEMAP, [PAGE, PAGE]), item_classes=[UrlRecord, ImageRecord]))
        assert [row["type"] for row in found] == ["url", "image", "image"] * 2

    def test_other_feeds_have_no_rows_of_objects(self) -> None:
        assert [json.loads(line)["type"] for line in lines(PAGE)] == ["url"]

    def test_lists_and_objects_are_text_in_a_table(self) -> None:
        header, row = table(PAGE, item_classes=[VideoRecord])
        cells = dict(zip(header, row, strict=True))
        assert (cells["tag"], cells["restriction_relationship"], cells["price"], cells["live"]) == (
            "a; b", "deny", '[{"value":"=1"}]', "",
        )  # fmt: skip
        assert [row[6] for row in table(PAGE, item_classes=[ImageRecord])] == ["license", "", ""]
        assert [row[5] for row in table(PAGE, item_classes=[ImageRecord])] == ["title", "'=1", ""]

    @pytest.mark.parametrize("kind", EXTENSIONS)
    def test_table_without_rows_has_its_header(self, kind: type) -> None:
        removed = replace(PAGE, change="removed")
        assert table(a_url(), removed, item_classes=[kind]) == [[field.name for field in fields(kind)]]

    def test_filter_takes_pages_that_have_rows(self) -> None:
        accepts = RecordFilter({"item_classes": [ImageRecord]}).accepts
        assert [accepts(item) for item in (PAGE, NotedBatch(SITEMAP, [a_url(), PAGE]), ImageRecord())] == [True] * 3
        assert not any(map(accepts, (a_url(), NotedBatch(SITEMAP, [a_url()]), SitemapRecord(), FindingRecord(), {})))

    def test_objects_that_are_items_stand_in_feeds_once(self) -> None:
        settings = {"SITEMAP_ITEMS": "objects"}
        crawler: Any = SimpleNamespace(settings=Settings(settings))
        file = io.BytesIO()
        exporter = JsonLinesExporter.from_crawler(crawler, file, item_classes=[ImageRecord])
        for item in (PAGE, ImageRecord("https://e.com/")):
            exporter.export_item(item)
        exporter.finish_exporting()
        assert len(file.getvalue().splitlines()) == 1

    @given(st.lists(st.one_of(URLS, st.just(PAGE)), max_size=3))
    def test_rows_are_what_is_nested_in_the_url_records(self, urls: list[UrlRecord]) -> None:
        nested = [json.loads(line) for line in export(JsonLinesExporter, *urls).splitlines()]
        for kind, namespace in EXTENSIONS.items():
            objects = [(url, one) for url in nested for one in listed(url.get(namespace.field))]
            written = export(JsonLinesExporter, NotedBatch(SITEMAP, urls), item_classes=[kind])
            assert [json.loads(line) for line in written.splitlines()] == [
                as_row(kind, url, one) for url, one in objects
            ]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


EITHER = a_url(images=[Image(loc="i")], issues=["a", "b"], reply=ReplyRecord("ok", status=200))
"""A record with columns and fields of the same names."""
NAMES = ["loc", "status", "images", "issues", "problems", "reply", "type"]
FILE = SitemapRecord(SITEMAP, issues=["a", "b"], namespaces=["urn:x", "=1"], replies={"ok": 1})
OF_FILES: dict[str, Any] = {"item_classes": [SitemapRecord], "fields_to_export": ["issues", "namespaces", "replies"]}


def run_by_spreadsheets(text: str) -> UrlRecord:
    return a_url(extra={text: [], "b": [], f" {text}": []}, reply=ReplyRecord("ok", noindex_agents=[text]))


ROWS: dict[str, tuple[list[Any], list[str] | None, dict[str, Any], list[list[str]]]] = {
    "target": (
        [NotedBatch(SITEMAP, [a_url(target=Target("https://e.com/c", indexable=True, indexability="ok")), a_url()])],
        ["target", "target_indexability"], {}, [["https://e.com/c", "ok"], ["", ""]],
    ),
    "indexability": (
        [NotedBatch(SITEMAP, [a_url(indexable=True, indexability="a"), a_url(indexable=False, indexability="b"), a_url()])],
        ["indexable", "indexability"], {}, [["true", "a"], ["false", "b"], ["", ""]],
    ),
    "no blocked crawler and no verdict": (
        [NotedBatch(SITEMAP, [a_url(blocked_for=some) for some in (None, (), [], ["a", "b"])])], ["blocked_for"], {},
        [[""], ["none"], ["none"], ["a; b"]],
    ),
    "columns of either kind": (
        [EITHER], NAMES, {}, [["https://e.com/", "200", "1", "a; b", "a; b", '{"kind":"ok","status":200}', "url"]],
    ),
    "lists of other records": ([FILE], None, OF_FILES, [["a; b", "urn:x;' =1", '{"ok":1}']]),
    "formulas in lists": (
        [*map(run_by_spreadsheets, ["=1+1", "@x", "\uff1dcmd"])], ["extra", "noindex"], {},
        [["'=1+1; b;'  =1+1", "'=1+1"], ["'@x; b;'  @x", "'@x"], ["'\uff1dcmd; b;'  \uff1dcmd", "'\uff1dcmd"]],
    ),
    "formula in a number field": ([a_url(priority="=1")], ["priority"], {}, [["'=1"]]),
    "line ends and NUL": ([a_url("a\r\nb\x00\rc\x1b")], ["loc"], {}, [["a\r\nb\x00\rc\x1b"]]),
    "fields that no record has": ([a_url(line=3)], ["line", "colour", "loc"], {}, [["3", "", "https://e.com/"]]),
    "lists": ([a_url(issues=["=a", "b"])], ["issues"], {}, [["'=a; b"]]),
}  # fmt: skip
"""{what: (items, fields, other options, rows)}."""


class TestCsv:
    @pytest.mark.parametrize(("items", "fields", "options", "rows"), ROWS.values(), ids=ROWS)
    def test_rows(
        self, items: list[Any], fields: list[str] | None, options: dict[str, Any], rows: list[list[str]]
    ) -> None:
        assert table(*items, **({} if fields is None else {"fields_to_export": fields}), **options)[1:] == rows

    @pytest.mark.parametrize(
        ("items", "options", "expected"),
        [
            ([a_url()], {"fields_to_export": {"loc": "URL"}}, [["URL"], ["https://e.com/"]]),
            ([{"=1": "a"}], {}, [["'=1"], ["a"]]),
            ([Product(name="n", price=1)], {}, [["name", "price"], ["n", "1 EUR"]]),
            (
                [{"a": "=1", "b": ["x", "y"], "c": {"d": 1}, "e": b"z", "f": None, "g": True, "h": Decimal("1.5")},
                 {"a": 2}], {},
                [[*"abcefgh"], ["'=1", "x,y", '{"d":1}', "z", "", "true", "1.5"], ["2", *[""] * 6]],
            ),
        ],
        ids=["renamed", "formula in a title", "serialized by its fields", "columns of other items"],
    )  # fmt: skip
    def test_tables(self, items: list[Any], options: dict[str, Any], expected: list[list[str]]) -> None:
        assert table(*items, **options) == expected

    def test_columns_are_flat(self) -> None:
        url = a_url(
            line=3,
            lastmod="2024",
            priority=0.5,
            images=[Image(loc="i"), Image(loc="j")],
            news=News(title="n"),
            alternates=[Alternate("de", "h")],
            extra={"urn:x": [], "toys": []},
            blocked_for=["GPTBot", "CCBot"],
            usage=UsageRecord("disallow", "robots.txt line 2", None, None, "allow", "Content-Usage header"),
            fetched={"Googlebot": "2026-11-20T10:00:00Z"},
            segment="shop",
            google=IndexStatus("NEUTRAL", "Not found (404)", None, "2026-11-19T10:00:00Z"),
            issues=["lastmod-future", "loc-duplicate"],
            change="changed",
            changed_fields=["lastmod", "images"],
            what_changed="entry",
        )
        assert export(CsvExporter, url).decode().splitlines() == [
            HEADER,
            "https://e.com/,,,,,,,,,,,,,,,GPTBot; CCBot,disallow,,allow,train: robots.txt line 2; input: Content-Usage header,"
            "Googlebot 2026-11-20,NEUTRAL,Not found (404),,2026-11-19T10:00:00Z,2024,,0.5,2,,1,1,shop,lastmod-future; loc-duplicate,"
            "https://e.com/sitemap.xml,3,changed,entry,lastmod; images,,,,,urn:x; toys,false",
        ]

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            (ReplyRecord("redirected", None, 301, 200, "https://e.com/new",
                         [Hop(301, "https://e.com/"), Hop(302, "https://e.com/b")], elapsed_ms=7),
             {"status": "301", "final_status": "200", "final_url": "https://e.com/new", "elapsed_ms": "7",
              "redirects": "301 https://e.com/; 302 https://e.com/b"}),
            (ReplyRecord("ok", status=200, final_url="https://e.com/", noindex=False, canonical="https://e.com/c"),
             {"status": "200", "noindex": "false", "canonical": "https://e.com/c"}),
            (ReplyRecord("ok", status=200, noindex=True, noindex_agents=["bot"]), {"status": "200", "noindex": "true"}),
            (ReplyRecord("ok", status=200, noindex_agents=["a", "b"]), {"status": "200", "noindex": "a; b"}),
            (ReplyRecord("ok", status=200, title="=cmd|' /C calc'!A0", h1="Red shoes", words=250),
             {"status": "200", "title": "'=cmd|' /C calc'!A0", "h1": "Red shoes", "words": "250"}),
            (ReplyRecord("timeout", final_url="https://e.com/", error="no answer in 60 s"),
             {"status_error": "timeout", "error": "no answer in 60 s"}),
            (ReplyRecord("unchecked", "sampled-out"), {"status_error": "sampled-out"}),
            (ReplyRecord("unchecked", "blocked", 302, redirects=[Hop(302, "https://e.com/")]),
             {"status": "302", "status_error": "blocked", "redirects": "302 https://e.com/"}),
        ],
    )  # fmt: skip
    def test_facts_of_the_reply_are_columns(self, reply: ReplyRecord, expected: dict[str, str]) -> None:
        header, row, plain = table(NotedBatch(SITEMAP, [a_url(reply=reply), a_url()]))
        found = {name: cell for name, cell in zip(header, row, strict=True) if cell}
        assert found == {"loc": "https://e.com/", "sitemap": SITEMAP, "recovered": "false", **expected}
        assert [cell for cell in plain if cell] == ["https://e.com/", SITEMAP, "false"]

    @pytest.mark.parametrize("exporter", [CsvExporter, JsonLinesExporter, JsonExporter])
    def test_option_of_version_1_is_refused(self, exporter: Any) -> None:
        with pytest.raises(TypeError, match="delimiter"):
            exporter.check_options({"delimiter": ";"})

    def test_other_types_of_record_are_not_in_the_table(self) -> None:
        rows = table(SitemapRecord(sitemap=SITEMAP), NotedBatch(SITEMAP, [a_url(recovered=True)]), SummaryRecord())
        assert [(row[0], row[rows[0].index("recovered")]) for row in rows] == [
            ("loc", "recovered"),
            ("https://e.com/", "true"),
        ]

    def test_a_table_without_rows_has_its_header(self) -> None:
        assert export(CsvExporter, SummaryRecord()).decode() == HEADER + "\r\n"
        assert export(CsvExporter, fields_to_export=["loc"]) == b"loc\r\n"

    @given(st.lists(URLS, max_size=3))
    def test_any_record_comes_back(self, urls: list[UrlRecord]) -> None:
        header, *rows = table(NotedBatch(SITEMAP, urls))
        assert len(rows) == len(urls)
        for row, url in zip(rows, urls, strict=True):
            cells = dict(zip(header, row, strict=True))
            for name in ("loc", "loc_raw", "sitemap", "lastmod", "changefreq"):
                value = (getattr(url, name) or "").encode("utf-8", "backslashreplace").decode()
                assert Cells().armed(cells[name]) == value
            assert cells["line"] == ("" if url.line is None else str(url.line))
            assert cells["images"] == ("" if not url.images else str(len(url.images)))

    @given(st.lists(URLS.filter(can_be_read), min_size=1, max_size=3))
    @example([a_url(lastmod="2026-01-01", priority=0.5), a_url(blocked_for=[], issues=["a"])])
    @example([a_url("a"), a_url("b", reply=ReplyRecord("ok", status=200))])
    @example([a_url("a", blocked_for=()), a_url("b", blocked_for=())])
    def test_lines_of_a_worker_give_the_table_of_their_records(self, urls: list[UrlRecord]) -> None:
        batch = NotedBatch.of_lines(SITEMAP, JsonText(Rows()).lines(urls), len(urls))
        assert export(CsvExporter, batch) == export(CsvExporter, NotedBatch(SITEMAP, urls))

    @pytest.mark.parametrize("text", ["=1+1", "\t1", "  @x", "\uff1dcmd", "\r\na"])
    def test_no_cell_is_run_by_a_spreadsheet(self, text: str) -> None:
        assert table(a_url(text, lastmod=text, priority=-0.5), include_headers_line=False)[0][:28] == [
            f"'{text}", *[""] * 24, f"'{text}", "", "-0.5",
        ]  # fmt: skip

    def test_what_a_character_set_cannot_hold_is_a_backslash_escape(self) -> None:
        assert b"\xe9 \\u4e2d" in export(CsvExporter, a_url("é 中"), encoding="latin-1")
        assert b"https://e.com/\\ud800" in export(CsvExporter, a_url("https://e.com/\ud800"))
        reply = ReplyRecord("ok", error="\ud800")
        assert table(a_url(reply=reply), fields_to_export=["reply"])[1] == ['{"kind":"ok","error":"\\ufffd"}']

    def test_other_items_stand_under_the_columns_of_the_first(self) -> None:
        assert table(a_url(), {"loc": "x", "colour": "red"})[2][:2] == ["x", ""]

    def test_utf_8_with_its_mark_for_spreadsheets(self) -> None:
        assert export(CsvExporter, a_url("é"), a_url("é"), encoding="utf-8-sig").count(b"\xef\xbb\xbf") == 1


@pytest.mark.slow
@pytest.mark.parametrize("exporter", EXPORTERS)
@given(urls=st.lists(URLS, min_size=1, max_size=4))
def test_batches_and_single_records_give_the_same_bytes(exporter: Exporter, urls: list[UrlRecord]) -> None:
    for batch in (UrlBatch(SITEMAP, urls), NotedBatch(SITEMAP, urls)):
        assert export(exporter, batch) == export(exporter, *urls)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_a_batch_is_handed_over_in_one_piece(exporter: Exporter) -> None:
    written: list[bytes] = []

    class File(io.BytesIO):
        def write(self, data: Any, /) -> int:
            written.append(data)
            return len(data)

    writer = exporter(File(), encoding="utf-8")
    writer.export_item(NotedBatch(SITEMAP, [a_url(str(number)) for number in range(100)]))
    assert len(written) == 1


@pytest.mark.slow
@given(urls=st.lists(URLS, min_size=1, max_size=4))
def test_table_is_what_the_csv_module_writes(urls: list[UrlRecord]) -> None:
    written = export(CsvExporter, NotedBatch(SITEMAP, urls)).decode()
    text = io.StringIO(newline="")
    csv.writer(text).writerows(csv.reader(io.StringIO(written, newline="")))
    assert text.getvalue() == written


class TestAppending:
    """To a file that Scrapy's own storage opened; test_storages.py does it with ours."""

    @pytest.fixture
    def append(self, tmp_path: Path) -> Callable[..., str]:
        path = tmp_path / "feed"

        def to_the_file(exporter: Exporter, loc: str, encoding: str = "utf-8") -> str:
            with FileFeedStorage(str(path), feed_options={"overwrite": False}).open(None) as file:  # type: ignore[arg-type]  # the spider is not used
                write(exporter, file, [a_url(loc)], encoding=encoding, fields_to_export=["loc"])
            return path.read_bytes().decode(encoding)

        return to_the_file

    def test_append_writes_no_second_header(self, append: Callable[..., str]) -> None:
        append(CsvExporter, "1")
        assert append(CsvExporter, "2").split() == ["loc", "1", "2"]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_append_writes_no_second_byte_order_mark(self, append: Callable[..., str], encoding: str) -> None:
        append(CsvExporter, "1", encoding)
        assert append(CsvExporter, "2", encoding) == "loc\r\n1\r\n2\r\n"

    def test_append_to_json_lines(self, append: Callable[..., str]) -> None:
        append(JsonLinesExporter, "1")
        assert append(JsonLinesExporter, "2").split() == ['{"loc":"1"}', '{"loc":"2"}']


def test_a_compressed_feed_that_is_new_has_its_header(tmp_path: Path) -> None:
    with FileFeedStorage(str(tmp_path / "feed.gz")).open(None) as file:  # type: ignore[arg-type]  # the spider is not used
        manager = PostProcessingManager([GZIP], file, {})
        assert not CsvExporter(manager).outlet.appending  # type: ignore[arg-type]  # Scrapy hands it over as a file too
        manager.close()


class TestRecordFilter:
    @pytest.mark.parametrize(
        ("item_classes", "accepted"),
        [
            ([], ["NotedBatch", "UrlRecord", "SitemapRecord", "dict"]),
            (["sitemapcrawler.items.UrlRecord"], ["NotedBatch", "UrlRecord"]),
            ([UrlBatch], ["NotedBatch"]),
            ([SitemapRecord, dict], ["SitemapRecord", "dict"]),
            (["sitemapcrawler.items.FindingRecord"], ["judged"]),
        ],
    )
    def test_a_batch_passes_where_its_records_would(self, item_classes: list[Any], accepted: list[str]) -> None:
        judged = NotedBatch(SITEMAP, [], Notes.table([Note(UrlRecord(), findings=[FindingRecord()])]))
        assert RecordFilter({"item_classes": item_classes}).accepts(judged) == bool(
            {"judged", "NotedBatch"}.intersection(accepted)
        )
        accepted = [name for name in accepted if name != "judged"]
        items = [NotedBatch(SITEMAP, []), UrlRecord(), SitemapRecord(), {}]
        record_filter = RecordFilter({"item_classes": item_classes})
        assert [type(item).__name__ for item in items if record_filter.accepts(item)] == accepted
