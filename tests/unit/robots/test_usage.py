"""Usage preferences in robots.txt. The examples are those of draft-ietf-aipref-vocab-08 and draft-ietf-aipref-attach-05."""

from __future__ import annotations

import pytest

from sitemapcrawler.robots.policy import Policy
from sitemapcrawler.robots.usage import CONTENT_SIGNAL, CONTENT_USAGE, Use, statement

from .saying import at, policy

TRAIN, SEARCH, INPUT = Use


def stated(robots: Policy, path: str, token: str = "*") -> dict[Use, tuple[bool, int]]:
    """{use: whether it is allowed, and the line that says so} of a path."""
    usage = robots.usage_of(token)
    found = usage.preferences(path) if usage is not None else ()
    return {one.use: (one.allowed, int(one.place.removeprefix("robots.txt line "))) for one in found}


# ---- values


@pytest.mark.parametrize(
    ("value", "preferences"),
    [
        ("train-ai=y, search=n", {TRAIN: True, SEARCH: False}),  # vocab, 6
        ('train-ai=y, train-ai, search=n, search="n"', {}),  # vocab, 6.5.1
        ("train-ai;allow=n, train-ai=y", {TRAIN: True}),  # vocab, 6.5.2
        ('train-ai;has;parameters="?";', {}),  # vocab, 6.5.2
        ("ai-use=n", {INPUT: False}),
        ("train-ai=n;until=2027, unheard=y", {TRAIN: False}),
        ("Train-AI=n", {}),
        ("train-ai=N", {}),
        ("train-ai=no", {}),
        ("train-ai=n,", {}),
        ("n", {}),
        ("", {}),
    ],
)
def test_content_usage_says_what_the_drafts_say(value: str, preferences: dict[Use, bool]) -> None:
    assert statement(CONTENT_USAGE, value).preferences == preferences


@pytest.mark.parametrize(
    ("value", "preferences"),
    [
        ("ai-train=no, search=yes, ai-input=yes", {TRAIN: False, SEARCH: True, INPUT: True}),
        ("search=yes,ai-train=no,use=reference", {TRAIN: False, SEARCH: True}),
        ("Search = Yes , AI-Train=NO,", {TRAIN: False, SEARCH: True}),
        ("ai-train=n", {}),
        ("ai-train", {}),
    ],
)
def test_content_signal_says_what_cloudflare_writes(value: str, preferences: dict[Use, bool]) -> None:
    read = statement(CONTENT_SIGNAL, value)
    assert read.preferences == preferences
    assert bool(read.faults) is not bool(preferences)


@pytest.mark.parametrize(
    ("dialect", "value", "faults", "unknown"),
    [
        (CONTENT_USAGE, "ai-train=n", ("ai-train is not a label of Content-Usage: write train-ai",), ()),
        (CONTENT_USAGE, "train-ai=no", ("train-ai=no: the value must be y or n",), ()),
        (CONTENT_USAGE, "bots=n", (), ("bots is not a label of Content-Usage",)),
        (CONTENT_USAGE, "no", (), ("no is not a label of Content-Usage",)),
        (CONTENT_USAGE, "train ai=n", ("it is not a list of preferences such as train-ai=y, search=n",), ()),
        (CONTENT_SIGNAL, "train-ai=no", ("train-ai is not a label of Content-Signal: write ai-train",), ()),
        (CONTENT_SIGNAL, "use=some", ("use=some: the value must be one of immediate, reference, full",), ()),
        (CONTENT_SIGNAL, "", ("it is not a list of preferences such as ai-train=yes, search=no",), ()),
    ],
)
def test_a_mistake_is_named(dialect: str, value: str, faults: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    read = statement(dialect, value)
    assert (read.faults, read.unknown) == (faults, unknown)


# ---- groups and paths

EXAMPLE = """User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""
"""draft-ietf-aipref-attach-05, figure 2"""


@pytest.mark.parametrize(
    ("path", "token", "expected"),
    [
        ("/test", "*", {TRAIN: (False, 4)}),
        ("/never/test", "*", {}),
        ("/ai-ok/test", "*", {TRAIN: (True, 5)}),
        ("/never/test", "examplebot", {TRAIN: (True, 9)}),
        ("/test", "otherbot", {}),
    ],
)
def test_the_example_of_the_attachment_draft(path: str, token: str, expected: dict[Use, tuple[bool, int]]) -> None:
    assert stated(policy(EXAMPLE), path, token) == expected


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        ("Content-Usage: / train-ai=n\nContent-Usage: train-ai=y", "/a", {TRAIN: (False, 2)}),
        ("Content-Usage: /a train-ai=n\nContent-Usage: /a/b search=y", "/a/b", {SEARCH: (True, 3)}),
        ("Content-Usage: /*.pdf$ train-ai=n", "/x.pdf", {TRAIN: (False, 2)}),
        ("Content-Usage: /*.pdf$ train-ai=n", "/x.pdf?a", {}),
        ("Content-Usage: /%61 train-ai=n", "/a", {TRAIN: (False, 2)}),
        ("Content-Usage: /a/index.html train-ai=n", "/a/", {}),
        ("Content-Usage: /a%20b\ttrain-ai=n", "/a%20b", {TRAIN: (False, 2)}),
        (" CONTENT-USAGE\t:\t/a  train-ai=n # no", "/a", {TRAIN: (False, 2)}),
        ("Content-Usage: /a", "/a", {}),
        ("Content-Signal: /a ai-train=no\nContent-Signal: search=yes", "/a", {TRAIN: (False, 2)}),
        ("Content-Signal: ai-input=no\nContent-Usage: train-ai=n", "/a", {TRAIN: (False, 3), INPUT: (False, 2)}),
        ("Disallow: /a\nContent-Signal: ai-train=no", "/a", {}),
        ("Disallow: /\nAllow: /a\nContent-Usage: train-ai=n", "/a", {TRAIN: (False, 4)}),
    ],
)
def test_the_longest_path_decides_alone(lines: str, path: str, expected: dict[Use, tuple[bool, int]]) -> None:
    assert stated(policy(f"User-agent: *\n{lines}\n"), path) == expected


def test_lines_with_the_same_path_apply_together() -> None:
    usage = policy("User-agent: *\nContent-Usage: /a train-ai=n\nContent-Usage: /%61 train-ai=y, search=y\n").usage_of()
    assert usage is not None
    assert [(one.use, one.allowed) for one in usage.preferences("/a")] == [
        (TRAIN, False),
        (TRAIN, True),
        (SEARCH, True),
    ]


def test_a_line_applies_to_the_user_agents_above_it() -> None:
    robots = policy("Content-Usage: ai-use=n\nUser-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nAllow: /\n")
    assert stated(robots, "/", "a") == {TRAIN: (False, 3)}
    assert robots.usage_of("b") is None
    assert [line.line for line in robots.parsed.usage] == [1, 3]


# ---- references


def test_licenses_and_schemamaps_are_absolute_and_belong_to_no_group() -> None:
    robots = policy(
        "License: /license.xml\nUser-agent: a\nSchemamap: https://example.com/schemamap.xml\nlicense: https://rsl.example/1\n"
        "Disallow: /\nSCHEMAMAP: /schemamap.xml\nLicense:\nLicense: ftp://example.com/\n"
    )
    assert robots.licenses == [at("/license.xml"), "https://rsl.example/1"]
    assert robots.schemamaps == ["https://example.com/schemamap.xml"]
