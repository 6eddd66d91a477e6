"""What the server answers to crawlers: a firewall by user agent, and sites that treat everybody alike."""

from __future__ import annotations

import csv
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.verification.asking_as import MAX_PAGES
from tests.constants import constants
from tests.crawl.crawling import LOOPBACK, command, crawl, launch
from tests.crawl.documents import robots, urlset
from tests.crawl.many_sites import Program, Sites, visited
from tests.crawl.site_server import Reply, Route, SiteServer, by_agent, in_turn, moved, reset, stalled
from tests.crawl.verified import html, own_words

TIMEOUT_S = 1
SETTINGS = {"RETRY_TIMES": 0, **constants({"verification.asking_as.TIMEOUT_S": TIMEOUT_S})}
EARLY_S = 0.1
"""Seconds by which a request may seem to come too early: the server notes when it has read one, not when it was sent."""
OWN = "sitemapcrawler"
PAGE = "/page"
CLOUDFLARE = "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"


def text(name: str = PAGE, *head: str) -> Reply:
    """A page with a text of its own."""
    return html(*head, body=own_words(name))


def hostile(theirs: Route, token: str = "GPTBot", **more: Route) -> Program:
    """A site whose page gives one crawler another answer."""

    def program(site: SiteServer) -> None:
        site.routes = {
            "/robots.txt": robots(site.url("/sitemap.xml")),
            "/sitemap.xml": urlset(site.url(PAGE)),
            PAGE: by_agent(token, theirs, text()),
            **more,
        }

    return program


def everybody(reply: Callable[[int], Reply]) -> Program:
    """A site whose page has an answer for each request, by its number, whoever asks."""
    return lambda site: hostile("", **{PAGE: in_turn(map(reply, count()))})(site)


FIREWALL: dict[str, tuple[Program, str, str]] = {
    "403": (hostile(Reply("no", 403)), "refused", "403"),
    "401": (hostile(Reply("no", 401)), "refused", "401"),
    "404": (hostile(Reply("no", 404)), "refused", "404"),
    "451": (hostile(Reply("no", 451)), "refused", "451"),
    "429": (hostile(Reply("later", 429, {"Retry-After": "0"})), "refused", "429"),
    "503": (hostile(Reply("later", 503)), "refused", "503"),
    "challenge": (hostile(html(body=CLOUDFLARE)), "refused", "200, page of Cloudflare"),
    "mitigated": (hostile(Reply("x", 403, {"cf-mitigated": "challenge"})), "refused", "403, page of Cloudflare"),
    "price": (hostile(Reply("", 402, {"crawler-price": "USD 0.01"})), "payment", "402, price USD 0.01"),
    "meta": (hostile(text(PAGE, '<meta name="robots" content="noindex">')), "other-content", "noindex in the page"),
    "header": (
        hostile(html(body=own_words(PAGE), X_Robots_Tag="noindex")), "other-content", "noindex in the X-Robots-Tag header",
    ),
    "redirect": (hostile(moved("/other")), "other-content", "302, redirect to {site}/other"),
    "text": (hostile(text("/another text")), "other-content", "different text: 52 words; 52 for this crawl"),
    "short": (hostile(html(body="Please subscribe")), "other-content", "less text: 2 words; 52 for this crawl"),
    "empty": (hostile(Reply("", 200, {"Content-Type": "text/html"})), "other-content", "an empty body"),
    "canonical": (
        hostile(text(PAGE, '<link rel="canonical" href="/other">')), "other-content", "canonical {site}/other",
    ),
    "drip": (hostile(stalled(b"<p>wait")), "no-answer", "no answer in time"),
    "reset": (hostile(reset()), "no-answer", "the connection was closed before the answer was complete"),
}  # fmt: skip
"""{name of a site: (the site, verdict on GPTBot, note)}"""


PLAIN: dict[str, Program] = {
    "plain": hostile(text()),
    "counters": everybody(lambda number: html(body=f"{own_words(PAGE)} <p>{1000 + number} visitors.")),
    "random order": everybody(lambda number: html(body=own_words(f"order {number}"))),
    "bad moment": everybody(lambda number: text() if number == 0 else Reply("down", 500)),
    "other crawler": hostile(Reply("no", 403), token="PerplexityBot"),
}
"""Sites that treat GPTBot as everybody."""


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    programs = {name: program for name, (program, *_) in FIREWALL.items()} | PLAIN
    with visited(tmp_path_factory.mktemp("as"), programs, settings=SETTINGS | LOOPBACK, fetch_as="gptbot") as found:
        yield found


def answers(sites: Sites, name: str) -> list[dict[str, Any]]:
    start = sites.servers[name].url("/")
    return [record for record in sites.crawl.of_type("answer") if record["url"].startswith(start)]


RULE_OF = {
    "refused": "crawler-refused", "no-answer": "crawler-refused",
    "payment": "crawler-must-pay", "other-content": "crawler-gets-other-content",
}  # fmt: skip


