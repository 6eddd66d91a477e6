"""The rules on the lines and groups of a robots.txt, and on what they mean for crawlers."""

from __future__ import annotations

import pytest

from sitemapcrawler.robots.parser import MAX_NOTES
from sitemapcrawler.robots.text import MAX_LINE
from tests.unit.tables import cases

from .robots_told import NAMED, Found, answered, found, only, short, told

# ---- lines


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        ("User-agent: *\nDissalow: /a", [("robots-field-misspelt", 3, "warning")]),
        ("User-agent: *\nDisallow /a", [("robots-field-misspelt", 3, "warning")]),
        ("Useragent: *\nDisallow: /a", [("robots-field-misspelt", 2, "warning")]),
        ("User-agnet: *\nDisallow: /a", [("robots-field-misspelt", 2, "warning")]),
        ("User-agent: *\nDisalllow: /a\nDisalllow: /b", [("robots-field-misspelt", 3, "warning")]),
        ("User-agent: *\nDisalllow /a", [("robots-field-misspelt", 3, "warning")]),
        (
            "User-agent: *\nDisalow: /a\nDisalow: /b\nAlow: /c",
            [("robots-field-misspelt", n, "warning") for n in (3, 5)],
        ),
        ("User-agent: *\nNoindex: /a\nDisallow: /b", [("robots-field-unknown", 3, "warning")]),
        ("Schemamap: https://example.com/map\nLicense: https://example.com/rsl.xml", []),
        ("Note: a\nNote: b\nnote: c", [("robots-field-unknown", 2, "info")]),
        ("User-agent: *\nHost: example.com\nClean-param: a /b\nContent-Signal: search=yes", []),
        ("Not found\nreally", [("robots-line-without-field", 2, "info")]),
        ("Disallow: /a\nAllow: /b\nUser-agent: *", [("robots-rule-outside-group", 2, "warning")]),
        ("User-agent:\nDisallow: /a", [("robots-user-agent-invalid", 2, "warning")]),
        ("User-agent: *bot\nDisallow: /a", [("robots-user-agent-invalid", 2, "warning")]),
        ("User-agent: Googlebot, Bingbot\nDisallow: /a", [("robots-user-agent-invalid", 2, "warning")]),
        ("User-agent: Googlebot/2.1 (compatible)\nDisallow: /a", [("robots-user-agent-invalid", 2, "info")]),
        ("User-agent: Download Ninja\nDisallow: /a", [("robots-user-agent-invalid", 2, "info")]),
        ("User-agent: *\nDisallow: a/", [("robots-rule-matches-nothing", 3, "warning")]),
        ("User-agent: *\nDisallow: https://example.com/a/", [("robots-rule-matches-nothing", 3, "warning")]),
        ("User-agent: *\nDisallow: *a", []),
        (
            "User-agent: *\nDisallow: /c#/\nAllow: /c#\nDisallow: *#",
            [("robots-hash-in-value", n, "warning") for n in (3, 4, 5)],
        ),
        ("User-agent: *#all\nDisallow:#none\nDisallow: /a # b\nDisallow: /c%23/\n#Disallow: /d#", []),
        ("User-agent: a\nUser-agent: b\nDisallow: /a", []),
        ("User-agent: a\nCrawl-delay: 0\nDisallow:\nUser-agent: b\nDisallow: /a", []),
        ("User-agent: a\nCrawl-delay: 0\nUser-agent: b\nCrawl-delay: 0", []),
        ("User-agent: a\nCrawl-delay: 0\nUser-agent: a\nDisallow: /a", []),
        ("User-agent: a\nCrawl-delay: 0\nUser-agent: b\nDisallow: /a", [("robots-groups-joined", 4, "warning")]),
        ("User-agent: a\nSitemap: /s\n\nUser-agent: b\nAllow: /a", [("robots-groups-joined", 5, "warning")]),
        ("User-agent: a\nContent-Usage: search=y\nUser-agent: b\nAllow: /a", [("robots-groups-joined", 4, "warning")]),
        (f"User-agent: *\nDisallow: /{'a' * MAX_LINE}", [("robots-line-too-long", 3, "warning")]),
    ],
)
def test_a_line_that_says_something_else_than_meant(lines: str, rules: Found) -> None:
    assert [each for each in found(f"{NAMED}{lines}\n") if not each[0].startswith("robots-sitemap")] == rules


