"""Requests the pages that links lead to, breadth first from the home page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.links import MAX_CLICKS, Links, Scope
from sitemapcrawler.replies.indexability import set_indexability
from sitemapcrawler.replies.kinds import Reason
from sitemapcrawler.urls.display import counted
from sitemapcrawler.verification.status import recorded
from sitemapcrawler.verification.verifying import Verifier

logger = logging.getLogger(__name__)

AT_ONCE = 200
"""Found pages requested between two looks at the limits: enough to keep all connections busy."""
MAX_PAGES, DEPTH = "max_pages", "depth"
"""What ends following early."""


class Follower:
    """Follows links of pages. Its frontier is in the job's database, so that a killed crawl resumes."""

    def __init__(
        self,
        verifier: Verifier,
        job: Job,
        scope: Callable[[], Scope],
        stopped: Callable[[], bool],
        failed: Callable[[], None],
    ) -> None:
        """`scope`: called when following begins. `stopped`: returns True once the crawl is stopping. `failed`: called
        after an internal error."""
        self.ended: str | None = None
        """What ended following early: max_pages or depth."""
        self._verifier, self._job, self._scope = verifier, job, scope
        self._stopped, self._failed = stopped, failed

    async def run(self) -> None:
        """Request found pages, level by level, until none is left, a limit is reached, or the crawl stops."""
        try:
            await self._run(self._scope())
        except Exception:
            logger.exception("links could not be followed: internal error")
            self._failed()

    async def _run(self, scope: Scope) -> None:
        links = Links(self._job.store, scope)
        await self._job.follow(Links.begin, links)
        asked = 0
        while not self._stopped():
            await self._job.follow(Links.wanted, links)
            asked += await self._level(links, scope)
            if self.ended is not None or not await self._job.follow(Links.deeper, links):
                break
        if links.depth >= MAX_CLICKS and self.ended is None:
            self.ended = DEPTH
        logger.info("followed links to %s", counted(asked, "unlisted page"))

    async def _level(self, links: Links, scope: Scope) -> int:
        """Request the pages of one level. Returns their number."""
        asked, first = 0, 1
        while not self._stopped():
            found = await self._job.follow(partial(Links.take, first=first, many=AT_ONCE), links)
            if found is None:
                break
            first += AT_ONCE
            left = await self._job.follow(Links.left, links) or 0
            if len(found) > left:
                self.ended = MAX_PAGES
            asked += await self._ask(found[:left], scope)
            if self.ended is not None:
                break
        return asked

    async def _ask(self, found: list[str], scope: Scope) -> int:
        outcomes = await self._verifier.verify(found)
        asked = 0
        for url, outcome in outcomes.items():
            record = UrlRecord(loc=url, reply=recorded(outcome))
            assert record.reply is not None  # set above
            if record.reply.reason == Reason.STOPPED:
                continue
            record.blocked_for = [scope.search_engine] if scope.is_blocked(url) else []
            set_indexability(record, scope.search_engine)
            self._job.records.found(record)
            asked += 1
        return asked
