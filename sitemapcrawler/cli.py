"""The console script: Scrapy's commands with this project's settings, from any folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from sitemapcrawler import __version__
from sitemapcrawler.early_stops import quiet_interrupts

if TYPE_CHECKING:
    from scrapy.settings import Settings

SETTINGS_MODULE = "sitemapcrawler.settings"
QUIET = frozenset({"crawl", "fleet", "inspect", "validate"})
"""Commands that exit quietly on Ctrl-C while they start; others, such as `shell`, need Python's own handler."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run one of Scrapy's commands; `argv` starts with the program's name and defaults to `sys.argv`.

    `sitemapcrawler crawl sitemap -a domain=example.com -O urls.csv` works in an empty folder, and in the folder of
    another Scrapy project. Without a command, lists the commands. Raises `SystemExit` with the exit code of the
    command.
    """
    arguments = list(sys.argv if argv is None else argv)
    if arguments[1:] == ["--version"]:
        print(f"sitemapcrawler {__version__}")
        sys.exit(0)
    with quiet_interrupts() if QUIET.intersection(arguments[1:]) else nullcontext():
        import scrapy.core.downloader.contextfactory  # noqa: F401 - it walks the stack of its importers, slow if deep
        from scrapy.cmdline import execute

        execute(arguments, project_settings())


def project_settings() -> Settings:
    """Return the settings of this project, and make Scrapy find them.

    Scrapy takes the settings module from the environment before it looks for a `scrapy.cfg` nearby. A module set there
    for another project is therefore overwritten, for this process and its children.
    """
    from scrapy.settings import Settings

    os.environ["SCRAPY_SETTINGS_MODULE"] = SETTINGS_MODULE
    settings = Settings()
    settings.setmodule(SETTINGS_MODULE, priority="project")
    return settings


if __name__ == "__main__":
    main()
