"""Verdicts in batches are those of one by one, with RE2 and without."""

from __future__ import annotations

import re
from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from sitemapcrawler.robots import Agent, BatchVerdicts, Policy, parse_agents
from sitemapcrawler.robots import ruleset as automaton
from sitemapcrawler.robots.policy import lines_of
from sitemapcrawler.robots.ruleset import PLAIN_URL, PathRule, Pattern, RuleSet, clauses, path_of

from .saying import FILES, ROBOTS, at, policy

AGENTS = parse_agents("Googlebot,Googlebot-Image,Bingbot,GPTBot,CCBot,AdsBot-Google,*")
PIECES = ("/", "/", "a", "b", "ab", "aa", "*", "*", "$", "?", "=", "%2F", "%3f", "%61", "\xe9", "%C3%A9", ":", ".x", "\n", " ", "#")  # fmt: skip
made = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
patterns = st.builds(lambda start, rest: start + rest, st.sampled_from(("/", "/", "/", "*", "")), made)
lines = st.one_of(
    st.builds("User-agent: {}".format, st.sampled_from(("*", "Googlebot", "GPTBot", "CCBot"))),
    st.builds("{}: {}".format, st.sampled_from(("Allow", "Disallow", "Disallow")), patterns),
)
files = st.lists(lines, max_size=30).map(lambda found: "User-agent: *\n" + "\n".join(found))
urls = st.one_of(
    made.map(lambda rest: f"https://example.com/{rest}"),
    made.map(lambda rest: f"HTTP://EXAMPLE.COM:80{rest}"),
    st.sampled_from(("https://example.com", "https://example.com?a", "/", "", ROBOTS, "a b", "\ud800", "https://ex\xe9/\udcff")),
    st.text(max_size=8),
)  # fmt: skip


def one_by_one(robots: Policy, batch: list[str], agents: list[Agent]) -> list[tuple[str, ...]]:
    return [tuple(agent.name for agent in agents if not robots.allows(url, agent)) for url in batch]


