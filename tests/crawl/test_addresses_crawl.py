"""Where a crawl goes: to what the user named and to public addresses, and only where robots.txt lets it."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl import forks
from tests.crawl.crawling import DEADLINE_S, LOOPBACK, Crawl, crawl, program
from tests.crawl.documents import index, page, pages, robots, urlset
from tests.crawl.forks import environment
from tests.crawl.site_server import SiteServer, moved


def test_allowed_network_may_be_asked(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/index.xml": index(other.url("/a.xml"))}
    other.routes = {"/a.xml": urlset(*pages("other", 2))}
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), settings={"SITEMAP_ALLOW_NETWORKS": "10.0.0.0/8,127.0.0.1"})
    assert done.locs(other.url("/a.xml")) == pages("other", 2)


OWN_SPIDER = """
import scrapy

class Own(scrapy.Spider):
    name = "own"

    def parse(self, response):
        yield {"text": response.text}
"""
SINGLE = {
    "fetch": ["fetch"],
    "view": ["view"],
    "shell": ["shell", "-c", "response.text"],
    "fetch in a shell": ["shell", "-c", "[fetch(URL), response.text]"],
    "parse": ["parse", "--spider", "own", "-s", "SPIDER_MODULES=own"],
}
"""Scrapy's commands for a URL of the command line."""


def single(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Scrapy for a single URL; the browser prints the path of what it shows."""
    env = environment() | {"BROWSER": "echo %s", "TMPDIR": str(folder)}
    command = program(*arguments, "-L", "ERROR")
    return forks.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_url_of_a_command_is_named(site: SiteServer, other: SiteServer, tmp_path: Path, name: str) -> None:
    site.routes = {"/a": page("<title>found</title>"), "/away": moved(other.url("/b"))}
    (tmp_path / "own.py").write_text(OWN_SPIDER)
    command = [part.replace("URL", repr(site.url("/a"))) for part in SINGLE[name]]
    target = [] if command != SINGLE[name] else [site.url("/a")]
    done = single(tmp_path, *command, *target)
    shown = "".join(path.read_text() for path in tmp_path.glob("*.html")) if name == "view" else done.stdout
    assert (done.returncode, "found" in shown) == (0, True), done.stderr
    if target:
        single(tmp_path, *command, site.url("/away"))
        assert "/away" in [exchange.path for exchange in site.exchanges]
        assert other.connections == 0, "a redirect names nothing"


@pytest.mark.slow
@pytest.mark.parametrize("command", [["fetch"], ["shell", "-c", "response.text"]])
def test_file_of_a_command_is_read(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "a.html").write_text("found")
    done = single(tmp_path, *command, (tmp_path / "a.html").as_uri())
    assert (done.returncode, done.stdout.strip()) == (0, "found"), done.stderr


# ---- robots.txt


@dataclass
class Obedience:
    """A crawl of a site whose robots.txt forbids some of its sitemaps, and of another one that forbids all."""

    crawl: Crawl
    site: SiteServer
    other: SiteServer


@pytest.fixture(scope="module")
def obedience(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Obedience]:
    with SiteServer() as site, SiteServer() as other:
        names = ["/private/a.xml", "/private/open.xml", "/go.xml", "/free.xml"]
        rules = ["Disallow: /private/", "Allow: /private/open.xml"]
        site.routes = {
            "/robots.txt": codecs.BOM_UTF8 + b"# rules\n" + robots(*map(site.url, names), rules=rules),
            "/private/a.xml": urlset(*pages("private", 1)),
            "/private/b.xml": urlset(*pages("private", 2)),
            "/private/open.xml": urlset(*pages("open", 1)),
            "/go.xml": moved("/private/b.xml"),
            "/free.xml": index(other.url("/theirs.xml")),
        }
        other.routes = {
            "/robots.txt": b"User-agent: *\nAllow: /\n\nUser-agent: sitemapcrawler\nDisallow: /\n",
            "/theirs.xml": urlset(*pages("theirs", 1)),
        }
        folder = tmp_path_factory.mktemp("obedience")
        yield Obedience(crawl(folder, domain=site.url(), settings=LOOPBACK), site, other)


def test_forbidden_sitemap_is_not_fetched_and_is_recorded(obedience: Obedience) -> None:
    record = obedience.crawl.sitemaps[obedience.site.url("/private/a.xml")]
    assert "/private/a.xml" not in obedience.site.paths
    assert (record["outcome"], record["found_by"], record["url_count"]) == ("blocked", "robots", 0)
    assert "robots.txt" in record["error"]
    assert "status" not in record


def test_redirect_to_a_forbidden_place_is_not_followed(obedience: Obedience) -> None:
    record = obedience.crawl.sitemaps[obedience.site.url("/go.xml")]
    assert "/private/b.xml" not in obedience.site.paths
    assert record["outcome"] == "blocked"
    assert record["hops"] == [{"status": 302, "url": obedience.site.url("/go.xml")}]


def test_other_authority_is_asked_for_its_own_rules(obedience: Obedience) -> None:
    assert obedience.other.paths == []
    assert obedience.crawl.sitemaps[obedience.other.url("/theirs.xml")]["outcome"] == "blocked"


def test_exception_to_a_rule_is_read(obedience: Obedience) -> None:
    assert obedience.crawl.locs() == pages("open", 1)
    assert obedience.crawl.code == 0


def test_site_that_forbids_everything_ends_with_4(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/robots.txt": robots("/a.xml", rules=["Disallow: /"]), "/a.xml": urlset(*pages("a", 1))}
    done = crawl(tmp_path, domain=site.url())
    assert site.paths == []
    assert done.sitemaps[site.url("/a.xml")]["outcome"] == "blocked"
    assert done.code == 4
