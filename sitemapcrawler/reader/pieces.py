"""Splits the text of a document into pieces for the parser, and tracks the position.

Pieces depend on the text alone, not on the chunks in which it arrives, so results are reproducible.
"""

from __future__ import annotations

import re
from typing import Literal

from sitemapcrawler.reader.recovery import ENDS
from sitemapcrawler.reader.sniff import DocumentHead

WINDOW = 64 * 1024
"""Characters per piece where no entry ends. A single entry may be larger."""
TAG = re.compile(r"""<[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>""")
"""Complete tag; `>` within quotes does not end it."""

How = Literal["entry", "whole", "torn", "unended", "giant", "endless", "hidden"]
"""How a piece ends.

entry: after an entry's end tag and white space. whole: before a tag. torn: perhaps within a tag. unended: before an
entry, while the previous one has no end tag. giant: before a tag, perhaps within an entry larger than the limit.
endless: like giant, with no tag in sight. hidden: at once, because the piece would begin with a comment, an instruction
or a CDATA section larger than the limit.
"""


class Pieces:
    """Cuts a growing buffer of text after the end tag of an entry wherever there is one.

    Comments, instructions and CDATA sections end no entry and are never cut: expat rereads an incomplete one from its
    beginning with every piece.
    """

    def __init__(self, head: DocumentHead, max_element: int) -> None:
        self._mark, self._end = marks_of(head.entries)
        self._max = max_element
        self.window = min(WINDOW, max_element)
        self.how: How = "whole"
        self._at = self._start = self._passed = self._limit = 0
        self._entry = self._section = -1
        self.close = ""
        """End marker of the current or last section."""
        self._restart(0)

    def trim(self, size: int) -> None:
        """Adjust to a buffer whose first `size` characters were dropped."""
        self._start -= size
        self._at -= size
        self._passed -= size
        self._limit -= size
        self._entry -= size if self._entry >= 0 else 0
        self._section -= size if self._section >= 0 else 0

    def next(self, buffer: str, position: int) -> int:
        """Return the end of the piece that begins at `position` and set `how`; -1 if more text is needed."""
        if position != self._start:
            self._restart(position)
        if self._at == position:
            mark = self._end.search(buffer, position, self._limit)
            if mark and not mark[1]:
                return self._ended(mark.end(), "entry")
        while self._section < 0 or self._leave_section(buffer):
            mark = self._mark.search(buffer, self._at, self._limit + 1)
            if mark is None:
                last = buffer.rfind("<", self._at)
                self._at = last if last >= 0 else len(buffer)
                break
            start, end = mark.span()
            if mark[2] and buffer.rfind(">", start, end) < self._limit:
                end = min(end, self._limit)  # only white space exceeds the limit
            if end > self._limit:
                break
            self._at = end
            if mark[2]:
                return self._ended(end, "entry")
            if mark[1]:
                self._enter_section(start, ENDS[mark[1]])
            elif self._entry >= 0 and start - position > self.window:
                return self._ended(start, "unended")
            else:
                self._entry, self._limit = start, start + self._max
        return self._cut(buffer) if len(buffer) > self._limit else -1

    def _restart(self, position: int) -> None:
        self._start = self._at = self._passed = position
        self._entry = self._section = -1
        self._limit = position + self.window

    def _enter_section(self, start: int, close: str) -> None:
        self._section, self.close = start, close
        if start == self._start:
            self._limit = start + self._max

    def _leave_section(self, buffer: str) -> bool:
        """Continue after the current section; False if its end is not there yet or too far away."""
        end = buffer.find(self.close, self._at, self._limit)
        if end < 0:
            self._at = max(self._at, len(buffer) - len(self.close) + 1)
            return False
        self._at = self._passed = end + len(self.close)
        self._section = -1
        if self._entry < 0:
            self._limit = self._start + self.window
        return True

    def _cut(self, buffer: str) -> int:
        """Cut where no entry ends within the limit: before the open entry or section, if anything precedes it."""
        start = self._start
        if self._entry > start:
            return self._ended(self._entry)
        how: How = "whole" if self._entry < 0 else "giant"
        if self._section >= 0:
            return self._ended(self._section, how if self._section > start else "hidden")
        tag = buffer.rfind("<", max(self._passed, start + 1), self._limit + 1)
        if tag >= 0 or self._passed > start:
            return self._ended(max(tag, self._passed), how)
        if how == "giant":
            return self._ended(self._limit, "endless")
        reference = buffer.rfind("&", start + 1, self._limit)
        if reference >= 0 and buffer.find(";", reference, self._limit) < 0:
            self._limit = reference
        torn = TAG.match(buffer, start, self._limit) is None if buffer[start] == "<" else self.how == "torn"
        return self._ended(self._limit, "torn" if torn else "whole")

    def _ended(self, end: int, how: How = "whole") -> int:
        self.how = how
        self._restart(end)
        return end


