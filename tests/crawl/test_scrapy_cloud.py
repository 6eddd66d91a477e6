"""Zyte Scrapy Cloud without an account: what its programs make of the egg that shub builds."""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.server import serving
from sitemapcrawler.crawl.scrapy_cloud import schema
from tests.crawl.cloud import CloudJob, build, run
from tests.crawl.crawling import crawl, read_feed
from tests.crawl.site_server import Reply, SiteServer, stalled

pytestmark = pytest.mark.slow

TIMED = {"elapsed_s", "peak_mb", "started"}
"""Fields that differ from one crawl to the next."""
NAMES = {
    "url": "UrlRecord",
    "sitemap": "SitemapRecord",
    "finding": "FindingRecord",
    "robots": "RobotsRecord",
    "summary": "SummaryRecord",
}


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, told = build(tmp_path_factory.mktemp("egg"))
    assert told.splitlines()[0] == "12345 scrapy:2.18 requirements.txt"
    return path


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    with serving() as base:
        yield base


def steady(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in an order of their own, without what differs from one crawl to the next, and what the storage adds."""
    return sorted(
        json.dumps({name: row[name] for name in row if name not in {*TIMED, "_type"}}, sort_keys=True) for row in rows
    )


def test_egg_tells_its_spider_and_all_its_arguments(egg: Path, tmp_path: Path) -> None:
    info = json.loads(run("shub-image-info", egg, tmp_path))
    assert (info["project_type"], info["spiders"]) == ("scrapy", ["sitemap"])
    metadata = info["metadata"]["sitemap"]
    assert metadata["param_schema"] == schema()
    assert metadata["template"] is True and metadata["title"] and metadata["description"]


def test_items_of_a_job_are_the_rows_of_a_local_crawl(egg: Path, demo: str, tmp_path: Path) -> None:
    local = crawl(tmp_path, domain=demo)
    arguments = {"domain": [demo], "max_depth": 10, "fresh": False, "since": None, "include": ""}
    feeds = {"rows.jsonl": {"format": "jsonl"}}
    job = CloudJob(tmp_path / "job").start(egg, {"FEEDS": feeds}, arguments)
    assert job.finish() == local.code == 0
    assert steady(job.items) == steady(local.records) == steady(read_feed(job.folder / "rows.jsonl"))
    assert {item["type"]: item["_type"] for item in job.items} == NAMES
    assert job.items[-1]["type"] == "summary"
    assert job.outcome == [{"outcome": "finished"}]
    assert job.stats[-1]["stats"]["sitemap/urls"] == len(job.of_type("url"))
    assert {request["url"] for request in job.requests} >= {f"{demo}/robots.txt", f"{demo}/sitemap-index.xml"}
    assert job.messages(logging.ERROR) == []
    assert any(message.startswith("[sitemapcrawler] 17 files, ") for message in job.messages(logging.INFO))
    assert [path.name for path in job.folder.rglob("*") if path.suffix in (".duckdb", ".wal", ".queue", ".seen")] == []


def test_wrong_argument_is_an_error_of_one_line(egg: Path, tmp_path: Path) -> None:
    job = CloudJob(tmp_path / "job").start(egg, {}, {"domain": "e.com", "max_urls": "many"})
    assert job.finish() == 2
    [message] = job.messages(logging.ERROR)
    assert message == "[sitemapcrawler] argument max_urls='many': invalid value; accepted: a whole number from 1"
    assert (job.items, job.outcome, job.requests) == ([], [], [])


def test_cancelled_job_keeps_what_it_had(egg: Path, tmp_path: Path) -> None:
    with SiteServer() as site:
        lines = "".join(f"{site.url(f'/{number}')}\n" for number in range(20))
        many = "".join(f"Sitemap: {site.url(f'/{name}.txt')}\n" for name in ("first", "second"))
        site.routes = {"/robots.txt": many, "/first.txt": Reply(lines), "/second.txt": stalled(b"https://")}
        settings = {"SITEMAP_STORE": "False", "SITEMAP_STOP_GRACE": 0.1}
        with CloudJob(tmp_path / "job").start(egg, settings, {"domain": site.url()}) as job:
            site.wait_for("/second.txt")
            job.wait_for_items(20)
            job.process.send_signal(signal.SIGTERM)
            assert job.finish() == 3
    assert len(job.of_type("url")) == 20
    assert job.items[-1]["type"] == "summary" and job.items[-1]["partial"] == "shutdown"
    assert job.outcome == [{"outcome": "shutdown"}]
    assert "to resume" not in " ".join(job.messages(logging.INFO))
