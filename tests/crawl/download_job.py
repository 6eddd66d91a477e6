"""Makes the requests of a job, in a process of its own, and writes down what became of each.

Called with the path of the job: {`requests`: {name: {url, and if wanted method, meta, limit, plain}}, `settings`,
`named`: [authority], `files`: [URL], `names`: {name: [address]}, `stop`: path, `after`: {name: URL}, `beside`: [{`requests`,
`named`}]}, the last for other crawls in the same process. The result is written beside it: {`results`: {name: {..}},
`stats`: {..}, `beside`: [{name: {..}}]}.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from scrapy.resolver import dnscache
from twisted.internet.address import IPv4Address
from twisted.python.failure import Failure

from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.shared import Named, stopping
from sitemapcrawler.urls import Authority

SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    "CONCURRENT_REQUESTS": 32,
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
        "sitemapcrawler.middlewares.adapted.CollectedBodyCompressionMiddleware": 590,
    },
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_HANDLERS": {
        "data": None,
        "file": "sitemapcrawler.download.handlers.NamedFileHandler",
        "ftp": None,
        "http": "sitemapcrawler.download.handlers.GuardedDownloadHandler",
        "https": "sitemapcrawler.download.handlers.GuardedDownloadHandler",
        "s3": None,
    },
    "DOWNLOAD_TIMEOUT": 20,
    "EXTENSIONS": {"sitemapcrawler.download.bodies.BodyCollector": 0},
    "LOG_LEVEL": "INFO",
    "RETRY_TIMES": 1,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
}


class JobSpider(Spider):
    """Makes the requests of a job and remembers what became of each."""

    name = "job"

    def __init__(self, job: dict[str, Any]) -> None:
        super().__init__()
        self.job = job
        self.results: dict[str, dict[str, Any]] = {}
        self.waiting = len(job["requests"])

    async def start(self) -> AsyncIterator[Request]:
        for name, wanted in self.job["requests"].items():
            yield self.request(name, **wanted)

    def request(
        self, name: str, url: str, method: str = "GET", meta: Any = None, limit: int = 0, plain: bool = False
    ) -> Request:
        collected = {} if plain else Body(limit).meta()
        return Request(
            url,
            method=method,
            meta={"handle_httpstatus_all": False, **collected, **(meta or {})},
            dont_filter=True,
            callback=self.answered,
            errback=self.failed,
            cb_kwargs={"name": name},
        )

    def answered(self, response: Response, name: str) -> None:
        self.results[name] = {
            "status": response.status,
            "url": response.url,
            "flags": response.flags,
            "in_memory": len(response.body),
            "encoding": (response.headers.get("Content-Encoding") or b"").decode(),
        } | self.collected(response.request)

    def failed(self, failure: Failure) -> Iterator[Request]:
        request: Request = failure.request  # type: ignore[attr-defined] # set by Scrapy
        name = request.cb_kwargs["name"]
        error = {"error": type(failure.value).__name__, "message": str(failure.value)}
        self.results[name] = error | self.collected(request)
        if after := self.job.get("after", {}).get(name):
            yield self.request(f"after {name}", after)

    def collected(self, request: Request | None) -> dict[str, Any]:
        body = request.meta.get(BODY_KEY) if request else None
        if not isinstance(body, Body):
            return {}
        read = b"".join(body.chunks())
        return {
            "size": body.size,
            "digest": digest(read),
            "true_digest": body.digest() == blake2b(read, digest_size=16).digest(),
            "overflowed": body.overflowed,
            "body_status": body.status,
            "headers": sorted(name.decode() for name in body.headers or ()),
        }


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def crawl(path: Path) -> None:
    """Run the job at `path` and write its results beside it."""
    job = json.loads(path.read_text())
    process = CrawlerProcess(SETTINGS | job.get("settings", {}))
    crawler = process.create_crawler(JobSpider)
    Named.of(crawler).files |= set(job.get("files", ()))
    answer_for_dns(job.get("names", {}), "Hostname" in crawler.settings["TWISTED_DNS_RESOLVER"])
    stop = Stop(crawler, job.get("stop"))
    crawler.signals.connect(stop.headers_received, signal=signals.headers_received)
    beside = [process.create_crawler(JobSpider) for _ in job.get("beside", ())]
    for each, its in zip([crawler, *beside], [job, *job.get("beside", ())], strict=True):
        Named.of(each).authorities |= {Authority(host, port) for host, port in its.get("named", ())}
        process.crawl(each, job=its)
    process.start()
    assert isinstance(crawler.spider, JobSpider)
    assert crawler.stats is not None
    stats = {key: value for key, value in crawler.stats.get_stats().items() if isinstance(value, int | float | str)}
    results = [each.spider.results for each in beside if isinstance(each.spider, JobSpider)]
    written = {"results": crawler.spider.results, "stats": stats, "beside": results}
    path.with_suffix(".out").write_text(json.dumps(written))


def answer_for_dns(names: dict[str, list[str]], all_of_them: bool) -> None:
    """Have names resolve to addresses, for the resolvers of Scrapy (IPv4 only), ours and asyncio's; other names are left
    to the system."""
    for name, addresses in names.items():
        dnscache[name] = [IPv4Address("TCP", address, 0) for address in addresses] if all_of_them else addresses[0]
    ask = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> list[Any]:
        return [answer for each in names.get(host, [host]) for answer in ask(each, *args, **options)]

    socket.getaddrinfo = getaddrinfo


class Stop:
    """Says that the crawl ends, once the headers of an answer have come."""

    def __init__(self, crawler: Crawler, path: str | None) -> None:
        self.crawler = crawler
        self.path = path

    def headers_received(self, request: Request) -> None:
        if self.path is not None and request.url.endswith(self.path):
            self.crawler.signals.send_catch_log(stopping)


if __name__ == "__main__":
    crawl(Path(sys.argv[1]))
