"""A host that keeps failing is asked no more; nothing is asked that robots.txt forbids."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawl.crawling import LOOPBACK, crawl
from tests.crawl.documents import page, robots, urlset
from tests.crawl.site_server import Reply, SiteServer, reset
from tests.crawl.verified import SITEMAP, Verified, counted

ROBOTS = "/robots.txt"
MANY = [f"/fails/{number}" for number in range(30)]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    """A crawl of a host that begins to fail; another one does not."""
    with SiteServer() as site:
        elsewhere = site.url().replace("127.0.0.1", "localhost")
        fine = ["/fine", "/fine/too"]
        site.routes = {path: reset() for path in MANY[:2]} | {path: Reply("", 500) for path in MANY[2:]}
        site.routes |= {path: page() for path in fine} | {ROBOTS: robots(rules=["Disallow: /private"])}
        locs = [*map(site.url, [*fine, "/private/a", *MANY]), *(f"{elsewhere}{path}" for path in [*fine, *fine])]
        site.routes[SITEMAP] = urlset(*locs)
        settings = LOOPBACK | {"SITEMAP_MAX_HOST_ERRORS": 5, "RETRY_TIMES": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 2}
        folder = tmp_path_factory.mktemp("broken")
        done = crawl(folder, settings=settings, sitemap=site.url(SITEMAP), verify="get", verify_offsite="yes")
        yield Verified(site, done)


def test_host_that_keeps_failing_is_left_alone(broken: Verified) -> None:
    asked = [path for path in MANY if broken.asked(path)]
    assert 5 <= len(asked) <= 6  # another request may run when the fifth one fails
    for path in MANY:
        reply = broken.reply(path)
        assert reply["kind"] in ("reset", "http-error") if path in asked else reply["reason"] == "stopped", reply


def test_other_hosts_are_asked_still(broken: Verified) -> None:
    elsewhere = [record for record in broken.crawl.of_type("url") if "localhost" in record["loc"]]
    assert len(elsewhere) == 4
    assert {record["reply"]["kind"] for record in elsewhere} == {"ok"}


def test_crawl_with_a_broken_host_ends_as_usual(broken: Verified) -> None:
    assert broken.crawl.code == 0
    assert "partial" not in broken.crawl.summary
    assert broken.crawl.summary["replies"] == counted(broken.crawl.of_type("url"))


def test_forbidden_url_is_not_asked(broken: Verified) -> None:
    reply = broken.reply("/private/a")
    assert (reply["kind"], reply["reason"]) == ("unchecked", "blocked")
    assert broken.asked("/private/a") == []
    assert not {"status", "attempts", "elapsed_ms", "final_url"} & reply.keys()
