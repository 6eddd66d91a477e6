"""Downloads a sitemap for `read_sitemap`, in a process of its own, with the handlers and middlewares of a crawl."""

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
from sitemapcrawler.crawl.configuring import add_contact, max_fetched
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.state import ArgumentSpider, shared_parts
from sitemapcrawler.download import answers
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.options.base import refuse
from sitemapcrawler.spiders.running import run
from sitemapcrawler.spiders.sitemap import check

SETTINGS: dict[str, object] = {"LOG_LEVEL": "ERROR", "ITEM_PIPELINES": {}, "FEEDS": {}, "SITEMAP_PROGRESS": False}
"""Settings of a download, in which there are no records."""


class FileSpider(ArgumentSpider):
    """Fetches a sitemap, and writes its content to a file."""

    name = "file"
    url: str
    place: Path
    result: FetchResult | None = None

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the contact to USER_AGENT, as crawls do."""
        super().update_settings(settings)
        add_contact(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, params: Params, place: Path, **kwargs: object) -> Self:
        """`params`: its only argument is the URL; `place`: file to write."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.params, spider.place = params, place
        [spider.url] = params.sitemap
        shared_parts(crawler, params)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Request the sitemap."""
        meta = Body(max_fetched(self.crawler.settings)).meta()
        yield Request(urls.as_sent(self.url), self.keep, errback=self.keep_failed, meta=meta, dont_filter=True)

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
    """Fetch a URL into a file. The only argument is a JSON object: `url`, `file` to write, and `settings`.

    Prints the answer as JSON: the fields of `api.sitemaps.Download`. Exits with code 2 and one line on standard error
    for an invalid URL or setting.
    """
    job = json.loads(arguments[0])
    settings = project_settings()
    settings.setdict(SETTINGS, SETTINGS_PRIORITIES["cmdline"] - 1)
    settings.setdict(job["settings"], "cmdline")
    try:
        check(settings)
        params = Params.parse({"sitemap": job["url"]})
    except ValueError as error:
        refuse(str(error))
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(FileSpider)
    code = run(process, crawler, {"params": params, "place": Path(job["file"])})
    spider = crawler.spider
    if not isinstance(spider, FileSpider) or spider.result is None:
        sys.exit(code or 1)
    print(json.dumps(_answer(spider.url, spider.result)))


def _answer(url: str, result: FetchResult) -> dict[str, object]:
    return {
        "url": url,
        "status": result.status,
        "final_url": result.final_url,
        "hops": [{"status": hop.status, "url": hop.url} for hop in result.hops],
        "error": result.error,
        "content_encoding": result.content_encoding,
        "content_type": result.header("Content-Type"),
        "etag": result.header("ETag"),
        "last_modified": result.header("Last-Modified"),
    }
