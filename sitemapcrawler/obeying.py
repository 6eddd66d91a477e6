"""Obeying robots.txt for our own requests."""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from sitemapcrawler.answers import reason

logger = logging.getLogger(__name__)


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware; a robots.txt that cannot be had is one line in the log."""

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules for a request; None where there are none. Asked once for each authority."""
        url = urlparse_cached(request)
        if url.netloc not in self._parsers:
            self._parsers[url.netloc] = Deferred()
            await self._fetch(f"{url.scheme}://{url.netloc}/robots.txt", url.netloc, request)
        return await super().robot_parser(request)

    async def _fetch(self, robots_url: str, netloc: str, request: Request) -> None:
        meta = {"dont_obey_robotstxt": True}
        robots = Request(robots_url, priority=self.DOWNLOAD_PRIORITY, meta=meta, callback=NO_CALLBACK)
        try:
            response = await self.crawler.engine.download_async(robots)
            await self._parse_robots(response, netloc, request)
        except Exception as error:
            logger.warning("%s: %s", robots_url, reason(error))
            self._robots_error(error, netloc)
