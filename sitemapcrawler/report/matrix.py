"""Which crawlers robots.txt keeps from which hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from sitemapcrawler.items import RobotsRecord
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.wording import percent

FEW = 6
"""Hosts that fit beside each other; of more, each has a row."""
STEPS = ((0, "none"), (0.1, "few"), (0.5, "some"), (0.999999, "most"), (1, "all"))
"""Shades of a cell by the share of URLs that are denied, up to and including."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How much of a host a crawler is kept from."""

    text: str
    step: str
    """none, few, some, most, all; empty where no URL was judged."""
    spoken: str
    """The same in full."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table of cells with headings."""

    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


def matrix(report: Report) -> Matrix | None:
    """Crawlers by host; None where nothing was judged. Crawlers have the rows where hosts are few."""
    robots = [record for record in report.robots if record.urls]
    agents = report.judged_agents
    if not robots or not agents:
        return None
    hosts = [host(record) for record in robots]
    by_host = [[_cell(record, agent) for agent in agents] for record in robots]
    if len(robots) > FEW:
        return Matrix("Host", agents, list(zip(hosts, by_host, strict=True)))
    by_agent = [list(cells) for cells in zip(*by_host, strict=True)]
    return Matrix("Crawler", hosts, list(zip(agents, by_agent, strict=True)))


def host(record: RobotsRecord) -> str:
    """The authority that a robots.txt holds for, with its scheme where that is not https."""
    try:
        parts = urlsplit(record.robots)
    except ValueError:
        return record.robots
    if not parts.netloc:
        return record.robots
    return parts.netloc if parts.scheme == "https" else f"{parts.scheme}://{parts.netloc}"


def _cell(record: RobotsRecord, agent: str) -> Cell:
    denied = record.agents.get(agent, 0)
    step = next((name for most, name in STEPS if denied <= most * record.urls), "all")
    text = percent(denied, record.urls)
    return Cell(text, step, f"{denied:,} of {record.urls:,} URLs denied")
