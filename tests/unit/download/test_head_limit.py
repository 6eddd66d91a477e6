"""The limit of an answer's head."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sitemapcrawler.download.connections import MAX_HEAD, limited

PART = b"x" * (MAX_HEAD // 4)


class Connection:
    """As much of Twisted's protocol as is looked at."""

    def __init__(self) -> None:
        self._parser: Any = SimpleNamespace(state="STATUS")
        self.received = 0
        self.aborted = False
        self.transport = SimpleNamespace(abortConnection=self._abort)
        self.dataReceived = self._receive

    def _receive(self, data: bytes) -> None:
        self.received += len(data)

    def _abort(self) -> None:
        self.aborted = True

    def answer(self, state: str) -> None:
        """Begin another answer."""
        self._parser = SimpleNamespace(state=state)


@pytest.fixture
def connection() -> Connection:
    made: Connection = limited(Connection())
    return made


@pytest.mark.parametrize("state", ["STATUS", "HEADER"])
def test_head_that_does_not_end_is_cut(connection: Connection, state: str) -> None:
    connection.answer(state)
    for _ in range(4):
        connection.dataReceived(PART)
    assert not connection.aborted
    connection.dataReceived(b"x")
    assert (connection.aborted, connection.received) == (True, MAX_HEAD)


def test_body_is_not_counted(connection: Connection) -> None:
    connection.answer("BODY")
    for _ in range(40):
        connection.dataReceived(PART)
    assert not connection.aborted


def test_each_answer_of_a_connection_is_counted_anew(connection: Connection) -> None:
    for _ in range(40):
        connection.answer("STATUS")
        connection.dataReceived(PART)
    assert (connection.aborted, connection.received) == (False, 40 * len(PART))
