"""Renders a sample of the listed pages, with the argument `render`, and compares them with the HTML of their server.

The browser has no network (`browser.py`). A page, and what its scripts request, is downloaded here as any other page.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import urls
from sitemapcrawler.download.answers import download
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.handlers import strict_meta
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import ANONYMOUS_KEY, Stop, stopping
from sitemapcrawler.items import RenderedRecord
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.page_choice import listed_of, pages_to_render, rendered
from sitemapcrawler.replies.page import PAGE_LIMIT, Html, joined, media_type, plain_headers
from sitemapcrawler.replies.page.body import HTML_TYPES
from sitemapcrawler.replies.rendered import MAX_LINKED, RenderResult, added_links, compare, facts_of, rendered_html
from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.urls import as_sent
from sitemapcrawler.urls.display import MAX_URL, counted, inert, masked_url
from sitemapcrawler.verification.asking_as import html_of
from sitemapcrawler.verification.browser import SANDBOX, WITHOUT_BODY, Asked, Browser, Loaded, NoBrowser
from sitemapcrawler.verification.sampling import Sample

logger = logging.getLogger(__name__)

OK, ERROR = 200, 400
"""Status of a page, and first status of errors (RFC 9110, 15)."""
MAX_REQUESTS = 200
"""Requests that the scripts of a page may make. Half of all pages make 23 for scripts, one in ten 68 or more.
Source: https://almanac.httparchive.org/en/2024/javascript"""
MAX_BYTES = 30 * 2**20
"""Uncompressed bytes that these may load; one page in ten loads more than 2 MB of scripts, compressed."""
MAX_SENT = 64 * 1024
"""Bytes that a page may send in one request, which only queries for its content need."""
MAX_MISSED = 20
"""URLs in a row without a page, after which no more are tried."""
TIMEOUT_S = 20
"""Seconds in which an answer must be complete."""
MS = 1000
SHARED_BYTES = 64 * 2**20
"""Bytes of scripts that are kept for the next pages, which mostly have the same."""
OF_DOWNLOADER = frozenset(
    ("accept-encoding", "accept-language", "connection", "content-length", "cookie", "host", "user-agent")
)
"""Headers of the browser that are not sent: the downloader has its own, and a page gets no cookies."""
OF_BROWSER = "sec-"
"""Start of the names of headers with which the browser describes itself."""
OF_TRANSFER = frozenset((b"Content-Encoding", b"Content-Length", b"Transfer-Encoding", b"Connection", b"Set-Cookie"))
"""Headers of an answer that no longer hold once its body is unpacked, and cookies, as Scrapy spells them."""
ALLOWED_ORIGIN, NO_ORIGIN = "access-control-allow-origin", "https://another.invalid"
"""Header that lets scripts of other origins read an answer, and its value where there is none: Playwright would let all
of them. Source: https://fetch.spec.whatwg.org/#http-access-control-allow-origin"""
WANTED = frozenset((b"Content-Type", b"Content-Encoding", b"Content-Security-Policy", b"Link", b"X-Robots-Tag"))
"""Headers of a page that are kept, as Scrapy spells them."""


