"""`scrapy view`: Scrapy's command, which may request the URL that it is given at any address."""

from __future__ import annotations

import argparse

from scrapy.commands import view

from sitemapcrawler.commands.single import name_url


class Command(view.Command):
    """Scrapy's command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check `--spider`, and name the URL."""
        assert self.settings is not None
        super().process_options(args, opts)
        name_url(self.settings, args, opts)
