"""SVG charts of the report: bars, entries by date, and a treemap of files.

The SVG uses classes of the page's style sheet. It contains no styles, scripts or ids.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pygal  # type: ignore[import-untyped] # ships no types
from lxml import etree
from markupsafe import Markup

from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.wording import MAX_SHOWN, chosen
from sitemapcrawler.urls.display import counted, inert, percent

# pygal leaves its plugin finder behind; Python 3.11 warns about such finders whenever a module is not found.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != pygal.__name__]

WIDE, NARROW = 880, 340
"""Widths of a chart in pixels, on a desktop and on a phone."""
LETTER = 7.0
"""Estimated width of a label's letter in pixels."""
LINE = 16
"""Height of a line of text in pixels."""
_LONG_FRACTION = re.compile(r"(\.\d)\d+")
_KEPT = frozenset((
    "class", "cx", "cy", "d", "data-chosen", "height", "r", "role", "rx", "ry", "text-anchor", "transform", "viewBox",
    "width", "x", "y",
))  # fmt: skip
_OPTIONS = {
    "no_prefix": True,
    "js": [],
    "css": [],
    "show_legend": False,
    "margin": 0,
    "style": pygal.style.Style(label_font_size=12, major_label_font_size=12, value_font_size=12),
}


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar of a chart. `state` is the CSS class of its colour."""

    label: str
    value: int
    state: str
    tooltip: str = ""
    chosen: str = ""
    """Fragment that shows its entries in the table of all URLs, to which the page's script links it."""


def columns(bars: Sequence[ChartBar], title: str) -> Markup:
    """Vertical bars, for a timeline; a sentence if only one has a value. Empty without bars."""
    return _alone(bars) or (_both(lambda width: _columns(bars, width), title) if bars else Markup(""))


def rows(bars: Sequence[ChartBar], title: str) -> Markup:
    """Horizontal bars with their values, the first on top; a sentence if only one has a value. Empty without bars."""
    return _alone(bars) or (_both(lambda width: _rows(bars, width), title) if bars else Markup(""))


def _alone(bars: Sequence[ChartBar]) -> Markup:
    """A sentence in place of a chart that compares nothing; empty if there is something to compare."""
    high = [bar for bar in bars if bar.value]
    if len(high) != 1:
        return Markup("")
    [bar] = high
    link = Markup('<a href="{}" data-explore hidden>Show in the table of all URLs</a>').format(bar.chosen)
    sentence = Markup("<p>{}: <strong>{}</strong>. {}</p>")
    return sentence.format("One" if bar.value == 1 else f"All {bar.value:,}", bar.label, link if bar.chosen else "")


def treemap(tiles: Sequence[Tile], title: str) -> Markup:
    """Rectangles with areas in proportion to their weights. Empty without tiles."""
    return _both(lambda width: _treemap(tiles, width), title) if tiles else Markup("")


LINE_WIDE, LINE_NARROW, LINE_HEIGHT = 420, 330, 150
"""Size of a line chart in pixels, on a desktop and on a phone."""
MAX_DOTS = 40
"""Maximum number of values that are marked by dots; more of them are only joined by lines."""


