"""Where reading has come to in a document, and where a part of its text stands."""

from __future__ import annotations

Place = tuple[int, int]
"""Line, counted from 1, and characters of it that come before."""


class Position:
    """A place that moves on with the text."""

    __slots__ = ("column", "line")

    def __init__(self, place: Place) -> None:
        self.line, self.column = place

    @property
    def place(self) -> Place:
        """Where it is now."""
        return self.line, self.column

    def move(self, text: str, start: int, end: int, line: int | None = None) -> None:
        """Go on from `start` to `end`; `line` is the line reached, where it is known."""
        break_ = text.rfind("\n", start, end)
        self.column = self.column + end - start if break_ < 0 else end - break_ - 1
        self.line = self.line + text.count("\n", start, end) if line is None else line


def place_of(text: str, offset: int, place: Place) -> Place:
    """Where `offset` in `text` is, which begins at `place`."""
    line, column = place
    break_ = text.rfind("\n", 0, offset)
    return line + text.count("\n", 0, offset), column + offset if break_ < 0 else offset - break_ - 1
