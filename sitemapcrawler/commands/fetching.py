"""Downloads one sitemap for `read_sitemap`, in a process of its own, with the handlers and middlewares of a crawl."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Self

from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from twisted.python.failure import Failure

from sitemapcrawler import urls
from sitemapcrawler.cli import project_settings
from sitemapcrawler.commands.running import refuse
from sitemapcrawler.crawl.configuring import add_contact, max_fetched
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.state import ArgumentSpider, shared_parts
from sitemapcrawler.download import answers
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.spiders.checking import check
from sitemapcrawler.spiders.running import run

SETTINGS: dict[str, object] = {"LOG_LEVEL": "ERROR", "ITEM_PIPELINES": {}, "FEEDS": {}, "SITEMAP_PROGRESS": False}
"""Settings of a download, in which there are no records."""


class FileSpider(ArgumentSpider):
    """Fetches one sitemap, and writes its content to a file."""

    name = "file"
    place: Path
    result: FetchResult | None = None
    """Answer to the request; None before."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the contact to USER_AGENT, as crawls do."""
        super().update_settings(settings)
        add_contact(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, params: Params, place: Path, **kwargs: object) -> Self:
        """`params`: arguments that name the sitemap alone; `place`: file to write."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.params, spider.place = params, place
        shared_parts(crawler, params)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Request the sitemap."""
        [url] = self.params.sitemaps
        meta = Body(max_fetched(self.crawler.settings)).meta()
        yield Request(urls.as_sent(url), self.keep, errback=self.keep_failed, meta=meta, dont_filter=True)

    def keep(self, response: Response) -> None:
        """Write the content of an answer."""
        self._keep(answers.from_response(response))

    def keep_failed(self, failure: Failure) -> None:
        """Write what came before a failure."""
        self._keep(answers.from_failure(failure))

    def _keep(self, result: FetchResult) -> None:
        self.result = result
        with self.place.open("wb") as file:
            file.writelines(result.body.chunks())
        result.body.close()


def main(arguments: Sequence[str]) -> None:
    """Fetch a URL into a file; `arguments`: URL, path, and settings as a JSON object.

    Prints the answer as JSON: the fields of `api.Download`. Exits with code 2 and one line on standard error for an
    invalid URL or setting.
    """
    url, place, given = arguments
    settings = project_settings()
    settings.setdict(SETTINGS, SETTINGS_PRIORITIES["cmdline"] - 1)
    settings.setdict(json.loads(given), "cmdline")
    try:
        check(settings)
        params = Params.parse({"sitemap": url})
    except ValueError as error:
        refuse(str(error))
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(FileSpider)
    code = run(process, crawler, {"params": params, "place": Path(place)})
    spider = crawler.spider
    result = spider.result if isinstance(spider, FileSpider) else None
    if result is None:
        sys.exit(code or 1)
    answer = {
        "url": params.sitemaps[0],
        "status": result.status,
        "final_url": result.final_url,
        "hops": [{"status": hop.status, "url": hop.url} for hop in result.hops],
        "error": result.error,
        "content_encoding": result.content_encoding,
        "content_type": result.header("Content-Type"),
        "etag": result.header("ETag"),
        "last_modified": result.header("Last-Modified"),
    }
    print(json.dumps(answer))
