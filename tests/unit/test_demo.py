"""The demo site and its server, without a crawl."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from demo import site
from demo.server import serving

ROOT = Path(__file__).parents[2]
BASE = "http://demo.test"


def numberless(path: str) -> str:
    return re.sub(r"/\d+$", "/N", path)


def test_docstring_of_the_site_names_every_path() -> None:
    named = re.findall(r"(?<= )/[\w./-]*", site.__doc__ or "")
    assert {numberless(path) for path in named} == {numberless(path) for path in site.build(BASE)}


def test_listed_urls_of_the_site_are_served() -> None:
    answers = site.build(BASE)
    xml = b"\n".join(answer.body for path, answer in answers.items() if path.startswith(("/sitemap", "/feeds")))
    listed = set(re.findall(rb"<(?:\w+:)?(?:loc|link)>http://demo\.test([^<?\n]*)[<?]", xml))
    unknown = {path.decode() for path in listed} - answers.keys()
    assert len(listed) > 50
    assert unknown == set()


def test_second_day_has_a_page_again_and_lacks_another() -> None:
    days = [site.build(BASE, day) for day in (1, 2)]
    changed = {path: [day[path].status for day in days] for path in days[0] if days[0][path] != days[1][path]}
    assert changed == {
        "/sitemaps/defects.xml": [200, 200],
        "/exhibitions/lighthouses": [404, 200],
        "/shop/books": [200, 404],
    }
    assert days[0].keys() == days[1].keys()


def test_server_answers_head_and_redirects() -> None:
    with serving() as base:
        connection = HTTPConnection(urlsplit(base).netloc, timeout=10)
        connection.request("HEAD", "/opening-hours")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
    assert (answer.status, answer.getheader("Location"), body) == (301, f"{base}/visit", b"")


def test_served_site_answers_until_interrupted() -> None:
    command = [sys.executable, "-m", "demo", "serve"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        port = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
        assert port
        connection = HTTPConnection("127.0.0.1", int(port[1]), timeout=10)
        connection.request("GET", "/robots.txt")
        body = connection.getresponse().read()
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
    assert f"Sitemap: http://127.0.0.1:{port[1]}/sitemap-index.xml".encode() in body


def test_unknown_option_of_serve_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo", "serve", "--prot=1"], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert "--prot=1" in done.stderr
