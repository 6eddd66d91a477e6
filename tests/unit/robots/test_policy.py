"""What a robots.txt says besides verdicts: sitemaps, timing, lines to look at."""

from __future__ import annotations

import pytest

from sitemapcrawler.robots import NoteKind, Policy, RobotsSitemap
from sitemapcrawler.robots.parser import MAX_NOTES

from .saying import ROBOTS, at, decided, policy, rules


def test_verdict_names_the_line_its_text_and_the_group() -> None:
    verdict = policy("User-agent: *\nDISALLOW :/a  # no\n").verdict(at("/a/b"), "MyBot")
    assert verdict.rule is not None
    assert (verdict.rule.text, verdict.rule.line, verdict.rule.pattern) == ("DISALLOW :/a", 2, "/a")
    assert verdict.group == "*"


def test_first_of_equal_lines_is_named() -> None:
    robots = rules("Disallow: /a", "Disallow: /a*", "Disallow: /a*", "Allow: /b", "Allow: /b")
    assert decided(robots, "/ab") == (False, 3)
    assert decided(robots, "/b") == (True, 5)


@pytest.mark.parametrize(
    ("lines", "path", "line"),
    [
        # The shorter text may weigh more, with stars behind it.
        (("Disallow: /fish***", "Allow: /fish/"), "/fish/a", 2),
        (("Disallow: /fish*", "Allow: /fish/"), "/fish/a", 3),
        (("Disallow: /a$", "Allow: /a"), "/a", 2),
        (("Disallow: /a$", "Allow: /*"), "/a", 2),
        (("Disallow: /a", "Allow: /a*c", "Disallow: /ab*c"), "/abc", 4),
        (("Disallow: *", "Allow: /"), "/abc", 3),
        (("Disallow: /*", "Allow: /"), "/abc", 2),
        (("Disallow: a", "Allow: b"), "/a", None),
    ],
)
def test_most_octets_decide(lines: tuple[str, ...], path: str, line: int | None) -> None:
    assert decided(rules(*lines), path)[1] == line


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://example.com?x", "https://example.com#a", "HTTPS://EXAMPLE.COM:443", "/", ""]
)
def test_url_without_a_path_is_the_home_page(url: str) -> None:
    assert rules("Disallow: /$", "Disallow: /?").allows(url, "foobot") is False


def test_query_is_matched_and_the_fragment_is_not() -> None:
    robots = rules("Disallow: /*?sort=", "Disallow: /*secret")
    assert not robots.allows(at("/a?sort=1"), "foobot")
    assert robots.allows(at("/a#secret"), "foobot")


def test_sitemap_lines_are_read_wherever_they_stand() -> None:
    robots = policy(
        "Sitemap: https://example.com/a.xml\nUser-agent: *\nsitemap:/b.xml # ours\nDisallow: /\nSitemaps: https://cdn.example/c.xml\n"
        "SITEMAP : HTTPS://Example.com/a.xml\nSitemap: ftp://example.com/d.xml\nSitemap:\nhttps://example.com/e.xml\n"
    )
    assert robots.sitemap_lines == [
        RobotsSitemap("https://example.com/a.xml", 1, "Sitemap: https://example.com/a.xml"),
        RobotsSitemap("https://example.com/b.xml", 3, "sitemap:/b.xml # ours", relative=True, comment=True),
        RobotsSitemap("https://cdn.example/c.xml", 5, "Sitemaps: https://cdn.example/c.xml", typo=True),
        RobotsSitemap("https://Example.com/a.xml", 6, "SITEMAP : HTTPS://Example.com/a.xml", first=1),
        RobotsSitemap("", 7, "Sitemap: ftp://example.com/d.xml", relative=True),
        RobotsSitemap("https://example.com/e.xml", 9, "https://example.com/e.xml", typo=True),
    ]
    assert [sitemap.line for sitemap in robots.sitemaps] == [1, 3, 5, 9]
    assert [(note.kind, note.line) for note in robots.notes] == [(NoteKind.SITEMAP_WITHOUT_URL, 8)]


def test_unusable_sitemaps_repeat_nothing() -> None:
    found = policy("Sitemap: ftp://a/\nSitemap: ftp://b/\n").sitemap_lines
    assert [(sitemap.url, sitemap.line, sitemap.first) for sitemap in found] == [("", 1, None), ("", 2, None)]


