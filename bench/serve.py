"""Serves generated sets over loopback with nginx, each as its own site.

    python -m bench.serve SET... [--limit 3600]

A set is served on the port that was chosen when it was generated (`set.json`). nginx stops after `--limit` seconds, or
with the program that started it, even if that is killed.

nginx is required (Debian: apt-get install nginx). A server in Python would share the cores with the measured programs
and take as long for a file as the faster ones, so every comparison would mostly measure the server.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

LIMIT = 3 * 3600  # seconds; the whole benchmark takes less
READY_WITHIN = 10  # seconds
LOOPBACK = "127.0.0.1"

CONFIGURATION = """
daemon off;
master_process off;
pid {run}/nginx.pid;
error_log {run}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  client_body_temp_path {run}/body;
  proxy_temp_path {run}/proxy;
  fastcgi_temp_path {run}/fastcgi;
  uwsgi_temp_path {run}/uwsgi;
  scgi_temp_path {run}/scgi;
  types {{ text/xml xml; application/gzip gz; text/plain txt; }}
{sites}}}
"""
SITE = """  server {{
    listen {address}:{port} backlog=4096; root "{root}";
    location /ok/ {{ default_type text/html; return 200 "{page}"; }}
    location ~ ^/moved/(.*)$ {{ return 301 /ok/$1; }}
    location /gone/ {{ return 410; }}
    location /broken/ {{ return 500; }}
  }}
"""
PAGE = "<!doctype html><title>A page</title><body>" + "<p>Some words of a page that works.</p>" * 50
"""Content of a page, about 2 KB."""


def ports(sets: Iterable[Path]) -> dict[int, Path]:
    """Return {port: set} from the sets. Raises SystemExit for a folder that is not a set."""
    try:
        hosts = {folder: json.loads((folder / "set.json").read_text())["host"] for folder in sets}
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is missing: python -m bench.generate makes a set")
    return {urlsplit(host).port or 80: folder for folder, host in hosts.items()}


@contextmanager
def serving(sets: Iterable[Path], limit: int = LIMIT) -> Iterator[None]:
    """Serve the sets until the block ends, at most `limit` seconds. Raises SystemExit if nginx fails."""
    sites = ports(sets)
    servers = (
        SITE.format(address=LOOPBACK, port=port, root=folder.resolve(), page=PAGE) for port, folder in sites.items()
    )
    with nginx("".join(servers), sites, limit):
        yield


@contextmanager
def nginx(sites: str, ports: Iterable[int], limit: int) -> Iterator[None]:
    """Run nginx with these `server` blocks, which listen on these ports of loopback. `limit` and errors as for
    `serving`."""
    watched = [_program("setpriv"), "--pdeathsig", "TERM", _program("timeout"), str(limit), _program("nginx")]
    with tempfile.TemporaryDirectory() as run:
        configuration = Path(run, "nginx.conf")
        configuration.write_text(CONFIGURATION.format(run=run, sites=sites))
        errors = Path(run, "start.log")
        with errors.open("wb") as log:
            command = [*watched, "-p", run, "-c", str(configuration)]
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
        try:
            _wait(server, ports, errors)
            yield
        finally:
            server.terminate()
            server.wait()


def _program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        sys.exit(f"{name} is required (Debian: apt-get install nginx); a server in Python would be no fair one")
    return path


def _wait(server: subprocess.Popen[bytes], ports: Iterable[int], errors: Path) -> None:
    """Wait until every port answers."""
    deadline = time.monotonic() + READY_WITHIN
    waiting = list(ports)
    while waiting:
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"nginx did not start: {errors.read_text().strip() or 'no answer'}")
        with suppress(ConnectionRefusedError), socket.create_connection((LOOPBACK, waiting[-1])):
            waiting.pop()
            continue
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.serve", description="Serve generated sets over loopback.")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds (default: %(default)s)")
    arguments = parser.parse_args()
    with suppress(KeyboardInterrupt), serving(arguments.sets, arguments.limit):
        for port, folder in ports(arguments.sets).items():
            print(f"http://{LOOPBACK}:{port}/index.xml  {folder}", flush=True)
        time.sleep(arguments.limit)


if __name__ == "__main__":
    main()
