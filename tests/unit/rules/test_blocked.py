"""The rules on listed URLs that robots.txt denies."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.crawl.verdicts import AuthorityVerdicts
from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.robots import Policy, parse_agents
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import FileFacts, VerdictFacts
from sitemapcrawler.rules.judge import Judge

from .robots_told import AGENTS, BODIES, URL, answered, short, told


def denied(body: str | bytes, path: str, agents: str = "search,ai", per_rule: int = 100) -> list[FindingRecord]:
    """Findings on a listed URL, judged twice. Those of crawlers of AI are told once for the site."""
    judged, judge = parse_agents(agents), Judge(Choice(all_rules()), per_rule)
    policy = answered(body)
    sitemap = "https://example.com/s.xml"
    file = FileFacts(sitemap, SitemapRecord(sitemap), Document(sitemap))
    records = [UrlRecord(f"https://example.com{path}", line=7) for _ in range(2)]
    notes = Notes()
    for alike in AuthorityVerdicts(policy, judged).judge(records).values():
        judge.verdicts(alike, partial(VerdictFacts, file=file, policy=policy, agents=judged), notes)
    found = notes.findings(records)
    counted = sum(judge.counts.values()) + sum(
        one.entries for found in file.found.rules.values() for one in found.sums.values()
    )
    assert counted == sum(len(record.issues) for record in records)
    return found + judge.file(file.record, file) + judge.crawl({})


@pytest.mark.parametrize(
    ("body", "agents", "rules"),
    [
        ("User-agent: *\nDisallow: /a", "search,ai", {"url-blocked-by-robots": "error"}),
        ("User-agent: *\nDisallow: /a", "*", {"url-blocked-by-robots": "error"}),
        ("User-agent: *\nDisallow: /a", "ai", {"url-blocked-for-ai-answers": "warning", "url-blocked-for-ai-agent": "info"}),
        ("User-agent: Claude-User\nDisallow: /a", "search,ai", {"url-blocked-for-ai-answers": "warning"}),
        ("User-agent: OAI-SearchBot\nDisallow: /a", "search,ai", {"url-blocked-for-ai-answers": "warning"}),
        ("User-agent: Google-CloudVertexBot\nDisallow: /a", "ai", {"url-blocked-for-ai-answers": "warning"}),
        ("User-agent: *\nDisallow: /a", "botty", {"url-blocked-by-robots": "warning"}),
        ("User-agent: Bingbot\nDisallow: /a", "search,ai", {"url-blocked-by-robots": "error"}),
        ("User-agent: GPTBot\nDisallow: /a", "search,ai", {"url-blocked-for-ai-agent": "info"}),
        ("User-agent: *\nDisallow: /b", "search,ai", {}),
    ],
)  # fmt: skip
def test_a_denied_url(body: str, agents: str, rules: dict[str, str]) -> None:
    findings = denied(body, "/a", agents)
    assert {finding.rule: str(finding.severity) for finding in findings} == rules
    assert {finding.line for finding in findings} <= {7}


def test_a_denied_url_names_crawlers_line_and_group() -> None:
    body = "User-agent: *\nDisallow: /a\n\nUser-agent: googlebot\nAllow: /\nDisallow: /a*b\n"
    [finding, *_] = denied(body, "/ab", "Googlebot,Bingbot,YandexBot,Applebot")
    assert finding.message == (
        "robots.txt blocks it for Googlebot by line 6, 'Disallow: /a*b'; "
        "Bingbot, YandexBot by line 2, 'Disallow: /a' in the group *, since no group names them; "
        "Applebot by line 6, 'Disallow: /a*b' in the group googlebot, since no group names it"
    )
    assert finding.value == "Disallow: /a*b (googlebot)"


def test_a_message_quotes_some_groups_and_counts_the_crawlers_of_the_rest() -> None:
    names = ("Googlebot", "Bingbot", "YandexBot", "Baiduspider", "SeznamBot", "Yeti")
    body = "".join(f"User-agent: {name}\nDisallow: /a\n\n" for name in names)
    [finding, *_] = denied(body, "/a", ",".join(names))
    assert finding.message.endswith(
        "; YandexBot by line 8, 'Disallow: /a'; Baiduspider by line 11, 'Disallow: /a'; 2 more"
    )


def test_bytes_of_a_rule_that_are_no_utf8_can_be_written() -> None:
    [finding, *_] = denied(b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9", "Bingbot")
    assert finding.value == "Disallow: /caf%E9 (*)"
    assert finding.message.encode()


def test_what_is_only_counted_has_the_same_severity() -> None:
    findings = denied("User-agent: *\nDisallow: /", "/a", per_rule=1)
    assert [str(finding.severity) for finding in findings] == ["error"]
    [finding] = denied("User-agent: *\nDisallow: /", "/a", "GPTBot", per_rule=1)
    assert (str(finding.severity), finding.line) == ("info", 7)
    assert finding.message.startswith(
        "2 entries are blocked for crawlers that train AI models, for example 'https://example.com/a': "
    )
    assert denied("User-agent: *\nDisallow: /", "/a", per_rule=0) == []


def test_a_crawler_of_ai_is_no_news_where_nobody_may_come() -> None:
    body = "User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /b\n"
    assert {finding.rule for finding in denied(body, "/a")} == {"url-blocked-by-robots"}
    assert {finding.rule for finding in denied(body, "/b")} == {"url-blocked-for-ai-agent"}


def test_an_unreachable_robots_says_nothing_of_urls() -> None:
    gone, record = Policy.unreachable(URL, "HTTP status 503"), UrlRecord("https://example.com/a")
    [denied_to_all] = AuthorityVerdicts(gone, AGENTS).judge([record]).values()
    file = FileFacts(URL, SitemapRecord(URL), Document(URL))
    facts_of = partial(VerdictFacts, file=file, policy=gone, agents=AGENTS)
    notes = Notes()
    Judge(Choice(all_rules()), 100).verdicts(denied_to_all, facts_of, notes)
    assert not notes and not record.issues
    assert short(told(gone, [record.loc])) == [("robots-unreachable", None, "error")]


@given(BODIES, st.sampled_from(["/", "/a", "/caf\xe9", "/%ff", "?%"]))
def test_no_bytes_make_a_rule_fail(body: bytes, path: str) -> None:
    findings = denied(body, path)
    assert {finding.rule.partition("-")[0] for finding in findings} <= {"url"}
    assert all(f"{finding.message}{finding.value}".encode() for finding in findings)
