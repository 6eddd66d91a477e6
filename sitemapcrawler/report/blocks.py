"""Files as the rectangles of a treemap: as large as what they list, coloured by their worst problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sitemapcrawler.findings import inert
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.wording import count

MAX_DRAWN = 150
"""Rectangles; smaller ones could not be told apart."""
LEAST = 1 / 400
"""Share of the whole that a file takes at least, so that one that lists nothing is seen."""
STATES = {
    "unread": "could not be read",
    "error": "with errors",
    "warning": "with warnings, no errors",
    "ok": "no errors or warnings",
    "rest": "other files, summed up",
}
"""Colours of the treemap, the most urgent first, in words."""
MARKS = {"unread": "\N{MULTIPLICATION X} ", "error": "\N{MULTIPLICATION X} ", "warning": "! "}
"""What tells a state where colour does not."""


@dataclass(frozen=True, slots=True)
class Block:
    """One rectangle."""

    state: str
    weight: float
    """Its share of the area, in URLs."""
    label: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class Part:
    """One row of the legend."""

    state: str
    words: str
    files: int
    urls: int


def state(file: FileProblems) -> str:
    """How a file does: a key of STATES."""
    if file.record.outcome in ("failed", "blocked"):
        return "unread"
    return "error" if file.errors else "warning" if file.warnings else "ok"


def blocks(report: Report) -> list[Block]:
    """The rectangles, by state, then by size; no index, which lists no pages."""
    files = sorted(_lists(report.files), key=lambda file: -file.record.url_count)
    whole = max(report.summary.urls, sum(file.record.url_count for file in files), 1)
    urgent = [file for file in files if state(file) in ("unread", "error")]
    drawn = sorted(files[:MAX_DRAWN], key=lambda file: list(STATES).index(state(file)))
    made = [_block(file, whole * LEAST) for file in drawn]
    rest = whole - sum(file.record.url_count for file in drawn)
    others = report.summary.sitemaps - len(report.files) + len(files) - len(drawn)
    if rest > 0 and others > 0:
        words = f"{count(others, 'other file')}, {count(rest, 'URL')}"
        made.append(Block("rest", max(rest, whole * LEAST), words, words))
    return made if urgent or whole > 1 or made else []


def legend(report: Report) -> list[Part]:
    """What each colour stands for, and how much of it there is among the files of the table."""
    files = _lists(report.files)
    parts = []
    for name, words in STATES.items():
        alike = [file for file in files if state(file) == name]
        if alike:
            parts.append(Part(name, words, len(alike), sum(file.record.url_count for file in alike)))
    return parts


def _lists(files: Iterable[FileProblems]) -> list[FileProblems]:
    return [file for file in files if file.record.format != "xml-index"]


def _block(file: FileProblems, least: float) -> Block:
    name = state(file)
    record = file.record
    problems = [count(file.errors, "error"), count(file.warnings, "warning")]
    told = "could not be read" if name == "unread" else f"{count(record.url_count, 'URL')}, {', '.join(problems)}"
    label = MARKS.get(name, "") + inert(record.sitemap.rstrip("/").rpartition("/")[2], 60)
    return Block(name, max(record.url_count, least), label, f"{inert(record.sitemap, 200)}: {told}")
