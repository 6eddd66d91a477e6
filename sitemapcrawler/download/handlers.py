"""Guarded download handlers: only permitted addresses, only files the user named, strict certificate checks."""

from __future__ import annotations

import asyncio
import os
import ssl
import stat
import sys
from contextlib import suppress
from functools import cache
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
from twisted.web.client import BrowserLikePolicyForHTTPS
from w3lib.url import file_uri_to_path

from sitemapcrawler.download.addresses import AddressCheck, AddressForbidden
from sitemapcrawler.download.answers import fault_of_proxy
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.connections import (
    STARTED,
    Download,
    GuardedPool,
    LazyPolicy,
    host_and_port,
    installed_reactor,
)
from sitemapcrawler.download.private import HeadTooLong, equip
from sitemapcrawler.download.resolver import DualStackResolver, is_chosen
from sitemapcrawler.download.shared import Ending, Named
from sitemapcrawler.replies.kinds import cause_of
from sitemapcrawler.urls import as_sent

STATUSES = range(100, 1000)
"""Three-digit status codes. Source: RFC 9110, 15"""
MAX_DIGITS = 20
"""Digits shown of an invalid status."""


class SchemeRefused(Exception):
    """A `file:` URL that the user did not name."""


class FileUnreadable(Exception):
    """A named file cannot be opened. Not an OSError, which RetryMiddleware would retry."""


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """Scrapy's http and https handler with checks on addresses and certificates.

    - Connections must pass the `AddressCheck`, else AddressForbidden is raised. Behind a proxy, which resolves names
      itself, only addresses and local names written in the URL are checked. Pooled connections were
      checked when they were made.
    - `DualStackResolver` resolves hosts, unless the user chose a resolver for the process.
    - After the signal `stopping`, downloads fail with DownloadCancelledError.
    - A `Body` in the request meta receives the body; the response has none.
    - Requests with STRICT_KEY in their meta go through a second handler of Scrapy, with connections of its own, to
      hosts with valid certificates only.
    - The number of idle connections is limited, and so is the size of response headers.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises NotConfigured for an invalid network in SITEMAP_ALLOW_NETWORKS."""
        try:
            self._check = AddressCheck(crawler)
        except ValueError as error:
            raise NotConfigured(str(error)) from None
        super().__init__(crawler)
        self._ending = Ending(crawler)
        chosen = is_chosen(crawler.settings)
        self._resolver = None if chosen else DualStackResolver(installed_reactor(), crawler.settings)
        self._strict = HTTP11DownloadHandler(crawler)
        equip(self, GuardedPool(), LazyPolicy)
        equip(self._strict, GuardedPool(), lambda _: LazyPolicy(strict_policy()))

    async def download_request(self, request: Request) -> Response:
        """Download; raises AddressForbidden, DownloadCancelledError, HeadTooLong and ProxyFailed besides the errors
        of Scrapy's handler."""
        self._ending.admit(request)
        if request.meta.get("proxy"):
            self._check.behind_proxy(*host_and_port(request.url))
        download = Download(request, self.crawler, self._check, self._resolver)
        send = self._strict.download_request if request.meta.get(STRICT_KEY) else super().download_request
        task = asyncio.current_task()
        assert task is not None
        token = STARTED.set([download])
        try:
            with self._ending.running(request, task.cancel):
                return _checked(await send(request))
        except Exception as failure:
            if isinstance(cause := cause_of(failure), HeadTooLong):
                raise cause from None
            if download.refusal is not None and not isinstance(failure, (AddressForbidden, DownloadCancelledError)):
                raise download.refusal from failure
            if (fault := fault_of_proxy(request, failure)) is not None:
                raise fault from None
            raise
        finally:
            STARTED.reset(token)

    async def close(self) -> None:
        await self._strict.close()
        await super().close()


def _checked(response: Response) -> Response:
    """The response, with the host of its Location encoded as we send it; Scrapy encodes it differently.
    Raises DownloadFailedError for an invalid status, which Twisted accepts."""
    if response.status not in STATUSES:
        raise DownloadFailedError(f"no HTTP: status {str(response.status)[:MAX_DIGITS]}")
    location = response.headers.get("Location")
    if location is not None and not location.isascii():
        with suppress(UnicodeDecodeError):
            response.headers["Location"] = as_sent(location.decode())
    return response


class NamedFileHandler(BaseDownloadHandler):
    """Handler for the scheme `file:`: passes a file that the user named to the `Body` of its request, unread.

    `Named.files` has the URLs of these files.
    """

    async def download_request(self, request: Request) -> Response:
        """Return an empty response with status 200. Raises SchemeRefused or FileUnreadable."""
        body = request.meta.get(BODY_KEY)
        named = request.url in Named.of(self.crawler).files
        if not named or "redirect_urls" in request.meta or not isinstance(body, Body):
            raise SchemeRefused(f"{request.url}: a file is read only where the argument sitemap names it")
        body.attach(_open(Path(file_uri_to_path(request.url))))
        body.status = 200
        return Response(request.url, status=200)


def _open(path: Path) -> IO[bytes]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block until it has a writer
            raise FileUnreadable(f"{path} is not a regular file")
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise FileUnreadable(f"{path}: {getattr(error, 'strerror', None) or error}") from error


STRICT_KEY = "sitemap_strict"
"""Key in `Request.meta` of requests that need a valid certificate: trusted, for this host, not expired."""
FILE_VARIABLE = "SSL_CERT_FILE"
"""Environment variable with the path of OpenSSL's trusted certificates."""
WITHOUT_FILES = ("darwin", "win32")
"""Platforms whose certificate store OpenSSL does not read."""


def strict_policy() -> BrowserLikePolicyForHTTPS:
    """TLS policy that verifies certificates with the system's trust store, or Mozilla's if there is none."""
    _find_trusted_certificates()
    return BrowserLikePolicyForHTTPS()  # type: ignore[no-untyped-call]  # Twisted has no types for it


def check_certificates() -> None:
    """Check the file of trusted certificates that the environment names, of which OpenSSL says nothing. Raises
    ValueError, one line."""
    if file := os.environ.get(FILE_VARIABLE):
        try:
            ssl.create_default_context(cafile=file)
        except ssl.SSLError:
            raise ValueError(f"{FILE_VARIABLE}: {file} holds no certificates in PEM") from None
        except OSError as error:
            raise ValueError(f"{FILE_VARIABLE}: {file} cannot be read: {error.strerror}") from None


def strict_meta(settings: BaseSettings) -> dict[str, bool]:
    """Request meta for verifying a listed URL."""
    return {STRICT_KEY: True} if settings.getbool("SITEMAP_VERIFY_CERTIFICATES") else {}


@cache
def _find_trusted_certificates() -> None:
    paths = ssl.get_default_verify_paths()
    known = [paths.cafile, paths.capath] if sys.platform not in WITHOUT_FILES else []
    if FILE_VARIABLE not in os.environ and not any(path and Path(path).exists() for path in known):
        os.environ[FILE_VARIABLE] = certifi.where()
