"""The page of a fleet, in the look of the report on one crawl."""

from __future__ import annotations

from sitemapcrawler.fleet.overview.model import Overview
from sitemapcrawler.fleet.overview.sections import content
from sitemapcrawler.report.layout import render

PACKAGE = "sitemapcrawler.fleet.overview"
SUMMARY = "summary.parquet"
"""The table of domains, which the page leads to."""


def page(overview: Overview) -> str:
    """The page, to be written as UTF-8; `layout.render` says what it does not do, whatever comes from the sites."""
    return render("overview.html.j2", PACKAGE, summary=SUMMARY, **content(overview))
