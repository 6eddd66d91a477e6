"""The rules on usage preferences, in robots.txt and of pages."""

from __future__ import annotations

import time

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.robots.usage import Preference, Use
from sitemapcrawler.rules.facts.given import ReplyFacts

from .replying import SITEMAP, URL, facts, message, moved, page
from .replying import told as told_of
from .robots_told import answered, told

STAR = "User-agent: *\n"
TRAINERS = "GPTBot, CCBot"
OF_ROBOTS_TXT = Preference(Use.TRAIN, False, "robots.txt line 2")


def usage(body: str, agents: str = TRAINERS.replace(" ", "")) -> list[tuple[str, int | None, str]]:
    """Rule without its prefix, line and severity of each finding of the family. Judged for two crawlers that train."""
    found = told(answered(body), agents=agents)
    return [
        (one.rule.removeprefix("usage-"), one.line, str(one.severity)) for one in found if one.rule.startswith("usage-")
    ]


def said(body: str, rule: str) -> str:
    [one] = [one for one in told(answered(body), agents="GPTBot,CCBot") if one.rule == f"usage-{rule}"]
    return one.message


# ---- robots.txt


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("User-agent: *\nContent-Usage: search=y\nAllow: /", []),
        ("User-agent: *\nContent-Usage: train-ai=no", [("value-invalid", 2, "warning")]),
        ("User-agent: *\nContent-Usage: /a ai-train=n", [("value-invalid", 2, "warning")]),
        ("User-agent: *\nContent-Usage: search=y, bots=n", [("value-invalid", 2, "info")]),
        ("User-agent: *\nContent-Usage: Train-AI=n", [("value-invalid", 2, "warning")]),
        ("User-agent: *\nContent-Signal: search=yes,ai-input=maybe", [("value-invalid", 2, "warning")]),
        ("User-agent: *\nContent-Signal: search=yes,use=reference", []),
        ("Content-Usage: search=y\nUser-agent: *\nDisallow:", [("value-invalid", 1, "warning")]),
        ("License: /license.xml\nLicense: https://example.com/rsl.xml", [("license-invalid", 1, "warning")]),
        ("License:", [("license-invalid", 1, "warning")]),
        (
            "User-agent: *\nContent-Usage: search=n\nContent-Signal: search=yes",
            [("robots-conflict", 2, "warning")],
        ),
        ("User-agent: *\nContent-Usage: /a search=n\nContent-Usage: /a search=y", [("robots-conflict", 2, "warning")]),
        ("User-agent: *\nContent-Usage: search=n\nContent-Usage: /a search=y", []),
        ("User-agent: *\nDisallow: /a\nContent-Usage: /a/ search=y", [("line-unreachable", 3, "info")]),
        ("User-agent: a\nDisallow: /\nContent-Usage: search=y", [("line-unreachable", 3, "info")]),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b\nContent-Usage: /a/b search=y", []),
    ],
)
def test_a_line_of_robots_txt(lines: str, found: list[tuple[str, int | None, str]]) -> None:
    assert usage(lines) == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (
            "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /",
            [],
        ),
        ("User-agent: *\nContent-Usage: train-ai=n", [("crawlers-differ", 2, "info")]),
        ("User-agent: *\nContent-Usage: train-ai=y", []),
        (
            "User-agent: *\nContent-Usage: train-ai=y\nAllow: /\nUser-agent: GPTBot\nDisallow: /",
            [("crawlers-differ", 2, "info")],
        ),
        ("User-agent: *\nContent-Usage: /a train-ai=n", []),
        ("User-agent: *\nContent-Signal: ai-input=no, search=no", []),
        (
            "User-agent: *\nContent-Signal: ai-train=no\nAllow: /\nUser-agent: GPTBot\nAllow: /",
            [("group-missing", 4, "warning"), ("crawlers-differ", 2, "info")],
        ),
        (
            "User-agent: *\nContent-Signal: ai-train=no\nAllow: /\nUser-agent: GPTBot\nContent-Usage: train-ai=n\nAllow: /",
            [("crawlers-differ", 2, "info")],
        ),
        (
            "User-agent: *\nContent-Signal: ai-train=no\nAllow: /\nUser-agent: Googlebot\nAllow: /",
            [("crawlers-differ", 2, "info")],
        ),
    ],
)
def test_a_preference_and_the_crawlers_that_it_is_about(lines: str, found: list[tuple[str, int | None, str]]) -> None:
    assert usage(lines) == found


