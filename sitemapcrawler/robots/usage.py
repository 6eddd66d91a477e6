"""Usage preferences: what may be done with content that was fetched. They decide nothing on fetching it.

`VOCABULARY` defines the categories and how statements are combined, `ATTACHMENT` how robots.txt and header state them.
Other dialects are mapped onto the same categories (`LABELS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sitemapcrawler.robots.ruleset import PathRule, Pattern, RuleSet, clauses
from sitemapcrawler.robots.text import BLANKS

_KEY = r"[a-z*][a-z0-9_.*-]*+"
_ITEM = (
    r"(?:-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])"  # integer or decimal
    r'|"(?:[ !#-\[\]-~]|\\["\\])*+"'  # string
    r"|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*+"  # token
    r"|:[A-Za-z0-9+/=]*+:"  # bytes
    r"|\?[01]"  # boolean
    r"|@-?\d{1,15}(?![\d.])"  # date
    r'|%"(?:[ !#$&-~]|%[0-9a-f]{2})*+")'  # display string
)
_PARAMETERS = rf"(?:; *+{_KEY}(?:={_ITEM})?+)*+"
_LIST = rf"\( *+(?:{_ITEM}{_PARAMETERS}(?: ++{_ITEM}{_PARAMETERS})*+ *+)?+\)"
_MEMBER = re.compile(rf"({_KEY})(?:=({_ITEM}|{_LIST}))?+{_PARAMETERS}", re.ASCII)
_COMMA = re.compile(r"[ \t]*+,[ \t]*+")


def parse_dictionary(text: str) -> dict[str, str] | None:
    """Return {key: value as written}; None if the text is no dictionary of structured fields, strictly read
    (RFC 9651, 4.2.2). The last of several equal keys counts.

    A key without a value has the boolean `?1`. Parameters are checked and left out. Takes linear time.
    """
    members: dict[str, str] = {}
    text = text.strip(" ")
    position = 0
    while text:
        member = _MEMBER.match(text, position)
        if member is None:
            return None
        members[member[1]] = member[2] or "?1"
        if member.end() == len(text):
            break
        comma = _COMMA.match(text, member.end())
        if comma is None:
            return None
        position = comma.end()
    return members


VOCABULARY = "https://datatracker.ietf.org/doc/html/draft-ietf-aipref-vocab-08"
ATTACHMENT = "https://datatracker.ietf.org/doc/html/draft-ietf-aipref-attach-05"
CONTENT_USAGE, CONTENT_SIGNAL = "content-usage", "content-signal"
"""Fields of robots.txt, and headers, in lower case."""
MAX_STATEMENTS = 1_000  # values to remember; sites repeat a few on thousands of pages


class Use(StrEnum):
    """Category of use."""

    TRAIN = "train"
    """Training of generative AI models."""
    SEARCH = "search"
    """An application that directs its users to the content."""
    INPUT = "input"
    """Input of a generative AI model, as for an answer that is based on the content."""


LABELS: Mapping[str, Mapping[str, Use]] = {
    CONTENT_USAGE: {"train-ai": Use.TRAIN, "search": Use.SEARCH, "ai-use": Use.INPUT},
    CONTENT_SIGNAL: {"ai-train": Use.TRAIN, "search": Use.SEARCH, "ai-input": Use.INPUT},
}
"""{dialect: {label: category}}."""
VALUES: Mapping[str, Mapping[str, bool]] = {
    CONTENT_USAGE: {"y": True, "n": False},
    CONTENT_SIGNAL: {"yes": True, "no": False},
}
"""{dialect: {value: True for a preference to allow the use}}."""
NAMES = {CONTENT_USAGE: "Content-Usage", CONTENT_SIGNAL: "Content-Signal"}
EXTENT = ("use", ("immediate", "reference", "full"))
"""A further key of Content-Signal with its values. It says how much may be reproduced, and belongs to no category.
Source: https://developers.cloudflare.com/bots/additional-configurations/managed-robots-txt/"""


@dataclass(frozen=True, slots=True)
class Preference:
    """A preference on one category of use."""

    use: Use
    allowed: bool
    place: str
    """Where it stands: `robots.txt line 12`, `Content-Usage header`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a Content-Usage or Content-Signal value states."""

    preferences: Mapping[Use, bool]
    faults: tuple[str, ...] = ()
    """Mistakes by which a preference is lost."""
    unknown: tuple[str, ...] = ()
    """Keys that have no meaning, which readers skip."""


