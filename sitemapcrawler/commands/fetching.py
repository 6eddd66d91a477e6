"""Downloads sitemaps for `read_sitemap` and `fix`, in one process, with the handlers and middlewares of a crawl."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
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
from sitemapcrawler.download.body_cache import Rights
from sitemapcrawler.options.base import refuse
from sitemapcrawler.spiders.running import run
from sitemapcrawler.spiders.sitemap import check

SETTINGS: dict[str, object] = {"LOG_LEVEL": "ERROR", "ITEM_PIPELINES": {}, "FEEDS": {}, "SITEMAP_PROGRESS": False}
"""Settings of a download, in which there are no records."""


class FileSpider(ArgumentSpider):
    """Fetches sitemaps, and writes the content of each to a file."""

    name = "file"
    places: Mapping[str, Path]
    """{URL: file to write}."""
    results: dict[str, FetchResult]
    """Answers so far, by URL."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the contact to USER_AGENT, as crawls do."""
        super().update_settings(settings)
        add_contact(settings)

    @classmethod
    def from_crawler(
        cls,
        crawler: Crawler,
        *args: object,
        params: Params,
        rights: Rights,
        places: Mapping[str, Path],
        **kwargs: object,
    ) -> Self:
        """`params`, `rights`: what the user named, as arguments or as an earlier crawl has noted it."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.params, spider.places, spider.results = params, places, {}
        _, named, _ = shared_parts(crawler, params)
        named.authorities |= rights.authorities
        named.own |= rights.own
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Request the sitemaps."""
        for url in self.places:
            meta = Body(max_fetched(self.crawler.settings)).meta()
            yield Request(
                urls.as_sent(url),
                self.keep,
                errback=self.keep_failed,
                meta=meta,
                cb_kwargs={"url": url},
                dont_filter=True,
            )

    def keep(self, response: Response, url: str) -> None:
        """Write the content of an answer."""
        self._keep(url, answers.from_response(response))

    def keep_failed(self, failure: Failure) -> None:
        """Write what came before a failure."""
        url: str = failure.request.cb_kwargs["url"]  # type: ignore[attr-defined]  # Scrapy sets it
        self._keep(url, answers.from_failure(failure))

    def _keep(self, url: str, result: FetchResult) -> None:
        self.results[url] = result
        with self.places[url].open("wb") as file:
            file.writelines(result.body.chunks())
        result.body.close()


def main(arguments: Sequence[str]) -> None:
    """Fetch URLs into files; the only argument is what `api.sitemaps.Download.fetch_all` is given, as a JSON object.

    Prints the answers as JSON: the fields of `api.sitemaps.Download`. Exits with code 2 and one line on standard
    error for an invalid URL or setting.
    """
    job = json.loads(arguments[0])
    settings = project_settings()
    settings.setdict(SETTINGS, SETTINGS_PRIORITIES["cmdline"] - 1)
    settings.setdict(job["settings"], "cmdline")
    try:
        check(settings)
        named = Params() if job["rights"] is not None else Params.parse({"sitemap": job["urls"][0]})
    except ValueError as error:
        refuse(str(error))
    wanted = named.sitemap or job["urls"]
    places = {url: Path(job["folder"], f"content-{number}") for number, url in enumerate(wanted)}
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(FileSpider)
    rights = Rights.read(job["rights"] or {})
    code = run(process, crawler, {"params": named, "rights": rights, "places": places})
    spider = crawler.spider
    results = spider.results if isinstance(spider, FileSpider) else {}
    if len(results) < len(places):
        sys.exit(code or 1)
    print(json.dumps([_answer(url, path.name, results[url]) for url, path in places.items()]))


def _answer(url: str, name: str, result: FetchResult) -> dict[str, object]:
    return {
        "name": name,
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
