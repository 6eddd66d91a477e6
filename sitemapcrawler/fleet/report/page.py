"""Writes what a fleet came to: the table of its domains, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sitemapcrawler.feeds.folder import PAGE
from sitemapcrawler.fleet.records import FAILED, FINISHED, PARTIAL, UNREAD, DomainRecord
from sitemapcrawler.fleet.report.loading import Source, loaded, write_domains
from sitemapcrawler.fleet.report.model import AGES, Overview
from sitemapcrawler.fleet.report.sums import LIMITED, ORDER, sums
from sitemapcrawler.report import charts
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.charts import Bar
from sitemapcrawler.report.page import crawler_note, render
from sitemapcrawler.report.wording import PARTIAL as ENDED_EARLY
from sitemapcrawler.report.wording import Health, Level, listed
from sitemapcrawler.rules.registry import SEVERITIES
from sitemapcrawler.urls.display import inert
from sitemapcrawler.words import counted

NAMES = {
    FINISHED: "read to the end",
    LIMITED: "read up to a limit",
    PARTIAL: "read in part",
    UNREAD: "no sitemap read",
    FAILED: "failed",
}
"""States of a domain, in words."""
MISSING = {
    FAILED: "failed",
    UNREAD: "without a sitemap that could be read",
    PARTIAL: "read in part",
    LIMITED: "read up to a limit",
}
"""What is said of how many domains."""
SHADES = {FINISHED: "ok", LIMITED: "plain", PARTIAL: "warning", UNREAD: "error", FAILED: "unread"}
"""Colours of states."""
FRESH = {"older": "warning", "future": "error", "undated": "rest"}
"""Colours of ages that are not fresh."""
MAX_NAME = 100
"""Characters shown of the name of a domain or machine. A host has 253 at most, a long one about 40."""
MAX_REASON = 300
"""Characters shown of a reason."""


def content(overview: Overview) -> dict[str, Any]:
    """The variables of the templates, by name."""
    missing = sum(number for state, number in overview.states.items() if state != FINISHED)
    digits = [(_range(length), domains) for length, domains in overview.sizes.items()]
    ages = [(AGES[age], domains) for age, domains in overview.freshness.items()]
    return {
        "overview": overview,
        "totals": overview.totals,
        "verdict": health(overview),
        "missing": missing,
        "results": results(overview),
        "states": _states(overview),
        "digits": digits,
        "sizes": _bars(digits, "Domains by number of URLs"),
        "ages": ages,
        "freshness": _freshness(overview),
        "state": state,
        "rank": rank,
        "site": site,
        "shown": shown,
        "why": why,
        "note": crawler_note,
        "words": words,
    }


def health(overview: Overview) -> Health:
    """How the fleet did, in words."""
    in_all, done = overview.totals.domains, results(overview)
    if not in_all:
        return Health(Level.UNKNOWN, "No domain", ["The data set holds no domain that is done."])
    states = [f"{overview.states[state]:,} {words}" for state, words in MISSING.items() if overview.states.get(state)]
    told = [f"{listed(states)}."] if states else []
    if erroneous := overview.totals.with_errors:
        told.append(f"{counted(erroneous, 'domain has', 'domains have')} errors, of {done:,} with a result.")
    read = sum(overview.states.get(state, 0) for state in (FINISHED, LIMITED))
    if read == in_all:
        return Health(Level.OK, "Every domain was read", told)
    headline = f"{read:,} of {counted(in_all, 'domain')} {'was' if in_all == 1 else 'were'} read"
    return Health(Level.WARNING if read else Level.ERROR, headline if read else "No domain was read", told)


def results(overview: Overview) -> int:
    """Domains that have a result."""
    return overview.totals.domains - overview.states.get(FAILED, 0)


def site(text: str) -> str:
    """The name of a domain or machine."""
    return inert(text, MAX_NAME)


def state(name: str) -> str:
    """A state in words."""
    return NAMES.get(name, name)


def rank(name: str) -> int:
    """Where a state or severity stands among its like, the worst first."""
    return next((list(names).index(name) for names in (ORDER, SEVERITIES) if name in names), len(ORDER))


def shown(examples: Sequence[str]) -> str:
    """Names of some domains."""
    return ", ".join(map(site, examples))


def why(reason: str) -> str:
    """A reason in words."""
    return inert(ENDED_EARLY.get(reason, reason), MAX_REASON)


def _range(digits: int) -> str:
    """`100 to 999`, for numbers of three digits."""
    return f"{10 ** (digits - 1):,} to {10**digits - 1:,}" if digits > 1 else "1 to 9" if digits else "none"


def _states(overview: Overview) -> Markup | str:
    held = [state for state in NAMES if overview.states.get(state)]
    bars = [Bar(NAMES[state], overview.states[state], SHADES[state]) for state in held]
    return charts.rows(bars, "Domains by what came of their crawl")


def _freshness(overview: Overview) -> Markup | str:
    bars = [Bar(AGES[age], domains, FRESH.get(age, "ok")) for age, domains in overview.freshness.items()]
    return charts.rows(bars, "Domains by their newest lastmod")


def _bars(figures: Sequence[tuple[str, int]], title: str) -> Markup | str:
    bars = [Bar(label, number, "plain") for label, number in figures]
    return charts.rows(bars, title)


PACKAGE = "sitemapcrawler.fleet.report"
SUMMARY = "summary.parquet"
"""The table of domains, which the page leads to."""


def page(overview: Overview) -> str:
    """The page, to be written as UTF-8; `layout.render` says what it does not do, whatever comes from the sites."""
    return render("overview.html.j2", PACKAGE, summary=SUMMARY, **content(overview))


def write_overview(source: Source, failed: Sequence[DomainRecord], folder: Path) -> Overview:
    """Write `summary.parquet` and `report.html` to a folder of this machine, which is there; what the page shows.

    Both are whole when this returns; until then, nobody should look for them there.

    `source`: the data set, which may be empty, or hold domains that are not done. `failed`: rows of domains without a
    result; those that have one after all are left out. `folder` has room for twice what all rows of domains take.
    OSError where something cannot be read or written.
    """
    with loaded(source, failed, folder) as connection:
        write_domains(connection, folder / SUMMARY)
        overview = sums(connection)
    (folder / PAGE).write_bytes(page(overview).encode("utf-8", "replace"))
    return overview