def line(values: Sequence[int | None], labels: Sequence[str], title: str) -> Markup:
    """Line through values in the order of time; None is a gap. Empty with fewer than two values.

    `labels`: of the values; the first and the last are written below the line.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    pairs = zip(labels, values, strict=True)
    told = f"{title}: {', '.join(f'{label} {value:,}' for label, value in pairs if value is not None)}"
    return _both(lambda width: _line(values, labels, width), told, LINE_WIDE, LINE_NARROW)


def _line(values: Sequence[int | None], labels: Sequence[str], width: int) -> etree._Element:
    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    low = 0 if 2 * low <= high or low == high else low
    high = max(high, low + 1)
    left, right = LETTER * len(f"{high:,}") + 12, width - 12.0
    top, bottom = 14.0, LINE_HEIGHT - 24.0
    step = (right - left) / max(len(values) - 1, 1)
    at = [(left + step * i, bottom - (value - low) / (high - low) * (bottom - top)) if value is not None else None
          for i, value in enumerate(values)]  # fmt: skip
    tree = etree.Element("svg", viewBox=f"0 0 {width} {LINE_HEIGHT}")
    for y, value in ((top, high), (bottom, low)):
        etree.SubElement(tree, "path", {"class": "line", "d": f"M{left} {y}H{right}"})
        _write(tree, f"{value:,}", left - 6, y + 4, "end")
    _write(tree, labels[0], left, LINE_HEIGHT - 6, "start")
    _write(tree, labels[-1], right, LINE_HEIGHT - 6, "end")
    pieces = [f"{'L' if at[i - 1] and i else 'M'}{x:.1f} {y:.1f}" for i, (x, y) in _points(at)]
    etree.SubElement(tree, "path", {"class": "trend", "d": "".join(pieces)})
    for i, (x, y) in _points(at):
        alone = not any(at[max(i - 1, 0) : i]) and not any(at[i + 1 : i + 2])
        if len(known) <= MAX_DOTS or alone or i == len(at) - 1:
            dot = etree.SubElement(tree, "circle", {"class": "dot", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3.5"})
            etree.SubElement(dot, "title").text = f"{labels[i]}: {values[i]:,}"
    return tree


def _points(at: Sequence[tuple[float, float] | None]) -> list[tuple[int, tuple[float, float]]]:
    return [(i, point) for i, point in enumerate(at) if point is not None]


def _write(tree: etree._Element, text: str, x: float, y: float, anchor: str) -> None:
    etree.SubElement(tree, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}).text = text


def _both(draw: Callable[[int], etree._Element], title: str, wide: int = WIDE, narrow: int = NARROW) -> Markup:
    """Render a chart in both widths; the style sheet shows one of them."""
    template = Markup('<div class="chart {}">{}</div>')
    pairs = (("wide", wide), ("narrow", narrow))
    return Markup("").join(template.format(name, _svg(draw(width), title)) for name, width in pairs)


def _values(bars: Sequence[ChartBar]) -> list[dict[str, object]]:
    return [
        {"value": bar.value, "tooltip": bar.tooltip or f"{bar.label}: {bar.value:,}", "node": _node(bar)}
        for bar in bars
    ]


def _node(drawn: ChartBar | Tile) -> dict[str, str]:
    """Attributes of the shape of a bar or rectangle."""
    return {"class": drawn.state} | ({"data-chosen": drawn.chosen} if drawn.chosen else {})


def _columns(bars: Sequence[ChartBar], width: int) -> etree._Element:
    every = -(-len(bars) // (width // 75))
    chart = pygal.Bar(
        **_OPTIONS,
        width=width,
        height=260,
        max_scale=5,
        order_min=0,
        show_minor_x_labels=False,
        truncate_label=-1,
        rounded_bars=2,
    )
    chart.value_formatter = _short
    chart.x_labels = [bar.label for bar in bars]
    chart.x_labels_major = [bar.label for bar in bars[::every]]
    chart.add("", _values(bars))
    return _tree(chart)


def _rows(bars: Sequence[ChartBar], width: int) -> etree._Element:
    bars = bars[::-1]
    chart = pygal.HorizontalBar(
        **_OPTIONS,
        width=width,
        height=len(bars) * 30 + 10,
        show_x_labels=False,
        show_x_guides=False,
        print_values=True,
        print_values_position="top",
        rounded_bars=2,
    )
    chart.range = (0, max(bar.value for bar in bars) * 1.2 or 1)
    chart.value_formatter = lambda value: f"{value:,}"
    chart.x_labels = [bar.label for bar in bars]
    chart.add("", _values(bars))
    return _tree(chart)


def _tree(chart: pygal.Graph) -> etree._Element:
    tree: etree._Element = chart.render_tree()
    return tree


def _treemap(tiles: Sequence[Tile], width: int) -> etree._Element:
    chart = pygal.Treemap(**_OPTIONS, width=width, height=360)
    labels: list[str] = []
    for state in dict.fromkeys(tile.state for tile in tiles):
        alike = [tile for tile in tiles if tile.state == state]
        labels += [tile.label for tile in alike]
        values = [{"value": b.weight, "tooltip": b.tooltip, "node": _node(b)} for b in alike]
        chart.add("", values)
    tree = _tree(chart)
    groups = [group for group in tree.iter("g") if group.get("class") == "rect"]
    for group, label in zip(groups, labels, strict=True):  # by order: shortened tooltips are not unique
        _label(group, label)
    _crop(tree)
    return tree


def _crop(tree: etree._Element) -> None:
    """Remove the margin around the rectangles."""
    boxes = [_place(box) for box in tree.iterfind(".//g[@class='rect']/rect")]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    width = max(x + width for x, _, width, _ in boxes) - left
    height = max(y + height for _, y, _, height in boxes) - top
    tree.set("viewBox", f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}")


def _place(box: etree._Element) -> tuple[float, float, float, float]:
    """Left, top, width and height of a rectangle."""
    x, y, width, height = (float(box.get(name, "")) for name in ("x", "y", "width", "height"))
    return x, y, width, height


def _label(group: etree._Element, text: str) -> None:
    """Write a label on its rectangle, shortened if necessary, or not at all if there is no room."""
    x, y, width, height = _place(next(group.iterchildren("rect")))
    letters = int((width - 10) / LETTER)
    if height < LINE + 4 or letters < min(len(text), 6):
        return
    node = etree.SubElement(group, "text", x=str(x + 6), y=str(y + LINE))
    node.text = text if len(text) <= letters else text[: letters - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _short(value: float) -> str:
    """`12k`, for the labels of an axis."""
    for limit, unit in ((1_000_000, "M"), (1000, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


def _svg(tree: etree._Element, title: str) -> Markup:
    """Turn a chart into an image with a title, without pygal's extras."""
    guides = tree.iterfind(".//g[@class='guides']/title")  # their raw values are read out before the labels
    for node in [*tree.iter("defs", "desc", etree.Comment), *tree.iterchildren("title"), *guides]:
        _remove(node)
    for node in [*tree.iter("g", "rect")]:
        if node.get("class") in ("background", "tooltip", "tooltip-box") or (node.tag == "g" and not len(node)):
            _remove(node)
    for node in tree.iter():
        for name, value in node.items():
            if name in _KEPT:
                node.set(name, _LONG_FRACTION.sub(r"\1", str(value)))
            else:
                del node.attrib[name]
    tree.set("role", "img")
    tree.set("aria-label", title)
    tree.set("class", "")
    etree.cleanup_namespaces(tree)
    return Markup(etree.tostring(tree, encoding="unicode"))


