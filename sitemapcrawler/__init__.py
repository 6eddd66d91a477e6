"""Finds every sitemap of a domain, reads all of them and writes one row per listed URL.

Exports the public names, and imports their modules on first use, so that reading a file brings no Scrapy along. Start
reading in `spiders/sitemap.py` for a crawl, or in `api/sitemaps.py` for a single file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sitemapcrawler.version import __version__ as __version__

if TYPE_CHECKING:
    from sitemapcrawler.addon import Addon
    from sitemapcrawler.api.audits import AuditError, AuditResult, RecordTable, audit
    from sitemapcrawler.api.sitemaps import DownloadError, SitemapFile, read_sitemap
    from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord, UrlEntry, UrlRecord
    from sitemapcrawler.pages.spider import SitemapSpider
    from sitemapcrawler.reader import ChildRecord, Limits
    from sitemapcrawler.reader.entries import ChildEntry

__all__ = [
    "Addon",
    "AnswerRecord",
    "AuditError",
    "AuditResult",
    "ChangeRecord",
    "ChildEntry",
    "ChildRecord",
    "DownloadError",
    "FindingRecord",
    "Limits",
    "PageRecord",
    "RecordTable",
    "RenderedRecord",
    "RobotsRecord",
    "SitemapFile",
    "SitemapRecord",
    "SitemapSpider",
    "SummaryRecord",
    "UrlEntry",
    "UrlRecord",
    "audit",
    "read_sitemap",
]
_MODULES = {
    "Addon": "addon",
    "AnswerRecord": "items",
    "AuditError": "api.audits",
    "AuditResult": "api.audits",
    "ChildEntry": "reader.entries",
    "ChildRecord": "reader",
    "DownloadError": "api.sitemaps",
    "FindingRecord": "items",
    "Limits": "reader",
    "ChangeRecord": "items",
    "PageRecord": "items",
    "RecordTable": "api.audits",
    "RenderedRecord": "items",
    "RobotsRecord": "items",
    "SitemapFile": "api.sitemaps",
    "SitemapRecord": "items",
    "SitemapSpider": "pages.spider",
    "SummaryRecord": "items",
    "UrlEntry": "items",
    "UrlRecord": "items",
    "audit": "api.audits",
    "read_sitemap": "api.sitemaps",
}
"""Where the public names are: imported on first use, so that reading brings no Scrapy along."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
