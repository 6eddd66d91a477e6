"""What the politeness of a crawl tells of its hosts."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.utils.test import get_crawler

from sitemapcrawler.politeness import PolitenessMiddleware
from sitemapcrawler.slots import leave_slot


def test_host_rests_for_as_long_as_it_wants() -> None:
    politeness = PolitenessMiddleware(get_crawler(Spider))
    politeness._host("busy.example").pause(40)
    assert 39 < politeness.resting("busy.example") <= 40
    politeness._host("rested.example").resumes = time.monotonic() - 1
    assert politeness.resting("rested.example") == politeness.resting("unknown.example") == 0


@pytest.mark.parametrize(
    ("meta", "slot"),
    [
        ({"redirect_urls": ["http://slow.example/a"], "download_slot": "slow.example"}, "quick.example"),
        ({"redirect_urls": ["http://slow.example/a"], "download_slot": "chosen"}, "chosen"),
        ({"redirect_urls": ["http://slow.example/a"]}, "quick.example"),
        ({"download_slot": "slow.example"}, "slow.example"),
    ],
)
def test_redirected_request_waits_for_the_host_that_it_asks(meta: dict[str, Any], slot: str) -> None:
    downloader: Any = SimpleNamespace(ip_concurrency=0, DOWNLOAD_SLOT=Downloader.DOWNLOAD_SLOT)
    downloader.get_slot_key = lambda request: Downloader.get_slot_key(downloader, request)
    request = Request("http://quick.example/b", meta=meta)
    leave_slot(downloader, request)
    assert downloader.get_slot_key(request) == slot
