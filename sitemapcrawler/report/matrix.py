"""Which crawlers robots.txt keeps from which hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitemapcrawler.items import RobotsRecord
from sitemapcrawler.report.model import Report
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.urls.display import inert
from sitemapcrawler.words import percent

MAX_HOST = 60
"""Characters shown of a host."""
FEW = 6
"""Hosts that fit beside each other; of more, each has a row."""
STEPS = ((0, "none"), (0.1, "few"), (0.5, "some"), (0.999999, "most"), (1, "all"))
"""Shades of a cell by the share of URLs that are denied, up to and including."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How much of a host a crawler is kept from."""

    text: str
    share: float
    """From 0 to 1."""
    step: str
    """none, few, some, most or all."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of cells with its heading."""

    name: str
    note: str
    """What is known of a crawler; empty for a host."""
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table of cells; rows of which most is denied come first."""

    corner: str
    """What the rows are."""
    columns: Sequence[str]
    rows: Sequence[Row]
    free: Sequence[str] = ()
    """Crawlers without a column, which are denied nothing."""


def matrix(report: Report) -> Matrix | None:
    """Crawlers by host; None where nothing was judged. Crawlers have the rows where hosts are few."""
    robots = [record for record in report.robots if record.urls]
    if not robots or not report.judged_agents:
        return None
    return _by_host(robots, report.judged_agents) if len(robots) > FEW else _by_crawler(robots, report.judged_agents)


def _by_crawler(robots: Sequence[RobotsRecord], agents: Sequence[str]) -> Matrix:
    rows = [Row(name, note(name), [_cell(record, name) for record in robots]) for name in agents]
    return Matrix("Crawler", [host(record) for record in robots], _ordered(rows))


def _by_host(robots: Sequence[RobotsRecord], agents: Sequence[str]) -> Matrix:
    denied = {name for record in robots for name, urls in record.agents.items() if urls}
    columns = [name for name in agents if name in denied]
    rows = [Row(host(record), "", [_cell(record, name, short=True) for name in columns]) for record in robots]
    return Matrix("Host", columns, _ordered(rows), [name for name in agents if name not in denied])


def host(record: RobotsRecord) -> str:
    """The authority that a robots.txt holds for, with its scheme where that is not https."""
    return inert(record.robots.removesuffix("/robots.txt").removeprefix("https://"), MAX_HOST)


def _ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -sum(cell.share for cell in row.cells))


def note(name: str) -> str:
    """Whose crawler it is, and what for; empty for one that is not known."""
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
