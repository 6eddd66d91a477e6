"""A robots.txt as groups of rules, with the line of each: RFC 9309, 2.1 and 2.2.

`parse` reads for crawlers in general: it accepts the usual misspellings and the blanks that editors leave. As in the
RFC, Allow and Disallow end a group; other records (Sitemap, Crawl-delay, anything unknown) do not (2.2.4).
`parse_as_google` reads each line as google/robotstxt does, for Google's crawlers. Few files differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from sitemapcrawler.robots.agents import EVERYBODY, TOKEN
from sitemapcrawler.robots.ruleset import PathRule
from sitemapcrawler.robots.text import BLANKS, BOM, MARKUP_START, MAX_LINE, PERCENT, TAG

MAX_NOTES = 100  # of each kind; the counts are complete
SHOWN = 200  # characters of a line in a note


class NoteKind(StrEnum):
    """What is noted about a line."""

    NOT_A_LINE = "not a line"
    """Text without a colon."""
    UNKNOWN_FIELD = "unknown field"
    MISSPELT_FIELD = "misspelt field"
    """Read as what is meant, by Google too; other crawlers may not."""
    GOOGLE_FIELD = "field that only Google reads"
    """A field that only begins like one, such as `Disallowed`: google/robotstxt compares no more than that."""
    NO_BLANK = "no blank"
    """A character around a field or value that some readers take for a blank, Google does not: U+00A0 or U+0000."""
    BYTE_ORDER_MARK = "byte order mark"
    """One below the start of the file: it is part of the field or value that it stands in."""
    MARKUP = "markup"
    """HTML, as a line of its own or within a value."""
    SITEMAP_WITHOUT_URL = "sitemap without URL"
    OUTSIDE_GROUP = "outside of a group"
    """A rule before the first User-agent line: nobody follows it."""
    BAD_AGENT = "no product token"
    """A User-agent value of which only the part before the first foreign character counts, or nothing."""
    UNMATCHABLE = "unmatchable"
    """A rule that begins neither with `/` nor with `*`: it matches nothing."""
    JOINED = "joined groups"
    """A User-agent line that joins the group above, as no rule but only other records stand between."""
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Note:
    """Something about one line that its owner may not have meant."""

    kind: NoteKind
    line: int
    """Line of robots.txt, counted from 1."""
    text: str
    """The line as written, its comment and all beyond `SHOWN` characters left out."""


@dataclass(slots=True)
class RuleBlock:
    """Consecutive User-agent lines and what follows up to the next ones."""

    agents: list[tuple[str, int]] = field(default_factory=list)
    """Product tokens in lower case, each with its line."""
    rules: list[PathRule] = field(default_factory=list)
    timing: list[tuple[str, str, int, int]] = field(default_factory=list)
    """Field, value, line, and how many of the agents stood above it: it is theirs."""
    parted: bool = False
    """True where a record that is no rule came below the agents."""
    closed: bool = False
    """True from the first rule on, an empty one included: the next User-agent line begins another block."""
    unrestricted: bool = False
    """True where a Disallow or Allow line has no path: whoever wrote it meant to restrict nothing."""


@dataclass(slots=True)
class Group:
    """All that a robots.txt says to one product token: its blocks together (RFC 9309, 2.2.1)."""

    token: str
    """In lower case."""
    blocks: list[RuleBlock] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """The User-agent lines that name it."""

    @property
    def rules(self) -> list[PathRule]:
        """Its rules in the order of the file."""
        return [rule for block in self.blocks for rule in block.rules]

    @property
    def timing(self) -> list[tuple[str, str, int]]:
        """Its timing records in the order of the file: field, value, line."""
        found = []
        for block in self.blocks:
            place = next(number for number, (token, _) in enumerate(block.agents) if token == self.token)
            found += [(name, value, line) for name, value, line, above in block.timing if place < above]
        return found


@dataclass(slots=True)
class Parsed:
    """What a robots.txt says."""

    groups: dict[str, Group] = field(default_factory=dict)
    """By token, in the order of the file."""
    notes: list[Note] = field(default_factory=list)
    """In the order of the file; of each kind the first `MAX_NOTES`."""
    counts: Counter[NoteKind] = field(default_factory=Counter)
    """How many lines of each kind there are."""
    block: RuleBlock | None = None
    """The last block."""
    google_differs: bool = False
    """True where Google reads a User-agent, Allow or Disallow line otherwise: `parse_as_google`."""

    def note(self, kind: NoteKind, line: int, text: str) -> None:
        """Keep a note, if there are not too many of its kind."""
        self.counts[kind] += 1
        if self.counts[kind] <= MAX_NOTES:
            self.notes.append(Note(kind, line, text[:SHOWN]))


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
_GOOGLE_BLANKS = " \t\n\v\f\r"
_GOOGLE_TOKEN = re.compile(r"[A-Za-z_-]+")
_ALIKE = re.compile(
    r"[ \t]*(?:(?:allow|disallow)[ \t]*:[ -~\t]*"
    r"|user-agent[ \t]*:[ \t]*(?:\*|[a-z_-]+)[ \t]*(?:#.*)?"
    r"|(?:sitemap|crawl-delay|host)[ \t]*:.*"
    r"|(?:#.*)?)",
    re.IGNORECASE,
)
"""Lines that Google certainly reads as all others do: a quick test for nearly all there are."""


def parse(lines: Iterable[str]) -> Parsed:
    """Read the lines of a robots.txt. Nothing stops it, and its time is linear in the lines."""
    parsed = Parsed()
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0].strip(BLANKS)
        if content.strip(BLANKS + BOM):
            if len(content) > MAX_LINE:
                parsed.note(NoteKind.TOO_LONG, number, content)
                content = content[:MAX_LINE]
            _read_line(parsed, number, content)
        if len(line) > MAX_LINE or not _ALIKE.fullmatch(line):
            _compare(parsed, number, line, content)
    return parsed


def parse_as_google(lines: Iterable[str]) -> Parsed:
    """The groups that Google's crawlers find in a robots.txt."""
    parsed = Parsed()
    for number, line in enumerate(lines, 1):
        meaning, value = google_reading(line)
        content = line.partition("#")[0].strip(BLANKS)[:MAX_LINE]
        if meaning == USER_AGENT:
            _read_agent(parsed, number, value, content, _GOOGLE_TOKEN)
        elif meaning:
            _read_rule(parsed, PathRule(meaning == ALLOW, value, number, content))
    return parsed


