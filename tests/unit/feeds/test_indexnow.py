"""Bodies for IndexNow: which URLs of a crawl stand in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from scrapy.settings import Settings

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds import indexnow
from sitemapcrawler.feeds.indexnow import IndexNowExporter
from sitemapcrawler.feeds.setup import check_baseline, named_formats
from sitemapcrawler.items import FindingRecord, ReplyRecord, UrlBatch, UrlRecord
from sitemapcrawler.jobs.store.baseline import kind_of_change
from tests.unit.feeds.exporting import export

PAGE = "https://example.com/a"
READ = ReplyRecord(kind="ok", content_hash=f"1-{'0' * 32}")


def url(loc: str = PAGE, change: str | None = "added", *fields: str, **more: Any) -> UrlRecord:
    kind = kind_of_change(fields) if change == "changed" else None
    return UrlRecord(loc=loc, change=change, changed_fields=fields, what_changed=kind, **more)


def bodies(records: Iterable[object]) -> list[dict[str, Any]]:
    sitemap = "https://example.com/sitemap.xml"
    items = (UrlBatch(sitemap, [record]) if isinstance(record, UrlRecord) else record for record in records)
    found: list[dict[str, Any]] = json.loads(export(IndexNowExporter, *items))
    return found


@pytest.mark.parametrize(
    ("record", "is_sent"),
    [
        (url(), True),
        (url(indexable=True, indexability="ok"), True),
        (url(indexable=False, indexability="noindex"), False),
        (url(indexable=False, indexability="not found"), False),
        (url(blocked_for=["Bingbot"]), False),
        (url(blocked_for=["GPTBot"]), True),
        (url("ftp://example.com/a"), False),
        (url(PAGE, "unchanged"), False),
        (url(PAGE, None), False),
        (url(PAGE, "removed"), True),
        (url(PAGE, "changed", "lastmod"), True),
        (url(PAGE, "changed", "lastmod", reply=ReplyRecord(kind="ok")), True),
        (url(PAGE, "changed", "lastmod", reply=READ), False),
        (url(PAGE, "changed", "lastmod", "priority", "changefreq", reply=READ), False),
        (url(PAGE, "changed", "priority", "changefreq", "blocked_for"), False),
        (url(PAGE, "changed", "lastmod", "reply.content_hash", reply=READ), True),
        (url(PAGE, "changed", "images", reply=READ), True),
        (url(PAGE, "changed", "reply.status", indexable=False, indexability="not found"), True),
        (url(PAGE, "changed", "reply.noindex", indexable=False, indexability="noindex", reply=READ), True),
        (url(PAGE, "changed", "lastmod", indexable=False, indexability="not found"), False),
        (url(PAGE, "changed", "reply.content_hash", indexable=False, indexability="redirect", reply=READ), False),
        (url(PAGE, "changed", "reply.kind", indexable=False, indexability="server error"), False),
        (url(PAGE, "changed", "reply.kind", indexable=False, indexability="unreachable"), False),
        (url(PAGE, "changed", "reply.status", indexable=False, indexability="blocked"), False),
    ],
)
def test_url_is_sent_if_its_page_is_new_changed_or_gone(record: UrlRecord, is_sent: bool) -> None:
    assert [body["urlList"] for body in bodies([record])] == ([[PAGE]] if is_sent else [])


def test_body_has_the_urls_of_one_host_each_once_and_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexnow, "MAX_URLS", 2)
    paths = ["/a", "/ä?b=c&d", "/a", "/a#b", "/c"]
    records = [
        *(url(f"https://example.com{path}") for path in paths),
        url("http://example.com:8080/a"),
        FindingRecord(),
    ]
    assert bodies(records) == [
        {"host": "example.com", "urlList": ["https://example.com/a", "https://example.com/%C3%A4?b=c&d"]},
        {"host": "example.com", "urlList": ["https://example.com/c"]},
        {"host": "example.com:8080", "urlList": ["http://example.com:8080/a"]},
    ]


def test_rows_of_the_database_are_sent_as_records_are() -> None:
    records = [
        url(),
        url(f"{PAGE}/2", "changed", "lastmod", reply=READ),
        url(f"{PAGE}/3", "changed", "reply.title", reply=READ),
    ]
    lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    batch = NotedBatch.of_lines("https://example.com/sitemap.xml", lines, len(records))
    assert [body["urlList"] for body in bodies([batch])] == [[PAGE, f"{PAGE}/3"]]


def test_crawl_without_changes_has_no_body() -> None:
    assert bodies([]) == []


def test_name_of_the_file_tells_the_format() -> None:
    targets = [
        "changes.indexnow.json",
        "out/x.INDEXNOW.json.gz",
        "indexnow.json",
        "changes.indexnow",
        "x.json:indexnow",
    ]
    assert [target.rpartition(":")[2] for target in named_formats(targets)] == [
        "indexnow", "indexnow", "json", "indexnow", "indexnow",
    ]  # fmt: skip


def test_feed_without_a_baseline_is_refused() -> None:
    settings = Settings({"FEEDS": {"x.json": {"format": "indexnow"}, "y.json": {"format": "json"}}})
    settings.setmodule("sitemapcrawler.settings", priority="default")
    check_baseline(settings, "yesterday")
    with pytest.raises(ValueError, match=r"^x\.json needs the argument baseline"):
        check_baseline(settings, None)
