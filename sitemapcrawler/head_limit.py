"""Heads of answers that do not end: Twisted keeps header lines without a limit, until the timeout."""

from __future__ import annotations

from typing import Any

MAX_HEAD = 256 * 2**10  # bytes; browsers take as much
TOO_LONG = f"more than {MAX_HEAD} bytes of headers"
_IN_HEAD = ("STATUS", "HEADER")


def limited(protocol: Any) -> Any:
    """The HTTP11ClientProtocol of a connection, which now counts the bytes of each head and ends with one too long."""
    receive = protocol.dataReceived
    running, taken = None, 0

    def data_received(data: bytes) -> None:
        nonlocal running, taken
        # Private, alike since Twisted 10: each answer has a parser of its own, and its state says what it waits for.
        parser = getattr(protocol, "_parser", None)
        if parser is not running:
            running, taken = parser, 0
        taken += len(data) if getattr(parser, "state", None) in _IN_HEAD else 0
        if taken > MAX_HEAD:
            protocol.transport.abortConnection()
        else:
            receive(data)

    protocol.dataReceived = data_received
    return protocol
