"""What the sections of the page need besides the report itself."""

from __future__ import annotations

from typing import Any

from sitemapcrawler.findings import inert
from sitemapcrawler.report import charts
from sitemapcrawler.report.blocks import STATES, blocks, legend, state
from sitemapcrawler.report.charts import Bar
from sitemapcrawler.report.matrix import host, matrix
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.months import history
from sitemapcrawler.report.verdict import gaps, partial, verdict

REPLIES = {
    "ok": "answered with a page at once",
    "redirected": "redirected to another URL",
    "http-error": "answered with an HTTP error",
    "timeout": "did not answer in time",
    "dns": "host name not found",
    "tls": "no secure connection",
    "refused": "connection refused",
    "reset": "connection broke off",
    "truncated": "answer broke off",
    "too-large": "answer too large",
    "redirect-loop": "redirects without end",
    "address-refused": "address that is not asked",
    "blocked": "not asked: robots.txt forbids us to",
    "sampled-out": "not asked: not in the sample",
    "off-site": "not asked: on another host",
    "stopped": "not asked: the crawl ended before its turn",
    "unchecked": "not asked",
}
"""What asking for a URL came to, by kind or reason, in words."""
EVIDENCE = {
    "future": "lie in the future",
    "epoch": "are the zero of a clock",
    "at_fetch": "were made by the request itself",
    "identical": "were made in one batch",
    "older_than_header": "are older than the server says",
    "newer_than_header": "are newer than the server says",
    "older_than_page": "are older than the page says",
    "newer_than_page": "are newer than the page says",
}
"""What speaks against a lastmod, in words."""
FORMATS = {
    "xml-urlset": "XML",
    "xml-index": "index",
    "rss": "RSS",
    "atom": "Atom",
    "text": "text",
    "html": "HTML",
    "list": "list",
}
"""Formats of files, in words."""
MAX_LANGUAGES_DRAWN = 12


def content(report: Report) -> dict[str, Any]:
    """The variables of the templates, by name."""
    return {
        "verdict": verdict(report),
        "partial": partial(report),
        "gaps": gaps(report),
        "treemap": _treemap(report),
        "legend": legend(report),
        "state": state,
        "states": STATES,
        "history": (periods := history(report.months, report.summary.started)),
        "lastmods": _lastmods(periods),
        "statuses": _statuses(report),
        "replies": REPLIES,
        "evidence": EVIDENCE,
        "formats": FORMATS,
        "matrix": matrix(report),
        "host": host,
        "changes": _changes(report),
    }


def _treemap(report: Report) -> Any:
    drawn = blocks(report)
    return charts.treemap(drawn, "Files by number of URLs and worst problem") if drawn else ""


def _lastmods(periods: Any) -> Any:
    if periods is None:
        return ""
    bars = [Bar(period.label, period.entries, "warning" if period.future else "plain") for period in periods.periods]
    return charts.columns(bars, f"Entries by {periods.unit} of their last modification")


def _statuses(report: Report) -> Any:
    if not report.statuses:
        return ""
    bars = [Bar(inert(name, 20), value, _shade(name)) for name, value in report.statuses.items()]
    return charts.rows(bars, "Checked URLs by status")


def _shade(status: str) -> str:
    return {"2": "ok", "3": "warning"}.get(status[:1], "error")


def _changes(report: Report) -> Any:
    shades = {"added": "ok", "removed": "error", "changed": "warning", "unchanged": "rest"}
    bars = [Bar(inert(name, 20), value, shades.get(name, "rest")) for name, value in report.changes.items()]
    return charts.rows(bars, "Pages by what became of them since the baseline") if bars else ""
