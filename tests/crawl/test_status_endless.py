"""Answers whose headers do not end."""

from __future__ import annotations

from pathlib import Path

from tests.crawl.site_server import Exchange
from tests.crawl.verified import PATIENT, verifying

MAX_TAKEN = 64 * 2**20
"""Bytes that a server may get rid of before the connection closes: most of them wait in the buffers of the system."""


def huge_head(exchange: Exchange) -> None:
    """More header lines than anybody takes: twice `MAX_TAKEN`."""
    exchange.closed = True
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    line = b"X-More: %b\r\n" % (b"x" * 10_000)
    while exchange.sent < 2 * MAX_TAKEN:
        exchange.send(line)
    exchange.wait_until_client_goes()


def test_endless_headers_are_cut(tmp_path: Path) -> None:
    settings = PATIENT | {"DOWNLOAD_TIMEOUT": 3}
    with verifying(tmp_path, {"/huge": huge_head}, settings=settings, verify="get") as visit:
        assert visit.reply("/huge")["kind"] == "reset"
        assert max(exchange.sent for exchange in visit.exchanges("/huge")) < MAX_TAKEN
        assert visit.crawl.summary["peak_mb"] < 200
