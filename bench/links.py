"""Crawls a site of many linked pages with and without reading their links: time, memory, size of the database.

    python -m bench.links [--pages 100000] [--links 50] [--mode yes site no]

Every page links to a menu of ten pages and to others spread over the site; `site` lists a tenth of the pages, so that
nine tenths are found by links. The server is a process of its own on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

MENU = 10
"""Pages that every page links to."""
FILE = 50_000
"""Entries of a sitemap."""
TEXT = "<p>" + "What stands on a page of a shop, with words of its own. " * 12 + "</p>"


def page(number: int, pages: int, links: int) -> bytes:
    """The markup of a page, which leads to `links` others."""
    others = [*range(MENU), *((number * 7 + step * 13 + 1) % pages for step in range(links - MENU))]
    anchors = "".join(
        f'<li class="item"><a href="/p/{other}" class="more">To page {other}</a></li>' for other in others
    )
    return f"<!doctype html><html><head><title>Page {number}</title></head><body>{TEXT}{anchors}</body></html>".encode()


class Server(asyncio.Protocol):
    """Answers requests of one connection."""

    def __init__(self, port: int, pages: int, links: int, listed: int) -> None:
        self._port, self._pages, self._links, self._listed = port, pages, links, listed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for request in data.split(b"\r\n\r\n")[:-1]:
            path = request.split(b" ", 2)[1].decode()
            status, kind, body = self._answer(path)
            head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            self._transport.write(head.encode() + body)

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        home = f"http://127.0.0.1:{self._port}"
        files = range(0, self._listed, FILE)
        if path == "/robots.txt":
            named = "".join(f"Sitemap: {home}/s/{first}.xml\n" for first in files)
            return 200, "text/plain", f"User-agent: *\nAllow: /\n{named}".encode()
        if path.startswith("/s/"):
            first = int(path[3:-4])
            locs = "".join(f"<url><loc>{home}/p/{n}</loc></url>" for n in range(first, min(first + FILE, self._listed)))
            space = "http://www.sitemaps.org/schemas/sitemap/0.9"
            return 200, "application/xml", f'<?xml version="1.0"?><urlset xmlns="{space}">{locs}</urlset>'.encode()
        if path == "/" or (path.startswith("/p/") and path[3:].isdigit()):
            return 200, "text/html; charset=utf-8", page(int(path[3:] or 0), self._pages, self._links)
        return 404, "text/html", b"<title>Nothing</title>"


def serve(port: int, pages: int, links: int, listed: int) -> None:
    """Serve until the process is ended."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Server(port, pages, links, listed), "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(main())


def measure(mode: str, port: int, folder: Path, pages: int) -> str:
    """Crawl once; one line of figures."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    feed, job = folder / f"{mode}.json", folder / f"job-{mode}"
    links = [] if mode == "no" else ["-a", f"links={mode}"]
    links += ["-a", f"max_pages={pages}"] if mode == "site" else []
    quick = {
        "AUTOTHROTTLE_ENABLED": 0,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "LOG_LEVEL": "WARNING",
    }
    settings = [part for name, value in {**quick, "JOBDIR": job}.items() for part in ("-s", f"{name}={value}")]
    command = ["crawl", "sitemap", "-a", f"domain=http://127.0.0.1:{port}", "-a", "verify=get", *links, *settings]
    subprocess.run([sys.executable, "-m", "sitemapcrawler.cli", *command, "-a", f"report={folder / mode}"], check=False)
    elapsed, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    summary = msgspec.json.decode((folder / mode / "summary.json").read_bytes())
    graph = summary.get("graph") or {}
    size = (job / "audit.duckdb").stat().st_size / 2**20
    feed.unlink(missing_ok=True)
    read = f"{graph.get('read', 0):,} pages read, {graph.get('links', 0):,} links"
    return (
        f"links={mode}: {elapsed:.0f} s, {spent:.0f} s of processor time, {summary['peak_mb']:.0f} MiB, "
        f"database {size:.0f} MiB; {read}, unlisted {graph.get('unlisted')}, not linked {graph.get('not_linked')}"
    )


def main() -> None:
    """Measure the modes that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.links", description="Crawl a site of many linked pages.")
    parser.add_argument("--pages", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--links", type=int, default=50, help="of a page (default: %(default)s)")
    parser.add_argument("--mode", nargs="+", choices=("no", "yes", "site"), default=["no", "yes", "site"])
    parser.add_argument("--port", type=int, default=8797, help="default: %(default)s")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="links-") as folder:
        for mode in arguments.mode:
            listed = arguments.pages // 10 if mode == "site" else arguments.pages
            server = multiprocessing.Process(
                target=serve, args=(arguments.port, arguments.pages, arguments.links, listed), daemon=True
            )
            server.start()
            time.sleep(1)  # until it listens
            try:
                print(measure(mode, arguments.port, Path(folder), arguments.pages), flush=True)
            finally:
                server.terminate()
                server.join()


if __name__ == "__main__":
    main()
