"""RFC 9309, the Robots Exclusion Protocol: its examples and what it says a crawler must do, section by section."""

from __future__ import annotations

import pytest

from sitemapcrawler.robots import Policy, RobotsOutcome, robots_url
from sitemapcrawler.robots.ruleset import path_of

from .saying import ROBOTS, at, decided, policy, rules

SIMPLE_EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed", "line"),
    [
        ("otherbot", "/publications/", True, 4),
        ("otherbot", "/example/page.html", False, 3),
        ("otherbot", "/images/a.gif", False, 2),
        ("otherbot", "/images/a.gifs", True, None),
        ("otherbot", "/publications/a.gif", True, 4),  # 14 octets against 6
        ("foobot", "/", False, 7),
        ("foobot", "/publications/", False, 7),
        ("foobot", "/example/page.html", True, 8),
        ("foobot", "/example/page.html?x", True, 8),
        ("foobot", "/example/allowed.gif", True, 9),
        ("foobot", "/example/other.gif", False, 7),
        ("barbot", "/example/page.html", False, 13),
        ("bazbot", "/example/page.html", False, 13),
        ("barbot", "/example/other.gif", True, None),
        ("bazbot", "/a.gif", True, None),
        ("quxbot", "/example/page.html", True, None),
        ("quxbot", "/a.gif", True, None),
    ],
)
def test_simple_example_of_5_1(agent: str, path: str, allowed: bool, line: int | None) -> None:
    assert decided(policy(SIMPLE_EXAMPLE), path, agent) == (allowed, line)


@pytest.mark.parametrize(
    ("path", "allowed", "line"),
    [("/example/page/", True, 2), ("/example/page/disallow.gif", True, 2), ("/example/page/disallowed.gif", False, 3)],
)
def test_longest_match_of_5_2(path: str, allowed: bool, line: int) -> None:
    robots = rules("Allow: /example/page/", "Disallow: /example/page/disallowed.gif")
    assert decided(robots, path) == (allowed, line)


@pytest.mark.parametrize(
    ("path", "to_match"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
    ],
)
def test_percent_encoded_examples_of_2_2_2_match_in_every_spelling(path: str, to_match: str) -> None:
    for pattern in (path, to_match, to_match.lower().replace("%e3", "%E3")):
        robots = rules(f"Disallow: {pattern}$")
        assert not robots.allows(at(path), "foobot")
        assert not robots.allows(at(to_match), "foobot")


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("/path/file-with-a-%2A.html", "https://www.example.com/path/file-with-a-*.html"),
        ("/path/foo-%24", "https://www.example.com/path/foo-$"),
    ],
)
def test_special_characters_are_matched_verbatim_when_they_are_escaped_2_2_3(pattern: str, url: str) -> None:
    assert not rules(f"Disallow: {pattern}$").allows(url, "foobot")
    assert rules(f"Disallow: {pattern}$").allows(url.replace("*", "x").replace("-$", "-"), "foobot")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        # An escape of a delimiter is none: 2.2.2, and RFC 3986, 2.2.
        ("/a%2Fb", "/a/b", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%3Fb", "/a?b", False),
        ("/a?b", "/a%3Fb", False),
        # In a query neither delimits: RFC 3986, 3.4.
        ("/?u=/a", "/?u=%2Fa", True),
        ("/?u=%2Fa", "/?u=/a", True),
        ("/?u=a%3Fb", "/?u=a?b", True),
        # Behind a star it may stand in either.
        ("/*%2Fb", "/a%2Fb", True),
        ("/*%2Fb", "/a/b", False),
        ("/*%2Fb", "/a?u=/b", True),
        ("/*%2Fb", "/a?u=%2Fb", True),
        ("*to=https%3A%2F%2F*", "/go?to=https://e.com", True),
        ("*to=https%3A%2F%2F*", "/go?to=https%3A%2F%2Fe.com", True),
        ("/*/x*%3Fy$", "/a/x?b=1?y", True),
        ("/*/x*%3Fy$", "/a/x?y", False),
        ("/*/print", "/a?u=/b/print", True),
        # The rest of the reserved ones and of the others are the same in both spellings.
        ("/a:b", "/a%3Ab", True),
        ("/a%2Cb", "/a,b", True),
        ("/a b", "/a%20b", True),
        ("/a%7eb", "/a~b", True),
        ("/%c3%a9", "/\xe9", True),
        ("/\xe9", "/%C3%A9", True),
        ("/%25", "/%", False),
        ("/100%", "/100%", True),
        ("/a%2562", "/ab", False),
        ("/a$b", "/a$b", True),
        ("/a$b", "/a", False),
        ("/a%2A", "/ab", False),
    ],
)
def test_escapes_are_compared_as_2_2_2_says(pattern: str, path: str, matches: bool) -> None:
    assert rules(f"Disallow: {pattern}").allows(at(path), "foobot") is not matches


