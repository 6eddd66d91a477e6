"""What follows from all parts of an audit together."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.argument_values import Start
from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.robots import RobotsOutcome


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


@pytest.mark.parametrize(("secure", "home"), [(200, "https://example.com/"), (None, "http://example.com/")])
def test_a_bare_host_has_the_home_page_of_the_scheme_that_answered(secure: int | None, home: str) -> None:
    policies = {"https://example.com": SimpleNamespace(status=secure, outcome=RobotsOutcome.PARSED)}
    policies["http://example.com"] = SimpleNamespace(status=200, outcome=RobotsOutcome.PARSED)
    start = Start(("https://example.com", "http://example.com"))
    plain = dict.fromkeys(("base_url", "include", "exclude", "links"))
    params = SimpleNamespace(domain=[start], sitemap=[], max_pages=1, **plain)
    parts: dict[str, Any] = dict.fromkeys(Audit.__dataclass_fields__)
    audit = Audit(**parts | {"params": params, "policies": SimpleNamespace(at=policies.get), "sites": []})
    assert audit.link_scope().homes == [home]


def test_spider_that_is_not_ours_has_no_audit() -> None:
    crawler = get_crawler(Spider)
    crawler.spider = Spider("another")
    assert Audit.of(crawler) is None
