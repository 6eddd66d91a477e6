"""Verdicts compared with protego's: which URLs, for whom, and in how much time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sitemapcrawler.robots import Policy, parse_agents, second_opinion
from sitemapcrawler.robots.second_opinion import START_S, Budget, Disagreement, SecondOpinion

from .saying import FILES, at, policy

AMPLE = 1e12
"""A share that is never spent."""


def compared(robots: Policy, paths: Sequence[str], agents: str = "search,ai", share: float = AMPLE) -> SecondOpinion:
    """The comparison for URLs that were judged for these agents."""
    judged = parse_agents(agents)
    opinion = SecondOpinion(robots, judged, Budget(share, start_s=0))
    urls = [at(path) for path in paths]
    blocked = [(url, tuple(agent.name for agent in judged if not robots.allows(url, agent))) for url in urls]
    opinion.add(urls, [one for one in blocked if one[1]])
    return opinion


def found(text: str | bytes, *paths: str, agents: str = "search,ai") -> list[Disagreement]:
    return list(compared(policy(text), paths, agents).found.values())


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
    assert (one.rule and one.rule.line, one.allowed, one.url, one.urls) == (line, allowed, at(path), 1)


@pytest.mark.parametrize("name", FILES)
def test_files_like_real_ones_are_read_alike(name: str) -> None:
    paths = [
        "/",
        "/search?q=1",
        "/wiki/Special:X",
        "/w/api.php?action=mobileview&x",
        "/cart",
        "/collections/a+b",
        "/x.pdf",
    ]
    assert found(FILES[name], *paths) == []


def test_every_denied_url_is_compared_and_one_is_named() -> None:
    paths = [f"/?u=%2Fx{number}" for number in range(50)]
    [one] = found("User-agent: *\nDisallow: /?u=/x", *paths)
    assert (one.url, one.urls, one.agent) == (at(paths[0]), 50, "Googlebot")


def test_allowed_urls_are_sampled_for_each_rule() -> None:
    text = "User-agent: *\nDisallow: /page$\nDisallow: /shop$\n"
    paths = [f"/{name}$ {number}" for name in ("page", "shop") for number in range(20)] + ["/other$"]
    assert [(one.rule and one.rule.line, one.urls) for one in found(text, *paths)] == [(2, 3), (3, 3)]


def test_one_crawler_of_each_group_is_asked() -> None:
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
    assert not compared(robots, ["/x$y"]).found


def test_crawlers_that_ignore_star_are_not_compared() -> None:
    assert found("User-agent: *\nDisallow: /\n", "/a", agents="AdsBot-Google") == []


def test_nothing_is_compared_without_time_and_all_of_it_later() -> None:
    clock = iter([0.0, 0.0, *[1e9] * 100_000])
    opinion = SecondOpinion(
        policy("User-agent: *\nDisallow: /x$"), parse_agents("Googlebot"), Budget(1, lambda: next(clock), start_s=0)
    )
    opinion.add([at("/x$y")], [])
    assert not opinion.found
    opinion.compare()
    assert len(opinion.found) == 1


def test_time_is_a_share_of_what_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    now, cpu = [100.0], [5.0]
    monkeypatch.setattr(second_opinion.time, "thread_time", lambda: cpu[0])
    budget = Budget(clock=lambda: now[0])
    assert budget.remaining == START_S
    now[0] += 200
    assert budget.remaining == pytest.approx(START_S + 2)
    with budget:
        cpu[0] += 1.5
        assert budget.remaining == pytest.approx(START_S + 0.5)
    cpu[0] += 100
    assert budget.remaining == pytest.approx(START_S + 0.5)


def test_slow_start_finds_the_rule_of_a_small_site() -> None:
    """Parsing alone takes longer than a share of no time at all."""
    opinion = SecondOpinion(
        policy("User-agent: *\nDisallow: /x$"), parse_agents("Googlebot"), Budget(clock=lambda: 0.0)
    )
    opinion.add([at("/x$y")], [])
    [one] = opinion.found.values()
    assert one.rule is not None and one.rule.line == 2


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "MAX_WAITING", 3)
    opinion = compared(policy("User-agent: *\nDisallow: /a\n"), [f"/a{number}" for number in range(9)], share=-1)
    assert len(opinion._denied) == 3


def agents_and_rules(agents: int, rules: int, groups: int = 1) -> bytes:
    """A robots.txt of groups with as many User-agent and Disallow lines each."""
    names = "".join(f"User-agent: a{number}\n" for number in range(agents))
    lines = "".join(f"Disallow: /x{number}\n" for number in range(rules))
    return f"User-agent: *\n{names}{lines}\n".encode() * groups


@pytest.mark.parametrize(
    "body",
    [
        agents_and_rules(1600, 1600),
        agents_and_rules(400, 400).replace(b"User-agent:", b"useragent"),
        agents_and_rules(400, 400).replace(b"Disallow", b"Dissallow") + b"User-agent: *\nDisallow: /x\n",
        b"User-agent: *\nAllow: /\n" + agents_and_rules(1600, 0, 2).replace(b"\n", b"\nuser-agents: a\n"),
    ],
)
def test_file_that_multiplies_agents_by_rules_is_not_parsed(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(second_opinion.Protego, "parse", parsed.append)
    compared(policy(b"User-agent: *\nDisallow: /x1\n\n" + body), ["/x1"])
    assert not parsed


@pytest.mark.slow
@pytest.mark.parametrize(("agents", "rules", "groups"), [(60, 300, 1), (1, 8_000, 1), (3, 5, 800)])
def test_file_of_many_lines_is_parsed(agents: int, rules: int, groups: int) -> None:
    opinion = compared(policy(agents_and_rules(agents, rules, groups)), ["/x1"])
    assert opinion._protego is not None
