"""Judging a robots.txt in a test: text in, findings out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from sitemapcrawler.crawl.verdicts import AuthorityVerdicts
from sitemapcrawler.items import FindingRecord, UrlRecord
from sitemapcrawler.robots import Policy, parse_agents
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.judge import Judge

URL = "https://example.com/robots.txt"
NAMED = "Sitemap: https://example.com/sitemap.xml\n"
OPEN = f"User-agent: *\nDisallow:\n{NAMED}"
AGENTS = tuple(parse_agents("search,ai"))

Found = list[tuple[str, int | None, str]]
"""Rule, line and severity of findings."""


def answered(body: str | bytes, url: str = URL, status: int = 200, **keywords: Any) -> Policy:
    return Policy.from_response(url, status, body.encode() if isinstance(body, str) else body, **keywords)


def told(
    policy: Policy,
    listed: Iterable[str] = (),
    *,
    start: bool = True,
    agents: str = "search,ai",
    final: str = "",
    given_up: bool = False,
    sitemap_read: bool = False,
    third_party: bool = False,
) -> list[FindingRecord]:
    """Findings on a robots.txt at the end of a crawl in which these URLs were listed."""
    judged = parse_agents(agents) if agents else []
    authority = AuthorityVerdicts(policy, judged)
    authority.judge([UrlRecord(url) for url in listed])
    record = authority.record(agent("sitemapcrawler"), final or policy.url)
    told = authority.opinion.disagreements()
    facts = RobotsFacts(record, policy, judged, start, authority.nobody, given_up, sitemap_read, told, third_party)
    return Judge(Choice(all_rules()), 1_000_000).robots(facts)


def short(findings: Iterable[FindingRecord]) -> Found:
    return [(finding.rule, finding.line, str(finding.severity)) for finding in findings]


def found(body: str | bytes, url: str = URL) -> Found:
    """What is told of the text of a robots.txt."""
    return short(told(answered(body, url)))


def only(rule: str, body: str | bytes) -> FindingRecord:
    """The one finding of a rule."""
    [finding] = [finding for finding in told(answered(body)) if finding.rule == rule]
    return finding


FIELDS = (
    b"User-agent", b"Disallow", b"Crawl-delay", b"Sitemap", b"Sitmap", b"Noindex", b"Useragent", b"Content-Usage",
    b"Content-Signal", b"License",
)  # fmt: skip
VALUES = (
    b"*", b"/", b"$", b"https://example.com/", b"http://[", b"Googlebot", b"/a train-ai=n", b"ai-train=yes", b"inf", b"1e999", b"-1", b"%", b"/caf\xe9",
)  # fmt: skip
PIECES = st.sampled_from((*FIELDS, *VALUES, b":", b": ", b" ", b"\n", b"#", b"\xff", b"\xef\xbb\xbf", b"\0"))
BODIES = st.one_of(st.binary(), st.lists(PIECES).map(b"".join))
"""Anything that may stand in a robots.txt."""
