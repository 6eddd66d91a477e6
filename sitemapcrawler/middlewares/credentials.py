"""Sends credentials and cookies only to the hosts that the user named.

Credentials come from the setting or environment variable SITEMAP_AUTH; credentials in URLs are never sent.
"""

from __future__ import annotations

import os
from base64 import b64encode
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.settings import BaseSettings

from sitemapcrawler import urls
from sitemapcrawler.crawl.argument_values import CONTROL
from sitemapcrawler.download.private import use_own_list_of_suffixes
from sitemapcrawler.download.shared import ANONYMOUS_KEY, Named
from sitemapcrawler.urls import Authority
from sitemapcrawler.urls.display import removed

AUTH = "SITEMAP_AUTH"
"""Setting and environment variable with `user:password`."""
AUTHORIZATION = b"Authorization"
SECRET = (AUTHORIZATION, b"Cookie")
"""Headers that identify the user."""


def auth_of(settings: BaseSettings) -> str:
    """`user:password` from setting or environment, else empty. Raises a one-line ValueError that does not quote it."""
    given = settings.get(AUTH) or os.environ.get(AUTH) or ""
    if given and (not isinstance(given, str) or ":" not in given):
        raise ValueError(f"{AUTH}: there is no colon in it; accepted: user:password")
    if CONTROL.search(given):
        raise ValueError(f"{AUTH}: has a line break or another character that no header takes; accepted: user:password")
    return given


def import_environment(settings: BaseSettings) -> None:
    """Copy the environment variable to the setting, for crawls on other machines."""
    if not settings.get(AUTH) and os.environ.get(AUTH):
        settings.set(AUTH, os.environ[AUTH], "cmdline")


class CredentialsMiddleware:
    """Sends SITEMAP_AUTH, and Authorization or Cookie in DEFAULT_REQUEST_HEADERS, only to authorities the user named.

    Covers redirects. It is the last to process requests and the first to process responses, so that other middlewares,
    including the cache, see neither SITEMAP_AUTH nor a password in a redirect.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ValueError, one line, for an invalid SITEMAP_AUTH."""
        self._crawler = crawler
        given = auth_of(crawler.settings)
        self._auth = b"Basic " + b64encode(given.encode()) if given else None  # RFC 7617, 2.1: UTF-8
        if crawler.settings.getbool("COOKIES_ENABLED"):
            use_own_list_of_suffixes()
        defaults = Headers(crawler.settings.getwithbase("DEFAULT_REQUEST_HEADERS"))
        self._own = {name: value for name in SECRET if (value := defaults.getlist(name))}
        if self._auth is not None:
            self._own.setdefault(AUTHORIZATION, []).append(self._auth)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Request | None:
        """Add or remove credentials, depending on the host. Removes credentials from the URL."""
        if "@" in request.url and urls.has_user(request.url):
            return request.replace(url=urls.without_user(request.url))
        if not self._own:
            return None
        if urls.authority(request.url) not in self._named or request.meta.get(ANONYMOUS_KEY):
            self._take_back(request)
        elif self._auth is not None:
            request.headers.setdefault(AUTHORIZATION, self._auth)
        return None

    def process_response(self, request: Request, response: Response) -> Response:
        """Remove SITEMAP_AUTH from the request, which may be retried or stored, and credentials from a redirect."""
        self._forget(request)
        if b"@" in (response.headers.get(b"Location") or b""):
            places = response.headers.getlist(b"Location")
            response.headers[b"Location"] = [removed(place.decode("latin-1")).encode("latin-1") for place in places]
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Remove SITEMAP_AUTH from a failed request."""
        self._forget(request)

    @property
    def _named(self) -> set[Authority]:
        """Authorities that may receive credentials."""
        return Named.of(self._crawler).own

    def _take_back(self, request: Request) -> None:
        for name, known in self._own.items():
            if any(value in known for value in request.headers.getlist(name)):
                del request.headers[name]

    def _forget(self, request: Request) -> None:
        if self._auth is not None and request.headers.get(AUTHORIZATION) == self._auth:
            del request.headers[AUTHORIZATION]
