"""Colours of text on a terminal: none in a pipe, in a file, or where the user wants none."""

from __future__ import annotations

from typing import TextIO

from sitemapcrawler.rules.catalogue import Paint

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "place": "bold",
    "id": "bold",
    "label": "bold",
}
"""How each kind of text looks."""


def wants_colour(stream: TextIO | None) -> bool:
    """True for a terminal that shows colours; NO_COLOR and TERM are honoured."""
    if stream is None or not stream.isatty():
        return False
    from rich.console import Console  # here, since few runs have a terminal

    console = Console(file=stream)
    return console.color_system is not None and not console.no_color


def plain(text: str, kind: str) -> str:
    """The text as it is."""
    return text


def painter(colour: bool) -> Paint:
    """What styles text."""
    if not colour:
        return plain
    from rich.color import ColorSystem
    from rich.style import Style

    styles = {kind: Style.parse(style) for kind, style in STYLES.items()}

    def paint(text: str, kind: str) -> str:
        return styles[kind].render(text, color_system=ColorSystem.STANDARD) if kind in styles else text

    return paint
