"""A fake Search Console on this machine: it gives tokens, and answers URL Inspection from a table, with a quota."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

INSPECT, TOKEN = "/v1/urlInspection/index:inspect", "/token"
Answer = tuple[int, Any]
"""Status, and the body: bytes, or what is written as JSON."""


def inspected(verdict: str = "PASS", reason: str = "Submitted and indexed", **more: str) -> Answer:
    """The answer to a URL."""
    status = {"verdict": verdict, "coverageState": reason, "lastCrawlTime": "2026-11-01T10:00:00Z", **more}
    return 200, {"inspectionResult": {"indexStatusResult": status, "mobileUsabilityResult": {"verdict": "PASS"}}}


def refused(status: int, reason: str = "") -> Answer:
    """An error as Google's APIs word it."""
    error = {"code": status, "message": "secret of the property", "errors": [{"reason": reason}], "status": reason}
    return status, {"error": error}


class SearchConsole(ThreadingHTTPServer):
    """The server on a port of its own. A context manager: it serves while it is open."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answers: Callable[[str], Answer] | None = None, quota: int = 2_000) -> None:
        """`answers`: URL -> answer."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers or (lambda url: inspected())
        self.quota = quota
        self.asked: list[dict[str, str]] = []
        """Bodies of the requests for URLs."""
        self.tokens = 0
        self.refuses_tokens = False
        self.valid = -1
        """The only token that is accepted, by its number; -1: all are."""
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def credentials(self, folder: Path) -> dict[str, str]:
        """Variables of the environment that name a service account of this server."""
        key = generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        found = {
            "type": "service_account", "client_email": "robot@example.com", "private_key": key.decode(),
            "private_key_id": "1", "token_uri": self.address + TOKEN,
        }  # fmt: skip
        path = folder / "credentials.json"
        path.write_text(json.dumps(found))
        return {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}

    @property
    def urls(self) -> list[str]:
        """What was asked for, in order."""
        return [one["inspectionUrl"] for one in self.asked]

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        with self.lock:
            if path == TOKEN:
                self.tokens += 1
                given = {"access_token": f"token-{self.tokens}", "expires_in": 3600, "token_type": "Bearer"}
                return (400, {"error": "invalid_grant"}) if self.refuses_tokens else (200, given)
            token = headers.get("authorization", "")
            if not token.startswith("Bearer token-") or self.valid not in (-1, int(token.rpartition("-")[2])):
                return refused(401, "authError")
            if path != INSPECT:
                return refused(404)
            if len(self.asked) >= self.quota:
                return refused(429, "RESOURCE_EXHAUSTED")
            asked = json.loads(body)
            self.asked.append(asked)
        return self.answers(asked["inspectionUrl"])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: SearchConsole
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, found = self.server.answer(self.path, headers, body)
        data = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
