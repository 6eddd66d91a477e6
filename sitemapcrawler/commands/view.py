"""`scrapy view`: Scrapy's command, which may request the URL that it is given at any address."""

from __future__ import annotations

from scrapy.commands import view

from sitemapcrawler.options.single import SingleUrl


class Command(SingleUrl, view.Command):
    """Scrapy's command."""
