"""Messages after audits: one for each night with something new, and none for the others."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from sitemapcrawler.spiders.running import NOTHING_READ
from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import robots
from tests.crawl.site_server import Reply, Route, SiteServer, moved

PAGES = 12
NIGHTS = 10
DATED = "2024-05-01"
SECRET = "secret-token"
POLICY = "min-urls=1,must-not-list=/21$,must-not-list=/22$,must-not-list=/23$"
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"


class Channel:
    """A server that takes messages as JSON."""

    def __init__(self) -> None:
        self.messages: list[dict[str, str]] = []
        self.status = 200
        channel = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                channel.messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(channel.status)
                self.send_header("Location", "/")
                self.end_headers()

            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"json://127.0.0.1:{self._server.server_port}/{SECRET}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def channel() -> Iterator[Channel]:
    channel = Channel()
    yield channel
    channel.close()


def html(number: int, *head: str) -> Reply:
    text = f"What page {number} says about its subject. " * 30
    return Reply(
        f"<!doctype html><html lang=en><head><title>Page {number}</title>{''.join(head)}</head>"
        f"<body><h1>Page {number}</h1><p>{text}</p></body></html>",
        headers={"Content-Type": "text/html; charset=utf-8"},
    )


class Site:
    """A site of some pages, as it is tonight."""

    def __init__(self, server: SiteServer) -> None:
        self._server = server
        self.pages: dict[str, str] = {f"/{number}": DATED for number in range(PAGES)}
        """{path: lastmod} of the listed pages."""
        self.routes: dict[str, Route] = {f"/{number}": html(number) for number in range(2 * PAGES)}
        self.rules: list[str] = []
        self.sitemap: Route | None = None
        """What is answered instead of the sitemap."""

    def serve(self) -> None:
        entries = "".join(
            f"<url><loc>{self._server.url(path)}</loc><lastmod>{date}</lastmod></url>"
            for path, date in self.pages.items()
        )
        urlset = f'<?xml version="1.0"?>\n<urlset xmlns="{CORE}">{entries}</urlset>'.encode()
        self._server.routes = {
            **self.routes,
            "/robots.txt": robots(self._server.url("/s.xml"), rules=self.rules),
            "/s.xml": urlset if self.sitemap is None else self.sitemap,
        }

    def noindex(self, number: int) -> None:
        self.routes[f"/{number}"] = html(number, '<meta name="robots" content="noindex">')


def change(site: Site, server: SiteServer, night: int) -> bool:
    """Change the site for a night. Returns True if that is an incident."""
    match night:
        case 2:
            site.noindex(1)
        case 3:
            site.pages["/21"] = "2024-05-05"  # new pages, which the policy forbids
        case 4:
            del site.pages["/3"]
        case 5:  # a repair, a new page, a comment
            site.routes["/1"] = html(1)
            site.pages["/20"] = "2024-05-16"
            site.rules = ["# a comment"]
        case 6:
            site.routes["/7"] = moved(server.url("/8"), 301)
        case 7:
            site.sitemap = Reply("", 503)
        case 8:
            site.sitemap = None
            site.pages["/22"] = site.pages["/23"] = "2024-05-26"
        case 9:
            site.noindex(10)
            site.noindex(11)
    return night not in (1, 5, 10)


def audited(folder: Path, server: SiteServer, channel: str, **arguments: object) -> Crawl:
    given = {"domain": server.url(), "verify": "get", "report": str(folder / "report"), **arguments}
    return crawl(folder, settings={"RETRY_TIMES": 0, "LOG_LEVEL": "DEBUG"}, notify=channel, **given)


@pytest.mark.slow
def test_nights_with_seven_incidents_are_seven_messages(site: SiteServer, channel: Channel, tmp_path: Path) -> None:
    tonight, baseline = Site(site), {}
    incidents: set[int] = set()
    messages: dict[int, dict[str, str]] = {}
    for night in range(1, NIGHTS + 1):
        if change(tonight, site, night):
            incidents.add(night)
        tonight.serve()
        channel.messages.clear()
        done = audited(tmp_path, site, channel.address, report=tmp_path / str(night), policy=POLICY, **baseline)
        if done.code != NOTHING_READ:
            baseline = {"baseline": tmp_path / str(night)}
        assert "notify" not in done.log
        if channel.messages:
            (messages[night],) = channel.messages
            assert messages[night]["message"].splitlines()[-1] == f"Report: {tmp_path / str(night) / 'report.html'}"
    assert {night: one["message"] for night, one in messages.items() if night not in incidents} == {}
    assert [*messages] == sorted(incidents)
    told = {night: one["message"].replace(site.url(), "").splitlines()[0] for night, one in messages.items()}
    assert told == {
        2: "1 new error (page-noindex-meta): /1.",
        3: "1 policy limit is broken: must-not-list=/21$: 1 URL is listed, such as /21.",
        4: "1 URL is no longer listed: /3.",
        6: "1 page can no longer be indexed: /7.",
        7: "1 sitemap was found; none could be read: HTTP status 503.",
        8: "2 policy limits are broken, such as must-not-list=/22$: 1 URL is listed, such as /22.",
        9: "2 new errors (page-noindex-meta), such as /10.",
    }


@pytest.mark.slow
def test_limit_that_a_job_has_broken_is_told_once(site: SiteServer, channel: Channel, tmp_path: Path) -> None:
    Site(site).serve()
    arguments = {"domain": site.url(), "policy": "min-urls=99", "notify": channel.address}
    for job, baseline in (("first", {}), ("second", {"baseline": tmp_path / "first"})):
        report = str(tmp_path / f"{job}-report")
        crawl(tmp_path, settings={"JOBDIR": tmp_path / job}, report=report, **arguments, **baseline)
    assert [one["message"].splitlines()[0] for one in channel.messages] == [
        "1 policy limit is broken: min-urls=99: 12 URLs are listed."
    ]


@pytest.mark.slow
def test_limit_that_only_lacked_a_baseline_is_news_when_it_is_broken(
    site: SiteServer, channel: Channel, tmp_path: Path
) -> None:
    tonight = Site(site)
    for night, baseline in (("first", {}), ("second", {"baseline": tmp_path / "first"})):
        tonight.serve()
        audited(tmp_path, site, channel.address, report=tmp_path / night, policy="max-removed=0", **baseline)
        tonight.pages.pop("/3", None)
    assert [one["message"].splitlines()[0] for one in channel.messages] == [
        "1 policy limit is broken: max-removed=0: this needs a baseline, which is missing.",
        "1 policy limit is broken: max-removed=0: 1 of 12 URLs (8.33 %) is no longer listed.",
    ]


@pytest.mark.parametrize("status", [500, 302])
def test_channel_that_fails_is_one_line_without_its_address(
    site: SiteServer, channel: Channel, tmp_path: Path, status: int
) -> None:
    tonight = Site(site)
    tonight.noindex(1)
    tonight.pages["/2"] = "yesterday"
    tonight.serve()
    channel.status = status
    failed = audited(tmp_path, site, channel.address)
    assert [one["title"] for one in channel.messages] == [f"{site.url()}: Needs repair"]
    assert channel.messages[0]["message"].startswith(
        "There is no earlier audit to compare with, and there are errors on "
    )
    told = [line for line in failed.log.splitlines() if " notify: " in line]
    assert len(told) == 1 and told[0].endswith("ERROR: notify: no message could be sent to channel 1 (json)")
    assert failed.code == 0
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(SECRET.encode() in content for content in [*written, failed.log.encode()])


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")  # Apprise looks for it
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (f"nobody://{SECRET}", "has an address that Apprise does not know"),
        (f"nobody://{SECRET}@example.com", "has an address that Apprise does not know"),
        (f"json://example.com,nobody://{SECRET}", "item number 2: has an address that Apprise does not know"),
        ("@channels.txt", "line 2 of 'channels.txt': item number 2: has an address that Apprise does not know"),
    ],
)
def test_wrong_channel_is_refused_without_its_address(
    given: str, problem: str, tmp_path: Path, refusal: Callable[..., str]
) -> None:
    (tmp_path / "channels.txt").write_text(f"json://example.com\nnobody://{SECRET}\n")
    said = refusal("audit", "example.com", "-a", f"notify={given}")
    assert problem in said and SECRET not in said