@pytest.mark.parametrize(
    ("line", "reader"),
    [
        ("Dissalow: /a", "Google reads it anyway"),
        ("Disalllow /a", "skipped by all crawlers"),
        ("Crawl delay: 5", "few crawlers read it"),
    ],
)
def test_a_misspelt_field_says_whether_google_reads_it(line: str, reader: str) -> None:
    assert reader in only("robots-field-misspelt", f"User-agent: *\nDisallow: /b\n{line}\n").message


def test_messages_name_what_is_at_stake() -> None:
    joined = only("robots-groups-joined", "User-agent: slurp\nCrawl-delay: 1\nUser-agent: GPTBot\n\nDisallow: /\n")
    assert "the rules from line 5 on apply to slurp too" in joined.message
    outside = only("robots-rule-outside-group", "Disallow: /\n" * 200)
    assert "'Disallow: /' and 199 more rules come before" in outside.message
    unmatchable = only("robots-rule-matches-nothing", "User-agent: *\nDisallow: https://example.com/a/\n")
    assert "'/a/'" in unmatchable.message
    lines = only("robots-line-without-field", "foo\n" * (MAX_NOTES + 50))
    assert lines.message.startswith(f"{MAX_NOTES + 50} lines are neither fields")


def test_lines_beyond_the_notes_are_counted() -> None:
    findings = told(answered("User-agent: *\n" + "Disallow: a\n" * (MAX_NOTES + 7)))
    findings = [finding for finding in findings if finding.rule == "robots-rule-matches-nothing"]
    assert len(findings) == MAX_NOTES + 1
    assert findings[-1].message == "7 more rules match nothing"


# ---- crawlers


@pytest.mark.parametrize(
    ("group", "urls", "severity", "words"),
    [
        ("User-agent: *\nCrawl-delay: 10", 0, "info", "at most 8,640 pages a day"),
        ("User-agent: *\nCrawl-delay: 10", 3_600, "info", "all 3,600 listed URLs take 10.0 hours"),
        ("User-agent: *\nCrawl-delay: 3600", 720, "info", "take 30.0 days"),
        ("User-agent: *\nCrawl-delay: 3600", 721, "warning", "take 30.0 days"),
        ("User-agent: bingbot\nCrawl-delay: 86400", 31, "warning", "Bingbot: 86400 s between requests"),
        ("User-agent: slurp\nCrawl-delay: 86400", 31, "info", "slurp: 86400 s"),
        ("User-agent: Googlebot\nCrawl-delay: 86400", 31, "info", "has no effect: Googlebot ignores it"),
        ("User-agent: YandexBot\nUser-agent: Yandex\nCrawl-delay: 9", 31, "info", "YandexBot, yandex ignore it"),
        ("User-agent: Googlebot-Mobile\nCrawl-delay: 9", 31, "info", "googlebot-mobile ignores it"),
        ("User-agent: *\nUser-agent: Googlebot\nCrawl-delay: 60", 60, "info", "*: 60 s between requests, so that"),
        (
            "User-agent: Amazonbot\nUser-agent: ClaudeBot\nCrawl-delay: 86400", 31, "warning", "ClaudeBot: 86400 s",
        ),
        ("User-agent: *\nCrawl-delay: soon", 1, "warning", "'soon' is not a number of seconds"),
        ("User-agent: *\nCrawl-delay: nan", 1, "warning", "'nan' is not a number of seconds"),
    ],
)  # fmt: skip
def test_a_crawl_delay_in_days(group: str, urls: int, severity: str, words: str) -> None:
    policy = answered(f"{NAMED}{group}\nDisallow: /a\n")
    [finding] = told(policy, (f"https://example.com/{number}" for number in range(urls)))
    assert (finding.rule, finding.line, finding.severity) == ("robots-crawl-delay", 2 + group.count("\n"), severity)
    assert words in finding.message


def test_no_duration_is_computed_for_crawlers_that_ignore_a_delay() -> None:
    policy = answered(f"{NAMED}User-agent: Googlebot\nUser-agent: Bingbot\nCrawl-delay: 60\nDisallow: /a\n")
    [finding] = told(policy, ["https://example.com/"])
    assert finding.message == "Bingbot: 60 s between requests, so that the listed URL takes 1.0 minutes"


