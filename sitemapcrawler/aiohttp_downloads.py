"""The guarded handler on aiohttp: fewer steps for each request than Twisted's, where Scrapy and aiohttp are new enough.

Importing it is an ImportError with Scrapy 2.18, which has no such handler. Scrapy 2.19 brings aiohttp with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from io import BytesIO
from typing import Any

from aiohttp import (
    ClientConnectionError,
    ClientOSError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    ServerDisconnectedError,
)
from scrapy import Request, signals

# Private, and experimental in Scrapy 2.19: how an answer of aiohttp becomes one of Scrapy. Connections are made here.
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.utils._download_handlers import check_stop_download, make_response
from scrapy.utils.ssl import _make_ssl_context
from yarl import URL

from sitemapcrawler.aiohttp_connections import Attempt, guarded_connector, running_attempt, told
from sitemapcrawler.download.addresses import AddressCheck
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.certificates import STRICT_KEY, strict_context
from sitemapcrawler.download.connections import Discarding
from sitemapcrawler.download.slots import Ending

MAX_HEADER = 1 << 16  # bytes of a header line; aiohttp's 8,190 are fewer than some policies and cookies take
MAX_HEADERS = 500
"""Header lines, and as many of trailers, whose bytes are not counted elsewhere; aiohttp's 128 are few."""
OF_THE_REQUEST = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that aiohttp would add."""
DATA_LOSS = (ClientPayloadError, ClientConnectionError)
"""What aiohttp raises where a body ends too soon."""


class GuardedAiohttpDownloadHandler(AiohttpDownloadHandler):
    """Scrapy's handler on aiohttp, guarded like `downloads.GuardedHTTP11DownloadHandler`.

    The check sits where a socket is made for one address, behind the resolver and its cache. URLs are sent as they
    are. Of certificates, proxies and bind addresses holds what Scrapy says of its handler.
    """

    def __init__(self, crawler: Crawler) -> None:
        """ValueError for a bad network in SITEMAP_ALLOW_NETWORKS."""
        super(AiohttpDownloadHandler, self).__init__(crawler)  # its own would open a session before the loop runs
        self._ssl_context = _make_ssl_context(crawler.settings)
        self._strict_context = strict_context()
        self._check = AddressCheck(crawler)
        self._ending = Ending(crawler)
        self._opened: ClientSession | None = None

    async def download_request(self, request: Request) -> Response:
        """Download, or raise AddressRefused or DownloadCancelledError besides what Scrapy's handler raises."""
        url = _url(request)
        proxied = bool(request.meta.get("proxy"))
        attempt = Attempt(url, None if proxied else self._check)
        (self._check.behind_proxy if proxied else self._check.literal)(attempt.host, attempt.port)
        self._ending.admit(request)
        running_attempt.set(attempt)
        deadline = asyncio.timeout(None)
        with self._ending.running(request, partial(deadline.reschedule, 0)):
            async with deadline:
                return await super().download_request(request)

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[_ClientResponse]:
        proxy = self._extract_proxy_url_with_creds(request)
        headers = self._request_headers(request).to_tuple_list()
        attempt = running_attempt.get()
        context = self._strict_context if request.meta.get(STRICT_KEY) else self._ssl_context
        options: dict[str, Any] = {"ssl": context, "allow_redirects": False, "proxy": proxy}
        options |= {"headers": headers, "data": request.body or None, "timeout": ClientTimeout(total=timeout)}
        try:
            async with await self._answer(request.method, attempt, options) as response:
                assert isinstance(response, _ClientResponse)
                yield response
        except Exception as error:
            failure = attempt.refusal or told(error, f"Getting {request.url} took longer than {timeout} seconds.")
            if failure is None:
                raise
            raise failure from error

    async def _answer(self, method: str, attempt: Attempt, options: dict[str, Any]) -> ClientResponse:
        """The answer. A kept connection that its server has closed meanwhile says nothing of the page: then the request
        is sent once more. aiohttp itself would send any that fails twice, and nobody would count it."""
        session = self._session_in_loop()
        try:
            return await session.request(method, attempt.url, **options)
        except (ClientOSError, ServerDisconnectedError):
            if attempt.connected:
                raise
        return await session.request(method, attempt.url, **options)

    def _session_in_loop(self) -> ClientSession:
        if self._opened is None:
            connector = guarded_connector(self._bind_address, self._pool_size_total, self._pool_size_per_host)
            self._opened = ClientSession(
                connector=connector,
                cookie_jar=DummyCookieJar(),
                auto_decompress=False,
                response_class=_ClientResponse,
                skip_auto_headers=OF_THE_REQUEST,
                max_line_size=MAX_HEADER,
                max_field_size=MAX_HEADER,
                max_headers=MAX_HEADERS,
            )
            self._opened._retry_connection = False  # there is no parameter; without it, all is sent twice: see _answer
        return self._opened

    async def _read_response(self, response: _ClientResponse, request: Request) -> Response:
        body = request.meta.get(BODY_KEY)
        if isinstance(body, Body):
            body.url, body.status = request.url, response.status
        elif request.method != "HEAD":
            return await super()._read_response(response, request)
        return await self._collect(response, request)

    async def _collect(self, response: _ClientResponse, request: Request) -> Response:
        """The answer to HEAD, whose Content-Length is no size, or one whose bytes go to the request's `Body`."""
        headers = self._extract_headers(response)
        known: Any = self._build_base_response_args(response, request, headers)
        length = 0 if request.method == "HEAD" else response.content_length
        said = {"headers": headers, "body_length": length}
        stop = check_stop_download(signals.headers_received, self.crawler, request, **said)
        if stop is not None or request.method == "HEAD":
            return make_response(**known, stop_download=stop)
        body: Body = request.meta[BODY_KEY]
        kept = BytesIO() if body.headers is None else Discarding()  # None: there is no collector
        try:
            async for chunk in self._iter_body_chunks(response):
                kept.write(chunk)
                stop = check_stop_download(signals.bytes_received, self.crawler, request, data=chunk)
                if stop is not None:
                    break
        except Exception as error:
            if not self._is_dataloss_exception(error):
                raise
            known["flags"] = ["dataloss"]
        return make_response(**known, body=kept.getvalue(), stop_download=stop)

    @staticmethod
    def _extract_headers(response: _ClientResponse) -> Headers:
        return Headers(list(response.raw_headers))

    @staticmethod
    def _is_dataloss_exception(exc: Exception) -> bool:
        return isinstance(exc, DATA_LOSS) and not isinstance(exc, TimeoutError)

    async def close(self) -> None:
        """Close all connections."""
        if self._opened is not None:
            await self._opened.close()


def _url(request: Request) -> URL:
    try:
        return URL(request.url, encoded=True)
    except ValueError as error:
        raise ValueError(f"invalid URL: {request.url}: {error}") from error
