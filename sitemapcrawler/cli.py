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
"""Commands that Ctrl-C ends quietly while they start; others, such as `shell`, need Python's own handler."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run one of Scrapy's commands; `argv` begins with the program's name and defaults to `sys.argv`.

    `sitemapcrawler crawl sitemap -a domain=example.com -O urls.csv` works in an empty folder, and in the folder of
    another Scrapy project too. Without a command, the commands are listed. Ends with `SystemExit`, whose code is
    that of the command.
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
    """The settings of this project, made the ones that Scrapy finds.

    Scrapy takes the settings module from the environment before it looks for a `scrapy.cfg` nearby. A module named
    there for another project is therefore overwritten, for this process and those it starts.
    """
    from scrapy.settings import Settings

    os.environ["SCRAPY_SETTINGS_MODULE"] = SETTINGS_MODULE
    settings = Settings()
    settings.setmodule(SETTINGS_MODULE, priority="project")
    return settings


if __name__ == "__main__":
    main()