def test_delays_of_many_groups_are_told_once() -> None:
    groups = "".join(f"User-agent: bot-{n}\nCrawl-delay: {n % 7}\nDisallow: /a\n\n" for n in range(30))
    [finding] = told(answered(f"{NAMED}{groups}"), ["https://example.com/"])
    assert (finding.rule, finding.line, finding.severity, finding.value) == ("robots-crawl-delay", 27, "info", "6")
    assert finding.message == (
        "25 lines ask for a delay, for example line 27: "
        "bot-6: 6 s between requests, so that the listed URL takes 6.0 seconds"
    )


def test_a_delay_that_is_obeyed_is_the_example_even_if_a_longer_one_is_ignored() -> None:
    groups = (
        "User-agent: Googlebot\nCrawl-delay: 60\nDisallow: /a\n\nUser-agent: Bingbot\nCrawl-delay: 2\nDisallow: /a\n"
    )
    [finding] = told(answered(f"{NAMED}{groups}"))
    assert finding.message.startswith("2 lines ask for a delay, for example line 7: Bingbot: 2 s")


def test_delays_that_are_too_long_stay_apart_from_the_others() -> None:
    groups = "".join(f"User-agent: {n}\nCrawl-delay: {s}\nDisallow: /a\n\n" for n, s in (("Bingbot", 99), ("x", 1)))
    listed = (f"https://example.com/{number}" for number in range(30_000))
    assert short(told(answered(f"{NAMED}{groups}"), listed)) == [
        ("robots-crawl-delay", 3, "warning"), ("robots-crawl-delay", 7, "info"),
    ]  # fmt: skip


def test_names_with_more_than_a_name_are_told_once_and_lines_without_one_each() -> None:
    names = "".join(f"User-agent: Sucker{n} Pro\n" for n in range(9))
    found = told(answered(f"{NAMED}{names}User-agent: #\nUser-agent: ?\nDisallow: /a\n"))
    assert short(found) == [
        ("robots-user-agent-invalid", 11, "warning"), ("robots-user-agent-invalid", 12, "warning"),
        ("robots-user-agent-invalid", 2, "info"),
    ]  # fmt: skip
    assert found[-1].message.startswith("9 lines have more than a name, for example line 2: 'User-agent: Sucker0 Pro'")


def test_groups_that_run_into_each_other_are_told_once() -> None:
    groups = "".join(f"User-agent: bot-{n}\nCrawl-delay: 0\n\n" for n in range(9))
    [joined] = [one for one in told(answered(f"{NAMED}{groups}Disallow: /\n")) if "joined" in one.rule]
    assert joined.message.startswith("8 lines join the group above, for example line 5: 'User-agent: bot-1'")


STAR = f"{NAMED}User-agent: *\nDisallow: /a\nDisallow: /b*.php$\nDisallow: /c?\n\n"


@pytest.mark.parametrize(
    ("group", "severity"),
    cases(
        (["User-agent: Googlebot\nCrawl-delay: 0", "User-agent: Yandex\nClean-param: a",
          "User-agent: Googlebot"], "warning"),
        (["User-agent: Pinterest\nCrawl-delay: 0", "User-agent: Bingbot\nDisallow: /d",
          "User-agent: Bingbot\nAllow: /a/b\nDisallow: /a"], "info"),
        (["User-agent: Bingbot\nDisallow: /a\nDisallow: /b", "User-agent: Bingbot\nDisallow: /",
          "User-agent: Bingbot\nDisallow: /\nAllow: /d", "User-agent: Bingbot\nDisallow:",
          "User-agent: Bingbot\nAllow: /\nDisallow: /d", "User-agent: Bingbot\nAllow: *\nDisallow: /d",
          "User-agent: AdsBot-Google\nCrawl-delay: 0", "User-agent: Mediapartners-Google\nDisallow: /d"], None),
    ),
)  # fmt: skip
def test_group_that_drops_the_rules_of_star(group: str, severity: str | None) -> None:
    findings = told(answered(f"{STAR}{group}\n"))
    dropped = [finding for finding in findings if finding.rule == "robots-group-drops-rules"]
    assert [(finding.line, finding.severity) for finding in dropped] == ([(7, severity)] if severity else [])


