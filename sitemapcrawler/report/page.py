"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

from sitemapcrawler.report import sections
from sitemapcrawler.report.layout import render
from sitemapcrawler.report.model import Report


def page(report: Report) -> str:
    """The page, to be written as UTF-8; `layout.render` says what it does not do, whatever comes from the site."""
    return render("page.html.j2", report=report, summary=report.summary, **sections.content(report))
