"""A host is asked no faster than it wants, and not at all while it has too much to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import page, robots, urlset
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, once
from tests.crawl.verified import SITEMAP, gaps, verifying

ROBOTS = "/robots.txt"
EARLY_S = 0.03
"""Seconds by which a request may seem to come too early: the server notes when it has read it, not when it was sent."""
UNHURRIED: dict[str, object] = {"RETRY_TIMES": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
SIX = [f"/{number}" for number in range(6)]


def busy(after: str, status: int = 429) -> Reply:
    """An answer that asks to be left alone."""
    return Reply("", status, {"Retry-After": after})


def per_host(routes: dict[str, Route]) -> Route:
    """A reply for each name by which the server is asked."""

    def route(exchange: Exchange) -> None:
        name = exchange.headers["host"].partition(":")[0]
        once(routes[name], "")(exchange)

    return route


# ---- what robots.txt asks for


@pytest.fixture(scope="module")
def asked_to_be_slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SiteServer, Crawl]]:
    """A crawl of two hosts, of which one names a delay and the other one a rate."""
    with SiteServer() as site:
        names = {"127.0.0.1": site.url(), "localhost": site.url().replace("127.0.0.1", "localhost")}
        rules = {"127.0.0.1": robots(rules=["Crawl-delay: 0.4"]), "localhost": robots(rules=["Request-rate: 4/1s"])}
        site.routes = {ROBOTS: per_host(dict(rules)), **{path: page() for path in SIX}}
        lists = {name: urlset(*(f"{origin}{path}" for path in SIX)) for name, origin in names.items()}
        site.routes[SITEMAP] = per_host(dict(lists))
        sitemaps = ",".join(f"{origin}{SITEMAP}" for origin in names.values())
        folder = tmp_path_factory.mktemp("slow")
        yield site, crawl(folder, settings=UNHURRIED | LOOPBACK, sitemap=sitemaps, verify="head")


@pytest.mark.parametrize(("name", "seconds"), [("127.0.0.1", 0.4), ("localhost", 0.25)])
def test_delay_of_robots_is_kept(asked_to_be_slow: tuple[SiteServer, Crawl], name: str, seconds: float) -> None:
    site, done = asked_to_be_slow
    of_host = [exchange for exchange in site.exchanges if exchange.headers["host"].startswith(name)]
    assert sorted(exchange.path for exchange in of_host if exchange.path in SIX) == SIX
    waited = gaps(exchange for exchange in of_host if exchange.path != ROBOTS)
    assert len(waited) == len(SIX)
    assert min(waited) > seconds - EARLY_S
    assert sorted(waited)[len(waited) // 2] < seconds + 0.5
    assert done.summary["replies"] == {"ok": 2 * len(SIX)}


def test_delay_that_nobody_can_wait_for_is_capped(tmp_path: Path) -> None:
    settings = UNHURRIED | {"SITEMAP_MAX_CRAWL_DELAY": 0.2}
    pages: dict[str, Route] = {path: page() for path in SIX[:3]}
    hidden = {ROBOTS: robots(rules=["Crawl-delay: 3600"])}
    with verifying(tmp_path, pages, hidden=hidden, settings=settings, verify="head") as visit:
        assert min(gaps(visit.exchanges(*pages))) > 0.2 - EARLY_S
        assert visit.crawl.summary["replies"] == {"ok": 3}
        assert visit.crawl.seconds < 30


# ---- what answers ask for

PAUSE_S = 2


def in_seconds() -> Reply:
    return busy(str(PAUSE_S))


def in_a_date() -> Reply:
    """Dates have whole seconds: the pause is up to one second shorter."""
    moment = datetime.now(UTC) + timedelta(seconds=PAUSE_S + 1)
    return busy(moment.strftime("%a, %d %b %Y %H:%M:%S GMT"), 503)


@pytest.mark.parametrize("refusal", [in_seconds, in_a_date])
def test_retry_after_is_waited_for_by_all_urls_of_the_host(tmp_path: Path, refusal: Callable[[], Reply]) -> None:
    def refused_now(exchange: Exchange) -> None:
        once(refusal(), "")(exchange)

    pages: dict[str, Route] = {"/busy": once(refused_now, page()), **{path: page() for path in SIX[:3]}}
    settings = {"RETRY_TIMES": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    with verifying(tmp_path, pages, settings=settings, verify="head") as visit:
        refused, *others = visit.exchanges(*pages)
        assert refused.path == "/busy"
        assert others[0].at - refused.at > PAUSE_S - EARLY_S
        assert visit.asked("/busy") == ["HEAD", "HEAD"]
        assert (visit.reply("/busy")["kind"], visit.reply("/busy")["attempts"]) == ("ok", 2)
        assert gaps(others)[0] > 0.35  # the host is asked less often from then on, for a while
        assert visit.crawl.summary["replies"] == {"ok": len(pages)}


def test_pause_has_a_limit_and_errors_are_told(tmp_path: Path) -> None:
    pages: dict[str, Route] = {"/busy": busy("3600"), "/other": page()}
    settings = {"RETRY_TIMES": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "SITEMAP_MAX_RETRY_AFTER": 0.5}
    with verifying(tmp_path, pages, settings=settings, verify="head") as visit:
        first, again = visit.exchanges("/busy")
        assert 0.5 - EARLY_S < again.at - first.at < 10
        reply = visit.reply("/busy")
        assert (reply["kind"], reply["status"], reply["attempts"]) == ("http-error", 429, 2)
        assert visit.reply("/other")["kind"] == "ok"


# ---- how many at once


class Gauge:
    """Answers slowly, and knows how many requests were there at once."""

    def __init__(self) -> None:
        self.most: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, exchange: Exchange) -> None:
        name = exchange.headers["host"].partition(":")[0]
        self._count(name, 1)
        exchange.connection.settimeout(0.15)
        try:
            exchange.connection.recv(1)  # nothing comes: it takes its time
        except TimeoutError:
            exchange.connection.settimeout(None)
        self._count(name, -1)
        exchange.head(Content_Length=0)

    def _count(self, name: str, change: int) -> None:
        with self._lock:
            self._now[name] = self._now.get(name, 0) + change
            self.most[name] = max(self.most.get(name, 0), self._now[name])


def test_hosts_are_asked_at_once_and_each_by_few_requests(site: SiteServer, tmp_path: Path) -> None:
    gauge, paths = Gauge(), [f"/{number}" for number in range(12)]
    site.otherwise = gauge
    names = [site.url(), site.url().replace("127.0.0.1", "localhost")]
    site.routes = {SITEMAP: urlset(*(f"{name}{path}" for path in paths for name in names)), ROBOTS: robots()}
    settings = LOOPBACK | {"CONCURRENT_REQUESTS_PER_DOMAIN": 3, "CONCURRENT_REQUESTS": 16}
    done = crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP), verify="head", verify_offsite="yes")
    assert done.summary["replies"] == {"ok": 24}
    assert gauge.most == {"127.0.0.1": 3, "localhost": 3}
