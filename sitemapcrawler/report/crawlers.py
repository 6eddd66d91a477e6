"""The section *Crawlers* of the report: what each crawler may fetch, and what robots.txt denies by host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice

from markupsafe import Markup, escape

from sitemapcrawler.items import CrawlerAccess, RobotsRecord, UsageCounts
from sitemapcrawler.replies.crawler_answers import AnswerVerdict
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.model import Denied, FetchedFile, Report
from sitemapcrawler.robots.agents import BY_NAME
from sitemapcrawler.urls.display import counted, inert, percent

MAX_HOST = 60
"""Maximum length of a shown host in characters."""
MIN_HOSTS = 2
MAX_COLUMNS = 8
"""Maximum number of crawlers in the table by sitemap, those with the most requests."""
MAX_NAMES = 4
"""Maximum number of crawlers named at once; the names of more are folded in a row, and left out above a column."""
MAX_LINES = 5
"""Maximum number of lines of robots.txt shown for a crawler or host."""
MAX_DENIED_URLS = 2
"""Maximum number of URLs shown for each of them."""
STEPS = ((0, "none"), (0.1, "few"), (0.5, "some"), (0.999999, "most"), (1, "all"))
"""Shades of a cell, each with the highest share of blocked URLs."""


USES = {"train": "training of AI models", "search": "search", "input": "answers of AI"}


def preferences(usage: Mapping[str, UsageCounts]) -> str:
    """What robots.txt and pages state on uses of the content; empty if they state nothing."""
    parts = [
        f"{USES[use]} {verb} for {number:,}"
        for use, found in usage.items()
        for verb, number in (("allowed", found.allow), ("disallowed", found.disallow))
        if number
    ]
    listed = max((found.allow + found.disallow + found.unsaid for found in usage.values()), default=0)
    return f"{counted(listed, 'listed page')}: {', '.join(parts)}." if parts else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of a crawler in one column."""

    text: str
    share: float
    """Share of URLs that are affected, 0 to 1."""
    note: str = ""
    """Second line."""
    value: float | None = None
    """By which a column is sorted; None for the share."""

    @property
    def order(self) -> float:
        """By which a column is sorted."""
        return self.share if self.value is None else self.value

    @property
    def step(self) -> str:
        """none, few, some, most or all."""
        return next(step for most, step in STEPS if self.share <= most)


