"""The character encoding of a page: byte order mark, Content-Type, `<meta charset>`, else windows-1252.

Source: https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
"""

from __future__ import annotations

import codecs
from functools import lru_cache

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from sitemapcrawler.reader.decode import ASCII, CHARACTER_SETS

PRESCAN = 1024  # bytes in which <meta charset> is looked for, in the standard and here
FALLBACK = "cp1252"
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks; the standard knows no UTF-32."""
WIDE = ("utf-16", "utf-32")


def charset(start: bytes, content_type: str | None) -> tuple[str, int]:
    """Python's name of the encoding of a page that begins with `start`, and the length of its byte order mark.

    `start`: `PRESCAN` bytes or more, fewer where the page has no more.
    Where nothing is declared, text that is valid UTF-8 is taken as such: the standard allows to look.
    """
    for mark, name in BOMS:
        if start.startswith(mark):
            return name, len(mark)
    said = _usable(http_content_type_encoding(content_type)) if content_type else None
    if said is not None:
        return said, 0
    # w3lib looks further than the standard, hence the cut.
    declared = _usable(html_body_declared_encoding(start[:PRESCAN]))
    if declared is not None and declared.startswith(WIDE):
        declared = "utf-8"  # whoever reads the declaration byte by byte knows better
    return declared or ("utf-8" if _is_utf8(start) else FALLBACK), 0


@lru_cache(maxsize=256)
def _usable(name: str | None) -> str | None:
    """Python has codecs that are no character sets, and some that would make other markup of ASCII."""
    if name is None or not CHARACTER_SETS.match(name):
        return None
    if name.startswith(WIDE):
        return {"utf-16": "utf-16-le"}.get(name, name) if name.startswith("utf-16") else None
    try:
        return name if ASCII.decode(name) == ASCII.decode("ascii") else None
    except (LookupError, UnicodeError):
        return None


def _is_utf8(start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < PRESCAN)
    except UnicodeDecodeError:
        return False
    return True