@lru_cache(MAX_STATEMENTS)
def statement(dialect: str, text: str) -> Statement:
    """Read a value of Content-Usage or Content-Signal, without its path."""
    members = parse_dictionary(text) if dialect == CONTENT_USAGE else _signals(text)
    if not members:
        example = ", ".join(f"{label}={value}" for label, value in zip(LABELS[dialect], VALUES[dialect], strict=False))
        return Statement({}, (f"it is not a list of preferences such as {example}",))
    labels, values = LABELS[dialect], VALUES[dialect]
    found: dict[Use, bool] = {}
    faults: list[str] = []
    unknown: list[str] = []
    for key, value in members.items():
        if key not in labels:
            if (dialect, key) != (CONTENT_SIGNAL, EXTENT[0]):
                (faults if _meant(dialect, key) else unknown).append(_strange(dialect, key))
            elif value not in EXTENT[1]:
                faults.append(f"{key}={value}: the value must be one of {', '.join(EXTENT[1])}")
        elif value in values:
            found[labels[key]] = values[value]
        else:
            faults.append(f"{key}={value}: the value must be {' or '.join(values)}")
    return Statement(found, tuple(faults), tuple(unknown))


def _signals(text: str) -> dict[str, str]:
    """Keys and values of a Content-Signal, which has no grammar, in lower case."""
    parts = (part.partition("=") for part in text.lower().split(",") if part.strip(BLANKS))
    return {key.strip(BLANKS): value.strip(BLANKS) for key, _, value in parts}


def _meant(dialect: str, key: str) -> str | None:
    """The label of a dialect for a category that another dialect names so."""
    use = next((labels[key.lower()] for labels in LABELS.values() if key.lower() in labels), None)
    return next((label for label, own in LABELS[dialect].items() if own is use), None)


def _strange(dialect: str, key: str) -> str:
    meant = _meant(dialect, key)
    return f"{key} is not a label of {NAMES[dialect]}" + (f": write {meant}" if meant else "")


@dataclass(frozen=True, slots=True)
class UsageLine:
    """A Content-Usage or Content-Signal line of robots.txt."""

    dialect: str
    value: str
    """Value as written, with its path."""
    line: int
    """Line of robots.txt, counted from 1."""

    @property
    def path(self) -> str:
        """Path pattern that it applies to; empty for all paths."""
        return self.value.split(maxsplit=1)[0] if self.value.startswith("/") else ""

    @property
    def rule(self) -> PathRule:
        """A rule with its path, for matching alone: as an Allow line, `/index.html` would match its folder too."""
        return PathRule(False, self.path, self.line, self.value)

    @property
    def statement(self) -> Statement:
        return statement(self.dialect, self.value[len(self.path) :].strip(BLANKS))

    @property
    def preferences(self) -> tuple[Preference, ...]:
        place = f"robots.txt line {self.line}"
        return tuple(Preference(use, allowed, place) for use, allowed in self.statement.preferences.items())


class UsageRules:
    """Preferences of one dialect in one group, by path. The longest path that matches decides alone; lines with the
    same path apply together (`ATTACHMENT`, 3.1)."""

    def __init__(self, lines: Iterable[UsageLine]) -> None:
        self._everywhere: tuple[Preference, ...] = ()
        self._by_pattern: dict[Pattern, tuple[Preference, ...]] = {}
        known = list(lines)
        for line in known:
            if not line.path:
                self._everywhere += line.preferences
            for clause in clauses(line.rule):
                self._by_pattern[clause.pattern] = self._by_pattern.get(clause.pattern, ()) + line.preferences
        self._rules = RuleSet(line.rule for line in known) if self._by_pattern else None

    @property
    def by_path(self) -> bool:
        """True if not all paths have the same preferences."""
        return self._rules is not None

    def preferences(self, path: str) -> tuple[Preference, ...]:
        """Preferences on a path in compared form."""
        clause = self._rules.deciding(path) if self._rules is not None else None
        return self._everywhere if clause is None else self._by_pattern[clause.pattern]


class Usage:
    """The preferences of a robots.txt for one group of crawlers."""

    def __init__(self, parts: Sequence[UsageRules], access: RuleSet) -> None:
        """`access`: Allow and Disallow rules of the group."""
        self._parts = parts
        self._access = access if access.challengers or not access.allows_by_default else None
        self.by_path = self._access is not None or any(part.by_path for part in parts)
        """False if all paths have the same preferences."""

    def preferences(self, path: str) -> tuple[Preference, ...]:
        """All preferences on a path in compared form. A path that may not be fetched has none (`ATTACHMENT`, 3)."""
        if self._access is not None and not self._access.allows(path):
            return ()
        return tuple(each for part in self._parts for each in part.preferences(path))


def combined(preferences: Iterable[Preference]) -> Iterator[tuple[Use, bool, list[str]]]:
    """Yield for each category the preference that results, with the places that state it. Any that disallows the use
    wins (`VOCABULARY`, 5.1)."""
    by_use: dict[Use, list[Preference]] = {}
    for one in preferences:
        by_use.setdefault(one.use, []).append(one)
    for use, said in by_use.items():
        allowed = all(one.allowed for one in said)
        yield use, allowed, list(dict.fromkeys(one.place for one in said if one.allowed is allowed))