@dataclass(frozen=True, slots=True)
class DecidingLine:
    """A line of robots.txt, and URLs that it denies; without URLs, a note on lines that are left out."""

    text: str
    urls: Sequence[str] = ()
    """The first of them."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of either table."""

    name: str
    note: str
    """Operator and purpose of a crawler; empty for a host."""
    cells: Sequence[Cell | None]
    """By column; None if nothing is known."""
    lines: Sequence[DecidingLine] = ()
    """What denies the URLs, the first lines."""
    chosen: str = ""
    """Fragment that shows the URLs in the table of all URLs."""
    names: str = ""
    """All crawlers of the row with what is known of them, if `name` does not say that."""

    @property
    def share(self) -> float:
        """Sum of the shares of its cells: rows with a larger one come first."""
        return sum(cell.share for cell in self.cells if cell is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a cell for each column."""

    columns: Sequence[str]
    rows: Sequence[TableRow]
    free: Sequence[str] = ()
    """Crawlers that may fetch everything and of which nothing else is known; they have no row."""

    @property
    def free_names(self) -> Markup:
        """Their names."""
        return in_full(self.free)


def in_full(names: Sequence[str]) -> Markup:
    """A list of names as markup, since a page cuts long texts."""
    return escape(words.listed([*map(inert, names)], len(names)))


def may_fetch(found: CrawlerAccess) -> Cell | None:
    """How many of the listed pages robots.txt lets a crawler fetch."""
    if found.may_fetch is None or found.may_not_fetch is None:
        return None
    listed = found.may_fetch + found.may_not_fetch
    denied = found.may_not_fetch / listed if listed else 0.0
    note = f"{percent(found.may_not_fetch, listed)} blocked" if found.may_not_fetch else ""
    return Cell(f"{found.may_fetch:,} of {counted(listed, 'listed page')}", denied, note)


UNTOLD = frozenset((AnswerVerdict.SAME, AnswerVerdict.NOT_ASKED))
"""Verdicts on answers that are no problem."""


def gets(found: CrawlerAccess) -> Cell | None:
    """What it gets for pages that were requested in its name."""
    if found.gets is None:
        return None
    asked = sum(number for verdict, number in found.pages.items() if verdict != AnswerVerdict.NOT_ASKED)
    wrong = sum(number for verdict, number in found.pages.items() if verdict not in UNTOLD)
    if not wrong:
        return Cell(words.GETS[found.gets], 0.0, counted(asked, "page") if asked else "")
    text = f"{words.GETS[found.gets]}: {inert(found.difference or '')}"
    return Cell(text, wrong / asked, f"{wrong:,} of {counted(asked, 'page')}")


def _day(time: str) -> str:
    """`3 May 2024`."""
    return escape(words.moment(time, clock=False)).striptags()


def has_fetched(found: CrawlerAccess) -> Cell | None:
    """How many of the listed pages a crawler has fetched, by access logs."""
    fetches = found.fetches
    if fetches is None:
        return None
    notes = [
        f"last on {_day(fetches.last)}" if fetches.last else "",
        f"{fetches.days:,.1f} days after lastmod (median)" if fetches.days is not None else "",
        f"{counted(fetches.errors, 'page')} answered with an error" if fetches.errors else "",
        f"{counted(fetches.denied, 'page')} although disallowed" if fetches.denied else "",
        f"{counted(fetches.pretended, 'request')} of other programs under its name" if fetches.pretended else "",
    ]
    listed = fetches.fetched + fetches.not_fetched
    bad = max(fetches.errors, fetches.denied) / fetches.fetched if fetches.fetched else 0.0
    return Cell(f"{fetches.fetched:,} of {listed:,}", bad, "; ".join(filter(None, notes)), fetches.fetched)


COLUMNS: dict[str, Callable[[CrawlerAccess], Cell | None]] = {
    "May fetch": may_fetch,
    "Gets": gets,
    "Has fetched": has_fetched,
}
"""What the table says of each crawler, by heading. Only columns in which something is known are shown."""


def crawler_table(report: Report) -> Table | None:
    """What is known of each crawler, one row for all that are alike. None if nothing was judged."""
    crawlers = [one for one in report.summary.crawlers if one.may_fetch or one.may_not_fetch or one.gets or one.fetches]
    if not crawlers:
        return None
    cells = {one.crawler: [column(one) for column in COLUMNS.values()] for one in crawlers}
    free = [name for name, (may, *others) in cells.items() if may is not None and not may.share and not any(others)]
    known = [any(column) for column in zip(*cells.values(), strict=True)]
    rows = [
        TableRow(
            one.crawler,
            crawler_note(one.crawler),
            tuple(compress(cells[one.crawler], known)),
            _lines((each.lines[one.crawler], each.url) for each in report.denied if one.crawler in each.lines),
            words.chosen("denied", one.crawler) if one.may_not_fetch else "",
        )
        for one in crawlers
        if one.crawler not in free
    ]
    return Table(list(compress(COLUMNS, known)), _joined(_ordered(rows), len(crawlers)), free)


def fetched(report: Report) -> Table | None:
    """Share of the pages of each sitemap that each crawler has fetched. None without access logs."""
    shown = [one for one in report.summary.crawlers if one.fetches is not None and one.fetches.requests]
    most = sorted(shown, key=lambda one: -one.fetches.requests if one.fetches else 0)[:MAX_COLUMNS]
    files: dict[str, dict[str, FetchedFile]] = {}
    for one in report.fetched_files:
        files.setdefault(one.sitemap, {})[one.crawler] = one
    rows = [
        TableRow(inert(sitemap), "", [_fetched_cell(of.get(one.crawler.lower())) for one in most])
        for sitemap, of in files.items()
    ]
    return Table([inert(one.crawler) for one in most], rows) if rows else None


def _fetched_cell(found: FetchedFile | None) -> Cell | None:
    if found is None:
        return None
    notes = [
        f"last on {_day(found.last)}" if found.last else "",
        f"the file on {_day(found.requested)}" if found.requested else "file not fetched",
    ]
    share = found.fetched / found.listed if found.listed else 0.0
    return Cell(
        percent(found.fetched, found.listed) if found.listed else "", 0.0, "; ".join(filter(None, notes)), share
    )


def not_verified(report: Report) -> list[str]:
    """Crawlers in access logs that were recognised by name alone."""
    return [one.crawler for one in report.summary.crawlers if one.fetches is not None and not one.fetches.verified]


def crawler_note(name: str) -> str:
    """Operator and purpose of a crawler; empty if unknown."""
    known = BY_NAME.get(name.lower())
    return f"{known.operator}, {known.purpose}" if known is not None and known.operator else ""


def _lines(denied: Iterable[tuple[str, str]]) -> Sequence[DecidingLine]:
    """The first deciding lines of examples, each with its first URLs. `denied`: line and URL."""
    urls: dict[str, list[str]] = {}
    for line, url in denied:
        urls.setdefault(line, []).append(url)
    lines = [DecidingLine(line, tuple(some[:MAX_DENIED_URLS])) for line, some in islice(urls.items(), MAX_LINES)]
    return (*lines, *([DecidingLine("and more lines")] if len(urls) > MAX_LINES else []))


def _joined(rows: Iterable[TableRow], judged: int) -> list[TableRow]:
    """One row for all crawlers with equal cells, lines and examples. `judged`: number of all crawlers."""
    alike: dict[tuple[object, ...], list[TableRow]] = {}
    for row in rows:
        alike.setdefault((*row.cells, *row.lines), []).append(row)
    return [_group(group, judged) for group in alike.values()]


def _group(rows: Sequence[TableRow], judged: int) -> TableRow:
    first, names = rows[0], [inert(row.name) for row in rows]
    name = words.ALL_CRAWLERS if 1 < len(names) == judged else words.listed(names, MAX_NAMES)
    if len(rows) == 1:
        return TableRow(name, first.note, first.cells, first.lines, first.chosen)
    noted = [f"{each} ({row.note})" if row.note else each for each, row in zip(names, rows, strict=True)]
    folded = in_full(noted) if len(names) > MAX_NAMES or noted != names else ""
    return TableRow(name, counted(len(rows), "crawler"), first.cells, first.lines, first.chosen, folded)


def hosts(report: Report) -> Table | None:
    """Share of its listed URLs that each host's robots.txt denies crawlers. None for a single host, and if nothing is
    denied."""
    robots = [record for record in report.robots if record.urls]
    columns: dict[tuple[int, ...], list[str]] = {}
    for name in (one.crawler for one in report.summary.crawlers):
        columns.setdefault(tuple(record.agents.get(name, 0) for record in robots), []).append(name)
    denied = {numbers: names for numbers, names in columns.items() if any(numbers)}
    if len(robots) < MIN_HOSTS or not denied:
        return None
    by_robots: dict[str, list[Denied]] = {}
    for one in report.denied:
        by_robots.setdefault(one.robots, []).append(one)
    rows = [
        TableRow(
            host(record),
            "",
            [_cell(record, names[0]) for names in denied.values()],
            _lines(
                (line, one.url)
                for one in by_robots.get(record.robots, ())
                for line in dict.fromkeys(one.lines.values())
            ),
        )
        for record in robots
    ]
    return Table([words.listed([*map(inert, names)], MAX_NAMES) for names in denied.values()], _ordered(rows))


def host(record: RobotsRecord) -> str:
    """Scheme and authority of a robots.txt."""
    return inert(record.robots.removesuffix("/robots.txt"), MAX_HOST)


def _cell(record: RobotsRecord, name: str) -> Cell:
    denied = record.agents.get(name, 0)
    return Cell(percent(denied, record.urls), min(denied / record.urls, 1.0))


def _ordered(rows: Iterable[TableRow]) -> list[TableRow]:
    return sorted(rows, key=lambda row: -row.share)
