"""Rules on a robots.txt that has changed since the baseline."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import ChangedVerdict, RobotsChange
from sitemapcrawler.jobs.changes import robots_rows
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.robots import Policy, parse_agents
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.robots_changes import MAX_LINES, MAX_VERDICTS, in_words, robots_changes
from sitemapcrawler.rules.facts.site import SiteFacts

from .sites import HOME, RULES, Site, page

CHANGED, SITEMAPS = "robots-rules-changed", "robots-sitemaps-changed"
ROBOTS = f"{HOME}/robots.txt"
LISTED = ["/", "/a/1", "/a/2", "/b/1", "/A%2fB"]
NO_RULES = "User-agent: *\nAllow: /"


def policy(text: str, url: str = ROBOTS) -> Policy:
    return Policy.from_response(url, 200, text.encode())


def judged(before: str, now: str, agents: str = "search,ai", listed: list[str] = LISTED) -> Any:
    """The change of a robots.txt, and the findings on it as (rule, severity, message)."""
    records = [page(path) for path in listed]
    site = Site(*records, choice=Choice(RULES, select=("robots",)))
    facts = SiteFacts(rows_of(site.connection.cursor()), baseline=site.earlier(*records))
    policies = ({HOME: policy(before)}, {HOME: policy(now)})
    facts.robots_changes = robots_changes(facts, *policies, parse_agents(agents) if agents else [])
    found = [(one.rule, str(one.severity), one.message) for one in site.judge.site(facts) if one.sitemap == ROBOTS]
    return (facts.robots_changes or [None])[0], found


@pytest.mark.parametrize(
    ("agent", "rule", "severity"),
    [
        ("*", "Disallow: /a/", "warning"),
        ("Googlebot", "Disallow: /a/", "warning"),
        ("GPTBot", "Disallow: /", "info"),
        ("*", "Disallow: /none/", "info"),
        ("*", "Disallow: /", "error"),
        ("Bingbot", "Disallow: /", "error"),
        ("YandexBot", "Disallow: /", "warning"),
    ],
)
def test_severity_by_crawlers_and_listed_urls(agent: str, rule: str, severity: str) -> None:
    _, [(found, given, _)] = judged(NO_RULES, f"User-agent: {agent}\n{rule}")
    assert (found, given) == ("robots-rules-changed", severity)


def test_numbers_by_crawler() -> None:
    before = "User-agent: *\nDisallow: /b/\nUser-agent: Bingbot\nDisallow: /x"
    now = "User-agent: *\nDisallow: /a/\nDisallow: /A/B\nUser-agent: Bingbot\nDisallow: /x"
    change, _ = judged(before, now, "Googlebot,Bingbot,GPTBot,ClaudeBot")
    assert change.compared == len(LISTED)
    assert change.blocked == {"Googlebot": 2, "GPTBot": 2, "ClaudeBot": 2}
    assert change.allowed == {"Googlebot": 1, "GPTBot": 1, "ClaudeBot": 1}
    names = ["Googlebot", "GPTBot", "ClaudeBot"]
    assert change.verdicts == [
        ChangedVerdict("blocked", 2, names, "Disallow: /a/", f"{HOME}/a/1"),
        ChangedVerdict("allowed", 1, names, "Disallow: /b/", f"{HOME}/b/1"),
    ]


def test_rule_that_changes_no_listed_url_is_named() -> None:
    _, [(_, _, message)] = judged(NO_RULES, f"{NO_RULES}\nDisallow: /none/")
    assert message == "1 rule added (`Disallow: /none/ (*)`); no listed URL is newly blocked or allowed"


def test_sitemap_lines_alone() -> None:
    change, found = judged(f"{NO_RULES}\nSitemap: /a.xml", f"{NO_RULES}\nSitemap: /b.xml\nSitemap: /c.xml")
    text = f"added: `{HOME}/b.xml`, `{HOME}/c.xml`, removed: `{HOME}/a.xml`"
    assert found == [("robots-sitemaps-changed", "info", text)]
    assert in_words(change) == f"Sitemap lines {text}"
    assert change.compared == 0


def test_many_rules_are_kept_in_part() -> None:
    rules = "\n".join(f"Disallow: /{number}/" for number in range(3 * MAX_LINES))
    change, [(_, _, message)] = judged(
        NO_RULES, f"{NO_RULES}\n{rules}", listed=[f"/{number}/" for number in range(3 * MAX_LINES)]
    )
    assert (change.rules_added, len(change.added)) == (3 * MAX_LINES, MAX_LINES)
    assert change.blocked["Googlebot"] == 3 * MAX_LINES
    assert len(change.verdicts) == MAX_VERDICTS
    assert f"and {3 * MAX_LINES - 3} more)" in message
    assert len(message) < 1000


def test_no_crawler_to_judge_for() -> None:
    change, [(_, severity, message)] = judged(NO_RULES, f"{NO_RULES}\nDisallow: /a/", agents="")
    assert (severity, message) == ("info", "1 rule added (`Disallow: /a/ (*)`)")
    assert change.compared == 0


def test_rows_of_changes() -> None:
    change, _ = judged(f"{NO_RULES}\nDisallow: /b/", f"{NO_RULES}\nDisallow: /a/\nSitemap: /a.xml", "Googlebot")
    rows = [(row["what"], row.get("before"), row["after"]) for row in robots_rows(change)]
    assert rows == [
        ("rules", "Disallow: /b/ (*)", "Disallow: /a/ (*)"),
        ("sitemaps", "none", f"{HOME}/a.xml"),
        ("blocked", None, f"Googlebot: 2 listed URLs newly blocked by `Disallow: /a/`, such as {HOME}/a/1"),
        ("allowed", None, "Googlebot: 1 listed URL newly allowed, which was blocked by `Disallow: /b/`, "
         f"such as {HOME}/b/1"),
    ]  # fmt: skip
    unread = RobotsChange(ROBOTS, not_compared="it was unreachable in this crawl (timeout)")
    assert [row["after"] for row in robots_rows(unread)] == [f"not compared: {unread.not_compared}"]
