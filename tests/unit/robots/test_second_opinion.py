"""Verdicts compared with protego's: which URLs, and for whom."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sitemapcrawler.robots import Policy, parse_agents, second_opinion
from sitemapcrawler.robots.second_opinion import MAX_URLS, Disagreement, SecondOpinion

from .saying import FILES, at, policy


def compared(robots: Policy, paths: Sequence[str], agents: str = "search,ai") -> list[Disagreement]:
    """The disagreements on URLs that were judged for these agents."""
    judged = parse_agents(agents)
    opinion = SecondOpinion(robots, judged)
    for url in map(at, paths):
        opinion.add([url], [] if all(robots.allows(url, agent) for agent in judged) else [url])
    return opinion.disagreements()


def found(text: str, *paths: str, agents: str = "search,ai") -> list[Disagreement]:
    return compared(policy(text), paths, agents)


@pytest.mark.parametrize(
    ("text", "path", "line", "allowed"),
    [
        ("User-agent: *\nDisallow: /x$", "/x$y", 2, True),
        ("User-agent: *\nDisallow: /x?y", "/x%3Fy", 2, True),
        ("User-agent: *\nDisallow: /?u=/x", "/?u=%2Fx", 2, False),
        ("User-agent: Googlebot/2.1\nDisallow: /x", "/x", 2, False),
        ("User-agent: *\nDisallowed: /x", "/x", 2, False),
        (
            "User-agent: *\nDisallow: /x\n\nUser-agent: Bingbot\nCrawl-delay: 1\nUser-agent: foo\nDisallow: /y",
            "/y",
            7,
            False,
        ),
    ],
)
def test_rule_that_protego_reads_otherwise(text: str, path: str, line: int | None, allowed: bool) -> None:
    [one] = found(text, "/", "/other", path)
    assert (one.rule and one.rule.line, one.allowed, one.url, one.is_alone) == (line, allowed, at(path), True)


@pytest.mark.parametrize("name", FILES)
def test_files_like_real_ones_are_read_alike(name: str) -> None:
    paths = ["/", "/search?q=1", "/wiki/Special:X", "/w/api.php?action=mobileview&x", "/cart", "/collections/a+b"]
    assert compared(policy(FILES[name]), paths) == []


def test_denied_urls_behind_many_others_are_compared() -> None:
    text = "User-agent: *\nDisallow: /?u=/x\nDisallow: /page$\n"
    others = [f"/{number}" for number in range(MAX_URLS)]
    [one] = found(text, *others, "/?u=%2Fx1", "/?u=%2Fx2", "/page$1")
    assert (one.url, one.is_alone, one.agent) == (at("/?u=%2Fx1"), False, "Googlebot")


def test_one_crawler_of_each_group_is_compared() -> None:
    text = "User-agent: *\nDisallow: /a\n\nUser-agent: Bingbot\nDisallow: /x$\n"
    [one] = found(text, "/x$y")
    assert one.agent == "Bingbot"
    assert found(text, "/x$y", agents="Googlebot") == []


def test_crawler_that_follows_anothers_group_is_compared_in_that_one() -> None:
    assert found("User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /b\n", "/a", agents="Applebot") == []


@pytest.mark.parametrize(
    "robots",
    [
        Policy.unreachable(at("/robots.txt"), "no answer"),
        Policy.from_response(at("/robots.txt"), 404, b"User-agent: *\nDisallow: /x$"),
        policy("User-agent: *\nDisallow: /x$\n" + "#" * 600_000),
    ],
)
def test_nothing_to_compare(robots: Policy) -> None:
    assert not compared(robots, ["/x$y"])


def test_crawlers_that_ignore_star_are_not_compared() -> None:
    assert found("User-agent: *\nDisallow: /\n", "/a", agents="AdsBot-Google") == []


@pytest.mark.parametrize(("agents", "rules", "is_parsed"), [(1600, 1600, False), (60, 300, True), (1, 8_000, True)])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_file_that_multiplies_agents_by_rules_is_not_parsed(
    agents: int, rules: int, is_parsed: bool, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = second_opinion.Protego.parse
    monkeypatch.setattr(second_opinion.Protego, "parse", lambda text: parsed.append(text) or parse(text))
    lines = [f"useragent: a{number}" for number in range(agents)] + [f"Disallow: /x{number}" for number in range(rules)]
    compared(policy(end.join(["User-agent: *", "Disallow: /x1", *lines])), ["/x1"])
    assert bool(parsed) is is_parsed


def test_more_rules_are_compared_on_fewer_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "MAX_TESTS", 30)
    rules = "".join(f"Disallow: /x{number}$\n" for number in range(9))
    [one, other] = found(f"User-agent: *\n{rules}", *(f"/x{number}$y" for number in range(9)))[:2]
    assert [one.url, other.url] == [at("/x0$y"), at("/x1$y")]
    assert len(found(f"User-agent: *\n{rules}", *(f"/x{number}$y" for number in range(9)))) == 3