def test_messages_name_lines_crawlers_and_what_to_write() -> None:
    robots = f"{STAR}Content-Usage: train-ai=n\nContent-Signal: ai-train=yes\nAllow: /\nUser-agent: GPTBot\nAllow: /\n"
    assert said(robots, "robots-conflict") == (
        "training of '/': robots.txt line 2 disallows it, robots.txt line 3 allows it"
    )
    assert said(robots, "group-missing") == (
        "GPTBot follows its own group, without a preference on training; line 2 disallows it for others"
    )
    lost = f"{STAR}Content-Usage: ai-train=n\nLicense: /rsl.xml\n"
    assert said(lost, "value-invalid") == (
        "'Content-Usage: ai-train=n': ai-train is not a label of Content-Usage: write train-ai"
    )
    assert said(lost, "license-invalid") == (
        "License '/rsl.xml' is not an absolute URL: write 'https://example.com/rsl.xml'"
    )
    assert said(f"{STAR}Content-Usage: train-ai=n\n", "crawlers-differ") == (
        "robots.txt line 2 disallows training, but GPTBot, CCBot may fetch the home page"
    )
    assert said(f"{STAR}Disallow: /a\nContent-Usage: /a search=y\n", "line-unreachable") == (
        "'/a search=y': line 2, 'Disallow: /a', disallows the path"
    )


# ---- pages


@pytest.mark.parametrize(
    ("head", "headers", "rules"),
    [
        ("", {"content_usage": "train-ai=n"}, {}),
        ("", {"content_usage": "ai-train=n"}, {"usage-page-invalid": "warning"}),
        ("", {"tdm_reservation": "yes"}, {"usage-page-invalid": "warning"}),
        ('<meta name="tdm-policy" content="/p.json">', {}, {"usage-page-invalid": "warning"}),
        ('<meta name="robots" content="noai">', {"content_usage": "train-ai=y"}, {"usage-page-conflict": "warning"}),
        ('<meta name="robots" content="noai">', {}, {}),
        ("", {"content_usage": "search=y"}, {}),
    ],
)
def test_what_a_page_states(head: str, headers: dict[str, str], rules: dict[str, str]) -> None:
    of_page = page(f'<link rel="canonical" href="{URL}">{head}', **headers)
    stated = of_page.usage.preferences if of_page.usage is not None else ()
    asked = facts(page=of_page, usage=(OF_ROBOTS_TXT, *stated) if "y" not in str(headers) else stated)
    assert {rule: severity for rule, severity in told_of(asked).items() if rule.startswith("usage")} == rules


def blocked(usage: tuple[Preference, ...] = ()) -> ReplyFacts:
    of_page = page('<meta name="robots" content="noai">')
    assert of_page.usage is not None
    record = UrlRecord(URL, sitemap=SITEMAP, line=3, blocked_for=("GPTBot", "Googlebot"))
    return facts(record=record, page=of_page, usage=(*usage, *of_page.usage.preferences))


def test_a_page_that_contradicts_robots_txt() -> None:
    of_page = page("", content_usage="train-ai=y")
    assert of_page.usage is not None
    asked = facts(page=of_page, usage=(OF_ROBOTS_TXT, *of_page.usage.preferences))
    assert message(asked, "usage-page-conflict") == (
        "training: robots.txt line 2 disallows it, Content-Usage header allows it"
    )


def test_a_blocked_crawler_does_not_read_what_the_page_states() -> None:
    assert message(blocked(), "usage-page-unreachable") == (
        "meta robots noai is not read by GPTBot, since robots.txt blocks the page"
    )
    assert "usage-page-unreachable" not in told_of(blocked((OF_ROBOTS_TXT,)))


def test_the_page_behind_a_redirect_is_another_one() -> None:
    asked = facts(moved("https://example.com/b"), page=page("", tdm_reservation="yes"))
    assert not any(rule.startswith("usage") for rule in told_of(asked))


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        "User-agent: a{0}\n" * 9_000 + "Content-Usage: /{0} train-ai=n\n" * 9_000,
        "User-agent: a{0}\nContent-Usage: /{0} train-ai=n\n" * 9_000,
        "User-agent: *\n" + "Disallow: /{0}\nContent-Usage: train-ai=n\n" * 9_000,
        "User-agent: *\n" + "Content-Usage: /*{0} train-ai=n\n" * 9_000,
    ],
)
def test_a_hostile_robots_txt_is_judged_in_time(lines: str) -> None:
    numbers = iter(range(1_000_000))
    body = "".join(f"{line.replace('{0}', str(next(numbers)))}\n" for line in lines.splitlines())
    start = time.thread_time()
    assert told(answered(body), listed=["https://example.com/a"])
    assert time.thread_time() - start < 5
