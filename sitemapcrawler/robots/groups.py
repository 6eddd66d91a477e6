"""What a robots.txt says, as groups of rules by product token, and notes on single lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from sitemapcrawler.robots.decode import escaped
from sitemapcrawler.robots.patterns import Rule

MAX_NOTES = 100  # of each kind; the counts are complete
SHOWN = 200  # characters of a line in a note


class Kind(StrEnum):
    """What is noted about a line."""

    NOT_A_LINE = "not a line"
    """Text without a colon."""
    UNKNOWN_FIELD = "unknown field"
    MISSPELT_FIELD = "misspelt field"
    """Read as what is meant, by Google too; other crawlers may not."""
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

    kind: Kind
    line: int
    """Line of robots.txt, counted from 1."""
    text: str
    """The line as written, its comment and all beyond `SHOWN` characters left out."""


@dataclass(slots=True)
class Block:
    """Consecutive User-agent lines and what follows up to the next ones."""

    agents: list[tuple[str, int]] = field(default_factory=list)
    """Product tokens in lower case, each with its line."""
    rules: list[Rule] = field(default_factory=list)
    timing: list[tuple[str, str, int, int]] = field(default_factory=list)
    """Field, value, line, and how many of the agents stood above it: it is theirs."""
    parted: bool = False
    """True where a record that is no rule came below the agents."""
    closed: bool = False
    """True from the first rule on, an empty one included: the next User-agent line begins another block."""


@dataclass(slots=True)
class Group:
    """All that a robots.txt says to one product token: its blocks together (RFC 9309, 2.2.1)."""

    token: str
    """In lower case."""
    blocks: list[Block] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """The User-agent lines that name it."""

    @property
    def rules(self) -> list[Rule]:
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
    counts: Counter[Kind] = field(default_factory=Counter)
    """How many lines of each kind there are."""
    block: Block | None = None
    """The last block."""

    def note(self, kind: Kind, line: int, text: str) -> None:
        """Keep a note, if there are not too many of its kind."""
        self.counts[kind] += 1
        if self.counts[kind] <= MAX_NOTES:
            self.notes.append(Note(kind, line, escaped(text[:SHOWN])))
