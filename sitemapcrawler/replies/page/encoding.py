"""Bytes of a page as text: content codings and character sets.

Source: https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
"""

from __future__ import annotations

import codecs
from functools import lru_cache
from typing import cast

from isal import isal_zlib
from w3lib.encoding import html_body_declared_encoding

from sitemapcrawler.reader.decode import ASCII, CHARACTER_SETS
from sitemapcrawler.replies.page.media_type import MediaType

PRESCAN = 1024  # bytes searched for <meta charset>, by the standard and here
FALLBACK = "cp1252"
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks. The standard has no UTF-32."""
WIDE = ("utf-16", "utf-32")


def charset(start: bytes, declared_type: MediaType | None) -> tuple[str, int]:
    """Return Python's name of a page's encoding, and the length of its byte order mark.

    `start`: the first `PRESCAN` bytes or more, or the whole page.
    Without a declaration, valid UTF-8 is read as such, which the standard allows.
    """
    for mark, name in BOMS:
        if start.startswith(mark):
            return name, len(mark)
    said = _usable(declared_type.charset) if declared_type is not None else None
    if said is not None:
        return said, 0
    # w3lib searches further than the standard.
    declared = _usable(html_body_declared_encoding(start[:PRESCAN]))
    if declared is not None and declared.startswith(WIDE):
        declared = "utf-8"  # a declaration that is readable byte by byte cannot be UTF-16 or UTF-32
    return declared or ("utf-8" if _is_utf8(start) else FALLBACK), 0


@lru_cache(maxsize=256)
def _usable(name: str | None) -> str | None:
    """Return the name if it is UTF-16 or an ASCII-compatible character set. Python has other codecs too."""
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


_ANY_HEADER = 32 + 15  # zlib's wbits: gzip or zlib, by header
_NO_HEADER = -15  # raw deflate, which some servers send (RFC 9110, 8.4.1.2)
_TELLING = 2  # bytes that tell a zlib header from raw data (RFC 1950, 2.2)
_DAMAGE = cast("type[Exception]", isal_zlib.error)


class Inflater:
    """Inflates one body. Damaged data, and codings other than gzip and deflate, give no bytes."""

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        self._codings = [name for name in names if name not in {"", "identity"}]
        self.readable = all(name in {"gzip", "x-gzip", "deflate"} for name in self._codings) and len(self._codings) < 2
        """False if the coding is unknown, or the data is damaged."""
        self._inflater: isal_zlib.Decompress | None = None
        self._start = b""

    @property
    def is_whole(self) -> bool:
        """False if the data is damaged, or ends before its end."""
        return self.readable and (self._inflater is None or self._inflater.eof)

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return the plain bytes of the next chunk, at most `limit`; the rest of the chunk is lost."""
        if not self._codings:
            return data[:limit]
        if not self.readable or not data or limit < 1:  # zlib reads 0 as no limit
            return b""
        if self._inflater is None:
            data = self._start = self._start + data
            if len(data) < _TELLING:
                return b""
        try:
            return self._inflate(data, limit)
        except _DAMAGE:
            self.readable = False
            return b""

    def _inflate(self, data: bytes, limit: int) -> bytes:
        if self._inflater is not None:
            return self._inflater.decompress(data, limit)
        try:
            self._inflater = isal_zlib.decompressobj(_ANY_HEADER)
            return self._inflater.decompress(data, limit)
        except _DAMAGE:
            if self._codings != ["deflate"]:
                raise
            self._inflater = isal_zlib.decompressobj(_NO_HEADER)
            return self._inflater.decompress(data, limit)
