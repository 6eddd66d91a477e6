"""Response times: what the server took, whatever this process does meanwhile."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from twisted.internet.defer import Deferred

from sitemapcrawler.download import response_time
from sitemapcrawler.download.response_time import (
    LAST_DATA,
    LAST_DATA_AT,
    Stopwatch,
    keep_response_time,
    last_data,
    take_response_time,
    timed,
)

BUSY_S = 0.5
"""Seconds for which a test keeps its process from reading."""
now = [0.0]


class Protocol:
    """As much of Twisted's HTTP11ClientProtocol as is used."""

    def __init__(self, transport: Any) -> None:
        self.transport = transport
        self.received = b""

    def request(self, request: object) -> Deferred[Any]:
        self.answer: Deferred[Any] = Deferred()
        return self.answer

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        self.received += data


def transport(sent_ms: int, received_ms: int) -> Any:
    """A connection whose kernel counts so."""
    info = bytes(LAST_DATA_AT) + LAST_DATA.pack(sent_ms, received_ms)
    return SimpleNamespace(getHandle=lambda: SimpleNamespace(getsockopt=lambda *_: info))


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    now[0] = 100.0
    monkeypatch.setattr(response_time, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Stopwatch, "counts", False)
    yield now


def seconds_of(protocol: Any, *waits: float) -> float:
    """The time that a request's response is given, of which a part arrives after each of some seconds."""
    sent = protocol.request("a request")
    for seconds in waits:
        now[0] += seconds
        protocol.dataReceived(b"a part")
    response, request = SimpleNamespace(), Request("https://e.com/")
    sent.callback(response)
    keep_response_time(response, request)
    return take_response_time(request)


@pytest.mark.parametrize(
    ("sent_ms", "received_ms", "expected"),
    [
        (160, 150, 0.010),  # it lay there for 150 ms until this process read it
        (160, 0, 0.160),
        (5_000, 0, 0.200),  # what this process saw is never less than the truth
        (10, 40, 0.0),  # an answer to half a request
        (0, 0, 0.200),  # nothing is counted
    ],
)
def test_kernel_knows_when_data_came(sent_ms: int, received_ms: int, expected: float) -> None:
    protocol = timed(Protocol(transport(sent_ms, received_ms)))
    assert seconds_of(protocol, 0.2) == pytest.approx(expected)


def test_zeros_of_a_kernel_that_counts_are_a_quick_answer() -> None:
    seconds_of(timed(Protocol(transport(8, 4))), 0.2)
    assert seconds_of(timed(Protocol(transport(0, 0))), 0.2) == 0


def test_first_part_counts_and_each_request_of_a_connection_on_its_own() -> None:
    protocol = timed(Protocol(SimpleNamespace()))
    assert seconds_of(protocol, 0.2, 3) == pytest.approx(0.2)
    protocol.dataReceived(b"between two answers")
    assert seconds_of(protocol, 0.4) == pytest.approx(0.4)
    assert protocol.received == b"a parta partbetween two answersa part"


def test_connection_below_tls_is_found() -> None:
    assert last_data(SimpleNamespace(transport=transport(30, 20), getHandle=None)) == (30, 20)


@pytest.mark.parametrize("other", [SimpleNamespace(), SimpleNamespace(getHandle=lambda: None)])
def test_connection_that_counts_nothing(other: Any) -> None:
    assert last_data(other) == (0, 0)


def test_latency_of_another_handler() -> None:
    request = Request("https://e.com/", meta={"download_latency": 0.3})
    assert take_response_time(request) == 0.3
    assert take_response_time(Request("https://e.com/")) == 0.0


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels do not count")
def test_busy_process_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_time, "time", time)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        peer, _ = server.accept()
        with peer:
            protocol = timed(Protocol(SimpleNamespace(getHandle=lambda: client)))
            sent = protocol.request("a request")
            client.sendall(b"a request")
            peer.recv(100)
            peer.sendall(b"an answer")
            until = time.monotonic() + BUSY_S
            while time.monotonic() < until:
                pass
            protocol.dataReceived(client.recv(100))
            response: Any = SimpleNamespace()
            sent.callback(response)
            assert response.sitemap_response_time < BUSY_S / 2
