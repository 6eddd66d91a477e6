"""A setting that the handler cannot use is one line, without a traceback."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.state import Plan
from sitemapcrawler.download.handlers import GuardedDownloadHandler


def test_bad_network_is_told_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    others = dict.fromkeys(("https", "file", "data", "ftp", "s3"))
    settings = {"SITEMAP_ALLOW_NETWORKS": "everything", "DOWNLOAD_HANDLERS": others | {"http": GuardedDownloadHandler}}
    handlers = DownloadHandlers(get_crawler(settings_dict=settings))
    assert "'everything' is not a network" in handlers._notconfigured["http"]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing.pem", "cannot be read: No such file or directory"),
        ("empty.pem", "holds no certificates in PEM"),
        ("text.pem", "holds no certificates in PEM"),
    ],
)
def test_certificates_that_cannot_be_trusted_refuse_a_verification(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "empty.pem").touch()
    (tmp_path / "text.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
    settings = get_crawler(settings_dict={"SITEMAP_VERIFY_CERTIFICATES": True}).settings
    with pytest.raises(ValueError, match=f"^SSL_CERT_FILE: {tmp_path / name} {problem}$"):
        Plan.check(settings, {"domain": "e.test", "verify": "head"})
    Plan.check(settings, {"domain": "e.test"}).discard()