class Renderer:
    """Renders pages, one at a time."""

    def __init__(
        self, crawler: Crawler, job: Job, sample: Sample, seed: int, sites: Collection[str], agent: Agent | None
    ) -> None:
        """`sites`: those that the user named, as from `site_of`; no page of another is rendered, unless it is empty.
        `agent`: crawler whose robots.txt decides on requests besides our own; None for none."""
        self.crawler, self.agent = crawler, agent
        self._job, self._stop = job, Stop.of(crawler)
        self._choose = partial(pages_to_render, sites=sites or None, count=sample.count, share=sample.share, seed=seed)
        self.shared: dict[tuple[str, bool], Loaded] = {}
        """Scripts by URL and `ANONYMOUS_KEY`."""
        self._shared_bytes = 0

    async def run(self) -> None:
        """Choose pages, render them, and record what their scripts change."""
        try:
            await self._run()
        except NoBrowser as error:
            logger.error("pages could not be rendered: the browser does not start: %s", error)
            self._stop.note_failure()

    async def _run(self) -> None:
        chosen = await self._job.follow(self._choose, self._job.store)
        known = await self._job.follow(rendered, self._job.store)
        if chosen is None or known is None:
            return
        wanted, candidates = chosen
        number, left = len(known), [url for url in candidates if url not in known]
        if number < wanted and left and not self._stop.begun():
            async with Browser() as browser:
                self.crawler.signals.connect(browser.stop, stopping)
                missed = 0
                for url in left:
                    if number == wanted or missed == MAX_MISSED or self._stop.begun():
                        break
                    is_page = await self._page(browser, url)
                    number, missed = number + is_page, 0 if is_page else missed + 1
        if number < min(wanted, len(candidates)) and not self._stop.begun() and not self._stop.proxy_failed:
            logger.warning(
                "rendered %s; the others that were tried do not answer 200 with HTML", counted(number, "page")
            )
        else:
            logger.info("rendered %s", counted(number, "page"))

    async def _page(self, browser: Browser, url: str) -> bool:
        """Render a page. Returns False if it is no page, or the crawl ends first."""
        answer = await self._document(url)
        if answer is None or self._stop.begun():
            return False
        html, headers = answer
        requests, begun = PageRequests(self, url), time.monotonic()
        found, seen = requests.found, None
        if html.is_long:
            found.result, found.note = RenderResult.LIMIT, f"more than {PAGE_LIMIT:,} bytes of HTML"
        else:
            document = Loaded(OK, _document_headers(headers), html.text.encode("utf-8", "replace"))
            snapshot = await browser.render(url, self.crawler.settings["USER_AGENT"], document, requests.load)
            if snapshot.result is RenderResult.STOPPED:
                return False
            found.note = snapshot.note or found.note
            if found.result != RenderResult.LIMIT or snapshot.result is not RenderResult.RENDERED:
                found.result = snapshot.result
            if snapshot.html is not None:
                seen = facts_of(rendered_html(snapshot.html), headers, url)
        found.elapsed_ms = round((time.monotonic() - begun) * MS)
        raw, listed = facts_of(html, headers, url), None
        if seen is not None:
            listed = await self._job.follow(partial(listed_of, urls=added_links(raw, seen)), self._job.store)
        compare(found, raw, seen, listed or ())
        self._job.records.rendered(found)
        return True

    async def _document(self, url: str) -> tuple[Html, dict[str, list[str]]] | None:
        """The HTML of a page and its headers; None unless it is complete, with status 200."""
        body = Body(PAGE_LIMIT)
        try:
            response = await self.download(url, meta={**body.meta(), "dont_redirect": True})
            headers = plain_headers(one for one in dict.items(response.headers) if one[0] in WANTED)
            html, _ = html_of(body, headers)
            return (html, headers) if html is not None and response.status == OK and _is_whole(response) else None
        except Exception as error:
            logger.debug("%s is not rendered: %s", url, error)
            return None
        finally:
            body.close()

    async def download(self, url: str, *, meta: Mapping[str, object], **given: object) -> Response:
        """Download as all requests do, once. Raises what the downloader raises, and ValueError for an invalid URL."""
        own = {"dont_retry": True, "download_timeout": TIMEOUT_S, "give_up_log_level": logging.DEBUG}
        meta = {**own, **strict_meta(self.crawler.settings), **meta}
        request = Request(as_sent(url), NO_CALLBACK, meta=meta, dont_filter=True, **given)  # type: ignore[arg-type]  # passed on
        return await download(self.crawler, request)

    def share(self, key: tuple[str, bool], script: Loaded) -> None:
        """Keep a script for other pages, while there is room."""
        if self._shared_bytes + len(script.body) <= SHARED_BYTES:
            self._shared_bytes += len(script.body)
            self.shared[key] = script


