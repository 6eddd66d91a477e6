"""The HTML report of a crawl: one self-contained page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from urllib.parse import unquote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sitemapcrawler import urls
from sitemapcrawler.items import ChangeRecord, SummaryRecord
from sitemapcrawler.replies.indexability import UNKNOWN, Indexability
from sitemapcrawler.report import charts
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.advice import here
from sitemapcrawler.report.charts import ChartBar, History, history
from sitemapcrawler.report.crawlers import crawler_table, fetched, hosts, not_verified, preferences
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.trend import trend
from sitemapcrawler.report.wording import (
    FILTERS,
    chosen,
    files_of_findings,
    gaps,
    health,
    lacking,
    limited,
    may_be_opened,
    partial,
    sentences,
    shown,
    unfinished_rules,
)
from sitemapcrawler.rules.facts.index_reasons import advice_on
from sitemapcrawler.rules.facts.sites import (
    ADDED,
    CHANGED,
    NEW_PROBLEM,
    REMOVED,
    ROBOTS_CHANGE,
    SOLVED_PROBLEM,
    UNCHANGED,
)
from sitemapcrawler.rules.registry import title_of
from sitemapcrawler.urls.display import counted, inert, percent
from sitemapcrawler.version import __version__

PACKAGE = "sitemapcrawler.report"
"""Package with the shared templates and those of a crawl's report."""


def render(template: str, package: str = PACKAGE, scripts: Sequence[str] = ("page.js",), /, **variables: object) -> str:
    """Render a page, to be written as UTF-8. `package`: further package with templates; `scripts`: files next to them.

    The page loads no resources and can be opened from disk. Its scripts sort and filter tables. Untrusted input appears
    only as text, as the URL of a link or packed.
    """
    environment = _environment(package)
    style = Markup(_source(environment, "page.css"))
    script = Markup("\n").join(Markup(_source(environment, name)) for name in scripts)
    return environment.get_template(template).render(
        policy=policy(style, script), style=style, script=script, version=__version__, **variables
    )


def policy(style: str, script: str) -> str:
    """Content-Security-Policy of a page with one style sheet and one script.

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
    environment.filters |= FILTERS | {"here": here}
    return environment


def _source(environment: Environment, name: str) -> str:
    """Content of a file next to the templates, unrendered."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


MAX_BARS = 16
"""Maximum number of statuses in the chart, the most frequent ones; the table shows all."""
MIN_TILES = 4
"""Minimum number of rectangles in the treemap; the table says more about fewer files."""
MAX_STATUS = 28
"""Maximum length in characters of a status and its name."""
MAX_CHOSEN = 60
"""Maximum number of months that a bar chooses in the table of all URLs; more make too long a URL."""
CHANGES = {ADDED: "ok", REMOVED: "error", CHANGED: "warning", UNCHANGED: "rest"}
"""CSS classes of changes of URLs."""


def content(report: Report) -> dict[str, object]:
    """Variables for the templates."""
    periods = history(report.months, report.summary.started)
    return {
        "sites": sites(report),
        "origin": origin(report),
        "verdict": health(report),
        "partial": partial(report),
        "limited": limited(report),
        "gaps": gaps(report),
        "unfinished_rules": unfinished_rules(report),
        "segments": sorted(report.summary.segments, key=words.by_share),
        "treemap": _treemap(report),
        "legend": charts.legend(report),
        "is_bad": charts.is_bad(report),
        "unread": sum(file.is_unread for file in report.files),
        "history": periods,
        "lastmods": _lastmods(periods) if periods else "",
        "trusted": _trusted(report.summary),
        "feed_gaps": feed_gaps(report),
        "statuses": _statuses(report),
        "indexability": _indexability(report),
        "all_indexable": report.summary.indexability.keys() <= {Indexability.OK, Indexability.NOT_CHECKED},
        "trend": trend(report),
        "unchecked": report.indexability.get(Indexability.NOT_CHECKED, 0),
        "crawlers": crawler_table(report),
        "hosts": hosts(report),
        "fetched": fetched(report),
        "not_verified": not_verified(report),
        "preferences": preferences(report.summary.usage),
        "changes": _changes(report),
        "change_tables": change_tables(report),
        "rule_title": title_of,
        "advice_on": advice_on,
        "explorer": explorer(report),
        "feed": feed_of_urls(report),
        "packed": Markup(base64.b64encode(report.entries.packed).decode()) if report.entries else "",
        "status": status,
        "words": words,
    }


def sites(report: Report) -> Sequence[str]:
    """Crawled sites; if only sitemaps were given, their hosts. Local files count as the host of `base_url`, or are
    listed by name without one."""
    if report.summary.domains:
        return report.summary.domains
    files = [file.record.sitemap for file in report.files]
    origins = dict.fromkeys(filter(None, map(urls.origin, [*files, report.arguments.get("base_url", "")])))
    names = dict.fromkeys(name for file in files if (name := unquote(file.rpartition("/")[2])))
    return [each.partition("://")[2] for each in origins] or list(names)


def feed_gaps(report: Report) -> list[str]:
    """Sentences about what the feeds next to the page leave out."""
    told = []
    if (missing := lacking(report.summary)) and files_of_findings(report):
        told.append(f"The files of findings are not complete. {missing}.")
    if report.summary.only == "changes":
        told.append("The files of URLs leave out entries that have not changed since the baseline (only=changes).")
    return told


def origin(report: Report) -> str:
    """Most frequent scheme and authority of the files, of a crawled site if any are; the page shows URLs without it."""
    named = {urls.site_of(urls.origin(name) or f"https://{name}") for name in report.summary.domains}
    origins = Counter(urls.origin(file.record.sitemap) or "" for file in report.files)
    return max(origins, key=lambda one: (urls.site_of(one) in named, origins[one]), default="")