@pytest.mark.parametrize(("name", "verdict", "note"), [(name, *told) for name, (_, *told) in FIREWALL.items()])
def test_firewall_by_agent_is_reported(sites: Sites, name: str, verdict: str, note: str) -> None:
    [answer] = answers(sites, name)
    assert (answer["crawler"], answer["verdict"]) == ("GPTBot", verdict)
    assert answer["note"] == note.format(site=sites.servers[name].url())
    found = [one for one in sites.findings(name) if one["rule"].startswith("crawler-")]
    assert [(one["rule"], one["value"]) for one in found] == [(RULE_OF[verdict], "GPTBot")]
    assert "GPTBot" in found[0]["message"]


@pytest.mark.parametrize("name", PLAIN)
def test_site_that_treats_all_alike_has_no_finding(sites: Sites, name: str) -> None:
    [answer] = answers(sites, name)
    assert answer["verdict"] == "same"
    assert [one for one in sites.findings(name) if one["rule"].startswith("crawler-")] == []


def test_summary_counts_pages_by_verdict(sites: Sites) -> None:
    [summed] = [one for one in sites.crawl.summary["crawlers"] if one.get("gets")]
    assert (summed["crawler"], summed["gets"], summed["difference"]) == ("GPTBot", "refused", "200, page of Cloudflare")
    verdicts = [verdict for _, verdict, _ in FIREWALL.values()] + ["same"] * len(PLAIN)
    assert summed["pages"] == {verdict: verdicts.count(verdict) for verdict in verdicts}


# ---- which pages, and how


def site_of_folders(site: SiteServer, rules: str = "") -> list[str]:
    """A site with ten pages in four folders; one of them is gone."""
    paths = [f"/{folder}/{number}" for folder in ("a", "b", "c", "d") for number in range(3)]
    site.routes = {
        "/robots.txt": robots(site.url("/sitemap.xml"), rules=rules.splitlines()),
        "/sitemap.xml": urlset(*map(site.url, paths), "https://foreign.example/page"),
        **{path: text(path) for path in paths if path != "/a/0"},
    }
    return paths


def requests(site: SiteServer, token: str) -> list[str]:
    """Paths requested by a user agent, without files that are not pages."""
    asked = [one for one in site.exchanges if token.lower() in one.headers["user-agent"].lower()]
    return [one.path for one in asked if one.path not in ("/robots.txt", "/sitemap.xml")]


