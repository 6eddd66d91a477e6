"""Certificates of servers. Sitemaps are read whatever they are; a page that is verified has to have a valid one."""

from __future__ import annotations

import os
import ssl
import sys
from functools import cache
from pathlib import Path
from typing import Any

import certifi
from scrapy.settings import BaseSettings
from twisted.web.client import BrowserLikePolicyForHTTPS

STRICT_KEY = "sitemap_strict"
"""Key in `Request.meta` of requests that need a valid certificate: known, of this host, not expired."""
FILE_VARIABLE = "SSL_CERT_FILE"
"""Environment variable with the file of certificates that OpenSSL trusts."""
WITHOUT_FILES = ("darwin", "win32")
"""Systems that keep their certificates where OpenSSL does not look."""


def strict_policy() -> BrowserLikePolicyForHTTPS:
    """What Twisted needs to verify certificates by those that the system trusts; where it has none, by Mozilla's."""
    _trust_somebody()
    policy: Any = BrowserLikePolicyForHTTPS
    made: BrowserLikePolicyForHTTPS = policy()
    return made


def strict_meta(settings: BaseSettings) -> dict[str, bool]:
    """The request meta of a page that is verified."""
    return {STRICT_KEY: True} if settings.getbool("SITEMAP_VERIFY_CERTIFICATES") else {}


@cache
def _trust_somebody() -> None:
    paths = ssl.get_default_verify_paths()
    known = [paths.cafile, paths.capath] if sys.platform not in WITHOUT_FILES else []
    if FILE_VARIABLE not in os.environ and not any(path and Path(path).exists() for path in known):
        os.environ[FILE_VARIABLE] = certifi.where()