def status(code: str) -> str:
    """`404 Not Found`; a kind of reply is returned unchanged."""
    try:
        return f"{code} {HTTPStatus(int(code)).phrase}"
    except ValueError:
        return code


def _trusted(summary: SummaryRecord) -> str:
    """How reliable the lastmod dates are without the baseline; empty if unknown."""
    found = summary.lastmod
    if found is None or found.trusted is None:
        return ""
    most = f"at most {percent(found.trusted)}" if found.trusted else "none"
    most = f"Without the baseline, {most}" if summary.revisits else most.capitalize()
    dates = counted(found.compared, "date was", "dates were")
    parts = [
        f"{most} of the dates can be trusted." if found.evidence else "",
        f"{dates} compared with what pages and servers say." if found.compared else "",
        "" if found.evidence else "Nothing was found against the dates.",
    ]
    return " ".join(filter(None, parts))


def _lastmods(periods: History) -> Markup:
    bars = [
        ChartBar(
            period.label,
            period.entries,
            "warning" if period.future else "plain",
            chosen=chosen("month", *period.months) if len(period.months) <= MAX_CHOSEN else "",
        )
        for period in periods.periods
    ]
    return charts.columns(bars, f"Entries by {periods.unit} of their last modification")


def _statuses(report: Report) -> Markup | str:
    urls = [(name, number) for name, number in report.statuses.items() if number]
    bars = [
        ChartBar(inert(status(name), MAX_STATUS), number, _shade(name), chosen=chosen("status", name))
        for name, number in urls[:MAX_BARS]
    ]
    return charts.rows(bars, "Checked URLs by status")


def _treemap(report: Report) -> Markup | str:
    tiles = charts.tiles(report)
    return (
        charts.treemap(tiles, "Sitemap files by number of URLs and share of bad ones")
        if len(tiles) >= MIN_TILES
        else ""
    )


def _indexability(report: Report) -> Markup | str:
    counts = {**report.indexability, Indexability.NOT_CHECKED: 0}
    shades = dict.fromkeys(UNKNOWN, "rest") | {Indexability.OK: "ok"}
    bars = [
        ChartBar(value, counts[value], shades.get(value, "error"), chosen=chosen("indexability", value))
        for value in Indexability
        if counts.get(value)
    ]
    return charts.rows(bars, "URLs by indexability")


def _shade(code: str) -> str:
    return {"2": "ok", "3": "warning"}.get(code[:1], "error")


def _changes(report: Report) -> Markup | str:
    found = report.summary.changes
    if found is None:
        return ""
    bars = [
        ChartBar(name, getattr(found, name), shade, chosen=chosen("change", name)) for name, shade in CHANGES.items()
    ]
    return charts.rows(bars, "URLs by change since the baseline")


@dataclass(frozen=True, slots=True)
class Changed:
    """A URL and what has changed there."""

    url: str
    what: Sequence[ChangeRecord]
    """At least one change, all of one kind."""


@dataclass(frozen=True, slots=True)
class ChangeTable:
    """The changes of one kind."""

    kind: str
    title: str
    rows: Sequence[Changed]
    count: int
    """Number of rows, including those not shown."""


def change_tables(report: Report) -> list[ChangeTable]:
    """Build a table for each kind of change that has any."""
    found = report.summary.changes
    if found is None:
        return []
    sums = {NEW_PROBLEM: sum(found.new_problems.values()), SOLVED_PROBLEM: sum(found.solved_problems.values())}
    tables = []
    for kind, records in report.changed.items():
        alike = [(record.url, [record]) for record in records]
        if kind in (CHANGED, ROBOTS_CHANGE):
            alike = [(url, list(some)) for url, some in groupby(records, attrgetter("url"))]
        title = f"{kind.capitalize()}s" if kind in sums else kind if kind == ROBOTS_CHANGE else f"URLs {kind}"
        count = sums[kind] if kind in sums else getattr(found, kind, len(alike))
        tables.append(ChangeTable(kind, title, [Changed(*one) for one in alike], count))
    return tables


def page(report: Report) -> str:
    """HTML of the report; see `render`."""
    scripts = ("page.js", "explorer.js")
    return render("page.html.j2", PACKAGE, scripts, report=report, summary=report.summary, **content(report))


TABLE_FEED = "urls.parquet"
"""Feed of all URLs that DuckDB can query. JSON lines leave out null fields, so that a column may be missing."""


def explorer(report: Report) -> Markup:
    """What the script of the table of all URLs has to know besides its rows, as JSON."""
    if (entries := report.entries) is None:
        return Markup("")
    facts = {
        "shown": entries.shown,
        "total": entries.total,
        "origin": inert(origin(report)),
        "feed": feed_of_urls(report),
        "labels": {
            "problem": {
                inert(rule.rule): inert(sentences(rule.what)[0].replace("`", "")) for rule in report.rules if rule.what
            },
            "status": {str(code.value): f"{code.value} {code.phrase}" for code in HTTPStatus},
        },
        "severities": {inert(rule.rule): inert(rule.severity) for rule in report.rules},
        "pages": {inert(rule.rule): rule.page for rule in report.rules if may_be_opened(rule.page)},
    }
    return escape(json.dumps(facts))


def feed_of_urls(report: Report) -> str:
    """Name of the feed with all URLs that DuckDB can query; empty if there is none."""
    return TABLE_FEED if TABLE_FEED in report.feeds else ""
