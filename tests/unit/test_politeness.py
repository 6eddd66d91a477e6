"""What the politeness of a crawl tells of its hosts."""

from __future__ import annotations

import time

from scrapy import Spider
from scrapy.utils.test import get_crawler

from sitemapcrawler.politeness import PolitenessMiddleware


def test_host_rests_for_as_long_as_it_wants() -> None:
    politeness = PolitenessMiddleware(get_crawler(Spider))
    politeness._host("busy.example").pause(40)
    assert 39 < politeness.resting("busy.example") <= 40
    politeness._host("rested.example").resumes = time.monotonic() - 1
    assert politeness.resting("rested.example") == politeness.resting("unknown.example") == 0
