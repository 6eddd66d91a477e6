"""Texts as lines, and lists with one URL in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sitemapcrawler.quoting import shown
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.urllists.entry import Entry, Unread, entry

MAX_LINE = 16 * 2**20
"""Characters of a line, which may be a record with a thousand images; of a longer one the start is kept."""
COMMENT = re.compile(r"(?:^|\s)#.*")
"""From the start or a blank on, as in the other lists among the arguments; elsewhere it is a part of the URL."""


def lines_of(texts: Iterable[str], faults: Faults) -> Iterator[str]:
    """The lines of a text, without their ends, none longer than `MAX_LINE` + 1; the last one not where it is cut."""
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        for line in lines:
            yield line[: MAX_LINE + 1]
        rest = rest[: MAX_LINE + 1]
    if rest and faults.first(*CUT_BYTES) is None:
        yield rest


def read_lines(lines: Iterable[str]) -> Iterator[Entry]:
    """A URL a line; blank lines and comments are passed over."""
    for number, line in enumerate(lines, 1):
        text = COMMENT.sub("", line).strip()
        if len(text.split()) > 1:
            yield Unread(number, f"{shown(text)} has blanks in it; one URL stands in a line, a blank of its own is %20")
        elif text:
            yield entry(text, number)
