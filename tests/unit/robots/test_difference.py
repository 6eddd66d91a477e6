"""What counts as a change of robots.txt."""

from __future__ import annotations

import pytest

from sitemapcrawler.robots import Policy
from sitemapcrawler.rules.facts.robots_changes import RobotsDifference, difference, has_rules

URL = "https://example.com/robots.txt"
BEFORE = "User-agent: *\nDisallow: /a\nDisallow: /gr%C3%B6%c3%9fe$\nSitemap: https://example.com/sitemap.xml\n"


def policy(text: str, status: int = 200) -> Policy:
    return Policy.from_response(URL, status, text.encode())


@pytest.mark.parametrize(
    "now",
    [
        "\ufeff# comment\n\nUSER-AGENT:*\ndisallow :  /a # all\nDisallow: /größe$\nSITEMAP: https://example.com/sitemap.xml",
        "Sitemap: /sitemap.xml\nUser-agent: *\nDisallow: /gr%c3%b6%c3%9fe$\nUser-agent: *\nDisallow: /a\nDisallow: /a",
        BEFORE + "Disallow: never-matches\nDisallow:\nCrawl-delay: 2\nSitemap: https://EXAMPLE.com:443/sitemap.xml\n",
    ],
    ids=["comments, spaces, case and escapes", "order and two groups", "lines without effect"],
)
def test_other_text_with_the_same_rules(now: str) -> None:
    assert not difference(policy(BEFORE), policy(now))
    assert not difference(policy(now), policy(BEFORE))


@pytest.mark.parametrize(
    ("more", "added"),
    [
        ("Disallow: /b", ["Disallow: /b (*)"]),
        ("Allow: /a", ["Allow: /a (*)"]),
        ("User-agent: GPTBot\nuser-agent: my-bot\nDisallow: /a", ["Disallow: /a (GPTBot, my-bot)"]),
        ("User-agent: GPTBot\nDisallow:", ["no rule (GPTBot)"]),
        ("Disallow: /a%2Fb", ["Disallow: /a%2Fb (*)"]),
        ("Disallow: /a$", ["Disallow: /a$ (*)"]),
    ],
    ids=["new rule", "Allow of the same path", "other crawlers", "group without rules", "escaped slash", "end of path"],
)
def test_added_rules(more: str, added: list[str]) -> None:
    before, now = policy(BEFORE), policy(f"{BEFORE}{more}\n")
    assert list(map(str, difference(before, now).added)) == added
    assert list(map(str, difference(now, before).removed)) == added
    assert not difference(before, now).removed


@pytest.mark.parametrize("agent", ["*", "GPTBot"])
def test_first_rule_of_a_group_is_one_change(agent: str) -> None:
    empty, closed = policy(f"User-agent: {agent}\nDisallow:\n"), policy(f"User-agent: {agent}\nDisallow: /\n")
    for before, now, told in ((empty, closed, "added"), (closed, empty, "removed")):
        found = difference(before, now)
        assert [str(rule) for rule in (*found.added, *found.removed)] == [f"Disallow: / ({agent})"]
        assert getattr(found, told)


def test_rule_that_google_alone_reads() -> None:
    [rule] = difference(policy(BEFORE), policy(BEFORE.replace("Sitemap", "Disallowed: /b\nSitemap"))).added
    assert str(rule) == "Disallow: /b (*)"


def test_missing_file_has_no_rules() -> None:
    found = difference(policy(BEFORE), policy("", 404))
    assert [rule.text for rule in found.removed] == ["Disallow: /a", "Disallow: /gr%C3%B6%c3%9fe$"]
    assert found.sitemaps_removed == ("https://example.com/sitemap.xml",)
    assert difference(policy("", 404), policy("", 410)) == RobotsDifference()


@pytest.mark.parametrize(("status", "known"), [(200, True), (404, True), (403, True), (429, False), (503, False)])
def test_status_that_leaves_the_rules_unknown(status: int, known: bool) -> None:
    assert has_rules(policy(BEFORE, status)) is known
    assert not has_rules(Policy.unreachable(URL, "timeout"))
