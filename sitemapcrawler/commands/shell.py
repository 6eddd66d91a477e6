"""`scrapy shell`: Scrapy's console, which may request what the user types at any address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.commands import shell

from sitemapcrawler import urls
from sitemapcrawler.download.shared import Named
from sitemapcrawler.options.single import SingleUrl


class Command(SingleUrl, shell.Command):
    """Scrapy's command."""

    def update_vars(self, vars: dict[str, Any]) -> None:  # Any: as in Scrapy
        """Name each URL that is passed to `fetch()`."""
        if "fetch" in vars:
            vars["fetch"] = _naming(vars["fetch"], Named.of(vars["crawler"]))


def _naming(fetch: Callable[..., None], named: Named) -> Callable[..., None]:
    def fetch_named(request_or_url: Request | str, *args: object, **kwargs: object) -> None:
        url = request_or_url.url if isinstance(request_or_url, Request) else request_or_url
        if authority := urls.authority(url):
            named.authorities.add(authority)
        fetch(request_or_url, *args, **kwargs)

    return fetch_named
