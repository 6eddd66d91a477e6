"""A local web site that a test programs, well behaved or not; it remembers what was asked of it.

`SiteServer.routes` maps a path (with its query, if any) to a reply. A reply is

- a text or bytes: the body of an answer with status 200;
- a `Reply`: body, status and headers as given (Content-Length is added where no header says how long the body is);
- a function that takes an `Exchange` and answers as it likes; those here are

  `moved(url, status)`    a redirect
  `cut(part)`             promises more than `part`, sends `part`, closes the connection
  `reset(part)`           the same, but with a TCP reset; of an empty part there is not even a head
  `stalled(part)`         the same, but then silence until the client goes; of an empty part there is no head
  `endless(start, chunk)` `start`, then `chunk` for ever, until the client goes
  `garbage(data)`         `data` as it is, in place of HTTP
  `once(first, then)`     one reply to the first request of the path, another to all later ones
  `by_agent(token, theirs, others)`  one reply to user agents with a token, another to all others
  `in_turn(replies)`      the next of them to each request
  `by_method(head, get)`  one reply to HEAD, another to all else

A path without a route is answered by `otherwise`: 404 with an HTML page, unless a test puts another reply there.
A TLS handshake on a server without TLS is counted in `handshakes`, and its connection closed.
"""

from __future__ import annotations

import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import parse_headers
from typing import Any, Self

PATIENCE_S, LOOK_S = 180, 0.005
"""Seconds a test waits for a request before it gives up: of five fleets that start at once on two cores, one has taken
more than 90. And seconds between two looks."""
TLS_HANDSHAKE = b"\x16"
"""First byte of a TLS record of type handshake: RFC 8446, 5.1."""
PROMISED = 10_000_000
"""Content-Length of bodies that end before it, in bytes."""


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    body: bytes | str = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


NOT_FOUND = Reply("<!doctype html><title>Not found</title><p>No such page.", 404, {"Content-Type": "text/html"})


@dataclass
class Exchange:
    """One request, and the means to answer it."""

    connection: socket.socket
    method: str
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    at: float
    """When it came, in seconds of the monotonic clock."""
    sent: int = 0
    """Bytes sent so far."""
    closed: bool = False
    was_reset: bool = False
    """Whether the client went with a TCP reset, where that was waited for."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when all of the answer has been sent that can be."""

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)
        self.sent += len(data)

    def head(self, status: int = 200, **headers: object) -> None:
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join([f"HTTP/1.1 {status} Status", *lines, "", ""]).encode())

    def close(self) -> None:
        self.closed = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        self.closed = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def wait_until_client_goes(self) -> None:
        self.closed = True
        try:
            while self.connection.recv(1 << 16):
                pass
        except ConnectionResetError:
            self.was_reset = True
        except OSError:
            pass


Answering = Callable[[Exchange], None]
Route = bytes | str | Reply | Answering


