"""A bad argument is one line and exit code 2, before any request; a deployment's own arguments pass."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler import __version__
from tests.crawl import forks
from tests.crawl.crawling import ROOT, command, crawl, run
from tests.crawl.documents import robots, urlset
from tests.crawl.forks import environment
from tests.crawl.site_server import SiteServer

CRAWLER_PROCESS = """
import sys
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings
process = CrawlerProcess(get_project_settings())
process.crawl("sitemap", **dict(argument.split("=", 1) for argument in sys.argv[1:]))
process.start()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer() as site:
        site.routes = {"/robots.txt": robots("/a.xml"), "/a.xml": urlset(site.url("/page"))}
        yield site


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"domian": "example.com"}, r"domain"),
    "meant": ({"maxurls": 5}, "did you mean max_urls?"),
    "missing list": ({"domain": "@missing.txt"}, "missing.txt"),
    "password": ({"domain": "http://me:secret@example.com"}, "user name or password"),
    "escape sequence": ({"probe": "\x1b[31mred"}, r"'\x1b[31mred'"),
}
"""Arguments beside a good `domain`, and what the line says."""


Refused = Callable[..., str]


@pytest.fixture
def refused(server: SiteServer, refusal: Callable[..., str]) -> Refused:
    """Gives the one line of a crawl that is refused; parameters as for `crawl`."""

    def line(*options: str, settings: dict[str, str] | None = None, **arguments: Any) -> str:
        connections = server.connections
        given = {"domain": server.url(), **arguments}
        text = refusal(*command(*options, settings=settings, **given)[3:])
        assert server.connections == connections
        return text

    return line


@pytest.mark.parametrize("name", BAD)
def test_bad_argument(refused: Refused, name: str) -> None:
    arguments, says = BAD[name]
    line = refused(**arguments)
    [(argument, value)] = arguments.items()
    assert argument in line
    assert name == "password" or str(value).encode("unicode_escape").decode() in line
    assert says in line
    assert line.isprintable() and "secret" not in line


@pytest.mark.parametrize(
    ("options", "says"),
    [(["-O", "urls.ods"], "ods"), (["-o", "urls.json"], "-O"), (["-O", "smb://host/urls.csv"], "smb")],
)
def test_bad_feed(refused: Refused, options: list[str], says: str) -> None:
    assert says in refused(*options)


def test_earlier_feed_outlives_a_bad_argument(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "urls.csv").write_text("earlier\n")
    refused("-O", "urls.csv", max_urls="many")
    assert (tmp_path / "urls.csv").read_text() == "earlier\n"


CONTACT = "SITEMAP_CONTACT_URL"


def test_contact_goes_along_with_every_request(server: SiteServer, tmp_path: Path) -> None:
    before = len(server.exchanges)
    settings = {CONTACT: "https://example.com/bot?a=b"}
    assert crawl(tmp_path, settings=settings, domain=server.url(), verify="head").code == 0
    agents = {exchange.headers["user-agent"] for exchange in server.exchanges[before:]}
    assert agents == {f"sitemapcrawler/{__version__} (+https://example.com/bot?a=b)"}


@pytest.mark.parametrize(
    "contact", ["example.com/bot", "https://example.com/\r\nX-More: b", "https://me:pw@example.com/"]
)
def test_contact_that_cannot_be_sent_is_refused(refused: Refused, contact: str) -> None:
    line = refused("-s", f"{CONTACT}={contact}")
    assert CONTACT in line and "accepted: " in line and "pw" not in line


def test_spider_checks_too_where_no_command_does(server: SiteServer, tmp_path: Path) -> None:
    connections = server.connections
    command = [sys.executable, "-c", CRAWLER_PROCESS, f"domain={server.url()}", "max_urls=many"]
    variables = environment() | {"SCRAPY_SETTINGS_MODULE": "sitemapcrawler.settings"}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60)
    assert "argument max_urls='many'" in done.stderr
    assert server.connections == connections


