"""HTML cut into tags, as browsers do it, while it arrives.

Source: https://html.spec.whatwg.org/multipage/parsing.html#tokenization

Scripting counts as enabled, as in browsers and for Google: what stands in `<noscript>` is text. The content of
`<template>` is in no document, and is taken as text too. Left out is a `<script>` that opens inside a comment inside
a script (the "double escaped" states): the script then ends a bit early.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5
from typing import NamedTuple

BLANK = " \t\n\f\r"
"""White space of HTML; letters that look blank, NBSP for instance, are text."""
RAW_TEXT = frozenset(
    ("script", "style", "title", "textarea", "noscript", "template", "iframe", "noframes", "noembed", "xmp")
)
"""Elements whose content is not markup."""

_BLANKS = re.compile(rf"[{BLANK}\0]*+")
# A quote counts behind "=" only, and then up to the next one, ">" or not. Possessive, so that no markup makes it slow.
_TAG = re.compile(
    rf"""[{BLANK}\0]*+<(/?+[a-zA-Z][^{BLANK}/>]*+)((?:[^>=]++|=[{BLANK}]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^{BLANK}>]*+))*+)>"""
)
_ATTRIBUTE = re.compile(rf"""([^{BLANK}/>=]++)(?:[{BLANK}]*+=[{BLANK}]*+("[^"]*+"|'[^']*+'|[^{BLANK}>]++))?+""")
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|([a-zA-Z][a-zA-Z0-9]{1,31}(?:;|(?![a-zA-Z0-9=;]))))"
)
_COMMENT_END = re.compile(r"--!?>")
_DECLARATION_END = re.compile(">")
_EMPTY_COMMENT = re.compile(r"<!---?>")
_UNDECIDED = re.compile(r"<(?:!-?|/?(?:[a-zA-Z].*+)?)?\Z", re.DOTALL)
"""The end of a text that may become a tag or a comment."""
# Without IGNORECASE, which would make the search twenty times slower.
_CLOSINGS = {
    name: re.compile("</" + "".join(f"[{c}{c.upper()}]" for c in name) + rf"(?=[{BLANK}/>])") for name in RAW_TEXT
}


OVERLAP = 64
"""Characters in which the beginning of an end tag may have come already."""


class Token(NamedTuple):
    """A tag, or text outside of tags."""

    name: str
    """Lower case; of an end tag with the slash, `/head`; of text that is not blank, empty."""
    attributes: str = ""
    """As written."""
    text: str = ""
    """The content of a raw text element, as written."""


TEXT = Token("")


class Tokens:
    """The tokens of a document, whose text arrives in pieces. The time it takes is linear, whatever the text."""

    def __init__(self) -> None:
        self.cut = 0
        """Characters that were cut into tokens so far."""
        self._text = ""
        self._at = 0
        self._awaited: re.Pattern[str] | None = None
        self._wait = 0

    @property
    def remaining(self) -> str:
        """What is there and not cut yet."""
        return self._text[self._at :]

    def feed(self, text: str) -> Iterator[Token]:
        """The tokens that are complete now."""
        known = len(self._text) - self._at
        self._text, self._at = self.remaining + text, 0
        if self._is_incomplete(known):
            return
        while not isinstance(found := _next(self._text, self._at), Incomplete):
            token, end = found
            self.cut += end - self._at
            self._at = end
            if token is not None:
                yield token
        self._awaited = found.awaited
        self._wait = 2 * (len(self._text) - self._at)

    def _is_incomplete(self, known: int) -> bool:
        """True where a token is still without its end. To be sure it is read again, but only when it has doubled, so
        that it is not read over and over."""
        if len(self._text) >= self._wait:
            return False
        return self._awaited is None or self._awaited.search(self._text, max(known - OVERLAP, 0)) is None


class Incomplete(NamedTuple):
    """The end of the text comes before that of a token."""

    awaited: re.Pattern[str] | None
    """Without this in what comes it remains so."""


def _next(text: str, at: int) -> tuple[Token | None, int] | Incomplete:
    """The token at a place, None for a comment or blanks, and its end."""
    tag = _TAG.match(text, at)
    if tag is not None:
        name = tag[1].lower()
        return _raw(text, name, tag) if name in RAW_TEXT else (Token(name, tag[2]), tag.end())
    blanks = _BLANKS.match(text, at)
    start = blanks.end() if blanks else at
    if text.startswith("<!--", start):
        end = _EMPTY_COMMENT.match(text, start) or _COMMENT_END.search(text, start + 4)
        return (None, end.end()) if end else Incomplete(_COMMENT_END)
    if start == len(text):
        return (None, start) if start > at else Incomplete(None)
    if _UNDECIDED.match(text, start):
        return Incomplete(None)
    if text.startswith(("<!", "<?", "</"), start):
        end = _DECLARATION_END.search(text, start)
        return (None, end.end()) if end else Incomplete(_DECLARATION_END)
    after = text.find("<", start + 1)
    return TEXT, after if after > 0 else len(text)


def _raw(text: str, name: str, tag: re.Match[str]) -> tuple[Token, int] | Incomplete:
    closing = _CLOSINGS[name].search(text, tag.end())
    end = _DECLARATION_END.search(text, closing.end()) if closing else None
    if closing is None or end is None:
        return Incomplete(_CLOSINGS[name])
    return Token(name, tag[2], text[tag.end() : closing.start()]), end.end()


def attributes(text: str) -> dict[str, str]:
    """Attributes by name in lower case, entities replaced; of two with one name the first counts."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        plain = value[1:-1] if value[:1] in {'"', "'"} else value
        found.setdefault(name.lower(), _REFERENCE.sub(_character, plain) if "&" in plain else plain)
    return found


def _character(reference: re.Match[str]) -> str:
    """In an attribute `&copy=` and `&notit;` stay as they are: a URL's parameters are no entities."""
    name = reference[1]
    return html.unescape(reference[0]) if name is None else html5.get(name, reference[0])
