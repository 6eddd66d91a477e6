"""Guarded download handlers: connections only to permitted addresses, files only if named, strict certificates."""

from __future__ import annotations

import os
import ssl
import stat
import sys
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import IO

import certifi
from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.web.client import BrowserLikePolicyForHTTPS
from w3lib.url import file_uri_to_path

from sitemapcrawler.download.addresses import AddressCheck, AddressForbidden
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.connections import BoundedPool, GuardedAgent, installed_reactor
from sitemapcrawler.download.resolver import DualStackResolver, is_chosen
from sitemapcrawler.download.slots import Ending, Gate, HostPauses
from sitemapcrawler.urls import as_sent

STATUSES = range(100, 1000)
"""Three digits. Source: RFC 9110, 15"""
MAX_DIGITS = 20
"""Digits of any other number that a message shows."""


class SchemeRefused(Exception):
    """A file: URL that the user did not name."""


class FileUnreadable(Exception):
    """A named file cannot be opened. No OSError, which RetryMiddleware would ask for again."""


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler for http and https with additions.

    Connections pass the `AddressCheck`, or end as AddressForbidden. Behind a proxy only an address that stands in the
    URL is checked, since the proxy resolves the names. Hosts are resolved by `DualStackResolver`, or by the resolver
    that the user has chosen for the process. A pooled connection was checked for the same authority when it
    was made. After the signal `stopping`, downloads end as DownloadCancelledError. Where the meta carries a `Body`,
    that gets the bytes and the response has none. Requests with STRICT_KEY in their meta have connections of their
    own, to hosts whose certificate is valid. Connections that wait for a request are bounded in number.
    """

    def __init__(self, crawler: Crawler) -> None:
        """NotConfigured for a bad network in SITEMAP_ALLOW_NETWORKS."""
        super().__init__(crawler)
        try:
            self._check = AddressCheck(crawler)
        except ValueError as error:
            raise NotConfigured(str(error)) from None
        self._ending = Ending(crawler)
        chosen = is_chosen(crawler.settings)
        self._resolver = None if chosen else DualStackResolver(installed_reactor(), crawler.settings)
        self._strict_policy = strict_policy()
        self._pool = BoundedPool.like(self._pool)
        self._strict_pool = BoundedPool.like(self._pool)

    async def download_request(self, request: Request) -> Response:
        """Download, or raise AddressForbidden or DownloadCancelledError besides what Scrapy's handler raises."""
        while True:
            try:
                return await self._download(request)
            except HostPauses:
                assert self._gate is not None
                await self._gate.resume(request)

    async def _download(self, request: Request) -> Response:
        self._ending.admit(request)
        agent = self._agent(strict=bool(request.meta.get(STRICT_KEY)))
        try:
            with wrap_twisted_exceptions():
                download = agent.download_request(request)
                with self._ending.running(request, download.cancel):
                    return _checked(await maybe_deferred_to_future(download))
        except Exception as failure:
            if agent.refusal is not None and not isinstance(failure, (AddressForbidden, DownloadCancelledError)):
                raise agent.refusal from failure
            raise

    async def close(self) -> None:
        """Close all connections."""
        await maybe_deferred_to_future(self._strict_pool.closeCachedConnections())  # type: ignore[no-untyped-call]  # Twisted has no types
        await super().close()

    @cached_property
    def _gate(self) -> Gate | None:
        return self._crawler.get_downloader_middleware(Gate) if self._crawler.engine else None

    def _sends(self, request: Request) -> None:
        if self._gate is not None:
            self._gate.sends(request)

    def _agent(self, strict: bool) -> GuardedAgent:
        return GuardedAgent(
            self._check,
            self._sends,
            self._resolver,
            contextFactory=self._strict_policy if strict else self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._strict_pool if strict else self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )


def _checked(response: Response) -> Response:
    """The response, with the host of its Location as it is sent: Scrapy would encode it in a way of its own.
    DownloadFailedError for a status that is none, which Twisted lets pass and no record can hold."""
    if response.status not in STATUSES:
        raise DownloadFailedError(f"no HTTP: status {str(response.status)[:MAX_DIGITS]}")
    location = response.headers.get("Location")
    if location is not None and not location.isascii():
        with suppress(UnicodeDecodeError):
            response.headers["Location"] = as_sent(location.decode())
    return response


class NamedFileHandler(BaseDownloadHandler):
    """Handler for the scheme file: hands a file that the user named to the `Body` of its request, unread.

    Named are the URLs in the spider's `named_files`, as `Path.as_uri` writes them.
    """

    async def download_request(self, request: Request) -> Response:
        """An empty response with status 200. SchemeRefused, FileUnreadable."""
        body = request.meta.get(BODY_KEY)
        named = request.url in getattr(self.crawler.spider, "named_files", ())
        if not named or "redirect_urls" in request.meta or not isinstance(body, Body):
            raise SchemeRefused(f"{request.url}: a file is read only where the argument sitemap names it")
        body.attach(_open(Path(file_uri_to_path(request.url))))
        body.url, body.status = request.url, 200
        return Response(request.url, status=200)


def _open(path: Path) -> IO[bytes]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for a writer
            raise FileUnreadable(f"{path} is not a regular file")
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise FileUnreadable(f"{path}: {getattr(error, 'strerror', None) or error}") from error


STRICT_KEY = "sitemap_strict"
"""Key in `Request.meta` of requests that need a valid certificate: known, of this host, not expired."""
FILE_VARIABLE = "SSL_CERT_FILE"
"""Environment variable with the file of certificates that OpenSSL trusts."""
WITHOUT_FILES = ("darwin", "win32")
"""Systems that keep their certificates where OpenSSL does not look."""


def strict_policy() -> BrowserLikePolicyForHTTPS:
    """What Twisted needs to verify certificates by those that the system trusts; where it has none, by Mozilla's."""
    _find_trusted_certificates()
    return BrowserLikePolicyForHTTPS()  # type: ignore[no-untyped-call]  # Twisted has no types for it


def strict_meta(settings: BaseSettings) -> dict[str, bool]:
    """The request meta of a page that is verified."""
    return {STRICT_KEY: True} if settings.getbool("SITEMAP_VERIFY_CERTIFICATES") else {}


@cache
def _find_trusted_certificates() -> None:
    paths = ssl.get_default_verify_paths()
    known = [paths.cafile, paths.capath] if sys.platform not in WITHOUT_FILES else []
    if FILE_VARIABLE not in os.environ and not any(path and Path(path).exists() for path in known):
        os.environ[FILE_VARIABLE] = certifi.where()
