"""`scrapy mcp`: serves AI assistants by the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from scrapy.settings import Settings

from sitemapcrawler.assistants.audit_tables import Tables
from sitemapcrawler.assistants.tools import server
from sitemapcrawler.assistants.workspace import Workspace
from sitemapcrawler.options.base import BaseCommand, without_options

PACKAGE = "mcp"


class Command(BaseCommand):
    """Serves the tools of `assistants.tools` until standard input ends."""

    passes = argparse.SUPPRESS

    def syntax(self) -> str:
        return "[options] FOLDER"

    def short_desc(self) -> str:
        return "Serve AI assistants: audits, findings and SQL as tools (MCP)"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. Writes audits to FOLDER, and reads and writes nothing elsewhere. Targets "
            "must have public addresses, unless -s SITEMAP_ALLOW_NETWORKS allows others. Communicates over standard "
            "input and output. Exit codes: 0 standard input has ended, 2 wrong argument."
        )

    def check(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        named = without_options(args)
        if len(named) != 1 or not Path(named[0]).is_dir():
            raise ValueError(f"mcp takes one existing folder, and got {', '.join(map(repr, named)) or 'none'}")
        if opts.given:
            raise ValueError("mcp takes no arguments with -a: assistants choose them")
        if find_spec(PACKAGE) is None:
            raise ValueError("mcp needs another package: pip install 'scrapy-sitemapcrawler[mcp]'")
        opts.folder = Path(named[0]).resolve()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve until standard input ends."""
        assert self.settings is not None
        settings = dict(pair.split("=", 1) for pair in opts.set)
        workspace, tables = Workspace(opts.folder, settings), Tables()
        try:
            server(workspace, tables).run("stdio")
        finally:
            workspace.close()
            tables.close()
