"""Requests unlisted pages: those that links lead to, breadth first from the home page, and those in lists."""

from __future__ import annotations

import logging
from functools import partial

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.jobs.coverage import Lists
from sitemapcrawler.jobs.job import Frontier, Job
from sitemapcrawler.jobs.links import MAX_CLICKS, FoundBy, Links, LinkScope
from sitemapcrawler.jobs.protocols import Arguments
from sitemapcrawler.replies.indexability import judged
from sitemapcrawler.replies.kinds import Reason, ReplyKind, at_end
from sitemapcrawler.urls.display import counted
from sitemapcrawler.verification.verifying import Verifier, modified

logger = logging.getLogger(__name__)

AT_ONCE = 200
"""Found pages requested between two looks at the limits: enough to keep all connections busy."""
MAX_PAGES, DEPTH = "max_pages", "depth"
"""What ends following early."""


class Follower:
    """Requests unlisted pages that links lead to, and those in lists. Its frontier is in the job's database, so that a
    killed crawl resumes."""

    def __init__(self, verifier: Verifier, job: Job, stop: Stop, params: Arguments) -> None:
        self.ended: str | None = None
        """What ended following links early: max_pages or depth."""
        self.comparing_ended: str | None = None
        """What ended requesting the pages of lists early: max_pages."""
        self._verifier, self._job, self._stop = verifier, job, stop
        self._params = params

    async def run(self, scope: LinkScope) -> None:
        """Request found pages, level by level, or the home pages alone, then those of lists, until none is left, a
        limit is reached, or the crawl stops."""
        if scope.follows:
            await self._follow(scope)
        elif self._params.links != "no":
            homes = await self._job.follow(Links.unlisted_homes, Links(self._job.store, scope))
            await self._ask(homes or [], scope, FoundBy.LINK)
        if self._params.compare and not self._stop.begun():
            await self._compare(scope)

    async def _follow(self, scope: LinkScope) -> None:
        links = Links(self._job.store, scope)
        await self._job.follow(Links.begin, links)
        asked = 0
        while not self._stop.begun():
            await self._job.follow(Links.wanted, links)
            number, is_whole = await self._request(Links, links, scope)
            asked += number
            if not is_whole:
                self.ended = MAX_PAGES
            if not is_whole or not await self._job.follow(Links.deeper, links):
                break
        if links.depth >= MAX_CLICKS and self.ended is None:
            self.ended = DEPTH
        logger.info("followed links to %s", counted(asked, "unlisted page"))

    async def _compare(self, scope: LinkScope) -> None:
        lists = await self._job.load_lists(scope, self._params)
        await self._job.follow(Lists.wanted, lists)
        asked, is_whole = await self._request(Lists, lists, scope)
        if not is_whole:
            self.comparing_ended = MAX_PAGES
        logger.info("requested %s of lists", counted(asked, "unlisted page"))

    async def _request(self, kind: type[Frontier], frontier: Frontier, scope: LinkScope) -> tuple[int, bool]:
        """Request the wanted pages. Returns their number, and False if `max_pages` was reached."""
        asked, first = 0, 1
        while not self._stop.begun():
            found = await self._job.follow(partial(kind.take, first=first, many=AT_ONCE), frontier)
            if found is None:
                break
            first += AT_ONCE
            left = await self._job.follow(kind.left, frontier) or 0
            asked += await self._ask(found[:left], scope, kind.found_by)
            if len(found) > left:
                return asked, False
        return asked, True

    async def _ask(self, found: list[str], scope: LinkScope, by: FoundBy) -> int:
        outcomes = await self._verifier.verify(found)
        asked = 0
        for url, outcome in outcomes.items():
            reply = outcome.reply
            if reply.reason == Reason.STOPPED:
                continue
            asked += 1
            ends = [(url, reply, by)]
            if reply.redirects and reply.final_url and reply.kind != ReplyKind.REDIRECT_LOOP and reply.reason is None:
                ends.append((reply.final_url, at_end(reply), FoundBy.REDIRECT))
            for end, answer, led in ends:
                self._job.records.found(judged(end, answer, scope.verdicts), led, modified(outcome))
        return asked