def _remove(node: etree._Element) -> None:
    if (parent := node.getparent()) is not None:
        parent.remove(node)


MAX_DRAWN = 150
"""Maximum number of rectangles; smaller ones would be unreadable."""
MAX_LABEL = 60
"""Maximum length of a file's label in characters."""
LEAST = 1 / 400
"""Minimum share of the area, so that empty files stay visible."""
STATES = {
    "unread": "could not be read",
    "most": "50 % or more",
    "some": "10 % or more",
    "few": "less than 10 %",
    "ok": "none",
    "unknown": "not checked",
    "rest": "not in the table",
}
"""Wording of the treemap's colours, the most urgent first: shares of bad URLs, or why there is none."""
SHARES = (("most", 0.5), ("some", 0.1), ("few", 0.0))
"""Colours of files with bad URLs, and the smallest share of each."""
UNREAD_MARK = "? "
"""Prefix of the label of a file that could not be read. Others have their share, also for readers who cannot
distinguish the colours."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A rectangle of the treemap."""

    state: str
    weight: float
    """Share of the area, in URLs."""
    label: str
    tooltip: str
    chosen: str = ""
    """As in `ChartBar`."""


@dataclass(frozen=True, slots=True)
class LegendRow:
    """A row of the treemap's legend."""

    state: str
    words: str
    files: int


def tiles(report: Report) -> list[Tile]:
    """Rectangles by colour, then by size. Indexes are left out, since they list no pages."""
    files = sorted(_lists(report), key=lambda file: -file.record.url_count)
    listed = sum(file.record.url_count for file in files)
    elsewhere = report.summary.sitemaps - len(report.files)
    urls_elsewhere = max(0, report.listed - listed) if elsewhere > 0 else 0
    least = LEAST * (listed + urls_elsewhere) or 1
    made = []
    for name in STATES:
        made += [_tile(file, report, least) for file in files[:MAX_DRAWN] if _state(file, report) == name]
        others = [file for file in files[MAX_DRAWN:] if _state(file, report) == name]
        if others:
            made.append(_sum(name, len(others), sum(file.record.url_count for file in others), least))
    if urls_elsewhere:
        made.append(_sum("rest", elsewhere, urls_elsewhere, least))
    return made


def legend(report: Report) -> list[LegendRow]:
    """Legend of the colours that occur, with the number of files."""
    states = Counter(_state(file, report) for file in _lists(report))
    states["rest"] = report.summary.sitemaps - len(report.files)
    return [LegendRow(name, words, states[name]) for name, words in STATES.items() if states[name] > 0]


def is_bad(report: Report) -> str:
    """What the treemap calls a bad URL: one that is not indexable, or one with an error if no page was checked."""
    return "not indexable" if report.summary.not_indexable else "with errors"


def _share(file: FileProblems, report: Report) -> float | None:
    """Share of the URLs of a file that are bad; None if none of them was checked. An error of the file itself does not
    count."""
    if report.summary.not_indexable:
        return file.not_indexable / file.checked if file.checked else None
    return file.error_urls / max(1, file.record.url_count)


