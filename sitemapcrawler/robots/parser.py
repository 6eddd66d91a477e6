"""Parser for the groups and rules of robots.txt, with line numbers: RFC 9309, 2.1 and 2.2.

`parse` reads a file as most crawlers do: it accepts common misspellings and unusual spaces. As in the RFC, Allow and
Disallow end a group; other records (Sitemap, Crawl-delay, unknown ones) do not (2.2.4). `parse_as_google` reads each
line as google/robotstxt does, for Google's crawlers. Few files differ.
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
from sitemapcrawler.robots.usage import CONTENT_SIGNAL, CONTENT_USAGE, UsageLine

MAX_NOTES = 100  # per kind; the counts are complete
SHOWN = 200  # characters of a line in a note
MAX_USAGE = 10_000  # usage preferences of a file to read; as many fill 300 KiB


class NoteKind(StrEnum):
    """Kind of problem on a line."""

    NOT_A_LINE = "not a line"
    """Text without a colon."""
    UNKNOWN_FIELD = "unknown field"
    MISSPELT_FIELD = "misspelt field"
    """Read as intended by Google as well; other crawlers may skip it."""
    GOOGLE_FIELD = "field that only Google reads"
    """A field that only starts like a known one, such as `Disallowed`; google/robotstxt compares the start alone."""
    NO_BLANK = "no blank"
    """U+00A0 or U+0000 around a field or value: a space to some readers, but not to Google."""
    BYTE_ORDER_MARK = "byte order mark"
    """A byte order mark after the start of the file, where it is part of a field or value."""
    MARKUP = "markup"
    """HTML, on its own line or inside a value."""
    SITEMAP_WITHOUT_URL = "sitemap without URL"
    OUTSIDE_GROUP = "outside of a group"
    """A rule before the first User-agent line. Crawlers ignore it."""
    BAD_AGENT = "no product token"
    """A User-agent value with invalid characters: only the part before them counts, if any."""
    UNMATCHABLE = "unmatchable"
    """A rule that starts neither with `/` nor with `*`, so it matches nothing."""
    JOINED = "joined groups"
    """A User-agent line that joins the group above, since only records other than rules are in between."""
    CUT = "cut at #"
    """A path that `#` ends without a blank before it. The `#` may have been meant as a part of the path."""
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class LineNote:
    """A possible mistake on one line."""

    kind: NoteKind
    line: int
    """Line of robots.txt, counted from 1."""
    text: str
    """The line as written, without its comment and limited to `SHOWN` characters."""


@dataclass(slots=True)
class RuleBlock:
    """Consecutive User-agent lines, and the records up to the next ones."""

    agents: list[tuple[str, int]] = field(default_factory=list)
    """Product tokens in lower case, each with its line."""
    rules: list[PathRule] = field(default_factory=list)
    timing: list[tuple[str, str, int, int]] = field(default_factory=list)
    """Field, value, line, and the number of agents above, to which the record applies."""
    usage: list[tuple[UsageLine, int]] = field(default_factory=list)
    """Usage preferences, each with the number of agents above, to which it applies."""
    parted: bool = False
    """True if a record other than a rule follows the agents."""
    closed: bool = False
    """True after the first rule, even an empty one: the next User-agent line starts a new block."""
    unrestricted: bool = False
    """True if an Allow or Disallow line has no path, which explicitly restricts nothing."""


@dataclass(slots=True)
class Group:
    """All blocks of a robots.txt for one product token (RFC 9309, 2.2.1)."""

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
            place = self._place_in(block)
            found += [(name, value, line) for name, value, line, above in block.timing if place < above]
        return found

    @property
    def usage(self) -> list[UsageLine]:
        """Its usage preferences in the order of the file."""
        found = []
        for block in self.blocks:
            place = self._place_in(block) if block.usage else 0
            found += [line for line, above in block.usage if place < above]
        return found

    def _place_in(self, block: RuleBlock) -> int:
        return next(number for number, (token, _) in enumerate(block.agents) if token == self.token)


@dataclass(slots=True)
class Parsed:
    """A parsed robots.txt."""

    groups: dict[str, Group] = field(default_factory=dict)
    """Groups by token, in the order of the file."""
    usage: list[UsageLine] = field(default_factory=list)
    """All usage preferences, those outside of a group included."""
    references: list[tuple[str, str, int]] = field(default_factory=list)
    """Lines of `REFERENCES`: field, value, line. They belong to no group."""
    notes: list[LineNote] = field(default_factory=list)
    """Notes in the order of the file, the first `MAX_NOTES` of each kind."""
    counts: Counter[NoteKind] = field(default_factory=Counter)
    """Number of lines of each kind."""
    block: RuleBlock | None = None
    """The last block."""
    google_differs: bool = False
    """True if Google reads a User-agent, Allow or Disallow line differently: see `parse_as_google`."""

    def note(self, kind: NoteKind, line: int, text: str) -> None:
        """Add a note, up to `MAX_NOTES` per kind."""
        self.counts[kind] += 1
        if self.counts[kind] <= MAX_NOTES:
            self.notes.append(LineNote(kind, line, text[:SHOWN]))


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
"""{field name: meaning}, including the misspellings that google/robotstxt and protego accept."""
TIMING = {
    "crawl-delay": "crawl-delay",
    "crawl delay": "crawl-delay",
    "request-rate": "request-rate",
    "request rate": "request-rate",
    "visit-time": "visit-time",
    "visit time": "visit-time",
}
"""{field name: meaning} of records that limit when and how fast to crawl. No standard; protego reads them."""
OTHERS = {
    "host": "Yandex, until 2018",
    "clean-param": "https://yandex.com/support/webmaster/en/robot-workings/clean-param",
}
"""Records that some crawlers read and this package ignores, with their sources."""
USAGE = frozenset((CONTENT_USAGE, CONTENT_SIGNAL))
"""Records with usage preferences (`robots.usage`)."""
LICENSE, SCHEMAMAP = "license", "schemamap"
REFERENCES = {
    LICENSE: "https://rslstandard.org/guide/robots-txt",
    SCHEMAMAP: "https://developer.yoast.com/features/schema/schema-aggregator/overview",
}
"""Records with a URL, with their sources: terms of use, and a list of files with structured data."""
READ = frozenset((*TIMING, *OTHERS, *USAGE, *REFERENCES))
"""Records of a known meaning, apart from rules and Sitemap lines."""
CUT_RULE = re.compile(r"(?:dis)?allow\s*:\s*[/*].*", re.IGNORECASE | re.DOTALL)
"""An Allow or Disallow line with a path."""
_SITEMAP = re.compile(r"site[-_ ]?map|https?$")
"""The field of a Sitemap line, or of a bare URL; `read_sitemaps` reads those."""
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
"""Lines that Google certainly reads like other crawlers do. A fast path for nearly all lines."""


def parse(lines: Iterable[str]) -> Parsed:
    """Parse the lines of a robots.txt. Never raises; takes linear time."""
    parsed = Parsed()
    for number, line in enumerate(lines, 1):
        before, mark, _ = line.partition("#")
        content = before.strip(BLANKS)
        if content.strip(BLANKS + BOM):
            if mark and content[-1] == before[-1] and CUT_RULE.fullmatch(content):
                parsed.note(NoteKind.CUT, number, line.strip(BLANKS))
            if len(content) > MAX_LINE:
                parsed.note(NoteKind.TOO_LONG, number, content)
                content = content[:MAX_LINE]
            _read_line(parsed, number, content)
        if len(line) > MAX_LINE or not _ALIKE.fullmatch(line):
            _compare(parsed, number, line, content)
    return parsed


def parse_as_google(lines: Iterable[str]) -> Parsed:
    """Parse the lines as Google's crawlers do."""
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
    """Read a line as google/robotstxt does. Returns meaning (`user-agent`, `allow`, `disallow` or empty) and value.

    Only the start of the field is compared. In a line without a colon, spaces between two words replace it. Only ASCII
    whitespace is stripped, and U+0000 ends the line.
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
    """Note whether Google reads a line differently."""
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
    if content and name not in READ:
        _note_unread(parsed, number, name, content)
    if name in REFERENCES:
        parsed.references.append((name, _value(content), number))
    is_usage = name in USAGE and len(parsed.usage) < MAX_USAGE
    if is_usage:
        parsed.usage.append(UsageLine(name, _value(content), number))
    if parsed.block is not None and name:
        parsed.block.parted = True
        if is_usage:
            parsed.block.usage.append((parsed.usage[-1], len(parsed.block.agents)))
        if name in TIMING:
            parsed.block.timing.append((TIMING[name], value, number, len(parsed.block.agents)))


def _value(content: str) -> str:
    return content.partition(":")[2].strip(BLANKS)


def _note_unread(parsed: Parsed, number: int, name: str, content: str) -> None:
    """Note a line that most crawlers skip, or a Sitemap line without a URL."""
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
    """Return field name in lower case, value, and whether both are spelled as in the RFC. The name is empty if there is
    none.

    As in google/robotstxt, a space replaces a missing colon if one word follows.
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
    """Product token of a User-agent value in lower case, up to the first invalid character."""
    if value.startswith(EVERYBODY) and value[1:2] in ("", *_GOOGLE_BLANKS):
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
