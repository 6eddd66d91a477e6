"""What feeds can hold: record types and fields, checked before a crawl."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from sitemapcrawler.feeds.setup import check_columns
from sitemapcrawler.settings import FEED_EXPORTERS

ITEMS = "sitemapcrawler.items."


def check(feed: str, for_all: Any = None, pipelines: dict[str, int] | None = None, **options: Any) -> None:
    settings = Settings(
        {
            "FEEDS": {feed: options},
            "FEED_EXPORTERS": FEED_EXPORTERS,
            "ITEM_PIPELINES": pipelines or {"sitemapcrawler.pipelines.pipelines.X": 1},
        }
    )
    if for_all is not None:
        settings.set("FEED_EXPORT_FIELDS", for_all)
    check_columns(settings)


@pytest.mark.parametrize("kind", ["FindingRecord", "SitemapRecord", "RobotsRecord", "SummaryRecord"])
def test_any_record_type_fits_formats_of_rows(kind: str) -> None:
    for name in ("x.csv", "x.jsonl", "x.parquet", "x.xlsx"):
        check(name, item_classes=[ITEMS + kind])
        check(name, item_classes=[ITEMS + kind, f"{ITEMS}UrlRecord"])


@pytest.mark.parametrize("kind", ["UrlRecord", "SitemapRecord", "RobotsRecord", "SummaryRecord"])
@pytest.mark.parametrize("format", ["sarif", "junit"])
def test_formats_of_findings_refuse_other_records(format: str, kind: str) -> None:
    with pytest.raises(ValueError, match=f"^x.{format} cannot hold {kind}: {format} holds "):
        check(f"x.{format}", item_classes=[ITEMS + kind])


@pytest.mark.parametrize("fields", [["url", "colour"], {"url": "URL", "colour": "Colour"}])
def test_workbook_knows_its_own_columns(fields: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^fields: no field 'colour' in any record of x.xlsx; accepted: url, why, status,"
    ):
        check("x.xlsx", fields=fields)
    with pytest.raises(ValueError, match=r"^fields: no field 'rule' in the url records of x.xlsx; accepted: url, "):
        check("x.xlsx", fields=["rule"], item_classes=[f"{ITEMS}UrlRecord"])
    check("x.xlsx", fields=["url", "rule", "outcome", "crawl_delay"])


def test_csv_fields_are_those_of_its_record_type() -> None:
    with pytest.raises(ValueError, match=r"no field 'loc' in the finding records of x.csv; accepted: type, rule,"):
        check("x.csv", fields=["loc"], item_classes=[f"{ITEMS}FindingRecord"])
    check("x.csv", fields=["rule", "url"], item_classes=[f"{ITEMS}FindingRecord"])


@pytest.mark.parametrize("fields", [["loc", "lastmd"], {"loc": "URL", "lastmd": "Date"}])
@pytest.mark.parametrize("feed", ["x.csv", "x.jsonl", "x.json", "x.parquet"])
def test_unknown_field_is_refused(feed: str, fields: Any) -> None:
    with pytest.raises(ValueError, match=r"^fields: no field 'lastmd' in .*x\..*, did you mean lastmod\?$"):
        check(feed, fields=fields)
    with pytest.raises(ValueError, match=r"^setting FEED_EXPORT_FIELDS: no field 'lastmd' in "):
        check(feed, fields)


@pytest.mark.parametrize(
    ("feed", "fields", "options"),
    [
        ("x.csv", "loc,issues", {}),
        ("x.csv", "loc,status,problems,reply", {}),
        ("x.csv", "nonsense", {"fields": None}),
        ("x.csv", "nonsense", {"fields": ["loc"]}),
        ("x.csv", "nonsense", {"pipelines": {"mine.Pipeline": 1}}),
        ("x.csv", "nonsense", {"item_classes": ["collections.Counter"]}),
        ("x.jsonl", "loc,outcome,rule", {}),
        ("x.sarif", "nonsense", {}),
    ],
)
def test_known_fields_and_items_of_the_user_pass(feed: str, fields: str, options: dict[str, Any]) -> None:
    check(feed, fields, **options)


def test_field_of_another_record_type_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"no field 'outcome' in the url records of x.csv; accepted: loc, status, .*, type, "
    ):
        check("x.csv", "loc,outcome")
    with pytest.raises(ValueError, match=r"no field 'loc' in the sitemap records of x.jsonl"):
        check("x.jsonl", "loc", item_classes=[f"{ITEMS}SitemapRecord"])


def test_class_that_is_not_there_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"^item_classes of x.jsonl: "):
        check("x.jsonl", item_classes=[f"{ITEMS}NoRecord"])
