"""A host is asked no faster than it wants, and not at all while it has too much to do."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sitemapcrawler.settings import AUTOTHROTTLE_TARGET_CONCURRENCY, DOWNLOAD_DELAY
from tests.constants import constants
from tests.crawl.crawling import AT_HOME, DEADLINE_S, FEED, LOOPBACK, SOON_S, Crawl, crawl, launch
from tests.crawl.documents import page, robots, urlset
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, once
from tests.crawl.verified import SITEMAP, gaps, verifying

ROBOTS = "/robots.txt"
EARLY_S = 0.3
"""Seconds by which a request, or the last of a row, may seem to come too early: the server notes when it has read one, not
when it was sent."""
UNHURRIED: dict[str, object] = {"RETRY_TIMES": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
SIX = [f"/{number}" for number in range(6)]


def busy(after: str, status: int = 429) -> Reply:
    """An answer that asks to be left alone."""
    return Reply("", status, {"Retry-After": after})


def idle(exchange: Exchange, seconds: float) -> None:
    """Let an answer take its time."""
    exchange.connection.settimeout(seconds)
    with suppress(TimeoutError):
        exchange.connection.recv(1)  # nothing comes
    exchange.connection.settimeout(None)


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
    assert sum(waited) > len(waited) * seconds - EARLY_S
    assert sorted(waited)[len(waited) // 2] < seconds + 0.5
    assert done.summary["replies"] == {"ok": 2 * len(SIX)}


def test_delay_that_nobody_can_wait_for_is_capped(tmp_path: Path) -> None:
    settings = UNHURRIED | constants({"middlewares.politeness.MAX_CRAWL_DELAY": 0.5})
    pages: dict[str, Route] = {path: page() for path in SIX[:3]}
    hidden = {ROBOTS: robots(rules=["Crawl-delay: 3600"])}
    with verifying(tmp_path, pages, hidden=hidden, settings=settings, verify="head") as visit:
        waited = gaps(visit.exchanges(*pages))
        assert sum(waited) > len(waited) * 0.5 - EARLY_S
        assert visit.crawl.summary["replies"] == {"ok": 3}
        assert visit.crawl.seconds < SOON_S


# ---- what answers ask for

PAUSE_S = 2


def in_a_date() -> Reply:
    """Dates have whole seconds: the pause is up to one second shorter."""
    moment = datetime.now(UTC) + timedelta(seconds=PAUSE_S + 1)
    return busy(moment.strftime("%a, %d %b %Y %H:%M:%S GMT"), 503)


@pytest.mark.slow
def test_retry_after_is_waited_for_by_all_urls_of_the_host(tmp_path: Path) -> None:
    def refused_now(exchange: Exchange) -> None:
        once(in_a_date(), "")(exchange)

    pages: dict[str, Route] = {"/busy": once(refused_now, page()), **{path: page() for path in SIX[:3]}}
    settings = {"RETRY_TIMES": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    with verifying(tmp_path, pages, settings=settings, verify="head") as visit:
        refused, *others = visit.exchanges(*pages)
        assert refused.path == "/busy"
        assert others[0].at - refused.at > PAUSE_S - EARLY_S
        assert visit.asked("/busy") == ["HEAD", "HEAD"]
        assert (visit.reply("/busy")["kind"], visit.reply("/busy")["attempts"]) == ("ok", 2)
        assert gaps(others)[0] > 0.2  # the host is asked less often from then on, for a while
        assert visit.crawl.summary["replies"] == {"ok": len(pages)}


def test_pause_has_a_limit_and_errors_are_told(tmp_path: Path) -> None:
    pages: dict[str, Route] = {"/busy": busy("3600"), "/other": page()}
    settings = {
        "RETRY_TIMES": 1,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        **constants({"middlewares.adapted.MAX_PAUSE": 0.5, "middlewares.politeness.MAX_PAUSE": 0.5}),
    }
    with verifying(tmp_path, pages, settings=settings, verify="head") as visit:
        [first], [other] = visit.exchanges("/busy"), visit.exchanges("/other")
        assert 0.5 - EARLY_S < other.at - first.at < 10
        reply = visit.reply("/busy")
        assert (reply["kind"], reply["status"], reply["attempts"]) == ("http-error", 429, 1)
        assert visit.reply("/other")["kind"] == "ok"


# ---- requests that wait in Scrapy's slot

HELD_S = 2
DELAY_S = 0.3
AT_ONCE = 16
"""Requests."""
PAGES = [f"/page/{number}" for number in range(40)]


@dataclass
class Refusing:
    """Answers the first page with 429 once `in_flight` requests are here, and all others behind it; knows when."""

    in_flight: int
    slow_body: bool = False
    at: float = 0.0
    """When the answer was sent."""
    asked: list[float] = field(default_factory=list)
    _turn: threading.Condition = field(default_factory=threading.Condition)

    def __call__(self, exchange: Exchange) -> None:
        with self._turn:
            self.asked.append(exchange.at)
            self._turn.notify_all()
            refuses = len(self.asked) == 1
            ready = (lambda: len(self.asked) >= self.in_flight) if refuses else (lambda: self.at > 0)
            assert self._turn.wait_for(ready, DEADLINE_S)
            if refuses:
                self.at = time.monotonic()
                exchange.head(429, Retry_After=HELD_S, Content_Length=1 if self.slow_body else 0)
                self._turn.notify_all()
            elif not self.slow_body:
                exchange.head(Content_Length=0)
        if self.slow_body:
            exchange.wait_until_client_goes() if refuses else _answer_with(exchange)

    @property
    def during(self) -> list[float]:
        """Requests that came in the pause, in seconds since the answer."""
        return [at - self.at for at in self.asked if EARLY_S < at - self.at < HELD_S - EARLY_S]


def _answer_with(exchange: Exchange) -> None:
    exchange.head(Content_Length=4, Content_Type="text/html")
    exchange.send(b"page")


@pytest.mark.slow
@pytest.mark.parametrize(
    "delays", [{}, {"AUTOTHROTTLE_ENABLED": 1, "AUTOTHROTTLE_START_DELAY": DELAY_S}], ids=["no delay", "autothrottle"]
)
def test_nothing_is_sent_in_a_pause(tmp_path: Path, delays: dict[str, object]) -> None:
    refusing = Refusing(1 if delays else AT_ONCE)
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE, "RETRY_TIMES": 1, **delays}
    with SiteServer() as site:
        site.otherwise = refusing
        site.routes = {ROBOTS: robots(), SITEMAP: urlset(*map(site.url, PAGES))}
        crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP), verify="head", max_time=HELD_S + 3)
        assert refusing.during == []
        assert [at for at in refusing.asked if at - refusing.at > HELD_S - EARLY_S]  # it goes on


@pytest.mark.slow
def test_pause_begins_with_the_head_of_the_answer(tmp_path: Path) -> None:
    refusing = Refusing(1, slow_body=True)
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "RETRY_TIMES": 0, "DOWNLOAD_DELAY": DELAY_S}
    with SiteServer() as site:
        site.otherwise = refusing
        site.routes = {ROBOTS: robots(), SITEMAP: urlset(*map(site.url, PAGES))}
        settings |= {"DOWNLOAD_TIMEOUT": HELD_S + 1}
        crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP), verify="get", max_time=HELD_S + 6)
        assert refusing.during == []


# ---- the floor


@pytest.mark.slow
def test_host_that_was_not_named_is_asked_ten_times_a_second_at_most(tmp_path: Path) -> None:
    with SiteServer() as named, SiteServer(host="127.0.0.2") as other:
        paths = PAGES[:25]
        for site in (named, other):
            site.otherwise = page()
            site.routes = {ROBOTS: robots()}
        named.routes[SITEMAP] = urlset(*map(other.url, paths))
        settings = AT_HOME | LOOPBACK | {"SITEMAP_MAX_ROBOTS": 1, "AUTOTHROTTLE_ENABLED": "0"}
        words = ["crawl", "sitemap", "-O", FEED, "-a", f"sitemap={named.url(SITEMAP)}", "-a", "verify=head"]
        words += ["-a", "verify_offsite=yes", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16"]
        words += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        done = launch(tmp_path, [sys.executable, "-m", "sitemapcrawler.cli", *words]).finish()
        assert done.summary["replies"] == {"ok": len(paths)}
        waited = gaps(other.exchanges)
        assert len(waited) == len(paths)  # robots.txt counts too
        assert sum(waited) > len(waited) * 0.1
        assert max(sum(waited[at : at + 10]) for at in range(len(waited) - 9)) > 1
        assert min(sum(waited[at : at + 10]) for at in range(len(waited) - 9)) > 1 - EARLY_S


# ---- the first requests to a host

THROTTLED: dict[str, object] = {"AUTOTHROTTLE_ENABLED": 1, "DOWNLOAD_DELAY": DOWNLOAD_DELAY, "RETRY_TIMES": 0}
"""The delays by default, which then hold for this machine too."""
SLOW_S = 0.8
"""Response time of a slow host."""


def first_files(folder: Path, count: int, rules: Sequence[str] = (), **replies: Route) -> list[float]:
    """Seconds between the requests of a crawl of files that are not there, robots.txt first; but for `replies`."""
    with SiteServer() as site:
        site.routes = {ROBOTS: robots(rules=rules), **{f"/{name}": reply for name, reply in replies.items()}}
        site.routes[ROBOTS] = Reply("", 404) if not rules else site.routes[ROBOTS]
        paths = [*replies, *(f"none-{number}.xml" for number in range(count - len(replies)))]
        crawl(folder, settings=THROTTLED, sitemap=",".join(site.url(f"/{path}") for path in paths))
        assert sorted(site.paths) == sorted(f"/{path}" for path in paths)
        return gaps(site.exchanges)


@pytest.mark.slow
def test_small_site_is_read_at_nearly_ten_requests_a_second(tmp_path: Path) -> None:
    waited = first_files(tmp_path, 13, **{f"{number}.xml": urlset(f"/{number}") for number in range(13)})
    assert len(waited) * 0.1 - EARLY_S < sum(waited)
    assert sorted(waited)[len(waited) // 2] < 0.2


def slow(exchange: Exchange) -> None:
    """Answers after `SLOW_S`."""
    idle(exchange, SLOW_S)
    exchange.head(404, Content_Length=0)


@pytest.mark.slow
def test_delay_follows_the_response_time_from_the_first_answer_on(tmp_path: Path) -> None:
    files = {f"slow-{number}.xml": slow for number in range(9)}
    waited = first_files(tmp_path, len(files), **files)
    assert sum(waited[:5]) > SLOW_S - EARLY_S  # four files at once after robots.txt; the fifth waits for an answer
    usual = waited[5:]
    assert sum(usual) > len(usual) * SLOW_S / AUTOTHROTTLE_TARGET_CONCURRENCY - EARLY_S


@pytest.mark.slow
def test_delay_of_robots_holds_from_the_first_request_on(tmp_path: Path) -> None:
    waited = first_files(tmp_path, 3, rules=["Crawl-delay: 0.7"])
    assert sum(waited[1:]) > 2 * 0.7 - EARLY_S


# ---- several hosts


@pytest.fixture
def hosts(site: SiteServer) -> tuple[str, str]:
    """Two hosts by their origins, of one server."""
    site.routes = {ROBOTS: robots()}
    return site.url(), site.url().replace("127.0.0.1", "localhost")


def of_host(site: SiteServer, name: str, paths: Sequence[str] = SIX) -> list[Exchange]:
    return [
        exchange for exchange in site.exchanges if exchange.headers["host"].startswith(name) and exchange.path in paths
    ]


@pytest.mark.slow
def test_host_that_pauses_does_not_stop_others(site: SiteServer, hosts: tuple[str, str], tmp_path: Path) -> None:
    pausing, other = hosts
    site.routes |= {"/0": once(busy(str(PAUSE_S)), page()), **{path: page() for path in SIX[1:]}}
    paths = [f"{pausing}/0", *(f"{other}{path}" for path in SIX[1:]), f"{pausing}/1"]
    site.routes[SITEMAP] = urlset(*paths)
    settings = LOOPBACK | {"RETRY_TIMES": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    done = crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP), verify="head", verify_offsite="yes")
    assert done.summary["replies"] == {"ok": len(paths)}
    refused, *later = of_host(site, "127.0.0.1")
    assert all(exchange.at - refused.at < PAUSE_S - EARLY_S for exchange in of_host(site, "localhost"))
    assert all(exchange.at - refused.at > PAUSE_S - EARLY_S for exchange in later)


@pytest.mark.slow
def test_redirected_request_keeps_the_delay_of_its_new_host(
    site: SiteServer, hosts: tuple[str, str], tmp_path: Path
) -> None:
    named, other = hosts
    site.routes[ROBOTS] = per_host({"127.0.0.1": robots(), "localhost": robots(rules=["Crawl-delay: 0.4"])})
    for number, path in enumerate(SIX):
        site.routes[path] = Reply("", 301, {"Location": f"{other}/new/{number}"})
        site.routes[f"/new{path}"] = page()
    site.routes[SITEMAP] = urlset(*(f"{named}{path}" for path in SIX))
    done = crawl(tmp_path, settings=UNHURRIED | LOOPBACK, sitemap=site.url(SITEMAP), verify="head")
    assert done.summary["replies"] == {"redirected": len(SIX)}
    waited = gaps(of_host(site, "localhost", [f"/new{path}" for path in SIX]))
    assert len(waited) == len(SIX) - 1
    assert sum(waited) > len(waited) * 0.4 - EARLY_S


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
        idle(exchange, 0.15)
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
