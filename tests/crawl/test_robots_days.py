"""A robots.txt that changes from day to day, and the listed URLs that this blocks or allows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawl.crawling import FEED, Crawl
from tests.crawl.days import JOBDIR, ONCE, Days, on, urlset_of, xml
from tests.crawl.site_server import Reply, SiteServer

SHOP = [f"/shop/{number}" for number in range(30)]
PAGES = ["/", "/about", "/old/page", *SHOP]
RULES, SITEMAPS = "robots-rules-changed", "robots-sitemaps-changed"
MONDAY = """\
User-agent: *
Disallow: /old/
Disallow: /gr%c3%b6%C3%9fe
Disallow: /tmp
"""
SAME = """\
# Written by hand
USER-AGENT: *
disallow:/tmp # no pages
Disallow:   /größe

user-agent: *
Disallow: /old/
Disallow: /old/
"""
TUESDAY = """\
User-agent: *
Disallow: /tmp
Disallow: /größe

User-agent: Googlebot
User-agent: bingbot
Disallow: /shop/
Disallow: /tmp
"""


def publish(site: SiteServer, rules: str, *more: str) -> None:
    site.routes["/robots.txt"] = Reply("".join(f"{line}\n" for line in (rules, *more)))
    site.routes["/a.xml"] = site.routes["/b.xml"] = xml(urlset_of(site, on("2024-05-06", PAGES)))


def told(done: Crawl, rule: str) -> list[tuple[str, str]]:
    """(severity, message) of its findings."""
    return [(one["severity"], one["message"]) for one in done.of_type("finding") if one["rule"] == rule]


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    """A site, crawled on Monday."""
    with SiteServer() as site:
        days = Days(site, tmp_path_factory.mktemp("days"))
        publish(site, MONDAY, f"Sitemap: {site.url('/a.xml')}")
        days.crawl("monday")
        yield days


def test_other_spelling_and_order_is_no_change(days: Days) -> None:
    publish(days.site, SAME, f"sitemap: {days.site.url('/a.xml')}")
    done = days.crawl("same", before=f"monday/{JOBDIR}")
    assert told(done, RULES) == told(done, SITEMAPS) == []
    assert "robots" not in done.summary["changes"]
    assert done.of_type("change") == []


def test_rule_that_blocks_listed_urls_for_search_engines(days: Days) -> None:
    publish(days.site, TUESDAY, f"Sitemap: {days.site.url('/b.xml')}")
    done = days.crawl("tuesday", before=f"monday/{JOBDIR}", agents="Googlebot,bingbot,YandexBot,GPTBot")
    [(severity, message)] = told(done, RULES)
    assert severity == "warning"
    assert message == (
        "2 rules added (`Disallow: /tmp (Googlebot, Bingbot)`, `Disallow: /shop/ (Googlebot, Bingbot)`), "
        "1 removed (`Disallow: /old/ (*)`); "
        "Googlebot, Bingbot: 30 listed URLs newly blocked by `Disallow: /shop/`; "
        "Googlebot, Bingbot, YandexBot, GPTBot: 1 listed URL newly allowed, which was blocked by `Disallow: /old/`"
    )
    [change] = done.summary["changes"]["robots"]
    assert change["compared"] == len(PAGES)
    assert change["blocked"] == {"Googlebot": 30, "Bingbot": 30}
    assert change["allowed"] == dict.fromkeys(("Googlebot", "Bingbot", "YandexBot", "GPTBot"), 1)
    urls = [days.site.url(path) for path in ("/a.xml", "/b.xml")]
    assert told(done, SITEMAPS) == [("info", f"added: `{urls[1]}`, removed: `{urls[0]}`")]
    rows = [
        (row["what"], row.get("before"), row["after"])
        for row in done.of_type("change")
        if row["change"] == "robots.txt"
    ]
    assert [what for what, _, _ in rows] == ["rules", "sitemaps", "blocked", "allowed"]
    assert rows[1] == ("sitemaps", *urls)


def test_site_that_is_closed_to_a_search_engine(days: Days) -> None:
    publish(days.site, "User-agent: *\nDisallow: /", f"Sitemap: {days.site.url('/a.xml')}")
    done = days.crawl("closed", before=f"monday/{JOBDIR}")
    [(severity, message)] = told(done, RULES)
    assert severity == "error"
    assert message.startswith("Googlebot and Bingbot may no longer fetch anything; 1 rule added (`Disallow: / (*)`)")
    [change] = done.summary["changes"]["robots"]
    assert change["blocked"]["Googlebot"] == len(PAGES) - 1  # though the sitemap may not be read any more


def test_unreachable_robots_is_no_change_of_rules(days: Days) -> None:
    days.site.routes["/robots.txt"] = Reply("", 503)
    settings = {**ONCE, "ROBOTSTXT_OBEY": False}
    named = {"domain": None, "sitemap": days.site.url("/a.xml")}
    done = days.crawl("down", before=f"monday/{JOBDIR}", settings=settings, force="yes", **named)
    assert told(done, RULES) == told(done, SITEMAPS) == []
    [change] = done.summary["changes"]["robots"]
    assert change["not_compared"] == "it was unreachable in this crawl (HTTP status 503)"
    assert (change["rules_removed"], change.get("sitemaps_removed", [])) == (0, [])
    publish(days.site, MONDAY)
    done = days.crawl("up", before=f"down/{JOBDIR}", keep=False, force="yes", **named)
    [change] = done.summary["changes"]["robots"]
    assert change["not_compared"] == "it was unreachable in the previous crawl (HTTP status 503)"


def test_folder_of_a_report_as_baseline(days: Days) -> None:
    publish(days.site, MONDAY, f"Sitemap: {days.site.url('/a.xml')}")
    days.crawl("report", report="audit", keep=False)
    publish(days.site, TUESDAY, f"Sitemap: {days.site.url('/a.xml')}")
    done = days.crawl("after", before="report/audit", report="audit", keep=False, agents="Googlebot,Bingbot")
    [(severity, message)] = told(done, RULES)
    assert (severity, "30 listed URLs newly blocked by `Disallow: /shop/`" in message) == ("warning", True)
    page = (days.folder / "after" / "audit" / "report.html").read_text("utf-8")
    assert "Googlebot, Bingbot: 30 listed URLs newly blocked by `Disallow: /shop/`" in page


def test_new_robots_is_compared_with_the_report_of_a_site_without_one(days: Days) -> None:
    publish(days.site, MONDAY)
    days.site.routes["/robots.txt"] = Reply("", 404)
    settings, named = {**ONCE}, {"domain": None, "sitemap": days.site.url("/a.xml")}
    days.crawl("without", report="audit", keep=False, settings=settings, **named)
    publish(days.site, "User-agent: *\nDisallow: /shop/")
    done = days.crawl("first", before="without/audit", keep=False, settings=settings, **named)
    [(severity, message)] = told(done, RULES)
    assert (severity, message.partition("; ")[0]) == ("warning", "1 rule added (`Disallow: /shop/ (*)`)")


def test_feed_as_baseline_says_nothing_of_rules(days: Days) -> None:
    publish(days.site, TUESDAY, f"Sitemap: {days.site.url('/b.xml')}")
    done = days.crawl("feed", before=f"monday/{FEED}", force="yes")
    assert told(done, RULES) == told(done, SITEMAPS) == []
