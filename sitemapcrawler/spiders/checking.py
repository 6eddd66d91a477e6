"""Checks settings and feeds before a crawl, whatever starts it. Errors are one line."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from sitemapcrawler.crawl.configuring import choose, contact_of
from sitemapcrawler.crawl.setting_values import check_settings
from sitemapcrawler.download.addresses import AddressGuard
from sitemapcrawler.feeds.setup import prepare_feeds
from sitemapcrawler.middlewares.credentials import auth_of


def check(settings: BaseSettings) -> None:
    """Validate settings and feeds, and fill in the feeds' options. Raises ValueError, one line."""
    check_settings(settings)
    prepare_feeds(settings)
    choose(settings)
    AddressGuard(networks=settings.getlist("SITEMAP_ALLOW_NETWORKS"))
    auth_of(settings)
    contact_of(settings)
