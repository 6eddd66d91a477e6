"""Trend over the runs of a job: charts of errors and indexable URLs, a sentence, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markupsafe import Markup

from sitemapcrawler.report import charts
from sitemapcrawler.report.model import Report, Run
from sitemapcrawler.report.wording import PARTIAL, listed, moment, shown
from sitemapcrawler.rules.registry import Severity
from sitemapcrawler.urls.display import counted, inert

OF_THE_SITE = ("domain", "sitemap", "base_url")
"""Arguments that say which site a run is of."""
CHARTS = ("URLs with errors", "Indexable URLs")
LIMITS = frozenset(("max_urls", "max_sitemaps"))
"""Reasons for an early end that cut each run at the same place."""


@dataclass(frozen=True, slots=True)
class TrendRow:
    """A run in the table."""

    run: Run
    note: str
    """Why its values are gaps in the charts, or estimates; empty if they are neither."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The trend, with the newest run first in `rows`."""

    errors: Markup
    indexable: Markup
    """Charts; empty with fewer than two values."""
    sentence: str
    rows: Sequence[TrendRow]


def trend(report: Report) -> Trend | None:
    """Build the trend. None if there is no earlier run of this site."""
    if not report.runs:
        return None
    now = report.runs[-1]
    runs = [run for run in report.runs if _site(run) == _site(now)]
    if len(runs) < 2:
        return None
    drawn = [run if not _difference(run, now) else replace(run, found=None, indexable=None) for run in runs]
    labels = _labels(runs)
    return Trend(
        charts.line([_errors(run, "urls") for run in drawn], labels, f"{CHARTS[0]} by run"),
        charts.line([run.indexable for run in drawn], labels, f"{CHARTS[1]} by run"),
        _sentence(drawn),
        [TrendRow(run, _note(run, now)) for run in reversed(runs)],
    )


def _errors(run: Run, of: Literal["urls", "files"]) -> int | None:
    """Number of distinct URLs, or of files, that errors concern; None if it is unknown."""
    errors = run.reach(Severity.ERROR)
    return None if errors is None else errors.urls if of == "urls" else errors.files


def _site(run: Run) -> list[str | None]:
    return [run.arguments.get(name) for name in OF_THE_SITE]


def _difference(run: Run, now: Run) -> str:
    """Why a run cannot be compared with this one; empty if it can."""
    if run.partial is not None and run.partial not in LIMITS:
        return f"ended early: {PARTIAL.get(run.partial, run.partial)}"
    names = sorted(run.arguments.keys() | now.arguments.keys())
    changed = [name for name in names if run.arguments.get(name) != now.arguments.get(name)]
    return f"other arguments: {listed([_argument(run, name) for name in changed])}" if changed else ""


def _argument(run: Run, name: str) -> str:
    text = run.arguments.get(name)
    return f"without {name}" if text is None else f"{name}={text}"


def _note(run: Run, now: Run) -> str:
    uncounted = "an earlier version, which counted findings" if run.found is None else ""
    estimate = "indexable URLs estimated from a sample" if run.sampled else ""
    return "; ".join(filter(None, [_difference(run, now), uncounted, estimate]))


def _labels(runs: Sequence[Run]) -> list[str]:
    """Start of each run: the day, or the time of day if all are of one day."""
    start = 0 if len({run.started[:10] for run in runs}) > 1 else 11
    return [inert(run.started[start : start + (5 if start else 10)]) for run in runs]


def _sentence(drawn: Sequence[Run]) -> str:
    """What changed since the last run with comparable values. URLs of unknown indexability are named if they did."""
    now = drawn[-1]
    before = next((run for run in reversed(drawn[:-1]) if run.found is not None), None)
    if before is None or now.found is None:
        return "No earlier run can be compared with this one; the table says why."
    urls, files = ((_errors(now, of) or 0) - (_errors(before, of) or 0) for of in ("urls", "files"))
    found = [_more(urls, "URL", " with errors")]
    if files:
        found.append(_more(files, "file", " with errors"))
    if now.indexable is not None and before.indexable is not None:
        found.append(_more(now.indexable - before.indexable, "indexable URL"))
        if now.unknown != before.unknown:
            found.append(_more(now.unknown - before.unknown, "unknown URL"))
    since = Markup("Since the run of {}").format(shown(moment(before.started)))
    return Markup("{}: {}.").format(since, ", ".join(found))


def _more(change: int, noun: str, which: str = "") -> str:
    if not change:
        return f"the same number of {noun}s{which}"
    return counted(abs(change), f"{'more' if change > 0 else 'fewer'} {noun}") + which
