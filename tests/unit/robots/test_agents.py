"""The table of crawlers, and the names that users give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.robots import AGENTS, Agent, Purpose, parse_agents
from sitemapcrawler.robots.agents import AI, SEARCH, TOKEN, agent, requesting

from .saying import at, policy

NAMED_BY_THE_ISSUE = {
    SEARCH: ("Googlebot", "Bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot"),
    AI: (
        "GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-User", "Google-Extended", "PerplexityBot",
        "CCBot", "Bytespider", "Amazonbot", "Meta-ExternalAgent", "Applebot-Extended", "MistralAI-Training",
        "Google-CloudVertexBot", "Google-Agent", "AI2Bot", "Bravebot",
    ),
}  # fmt: skip


def names(text: str) -> list[str]:
    return [each.name for each in parse_agents(text)]


@pytest.mark.parametrize("group", [SEARCH, AI])
def test_group_has_the_crawlers_that_everybody_asks_for(group: str) -> None:
    assert set(NAMED_BY_THE_ISSUE[group]) <= set(names(group))
    assert all(each.group == group for each in parse_agents(group))


@pytest.mark.parametrize("each", AGENTS, ids=lambda each: each.name)
def test_entry_is_complete(each: Agent) -> None:
    assert TOKEN.fullmatch(each.name)
    assert each.operator
    assert each.purpose is not Purpose.UNKNOWN
    assert each.page.startswith("https://") or each.name == "Bytespider"
    assert each.addresses.startswith("https://") or not each.addresses
    assert all(TOKEN.fullmatch(token) for token in each.fallbacks)


def test_every_name_stands_once() -> None:
    assert len({each.name.lower() for each in AGENTS}) == len(AGENTS)


def test_most_crawlers_have_a_page_of_their_operator() -> None:
    assert sum(bool(each.page) for each in AGENTS) >= 45


def test_every_purpose_is_that_of_some_ai_crawler() -> None:
    found = {each.purpose for each in parse_agents(AI)}
    assert found == {Purpose.TRAINING, Purpose.SEARCH, Purpose.USER_FETCH, Purpose.INPUT}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Googlebot", ["Googlebot"]),
        ("googlebot", ["Googlebot"]),
        (" GPTBot , CCBot ", ["GPTBot", "CCBot"]),
        ("MyBot,MYBOT,mybot", ["MyBot"]),
        ("GPTBot,gptbot", ["GPTBot"]),
        ("*", ["*"]),
        ("360Spider,archive.org_bot,AI2Bot-Dolma", ["360Spider", "archive.org_bot", "AI2Bot-Dolma"]),
    ],
)
def test_names_are_read(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_groups_and_names_mix_in_their_order() -> None:
    assert names("MyBot,SEARCH,googlebot") == ["MyBot", *names("search")]
    assert names("search,ai") == [*names("search"), *names("ai")]


def test_unknown_name_is_an_agent_without_fallbacks() -> None:
    (mine,) = parse_agents("MyBot")
    assert (mine.group, mine.fallbacks, mine.bound_by_star, mine.purpose) == ("", (), True, Purpose.UNKNOWN)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("My Bot", "white space"),
        ("My\tBot", "white space"),
        ("My\xa0Bot", "white space"),
        ("MyBot/1.0", "'/'"),
        ("https://e.com", "':'"),
        ("a:b", "':'"),
        ("My\0Bot", "a control character ('\\x00')"),
        ("My\x1bBot", "a control character ('\\x1b')"),
        ("Bot*", "'*'"),
        ("\u30c4", "'\u30c4'"),
        ("", "an agent without a name"),
        ("a" * 101, "at most 100 characters, not 101"),
    ],
)
def test_name_that_no_product_token_can_be_is_refused(name: str, problem: str) -> None:
    with pytest.raises(ValueError, match="agent") as refused:
        parse_agents(f"search,{name},GPTBot")
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=20))
def test_name_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        found = parse_agents(text)
    except ValueError as error:
        assert str(error).isprintable()
    else:
        assert found


@pytest.mark.parametrize(
    ("text", "name", "group"),
    [
        ("Googlebot Bingbot *", "Applebot", "googlebot"),
        ("Googlebot Applebot *", "Applebot", "applebot"),
        ("Bingbot *", "Applebot", "*"),
        ("Bingbot", "Applebot", None),
        ("Googlebot *", "Googlebot-News", "googlebot"),
        ("Googlebot *", "Googlebot-Image", "googlebot"),
        ("Googlebot *", "Google-Extended", "*"),
        ("Googlebot *", "Applebot-Extended", "*"),
        ("Yandex *", "YandexBot", "yandex"),
        ("Yandex YandexBot *", "YandexBot", "yandexbot"),
        ("Googlebot *", "AdsBot-Google", None),
        ("AdsBot-Google *", "AdsBot-Google", "adsbot-google"),
        ("Googlebot *", "Mediapartners-Google", None),
        ("*", "*", "*"),
        ("Googlebot *", "MyBot", "*"),
        ("Bot *", "MyBot", "*"),
    ],
)
def test_documented_fallbacks_are_followed(text: str, name: str, group: str | None) -> None:
    robots = policy("\n".join(f"User-agent: {token}\nDisallow: /\n" for token in text.split()))
    verdict = robots.verdict(at("/"), name)
    assert (verdict.group, verdict.allowed) == (group, group is None)


def test_agent_is_found_in_any_case() -> None:
    assert agent("gptbot") is agent("GPTBOT") is agent("GPTBot")


# Requests in the name of a crawler


@pytest.mark.parametrize("each", [one for one in AGENTS if not one.fetched_by], ids=lambda each: each.name)
def test_user_agent_names_the_crawler(each: Agent) -> None:
    assert each.name.lower() in each.header.lower()
    assert each.header.isascii() and each.header.isprintable()
    assert "W.X.Y.Z" not in each.header


def test_crawler_without_a_published_user_agent_has_a_plain_one() -> None:
    assert agent("Bytespider").header == "Mozilla/5.0 (compatible; Bytespider/1.0)"
    assert agent("ClaudeBot").header == f"Mozilla/5.0 (compatible; ClaudeBot/1.0; +{agent('ClaudeBot').page})"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("google-extended", "Google-Extended makes no requests: Googlebot fetches the pages"),
        ("Applebot-Extended", "Applebot-Extended makes no requests: Applebot fetches the pages"),
        ("gptbto", "no such crawler is known, did you mean GPTBot?"),
        ("nobody's", "'"),
        ("MyOwnCrawler", "no such crawler is known"),
    ],
)
def test_crawler_that_makes_no_requests_is_refused(name: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        requesting(name)
    assert problem in str(refused.value)


def test_group_has_only_crawlers_that_make_requests() -> None:
    assert requesting("search") == tuple(parse_agents("search"))
    assert {one.name for one in parse_agents("ai")} - {one.name for one in requesting("AI")} == {
        "Google-Extended", "Applebot-Extended", "Webzio-Extended",
    }  # fmt: skip
