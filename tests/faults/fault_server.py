"""A server on loopback that answers badly, each page in the way that its path names: `/reset-in-head/12`.

It speaks raw HTTP on asyncio, so that it is quick enough for a million pages and can break off anywhere. What a page
without fault answers, and files such as sitemaps, are given to it as bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import NamedTuple, Self

HTML = "Content-Type: text/html\r\n"
PAGE = b"<!doctype html><html><head><title>A page</title></head><body>" + b"<p>Some words of it.</p>" * 20
ERROR = b"<!doctype html><title>Something is wrong</title>"
SLOW_S = 0.05
"""Seconds between the parts of a slow answer."""
STOPPED_WITHIN_S = 5
LINGER_NOT = struct.pack("ii", 1, 0)
ADDRESSES = {"main": "127.0.0.1", "busy": "127.0.0.2", "closed": "127.0.0.3"}
"""The hosts of a site, by the place of a fault; at the last one nobody listens."""
Heard = Callable[[str, str, bool], None]
"""Told of each request: method, path, and whether its connection was used before."""


def head(status: int, length: int | None, *more: str) -> bytes:
    """The head of an answer."""
    lines = [f"HTTP/1.1 {status} Status", "Content-Type: text/html", *more]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


class Answer(NamedTuple):
    """What a path would answer on a good day."""

    start: bytes
    """Its head."""
    body: bytes
    """Nothing where the request is HEAD."""
    length: int
    """Bytes that the body has by GET."""

    @property
    def whole(self) -> bytes:
        """All of it."""
        return self.start + self.body

    @property
    def part(self) -> bytes:
        """A good part of the body."""
        return self.body[: 2 * len(self.body) // 3]

    def promising(self, *more: str) -> bytes:
        """A head with a length that the body does not have, or without any where `more` says how it is framed."""
        return head(200, None if more else 10 * self.length, *more)


def answer_of(body: bytes, method: str) -> Answer:
    """The answer that a body makes."""
    return Answer(head(200, len(body)), body if method != "HEAD" else b"", len(body))


PAGE_ANSWER = (answer_of(PAGE, "GET"), answer_of(PAGE, "HEAD"))
"""Of every page by GET, and by HEAD."""


class Connection(asyncio.Protocol):
    """One connection of a client."""

    transport: asyncio.Transport

    def __init__(self, server: FaultServer) -> None:
        self._server = server
        self._buffer = b""
        self._used = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember it, so that it is closed with the server."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._server.open.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        """Forget it."""
        self._server.open.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        """Answer each request whose head is there; none of ours has a body."""
        self._buffer += data
        while b"\r\n\r\n" in self._buffer and not self.transport.is_closing():
            request, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            method, path, _ = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            self._server.answer(self, method, path, self._used)
            self._used = True

    def close(self, part: bytes = b"") -> None:
        """Send what there is, and close."""
        self.transport.write(part)
        self.transport.close()

    def reset(self, part: bytes = b"") -> None:
        """Send what there is, and break the connection off."""
        self.transport.write(part)
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        self.transport.abort()

    def slowly(self, *parts: bytes) -> None:
        """Send the parts one after the other."""
        loop = asyncio.get_running_loop()
        for number, part in enumerate(parts):
            loop.call_later(number * SLOW_S, self.transport.write, part)


Way = Callable[[Connection, Answer], None]
"""Answers on a bad day."""


def _cut(close: Callable[[Connection, bytes], None], start: bytes = b"", *more: str) -> Way:
    """A body of which only a part comes; nobody sees that by HEAD."""

    def way(to: Connection, answer: Answer) -> None:
        said = answer.promising(*more)
        to.transport.write(said) if not answer.body else close(to, said + start + answer.part)

    return way


def _cut_gzip(to: Connection, answer: Answer) -> None:
    packed = gzip.compress(answer.body, mtime=0)
    cut = packed[: 2 * len(packed) // 3]
    to.transport.write(head(200, len(cut), "Content-Encoding: gzip") + (cut if answer.body else b""))


def _drops(to: Connection, answer: Answer) -> None:
    """The connection is closed when the client wants to use it again."""
    to.transport.write(answer.whole)
    asyncio.get_running_loop().call_soon(to.transport.close)


def _stall_in_body(to: Connection, answer: Answer) -> None:
    to.transport.write(answer.start + answer.part)


def _status(status: int, *more: str) -> Way:
    return lambda to, answer: to.transport.write(head(status, len(ERROR), *more) + (ERROR if answer.body else b""))


def _no_head(to: Connection, answer: Answer) -> None:
    to.transport.write(answer.whole if answer.body else head(405, 0))


def _nothing(*_: object) -> None:
    """Not a byte."""


WAYS: dict[str, Way] = {
    "ok": lambda to, answer: to.transport.write(answer.whole),
    "reset": lambda to, _: to.reset(),
    "closed": lambda to, _: to.close(),
    "closed-in-head": lambda to, answer: to.close(answer.start[:40]),
    "reset-in-head": lambda to, answer: to.reset(answer.start[:40]),
    "garbage": lambda to, _: to.close(b"220 ftp.example ready\r\n\x00\xff\xfe\r\n\r\n"),
    "reset-in-body": _cut(lambda to, said: to.reset(said)),
    "short": _cut(lambda to, said: to.close(said)),
    "cut-chunk": _cut(lambda to, said: to.close(said), b"fffff\r\n", "Transfer-Encoding: chunked"),
    "cut-gzip": _cut_gzip,
    "long": lambda to, answer: to.close(answer.whole + (b"and more" if answer.body else b"")),
    "slow": lambda to, answer: to.slowly(answer.whole[:30], answer.whole[30:50], answer.whole[50:]),
    "drops": _drops,
    "status-500": _status(500),
    "status-404": _status(404),
    "status-410": _status(410),
    "no-head": _no_head,
    "once-500": _status(500),
    "once-reset": lambda to, _: to.reset(),
    "once-garbage": lambda to, _: to.close(b"\x00" * 100),
    "stall": _nothing,
    "stall-in-head": lambda to, answer: to.transport.write(answer.start[:40]),
    "stall-in-body": _stall_in_body,
    "once-stall": _nothing,
    "once-429": _status(429),
    "once-503": _status(503, "Retry-After: 1"),
}
MOVED = {"moved": "ok", "moved-to-reset": "reset", "moved-to-500": "status-500"}
"""Where redirects lead: to a page with that fault, or none."""


class FaultServer:
    """The server, in a thread of its own. A context manager."""

    def __init__(self, files: Mapping[str, bytes] | None = None, heard: Heard | None = None) -> None:
        self.files = files or {}
        """{path: body}; a path without one is a page."""
        self.open: set[asyncio.Transport] = set()
        self.requests: Counter[tuple[str, str]] = Counter()
        """By method and path, where nobody else was given to hear of them."""
        self.sent_again: Counter[str] = Counter()
        """Requests on connections that were used before, by path."""
        self._heard = heard or self._count
        self._begun: set[str] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="faults")
        self._stack = ExitStack()
        self._listeners = self._listen()
        self.port: int = self._listeners[0].getsockname()[1]

    def _listen(self) -> list[socket.socket]:
        first = self._stack.enter_context(socket.create_server((ADDRESSES["main"], 0), backlog=1024))
        port = first.getsockname()[1]
        second = self._stack.enter_context(socket.create_server((ADDRESSES["busy"], port), backlog=1024))
        taken = self._stack.enter_context(socket.socket())
        taken.bind((ADDRESSES["closed"], port))  # and nobody listens
        return [first, second]

    def url(self, path: str, place: str = "main") -> str:
        """The URL of a path."""
        return f"http://{ADDRESSES[place]}:{self.port}{path}"

    def answer(self, to: Connection, method: str, path: str, used: bool) -> None:
        """Answer a request in the way that its path names."""
        self._heard(method, path, used)
        body = self.files.get(path)
        name, _, number = path[1:].partition("/")
        if name in MOVED:
            to.transport.write(head(302, 0, f"Location: /{MOVED[name]}/{number}"))
        elif name == "loop":
            to.transport.write(head(302, 0, f"Location: {path}"))
        else:
            answer = PAGE_ANSWER[method == "HEAD"] if body is None else answer_of(body, method)
            way = WAYS.get(name, WAYS["status-404" if body is None else "ok"])
            if name.startswith("once-") and path in self._begun:
                way = WAYS["ok"]
            self._begun.update([path] if name.startswith("once-") else ())
            way(to, answer)

    def _count(self, method: str, path: str, used: bool) -> None:
        self.requests[method, path] += 1
        self.sent_again[path] += used

    async def _serve(self) -> None:
        for listener in self._listeners:
            await self._loop.create_server(lambda: Connection(self), sock=listener)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.run_forever()
        for transport in tuple(self.open):
            transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOPPED_WITHIN_S)
        self._stack.close()
