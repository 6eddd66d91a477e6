"""One entry of a list of URLs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sitemapcrawler import urls
from sitemapcrawler.quoting import shown

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
