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


_MAIN = re.compile(r"<main(?=[\s/>])[^>]*+>(.*?)(?:(</main\s*>)|\Z)", re.DOTALL | re.IGNORECASE)
_FURNITURE = re.compile(
    r"<(nav|header|footer|aside|form|code)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*+|\Z)"
    r"|<([a-z]+\d?)\s(?:[^<>]*\s)?(?:hidden|style\s*=\s*[\"']?\s*display\s*:\s*none)\b.*?(?:</\2(?=[\s/>])[^>]*+|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Elements that do not belong to the content of a page, or are hidden, and quoted code."""
_BLOCK = re.compile(
    r"</?(?:address|article|blockquote|body|br|button|center|dd|div|dl|dt|figure|h[1-6]|hr|html|li|main|ol|option|p|pre|section"
    r"|table|tbody|td|th|tr|ul)(?=[\s/>])[^>]*+(?:>|\Z)",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"<(?:[a-z]+-[a-z-]+|audio|canvas|embed|frame|iframe|img|input|object|picture|script|svg|video)(?=[\s/>])",
    re.IGNORECASE,
)


def blocks(markup: str) -> list[str]:
    """Return the texts of the blocks in a page's content: in `<main>`, or outside of menus, header and footer."""
    seen = _UNSEEN.sub(" ", markup)
    main = _MAIN.search(seen)
    parts = _BLOCK.split(_FURNITURE.sub(" ", main[1] if main and main[2] else seen))
    return [text for part in parts if (text := " ".join(visible(part).split()))]


def has_main(markup: str) -> bool:
    """Return whether the markup holds a whole `<main>` element."""
    main = _MAIN.search(markup)
    return main is not None and main[2] is not None


def is_blank(markup: str) -> bool:
    """Return whether markup shows nothing: no text, and no element that may show or load something."""
    return _CONTENT.search(markup) is None and not visible(markup).strip()
