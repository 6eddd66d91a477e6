"""Requests some pages of a site as other crawlers would, with the argument `fetch_as`, and compares what they get.

These requests alone carry the user agent of another crawler. The robots.txt for that crawler decides on each of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler.download.answers import download, reason
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.handlers import strict_meta
from sitemapcrawler.download.policies import AGENT_KEY, Policies, own_agent
from sitemapcrawler.download.shared import Attempts, Stop
from sitemapcrawler.items import AnswerRecord
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.page_choice import answered, pages_to_ask
from sitemapcrawler.replies.crawler_answers import (
    HEADERS,
    AnswerVerdict,
    PageAnswer,
    compare,
    should_repeat,
    should_stop,
)
from sitemapcrawler.replies.kinds import Reason, kind_of
from sitemapcrawler.replies.page import PAGE_LIMIT, Html, PageReader, is_html, joined, page_of, plain_headers
from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.urls import as_sent
from sitemapcrawler.urls.display import counted

logger = logging.getLogger(__name__)

MAX_PAGES = 5
"""Pages of a site that are requested as each crawler at most."""
TIMEOUT_S = 30
"""Seconds in which a page must be complete that is requested as a crawler."""
MS = 1000
WANTED = frozenset(name.title().encode() for name in (*HEADERS, "content-encoding"))
"""Headers that are kept, as Scrapy spells them."""


class Stopped(Exception):
    """The crawl ends before the request could be made, or its proxy failed."""


class AskerAs:
    """Requests pages as crawlers, page by page and one request at a time for each site."""

    def __init__(self, crawler: Crawler, job: Job, agents: Sequence[Agent], sites: Collection[str]) -> None:
        """`sites`: those that the user named, as from `site_of`; no other is requested."""
        self._crawler, self._job, self._agents, self._sites = crawler, job, agents, sites
        self._own = own_agent(crawler.settings)
        self._policies, self._stop = Policies.of(crawler), Stop.of(crawler)
        self._meta = {"dont_redirect": True, "dont_retry": True, "download_timeout": TIMEOUT_S}
        self._meta |= {"give_up_log_level": logging.DEBUG, **strict_meta(crawler.settings)}
        self._silent: set[tuple[str, Agent]] = set()

    async def run(self) -> None:
        """Request the pages of all sites, and record what crawlers get for each page."""
        chosen = await self._job.follow(partial(pages_to_ask, sites=self._sites), self._job.store)
        known = await self._job.follow(answered, self._job.store)
        if chosen is not None and not chosen:
            logger.warning("no page of a named site is listed: what crawlers get is not known")
        if chosen is not None and known is not None:
            await asyncio.gather(*(self._of_site(site, pages, known) for site, pages in chosen.items()))

    async def _of_site(self, site: str, pages: Sequence[str], known: Collection[tuple[str, str]]) -> None:
        compared = 0
        for url in pages:
            wanted = [agent for agent in self._agents if (url, agent.name) not in known]
            try:
                compared += not wanted or await self._of_page(site, url, wanted)
            except Stopped:
                return
            if compared == MAX_PAGES:
                break
        number = counted(compared, "page")
        logger.info("%s: compared what %s get for %s", site, counted(len(self._agents), "crawler"), number)

    async def _of_page(self, site: str, url: str, agents: Sequence[Agent]) -> bool:
        """Compare what crawlers get for a page. Returns False if it is no page to us.

        Where an answer differs, asks again as ourselves, after all crawlers, and then as the crawler.
        """
        ours = [await self._ask(url)]
        if not ours[0].is_page:
            return False
        denied = {agent: await self._denial(site, url, agent) for agent in agents}
        allowed = [agent for agent in agents if denied[agent] is None]
        theirs = {agent: await self._ask(url, agent) for agent in allowed}
        if any(compare(answer, ours)[0] is not AnswerVerdict.SAME for answer in theirs.values()):
            ours.append(await self._ask(url))
        for agent in agents:
            answer, verdict, note = PageAnswer(), AnswerVerdict.NOT_ASKED, denied[agent] or ""
            if agent in theirs:
                answer, verdict, note = await self._compared(url, agent, theirs[agent], ours)
                if should_stop(answer):
                    self._silent.add((site, agent))
            self._job.records.answer(record(url, agent, answer, ours[0], verdict, note))
        return True

    async def _compared(
        self, url: str, agent: Agent, answer: PageAnswer, ours: Sequence[PageAnswer]
    ) -> tuple[PageAnswer, AnswerVerdict, str]:
        """The answer to a crawler, or to its second request if that may be another one, the verdict and the
        difference."""
        verdict, note = compare(answer, ours)
        if should_repeat(answer, verdict):
            answer = await self._ask(url, agent)
            verdict, note = compare(answer, ours)
        return answer, verdict, note

    async def _denial(self, site: str, url: str, agent: Agent) -> str | None:
        """Why a page is not requested as a crawler: robots.txt or an earlier answer; None if it is."""
        if (site, agent) in self._silent:
            return "skipped after an earlier page got no answer, or status 429 or 503"
        policy = await self._policies.obtain(url)
        if policy is None:
            raise Stopped
        verdict = policy.verdict(url, agent)
        if verdict.allowed:
            return None
        line = f" (line {verdict.rule.line}: {verdict.rule.text})" if verdict.rule is not None else ""
        return f"robots.txt disallows it{line}"

    async def _ask(self, url: str, agent: Agent | None = None) -> PageAnswer:
        """Request a page as a crawler, or as ourselves. Raises Stopped."""
        if self._stop.begun():
            raise Stopped
        attempts, body = Attempts(), Body(PAGE_LIMIT)
        meta = {**self._meta, **attempts.meta(), **body.meta(), AGENT_KEY: agent or self._own}
        headers = {}
        if agent is not None:  # the caller has asked the robots.txt for that crawler
            meta["dont_obey_robotstxt"] = True
            headers = {"User-Agent": agent.header}
        try:
            request = Request(as_sent(url), NO_CALLBACK, headers=headers, meta=meta, dont_filter=True)
            response = await download(self._crawler, request)
            known = plain_headers(one for one in dict.items(response.headers) if one[0] in WANTED)
            if "dataloss" in response.flags:
                return PageAnswer(error="the connection ended before the body did")
            html, size = html_of(body, known)
            page = page_of(html, known, response.url)
            elapsed = round(attempts.seconds * MS)
            return PageAnswer.of(url, response.status, known, html or Html(), page, size=size, elapsed_ms=elapsed)
        except Exception as error:
            if kind_of(error) is Reason.STOPPED or self._stop.begun():
                raise Stopped from None
            return PageAnswer(error=reason(error))
        finally:
            body.close()


def html_of(body: Body, headers: dict[str, list[str]]) -> tuple[Html | None, int]:
    """The page in a body, None if it is no HTML, and its size."""
    kind = joined(headers.get("content-type", ()))
    if not is_html(kind):
        return None, body.size
    reader = PageReader(kind, joined(headers.get("content-encoding", ())))
    for chunk in body.chunks():
        reader.feed(chunk)
    html = reader.close(not body.overflowed)
    return html, len(html.text)


def record(
    url: str, agent: Agent, theirs: PageAnswer, ours: PageAnswer, verdict: AnswerVerdict, note: str
) -> AnswerRecord:
    """The record of what a crawler gets for a page. `theirs`, `ours`: the answers to it and to us."""
    return AnswerRecord(
        url,
        agent.name,
        str(verdict),
        note or None,
        theirs.status,
        theirs.firewall,
        theirs.price,
        theirs.location,
        theirs.page.noindex if theirs.page is not None else None,
        theirs.words,
        ours.words,
        theirs.elapsed_ms or None,
        agent.header,
    )