def test_five_pages_of_several_folders_are_requested_once_as_each_crawler(tmp_path: Path) -> None:
    with SiteServer() as site:
        site_of_folders(site)
        options = ("-O", "answers.csv")
        crawl(tmp_path, *options, settings=SETTINGS, domain=site.url(), fetch_as="GPTBot,Bingbot", verify="get")
        asked = requests(site, "GPTBot")
        assert len(asked) == len(set(asked)) == 5
        assert len({path.split("/")[1] for path in asked}) == 4
        assert requests(site, "bingbot") == asked
        with (tmp_path / "answers.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [(row["crawler"], row["verdict"]) for row in rows] == [("GPTBot", "same"), ("Bingbot", "same")] * 5
        agents = {one.headers["user-agent"].partition("/")[0] for one in site.exchanges if one.path == "/robots.txt"}
        assert agents == {OWN}


def test_page_that_robots_denies_a_crawler_is_not_requested(tmp_path: Path) -> None:
    """Not even where the crawl itself does not obey robots.txt."""
    with SiteServer() as site:
        site_of_folders(
            site, "Allow: /\nUser-agent: GPTBot\nDisallow: /a/\nDisallow: /b/\nUser-agent: ClaudeBot\nDisallow: /"
        )
        settings = {**SETTINGS, "ROBOTSTXT_OBEY": "0"}
        done = crawl(tmp_path, settings=settings, domain=site.url(), fetch_as="GPTBot,ClaudeBot,Bingbot")
        assert all(path[:3] in ("/c/", "/d/") for path in requests(site, "GPTBot"))
        assert requests(site, "ClaudeBot") == []
        assert len(requests(site, "bingbot")) == 5
        denied = {answer["note"] for answer in done.of_type("answer") if answer["verdict"] == "not-asked"}
        assert any(note.startswith("robots.txt disallows it (line ") and "Disallow: /a/" in note for note in denied)
        assert [one["rule"] for one in done.of_type("finding") if one["rule"].startswith("crawler-")] == []
        assert {one["crawler"]: one["gets"] for one in done.summary["crawlers"] if one.get("gets")} == {
            "GPTBot": "same", "ClaudeBot": "not-asked", "Bingbot": "same",
        }  # fmt: skip


@pytest.mark.slow
def test_crawl_delay_of_the_crawler_is_kept(tmp_path: Path) -> None:
    with SiteServer() as site:
        site_of_folders(site, "Allow: /\nUser-agent: GPTBot\nCrawl-delay: 0.3")
        crawl(tmp_path, settings=SETTINGS, domain=site.url(), fetch_as="GPTBot")
        pages = [one for one in site.exchanges if one.path not in ("/robots.txt", "/sitemap.xml")]
        assert [one.headers["user-agent"].partition("/")[0] for one in pages[-2:]] == [OWN, "Mozilla"]
        assert pages[-1].at - pages[0].at > MAX_PAGES * 0.3 - EARLY_S


def test_crawler_that_is_told_to_wait_is_not_asked_again(tmp_path: Path) -> None:
    with SiteServer() as site:
        for path in site_of_folders(site):
            site.routes[path] = by_agent("GPTBot", Reply("", 429, {"Retry-After": "0"}), text(path))
        done = crawl(tmp_path, settings=SETTINGS, domain=site.url(), fetch_as="GPTBot")
        assert len(requests(site, "GPTBot")) == 1
        assert [one["verdict"] for one in done.of_type("answer")].count("not-asked") == 4


def test_http_cache_tells_crawlers_apart(tmp_path: Path) -> None:
    with SiteServer() as site:
        hostile(Reply("no", 403))(site)
        settings = {**SETTINGS, "HTTPCACHE_ENABLED": 1, "HTTPCACHE_DIR": str(tmp_path / "http")}
        for _ in range(2):
            done = crawl(tmp_path, settings=settings, domain=site.url(), fetch_as="GPTBot,Bingbot", verify="get")
            assert [one["verdict"] for one in done.of_type("answer")] == ["refused", "same"]


def test_search_engine_that_is_refused_is_an_error(tmp_path: Path) -> None:
    with SiteServer() as site:
        hostile(Reply("no", 403), token="bot")(site)
        site.routes[PAGE] = by_agent(OWN, text(), Reply("no", 403))
        done = crawl(tmp_path, settings=SETTINGS, domain=site.url(), fetch_as="Googlebot,GPTBot,Claude-User")
        told = {one["value"]: one["severity"] for one in done.of_type("finding") if one["rule"] == "crawler-refused"}
        assert told == {"Googlebot": "error", "GPTBot": "warning", "Claude-User": "warning"}


def test_each_crawler_that_the_server_begins_or_ceases_to_refuse_is_a_problem_of_its_own(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"fetch_as": "Googlebot,GPTBot,Claude-User"}
    refused = Reply("no", 403)
    with SiteServer() as site:
        hostile(by_agent("GPTBot", refused, by_agent("Claude-User", refused, text())), token="")(site)
        settings = {**SETTINGS, "JOBDIR": "first"}
        crawl(tmp_path, settings=settings, domain=site.url(), **arguments)
        site.routes[PAGE] = by_agent("GPTBot", refused, by_agent("Googlebot", refused, text()))
        done = crawl(tmp_path, settings=SETTINGS, domain=site.url(), baseline="first", **arguments)
    found = [one for one in done.of_type("change") if one.get("rule") == "crawler-refused"]
    told = {(one["change"], one.get("before"), one.get("after"), one["severity"]) for one in found}
    assert told == {
        ("new problem", None, "Googlebot", "error"), ("solved problem", "Claude-User", None, "warning"),
    }  # fmt: skip


@pytest.mark.slow
def test_stopped_crawl_that_goes_on_does_not_repeat_what_it_has_compared(tmp_path: Path) -> None:
    """`test_render.py` kills a crawl in this phase."""
    with SiteServer() as site:
        site_of_folders(site)
        arguments: dict[str, Any] = {"domain": site.url(), "fetch_as": "GPTBot,Bingbot"}
        kept = {"settings": {"RETRY_TIMES": 0, "JOBDIR": "job", "SITEMAP_STOP_GRACE": 0.1}, **arguments}
        *_, last = [one["url"] for one in crawl(tmp_path, settings=SETTINGS, **arguments).of_type("answer")]
        path = last.removeprefix(site.url())
        site.exchanges.clear()
        page, site.routes[path] = site.routes[path], stalled()
        log = tmp_path / "job" / "audit.duckdb.wal"
        with launch(tmp_path, command(**kept)) as running:
            site.wait_for(path)
            running.wait_until(lambda: log.exists() and log.read_bytes().count(b"bingbot/2.0") == 4)  # committed
            running.process.send_signal(signal.SIGTERM)
            running.process.wait()
        site.settle()
        site.routes[path] = page
        for _ in range(2):  # the rest; then from the database alone
            done = crawl(tmp_path, **kept)
            asked = requests(site, "GPTBot")
            assert (len(asked), asked[-1]) == (5, path)
            assert len(done.of_type("answer")) == 10
            assert [one["pages"] for one in done.summary["crawlers"] if one.get("pages")] == [{"same": 5}, {"same": 5}]
