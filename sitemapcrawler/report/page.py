"""The HTML report of a crawl: one self-contained page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import groupby, islice
from operator import attrgetter
from urllib.parse import unquote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sitemapcrawler import urls
from sitemapcrawler.items import ChangeRecord, Lastmods, RobotsRecord
from sitemapcrawler.replies.indexability import UNKNOWN, Indexability
from sitemapcrawler.report import charts
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.advice import here
from sitemapcrawler.report.charts import ChartBar, History, history
from sitemapcrawler.report.model import Denied, Report
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
)
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.rules.facts.sites import ADDED, CHANGED, NEW_PROBLEM, REMOVED, SOLVED_PROBLEM, UNCHANGED
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
        "treemap": _treemap(report),
        "legend": charts.legend(report),
        "is_bad": charts.is_bad(report),
        "unread": sum(file.is_unread for file in report.files),
        "history": periods,
        "lastmods": _lastmods(periods) if periods else "",
        "trusted": _trusted(report.summary.lastmod),
        "feed_gaps": feed_gaps(report),
        "statuses": _statuses(report),
        "indexability": _indexability(report),
        "all_indexable": report.summary.indexability.keys() <= {Indexability.OK, Indexability.NOT_CHECKED},
        "trend": trend(report),
        "unchecked": report.indexability.get(Indexability.NOT_CHECKED, 0),
        "matrix": matrix(report),
        "host": host,
        "changes": _changes(report),
        "change_tables": change_tables(report),
        "rule_title": title_of,
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
    """Most frequent scheme and authority of the files; the page shows URLs without it."""
    origins = Counter(urls.origin(file.record.sitemap) or "" for file in report.files)
    return origins.most_common(1)[0][0] if origins else ""


def status(code: str) -> str:
    """`404 Not Found`; a kind of reply is returned unchanged."""
    try:
        return f"{code} {HTTPStatus(int(code)).phrase}"
    except ValueError:
        return code


def _trusted(found: Lastmods | None) -> str:
    """How reliable the lastmod dates are; empty if unknown."""
    if found is None or found.trusted is None:
        return ""
    most = f"At most {percent(found.trusted)}" if found.trusted else "None"
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
        if kind == CHANGED:
            alike = [(url, list(some)) for url, some in groupby(records, attrgetter("url"))]
        title = f"{kind.capitalize()}s" if kind in sums else f"URLs {kind}"
        count = sums[kind] if kind in sums else getattr(found, kind, len(records))
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


MAX_HOST = 60
"""Maximum length of a shown host in characters."""
FEW = 6
"""Maximum number of hosts shown as columns; more hosts become rows."""
MAX_LINES = 5
"""Maximum number of lines of robots.txt shown for a crawler or host."""
MAX_DENIED_URLS = 2
"""Maximum number of URLs shown for each of them."""
STEPS = ((0, "none"), (0.1, "few"), (0.5, "some"), (0.999999, "most"), (1, "all"))
"""Shades of a cell, each with the highest share of blocked URLs."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Share of a host's URLs that are blocked for a crawler."""

    text: str
    share: float
    """0 to 1."""
    step: str
    """none, few, some, most or all."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row of the matrix."""

    name: str
    note: str
    """Operator and purpose of a crawler; empty for a host."""
    cells: Sequence[Cell]
    lines: Sequence[DecidingLine] = ()
    """What denies the URLs, the first lines."""
    chosen: str = ""
    """Fragment that shows the URLs in the table of all URLs."""


@dataclass(frozen=True, slots=True)
class DecidingLine:
    """A line of robots.txt, and URLs that it denies."""

    text: str
    urls: Sequence[str]
    """The first of them."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Blocked URLs by crawler and host. Rows with the largest shares come first."""

    corner: str
    """Heading of the first column."""
    columns: Sequence[str]
    rows: Sequence[MatrixRow]
    free: Sequence[str] = ()
    """Crawlers without blocked URLs, which have no row or column."""