def google_reading(line: str) -> tuple[str, str]:
    """What a line means to google/robotstxt (`user-agent`, `allow`, `disallow` or nothing), and its value.

    Of the field only the beginning counts. White space stands for a forgotten colon between two words, if the line has
    no colon at all. Only ASCII characters are blanks, and U+0000 ends the line.
    """
    if 4 * len(line) > MAX_LINE:
        line = line.encode(errors="replace")[:MAX_LINE].decode("utf-8", PERCENT)
    content = line.partition("\0")[0].partition("#")[0].strip(_GOOGLE_BLANKS)
    name, colon, value = content.partition(":")
    if not colon:
        words = re.split(r"[ \t]+", content)
        if len(words) != 2:
            return "", ""
        name, value = words
    name = name.lower()
    meaning = next((meaning for start, meaning in FIELDS.items() if name.startswith(start)), "")
    return meaning, value.strip(_GOOGLE_BLANKS)


def _compare(parsed: Parsed, number: int, line: str, content: str) -> None:
    """Note where Google reads a line otherwise."""
    name, value, _ = field_of(content)
    meaning, google_value = google_reading(line)
    own = FIELDS.get(name, "")
    if own == USER_AGENT == meaning:
        alike = _token(value) == _token(google_value, _GOOGLE_TOKEN)
    else:
        alike = own == meaning and (not own or value == google_value)
    if not alike:
        parsed.google_differs = True
        if own and re.search("[\0\xa0]", line.partition("#")[0]):
            parsed.note(NoteKind.NO_BLANK, number, content)


def _read_line(parsed: Parsed, number: int, content: str) -> None:
    name, value, exact = field_of(content)
    meaning = FIELDS.get(name)
    marked = BOM in content
    if marked:
        parsed.note(NoteKind.BYTE_ORDER_MARK, number, content)
    if not exact and (meaning or name in TIMING):
        parsed.note(NoteKind.MISSPELT_FIELD, number, content)
    if meaning == USER_AGENT:
        _read_agent(parsed, number, value, content)
    elif meaning is not None:
        _read_rule(parsed, PathRule(meaning == ALLOW, value, number, content))
        if "<" in value and TAG.search(value):
            parsed.note(NoteKind.MARKUP, number, content)
    else:
        _read_other(parsed, number, name, value, content if not marked else "")


def _read_other(parsed: Parsed, number: int, name: str, value: str, content: str) -> None:
    if content and name not in TIMING and name not in OTHERS:
        _note_unread(parsed, number, name, content)
    if parsed.block is not None and name:
        parsed.block.parted = True
        if name in TIMING:
            parsed.block.timing.append((TIMING[name], value, number, len(parsed.block.agents)))


def _note_unread(parsed: Parsed, number: int, name: str, content: str) -> None:
    """Note a line that crawlers in general skip, or a Sitemap line that names nothing."""
    if MARKUP_START.match(content):
        parsed.note(NoteKind.MARKUP, number, content)
    elif _SITEMAP.match(name):
        if not content.partition(":")[2].strip(BLANKS):
            parsed.note(NoteKind.SITEMAP_WITHOUT_URL, number, content)
    elif google_reading(content)[0]:
        parsed.note(NoteKind.GOOGLE_FIELD, number, content)
    else:
        parsed.note(NoteKind.UNKNOWN_FIELD if name else NoteKind.NOT_A_LINE, number, content)


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


def _read_agent(parsed: Parsed, number: int, value: str, content: str, tokens: re.Pattern[str] = TOKEN) -> None:
    if parsed.block is None or parsed.block.closed:
        parsed.block = RuleBlock()
    elif parsed.block.parted:
        parsed.note(NoteKind.JOINED, number, content)
    token = _token(value, tokens)
    if not token or token != value.lower():
        parsed.note(NoteKind.BAD_AGENT, number, content)
    if not token:
        return
    group = parsed.groups.setdefault(token, Group(token))
    group.lines.append(number)
    parsed.block.agents.append((token, number))
    if not group.blocks or group.blocks[-1] is not parsed.block:
        group.blocks.append(parsed.block)


def _token(value: str, tokens: re.Pattern[str] = TOKEN) -> str:
    """The product token of a User-agent value in lower case: all up to the first character that is of none."""
    if value == EVERYBODY or (value.startswith(EVERYBODY) and value[1].isspace()):
        return EVERYBODY
    found = tokens.match(value)
    return found[0].lower() if found else ""


def _read_rule(parsed: Parsed, rule: PathRule) -> None:
    if parsed.block is None:
        parsed.note(NoteKind.OUTSIDE_GROUP, rule.line, rule.text)
        return
    parsed.block.closed = True
    parsed.block.unrestricted |= not rule.pattern
    if rule.pattern:
        if not rule.matchable:
            parsed.note(NoteKind.UNMATCHABLE, rule.line, rule.text)
        parsed.block.rules.append(rule)
