"""Sends a message after an audit that has found something new, to the channels of the argument `notify`."""

from __future__ import annotations

import asyncio
import logging
from importlib import import_module
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.feeds.folder import PAGE
from sitemapcrawler.feeds.reporting import LOST, Reporting
from sitemapcrawler.report.news import news
from sitemapcrawler.report.wording import health
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.urls.display import inert

logger = logging.getLogger(__name__)


class Notifying:
    """Scrapy extension: at the end of a crawl with `notify`, one message with the verdict, what is new, and the path of
    the report. A channel that fails is one line in the log."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the end of the crawl. Raises NotConfigured unless the spider is an AuditSpider."""
        if not issubclass(crawler.spidercls, AuditSpider):
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension.stopped, signals.engine_stopped)
        return extension

    async def stopped(self) -> None:
        """Send the message, once the report is in its place."""
        audit, reporting = Audit.of(self._crawler), self._crawler.get_extension(Reporting)
        if audit is None or not audit.params.notify or reporting is None:
            return
        lost = self._crawler.stats.get_value(LOST)
        report = reporting.report
        told = [f"The report is not written: {lost}."] if lost else news(report) if report is not None else []
        if not told:
            return
        site = ", ".join(map(str, audit.params.sites)) or "local files"
        headline = "no report" if lost or report is None else health(report).headline
        where = [] if lost else [f"Report: {reporting.folder / PAGE}"]
        for number, channel in enumerate(audit.params.notify, 1):
            if not await asyncio.to_thread(send, channel, inert(f"{site}: {headline}"), "\n".join([*told, *where])):
                logger.error("notify: no message could be sent to channel %d (%s)", number, channel.partition(":")[0])


def send(channel: str, title: str, text: str) -> bool:
    """Send a message as plain text by Apprise, which gives up after some seconds. Returns False if that fails, or
    unless the address says `redirect=yes`, if it redirects: most redirects lose the message."""
    apprise = import_module("apprise")
    for name in ("apprise", "urllib3"):  # their lines name addresses and paths, which are secrets
        logging.getLogger(name).setLevel(logging.CRITICAL)
    asset = apprise.AppriseAsset()
    asset.http_redirects = False
    sender = apprise.Apprise(asset=asset)
    return bool(sender.add(channel) and sender.notify(text, title, body_format=apprise.NotifyFormat.TEXT))
