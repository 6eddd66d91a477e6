"""The text of a document as it arrives: where reading is, and what is outside of comments and other sections."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitemapcrawler.reader.faults import Place, place_of
from sitemapcrawler.reader.repair import ENDS

MAX_REFERENCE = 48
"""Characters of a reference; the longest name of HTML has 31."""
BEGUN = re.compile(r"(?:&[^\s;<>]*|<[^\s<>]*)\Z")
"""Beginning of a reference or of a tag."""


class Window:
    """Text that has arrived, and the place in it from which it has not been read."""

    def __init__(self, place: Place) -> None:
        """`place`: where the text begins in the document."""
        self.text = ""
        self.at = 0
        """Position in `text` up to which it was read."""
        self.line, self._column = place
        self.section = self.passed = 0
        """The last section that `outside` met, and its end."""
        self.unclosed = -1
        """Where it begins, if it has no end; else -1."""

    @property
    def place(self) -> Place:
        """The place of `at` in the document."""
        return self.line, self._column

    def add(self, text: str) -> int:
        """Add text, and drop what was read. Return by how much positions become smaller."""
        dropped = self.at
        self.text = self.text[dropped:] + text
        self.at = 0
        return dropped

    def move(self, end: int, line: int | None = None) -> None:
        """Advance to `end`. `line`: the line reached, if it is known."""
        if line is None:
            self.line, self._column = place_of(self.text[self.at : end], end - self.at, self.place)
        else:
            break_ = self.text.rfind("\n", self.at, end)
            self.line, self._column = line, self._column + end - self.at if break_ < 0 else end - break_ - 1
        self.at = end

    def outside(self, pattern: re.Pattern[str], limit: int, begin: int = 0) -> Iterator[re.Match[str]]:
        """Yield the matches outside of sections from here, or from `begin`, to `limit`. The first group of `pattern` is
        the start of a section. Sets `section`, `passed` and `unclosed`."""
        position = self.section = self.passed = max(self.at, begin)
        self.unclosed = -1
        while mark := pattern.search(self.text, position, limit):
            position = mark.end()
            if not mark[1]:
                yield mark
                continue
            self.section = mark.start()
            end = self.text.find(ENDS[mark[1]], position)
            if end < 0:
                self.unclosed = mark.start()
                return
            position = self.passed = end + len(ENDS[mark[1]])

    def end_before(self, limit: int) -> int:
        """Return where text must be cut before `limit`, so that no reference and no tag is cut in two."""
        begun = BEGUN.search(self.text, limit - MAX_REFERENCE, limit)
        return begun.start() if begun and begun.start() > self.at else limit
