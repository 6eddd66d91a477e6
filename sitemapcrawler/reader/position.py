"""The text that is at hand while a document arrives."""

from __future__ import annotations

import re

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


UNFINISHED = re.compile(r"&[^\s;<>]*\Z")
"""A reference that only lacks its semicolon."""


class Stretch:
    """Text from the beginning of what is not settled yet to the end of what has arrived.

    `begin` and `at` are places in `text`: behind what will not be looked at again, and where reading has come to.
    """

    __slots__ = ("at", "begin", "begin_place", "position", "text")

    def __init__(self, place: Place) -> None:
        self.text = ""
        self.begin = self.at = 0
        self.begin_place = place
        self.position = Position(place)

    @property
    def is_settled(self) -> bool:
        """True where nothing was read that may have to be read again."""
        return self.begin == self.at

    @property
    def pending(self) -> str:
        """What was read and is not settled."""
        return self.text[self.begin : self.at]

    @property
    def is_in_reference(self) -> bool:
        """True where reading stopped before a tag and in a reference: a fault that expat would tell late."""
        if not self.text.startswith("<", self.at):
            return False
        start = self.text.rfind("&", self.begin, self.at)
        return start >= 0 and UNFINISHED.match(self.text, start, self.at) is not None

    def add(self, text: str) -> int:
        """Put more text behind; the number of characters that are gone instead."""
        gone = self.begin
        self.text = self.text[gone:] + text
        self.begin = 0
        self.at -= gone
        return gone

    def move(self, end: int, line: int | None = None) -> None:
        """Go on to `end`; `line` is the line reached, where it is known."""
        self.position.move(self.text, self.at, end, line)
        self.at = end

    def move_back(self, at: int, place: Place) -> None:
        """Go back to `at`, which is at `place` of the document."""
        self.at = at
        self.position = Position(place)

    def settle(self) -> None:
        """Say that nothing before this place will be looked at again."""
        self.begin = self.at
        self.begin_place = self.position.place