def marks_of(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return a pattern for an entry's tags, with any prefix, and the start of a section; and one without start tags.

    White space after an end tag belongs to it.
    """
    name = rf"(?:[A-Za-z_][\w.-]*+:)?+(?:{'|'.join(names)})"
    end = rf"(!--|\?|!\[CDATA\[)|(/){name}\s*+>[ \t\n]*+"
    return re.compile(rf"<(?:{end}|{name}(?=[\s/>]))"), re.compile(f"<(?:{end})")


Place = tuple[int, int]
"""Line, counted from 1, and the number of characters before the place on that line."""


class Position:
    """Position that advances with the text."""

    __slots__ = ("column", "line")

    def __init__(self, place: Place) -> None:
        self.line, self.column = place

    @property
    def place(self) -> Place:
        return self.line, self.column

    def move(self, text: str, start: int, end: int, line: int | None = None) -> None:
        """Advance from `start` to `end` of `text`; `line` is the line reached, if known."""
        break_ = text.rfind("\n", start, end)
        self.column = self.column + end - start if break_ < 0 else end - break_ - 1
        self.line = self.line + text.count("\n", start, end) if line is None else line


def place_of(text: str, offset: int, place: Place) -> Place:
    """Return the place of `offset` in `text`, which begins at `place`."""
    line, column = place
    break_ = text.rfind("\n", 0, offset)
    return line + text.count("\n", 0, offset), column + offset if break_ < 0 else offset - break_ - 1


UNFINISHED = re.compile(r"&[^\s;<>]*\Z")
"""Reference that lacks only its semicolon."""


class Stretch:
    """Text from the beginning of the unsettled part to the end of what has arrived.

    In `text`, everything before `begin` is settled and never read again; `at` is the reading position.
    """

    __slots__ = ("at", "begin", "begin_place", "position", "text")

    def __init__(self, place: Place) -> None:
        self.text = ""
        self.begin = self.at = 0
        self.begin_place = place
        self.position = Position(place)

    @property
    def is_settled(self) -> bool:
        """True if nothing that was read may have to be read again."""
        return self.begin == self.at

    @property
    def pending(self) -> str:
        """Text that was read but is not settled."""
        return self.text[self.begin : self.at]

    @property
    def is_in_reference(self) -> bool:
        """True if reading stopped before a tag and within a reference: expat would report that fault late."""
        if not self.text.startswith("<", self.at):
            return False
        start = self.text.rfind("&", self.begin, self.at)
        return start >= 0 and UNFINISHED.match(self.text, start, self.at) is not None

    def add(self, text: str) -> int:
        """Append text and drop the settled part; return the number of characters dropped."""
        gone = self.begin
        self.text = self.text[gone:] + text
        self.begin = 0
        self.at -= gone
        return gone

    def move(self, end: int, line: int | None = None) -> None:
        """Advance to `end`; `line` is the line reached, if known."""
        self.position.move(self.text, self.at, end, line)
        self.at = end

    def move_back(self, at: int, place: Place) -> None:
        """Return to `at`, which is at `place` in the document."""
        self.at = at
        self.position = Position(place)

    def settle(self) -> None:
        """Mark everything up to the reading position as final."""
        self.begin = self.at
        self.begin_place = self.position.place
