"""Other commands than a crawl, and a script with a spider of pages, as lists of words."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.crawl.crawling import NO_DELAYS

SPIDER = """
import sys
from scrapy import Request
from scrapy.crawler import CrawlerProcess
from sitemapcrawler import SitemapSpider

class Pages(SitemapSpider):
    name = "pages"
    custom_settings = {"LOG_LEVEL": "INFO", "AUTOTHROTTLE_ENABLED": False, "RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 5,
                       "METAREFRESH_ENABLED": True}

    if OWN_REQUESTS:
        def page_request(self, entry):
            return Request(entry.loc, headers={"X-Own": "1"})

    def parse_page(self, response, entry):
        print("GOT", ascii(entry.loc), response.url)

    def page_failed(self, failure, entry):
        print("FAILED", ascii(entry.loc), type(failure.value).__name__)

process = CrawlerProcess()
process.crawl(Pages, **dict(word.split("=", 1) for word in sys.argv[1:]))
process.start()
"""
"""Prints each page that it gets, or does not get, after the URL in its sitemap."""


def program(*words: str, settings: Mapping[str, object]) -> list[str]:
    """A command of the console script, without delays."""
    options = [part for name, value in {**NO_DELAYS, **settings}.items() for part in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "sitemapcrawler.cli", *words, *options]


def spider(folder: Path, own_requests: bool = False, **arguments: str) -> list[str]:
    """A script in a folder that runs the spider. `own_requests`: it makes its requests itself."""
    script = folder / "pages.py"
    script.write_text(SPIDER.replace("OWN_REQUESTS", str(own_requests)))
    return [sys.executable, str(script), *(f"{name}={value}" for name, value in arguments.items())]
