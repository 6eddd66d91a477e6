"""Asks Google's URL Inspection API for the index status of listed URLs, with the argument `gsc`.

Google's own library has the access token. The requests pass Scrapy's downloader, with its limits and address guard, and
go to one address, which no configuration file can change.

Source: https://developers.google.com/webmaster-tools/v1/urlInspection.index/inspect
"""

from __future__ import annotations

import json
import logging
from asyncio import gather
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler.download.answers import download
from sitemapcrawler.download.handlers import STRICT_KEY
from sitemapcrawler.download.shared import OWN_PACE_KEY, Stop
from sitemapcrawler.items import JsonObject
from sitemapcrawler.jobs.index_status import QUOTA, IndexAnswers, IndexStatuses, Inspection, Known
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.links import Links, LinkScope
from sitemapcrawler.jobs.protocols import Arguments
from sitemapcrawler.urls import as_sent
from sitemapcrawler.urls.display import counted
from sitemapcrawler.verification.google_token import NoTokenError, Token

logger = logging.getLogger(__name__)

ENDPOINT = "SITEMAP_GSC_ENDPOINT"
"""Setting with the address of the API."""
METHOD = "/v1/urlInspection/index:inspect"
SLOT = "search-console"
"""Download slot. The setting `DOWNLOAD_SLOTS` has its delay: Google allows 600 requests a minute and property."""
AT_ONCE = 8
"""URLs that are inspected at a time; an answer takes a second or two."""
TIMEOUT_S = 60
MAX_ANSWER = 2**20
"""Bytes of an answer; usual ones have 2,000."""
MAX_FAILURES = 10
"""Requests in a row without an answer, after which no more are sent."""
USED_UP = frozenset((
    "RESOURCE_EXHAUSTED", "quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded",
))  # fmt: skip
"""What an answer with status 403 says if a quota is used up."""
QUOTA_USED, CREDENTIALS, PERMISSION = "quota", "credentials", "permission"
NO_ANSWER, STOPPED, OTHER_PROPERTY = "no answer", "stopped", "other property"
"""Why URLs are not inspected: values of `IndexCounts.partial`."""


class Inspector:
    """Inspects listed URLs until all are done, the quota is used up, or no more answers come."""

    def __init__(self, crawler: Crawler, job: Job, params: Arguments) -> None:
        self.result: Inspection | None = None
        """The result; None before."""
        assert params.gsc is not None and params.gsc_answers is not None  # the arguments need each other
        self._crawler, self._job, self._params, self._site = crawler, job, params, params.gsc
        self._answers = IndexAnswers(Path(params.gsc_answers), params.gsc)
        self._sample = params.gsc_sample
        self._stop = Stop.of(crawler)
        self._url = crawler.settings[ENDPOINT].rstrip("/") + METHOD
        self._token = Token()
        self._known: list[Known] = []
        self._failures = 0
        self._ended: str | None = None

    async def run(self, scope: LinkScope) -> None:
        """Inspect URLs that never were, and then those of longest ago."""
        try:
            await self._run(scope)
        except OSError as error:
            logger.error("%s: %s: Search Console is not asked", self._params.gsc_answers, error.strerror or error)
            self._stop.note_failure()

    async def _run(self, scope: LinkScope) -> None:
        job, statuses = self._job, self._job.statuses
        if self._params.compare:
            await job.load_lists(scope, self._params)
        await job.follow(Links.number_listed, Links(job.store, scope))
        await job.follow(partial(IndexStatuses.load, answers=self._answers), statuses)
        left = max(0, QUOTA - self._answers.asked_today)
        wanted = partial(
            IndexStatuses.wanted, site=self._site, since=self._answers.begin_of_day, most=left + 1, sample=self._sample
        )
        found = await job.follow(wanted, statuses) or []
        urls = iter(found[:left])
        await gather(*(self._ask_all(urls) for _ in range(AT_ONCE)))
        await job.follow(partial(IndexStatuses.add, known=self._known), statuses)
        counts = await job.follow(partial(IndexStatuses.never_asked, site=self._site, sample=self._sample), statuses)
        listed, never = counts or (0, 0)
        ended = self._ended or (STOPPED if self._stop.begun() else QUOTA_USED if len(found) > left else NO_ANSWER)
        self.result = Inspection(never, (ended if never else None) if listed else OTHER_PROPERTY)
        logger.info("Search Console: inspected %s, %s never", counted(len(self._known), "URL"), f"{never:,}")
        if self.result.partial is not None:
            logger.warning("Search Console: %s not asked: %s", counted(never, "URL"), self.result.partial)

    async def _ask_all(self, urls: Iterator[str]) -> None:
        for url in urls:
            if self._ended is not None or self._stop.begun():
                return
            try:
                await self._ask(url) or await self._ask(url)
            except NoTokenError:
                self._ended = CREDENTIALS

    async def _ask(self, url: str) -> bool:
        """Ask for a URL, and keep the answer. Returns False if there is none. Raises NoTokenError, OSError."""
        token = await self._token.get()
        response = await self._send(url, token)
        if response is not None and response.status == HTTPStatus.UNAUTHORIZED:
            response = await self._send(url, await self._token.get(refused=token))
        answer = {} if response is None else _object(response)
        match response and response.status:
            case HTTPStatus.OK if isinstance(answer.get("inspectionResult"), dict):
                status = answer["inspectionResult"].get("indexStatusResult")
                self._keep(url, {"indexStatusResult": status} if isinstance(status, dict) else {})
            case HTTPStatus.BAD_REQUEST | HTTPStatus.NOT_FOUND:
                self._keep(url, None, f"status {response.status}" if response is not None else None)
            case HTTPStatus.UNAUTHORIZED:
                self._ended = CREDENTIALS
            case HTTPStatus.TOO_MANY_REQUESTS:
                self._ended = QUOTA_USED
            case HTTPStatus.FORBIDDEN:
                self._ended = QUOTA_USED if USED_UP.intersection(_reasons(answer)) else PERMISSION
            case _:
                self._failures += 1
                if self._failures >= MAX_FAILURES:
                    self._ended = NO_ANSWER
                return self._ended is not None
        return True

    def _keep(self, url: str, result: JsonObject | None, error: str | None = None) -> None:
        self._known.append(self._answers.add(url, result, error))
        self._failures = 0

    async def _send(self, url: str, token: str) -> Response | None:
        """The response; None if there is none."""
        body = json.dumps({"inspectionUrl": as_sent(url), "siteUrl": self._site, "languageCode": "en"})
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        meta = {
            "dont_obey_robotstxt": True, "dont_redirect": True, "dont_retry": True, "dont_cache": True,
            "download_slot": SLOT, "autothrottle_dont_adjust_delay": True, OWN_PACE_KEY: True, STRICT_KEY: True,
            "download_timeout": TIMEOUT_S, "download_maxsize": MAX_ANSWER,
        }  # fmt: skip
        request = Request(self._url, NO_CALLBACK, "POST", headers, body, meta=meta, dont_filter=True)
        try:
            return await download(self._crawler, request)
        except Exception as error:  # whatever a download ends with
            logger.debug("Search Console: %s", type(error).__name__)
            return None


def _object(response: Response) -> JsonObject:
    """The JSON object in a body; empty if there is none."""
    try:
        found = json.loads(response.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _reasons(answer: JsonObject) -> Iterator[str]:
    """What an error says of its reason. Source: https://cloud.google.com/apis/design/errors"""
    error = answer.get("error")
    if isinstance(error, dict):
        errors = error.get("errors")
        details = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
        yield from (str(value) for value in (error.get("status"), *(one.get("reason") for one in details)))
