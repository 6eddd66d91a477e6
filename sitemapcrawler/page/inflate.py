"""The plain bytes of an answer's body, while it arrives compressed."""

from __future__ import annotations

from typing import Any, cast

from isal import isal_zlib

ACCEPTED = "gzip, deflate"
"""What to send as Accept-Encoding, where a body is read by its first bytes."""
_ANY_HEADER = 32 + 15  # zlib's wbits: gzip or zlib, whichever the header says
_NO_HEADER = -15  # what some servers send as deflate; RFC 9110, 8.4.1.2 knows of them
_TELLING = 2  # bytes that tell a header of zlib from data without one: RFC 1950, 2.2
_DAMAGE = cast("type[Exception]", isal_zlib.error)


class Inflater:
    """Takes the bytes of one body. What is damaged, or in an encoding that is not `ACCEPTED`, gives nothing."""

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        self._codings = [name for name in names if name not in {"", "identity"}]
        self.readable = all(name in {"gzip", "x-gzip", "deflate"} for name in self._codings) and len(self._codings) < 2
        """False where the encoding is none of `ACCEPTED`, or the data is damaged."""
        self._inflater: Any = None
        self._start = b""

    def feed(self, data: bytes, limit: int) -> bytes:
        """The plain bytes of the next piece, at most `limit`; the rest of the piece is then lost."""
        if not self._codings:
            return data[:limit]
        if not self.readable or not data or limit < 1:  # zlib takes 0 for no limit
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
            return cast("bytes", self._inflater.decompress(data, limit))
        try:
            self._inflater = isal_zlib.decompressobj(_ANY_HEADER)
            return cast("bytes", self._inflater.decompress(data, limit))
        except _DAMAGE:
            if self._codings != ["deflate"]:
                raise
            self._inflater = isal_zlib.decompressobj(_NO_HEADER)
            return cast("bytes", self._inflater.decompress(data, limit))
