"""Finds the comments and instructions around the entries of a document, which no record has.

They are found in the text alone, apart from the readers, so that these need not pass them on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sitemapcrawler.reader.repair import ENDS
from sitemapcrawler.reader.sniff import DocumentHead

MAX_COMMENT = 64 * 1024
"""Characters of a comment that are kept."""
MAX_TAG_NAME = 256
"""Characters from the start of a tag to the end of its name; a longer one is not an entry."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment or instruction between entries, or behind the root."""

    text: str
    line: int
    """Line on which it begins, counted from 1."""
    is_behind: bool
    """True if it stands behind the root."""


class CommentFinder:
    """Watches the text of one document as it is read. Its end may lie anywhere in a chunk."""

    def __init__(self, head: DocumentHead, line: int) -> None:
        """`line`: on which the start tag of the root ends."""
        names = "|".join(head.entries)
        self._mark = re.compile(
            rf"<(?:(?P<section>!--|\?|!\[CDATA\[)|(?P<end>/?)(?:[\w.-]+:)?(?:(?P<entry>{names})|{head.name})[\s/>])"
        )
        self.found: list[Comment] = []
        """Comments found since this list was cleared."""
        self._line = line
        self._text = ""
        self._at = 0
        self._close = ""
        """End marker of the section at `_at`; empty between sections."""
        self._behind_start = 0
        """Characters of its start marker."""
        self._is_cut = False
        """True if the start of that section is gone, since it is longer than `MAX_COMMENT`."""
        self._is_inside = self._is_behind = False

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the texts, after the comments in each were found."""
        for text in texts:
            self._text += text
            while self._leave_section() if self._close else self._pass_mark():
                pass
            self._text = self._text[self._at :]
            self._at = 0
            yield text

    def _pass_mark(self) -> bool:
        """Continue behind the next tag, or at the next section; False if more text is needed."""
        mark = self._mark.search(self._text, self._at)
        if mark is None:
            last = self._text.rfind("<", max(self._at, len(self._text) - MAX_TAG_NAME))
            self._move(last if last >= 0 else len(self._text))
            return False
        if mark["section"]:
            self._move(mark.start())
            self._close, self._behind_start = ENDS[mark["section"]], len(mark[0])
            return True
        self._move(mark.end())
        self._is_behind = bool(mark["end"]) and not mark["entry"]
        self._is_inside = bool(mark["entry"]) and not mark["end"]
        return True

    def _leave_section(self) -> bool:
        """Continue behind a section; False if its end has not arrived yet."""
        end = self._text.find(self._close, self._at + (0 if self._is_cut else self._behind_start))
        if end >= 0:
            end += len(self._close)
            self._note(end)
            self._move(end)
            self._close, self._is_cut = "", False
        elif len(self._text) - self._at > MAX_COMMENT:
            self._note(self._at + MAX_COMMENT)
            self._move(len(self._text) - len(self._close) + 1)
            self._is_cut = True
        return end >= 0

    def _note(self, end: int) -> None:
        is_comment = self._close != ENDS["![CDATA["] and not self._is_cut
        if is_comment and not self._is_inside:
            self.found.append(Comment(self._text[self._at : end], self._line, self._is_behind))

    def _move(self, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at
