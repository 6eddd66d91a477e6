"""`scrapy bench`: Scrapy's benchmark of this machine, with Scrapy's settings in place of ours, which are polite."""

from __future__ import annotations

import argparse

from scrapy.commands import bench
from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from sitemapcrawler import settings as ours

CLOSED = {"REMOTE_CONTROL_ENABLED": False, "TELNETCONSOLE_ENABLED": False}
"""Settings of ours that stay: Scrapy would open ports."""


class Command(bench.Command):
    """Scrapy's command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Restore the settings that this project changes; the command line takes precedence."""
        assert self.settings is not None
        changed = {name for name in vars(ours) if name.isupper() and hasattr(default_settings, name)}
        theirs = {name: getattr(default_settings, name) for name in changed}
        self.settings.setdict({**theirs, **self.default_settings, **CLOSED}, SETTINGS_PRIORITIES["cmdline"] - 1)
        super().process_options(args, opts)