def test_relative_sitemap_is_resolved_against_the_url_that_answered() -> None:
    robots = Policy.from_response(ROBOTS, 200, b"Sitemap: /s.xml", base="https://www.example.com/robots.txt")
    assert [sitemap.url for sitemap in robots.sitemaps] == ["https://www.example.com/s.xml"]
    assert robots.url == ROBOTS


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://cdn.example/s.xml?a=1", True),
        ("HTTPS://CDN.example:443/s.xml?a=1#x", True),
        ("http://cdn.example/s.xml?a=1", False),
        ("https://cdn.example/s.xml", False),
        ("https://cdn.example/S.xml?a=1", False),
        ("https://example.com/b.xml", True),
        ("", False),
        ("no URL", False),
    ],
)
def test_names_the_very_sitemap(url: str, named: bool) -> None:
    robots = policy("Sitemap: https://cdn.example/s.xml?a=1\nSitemap: /b.xml\nSitemap: ftp://cdn.example/\n")
    assert robots.names(url) is named


def test_notes_say_what_an_owner_may_not_have_meant() -> None:
    robots = policy(
        "Disallow: /early\nUser-agent: a\nCrawl-delay: 5\nUser-agent: b/2\nDissallow: /x\nDisallow: x\nNoindex: /y\nWelcome\n"
        "Content-Signal: ai-train=no\nAllow: https://example.com/\nUser-agent:\nDisallow: /\n"
    )
    assert [(note.kind, note.line, note.text) for note in robots.notes] == [
        (NoteKind.OUTSIDE_GROUP, 1, "Disallow: /early"),
        (NoteKind.JOINED, 4, "User-agent: b/2"),
        (NoteKind.BAD_AGENT, 4, "User-agent: b/2"),
        (NoteKind.MISSPELT_FIELD, 5, "Dissallow: /x"),
        (NoteKind.UNMATCHABLE, 6, "Disallow: x"),
        (NoteKind.UNKNOWN_FIELD, 7, "Noindex: /y"),
        (NoteKind.NOT_A_LINE, 8, "Welcome"),
        (NoteKind.UNMATCHABLE, 10, "Allow: https://example.com/"),
        (NoteKind.BAD_AGENT, 11, "User-agent:"),
    ]
    assert robots.allows(at("/"), "a")


def test_notes_are_few_and_counts_are_complete() -> None:
    robots = policy("Hello: you\n" * 1000)
    assert len(robots.notes) == MAX_NOTES
    assert robots.note_counts == {NoteKind.UNKNOWN_FIELD: 1000}


def test_rules_behind_an_unreadable_agent_are_nobodys() -> None:
    robots = policy("User-agent: *\nDisallow: /a\nUser-agent: ???\nDisallow: /\n")
    assert decided(robots, "/b") == (True, None)


@pytest.mark.parametrize(
    ("lines", "denies"),
    [
        (("Disallow: /",), True),
        (("Disallow: /*",), True),
        (("Disallow: *",), True),
        (("Disallow: /*$",), True),
        (("Disallow: /", "Disallow: /a", "Allow:"), True),
        (("Disallow: /**", "Allow: /"), True),
        (("Disallow: /", "Allow: /"), False),
        (("Disallow: /", "Allow: /$"), False),
        (("Disallow: /$",), False),
        (("Disallow: /a",), False),
        (("Disallow:",), False),
        ((), False),
    ],
)
def test_group_that_denies_everything(lines: tuple[str, ...], denies: bool) -> None:
    found = rules(*lines).denying_groups()
    assert [group.token for group in found] == (["foobot"] if denies else [])


def test_groups_are_judged_with_all_their_blocks() -> None:
    robots = policy(
        "User-agent: a\nUser-agent: b\nDisallow: /\n\nUser-agent: b\nAllow: /x\n\nUser-agent: c\nDisallow: /\n"
    )
    assert [(group.token, group.lines) for group in robots.denying_groups()] == [("a", [1]), ("c", [8])]
    assert robots.allows(at("/x"), "b")


def test_timing_is_that_of_the_group() -> None:
    robots = policy(
        "User-agent: a\nUser-agent: b\nCrawl-delay: 2\nDisallow: /x\nRequest-rate: 1/10\n\nUser-agent: *\nCrawl-delay: 30 # slow\n"
    )
    for name in ("a", "b"):
        timing = robots.timing(name)
        assert timing.crawl_delay == 2.0
        assert timing.request_rate is not None
        assert timing.request_rate.seconds == 10
    assert robots.timing("z").crawl_delay == 30.0
    assert robots.timing("AdsBot-Google").crawl_delay is None


def test_crawl_delay_is_of_the_agents_above_it() -> None:
    robots = policy("User-agent: Yandex\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /admin\n")
    assert robots.timing("YandexBot").crawl_delay == 10
    assert robots.timing("*").crawl_delay is None
    # RFC 9309, 2.2.4: it ends no group.
    assert decided(robots, "/admin", "YandexBot") == (False, 5)


def test_name_that_is_no_product_token_is_refused() -> None:
    with pytest.raises(ValueError, match="white space"):
        policy("").allows(at("/"), "my bot")
