"""Which handler a setting names, and one line where it cannot be had."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.handlers import GuardedDownloadHandler, GuardedHTTP11DownloadHandler, guarded_handler


@pytest.mark.parametrize("settings", [{}, {"SITEMAP_DOWNLOADER": "twisted"}])
def test_handler_on_twisted_is_the_default(settings: dict[str, Any]) -> None:
    assert guarded_handler(Settings(settings)) is GuardedHTTP11DownloadHandler


def test_handler_on_aiohttp() -> None:
    module = pytest.importorskip("sitemapcrawler.aiohttp_downloads", exc_type=ImportError)
    assert guarded_handler(Settings({"SITEMAP_DOWNLOADER": "aiohttp"})) is module.GuardedAiohttpDownloadHandler


@pytest.mark.parametrize("missing", ["aiohttp", "scrapy.core.downloader.handlers._aiohttp"])
def test_handler_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in [name for name in sys.modules if name.startswith("sitemapcrawler.aiohttp_")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        ValueError, match=r"^setting SITEMAP_DOWNLOADER='aiohttp': it needs Scrapy 2\.19 .*: pip install aiohttp"
    ) as told:
        guarded_handler(Settings({"SITEMAP_DOWNLOADER": "aiohttp"}))
    assert "\n" not in str(told.value)


def test_setting_that_names_no_handler_is_told_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    path = f"{GuardedDownloadHandler.__module__}.{GuardedDownloadHandler.__name__}"
    others = dict.fromkeys(("https", "file", "data", "ftp", "s3"))
    settings = {"SITEMAP_DOWNLOADER": "curl", "DOWNLOAD_HANDLERS": others | {"http": path}}
    handlers = DownloadHandlers(get_crawler(settings_dict=settings))
    assert handlers._notconfigured["http"] == "setting SITEMAP_DOWNLOADER='curl': accepted: twisted, aiohttp"
    assert caplog.records == []
