"""Writes the summary of a fleet: a table of its domains, and an HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from sitemapcrawler.feeds.folder import PAGE
from sitemapcrawler.fleet.domains import FAILED, FINISHED, PARTIAL, UNREAD, DomainRecord
from sitemapcrawler.fleet.output import Output
from sitemapcrawler.fleet.overview import LIMITED, ORDER, Overview, loaded, summarize, write_domains
from sitemapcrawler.report import charts
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.charts import ChartBar
from sitemapcrawler.report.crawlers import crawler_note
from sitemapcrawler.report.page import render
from sitemapcrawler.report.wording import PARTIAL as ENDED_EARLY
from sitemapcrawler.report.wording import Health, Level, listed
from sitemapcrawler.rules.registry import SEVERITIES
from sitemapcrawler.urls.display import counted, inert

NAMES = {
    FINISHED: "read to the end",
    LIMITED: "read up to a limit",
    PARTIAL: "read in part",
    UNREAD: "no sitemap read",
    FAILED: "failed",
}
"""Wording of a domain's state."""
MISSING = {
    FAILED: "failed",
    UNREAD: "without a sitemap that could be read",
    PARTIAL: "read in part",
    LIMITED: "read up to a limit",
}
"""Wording of a state after a number of domains."""
SHADES = {FINISHED: "ok", LIMITED: "plain", PARTIAL: "warning", UNREAD: "error", FAILED: "unread"}
"""CSS classes of states."""
MAX_NAME = 100
"""Maximum length in characters of a shown domain or machine; long hosts have about 40."""
MAX_REASON = 300
"""Maximum length of a shown reason in characters."""


def content(overview: Overview) -> dict[str, object]:
    """Variables for the templates."""
    missing = sum(number for state, number in overview.states.items() if state != FINISHED)
    return {
        "overview": overview,
        "totals": overview.totals,
        "verdict": health(overview),
        "missing": missing,
        "results": results(overview),
        "states": _states(overview),
        "state": state,
        "rank": rank,
        "site": site,
        "names": names,
        "why": why,
        "note": crawler_note,
        "words": words,
    }


def health(overview: Overview) -> Health:
    """Verdict on the whole fleet, by its findings as for one crawl (`wording.health`)."""
    in_all, done = overview.totals.domains, results(overview)
    if not in_all:
        return Health(Level.UNKNOWN, "No domain", ["The data set has no finished domain."])
    errors, warnings = overview.totals.with_errors, overview.totals.with_warnings
    states = [f"{overview.states[state]:,} {text}" for state, text in MISSING.items() if overview.states.get(state)]
    sentences = [f"{listed(states)}."] if states else []
    sentences += [
        f"{counted(number, 'domain has', 'domains have')} {what}, of {done:,} with a result."
        for number, what in ((errors, "errors"), (warnings, "warnings and no errors"))
        if number
    ]
    if sum(overview.states.get(state, 0) for state in (UNREAD, FAILED)) == in_all:
        return Health(Level.ERROR, "No domain was read", sentences)
    if errors:
        return Health(Level.ERROR, words.NEEDS_REPAIR, sentences)
    read = sum(overview.states.get(state, 0) for state in (FINISHED, LIMITED))
    if read < in_all:
        return Health(Level.WARNING, f"{read:,} of {counted(in_all, 'domain')} read completely", sentences)
    if not overview.judged:
        return Health(
            Level.UNKNOWN, words.NOT_JUDGED, ["No rules were applied, so their health is unknown.", *sentences]
        )
    headline = words.works(with_warnings=warnings > 0, pages_checked=overview.totals.checked > 0)
    return Health(Level.WARNING if warnings else Level.OK, headline, sentences or ["No domain has errors or warnings."])


def results(overview: Overview) -> int:
    """Number of domains with a result."""
    return overview.totals.domains - overview.states.get(FAILED, 0)


def site(text: str) -> str:
    """Printable name of a domain or machine."""
    return inert(text, MAX_NAME)


def state(name: str) -> str:
    return NAMES.get(name, name)


def rank(name: str) -> int:
    """Sort key of a state or severity, the worst first."""
    return next((list(ranks).index(name) for ranks in (ORDER, SEVERITIES) if name in ranks), len(ORDER))


def names(examples: Sequence[str]) -> str:
    """Comma-separated names of domains."""
    return ", ".join(map(site, examples))


def why(reason: str) -> str:
    return inert(ENDED_EARLY.get(reason, reason), MAX_REASON)


def _states(overview: Overview) -> Markup | str:
    present = [state for state in NAMES if overview.states.get(state)]
    bars = [ChartBar(NAMES[state], overview.states[state], SHADES[state]) for state in present]
    return charts.rows(bars, "Domains by outcome")


PACKAGE = "sitemapcrawler.fleet"
SUMMARY = "summary.parquet"
"""Name of the table of domains, which the page links to."""


def page(overview: Overview) -> str:
    """HTML of the report; see `render`."""
    return render("overview.html.j2", PACKAGE, summary=SUMMARY, **content(overview))


def write_overview(output: Output, failed: Sequence[DomainRecord], folder: Path, judged: bool = True) -> Overview:
    """Write `summary.parquet` and `report.html` to an existing local folder, and return the content of the page.

    `output`: the data set; may be empty or incomplete. `failed`: rows of domains without a result; ignored for domains
    that have one. `folder` needs twice the space of all rows of domains. `judged`: False if no rules were applied.
    Raises OSError if something cannot be read or written.
    """
    with loaded(output, failed, folder) as connection:
        write_domains(connection, folder / SUMMARY)
        overview = summarize(connection)
    overview.judged = judged
    (folder / PAGE).write_bytes(page(overview).encode("utf-8", "replace"))
    return overview
