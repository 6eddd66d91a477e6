"""`scrapy fetch`: Scrapy's command, which may request the URL that it is given at any address."""

from __future__ import annotations

from scrapy.commands import fetch

from sitemapcrawler.options.single import SingleUrl


class Command(SingleUrl, fetch.Command):
    """Scrapy's command."""
