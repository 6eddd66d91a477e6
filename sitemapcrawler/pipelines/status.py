"""Item pipeline that verifies listed URLs, if the argument `verify` is set."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterator
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from sitemapcrawler.download.private import look_again
from sitemapcrawler.envelopes import FinalBatch, FreshBatch, SitemapEnd
from sitemapcrawler.jobs.index_status import Inspection
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.pipelines import CrawlPipeline
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.verification.asking_as import AskerAs
from sitemapcrawler.verification.following import Follower
from sitemapcrawler.verification.rendering import Renderer
from sitemapcrawler.verification.search_console import Inspector
from sitemapcrawler.verification.url_status import Status

logger = logging.getLogger(__name__)

DRAWN_AT_ONCE = 1000
"""Batch size for the records of a sample."""


class StatusPipeline(CrawlPipeline):
    """Verifies listed URLs and attaches the replies, if the argument `verify` is set."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._finishing: asyncio.Future[None] | None = None
        self._draws = False
        self._follower: Follower | None = None
        self._asker_as: AskerAs | None = None
        self._renderer: Renderer | None = None
        self._inspector: Inspector | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipeline = super().from_crawler(crawler)
        crawler.signals.connect(pipeline.idle, signal=signals.spider_idle)
        return pipeline

    def open_spider(self) -> None:
        audit = self._audit
        self._status, job, params = audit.status, audit.job, audit.params
        if job is None or job.finished:
            return
        self._draws = audit.status is not None and audit.status.draws
        if audit.status is not None and (params.links != "no" or params.compare):
            self._follower = Follower(audit.status.verifier, job, audit.stop, params)
        if params.fetch_as:
            self._asker_as = AskerAs(self._crawler, job, params.crawlers, params.own_sites)
        if params.render is not None:
            crawler = agent(params.render_as) if params.render_as else None
            self._renderer = Renderer(self._crawler, job, params.render, params.seed, params.own_sites, crawler)
        if params.gsc is not None:
            self._inspector = Inspector(self._crawler, job, params)

    async def process_item(self, item: object) -> object:
        """Attach replies to url records. Those of a file that waits for its turn come again in another batch, and those
        of a sample when all is read."""
        match item:
            case FreshBatch(is_judged=False) if self._audit.backlog is not None and self._audit.backlog.put(item):
                pass
            case FreshBatch() if self._status is not None:
                await self._status.judge(item)
            case SitemapEnd(facts=FileFacts() as file) if self._status is not None:
                self._status.conclude(item, file)
        return item

    @property
    def following_ended(self) -> str | None:
        """What ended following links early: max_pages or depth; None if nothing did."""
        return None if self._follower is None else self._follower.ended

    @property
    def comparing_ended(self) -> str | None:
        """What ended requesting the pages of lists early: max_pages; None if nothing did."""
        return None if self._follower is None else self._follower.comparing_ended

    @property
    def inspection(self) -> Inspection | None:
        """Result of asking Search Console; None if it was not asked."""
        return None if self._inspector is None else self._inspector.result

    def idle(self) -> None:
        """Verify the sample, request unlisted pages and pages as other crawlers, render pages, and ask Search Console,
        once all is read; raises DontCloseSpider until it is done."""
        more = (self._follower, self._audit.beside, self._asker_as, self._renderer, self._inspector)
        if self._finishing is None and (self._draws or any(part is not None for part in more)):
            self._finishing = asyncio.ensure_future(self._finish())
            self._finishing.add_done_callback(self._look_again)
        if self._finishing is not None and not self._finishing.done():
            raise DontCloseSpider

    def _look_again(self, _: asyncio.Future[None]) -> None:
        look_again(self._crawler.engine)

    async def close_spider(self) -> None:
        """Wait for what follows when all is read; after a stop, it ends soon."""
        if self._finishing is not None:
            await self._finishing
        if self._status is not None:
            self._status.close()
            if self._audit.backlog is not None:
                self._audit.backlog.close()

    async def _finish(self) -> None:
        for failure, part in self._parts():
            try:
                await part
            except Exception:
                logger.exception("%s: internal error", failure)
                self._audit.stop.note_failure()

    def _parts(self) -> Iterator[tuple[str, Awaitable[None]]]:
        """What follows when all is read, in turn, each with what to say if it fails."""
        status, job = self._status, self._audit.job
        if self._draws and status is not None and job is not None:
            yield "the sample could not be verified", self._draw(status, job)
        if self._follower is not None:
            yield "unlisted pages could not be requested", self._follower.run(self._audit.link_scope())
        if self._audit.beside is not None:
            origins = (site.origin for site in self._audit.sites)
            yield "files beside the sitemap could not be read", self._audit.beside.run(origins)
        if self._asker_as is not None:
            yield "pages could not be requested as crawlers", self._asker_as.run()
        if self._renderer is not None:
            yield "pages could not be rendered", self._renderer.run()
        if self._inspector is not None:
            yield "Search Console could not be asked", self._inspector.run(self._audit.link_scope())

    async def _draw(self, status: Status, job: Job) -> None:
        async for batch, findings in status.draw(job):
            for start in range(0, len(batch), DRAWN_AT_ONCE):
                some = batch.urls[start : start + DRAWN_AT_ONCE]
                await self._audit.delivery.send(FinalBatch(batch.sitemap, some, batch.notes.remove(some)))
            for finding in findings:
                await self._audit.delivery.send_last(finding)