class PageRequests:
    """Answers the requests of one page, within its limits."""

    def __init__(self, renderer: Renderer, url: str) -> None:
        self._renderer, self._url = renderer, url
        self._policies = Policies.of(renderer.crawler)
        self._bytes = 0
        crawler = renderer.agent.name if renderer.agent else None
        self.found = RenderedRecord(url, RenderResult.RENDERED, crawler=crawler)
        """What the page took so far, and how it ended."""

    async def load(self, asked: Asked) -> Loaded | None:
        """The answer to a request; None if it fails, or is not made."""
        if await self._is_denied(asked.url):
            if len(self.found.blocked) < MAX_LINKED:
                self.found.blocked.append(inert(masked_url(asked.url), MAX_URL))
            return None
        loaded = await self._answer(asked) if self._may_send(asked) else None
        self.found.failed += loaded is None or loaded.status >= ERROR
        return loaded

    async def _answer(self, asked: Asked) -> Loaded | None:
        """The answer to a request that is allowed; that of an earlier page if it is a script."""
        self.found.requests += 1
        key = (asked.url, urls.authority(asked.url) != urls.authority(self._url))
        loaded = self._renderer.shared.get(key) if asked.is_script else None
        if loaded is None:
            loaded = await self._download(asked, is_foreign=key[1])
            if loaded is not None and asked.is_script and loaded.status == OK:
                self._renderer.share(key, loaded)
        return loaded

    async def _is_denied(self, url: str) -> bool:
        """True if robots.txt denies the URL to the crawler that `render_as` names."""
        if self._renderer.agent is None:
            return False
        policy = await self._policies.obtain(url, retry=False)
        return policy is not None and not policy.verdict(url, self._renderer.agent).allowed

    def _may_send(self, asked: Asked) -> bool:
        """True for a request that the limits allow: only to its own site may a page send more than a URL."""
        is_own = urls.site_of(asked.url) == urls.site_of(self._url)
        if asked.method not in WITHOUT_BODY and not (is_own and len(asked.body or b"") <= MAX_SENT):
            return False
        if self.found.requests >= MAX_REQUESTS or self._bytes >= MAX_BYTES:
            what = f"{MAX_REQUESTS:,} requests" if self.found.requests >= MAX_REQUESTS else f"{MAX_BYTES:,} bytes"
            self.found.result, self.found.note = RenderResult.LIMIT, f"more than {what}"
            return False
        return True

    async def _download(self, asked: Asked, is_foreign: bool) -> Loaded | None:
        headers = {
            name: value
            for name, value in asked.headers.items()
            if name not in OF_DOWNLOADER and not name.startswith(OF_BROWSER)
        }
        if is_foreign and not asked.is_script:
            headers.setdefault("origin", urls.origin(self._url) or "")
        meta = {ANONYMOUS_KEY: is_foreign, "download_maxsize": MAX_BYTES - self._bytes, "download_warnsize": 0}
        try:
            response = await self._renderer.download(
                asked.url, meta=meta, method=asked.method, headers=headers, body=asked.body or b""
            )
        except Exception as error:
            logger.debug("%s: %s is not loaded: %s", self._url, asked.url, error)
            return None
        self._bytes += len(response.body)
        kept = plain_headers(one for one in dict.items(response.headers) if one[0] not in OF_TRANSFER)
        answered = {name: ", ".join(values) for name, values in kept.items()}
        if is_foreign:
            answered.setdefault(ALLOWED_ORIGIN, NO_ORIGIN)
        return Loaded(response.status, answered, response.body)


def _is_whole(response: Response) -> bool:
    return "dataloss" not in response.flags


def _document_headers(headers: Mapping[str, list[str]]) -> dict[str, str]:
    """Headers of a page for the browser: its type, and what its server lets its scripts do."""
    kind = media_type(joined(headers.get("content-type", ())))
    policy = joined(headers.get("content-security-policy", ()))
    return {
        "content-type": f"{kind.essence if kind else HTML_TYPES[0]}; charset=utf-8",
        "content-security-policy": ", ".join(filter(None, (SANDBOX, policy))),
    }
