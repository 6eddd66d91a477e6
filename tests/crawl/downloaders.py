"""The values of SITEMAP_DOWNLOADER, of which a machine may lack one."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from sitemapcrawler.download.handlers import DOWNLOADERS, guarded_handler

__all__ = ["DOWNLOADERS", "skip_without", "took_part"]


def skip_without(downloader: str) -> None:
    """Skip the test where a downloader cannot be had."""
    try:
        guarded_handler(Settings({"SITEMAP_DOWNLOADER": downloader}))
    except ValueError as error:
        pytest.skip(str(error))


def took_part(downloader: str, log: str) -> bool:
    """Whether a crawl used this downloader and no other, which its log tells: Scrapy warns of the experiment."""
    return ("GuardedAiohttpDownloadHandler is experimental" in log) == (downloader == "aiohttp")
