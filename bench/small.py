"""Time of `inspect` and `crawl` on small sites, with the default delays.

    python -m bench.small [--rounds 3] [--latency 20]

A server on loopback answers each request after `--latency` milliseconds. DOWNLOAD_DELAY is set to its default, so that
it holds for loopback as for any other host. Prints medians of wall seconds, start-up included, and of the seconds
between the first and the last request.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from bench.programs import ROOT
from sitemapcrawler.settings import DOWNLOAD_DELAY

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
CHILDREN = [f"/part-{number}.xml" for number in range(5)]
ENTRIES = 50
SITES: dict[str, tuple[str, str]] = {
    "robots.txt names an index of 5 files": ("/index.xml", "/index.xml"),
    "`/sitemap.xml`, an index of 5 files, not named": ("", "/sitemap.xml"),
    "`/wp-sitemap.xml`, an index of 5 files, not named": ("", "/wp-sitemap.xml"),
    "no sitemap": ("", ""),
}
"""{site: (sitemap that robots.txt names, path of the index)}"""
COMMANDS = {
    "inspect": ("inspect", "{url}"),
    "inspect --expand": ("inspect", "{url}", "--expand"),
    "crawl": ("crawl", "sitemap", "-a", "domain={url}", "-O", "urls.csv"),
}


class Site(BaseHTTPRequestHandler):
    """A site of one index and the files that it lists."""

    protocol_version = "HTTP/1.1"
    named = index = ""
    latency = 0.0
    """Seconds."""
    requests: ClassVar[list[float]] = []
    """Monotonic time of each request, in seconds."""

    def do_GET(self) -> None:
        self.requests.append(time.monotonic())
        time.sleep(self.latency)  # what is simulated: the distance to the server
        home = f"http://{self.headers['Host']}"
        if self.path == "/robots.txt":
            self._answer(200, f"User-agent: *\nAllow: /\nSitemap: {home}{self.named}\n" if self.named else "")
        elif self.path == self.index:
            self._answer(200, _document("sitemapindex", "sitemap", [home + path for path in CHILDREN]))
        elif self.index and self.path in CHILDREN:
            self._answer(200, _document("urlset", "url", [f"{home}{self.path}/{one}" for one in range(ENTRIES)]))
        else:
            self._answer(404, "")

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""


def _document(root: str, child: str, urls: list[str]) -> str:
    children = "".join(f"<{child}><loc>{url}</loc></{child}>" for url in urls)
    return f'<{root} xmlns="{NAMESPACE}">{children}</{root}>'


def run(words: tuple[str, ...], named: str, index: str) -> tuple[float, float, int]:
    """Run a command on a site. Returns wall seconds, seconds of requests, and their number."""
    Site.named, Site.index = named, index
    Site.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        command = [sys.executable, "-m", "sitemapcrawler.cli", *(word.format(url=url) for word in words)]
        command += ["-s", f"DOWNLOAD_DELAY={DOWNLOAD_DELAY}"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        began = time.monotonic()
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        seconds = time.monotonic() - began
        server.shutdown()
    return seconds, Site.requests[-1] - Site.requests[0], len(Site.requests)


def main() -> None:
    """Print one row per site and command."""
    parser = argparse.ArgumentParser(prog="python -m bench.small", description="Time small sites.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=20, help="milliseconds")
    options = parser.parse_args()
    Site.latency = options.latency / 1000
    for site, (named, index) in SITES.items():
        for name, words in COMMANDS.items():
            runs = [run(words, named, index) for _ in range(options.rounds)]
            wall, asking, requests = (statistics.median(column) for column in zip(*runs, strict=True))
            print(f"{site} | {name} | {wall:.2f} s | {requests:.0f} requests in {asking:.2f} s", flush=True)


if __name__ == "__main__":
    main()