@pytest.fixture(params=["with RE2", "without"])
def re2(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.setattr(automaton, "re2", None)
    else:
        assert automaton.re2 is not None


@given(files, st.lists(urls, max_size=8))
def test_batch_is_judged_as_each_url(text: str, batch: list[str]) -> None:
    robots = policy(text.encode(errors="replace"))
    assert BatchVerdicts(robots, AGENTS).judge(batch) == one_by_one(robots, batch, AGENTS)


@pytest.mark.usefixtures("re2")
@pytest.mark.parametrize("name", FILES)
def test_files_like_real_ones_are_judged_alike(name: str) -> None:
    robots = policy(FILES[name])
    written = [rule.pattern.rstrip("$") for group in robots.groups.values() for rule in group.rules]
    batch = [at("/" + text.replace("*", filler).lstrip("/")) for text in written for filler in ("", "x", "/y/")]
    agents = parse_agents("search,ai,Nutch,Yandex")
    expected = one_by_one(robots, batch, agents)
    assert any(expected)
    assert BatchVerdicts(robots, agents).judge(batch) == expected


@pytest.mark.usefixtures("re2")
def test_many_wildcards_are_judged_alike() -> None:
    written = [f"Disallow: /*/{number}*/x{number}" for number in range(40)]
    written += [f"Allow: /*/{number}*/x{number}$" for number in range(0, 40, 2)]
    text = "\n".join(["User-agent: *", *written])
    robots, protego = policy(text), Protego.parse(text)
    batch = [at(f"/a/{number}/b/x{number}{end}") for number in range(42) for end in ("", "y")]
    found = BatchVerdicts(robots, AGENTS[:1]).judge(batch)
    assert [not denied for denied in found] == [protego.can_fetch(url, "Googlebot") for url in batch]
    assert found == one_by_one(robots, batch, AGENTS[:1])
    assert Counter(found) == {(): 20, ("Googlebot",): 64}


@given(files, made, st.integers(1, 4))
def test_deciding_clause_is_the_heaviest_that_matches(text: str, rest: str, size: int) -> None:
    path = path_of(f"https://example.com/{rest}")
    for group in policy(text.encode()).groups.values():
        matching = [each for rule in group.rules for each in clauses(rule) if each.pattern.matches(path)]
        clause = RuleSet(group.rules).deciding(path)
        expected = max(matching, key=lambda each: each.weight, default=None)
        assert (clause and clause.weight) == (expected and expected.weight)
        with patch.object(automaton, "FEW", 0), patch.object(automaton, "PIECE", size):
            assert RuleSet(group.rules).deciding(path) == clause


@given(st.lists(st.sampled_from(("a", "b", "ab", "/", "")), min_size=1, max_size=5), st.booleans(), made)
def test_pattern_matches_as_a_regular_expression_does(parts: list[str], anchored: bool, rest: str) -> None:
    path = path_of(f"https://example.com/{rest}")
    expression = ".*".join(map(re.escape, parts)) + ("" if anchored else ".*")
    assert Pattern(tuple(parts), anchored).matches(path) is (re.fullmatch(expression, path) is not None)


@pytest.mark.parametrize(
    ("written", "path", "allowed"),
    [
        # weights that differ by one or two
        (("Disallow: /ab", "Allow: /*b"), "/ab", True),
        (("Disallow: /abc", "Allow: /*b"), "/abc", False),
        (("Disallow: /", "Allow: /ab", "Disallow: /*bc"), "/abc", False),
        (("Disallow: /", "Allow: /ab", "Disallow: /*b"), "/abc", True),
        # of a pattern with many stars the longest part is looked for first, wherever it stands
        (("Disallow: /*abcd*e$",), "/abcdxe", False),
        (("Disallow: /*abcd*e$",), "/abcdex", True),
        (("Disallow: /*e*abcd$",), "/exabcd", False),
        (("Disallow: /*e*abcd$",), "/xabcd", True),
        (("Disallow: /*ab*ab$",), "/abxab", False),
        (("Disallow: /*ab*ab$",), "/xab", True),
        # the host is not part of the path
        (("Disallow: *example",), "/x", True),
        (("Disallow: *example",), "/example", False),
        (("Disallow: */x",), "/x", False),
        (("Disallow: */example",), "/x", True),
        (("Disallow: https",), "/x", True),
        (("Disallow: *.com/$",), "/", True),
    ],
)
@pytest.mark.usefixtures("re2")
def test_one_url_of_a_batch(written: tuple[str, ...], path: str, allowed: bool) -> None:
    robots = policy("\n".join(["User-agent: *", *written]))
    batch = [at("/none"), at(path), at("/none")]
    assert BatchVerdicts(robots, AGENTS[:1]).judge(batch)[1] == (() if allowed else ("Googlebot",))
    assert robots.allows(at(path), "Googlebot") is allowed


def test_url_with_a_line_feed_is_one_url() -> None:
    batch = ["https://example.com/x\nhttps://example.com/a", at("/b"), at("/a")]
    assert BatchVerdicts(policy("User-agent: *\nDisallow: /a\n"), AGENTS[:1]).judge(batch) == [(), (), ("Googlebot",)]


@pytest.mark.parametrize(
    ("robots", "blocked"),
    [
        (Policy.from_response(ROBOTS, 429, b""), {"Googlebot": 2}),
        (Policy.unreachable(ROBOTS, "no answer"), {"Bingbot": 2, "Googlebot": 2, "botty": 2}),
        (Policy.from_response(ROBOTS, 404, b"User-agent: *\nDisallow: /"), {}),
    ],
    ids=["too many requests", "unreachable", "unavailable"],
)
def test_without_rules_the_answer_decides(robots: Policy, blocked: dict[str, int]) -> None:
    judge = BatchVerdicts(robots, parse_agents("Bingbot,Googlebot,botty"))
    assert judge.judge([at("/a"), ROBOTS, at("/b")]) == [tuple(blocked), (), tuple(blocked)]
    assert judge.blocked == blocked


def test_agents_keep_their_order_and_blocked_is_counted() -> None:
    judge = BatchVerdicts(
        policy("User-agent: CCBot\nUser-agent: Googlebot\nDisallow: /a\n"), parse_agents("GPTBot,Googlebot,CCBot")
    )
    assert judge.judge([at("/a"), at("/b"), at("/a/c")]) == [("Googlebot", "CCBot"), (), ("Googlebot", "CCBot")]
    assert judge.judge([at("/a")]) == [("Googlebot", "CCBot")]
    assert judge.blocked == {"Googlebot": 3, "CCBot": 3}


def test_agents_of_one_group_share_the_tuple() -> None:
    found = BatchVerdicts(policy("User-agent: *\nDisallow: /a\n"), AGENTS).judge([at("/a/1"), at("/a/2")])
    assert found[0] is found[1]


def test_no_urls_and_no_agents() -> None:
    assert BatchVerdicts(policy("User-agent: *\nDisallow: /"), AGENTS).judge([]) == []
    assert BatchVerdicts(policy("User-agent: *\nDisallow: /"), []).judge([at("/")]) == [()]


def test_rules_that_agree_are_made_once() -> None:
    text = "\n\n".join(f"User-agent: {agent.name}\nDisallow: /a\nAllow: /b" for agent in AGENTS)
    assert len(BatchVerdicts(policy(text), AGENTS)._sides) == 1


@given(st.lists(urls, max_size=5))
def test_check_for_plain_urls_is_the_same_without_re2(batch: list[str]) -> None:
    text = "".join(f"{url}\n" for url in batch).encode("utf-8", "surrogatepass")
    slow = re.compile(rf"(?:{PLAIN_URL}\n)*".encode())
    assert bool(automaton.plain_lines()(text)) is (slow.fullmatch(text) is not None)
    with pytest.MonkeyPatch.context() as without:
        without.setattr(automaton, "re2", None)
        assert bool(automaton.plain_lines()(text)) is (slow.fullmatch(text) is not None)
    if slow.fullmatch(text):
        assert all(url.endswith(path_of(url)) for url in batch)


@given(st.lists(patterns.filter(str.strip), max_size=6), st.lists(urls, max_size=6))
def test_line_search_misses_no_line(written: list[str], batch: list[str]) -> None:
    found = [each for text in written for each in clauses(PathRule(False, text.strip(), 1, ""))]
    search = automaton.line_search(each.pattern for each in found)
    assert search is not None
    numbers = search(lines_of(batch)) if found and batch else set()
    matching = {number for number, url in enumerate(batch) if any(each.pattern.matches(path_of(url)) for each in found)}
    assert matching <= numbers
    if all(automaton.is_exact_search(each.pattern) for each in found):
        assert matching == numbers


class Untested(Pattern):
    """A pattern that no path is compared with."""

    def matches(self, path: str) -> bool:
        raise AssertionError(f"{self} has nothing in common with {path}")


def test_a_path_is_compared_with_few_of_many_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "Pattern", Untested)
    rules = RuleSet(PathRule(False, f"/*{word}{number}*/x", number, "") for word in "bcd" for number in range(5_000))
    assert rules.deciding(f"/a/{'e' * 40}/x") is None
