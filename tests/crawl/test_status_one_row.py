"""What one URL, one host or one limit does to the others: nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import LOOPBACK, crawl
from tests.crawl.documents import page, robots, urlset
from tests.crawl.site_server import Exchange, Reply, SiteServer, moved, once, reset
from tests.crawl.verified import PATIENT, SITEMAP, Verified, counted, verifying


def test_url_that_no_client_takes_costs_its_own_row_alone(tmp_path: Path) -> None:
    odd = ["http://a[b@127.0.0.1/x", "http://\u2100@127.0.0.1/"]
    settings = {**PATIENT, **LOOPBACK}
    with verifying(tmp_path, {"/good": "a page"}, *odd, settings=settings, verify="head") as visit:
        assert visit.reply("/good")["kind"] == "ok"
        assert len(visit.crawl.of_type("url")) == 3
        assert all("reply" in record for record in visit.crawl.of_type("url"))


def slow_refusal(exchange: Exchange) -> None:
    """501 to HEAD, after a while."""
    if exchange.method == "HEAD":
        time.sleep(0.2)  # long enough for all to be under way at once
        exchange.head(501, Content_Length=0)
    else:
        exchange.head(200, Content_Length=0)


def test_host_that_refuses_head_is_not_left_alone(tmp_path: Path) -> None:
    pages = {f"/{number}": slow_refusal for number in range(40)}
    settings = {"CONCURRENT_REQUESTS": 40, "CONCURRENT_REQUESTS_PER_DOMAIN": 40, "RETRY_TIMES": 0}
    with verifying(tmp_path, pages, settings=settings, verify="head") as visit:
        assert visit.crawl.summary["replies"] == {"ok": 40}


def test_limit_of_urls_ends_the_reading_and_not_the_verifying(tmp_path: Path) -> None:
    pages = {f"/{number}": "a page" for number in range(20)}
    with verifying(tmp_path, pages, settings=PATIENT, verify="head", max_urls=5) as visit:
        assert visit.crawl.summary["replies"] == {"ok": 5}
        assert (visit.crawl.code, visit.crawl.summary["partial"]) == (3, "max_urls")


def test_silent_host_is_bad_in_a_sample_too(tmp_path: Path) -> None:
    gone = ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"]
    settings = {**PATIENT, **LOOPBACK}
    with verifying(tmp_path, {"/good": "a page"}, *gone, settings=settings, verify="head", sample="10") as visit:
        assert visit.crawl.summary["replies"] == {"ok": 1, "refused": 2}
        assert (visit.crawl.summary["bad"]["checked"], visit.crawl.summary["bad"]["bad"]) == (3, 2)
        assert visit.crawl.summary["indexability"] == {"unreachable": 2, "page not read": 1}


def test_robots_file_that_fails_once_does_not_condemn_its_host(tmp_path: Path) -> None:
    with SiteServer() as site, SiteServer() as other:
        pages = {f"/{number}": "a page" for number in range(8)}
        other.routes = {"/robots.txt": once(reset(b""), "User-agent: *\nDisallow: /private"), **pages}
        site.routes = {"/sitemap.xml": urlset(*map(other.url, pages))}
        settings = {**LOOPBACK, "SITEMAP_MAX_ROBOTS": 5}
        done = crawl(tmp_path, sitemap=site.url("/sitemap.xml"), verify="head", verify_offsite="yes", settings=settings)
        assert done.summary["replies"] == {"ok": 8}


def test_robots_files_of_strange_hosts_are_limited_over_all_batches(tmp_path: Path) -> None:
    with SiteServer() as site:
        hosts = [f"http://127.0.0.{number}:{site.place.rpartition(':')[2]}" for number in range(2, 30)]
        site.routes = {
            "/a.xml": urlset(*(f"{host}/" for host in hosts[:4])),
            "/b.xml": urlset(*(f"{host}/" for host in hosts[4:])),
        }
        named = f"{site.url('/a.xml')},{site.url('/b.xml')}"
        done = crawl(tmp_path, sitemap=named, settings={**LOOPBACK, "SITEMAP_MAX_ROBOTS": 3})
        assert len(done.of_type("robots")) == 1 + 3


# ---- a host that keeps failing, and what robots.txt forbids

ROBOTS = "/robots.txt"
MANY = [f"/fails/{number}" for number in range(30)]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    """A crawl of a host that begins to fail; of another one, a part fails, and of a third, nothing."""
    with SiteServer() as site, SiteServer(host="127.0.0.2") as part:
        part.routes = {path: Reply("", 500) for path in MANY} | {"/": moved("/en"), "/en": page(), "/last": page()}
        elsewhere = site.url().replace("127.0.0.1", "localhost")
        fine = ["/fine", "/fine/too"]
        site.routes = {path: reset() for path in MANY[:2]} | {path: Reply("", 500) for path in ["/en", *MANY[2:]]}
        site.routes["/"] = moved("/en")
        site.routes |= {path: page() for path in fine} | {ROBOTS: robots(rules=["Disallow: /private"])}
        locs = [*map(site.url, [*fine, "/private/a", *MANY]), *(f"{elsewhere}{path}" for path in [*fine, *fine])]
        site.routes[SITEMAP] = urlset(*locs, *map(part.url, [*MANY, "/last"]))
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


def test_host_of_which_a_part_fails_is_asked_still(broken: Verified) -> None:
    replies = {record["loc"]: record["reply"]["kind"] for record in broken.crawl.of_type("url")}
    (last,) = (loc for loc in replies if loc.endswith("/last"))
    assert replies[last] == "ok"
    assert {replies[last.replace("/last", path)] for path in MANY} == {"http-error"}


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