@pytest.mark.parametrize("url", ["https://e.com/a%E3%83%84?x=%2f#f", "https://e.com/%e9%61", "http://e.com:80?q"])
def test_compared_form_is_its_own_compared_form(url: str) -> None:
    assert path_of("https://example.com" + path_of(url)) == path_of(url)


def test_groups_of_one_product_token_are_one_2_2_1() -> None:
    robots = policy(
        "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n"
    )
    assert [robots.allows(at(path), "ExampleBot") for path in ("/foo", "/bar", "/baz", "/qux")] == [False] * 3 + [True]
    assert robots.groups["examplebot"].lines == [1, 5]


def test_group_of_everybody_holds_where_no_other_matches_2_2_1() -> None:
    robots = policy("user-agent: *\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: BazBot\ndisallow: /baz\n")
    assert decided(robots, "/foo", "ExampleBot") == (False, 2)
    assert decided(robots, "/baz", "ExampleBot") == (True, None)
    assert decided(robots, "/foo", "BazBot") == (True, None)


@pytest.mark.parametrize("text", ["", "user-agent: OtherBot\ndisallow: /\n", "disallow: /\n"])
def test_no_rules_apply_where_no_group_does_2_2_1(text: str) -> None:
    verdict = policy(text).verdict(at("/foo"), "ExampleBot")
    assert (verdict.allowed, verdict.group, verdict.rule) == (True, None, None)


@pytest.mark.parametrize("agent", ["examplebot", "EXAMPLEBOT", "ExampleBot"])
def test_product_tokens_are_compared_without_case_2_2_1(agent: str) -> None:
    assert not policy("USER-AGENT: eXampleBot\nDISALLOW: /\n").allows(at("/"), agent)


@pytest.mark.parametrize("agent", ["botty", "abot", "bot-a", "a-bot", "bo", "bot2", "bot.x"])
def test_product_tokens_are_compared_whole_2_2_1(agent: str) -> None:
    assert policy("user-agent: bot\ndisallow: /\n").allows(at("/"), agent)


def test_robots_txt_is_always_allowed_2_2_2() -> None:
    robots = rules("Disallow: /")
    assert robots.allows(ROBOTS, "foobot")
    assert robots.allows(f"{ROBOTS}?x", "foobot")
    assert not robots.allows(f"{ROBOTS}.gz", "foobot")
    assert Policy.unreachable(ROBOTS, "no answer").allows(ROBOTS, "foobot")


@pytest.mark.parametrize("other", ["Sitemap: https://e.com/s.xml", "Crawl-delay: 5", "Host: e.com", "Unknown: x"])
def test_other_records_end_no_group_2_2_4(other: str) -> None:
    robots = policy(f"User-agent: a\n{other}\nUser-agent: b\nDisallow: /x\n{other}\nDisallow: /y\n")
    for agent in ("a", "b"):
        assert [robots.allows(at(path), agent) for path in ("/x", "/y", "/z")] == [False, False, True]


