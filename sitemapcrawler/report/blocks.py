"""Files as the rectangles of a treemap: as large as what they list, coloured by their worst problem."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sitemapcrawler.items import UNREAD
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.wording import MAX_SHOWN
from sitemapcrawler.urls.display import inert
from sitemapcrawler.words import counted

MAX_DRAWN = 150
"""Rectangles; smaller ones could not be told apart."""
MAX_LABEL = 60
"""Characters of the name of a file."""
LEAST = 1 / 400
"""Share of the whole that a rectangle takes at least, so that a file that lists nothing is seen."""
STATES = {
    "unread": "could not be read",
    "error": "errors",
    "warning": "warnings, no errors",
    "ok": "no errors or warnings",
    "rest": "not in the table",
}
"""Colours of the treemap, the most urgent first, in words."""
MARKS = {"unread": "? ", "error": "\N{MULTIPLICATION X} ", "warning": "! "}
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
    mark: str
    words: str
    files: int


def state(file: FileProblems) -> str:
    """How a file does: a key of STATES."""
    if file.record.outcome in UNREAD:
        return "unread"
    return "error" if file.errors else "warning" if file.warnings else "ok"


def blocks(report: Report) -> list[Block]:
    """The rectangles, by state, then by size; no index, which lists no pages."""
    files = sorted(_lists(report), key=lambda file: -file.record.url_count)
    listed = sum(file.record.url_count for file in files)
    elsewhere = report.summary.sitemaps - len(report.files)
    urls_elsewhere = max(0, report.listed - listed) if elsewhere > 0 else 0
    least = LEAST * (listed + urls_elsewhere) or 1
    made = []
    for name in STATES:
        made += [_block(file, least) for file in files[:MAX_DRAWN] if state(file) == name]
        others = [file for file in files[MAX_DRAWN:] if state(file) == name]
        if others:
            made.append(_sum(name, len(others), sum(file.record.url_count for file in others), least))
    if urls_elsewhere:
        made.append(_sum("rest", elsewhere, urls_elsewhere, least))
    return made


def legend(report: Report) -> list[Part]:
    """What each colour stands for, and how many files have it."""
    states = Counter(state(file) for file in _lists(report))
    states["rest"] = report.summary.sitemaps - len(report.files)
    return [Part(name, MARKS.get(name, ""), words, states[name]) for name, words in STATES.items() if states[name] > 0]


def _lists(report: Report) -> list[FileProblems]:
    return [file for file in report.files if file.record.format != "xml-index"]


def _block(file: FileProblems, least: float) -> Block:
    name = state(file)
    record = file.record
    problems = [counted(file.errors, "error"), counted(file.warnings, "warning")]
    told = "could not be read" if name == "unread" else f"{counted(record.url_count, 'URL')}, {', '.join(problems)}"
    last = record.sitemap.rstrip("/").rpartition("/")[2].removesuffix(".gz").removesuffix(".xml")
    label = MARKS.get(name, "") + inert(last, MAX_LABEL)
    return Block(name, max(record.url_count, least), label, f"{inert(record.sitemap, MAX_SHOWN)}: {told}")


def _sum(name: str, files: int, urls: int, least: float) -> Block:
    """Files that are not drawn one by one."""
    words = f"{counted(files, 'other file')}: {STATES[name]}"
    return Block(name, max(urls, least), words, f"{words}, {counted(urls, 'URL')}")
