"""User names and passwords in front of a host: they are taken out of what a stranger wrote before it goes anywhere.

Source: RFC 3986, 3.2.1 and 7.5. Pure: texts in, texts out. Each takes time in proportion to its text, whatever that is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

HIDDEN = "***"
"""Stands in the place of what was written in front of a host."""
MAX_LOOKED_AROUND = 2048
"""Characters around a part of a text in which the begin of its URL, and the end of its password, are looked for."""
MAX_TYPED = 4096
"""Characters of what was typed that are told, with a password in it."""

# What browsers take for the begin of a host, besides the grammar's two slashes: backslashes, and none behind http(s).
_URL = re.compile(r"(\s*+(?:(?:[a-z][a-z0-9+.-]*+:)?+[\\/]{2,}+|https?:[\\/]*+))([^/?#]*@)?", re.IGNORECASE)
"""A text that is one URL: all counts up to the last @, since a password may hold whatever is written."""
_BEHIND = re.compile(r"(\s[\"'(<]*+(?:[a-z][a-z0-9+.-]*+:)?+[\\/]{2,}+)[^\\/?#\s<>]*@", re.IGNORECASE)
"""Another one, behind a blank."""
_IN_TEXT = re.compile(r"((?<![\\/])[\\/]{2,}+)([^\\/?#\s<>]*)@")
_IN_BYTES = re.compile(rb"(?<![/?&=])(https?:[\\/]++)[^\\/?#\s<>]*@", re.IGNORECASE)
_TYPED = re.compile(r"(?<![^\s,'\"=/])[^\s,/@:'\"]+:[^\s@]*@")
"""On a command line: `user:password@`, whatever the password has."""


def masked(text: str) -> str:
    """A text with `***` in the place of each user name and password that a URL in it names."""
    return _IN_TEXT.sub(rf"\g<1>{HIDDEN}@", text) if "@" in text else text


def masked_url(url: str) -> str:
    """The same for a text that is to be one URL. What its path and its query hold is left alone: it belongs to the name
    of a page, which would be another one without."""
    return _without(url, f"{HIDDEN}@", masked) if "@" in url else url


def masked_part(text: str, begin: int, end: int) -> str:
    """The same for a part of a text, which may begin or end within a password."""
    shown, at = "", begin
    first, last = max(0, begin - MAX_LOOKED_AROUND), end + MAX_LOOKED_AROUND
    for found in _IN_TEXT.finditer(text, first, last) if "@" in text[begin:last] else ():
        start, stop = found.span(2)
        if start < end and stop > begin:
            shown += text[at:start] + HIDDEN
            at = stop
    return (shown + text[at:end])[: end - begin]


def masked_argument(text: str) -> str:
    """The same for what was typed, where a host may stand without its scheme, and nobody has escaped anything."""
    return _TYPED.sub(f"{HIDDEN}@", masked_url(text[:MAX_TYPED])) if "@" in text else text


def removed(url: str) -> str:
    """A text that is to be one URL, without its user name and password."""
    return _without(url, "", lambda text: _IN_TEXT.sub(r"\g<1>", text)) if "@" in url else url


def _without(url: str, instead: str, otherwise: Callable[[str], str]) -> str:
    found = _URL.match(url)
    if found is None:
        return otherwise(url)
    return found[1] + (instead if found[2] else "") + _BEHIND.sub(rf"\g<1>{instead}", url[found.end() :])


def masked_bytes(body: bytes) -> bytes:
    """The same for the http and https URLs of a file, in any encoding in which ASCII is ASCII, but for those that stand
    in the path or the query of another."""
    return _IN_BYTES.sub(rb"\g<1>***@", body) if b"@" in body else body
