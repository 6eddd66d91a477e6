"""Serves inputs over loopback, each as its own site, with the server of the standard library.

A wall blocks all other hosts: programs get a proxy that refuses everything. The children of an index on other hosts are
requested, but no request leaves the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from bench.hard import SITE, Answer, Input

LOOPBACK = "127.0.0.1"
PATIENCE = 30  # seconds that a connection may be idle
NOT_FOUND = Answer(b"<!doctype html><title>Not found</title>", "text/html", 404)


class _Quiet(BaseHTTPRequestHandler):
    timeout = PATIENCE

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _Wall(_Quiet):
    def do_GET(self) -> None:
        self.send_error(403)

    def do_HEAD(self) -> None:
        self.send_error(403)

    def do_CONNECT(self) -> None:
        self.send_error(403)


def _handler(given: Input) -> type[_Quiet]:
    class Handler(_Quiet):
        def do_GET(self) -> None:
            known = given.robots if self.path == "/robots.txt" else given.answers.get(self.path)
            answer = known or NOT_FOUND
            origin = f"http://{self.headers['Host']}"
            body = filled(answer.body, origin)
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(body) + answer.promised))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

    return Handler


def filled(body: bytes, origin: str) -> bytes:
    """Insert the real origin of its site into a document, in ASCII or UTF-16."""
    for encoding in ("ascii", "utf-16-le"):
        body = body.replace(SITE.encode(encoding), origin.encode(encoding))
    return body


@contextmanager
def serving(inputs: Sequence[Input]) -> Iterator[list[str]]:
    """Serve while the block runs; yield the origins of the sites, in the order of the inputs."""
    with ExitStack() as stack:
        yield [_start(stack, _handler(given)) for given in inputs]


@contextmanager
def wall() -> Iterator[Mapping[str, str]]:
    """Yield environment variables that confine programs to loopback."""
    with ExitStack() as stack:
        proxy = _start(stack, _Wall)
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        yield {**dict.fromkeys(names, proxy), "no_proxy": LOOPBACK, "NO_PROXY": LOOPBACK}


def _start(stack: ExitStack, handler: type[_Quiet]) -> str:
    server = stack.enter_context(ThreadingHTTPServer((LOOPBACK, 0), handler))
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    stack.callback(server.shutdown)
    return f"http://{LOOPBACK}:{server.server_address[1]}"
