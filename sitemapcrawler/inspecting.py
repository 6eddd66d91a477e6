"""One inspection: our spider run in this process, what it gives taken as it passes, and shown."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase

from sitemapcrawler import urls
from sitemapcrawler.colours import wants_colour
from sitemapcrawler.findings import inert
from sitemapcrawler.items import READ, SitemapRecord
from sitemapcrawler.overview import document, urls_only
from sitemapcrawler.overview.inspection import Inspection
from sitemapcrawler.overview.screen import Screen
from sitemapcrawler.robots.policy import Outcome
from sitemapcrawler.running import FEED_LOST, NOTHING_READ, STOPPED, run
from sitemapcrawler.standard_output import StandardOutput
from sitemapcrawler.targets import FILE, Target

OVERVIEW, URLS, JSON = "overview", "urls", "json"
"""What is shown."""
LEFT = "nobody reads the output"
"""Reason of a crawl's end, of which nothing is said."""
MAX_ERRORS = 20
"""Lines about single files or errors, at most."""


class Errors(logging.Handler):
    """Keeps what the log would say is wrong, a line each, without tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first line of an error."""
        try:
            message = record.getMessage()
        except Exception:  # an argument that does not fit: the message itself says enough
            message = str(record.msg)
        line = inert((message.strip().splitlines() or [""])[0])
        if len(self.lines) < MAX_ERRORS and line not in self.lines:
            self.lines.append(line)


class Inspector:
    """Runs the spider and shows what it finds."""

    def __init__(self, target: Target, expanded: bool, show: str, complain: Callable[[str], None]) -> None:
        """`complain`: takes a line for standard error."""
        self.output = StandardOutput(self._stop)
        self.errors = Errors()
        self._inspection = Inspection(target, expanded, self._line_of)
        self._show = show
        self._complain = complain
        self._complaints = 0
        self._crawler: Crawler | None = None
        self._closing: asyncio.Task[None] | None = None

    def run(self, process: CrawlerProcessBase, crawler: Crawler, arguments: Mapping[str, Any]) -> int:
        """Inspect; the exit code."""
        self._crawler = crawler
        crawler.signals.connect(self._take, signals.item_scraped)
        crawler.signals.connect(self.output.watch, signals.engine_started)
        code = run(process, crawler, arguments)
        if not self.output.gone and self.output.error is None:
            self._conclude(code)
        if self.output.error is not None:
            self._complain(self.output.error)
            return FEED_LOST
        return 0 if self.output.gone else code

    async def _take(self, item: Any) -> None:
        rows = self._inspection.take(item)
        if self._show != URLS or not self.output.is_open:
            return
        await self.output.send(urls_only.lines(rows, self._inspection, self.output.encoding))
        for row in rows:
            if isinstance(row, SitemapRecord) and row.outcome not in READ and self._inspection.single is not row:
                self._tell(row)

    def _tell(self, record: SitemapRecord) -> None:
        """Say of one of several files that it cannot be read; of a great many, that there are more."""
        if not self.output.is_open:
            return
        self._complaints += 1
        if self._complaints <= MAX_ERRORS:
            self._complain(f"{inert(record.sitemap)}: {inert(record.error or record.outcome)}")
        elif self._complaints == MAX_ERRORS + 1:
            self._complain("more files cannot be read; the command without --urls shows how many")

    # The end.

    def _conclude(self, code: int) -> None:
        """Show what there is, and say why there is no more."""
        inspection = self._inspection
        if self._show == JSON:
            self.output.write(document.text(inspection))
        elif self._show == OVERVIEW and (code != NOTHING_READ or len(inspection.files.records) > 1):
            self.output.write(self._screen().draw(inspection))
        complaint = self._complaint(code)
        for line in self.errors.lines:
            if complaint is None or code != NOTHING_READ:
                self._complain(line)
        if complaint is not None:
            self._complain(complaint)

    def _screen(self) -> Screen:
        output = self.output
        width = shutil.get_terminal_size().columns if output.is_terminal or os.environ.get("COLUMNS") else 0
        return Screen(width, output.encoding.lower().startswith("utf"), wants_colour(sys.stdout))

    def _complaint(self, code: int) -> str | None:
        """Why not everything was read, in one line; None where that is shown already."""
        single, partial = self._inspection.single, self._inspection.summary.partial
        if code == NOTHING_READ:
            return f"{inert(self._inspection.target.text)}: {self._why_nothing(single)}"
        if self._show == URLS and single is not None and single.outcome not in READ:
            return f"{inert(self._inspection.target.text)}: {inert(single.error or single.outcome)}"
        if self._show == URLS and code == STOPPED:
            return f"stopped before the end: {inert(partial or 'stopped')}"
        return None

    def _why_nothing(self, single: SitemapRecord | None) -> str:
        records = self._inspection.files.records
        if single is not None:
            hint = single.format == "html" and self._inspection.target.kind != FILE
            return inert(single.error or "") + ("; --discover looks for the sitemaps of its site" if hint else "")
        if records:
            return f"none of {len(records):,} sitemaps can be read, the first because: {inert(records[0].error or '')}"
        spider: Any = self._crawler.spider if self._crawler is not None else None
        policies = [*spider.policies.known.values()] if spider is not None else []
        if policies and all(policy.outcome is Outcome.UNREACHABLE for policy in policies):
            return inert(policies[-1].reason or "no answer")
        return "no sitemap found: none in robots.txt, at the usual paths, or linked from the home page"

    def _line_of(self, robots: str, sitemap: str) -> int | None:
        spider: Any = self._crawler.spider if self._crawler is not None else None
        policy = spider.policies.at(robots) if spider is not None else None
        key = urls.visit_key(sitemap)
        named = policy.sitemaps if policy is not None else ()
        return next((one.line for one in named if urls.visit_key(one.url) == key), None)

    def _stop(self) -> None:
        """End the crawl at once: nothing can be written any more."""
        crawler: Any = self._crawler
        if crawler is None or crawler.engine is None or self._closing is not None or not crawler.engine.running:
            return
        if crawler.spider.begin_stop is not None:
            crawler.spider.begin_stop(LEFT)
        self._closing = asyncio.ensure_future(crawler.engine.close_spider_async(reason=LEFT))
