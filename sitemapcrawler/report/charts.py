"""Charts as SVG that the page styles: shapes with classes, without styles, scripts or ids of their own."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pygal  # type: ignore[import-untyped] # ships no types
from lxml import etree
from markupsafe import Markup

# It stays behind for plugins of pygal, and Python 3.11 warns of its kind whenever a module cannot be found.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != pygal.__name__]

WIDE, NARROW = 880, 340
"""Width in pixels of a chart on a screen, and of its twin on a phone."""
LETTER = 7.0
"""Pixels that a letter of a label takes."""
LINE = 16
"""Pixels of a line of text."""
_LONG_FRACTION = re.compile(r"(\.\d)\d+")
_KEPT = ("class", "d", "height", "role", "rx", "ry", "text-anchor", "transform", "viewBox", "width", "x", "y")
_OPTIONS: dict[str, Any] = {
    "no_prefix": True,
    "js": [],
    "css": [],
    "show_legend": False,
    "margin": 0,
    "style": pygal.style.Style(label_font_size=12, major_label_font_size=12, value_font_size=12),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: what it stands for, how long it is, and the class that colours it."""

    label: str
    value: int
    state: str
    tooltip: str = ""


def columns(bars: Sequence[Bar], title: str) -> Markup:
    """Bars that stand, for what goes on in time."""
    return _both(lambda width: _columns(bars, width), title)


def rows(bars: Sequence[Bar], title: str) -> Markup:
    """Bars that lie, the first on top, each with its value."""
    return _both(lambda width: _rows(bars, width), title)


def treemap(blocks: Sequence[Any], title: str) -> Markup:
    """Rectangles as large as the weights of `blocks.Block`s."""
    return _both(lambda width: _treemap(blocks, width), title)


def _both(draw: Any, title: str) -> Markup:
    """The chart for a screen and that for a phone, of which the page shows one."""
    template = Markup('<div class="chart {}">{}</div>')
    pairs = (("wide", WIDE), ("narrow", NARROW))
    return Markup("").join(template.format(name, _svg(draw(width), title)) for name, width in pairs)


def _values(bars: Sequence[Bar]) -> list[dict[str, Any]]:
    return [
        {"value": bar.value, "tooltip": bar.tooltip or f"{bar.label}: {bar.value:,}", "node": {"class": bar.state}}
        for bar in bars
    ]


def _columns(bars: Sequence[Bar], width: int) -> Any:
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
    return chart.render_tree()


def _rows(bars: Sequence[Bar], width: int) -> Any:
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
    return chart.render_tree()


def _treemap(blocks: Sequence[Any], width: int) -> Any:
    chart = pygal.Treemap(**_OPTIONS, width=width, height=360)
    labels: list[str] = []
    for state in dict.fromkeys(block.state for block in blocks):
        alike = [block for block in blocks if block.state == state]
        labels += [block.label for block in alike]
        values = [{"value": b.weight, "tooltip": b.tooltip, "node": {"class": b.state}} for b in alike]
        chart.add("", values)
    tree = chart.render_tree()
    groups = [group for group in tree.iter("g") if group.get("class") == "rect"]
    for group, label in zip(groups, labels, strict=True):  # tooltips are cut, so that two files may have the same
        _label(group, label)
    _crop(tree)
    return tree


def _crop(tree: Any) -> None:
    """Leave no margin around the rectangles, as the text beside them has none."""
    boxes = [
        [float(box.get(name)) for name in ("x", "y", "width", "height")]
        for box in tree.iterfind(".//g[@class='rect']/rect")
    ]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    width = max(x + width for x, _, width, _ in boxes) - left
    height = max(y + height for _, y, _, height in boxes) - top
    tree.set("viewBox", f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}")


def _label(group: Any, text: str) -> None:
    """Write the name of a file on its rectangle, as far as it fits."""
    box = group.find("rect")
    x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
    letters = int((width - 10) / LETTER)
    if height < LINE + 4 or letters < min(len(text), 6):
        return
    node = etree.SubElement(group, "text", x=str(x + 6), y=str(y + LINE))
    node.text = text if len(text) <= letters else text[: letters - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _short(value: float) -> str:
    """`12k`, for an axis."""
    for limit, unit in ((1_000_000, "M"), (1000, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


def _svg(tree: Any, title: str) -> Markup:
    """The drawing alone, as a picture with a name."""
    for node in [*tree.iter("defs", "desc", etree.Comment)]:
        node.getparent().remove(node)
    tree.remove(tree.find("title"))
    for node in [*tree.iter("g", "rect")]:
        if node.get("class") in ("background", "tooltip", "tooltip-box") or (node.tag == "g" and not len(node)):
            node.getparent().remove(node)
    for node in tree.iter():
        for name, value in node.items():
            if name in _KEPT:
                node.set(name, _LONG_FRACTION.sub(r"\1", value))
            else:
                del node.attrib[name]
    tree.set("role", "img")
    tree.set("aria-label", title)
    tree.set("class", "")
    etree.cleanup_namespaces(tree)
    return Markup(etree.tostring(tree, encoding="unicode"))
