"""Response time: from a request on the wire to the first byte of its answer.

Name look-up, connection and TLS handshake come before it, and so does waiting for a turn. What this process does
meanwhile is left out: a busy event loop sends late and reads late. Linux notes for each connection when data was last
sent and last received, and the difference is what server and network took, in steps of up to 10 ms. Elsewhere, and
behind a tunnel of a proxy, the clock runs from writing the request to reading the answer.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

from scrapy import Request

RESPONSE_TIME_KEY = "sitemap_response_time"
"""Key in `Request.meta`: the response time of the last answer, in seconds."""
LAST_DATA = struct.Struct("=I4xI")
"""tcpi_last_data_sent and tcpi_last_data_recv, milliseconds ago, with tcpi_last_ack_sent between them."""
LAST_DATA_AT = 44
"""Bytes before them in `struct tcp_info`. Source: linux/tcp.h"""
MS = 1000


class Stopwatch:
    """Times the answers of one connection, which come one after the other."""

    counts = False
    """True once a kernel has counted: some that pass for Linux give zeros."""

    def __init__(self, protocol: Any) -> None:
        """`protocol`: Twisted's HTTP11ClientProtocol, connected."""
        self._protocol = protocol
        self._send, self._receive = protocol.request, protocol.dataReceived
        self._sent: float | None = None
        self._seconds = 0.0

    def request(self, request: Any) -> Any:
        """Send a request; its response gets the time as an attribute."""
        self._sent = time.monotonic()
        return self._send(request).addCallback(self._keep)

    def data_received(self, data: bytes) -> None:
        """Stop at the first byte of the answer, an interim one (103) included."""
        if self._sent is not None:
            self._seconds = self._shorter(time.monotonic() - self._sent)
            self._sent = None
        self._receive(data)

    def _keep(self, response: Any) -> Any:
        response.sitemap_response_time = self._seconds
        return response

    def _shorter(self, seconds: float) -> float:
        """What the kernel counted, where that is less than what this process did."""
        sent, received = last_data(self._protocol.transport)
        if sent or received:
            Stopwatch.counts = True
        return min(seconds, max(0, sent - received) / MS) if Stopwatch.counts else seconds


def timed(protocol: Any) -> Any:
    """The HTTP11ClientProtocol of a new connection, which times its answers from now on."""
    watch = Stopwatch(protocol)
    protocol.request, protocol.dataReceived = watch.request, watch.data_received
    return protocol


def last_data(transport: Any) -> tuple[int, int]:
    """How many milliseconds ago a connection sent and received data; zeros where the system does not say."""
    while (below := getattr(transport, "transport", None)) is not None:  # TLS
        transport = below
    try:
        info = transport.getHandle().getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAST_DATA_AT + LAST_DATA.size)
        sent, received = LAST_DATA.unpack_from(info, LAST_DATA_AT)
    except (AttributeError, OSError, struct.error):
        return 0, 0
    return sent, received


def keep_response_time(response: Any, request: Request) -> None:
    """Hand the time over from the response of a timed connection to its request."""
    if (seconds := getattr(response, "sitemap_response_time", None)) is not None:
        request.meta[RESPONSE_TIME_KEY] = seconds


def take_response_time(request: Request) -> float:
    """The response time of the last answer to a request, in seconds; Scrapy's latency from a handler without timing."""
    seconds: float | None = request.meta.pop(RESPONSE_TIME_KEY, None)
    return seconds if seconds is not None else request.meta.get("download_latency") or 0.0
