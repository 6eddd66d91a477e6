"""Pages are verified over connections whose certificates are valid; sitemaps are read whatever theirs is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography import x509

from tests.crawl.authority import YESTERDAY, CertificateAuthority
from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import urlset
from tests.crawl.site_server import SiteServer

BAD = ("expired", "wrong-host", "self-signed")


@dataclass
class Visited:
    """Sites by the kind of their certificates, and crawls that verified a page of each."""

    sites: dict[str, SiteServer]
    strict: Crawl
    lax: Crawl

    def reply(self, crawl: Crawl, kind: str) -> dict[str, Any]:
        """The reply of the page of a site."""
        url = self.sites[kind].url("/page")
        return next(record["reply"] for record in crawl.of_type("url") if record["loc"] == url)


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    folder = tmp_path_factory.mktemp("certificates")
    authority = CertificateAuthority(folder)
    contexts = {
        "good": authority.server("good"),
        "expired": authority.server("expired", until=YESTERDAY),
        "wrong-host": authority.server("wrong-host", x509.DNSName("other.example")),
        "self-signed": authority.self_signed("self-signed"),
    }
    with ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(authority.file))
        sites = {kind: stack.enter_context(SiteServer(tls=context)) for kind, context in contexts.items()}
        for site in sites.values():
            site.routes = {"/page": "a page", "/sitemap.xml": urlset(site.url("/page"))}
        named = ",".join(site.url("/sitemap.xml") for site in sites.values())
        settings = {**LOOPBACK, "RETRY_TIMES": 0}
        strict = crawl(folder, sitemap=named, verify="head", settings=settings)
        lax = crawl(folder, sitemap=named, verify="head", settings={**settings, "SITEMAP_VERIFY_CERTIFICATES": 0})
        yield Visited(sites, strict, lax)


def test_page_with_a_valid_certificate_works(visited: Visited) -> None:
    assert visited.reply(visited.strict, "good")["kind"] == "ok"


@pytest.mark.parametrize("kind", BAD)
def test_bad_certificate_is_told_and_the_page_is_not_asked(visited: Visited, kind: str) -> None:
    reply = visited.reply(visited.strict, kind)
    assert (reply["kind"], "status" in reply) == ("tls", False)
    url = visited.sites[kind].url("/page")
    found = [record["rule"] for record in visited.strict.of_type("finding") if record.get("url") == url]
    assert "status-tls" in found


def test_sitemaps_are_read_all_the_same(visited: Visited) -> None:
    assert [record["outcome"] for record in visited.strict.sitemaps.values()] == ["ok"] * 4


@pytest.mark.parametrize("kind", BAD)
def test_any_certificate_will_do_where_that_is_set(visited: Visited, kind: str) -> None:
    assert visited.reply(visited.lax, kind)["kind"] == "ok"
