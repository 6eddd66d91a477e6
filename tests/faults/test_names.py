"""Names that cannot be resolved, not at once, or not at all: each URL says so, and the crawl goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawl.crawling import LOOPBACK, start
from tests.crawl.documents import index, pages, urlset
from tests.crawl.site_server import SiteServer
from tests.crawl.verified import Verified, html
from tests.faults.faulty_names import FaultyNames
from tests.nameserver import asking_it
from tests.namespace import alone_or_skipped

pytestmark = pytest.mark.slow

KINDS = {"works": "ok", "silent": "dns", "servfail": "dns", "late": "ok", "garbage": "dns", "missing": "dns"}
"""Kind of reply by kind of name."""
HOSTS = [f"{number}.{kind}.test" for kind in KINDS for number in range(2)]
WITHIN_S = 60


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    """A network namespace, where port 53 is free and nothing else is asked."""
    with alone_or_skipped():
        yield


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    """A crawl of files and pages on hosts with such names."""
    folder = tmp_path_factory.mktemp("names")
    settings = {**LOOPBACK, "SITEMAP_MAX_ROBOTS": 100, "DOWNLOAD_TIMEOUT": 10}
    with FaultyNames() as dns, SiteServer() as site:
        port = site.server_address[1]
        locs = [f"http://{host}:{port}/page" for host in HOSTS]
        files = [f"http://file.{kind}.test:{port}/file.xml" for kind in KINDS]
        site.routes = {"/index.xml": index(site.url("/pages.xml"), *files), "/pages.xml": urlset(*locs)}
        site.routes |= {"/page": html(), "/file.xml": urlset(*pages("file", 3))}
        arguments = {"sitemap": site.url("/index.xml"), "verify": "head", "verify_offsite": "yes"}
        arguments |= {"exclude": "pages.example"}
        crawl = start(folder, settings=settings, within=asking_it(folder), **arguments).finish()
        assert dns.asked.keys() >= set(HOSTS), "the crawl asks this server"
        yield Verified(site, crawl)


def test_each_page_says_whether_its_name_could_be_resolved(visit: Verified) -> None:
    told = {record["loc"].split("/")[2].split(":")[0]: record["reply"] for record in visit.crawl.of_type("url")}
    assert {host: reply["kind"] for host, reply in told.items()} == {host: KINDS[host.split(".")[1]] for host in HOSTS}
    assert all(len(reply["error"]) < 300 for reply in told.values() if reply["kind"] == "dns")


def test_each_file_says_so_too(visit: Verified) -> None:
    outcomes = {
        url.split("/")[2].split(".")[1]: one["outcome"] for url, one in visit.crawl.sitemaps.items() if "file." in url
    }
    assert outcomes == {kind: "ok" if reply == "ok" else "failed" for kind, reply in KINDS.items()}


def test_crawl_ends_in_time_and_well(visit: Verified) -> None:
    assert visit.crawl.code == 0
    assert visit.crawl.seconds < WITHIN_S
    assert visit.crawl.summary["replies"] == {"ok": 4, "dns": 8}
