"""What the sections of the page need besides the report itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from markupsafe import Markup

from sitemapcrawler import urls
from sitemapcrawler.findings import inert
from sitemapcrawler.report import charts, words
from sitemapcrawler.report.blocks import blocks, legend, state
from sitemapcrawler.report.charts import Bar
from sitemapcrawler.report.matrix import host, matrix
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.months import History, history
from sitemapcrawler.report.verdict import gaps, partial, verdict

MAX_BARS = 16
"""Bars of statuses, the most frequent ones; the table below has all."""
MAX_STATUS = 28
"""Characters of a status and its name."""
CHANGES = {"added": "ok", "removed": "error", "changed": "warning", "unchanged": "rest"}
"""Colours of what became of a page."""


def content(report: Report) -> dict[str, Any]:
    """The variables of the templates, by name."""
    periods = history(report.months, report.summary.started)
    return {
        "sites": sites(report),
        "origin": origin(report),
        "verdict": verdict(report),
        "partial": partial(report),
        "gaps": gaps(report),
        "treemap": _treemap(report),
        "legend": legend(report),
        "unread": sum(state(file) == "unread" for file in report.files),
        "history": periods,
        "lastmods": _lastmods(periods) if periods else "",
        "statuses": _statuses(report),
        "matrix": matrix(report),
        "host": host,
        "changes": _changes(report),
        "status": status,
        "words": words,
    }


def sites(report: Report) -> Sequence[str]:
    """The sites that were crawled; where only sitemaps were named, the hosts of these."""
    if report.summary.domains:
        return report.summary.domains
    origins = dict.fromkeys(urls.origin(file.record.sitemap) for file in report.files)
    return [each.partition("://")[2] for each in origins if each]


def origin(report: Report) -> str:
    """Scheme and authority of most files, which addresses are shown without; empty where there is none."""
    origins = Counter(urls.origin(file.record.sitemap) or "" for file in report.files)
    return origins.most_common(1)[0][0] if origins else ""


def status(code: str) -> str:
    """`404 Not Found`; a kind of reply stays as it is."""
    try:
        return f"{code} {HTTPStatus(int(code)).phrase}"
    except ValueError:
        return code


def _treemap(report: Report) -> Markup | str:
    drawn = blocks(report)
    return charts.treemap(drawn, "Sitemap files by number of URLs and worst problem") if drawn else ""


def _lastmods(periods: History) -> Markup:
    bars = [Bar(period.label, period.entries, "warning" if period.future else "plain") for period in periods.periods]
    return charts.columns(bars, f"Entries by {periods.unit} of their last modification")


def _statuses(report: Report) -> Markup | str:
    counted = [(name, entries) for name, entries in report.statuses.items() if entries]
    bars = [Bar(inert(status(name), MAX_STATUS), entries, _shade(name)) for name, entries in counted[:MAX_BARS]]
    return charts.rows(bars, "Checked entries by status") if bars else ""


def _shade(code: str) -> str:
    return {"2": "ok", "3": "warning"}.get(code[:1], "error")


def _changes(report: Report) -> Markup | str:
    bars = [Bar(name, report.changes.get(name, 0), shade) for name, shade in CHANGES.items()]
    return charts.rows(bars, "Pages by what became of them since the baseline") if report.changes else ""
