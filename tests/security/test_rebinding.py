"""Names that a stranger's name server resolves as it likes: what counts is the address that is connected to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, start
from tests.crawl.documents import index, urlset
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.nameserver import NameServer, asking_it
from tests.namespace import add_address

pytestmark = pytest.mark.slow

PUBLIC, DEAD, METADATA, MAPPED = "93.184.216.34", "93.184.216.35", "169.254.169.254", "::ffff:127.0.0.1"
SIX = "2606:2800:220:1::1"
"""Without a public address of that kind, resolvers give none."""
LOOPBACK = "127.0.0.1"
JOBDIR = "job"
CLOSE = {"Connection": "close"}
NAMES = {
    "site.test": [[PUBLIC]],
    "shop.test": [[PUBLIC]],
    "home.test": [[LOOPBACK]],
    "later.test": [[PUBLIC], [LOOPBACK]],
    "both.test": [[DEAD, LOOPBACK]],
    "mixed.test": [[LOOPBACK, PUBLIC]],
    "mixed6.test": [["::1", PUBLIC]],
    "dual.test": [[SIX, PUBLIC]],
    "mapped.test": [[MAPPED]],
    "six.test": [["::1"]],
    "metadata.google.internal": [[METADATA]],
    "cloud.test": [[METADATA]],
    "aws.test": [["fd00:ec2::254"]],
    "nat.test": [["64:ff9b::7f00:1"]],
    "alias.test": [[LOOPBACK]],
}
MIXED = ("mixed.test", "mixed6.test", "both.test")
"""Hosts with a public address too, of which that of `both.test` is dead."""
REFUSED = sorted(NAMES.keys() - {"site.test", "shop.test", "dual.test", "later.test", *MIXED})
"""Hosts with no public address."""


@dataclass
class Rebinding:
    """A crawl of a site whose sitemaps name hosts with many addresses."""

    crawl: Crawl
    site: SiteServer
    canaries: list[SiteServer]
    port: int
    names: dict[str, list[list[str]]]
    """What the name server answers."""

    def findings(self, rule: str) -> list[dict[str, Any]]:
        return [finding for finding in self.crawl.of_type("finding") if finding["rule"] == rule]


@pytest.fixture(scope="module", autouse=True)
def addresses(alone: None) -> Iterator[None]:
    """A public address, and that of metadata services, on this machine."""
    add_address(PUBLIC, 1)
    add_address(METADATA, 2)
    add_address(SIX, 0)
    yield


@pytest.fixture(scope="module")
def rebinding(addresses: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rebinding]:
    folder = tmp_path_factory.mktemp("rebinding")
    with ExitStack() as stack:
        site = stack.enter_context(SiteServer(host=PUBLIC))
        port = site.server_address[1]
        canaries = [stack.enter_context(SiteServer(host=host, port=port)) for host in (LOOPBACK, METADATA, "::1")]
        own = stack.enter_context(SiteServer(host="127.0.0.2"))
        names = {**NAMES, "own.test": [["127.0.0.2"]]}
        stack.enter_context(NameServer(names))
        site.routes = routes(port, own.server_address[1])
        own.routes = {"/own.xml": urlset(f"{own.url()}/page")}
        settings = {
            "DOWNLOAD_TIMEOUT": 10,
            "DNS_TIMEOUT": 10,
            "DNSCACHE_ENABLED": 0,
            "RETRY_TIMES": 0,
            "SITEMAP_MAX_ROBOTS": 50,
            "JOBDIR": JOBDIR,
        }
        named = f"http://site.test:{port}/index.xml,{own.url('/own.xml')}"
        arguments = {"sitemap": named, "verify": "get", "verify_offsite": "yes", "verify_assets": "yes"}
        crawl = start(folder, settings=settings, within=asking_it(folder, patience=5), **arguments).finish()
        yield Rebinding(crawl, site, canaries, port, names)
        assert own.connections > 0
        assert {exchange.headers["host"] for exchange in own.exchanges} == {own.place}


def routes(port: int, own: int) -> dict[str, Any]:
    """What the public address answers, whatever the name it is asked under."""
    hosts = [f"http://{name}:{port}" for name in NAMES]
    children = [f"{host}/child.xml" for host in hosts] + [f"http://own.test:{own}/own.xml"]
    pages = [f"{host}/page" for host in hosts] + [f"http://site.test:{port}/go/{name}" for name in NAMES]
    return {
        "/robots.txt": Reply("User-agent: *\nAllow: /\n", headers=CLOSE),
        "/index.xml": index(*children, f"http://site.test:{port}/pages.xml"),
        "/pages.xml": urlset(*pages),
        "/child.xml": Reply(urlset(f"http://later.test:{port}/again"), headers=CLOSE),
        "/page": Reply("<!doctype html><title>Page</title>", headers=CLOSE | {"Content-Type": "text/html"}),
        **{f"/go/{name}": moved(f"http://{name}:{port}/went") for name in NAMES},
    }


def test_nothing_inside_is_connected_to(rebinding: Rebinding) -> None:
    assert [canary.connections for canary in rebinding.canaries] == [0, 0, 0]
    assert rebinding.crawl.code == 0


@pytest.mark.parametrize("name", REFUSED)
def test_name_that_leads_inside_is_refused_in_a_sitemap_a_page_and_a_redirect(rebinding: Rebinding, name: str) -> None:
    crawl, port = rebinding.crawl, rebinding.port
    child = crawl.sitemaps[f"http://{name}:{port}/child.xml"]
    pages = {record["loc"]: record["reply"]["kind"] for record in crawl.of_type("url")}
    found = {pages[f"http://{name}:{port}/page"], pages[f"http://site.test:{port}/go/{name}"]}
    assert child["outcome"] == "failed"
    assert "not public" in child["error"], child["error"]
    assert found == {"address-refused"}
    values = [finding["value"] for finding in rebinding.findings("security-address-refused")]
    assert values.count(child["sitemap"]) == 1
    assert values.count(f"http://{name}:{port}/page") == 1


def test_name_with_public_addresses_of_both_families_is_asked(rebinding: Rebinding) -> None:
    pages = {record["loc"]: record["reply"]["kind"] for record in rebinding.crawl.of_type("url")}
    assert pages[f"http://dual.test:{rebinding.port}/page"] == "ok"
    assert pages[f"http://shop.test:{rebinding.port}/page"] == "ok"


@pytest.mark.parametrize("name", MIXED)
def test_name_with_a_public_address_too_is_refused(rebinding: Rebinding, name: str) -> None:
    pages = {record["loc"]: record["reply"]["kind"] for record in rebinding.crawl.of_type("url")}
    assert pages[f"http://{name}:{rebinding.port}/page"] == "address-refused"


def test_name_that_comes_home_later_is_refused_then(rebinding: Rebinding) -> None:
    crawl, host = rebinding.crawl, f"http://later.test:{rebinding.port}"
    kinds = {record["reply"]["kind"] for record in crawl.of_type("url") if record["loc"].startswith(host)}
    assert "address-refused" in kinds
    assert {exchange.path for exchange in rebinding.site.exchanges if "later" in exchange.headers["host"]}


def test_name_of_the_named_server_is_another_authority(rebinding: Rebinding) -> None:
    (record,) = [one for url, one in rebinding.crawl.sitemaps.items() if "own.test" in url]
    assert record["outcome"] == "failed"
    assert "not public" in record["error"]


def test_refusals_are_counted(rebinding: Rebinding) -> None:
    summary = rebinding.crawl.summary
    assert summary["skipped"]["addresses_refused"] >= 3 * len(REFUSED) - 2
    assert summary["rules"]["security-address-refused"] >= 3 * len(REFUSED)