def matrix(report: Report) -> Matrix | None:
    """Build the matrix of crawlers blocked by robots.txt, by host. None if nothing was checked. Few hosts become
    columns, more become rows."""
    robots = [record for record in report.robots if record.urls]
    if not robots or not report.judged_agents:
        return None
    return _by_host(robots, report) if len(robots) > FEW else _by_crawler(robots, report)


def _by_crawler(robots: Sequence[RobotsRecord], report: Report) -> Matrix:
    columns, free = _denied_and_free(robots, report)
    rows = [
        MatrixRow(
            name,
            crawler_note(name),
            [_cell(record, name) for record in robots],
            _lines((one.lines[name], one.url) for one in report.denied if name in one.lines),
        )
        for name in columns
    ]
    return Matrix(
        "Crawler", [host(record) for record in robots], _joined(_ordered(rows), len(report.judged_agents)), free
    )


def _lines(denied: Iterable[tuple[str, str]]) -> Sequence[DecidingLine]:
    """The first deciding lines of examples, each with its first URLs. `denied`: line and URL."""
    urls: dict[str, list[str]] = {}
    for line, url in denied:
        urls.setdefault(line, []).append(url)
    return tuple(DecidingLine(line, tuple(some[:MAX_DENIED_URLS])) for line, some in islice(urls.items(), MAX_LINES))


def _joined(rows: Iterable[MatrixRow], judged: int) -> list[MatrixRow]:
    """One row for all crawlers with equal cells, lines and examples. `judged`: number of all crawlers."""
    alike: dict[tuple[object, ...], list[MatrixRow]] = {}
    for row in rows:
        alike.setdefault((*row.cells, *row.lines), []).append(row)
    return [_group(group, judged) for group in alike.values()]


def _group(rows: Sequence[MatrixRow], judged: int) -> MatrixRow:
    first, names = rows[0], [inert(row.name) for row in rows]
    # As markup, since a page cuts long texts, and each of these names counts.
    name = words.ALL_CRAWLERS if 1 < len(names) == judged else escape(words.listed(names, len(names)))
    note = first.note if len(rows) == 1 else counted(len(rows), "crawler")
    fragment = words.chosen("denied", first.name)
    return MatrixRow(name, note, first.cells, first.lines, fragment)


def _by_host(robots: Sequence[RobotsRecord], report: Report) -> Matrix:
    columns, free = _denied_and_free(robots, report)
    by_robots: dict[str, list[Denied]] = {}
    for one in report.denied:
        by_robots.setdefault(one.robots, []).append(one)
    rows = [
        MatrixRow(
            host(record),
            "",
            [_cell(record, name, short=True) for name in columns],
            _lines(
                (line, one.url)
                for one in by_robots.get(record.robots, ())
                for line in dict.fromkeys(one.lines.values())
            ),
        )
        for record in robots
    ]
    return Matrix("Host", columns, _ordered(rows), free)


def _denied_and_free(robots: Sequence[RobotsRecord], report: Report) -> tuple[list[str], list[str]]:
    """Crawlers that are denied something, and all others."""
    denied = {name for record in robots for name, urls in record.agents.items() if urls}
    agents = report.judged_agents
    return [name for name in agents if name in denied], [name for name in agents if name not in denied]


def host(record: RobotsRecord) -> str:
    """Authority of a robots.txt, with its scheme unless it is https."""
    return inert(record.robots.removesuffix("/robots.txt").removeprefix("https://"), MAX_HOST)


def _ordered(rows: Sequence[MatrixRow]) -> list[MatrixRow]:
    return sorted(rows, key=lambda row: -sum(cell.share for cell in row.cells))


def crawler_note(name: str) -> str:
    """Operator and purpose of a crawler; empty if unknown."""
    try:
        known = agent(name)
    except ValueError:
        return ""
    return f"{known.operator}, {known.purpose}" if known.operator else ""


def _cell(record: RobotsRecord, name: str, short: bool = False) -> Cell:
    denied = record.agents.get(name, 0)
    share = min(denied / record.urls, 1.0)
    step = next(step for most, step in STEPS if share <= most)
    text = percent(denied, record.urls)
    return Cell(text if short or not denied else f"{text} ({denied:,})", round(share, 4), step)
