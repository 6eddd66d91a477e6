"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sitemapcrawler import __version__, urls
from sitemapcrawler.items import Lastmods
from sitemapcrawler.report import charts
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.blocks import blocks, legend, state
from sitemapcrawler.report.charts import Bar
from sitemapcrawler.report.matrix import host, matrix
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.months import History, history
from sitemapcrawler.report.verdict import gaps, partial, verdict
from sitemapcrawler.report.wording import FILTERS, shown
from sitemapcrawler.urls.display import inert
from sitemapcrawler.words import counted, percent

PACKAGE = "sitemapcrawler.report"
"""Has the templates that all pages share, and those of the report on a crawl."""


def render(template: str, package: str = PACKAGE, **variables: Any) -> str:
    """The page of a template, to be written as UTF-8. `package`: has templates of its own beside those of the report.

    It loads nothing, opens from disk, and runs one script, which sorts and filters its tables. All text is only text
    in it, or the address of a link.
    """
    environment = _environment(package)
    style, script = (Markup(_source(environment, name)) for name in ("page.css", "page.js"))
    return environment.get_template(template).render(
        policy=policy(style, script), style=style, script=script, version=__version__, **variables
    )


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page with one style sheet and one script.

    Source: https://www.w3.org/TR/CSP3/
    """
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys([package, PACKAGE])]),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    return environment


def _source(environment: Environment, name: str) -> str:
    """A file beside the templates, as it stands."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


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
        "trusted": _trusted(report.summary.lastmod),
        "feed_gaps": feed_gaps(report),
        "statuses": _statuses(report),
        "matrix": matrix(report),
        "host": host,
        "changes": _changes(report),
        "status": status,
        "words": words,
    }


def sites(report: Report) -> Sequence[str]:
    """The sites that were crawled. Where only sitemaps were named, their hosts; of files of this machine the host of
    `base_url`, or else their names."""
    if report.summary.domains:
        return report.summary.domains
    files = [file.record.sitemap for file in report.files]
    origins = dict.fromkeys(filter(None, map(urls.origin, [*files, report.arguments.get("base_url", "")])))
    names = dict.fromkeys(name for file in files if (name := unquote(file.rpartition("/")[2])))
    return [each.partition("://")[2] for each in origins] or list(names)


def feed_gaps(report: Report) -> list[str]:
    """What the files beside the page leave out, a sentence each."""
    told = []
    found = sum(rule.count for rule in report.rules)
    kept = sum(rule.count if rule.kept is None else rule.kept for rule in report.rules)
    if "rules" in report.left_out or kept < found:
        few = f" {kept:,} of {found:,} findings:" if kept < found else ""
        most = "of each rule and file SITEMAP_FINDINGS_PER_RULE at most; summary.json counts all"
        told.append(f"The files of findings hold{few} {most}.")
    if report.summary.only == "changes":
        told.append("The files of URLs leave out entries that have not changed since the baseline (only=changes).")
    return told


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


def _trusted(found: Lastmods | None) -> str:
    """How far the dates can be trusted; empty where that is not known."""
    if found is None or found.trusted is None:
        return ""
    compared = counted(found.compared, "date was", "dates were") if found.compared else "No date was"
    share = f"At most {percent(found.trusted)} of the dates can be trusted." if found.evidence else ""
    nothing = "" if found.evidence else " Nothing was found against the dates."
    return f"{share} {compared} compared with what pages and servers say.{nothing}".strip()


def _treemap(report: Report) -> Markup | str:
    drawn = blocks(report)
    return charts.treemap(drawn, "Sitemap files by number of URLs and worst problem") if drawn else ""


def _lastmods(periods: History) -> Markup:
    bars = [Bar(period.label, period.entries, "warning" if period.future else "plain") for period in periods.periods]
    return charts.columns(bars, f"Entries by {periods.unit} of their last modification")


def _statuses(report: Report) -> Markup | str:
    entries = [(name, number) for name, number in report.statuses.items() if number]
    bars = [Bar(inert(status(name), MAX_STATUS), number, _shade(name)) for name, number in entries[:MAX_BARS]]
    return charts.rows(bars, "Checked entries by status") if bars else ""


def _shade(code: str) -> str:
    return {"2": "ok", "3": "warning"}.get(code[:1], "error")


def _changes(report: Report) -> Markup | str:
    bars = [Bar(name, report.changes.get(name, 0), shade) for name, shade in CHANGES.items()]
    return charts.rows(bars, "Pages by what became of them since the baseline") if report.changes else ""


def page(report: Report) -> str:
    """The page, to be written as UTF-8; `layout.render` says what it does not do, whatever comes from the site."""
    return render("page.html.j2", report=report, summary=report.summary, **content(report))
