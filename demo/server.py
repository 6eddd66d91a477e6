"""Web server of the demo site, on the loopback interface only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast
from urllib.parse import urlsplit

from demo.site import NOT_FOUND, build

HOST = "127.0.0.1"


class DemoServer(ThreadingHTTPServer):
    """Serves the demo site at `base`, each request in its own thread."""

    def __init__(self, port: int = 0, log: bool = False, day: int = 1) -> None:
        """Listen on `port` (0: any free one); `log` prints a line for each request. `day`: see `build`."""
        super().__init__((HOST, port), DemoHandler)
        self.log = log
        self.base = f"http://{HOST}:{self.server_port}"
        self.site = build(self.base, day)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect, such as a crawl that reached a limit."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class DemoHandler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; ignores the query of a URL."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.wfile.write(self.send_headers())

    def do_HEAD(self) -> None:
        self.send_headers()

    def send_headers(self) -> bytes:
        """Send the headers of the response and return its body."""
        answer = cast(DemoServer, self.server).site.get(urlsplit(self.path).path, NOT_FOUND)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.location:
            self.send_header("Location", answer.location)
        self.end_headers()
        return answer.body

    def log_message(self, format: str, *args: Any) -> None:
        """Print the request if logging is on."""
        if cast(DemoServer, self.server).log:
            super().log_message(format, *args)


@contextmanager
def serving(port: int = 0, day: int = 1) -> Iterator[str]:
    """Serve the demo site in the background while the block runs; yield its base URL. `day`: see `build`."""
    with DemoServer(port, day=day) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.base
        finally:
            server.shutdown()
            thread.join()