@pytest.mark.parametrize(
    ("url", "robots"),
    [
        ("https://www.example.com/a/b?c#d", "https://www.example.com/robots.txt"),
        ("HTTP://Example.COM:80", "http://example.com/robots.txt"),
        ("https://example.com:8443/", "https://example.com:8443/robots.txt"),
        ("ftp://example.com/", None),
        ("https://[", None),
    ],
)
def test_robots_txt_is_that_of_scheme_and_authority_2_3(url: str, robots: str | None) -> None:
    assert robots_url(url) == robots


@pytest.mark.parametrize(
    ("status", "outcome", "allowed"),
    [
        *((status, RobotsOutcome.PARSED, False) for status in (200, 206)),
        *((status, RobotsOutcome.UNAVAILABLE, True) for status in (301, 304, 400, 401, 403, 404, 410, 429, 499)),
        *((status, RobotsOutcome.UNREACHABLE, False) for status in (103, 500, 503, 599, 999)),
    ],
)
def test_status_decides_2_3_1(status: int, outcome: RobotsOutcome, allowed: bool) -> None:
    robots = Policy.from_response(ROBOTS, status, b"User-agent: *\nDisallow: /\nSitemap: /s.xml\n")
    verdict = robots.verdict(at("/a"), "foobot")
    assert (robots.outcome, verdict.allowed) == (outcome, allowed)
    assert robots.reason == (None if outcome is RobotsOutcome.PARSED else f"HTTP status {status}")
    assert verdict.reason == (f"HTTP status {status}" if outcome is RobotsOutcome.UNREACHABLE else None)
    assert len(robots.sitemaps) == (outcome is RobotsOutcome.PARSED)


@pytest.mark.parametrize("name", ["Googlebot", "googlebot-image", "Google-Extended", "AdsBot-Google"])
def test_too_many_requests_are_a_server_error_to_google(name: str) -> None:
    verdict = Policy.from_response(ROBOTS, 429, b"").verdict(at("/a"), name)
    assert (verdict.allowed, verdict.rule, verdict.reason) == (False, None, "HTTP status 429")
    assert Policy.from_response(ROBOTS, 429, b"").allows(at("/robots.txt"), name)


def test_no_answer_denies_everything_and_says_why_2_3_1_4() -> None:
    verdict = Policy.unreachable(ROBOTS, "the host has no address").verdict(at("/"), "foobot")
    assert (verdict.allowed, verdict.rule, verdict.reason) == (False, None, "the host has no address")


def test_more_than_five_redirects_allow_everything_2_3_1_2() -> None:
    robots = Policy.too_many_redirects(ROBOTS, 301)
    assert robots.allows(at("/"), "foobot")
    assert (robots.outcome, robots.status, robots.reason) == ("too-many-redirects", 301, "more than 5 redirects")


def test_rules_within_500_kib_are_parsed_2_5() -> None:
    first, last = b"User-agent: *\nDisallow: /a\n", b"Disallow: /b\n"
    filler = b"#" * (500 * 1024 - len(first) - len(last) - 1) + b"\n"
    robots = policy(first + filler + last)
    assert not robots.allows(at("/a"), "foobot")
    assert not robots.allows(at("/b"), "foobot")
    assert not robots.facts.too_large


def test_what_is_beyond_500_kib_is_cut_at_a_line_2_5() -> None:
    first = b"User-agent: *\nDisallow: /a\n"
    filler = b"#" * (500 * 1024 - len(first) - 6) + b"\n"
    robots = policy(first + filler + b"Allow: /a\nDisallow: /c\nSitemap: https://e.com/far.xml\n")
    assert [robots.allows(at(path), "foobot") for path in ("/a", "/c")] == [False, True]
    assert robots.facts.too_large
    assert robots.facts.cut_at == 4
    assert robots.names("https://e.com/far.xml")
