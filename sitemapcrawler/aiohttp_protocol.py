"""How aiohttp reads an answer: its head by itself, and no more of it than Twisted takes.

aiohttp's parser gives nothing of what it is handed at once when a part of that is wrong. So a head and a whole body
would be lost to a byte too many behind them.
"""

from __future__ import annotations

from typing import Any

from aiohttp import ClientPayloadError
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

from sitemapcrawler.download.connections import MAX_HEAD, TOO_LONG

END_OF_HEAD = b"\r\n\r\n"
FIRST_FINAL = 200
"""The first status of an answer that is not followed by another one. Source: RFC 9110, 15.2"""
SWITCHING = 101
"""The last answer too: what follows is another protocol."""


class HeadFirst(ResponseHandler):
    """A connection whose heads are limited, informational ones included."""

    def set_response_params(self, **options: Any) -> None:
        """An answer is awaited."""
        self._begun, self._taken, self._end = False, 0, b""
        super().set_response_params(**options)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """A head is there."""
        status = data[0].code
        self._begun = self._begun or status >= FIRST_FINAL or status == SWITCHING
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Parse what came, each head apart from what follows."""
        if self._parser is None or self._begun:
            self._parse(data)
        while data and not self._begun and self._parser is not None and self._exception is None:
            end = self._next_head(data)
            self._taken += end
            if self._taken > MAX_HEAD:
                self._refuse()
                return
            super().data_received(data[:end])
            data = data[end:]
            if self._begun and data:
                self._parse(data)

    def _next_head(self, data: bytes) -> int:
        """Bytes of it up to the end of a head; all of them where it does not end there."""
        known = self._end + data
        at = known.find(END_OF_HEAD)
        before, self._end = len(self._end), known[-len(END_OF_HEAD) + 1 :] if at < 0 else b""
        return len(data) if at < 0 else at + len(END_OF_HEAD) - before

    def _parse(self, data: bytes) -> None:
        super().data_received(data)
        if self._exception is not None and self._payload is not None and not self._payload.is_eof():
            self._payload.set_exception(ClientPayloadError(str(self._exception)))

    def _refuse(self) -> None:
        self.set_exception(HttpProcessingError(message=TOO_LONG))
        if self.transport is not None:
            self.transport.close()
