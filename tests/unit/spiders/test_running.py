"""What is checked before a crawl runs, and what is set while it does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.crawl.wiring import Refused
from sitemapcrawler.policy import BREACHES
from sitemapcrawler.spiders.running import (
    COLLECTED_AFTER,
    FEED_LOST,
    STOPPED,
    collecting_seldom,
    exit_code,
    plan,
    policy_code,
)
from sitemapcrawler.spiders.sitemap import AuditSpider


def settings(name: str, value: object) -> Settings:
    changed = project_settings()
    changed.set(name, value, priority="cmdline")
    return changed


def test_refused_arguments_leave_no_log(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    with pytest.raises(ValueError, match=r"^argument verify='perhaps': "):
        plan(settings("LOG_FILE", str(log)), {"domain": "e.com", "verify": "perhaps"})
    assert not log.exists()


class InInit(AuditSpider):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.region = "eu"


class InFromCrawler(AuditSpider):
    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.region = "eu"  # type: ignore[attr-defined]  # as users write it
        return spider


@pytest.mark.parametrize("kind", [InInit, InFromCrawler])
def test_attribute_that_a_subclass_sets_may_be_in_the_name_of_a_feed(kind: type[AuditSpider]) -> None:
    given = settings("FEEDS", {"out-%(region)s-%(domain)s.csv": {"format": "csv"}})
    plan(given.copy(), {"domain": "e.com"}, kind).discard()
    spider = Crawler(kind, given)._create_spider(domain="e.com", select="none")  # opens no database
    assert f"{spider.region}-{spider.domain}" == "eu-e.com"  # type: ignore[attr-defined]  # set by Scrapy and the subclass


class OfOneSite(AuditSpider):
    domain, agents, select = "e.com", "Googlebot", "none"  # rules need a database


def test_attributes_of_a_subclass_are_arguments() -> None:
    spider = Crawler(OfOneSite, project_settings())._create_spider(agents="Bingbot")
    planned = plan(project_settings(), {"agents": "Bingbot"}, OfOneSite)
    planned.discard()
    for params in (spider.params, planned.params):
        given = params.as_dict()
        assert (given["domain"], given["agents"], given["select"]) == ("e.com", "Bingbot", "none")


@pytest.mark.parametrize("kind", [AuditSpider, InInit])
def test_name_of_a_feed_without_a_value_is_refused_when_the_spider_is_made(kind: type[AuditSpider]) -> None:
    given = settings("FEEDS", {"out-%(shop)s.csv": {"format": "csv"}})
    with pytest.raises(Refused, match=r"^out-%\(shop\)s\.csv cannot be written: %\(shop\)s has no value"):
        Crawler(kind, given)._create_spider(domain="e.com")


@pytest.mark.parametrize(
    ("stats", "stopped", "feeds", "code"),
    [
        ({"feedexport/success_count/AtomicFileStorage": 2}, False, 2, 0),
        ({"feedexport/success_count/AtomicFileStorage": 1}, False, 2, FEED_LOST),
        ({}, False, 1, FEED_LOST),
        ({}, True, 1, FEED_LOST),
        ({"feedexport/success_count/S3FeedStorage": 1, "feedexport/failed_count/S3FeedStorage": 1}, True, 1, FEED_LOST),
        ({"finish_reason": None}, True, 1, STOPPED),
    ],
)
def test_feed_that_was_not_stored_is_lost(stats: dict[str, Any], stopped: bool, feeds: int, code: int) -> None:
    """Without a reason for its end, a second signal has ended the crawl before its feeds."""
    ended = {name: value for name, value in {"finish_reason": "finished", **stats}.items() if value is not None}
    assert exit_code({"sitemap/files_read": 1, **ended}, stopped, feeds) == code


@pytest.mark.parametrize(
    ("code", "stats", "wanted"),
    [
        (0, {}, 0),
        (0, {BREACHES: []}, 0),
        (0, {BREACHES: ["x"]}, 1),
        (3, {BREACHES: ["x"], "sitemap/partial": "max_urls"}, 1),
        (3, {BREACHES: ["x"], "sitemap/partial": "shutdown"}, 3),
        (3, {"sitemap/partial": "max_urls"}, 3),
        (4, {BREACHES: ["x"]}, 4),
    ],
)
def test_broken_policy_fails_a_crawl_that_came_to_its_end(code: int, stats: dict[str, Any], wanted: int) -> None:
    assert policy_code(code, stats) == wanted


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize(("before", "during"), [((700, 10, 10), COLLECTED_AFTER), ((5000, 5, 5), (5000, 5, 5))])
def test_default_thresholds_of_the_garbage_collector_are_raised_for_a_crawl(
    before: tuple[int, int, int], during: tuple[int, int, int]
) -> None:
    gc.set_threshold(*before)
    with collecting_seldom():
        assert gc.get_threshold() == during
        assert gc.get_freeze_count() > 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
