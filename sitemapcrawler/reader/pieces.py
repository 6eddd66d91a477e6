"""Splits the text of a document into pieces that are parsed at once, and tracks the position in it.

The text alone decides where, not the chunks in which it arrives, so results are always the same.
"""

from __future__ import annotations

import re
from typing import Literal

from sitemapcrawler.reader.recovery import ENDS
from sitemapcrawler.reader.sniff import DocumentHead

SITEMAP_ENTRIES, RSS_ENTRIES = ("url", "sitemap"), ("item",)
NAMES = {
    "urlset": SITEMAP_ENTRIES,
    "sitemapindex": SITEMAP_ENTRIES,
    "rss": RSS_ENTRIES,
    "RDF": RSS_ENTRIES,
    "feed": ("entry",),
}
"""Root element -> the elements that are read as entries."""
WINDOW = 64 * 1024
"""Characters that are parsed at once where no entry ends. One entry may be larger."""
TAG = re.compile(r"""<[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>""")
"""A tag with its end, quotes respected."""

How = Literal["entry", "whole", "torn", "unended", "giant", "endless", "hidden"]
"""How a piece ends.

entry: behind the end tag of an entry and white space. whole: before a tag. torn: perhaps within a tag. unended: before
an entry, while the one before it has no end tag. giant: before a tag, perhaps within an entry larger than the limit.
endless: the same, with no tag in sight. hidden: at once, since it would begin with a comment, an instruction or a CDATA
section larger than the limit.
"""


class Pieces:
    """Cuts a buffer of text that grows: behind the end tag of an entry wherever there is one.

    A comment, an instruction or a CDATA section ends no entry, and is never cut: expat reads one that is not complete
    from its beginning with every piece.
    """

    def __init__(self, head: DocumentHead, max_element: int) -> None:
        self._mark, self._end = marks_of(NAMES[head.name])
        self._max = max_element
        self.window = min(WINDOW, max_element)
        self.how: How = "whole"
        self._at = self._start = self._passed = self._limit = 0
        self._entry = self._section = -1
        self.close = ""
        """What ends the section in which the search is, or was last."""
        self._restart(0)

    def trim(self, size: int) -> None:
        """Say that the first `size` characters of the buffer are gone."""
        self._start -= size
        self._at -= size
        self._passed -= size
        self._limit -= size
        self._entry -= size if self._entry >= 0 else 0
        self._section -= size if self._section >= 0 else 0

    def next(self, buffer: str, position: int) -> int:
        """Where the piece ends that begins at `position`, and `how`; -1 where more text must come to tell."""
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
                end = min(end, self._limit)  # white space alone stands behind the limit
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
        """Go on behind the section in which the search is; False where its end is not there or too far away."""
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
        """Cut where no entry ends within the limit: before what begins there, if anything else comes first."""
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
    """The tags of an entry, whatever their prefix, and the beginning of a section that may hide them; and the same
    without start tags. White space behind an end tag counts as a part of it."""
    name = rf"(?:[A-Za-z_][\w.-]*+:)?+(?:{'|'.join(names)})"
    end = rf"(!--|\?|!\[CDATA\[)|(/){name}\s*+>[ \t\n]*+"
    return re.compile(rf"<(?:{end}|{name}(?=[\s/>]))"), re.compile(f"<(?:{end})")


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
