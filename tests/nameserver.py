"""A name server on loopback, and what makes a program ask it.

Both inside the network namespace of a test (`tests.namespace`): port 53 belongs to nobody else there.
"""

from __future__ import annotations

import shutil
import socket
import struct
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Self

import pytest

ADDRESS, PORT = "127.0.0.1", 53
MAX_DATAGRAM = 512
A, AAAA = 1, 28
"""Types of record. Source: RFC 1035, 3.2.2; RFC 3596, 2.1"""
ANSWER = 0x8180
"""Flags: an answer, recursion wanted and available; to which a code is added. Source: RFC 1035, 4.1.1"""
SERVER_FAILURE, NAME_ERROR = 2, 3
"""Codes. Source: the same"""
POINTER, INTERNET = 0xC00C, 1
"""The name of the question, once more; the class of the Internet. Source: RFC 1035, 4.1.4 and 3.2.4"""
Answer = list[str] | int | bytes | None
"""Addresses, of which those of the wanted kind are told; a code; whatever bytes; or none."""


def asking_it(folder: Path, patience: int = 1) -> list[str]:
    """What stands before a command that is to ask this server, in a mount namespace of its own. `patience`: seconds that
    it waits for an answer."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    file = folder / "resolv.conf"
    file.write_text(f"nameserver {ADDRESS}\noptions timeout:{patience} attempts:1\n")
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', str(file)]


class NameServer:
    """Answers in a thread of its own: with the addresses of a name, a list for each time that it is asked for those of a
    kind, the last one from then on. TTL 0. A context manager."""

    def __init__(self, names: Mapping[str, Sequence[list[str]]]) -> None:
        self._names = names
        self.asked: Counter[str] = Counter()
        """By name."""
        self._turns: Counter[tuple[str, int]] = Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((ADDRESS, PORT))
        self._thread = threading.Thread(target=self._serve, name="dns")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", (ADDRESS, PORT))
        self._thread.join()
        self._socket.close()

    def answer(self, name: str, kind: int) -> Answer:
        """What is said when a name is asked for, which is counted already."""
        answers = self._names.get(name)
        if answers is None:
            return NAME_ERROR
        self._turns[name, kind] += 1
        return answers[min(self._turns[name, kind], len(answers)) - 1]

    def _serve(self) -> None:
        while query := self._socket.recvfrom(MAX_DATAGRAM):
            data, client = query
            if not data:
                return
            name, at = _name(data)
            (kind,) = struct.unpack_from("!H", data, at)
            self.asked[name] += 1
            answer = self.answer(name, kind)
            if answer is not None:
                told = answer if isinstance(answer, bytes) else _message(data, at, kind, answer)
                self._socket.sendto(told, client)


def _message(query: bytes, at: int, kind: int, answer: list[str] | int) -> bytes:
    code, addresses = (answer, []) if isinstance(answer, int) else (0, answer)
    size = {A: 4, AAAA: 16}.get(kind)
    rows = [packed for each in addresses if len(packed := ip_address(each).packed) == size]
    head = query[:2] + struct.pack("!HHHHH", ANSWER | code, 1, len(rows), 0, 0) + query[12 : at + 4]
    return head + b"".join(struct.pack("!HHHIH", POINTER, kind, INTERNET, 0, len(row)) + row for row in rows)


def _name(query: bytes) -> tuple[str, int]:
    """The name that is asked for, and where it ends. Source: RFC 1035, 4.1.2"""
    labels, at = [], 12
    while size := query[at]:
        labels.append(query[at + 1 : at + 1 + size].decode("latin-1").lower())
        at += size + 1
    return ".".join(labels), at + 1