class SiteServer(socketserver.ThreadingTCPServer):
    """The site on a port of its own, a thread for each connection. A context manager: it serves while it is open."""

    request_queue_size = 128

    def __init__(
        self,
        routes: dict[str, Route] | None = None,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Connection)
        self.routes = routes or {}
        self.otherwise: Route = NOT_FOUND
        self.exchanges: list[Exchange] = []
        self.connections = 0
        self.handshakes = 0
        self.errors: list[BaseException] = []
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._asked = threading.Condition()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def place(self) -> str:
        """Host and port, an IPv6 address in brackets."""
        host, port = self.server_address[:2]
        return f"[{host!s}]:{port}" if self.address_family == socket.AF_INET6 else f"{host!s}:{port}"

    @property
    def port(self) -> int:
        """Its port."""
        return int(self.server_address[1])

    def url(self, path: str = "", host: str = "", scheme: str = "") -> str:
        """The URL of a path; the origin without one. `host`, `scheme`: in place of its own."""
        place = f"{host}:{self.port}" if host else self.place
        return f"{scheme or ('https' if self._tls else 'http')}://{place}{path}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order, robots.txt left out."""
        return [exchange.path for exchange in self.exchanges if exchange.path != "/robots.txt"]

    def exchange(self, path: str) -> Exchange:
        """The first request of a path."""
        return next(exchange for exchange in self.exchanges if exchange.path == path)

    def wait_for(self, path: str, count: int = 1) -> None:
        """Return when a path was asked for so many times."""
        with self._asked:
            came = self._asked.wait_for(
                lambda: sum(exchange.path == path for exchange in self.exchanges) >= count, PATIENCE_S
            )
        assert came, f"{path} was not asked for {count} times: {self.paths}"

    def settle(self) -> None:
        """Return when every request of clients that have ended was taken; no other may be connected."""
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + PATIENCE_S
        while self._open:
            assert time.monotonic() < deadline, "a connection does not end"
            time.sleep(LOOK_S)  # threads end by themselves

    def answer(self, exchange: Exchange) -> None:
        """Remember a request and answer it."""
        with self._asked:
            self.exchanges.append(exchange)
            self._asked.notify_all()
        try:
            _answer(exchange, self.routes.get(exchange.path, self.otherwise))
        finally:
            exchange.over.set()

    def server_bind(self) -> None:
        """Bind to one family of addresses, so that another server can have the port in the other one."""
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        super().server_bind()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection."""
        connection, address = super().get_request()
        self.connections += 1
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep an error of the server itself; clients that go away are none."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.errors.append(error)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        assert not self.errors, self.errors


class _Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    server: SiteServer

    def handle(self) -> None:
        if not isinstance(self.connection, ssl.SSLSocket) and self.connection.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
            self.server.handshakes += 1
            return
        while (exchange := self._next()) is not None:
            self.server.answer(exchange)
            if exchange.closed:
                return

    def _next(self) -> Exchange | None:
        line = self.rfile.readline().decode("latin-1").split()
        at = time.monotonic()  # before the headers, whose parsing takes its time on a busy machine
        if len(line) != 3:
            return None
        headers = {name.lower(): value for name, value in parse_headers(self.rfile).items()}
        return Exchange(self.connection, line[0], line[1], headers, at)


def _answer(exchange: Exchange, route: Route) -> None:
    if callable(route):
        route(exchange)
        return
    reply = route if isinstance(route, Reply) else Reply(route)
    body = reply.body.encode() if isinstance(reply.body, str) else reply.body
    length = {} if {"Content-Length", "Transfer-Encoding"} & reply.headers.keys() else {"Content-Length": len(body)}
    exchange.head(reply.status, **length, **reply.headers)
    if exchange.method != "HEAD":
        exchange.send(body)


def moved(url: str, status: int = 302) -> Reply:
    return Reply("<p>This page is elsewhere.", status, {"Location": url})


def cut(part: bytes) -> Route:
    def route(exchange: Exchange) -> None:
        exchange.head(Content_Length=PROMISED)
        exchange.send(part)
        exchange.close()

    return route


def reset(part: bytes = b"") -> Route:
    def route(exchange: Exchange) -> None:
        if part:
            exchange.head(Content_Length=PROMISED)
            exchange.send(part)
        exchange.reset()

    return route


def stalled(part: bytes = b"") -> Answering:
    def route(exchange: Exchange) -> None:
        if part:
            exchange.head(Content_Length=PROMISED)
            exchange.send(part)
        exchange.wait_until_client_goes()

    return route


def endless(start: bytes, chunk: bytes) -> Route:
    def route(exchange: Exchange) -> None:
        exchange.closed = True
        exchange.head(Connection="close")
        exchange.send(start)
        while True:
            exchange.send(chunk)

    return route


def garbage(data: bytes) -> Route:
    def route(exchange: Exchange) -> None:
        exchange.send(data)
        exchange.close()

    return route


def once(first: Route, then: Route) -> Answering:
    replies = [first]

    def route(exchange: Exchange) -> None:
        _answer(exchange, replies.pop() if replies else then)

    return route


def by_agent(token: str, theirs: Route, others: Route) -> Answering:
    """One reply to user agents with a token, in any case, another to all others."""

    def route(exchange: Exchange) -> None:
        _answer(exchange, theirs if token.lower() in exchange.headers["user-agent"].lower() else others)

    return route


def in_turn(replies: Iterator[Route]) -> Answering:
    """The next of several replies to each request, which come one after the other."""

    def route(exchange: Exchange) -> None:
        _answer(exchange, next(replies))

    return route


def below(folder: str, inside: Route, outside: Route = NOT_FOUND) -> Answering:
    """Answer paths in a folder one way, and all others another way."""

    def route(exchange: Exchange) -> None:
        _answer(exchange, inside if exchange.path.startswith(folder) else outside)

    return route


def by_method(head: Route, get: Route) -> Answering:
    return lambda exchange: _answer(exchange, head if exchange.method == "HEAD" else get)


def conditional(body: bytes, etag: str | None = None, modified: str | None = None) -> Route:
    """A file that is sent only where it has changed."""
    validators = {name: value for name, value in {"ETag": etag, "Last-Modified": modified}.items() if value}

    def route(exchange: Exchange) -> None:
        asked = exchange.headers.get("if-none-match"), exchange.headers.get("if-modified-since")
        same = asked[0] == etag if asked[0] else asked[1] is not None and asked[1] == modified
        head = {name.replace("-", "_"): value for name, value in validators.items()}
        if same:
            exchange.head(304, **head)
        else:
            exchange.head(200, Content_Length=len(body), Content_Type="application/xml", **head)
            exchange.send(body)

    return route
