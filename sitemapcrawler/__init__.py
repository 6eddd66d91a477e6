"""Finds every sitemap of a domain, reads all of them and writes one row per listed URL."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitemapcrawler.api import SitemapFile, read_sitemap
    from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
    from sitemapcrawler.pages.spider import SitemapSpider
    from sitemapcrawler.reader import ChildRecord, Limits

__version__ = "0.1.0"
"""Version of the package, declared here alone."""

__all__ = [
    "ChildRecord",
    "FindingRecord",
    "Limits",
    "SitemapFile",
    "SitemapRecord",
    "SitemapSpider",
    "UrlRecord",
    "read_sitemap",
]
_MODULES = {
    "ChildRecord": "reader",
    "FindingRecord": "items",
    "Limits": "reader",
    "SitemapFile": "api",
    "SitemapRecord": "items",
    "SitemapSpider": "pages.spider",
    "UrlRecord": "items",
    "read_sitemap": "api",
}
"""Where the public names are: imported when they are asked for, so that reading brings no Scrapy along."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
