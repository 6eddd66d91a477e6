"""Runs a command whose report page is the model that it would show, as JSON: python -m tests.crawl.modelled COMMAND

As a prefix (`within`) of a crawl, it makes the figures of a report comparable with its feeds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from sitemapcrawler import cli
from sitemapcrawler.report import page
from sitemapcrawler.report.model import Report

WITHIN = (sys.executable, "-m", "tests.crawl.modelled")
OF_PYTHON = 3
"""Words of a command that start the program: `python -m sitemapcrawler.cli`."""


def modelled(path: Path) -> Report:
    """The model of a report whose page was written so."""
    return msgspec.json.decode(path.read_bytes(), type=Report)


if __name__ == "__main__":
    page.page = lambda report: msgspec.json.encode(report).decode()
    cli.main(sys.argv[OF_PYTHON:])
