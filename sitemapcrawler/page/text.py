"""The words that a visitor sees, of a piece of markup."""

from __future__ import annotations

import re
from html import unescape

MAX_WORDS = 2_000  # words of one piece
MAX_HEADING = 500  # characters
UNSEEN = "script|style|noscript|template|svg|iframe"
"""Elements whose content is not text of the page."""
# What has no end goes to the end of the piece: all of it is linear.
_UNSEEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<({UNSEEN})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*+|\Z)", re.DOTALL | re.IGNORECASE
)  # fmt: skip
_TAG = re.compile(r"<[a-zA-Z/!?][^>]*+(?:>|\Z)")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_HEADING = re.compile(r"<[hH]1(?=[\s/>])[^>]*+>(.*?)(?:</[hH]1|\Z)", re.DOTALL)


def visible(markup: str) -> str:
    """The text without tags, scripts and comments, entities replaced."""
    return unescape(_TAG.sub(" ", _UNSEEN.sub(" ", markup)))


def words(text: str) -> list[str]:
    """Words in lower case, digits replaced by 0: clocks, counters and ids differ from one answer to the next."""
    return _WORD.findall(_NUMBER.sub("0", text.casefold()))[:MAX_WORDS]


def heading(markup: str) -> str | None:
    """Text of the first `<h1>`."""
    found = _HEADING.search(markup)
    if found is not None and _UNSEEN.search(markup, 0, found.end()):  # it may stand in a comment
        found = _HEADING.search(_UNSEEN.sub(" ", markup))
    return " ".join(visible(found[1]).split())[:MAX_HEADING] if found else None
