"""Download handlers that trust nobody: addresses are checked where the connection is made, files have to be named."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import IO

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from w3lib.url import file_uri_to_path

from sitemapcrawler.addresses import NETWORKS_SETTING, AddressGuard, authority, parse_address, why_refused
from sitemapcrawler.bodies import BODY_KEY, Body
from sitemapcrawler.connections import AddressRefused, GuardedAgent, host_and_port, installed_reactor

stopping = object()
"""Signal without arguments: the crawl ends. Downloads get SITEMAP_STOP_GRACE seconds more, then they are cancelled."""

STOP_GRACE = 10.0  # seconds; DESIGN: a stopped crawl has its feeds in place within 15


class SchemeRefused(Exception):
    """A file: URL that the user did not name."""


class FileUnreadable(Exception):
    """A named file cannot be opened. No OSError, which RetryMiddleware would ask for again."""


class GuardedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler for http and https with three additions.

    No connection goes to an address that is not public, unless the spider's `named_authorities` (a set of
    `addresses.authority` pairs) or SITEMAP_ALLOW_NETWORKS allow it: AddressRefused. Behind a proxy only an address
    that stands in the URL is checked, since the proxy resolves the names. A pooled connection was checked for the
    same authority when it was made. After the signal `stopping`, downloads end as DownloadCancelledError. Where the
    meta carries a `Body`, that gets the bytes and the response has none.
    """

    def __init__(self, crawler: Crawler) -> None:
        """ValueError for a bad network in SITEMAP_ALLOW_NETWORKS."""
        super().__init__(crawler)
        self._guard = AddressGuard(networks=crawler.settings.getlist(NETWORKS_SETTING))
        self._grace = crawler.settings.getfloat("SITEMAP_STOP_GRACE", STOP_GRACE)
        self._running: set[Deferred[Response]] = set()
        self._stopping = False
        self._stopped = False
        crawler.signals.connect(self.stop, signal=stopping)

    async def download_request(self, request: Request) -> Response:
        """Download, or raise AddressRefused or DownloadCancelledError besides what Scrapy's handler raises."""
        self._check_literal(request)
        if self._stopped:
            raise _cancelled(request)
        agent = self._agent()
        download = agent.download_request(request)
        self._running.add(download)
        try:
            with wrap_twisted_exceptions():
                return await maybe_deferred_to_future(download)
        except Exception as failure:
            if self._stopping:  # whatever it failed with: a closing engine drops, unheard, what would be asked again
                raise _cancelled(request) from failure
            if agent.refusal is not None and agent.refusal is not failure:
                raise agent.refusal from failure
            raise
        finally:
            self._running.discard(download)

    def _agent(self) -> GuardedAgent:
        return GuardedAgent(
            self._check,
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )

    def _check_literal(self, request: Request) -> None:
        host, port = host_and_port(request.url)
        if parse_address(host) is not None:
            self._check(host, port, host)

    def _check(self, host: str, port: int, address: str) -> None:
        if authority(host, port) in getattr(self._crawler.spider, "named_authorities", ()):
            self._guard.name((host, port))
        if not self._guard.allows(host, port, address):
            raise AddressRefused(
                f"{host}:{port} is at {address}, which is not public ({why_refused(address)}): "
                f"name {host}:{port} in the arguments, or allow its network with {NETWORKS_SETTING}"
            )

    def stop(self) -> None:
        """Cancel what still runs after the grace, and whatever is asked for later."""
        if not self._stopping:
            self._stopping = True
            installed_reactor().callLater(self._grace, self._abandon)

    def _abandon(self) -> None:
        self._stopped = True
        for download in tuple(self._running):
            download.cancel()


def _cancelled(request: Request) -> DownloadCancelledError:
    return DownloadCancelledError(f"{request.url}: the crawl was stopped before the answer was complete")


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
