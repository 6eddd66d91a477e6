"""Texts as lines, and lists with one URL in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sitemapcrawler import urls
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.urls.display import shown

COLUMNS = ("loc", "url", "address")
"""Names of the field that holds the URL, the first that is there: ours, and those of other tools' exports."""
TYPE = "url"
"""The type of record that is a listed page; findings, sitemaps and the others of a feed are passed over."""
_BREAK = re.compile(r"[\t\r\n]")
"""What `urls.resolve` removes from within a URL, as from one that XML wraps; here it parts two values."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A URL."""

    loc: str
    """Absolute, http or https."""
    line: int
    """Line on which it stands, of a table or an object the first one; in Parquet the row. Counted from 1."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A place that gave no URL."""

    line: int | None
    """As of `Listed`; None for the file."""
    problem: str
    """What is wrong there, on one line, with the value."""


Entry = Listed | Unread


def entry(text: str, line: int) -> Entry:
    """The entry for the text of a URL."""
    text = text.strip()
    if not text:
        return Unread(line, "there is no URL")
    loc = None if _BREAK.search(text) else urls.resolve("", text)
    return Unread(line, f"{shown(text)} is no http or https URL") if loc is None else Listed(loc, line)


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
