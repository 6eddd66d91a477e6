"""Servers of S3 (moto) and of Google Cloud Storage (gcp-storage-emulator) in processes of their own, behind a proxy
that can fail in the middle. All on 127.0.0.1, and gone with the test."""

from __future__ import annotations

import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sitemapcrawler.fleet.output import Output
from tests.ports import reserved_port

HOST = "127.0.0.1"
BUCKET = "bucket"
PATIENCE_S = 60
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}  # RFC 9110, 7.6.1
ERROR_XML = b"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>It broke\non the way</Message></Error>"
PAGE = 3
"""Objects of a page of S3's listings here; 1,000 elsewhere."""
S3_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_MAX_ATTEMPTS": "1",
}
"""No credentials but these, which nobody checks, and no second attempts by botocore: s3fs makes some of its own."""


@dataclass
class Fault:
    """What happens to requests of a method whose path has `part` in it."""

    method: str
    part: str
    status: int | None = 500
    """Of the answer in place of the server's; None: the connection is reset in the middle of the request's body."""
    times: int = 1_000_000


@dataclass
class Proxy:
    """Passes requests on, but for those that a fault is there for."""

    url: str
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """`METHOD path` of each."""

    def fault_of(self, method: str, path: str) -> Fault | None:
        self.requests.append(f"{method} {path}")
        for fault in self.faults:
            if fault.method == method and fault.part in path and fault.times:
                fault.times -= 1
                return fault
        return None

    def asked(self, method: str, part: str) -> int:
        """Requests of a method with `part` in their path."""
        return sum(request.startswith(f"{method} ") and part in request for request in self.requests)


@contextmanager
def proxy(upstream: str) -> Iterator[Proxy]:
    """A proxy before a server of HTTP."""
    server = ThreadingHTTPServer((HOST, 0), type("Handler", (_Handler,), {"upstream": upstream.partition("://")[2]}))
    server.daemon_threads = True
    state = Proxy(f"http://{HOST}:{server.server_port}")
    server.RequestHandlerClass.state = state  # type: ignore[attr-defined]  # of a class made here
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: str
    state: Proxy

    def answer(self) -> None:
        fault = self.state.fault_of(self.command, self.path)
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size // 2 if fault and fault.status is None else size)
        if fault is None:
            self.pass_on(body)
        elif fault.status is None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
            self.close_connection = True
        else:
            self.reply(fault.status, {"Content-Type": "application/xml"}, ERROR_XML)

    def pass_on(self, body: bytes) -> None:
        connection = HTTPConnection(self.upstream, timeout=PATIENCE_S)
        try:
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            headers = {name: value for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP}
            length = answer.getheader("Content-Length")
            self.reply(answer.status, headers, answer.read(), length)
        finally:
            connection.close()

    def reply(self, status: int, headers: dict[str, str], body: bytes, length: str | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815  # http.server finds them by these names

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


@contextmanager
def s3_server() -> Iterator[str]:
    """The URL of an S3 server with a bucket."""
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", "0"]
    environment = os.environ | S3_ENVIRONMENT | {"MOTO_S3_DEFAULT_MAX_KEYS": str(PAGE)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            url = next(found[0] for line in process.stderr if (found := re.search(r"http://[0-9.]+:\d+", line)))
            # It tells every request, and must not wait for a reader.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            _request(url, "PUT", f"/{BUCKET}", b"")
            yield url
        finally:
            process.terminate()
            process.wait()


@contextmanager
def gcs_server() -> Iterator[str]:
    """The URL of a server of Google Cloud Storage with a bucket."""
    with reserved_port(HOST) as port:
        command = [sys.executable, "-m", "gcp_storage_emulator", "start", f"--host={HOST}", f"--port={port}", "--quiet"]
        command += ["--in-memory", f"--default-bucket={BUCKET}"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            try:
                _until_open(port)
                yield f"http://{HOST}:{port}"
            finally:
                process.terminate()
                process.wait()


def _until_open(port: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection((HOST, port)).close()
        except ConnectionRefusedError:
            assert time.monotonic() < end


def _request(url: str, method: str, path: str, body: bytes) -> None:
    connection = HTTPConnection(url.partition("://")[2], timeout=PATIENCE_S)
    connection.request(method, path, body)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()


@contextmanager
def environment(values: dict[str, str]) -> Iterator[pytest.MonkeyPatch]:
    """The process's environment with these in it, and no others of the cloud's."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "GCSFS_", "FSSPEC_"))]:
            patch.delenv(name)
        for name, value in values.items():
            patch.setenv(name, value)
        yield patch


def check_that_files_come(out: Output, name: str) -> None:
    """Publish a file of this name over an earlier one in an empty place; read and list it."""
    table = name.partition("/")[0]
    out.check()
    assert list(out.partitions(table)) == []
    with out.lock(), out.scratch() as folder:
        assert list(folder.iterdir()) == []
        for content in (b"first", b"second"):
            (folder / "part").write_bytes(content)
            out.publish(folder / "part", name)
    assert not folder.exists()
    out.write_bytes("_state.json", b"1")
    assert (out.read_bytes(name), out.read_bytes("_state.json")) == (b"second", b"1")
    assert list(out.partitions(table)) == [[name]]
    for _ in range(2):
        out.remove(name)
        assert [found for files in out.partitions(table) for found in files] == []
    out.write_bytes(name, b"third")
    out.clean()
    assert out.read_bytes("none") is None