@pytest.mark.slow
def test_scrapy_command_checks_and_crawls_alike(server: SiteServer, tmp_path: Path) -> None:
    variables = environment() | {"SCRAPY_SETTINGS_MODULE": "sitemapcrawler.settings"}
    bad, good = (
        forks.run(
            [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-a", argument, "-s", "AUTOTHROTTLE_ENABLED=0"],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=60,
        )
        for argument in ("domain=", f"domain={server.url()}")
    )
    assert (bad.returncode, len(bad.stderr.splitlines())) == (2, 1)
    assert good.returncode == 0


OTHER_SPIDER = """
import scrapy

class Other(scrapy.Spider):
    name = "other"

    def parse(self, response):
        yield {"title": response.text}
"""


def test_spider_of_somebody_else_runs_as_it_always_does(server: SiteServer, tmp_path: Path) -> None:
    start = f"start_urls = [{server.url('/a.xml')!r}]\n\n    def parse"
    (tmp_path / "other.py").write_text(OTHER_SPIDER.replace("def parse", start))
    options = ["-O", "items.jsonl", "-s", "SITEMAP_ALLOW_NETWORKS=127.0.0.0/8", "-s", "AUTOTHROTTLE_ENABLED=0"]
    done = run(tmp_path, "runspider", "other.py", *options)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "items.jsonl").read_text().count("/page") == 1


COMMANDS = {
    "crawl example.com": "spider 'example.com': no such spider; did you mean: crawl sitemap -a domain=example.com",
    "crawl nosuch": "spider 'nosuch': no such spider; accepted: sitemap",
    "crawl sitemap -a sitemap=./a.xml -O a.xml:csv": "a.xml cannot be written: the crawl reads this file",
    "validate a.xml -o ./a.xml": "./a.xml cannot be written: the crawl reads this file",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_command_that_cannot_be_meant_is_one_line(tmp_path: Path, refusal: Refused, line: str) -> None:
    (tmp_path / "a.xml").write_bytes(urlset("https://example.com/"))
    assert refusal(*line.split()).startswith(f"sitemapcrawler: {COMMANDS[line]}")
    assert (tmp_path / "a.xml").read_bytes() == urlset("https://example.com/")


def test_closed_standard_error_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(urlset("https://example.com/"))
    command = '"$0" -m sitemapcrawler.cli crawl sitemap -a sitemap=./a.xml -a offline=yes -O urls.csv 2>&-'
    done = subprocess.run(["sh", "-c", command, sys.executable], cwd=tmp_path, env=environment())
    assert done.returncode == 0
    assert len((tmp_path / "urls.csv").read_text().splitlines()) == 2


# An argument of a plug-in, as docs/extending.md declares it


@pytest.fixture
def plugin(tmp_path: Path, server: SiteServer) -> dict[str, str]:
    """The settings that load the plug-in of the page."""
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8").partition("\n## An argument\n")[2]
    (tmp_path / "depth_rules.py").write_text(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0])
    server.routes["/a.xml"] = urlset(*(server.url(path) for path in ("/a/page", "/a/b/page", "/a/b/c/d/page")))
    return {"SITEMAP_RULES": "depth_rules.py"}


@pytest.mark.parametrize(
    ("given", "deep"), [({}, ["/a/b/c/d/page"]), ({"max_folders": "1"}, ["/a/b/page", "/a/b/c/d/page"])]
)
def test_rule_is_given_the_argument_of_its_plugin(
    server: SiteServer, tmp_path: Path, plugin: dict[str, str], given: dict[str, str], deep: list[str]
) -> None:
    done = crawl(tmp_path, settings=plugin, domain=server.url(), select="shop", **given)
    assert done.code == 0
    found = [(record["url"], record["message"]) for record in done.of_type("finding")]
    most = given.get("max_folders", "3")
    assert found == [(server.url(path), f"{path.count('/') - 1} folders, more than {most}") for path in deep]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"max_folders": "0"}, "argument max_folders='0': invalid value; accepted: a whole number from 1"),
        ({"max_folder": "1"}, "argument max_folder='1': unknown, did you mean max_folders?"),
    ],
)
def test_bad_argument_of_a_plugin_is_refused(
    server: SiteServer, tmp_path: Path, plugin: dict[str, str], arguments: dict[str, str], says: str
) -> None:
    done = crawl(tmp_path, settings=plugin, domain=server.url(), **arguments)
    assert (done.code, says in done.log, len(done.log.splitlines())) == (2, True, 1)


def test_job_is_not_resumed_with_another_argument_of_a_plugin(
    server: SiteServer, tmp_path: Path, plugin: dict[str, str]
) -> None:
    job = {**plugin, "JOBDIR": "job"}
    assert crawl(tmp_path, settings=job, domain=server.url(), max_folders="1").code == 0
    done = crawl(tmp_path, settings=job, domain=server.url(), max_folders="2")
    assert (done.code, "argument max_folders: the job in job was started with '1', now it is with '2'" in done.log) == (
        2,
        True,
    )
    assert crawl(tmp_path, settings=job, domain=server.url(), max_folders="1").code == 0
