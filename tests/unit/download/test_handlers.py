"""A setting that the handler cannot use is one line, without a traceback."""

from __future__ import annotations

import logging

import pytest
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.handlers import GuardedDownloadHandler


def test_bad_network_is_told_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    others = dict.fromkeys(("https", "file", "data", "ftp", "s3"))
    settings = {"SITEMAP_ALLOW_NETWORKS": "everything", "DOWNLOAD_HANDLERS": others | {"http": GuardedDownloadHandler}}
    handlers = DownloadHandlers(get_crawler(settings_dict=settings))
    assert "'everything' is no network" in handlers._notconfigured["http"]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
