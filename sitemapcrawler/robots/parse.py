"""A robots.txt as groups of rules, with the line of each: RFC 9309, 2.1 and 2.2.

As lenient as Google's parser with field names, since what Google reads is what a site gets; as strict as the RFC with
what ends a group: Allow and Disallow do, other records (Sitemap, Crawl-delay, anything unknown) do not (2.2.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sitemapcrawler.robots.agents import EVERYBODY, TOKEN
from sitemapcrawler.robots.decode import BLANKS
from sitemapcrawler.robots.groups import Block, Group, Kind, Parsed
from sitemapcrawler.robots.patterns import Rule

MAX_LINE = 2083 * 8 - 1
"""Characters of a line; google/robotstxt reads no more of it, RFC 9309 sets no limit. What is left is obeyed."""

USER_AGENT, ALLOW, DISALLOW = "user-agent", "allow", "disallow"
FIELDS = {
    "user-agent": USER_AGENT,
    "useragent": USER_AGENT,
    "user agent": USER_AGENT,
    "allow": ALLOW,
    "disallow": DISALLOW,
    "dissallow": DISALLOW,
    "dissalow": DISALLOW,
    "disalow": DISALLOW,
    "diasllow": DISALLOW,
    "disallaw": DISALLOW,
}
"""Field names and what they mean: the RFC's, and the misspellings that google/robotstxt and protego accept."""
TIMING = {
    "crawl-delay": "crawl-delay",
    "crawl delay": "crawl-delay",
    "request-rate": "request-rate",
    "request rate": "request-rate",
    "visit-time": "visit-time",
    "visit time": "visit-time",
}
"""Records of a group that say when and how fast to crawl; no standard, read by protego."""
OTHERS = {
    "host": "Yandex, until 2018",
    "clean-param": "https://yandex.com/support/webmaster/en/robot-workings/clean-param",
    "content-signal": "https://contentsignals.org",
    "content-usage": "https://datatracker.ietf.org/doc/draft-ietf-aipref-attach/",
    "license": "https://rslstandard.org",
}
"""Records that some crawlers read and we do not need, and where they come from."""
_SITEMAP = re.compile(r"site[-_ ]?map|https?$")
"""A Sitemap line, or a sitemap's URL alone: `sitemaps` judges those."""
_LINE = re.compile(r"([^:]+):(.*)", re.DOTALL)


def parse(lines: Iterable[str]) -> Parsed:
    """Read the lines of a robots.txt. Nothing stops it, and its time is linear in the lines."""
    parsed = Parsed()
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0].strip(BLANKS)
        if not content:
            continue
        if len(content) > MAX_LINE:
            parsed.note(Kind.TOO_LONG, number, content)
            content = content[:MAX_LINE]
        _read_line(parsed, number, content)
    return parsed


def _read_line(parsed: Parsed, number: int, content: str) -> None:
    name, value, exact = field_of(content)
    meaning = FIELDS.get(name)
    if not exact and (meaning or name in TIMING):
        parsed.note(Kind.MISSPELT_FIELD, number, content)
    if meaning == USER_AGENT:
        _read_agent(parsed, number, value, content)
    elif meaning is not None:
        _read_rule(parsed, Rule(meaning == ALLOW, value, number, content))
    else:
        _read_other(parsed, number, name, value, content)


def _read_other(parsed: Parsed, number: int, name: str, value: str, content: str) -> None:
    if name not in TIMING and name not in OTHERS and not _SITEMAP.match(name):
        parsed.note(Kind.UNKNOWN_FIELD if name else Kind.NOT_A_LINE, number, content)
    if parsed.block is not None and name:
        parsed.block.parted = True
        if name in TIMING:
            parsed.block.timing.append((TIMING[name], value, number, len(parsed.block.agents)))


def field_of(content: str) -> tuple[str, str, bool]:
    """Name in lower case, value, and whether both are written as the RFC has it; an empty name where there is none.

    White space stands for a forgotten colon where one word follows, as google/robotstxt has it.
    """
    found = _LINE.match(content)
    name = "" if found is None else " ".join(found[1].split()).lower()
    if found is not None and (name in FIELDS or name in TIMING):
        return name, found[2].strip(BLANKS), name in {USER_AGENT, ALLOW, DISALLOW, *TIMING.values()}
    words = content.split()
    forgotten = " ".join(words[:-1]).lower()
    if forgotten in FIELDS or forgotten in TIMING:
        return forgotten, words[-1], False
    return name, "", True


def _read_agent(parsed: Parsed, number: int, value: str, content: str) -> None:
    if parsed.block is None or parsed.block.closed:
        parsed.block = Block()
    elif parsed.block.parted:
        parsed.note(Kind.JOINED, number, content)
    token = _token(value)
    if not token or token != value.lower():
        parsed.note(Kind.BAD_AGENT, number, content)
    if not token:
        return
    group = parsed.groups.setdefault(token, Group(token))
    group.lines.append(number)
    parsed.block.agents.append((token, number))
    if not group.blocks or group.blocks[-1] is not parsed.block:
        group.blocks.append(parsed.block)


def _token(value: str) -> str:
    """The product token of a User-agent value in lower case: all up to the first character that is of none."""
    if value == EVERYBODY or (value.startswith(EVERYBODY) and value[1].isspace()):
        return EVERYBODY
    found = TOKEN.match(value)
    return found[0].lower() if found else ""


def _read_rule(parsed: Parsed, rule: Rule) -> None:
    if parsed.block is None:
        parsed.note(Kind.OUTSIDE_GROUP, rule.line, rule.text)
        return
    parsed.block.closed = True
    if rule.pattern:
        if not rule.matchable:
            parsed.note(Kind.UNMATCHABLE, rule.line, rule.text)
        parsed.block.rules.append(rule)
