"""URLs and path patterns in the one form in which they are compared: RFC 9309, 2.2.2.

- Octets that are not ASCII, and characters that no URL may hold, are percent-encoded, in capital letters.
- Escapes of unreserved characters are decoded.
- A reserved character and its escape are the same. Not so `/` and `?` where they delimit (`%2F` in a path is no
  separator), and `*` and `$`, which are special in a pattern and stand escaped in a path (2.2.3). In a query, `/` and
  `?` delimit nothing (RFC 3986, 3.4), so there they equal their escapes: the RFC's example
  `/foo/bar?baz=https%3A%2F%2Ffoo.bar` matches `/foo/bar?baz=https://foo.bar`.

A fragment is no part of a path. Nothing here raises, whatever the text.
"""

from __future__ import annotations

import re
import string
from functools import partial

ROBOTS_PATH = "/robots.txt"
UNRESERVED = string.ascii_letters + string.digits + "-._~"
RESERVED = ":@!&'()+,;=[]"
"""Those of RFC 3986, 2.2 that mean the same in a path and in a query; `#` is never part of either."""
DELIMITERS = "/?"
_EQUAL = UNRESERVED + RESERVED
_PLAIN = re.escape(_EQUAL + DELIMITERS)
_PIECE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_PLAIN}%]+")
_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
_PLAIN_PATH = re.compile(rf"/[{_PLAIN}]*")
_FOREIGN = "".join(f"%{code:02X}|" for code in range(0x80) if chr(code) not in _EQUAL + DELIMITERS)
PLAIN_URL = rf"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\n]*/(?:[{_PLAIN}]|{_FOREIGN}%[89A-F][0-9A-F])*"
"""Regular expression (`re` and RE2) of a URL whose path has its compared form already."""


def path_of(url: str) -> str:
    """Path and query of a URL in the form to compare: ASCII, begins with `/`."""
    rest = url.partition("#")[0]
    place = _PLACE.match(rest)
    path = rest[place.end() :] if place else rest
    if not path.startswith("/"):
        path = f"/{path}"
    return path if _PLAIN_PATH.fullmatch(path) else _compared(_with_slashes(path), "")


def _with_slashes(path: str) -> str:
    """A path with the slashes that browsers and Scrapy make of backslashes; a query keeps them."""
    path, mark, query = path.partition("?")
    return path.replace("\\", "/") + mark + query


def is_robots(path: str) -> bool:
    """True for the path of robots.txt itself, which is always allowed (RFC 9309, 2.2.2)."""
    return path.partition("?")[0] == ROBOTS_PATH


def pattern_of(text: str) -> str:
    """A path pattern, without `$` at its end, in the form to compare: `*` stays, another `$` is escaped.

    Whether an escape behind a `*` stands in a path or in a query depends on what the `*` takes; it is read as one of a
    path. `query_of` reads it the other way.
    """
    return text if _PLAIN_PATH.fullmatch(text) else _compared(text, "*")


def query_of(text: str) -> str:
    """A part of a query, or of a pattern for one, in the form to compare; `*` stays."""
    return _encoded(text, _EQUAL + DELIMITERS, "*")


def _compared(text: str, special: str) -> str:
    path, mark, query = text.partition("?")
    return _encoded(path, _EQUAL, special) + mark + _encoded(query, _EQUAL + DELIMITERS, special)


def _encoded(text: str, equal: str, special: str) -> str:
    return _PIECE.sub(partial(_piece, equal=equal, special=special), text)


def _piece(found: re.Match[str], equal: str, special: str) -> str:
    piece = found[0]
    if piece.startswith("%"):
        character = chr(int(piece[1:], 16))
        return character if character in equal else piece.upper()
    return "".join(chr(octet) if chr(octet) in special else f"%{octet:02X}" for octet in _octets(piece))


def _octets(text: str) -> bytes:
    """UTF-8, with the bytes that were none in a file as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
