"""Text of a page's markup, as a reader sees it."""

from __future__ import annotations

import re
from html import unescape

_WORD = re.compile(r"\w+")
MAX_WORDS = 2_000  # words of one piece
MAX_HEADING = 500  # characters
UNSEEN = "script|style|noscript|template|svg|iframe"
"""Elements whose content is not visible text."""
# An unclosed element extends to the end of the text, which keeps matching linear.
_UNSEEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<({UNSEEN})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*+|\Z)", re.DOTALL | re.IGNORECASE
)  # fmt: skip
_TAG = re.compile(r"<[a-zA-Z/!?][^>]*+(?:>|\Z)")
_NUMBER = re.compile(r"\d+")
_HEADING = re.compile(r"<[hH]1(?=[\s/>])[^>]*+>(.*?)(?:</[hH]1|\Z)", re.DOTALL)


def visible(markup: str) -> str:
    """Return the text without tags, scripts and comments, with entities replaced."""
    return unescape(_TAG.sub(" ", _UNSEEN.sub(" ", markup)))


def words(text: str) -> list[str]:
    """Return words in lower case, with 0 for all digits: clocks, counters and ids differ between responses."""
    return _WORD.findall(_NUMBER.sub("0", text.casefold()))[:MAX_WORDS]


def heading(markup: str) -> str | None:
    found = _HEADING.search(markup)
    if found is not None and _UNSEEN.search(markup, 0, found.end()):  # it may be in a comment
        found = _HEADING.search(_UNSEEN.sub(" ", markup))
    return " ".join(visible(found[1]).split())[:MAX_HEADING] if found else None
