"""What follows from all parts of an audit together."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.download.shared import Stop


@pytest.mark.parametrize(
    ("reason", "failures", "partial"),
    [
        ("max_urls", 0, "max_urls"),
        ("max_urls", 1, "internal error"),
        (None, 1, "internal error"),
        ("shutdown", 1, "shutdown"),
    ],
)
def test_failure_of_our_own_is_not_hidden_by_a_limit(reason: str | None, failures: int, partial: str) -> None:
    stop = Stop(get_crawler())
    stop.reason = reason
    parts: dict[str, Any] = dict.fromkeys(Audit.__dataclass_fields__)
    parts["selection"] = SimpleNamespace(full=True)
    parts["frontier"] = SimpleNamespace(skipped=Counter(), given_up=Counter())
    audit = Audit(**parts | {"stop": stop})
    for _ in range(failures):
        stop.note_failure()
    assert audit.partial == partial


def test_spider_that_is_not_ours_has_no_audit() -> None:
    crawler = get_crawler(Spider)
    crawler.spider = Spider("another")
    assert Audit.of(crawler) is None
