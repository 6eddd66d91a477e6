"""Addresses of hosts."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from sitemapcrawler.fleet.driver import addresses_of


def answering(monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[str] | Exception]) -> None:
    def getaddrinfo(host: str, *_: object, **__: object) -> list[tuple[Any, ...]]:
        found = answers[host]
        if isinstance(found, Exception):
            raise found
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_each_host_has_its_addresses_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, {"a.example": ["2001:db8::1", "192.0.2.7", "192.0.2.7"], "b.example": ["fe80::1%eth0"]})
    assert [addresses_of(host) for host in ("b.example", "a.example")] == [("fe80::1",), ("192.0.2.7", "2001:db8::1")]


@pytest.mark.parametrize("error", [OSError("no such host"), UnicodeError("label too long")])
def test_host_that_cannot_be_found_has_none(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, {"bad.example": error, "good.example": ["192.0.2.1"]})
    assert [addresses_of(host) for host in ("bad.example", "good.example")] == [(), ("192.0.2.1",)]


def test_localhost_is_this_machine() -> None:
    assert set(addresses_of("localhost")) & {"127.0.0.1", "::1"}