def _state(file: FileProblems, report: Report) -> str:
    if file.is_unread:
        return "unread"
    share = _share(file, report)
    if not share:
        return "unknown" if share is None else "ok"
    return next(name for name, least in SHARES if share >= least)


def _lists(report: Report) -> list[FileProblems]:
    return [file for file in report.files if not format_named(file.record.format).is_index]


def _tile(file: FileProblems, report: Report, least: float) -> Tile:
    name, share, record = _state(file, report), _share(file, report), file.record
    listed = counted(record.url_count, "URL")
    texts = {
        "unread": (UNREAD_MARK, STATES["unread"]),
        "ok": ("", f"{listed}, 0 % {is_bad(report)}"),
        "unknown": ("", f"{listed}, not checked"),
    }
    mark, text = texts.get(name) or (f"{percent(share or 0)} ", f"{listed}, {percent(share or 0)} {is_bad(report)}")
    last = record.sitemap.rstrip("/").rpartition("/")[2].removesuffix(".gz").removesuffix(".xml")
    return Tile(
        name,
        max(record.url_count, least),
        mark + inert(last, MAX_LABEL),
        f"{inert(record.sitemap, MAX_SHOWN)}: {text}",
        chosen("sitemap", record.sitemap),
    )


def _sum(name: str, files: int, urls: int, least: float) -> Tile:
    """One rectangle for several files."""
    words = f"{counted(files, 'other file')}: {STATES[name]}"
    return Tile(name, max(urls, least), words, f"{words}, {counted(urls, 'URL')}")


MAX_PERIODS = 36
"""Maximum number of bars by date, besides `earlier` and `future`."""
MOST = 0.9
"""Minimum share of dated entries that the bars must cover; decides between months, quarters and years."""
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_UNITS = {"month": 1, "quarter": 3, "year": 12}
"""Length of each period in months."""


@dataclass(frozen=True, slots=True)
class Period:
    """A bar of the chart by date."""

    label: str
    entries: int
    months: Sequence[str] = ()
    """Its months that have entries, such as `2026-03`."""
    future: bool = False
    """True if the lastmod is after the crawl."""


@dataclass(frozen=True, slots=True)
class History:
    """Entries by period of their lastmod, the oldest first."""

    unit: str
    """month, quarter or year."""
    periods: list[Period]


def history(months: Mapping[str, int], crawled: str) -> History | None:
    """Group entries by period. None if no entry has a date.

    `months`: entries by month; `crawled`: start of the crawl, ISO 8601.
    """
    counts: Counter[int] = Counter()
    for month, entries in months.items():
        if (at := _index(month)) is not None:
            counts[at] += entries
    if not counts:
        return None
    now = _index(crawled)
    return _drawn(counts, max(counts) if now is None else now)


def _index(text: str) -> int | None:
    """Months since year 0."""
    found = _MONTH.match(text)
    return int(found[1]) * 12 + int(found[2]) - 1 if found and 1 <= int(found[2]) <= 12 else None


def _drawn(counts: Counter[int], now: int) -> History:
    unit, months = _unit({month: entries for month, entries in counts.items() if month <= now}, now)
    last = now // months
    first = max(last - MAX_PERIODS + 1, min((month // months for month in counts if month <= now), default=last))
    starts = [at * months for at in range(first, last + 1)]
    periods = [
        _period(counts, _period_label(start // months, months), start, min(start + months, now + 1)) for start in starts
    ]
    earlier = _period(counts, "earlier", 0, starts[0])
    future = _period(counts, "future", now + 1, max(counts) + 1, future=True)
    return History(unit, [*([earlier] if earlier.entries else []), *periods, *([future] if future.entries else [])])


def _period(counts: Mapping[int, int], label: str, start: int, end: int, future: bool = False) -> Period:
    """Bar of the months from `start` to before `end`."""
    months = [month for month in sorted(counts) if start <= month < end]
    texts = [f"{month // 12:04}-{month % 12 + 1:02}" for month in months]
    return Period(label, sum(counts[month] for month in months), texts, future)


def _unit(past: Mapping[int, int], now: int) -> tuple[str, int]:
    """Shortest unit whose bars cover at least the share `MOST` of the entries, and its length in months."""
    whole = sum(past.values())
    for unit, months in _UNITS.items():
        first = (now // months - MAX_PERIODS + 1) * months
        if sum(entries for month, entries in past.items() if month >= first) >= MOST * whole:
            return unit, months
    return unit, months


def _period_label(period: int, months: int) -> str:
    year, month = divmod(period * months, 12)
    if months == 1:
        return f"{date(2000, month + 1, 1):%b} {year}"
    return f"Q{month // 3 + 1} {year}" if months == 3 else str(year)