def test_dropped_rules_are_named() -> None:
    finding = only("robots-group-drops-rules", f"{STAR}User-agent: foo\nHost: a\n\nUser-agent: Bingbot\nHost: a\n")
    assert finding.message == (
        "foo, Bingbot follow their own groups, which lack 3 Disallow rules that others follow: "
        "'Disallow: /a' on line 3 and 2 more"
    )


@pytest.mark.parametrize(
    "body",
    [
        "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /a\n",
        "User-agent: *\nDisallow: /\nAllow: /a\n\nUser-agent: Googlebot\nCrawl-delay: 0\n",
        "User-agent: *\nDisallow: /a\nAllow: /a\n\nUser-agent: Googlebot\nCrawl-delay: 0\n",
        "User-agent: *\nDisallow: /a\n\nUser-agent: Googlebot\nDisallow: /b\n",
        "User-agent: *\nDisallow:\n\nUser-agent: Googlebot\nCrawl-delay: 0\n",
        "User-agent: *\nUser-agent: Googlebot\nDisallow: /a\nDisallow: /b\n",
        "User-agent: Googlebot\nCrawl-delay: 0\n",
    ],
)
def test_group_that_drops_nothing(body: str) -> None:
    assert not [one for one in told(answered(NAMED + body)) if one.rule == "robots-group-drops-rules"]


def test_group_that_would_follow_another_crawlers() -> None:
    body = f"{NAMED}User-agent: Googlebot\nDisallow: /a\nDisallow: /b\n\nUser-agent: Googlebot-News\nHost: a\n"
    assert only("robots-group-drops-rules", body).line == 6


def test_groups_that_deny_everything() -> None:
    body = f"{NAMED}User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nUser-agent: foo\nDisallow: /\n"
    finding = only("robots-group-denies-all", body)
    assert (finding.line, finding.severity, finding.message) == (5, "info", "everything is disallowed for GPTBot, foo")
    assert only("robots-group-denies-all", f"{NAMED}User-agent: *\nDisallow: /\n").line == 2


def test_a_closed_site_is_a_warning_where_nothing_else_says_so() -> None:
    closed = "User-agent: *\nDisallow: /\n"
    assert only("robots-group-denies-all", closed).severity == "warning"
    assert only("robots-group-denies-all", closed + NAMED).severity == "info"
    assert only("robots-group-denies-all", f"{closed}User-agent: Bingbot\nDisallow:\n").severity == "info"
    with_urls = told(answered(closed), ["https://example.com/"])
    assert ("robots-group-denies-all", 1, "info") in short(with_urls)
    assert ("robots-group-denies-all", 1, "warning") in short(told(answered(closed), agents=""))


def test_urls_that_nobody_may_read_are_counted() -> None:
    policy = answered(f"User-agent: *\nDisallow: /a\nUser-agent: GPTBot\nDisallow: /b\n{NAMED}")
    urls = [f"https://example.com{path}" for path in ("/", "/a", "/b")]
    assert told(policy, urls) == []
    closed = answered(f"User-agent: *\nDisallow: /a\n{NAMED}")
    assert told(closed, urls) == []  # each is a finding of its own
    [finding] = told(closed, urls, agents="ai")
    assert finding.rule == "robots-nobody-allowed"
    assert finding.message.startswith("1 of 3 listed URLs is blocked for all ")


def test_parsers_that_disagree() -> None:
    robots = answered("User-agent: *\nDisallow: /x$\nDisallow: /?u=/x\n")
    listed = [f"https://example.com/{path}" for path in ("x$y", "?u=%2Fx1", "?u=%2Fx2")]
    told_of = [one for one in told(robots, listed, agents="Googlebot") if one.rule == "robots-parsers-disagree"]
    assert {one.severity for one in told_of} == {"info"}
    assert [(one.line, one.message) for one in told_of] == [
        (
            3,
            "'Disallow: /?u=/x': RFC 9309 disallows 'https://example.com/?u=%2Fx1' for Googlebot, protego allows it: Scrapy "
            "requests it, and other listed URLs",
        ),
        (
            2,
            "'Disallow: /x$': RFC 9309 allows 'https://example.com/x$y' for Googlebot, protego disallows it: Scrapy skips it",
        ),
    ]
