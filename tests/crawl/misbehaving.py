"""A local server that answers as badly as servers do.

Each path is one way to answer, of those below the class; a test gives a server the ones it needs.
"""

from __future__ import annotations

import gzip
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

LARGE = bytes(range(256)) * 8192
"""2 MiB."""
PART = LARGE[:40_000]
"""What arrives of `LARGE` before something happens."""


class Exchange:
    """One request on a connection, and the means to answer it well or badly."""

    def __init__(self, connection: socket.socket, head: bytes) -> None:
        self.connection = connection
        self.was_reset = False
        request, *headers = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = request.split(" ", 2)
        self.headers = dict(line.lower().split(": ", 1) for line in headers)

    def head(self, status: str = "200 OK", **headers: object) -> None:
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode())

    def answer(self, body: bytes, status: str = "200 OK", **headers: object) -> None:
        self.head(status, Content_Length=len(body), **headers)
        if self.method != "HEAD":
            self.send(body)

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def close(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def wait_for_close(self) -> None:
        try:
            while self.connection.recv(1 << 16):
                pass
        except ConnectionResetError:
            self.was_reset = True


Route = Callable[["Server", Exchange], None]


class Server:
    """A server on a loopback port of its own, one thread for each connection; it remembers whom it saw."""

    def __init__(
        self, routes: dict[str, Route], port: int = 0, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> None:
        self.routes = routes
        self.connections = 0
        self.exchanges: list[Exchange] = []
        self.accepted = threading.Event()
        self.began: dict[str, threading.Event] = {path: threading.Event() for path in self.routes}
        self.ended: dict[str, threading.Event] = {path: threading.Event() for path in self.routes}
        self.sent = 0
        self._tls = tls
        self._open: list[socket.socket] = []
        self._listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def url(self, path: str, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def __enter__(self) -> Server:
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self.accepted.set()
            self._open.append(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a reset drops what Nagle's delay holds
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            while head := self._read_head(connection):
                exchange = Exchange(connection, head)
                self.exchanges.append(exchange)
                self._answer(exchange)

    def _answer(self, exchange: Exchange) -> None:
        self.began[exchange.path].set()
        try:
            self.routes[exchange.path](self, exchange)
        finally:
            self.ended[exchange.path].set()

    @staticmethod
    def _read_head(connection: socket.socket) -> bytes:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            received = connection.recv(1)
            if not received:
                return b""
            head += received
        return head.removesuffix(b"\r\n\r\n")


def redirect_to(url: str) -> Route:
    return lambda server, exchange: exchange.answer(b"this is the redirect", "302 Found", Location=url)


def full(server: Server, exchange: Exchange) -> None:
    exchange.answer(LARGE)


def empty(server: Server, exchange: Exchange) -> None:
    exchange.answer(b"")


def short(server: Server, exchange: Exchange) -> None:
    exchange.head(Content_Length=len(LARGE))
    exchange.send(PART)
    exchange.close()


def reset(server: Server, exchange: Exchange) -> None:
    exchange.head(Content_Length=len(LARGE))
    exchange.send(PART)
    exchange.reset()


def chunked_reset(server: Server, exchange: Exchange) -> None:
    exchange.head(Transfer_Encoding="chunked")
    exchange.send(b"%x\r\n%b" % (len(LARGE), PART))
    exchange.reset()


def until_closed(server: Server, exchange: Exchange) -> None:
    exchange.head(Connection="close")
    exchange.send(PART)
    exchange.close()


def stall(server: Server, exchange: Exchange) -> None:
    exchange.head(Content_Length=len(LARGE))
    exchange.send(PART)
    exchange.wait_for_close()


def silent(server: Server, exchange: Exchange) -> None:
    exchange.wait_for_close()


def endless(server: Server, exchange: Exchange) -> None:
    exchange.head(Transfer_Encoding="chunked")
    while True:
        exchange.send(b"%x\r\n%b\r\n" % (len(LARGE), LARGE))
        server.sent += len(LARGE)


def flaky(server: Server, exchange: Exchange) -> None:
    first = sum(each.path == exchange.path for each in server.exchanges) == 1
    exchange.answer(b"come back later" if first else PART, "503 Busy" if first else "200 OK")


def always_busy(server: Server, exchange: Exchange) -> None:
    exchange.answer(b"come back later", "503 Busy")


def gzipped(server: Server, exchange: Exchange) -> None:
    exchange.answer(gzip.compress(PART, mtime=0), Content_Encoding="gzip")


def unknown_coding(server: Server, exchange: Exchange) -> None:
    exchange.answer(PART, Content_Encoding="zstd")
