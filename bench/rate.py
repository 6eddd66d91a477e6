"""Accuracy of a configured delay: requests 100 pages of one host, with jitter and AutoThrottle off.

    python -m bench.rate [--delay 0.05 --delay 0.2 ...]

The server counts: for each delay, prints the requests a second between the first and the last page, over 1 / delay.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from bench.programs import ROOT

PAGES = 100
DELAYS = (0.05, 0.1, 0.25)  # seconds
TOLERANCE = 0.05
STEADY = ("AUTOTHROTTLE_ENABLED=0", "DOWNLOAD_DELAY_JITTER=0", "RANDOMIZE_DOWNLOAD_DELAY=0", "CONCURRENT_REQUESTS=16")
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


class Site(BaseHTTPRequestHandler):
    """Pages, and the sitemap that lists them."""

    protocol_version = "HTTP/1.1"
    moments: ClassVar[list[float]] = []
    """Monotonic time of each page request, in seconds."""

    def do_HEAD(self) -> None:
        self.moments.append(time.monotonic())
        self._answer(b"")

    def do_GET(self) -> None:
        host = f"http://{self.headers['Host']}"
        urls = "".join(f"<url><loc>{host}/{number}</loc></url>" for number in range(PAGES))
        self._answer(f'<urlset xmlns="{NAMESPACE}">{urls}</urlset>'.encode() if self.path == "/sitemap.xml" else b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""


def rate(delay: float) -> float:
    """Measure the pages a second of a crawl with this delay in seconds."""
    Site.moments = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/sitemap.xml"
        command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "--nolog", "-O", str(Path(folder, "out.jsonl"))]
        command += ["-a", f"sitemap={url}", "-a", "verify=head"]
        command += [part for setting in (*STEADY, f"DOWNLOAD_DELAY={delay}") for part in ("-s", setting)]
        subprocess.run(command, cwd=ROOT, check=True)
        server.shutdown()
    return (len(Site.moments) - 1) / (Site.moments[-1] - Site.moments[0])


def main() -> None:
    """Print one row per delay."""
    parser = argparse.ArgumentParser(prog="python -m bench.rate", description="Measure how exactly a delay is kept.")
    parser.add_argument("--delay", type=float, action="append", help=f"seconds; default: {DELAYS}")
    for delay in parser.parse_args().delay or DELAYS:
        kept = rate(delay) * delay
        word = "met" if abs(kept - 1) <= TOLERANCE else "MISSED"
        print(f"delay {delay} s: {kept:.3f} of the configured rate; {word}: within {TOLERANCE:.0%}", flush=True)


if __name__ == "__main__":
    main()
