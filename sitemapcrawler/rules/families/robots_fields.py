"""Rules on single lines of a robots.txt: fields that are misspelt, that nobody reads, or that are none."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from sitemapcrawler.robots import Kind, Note
from sitemapcrawler.robots.parse import FIELDS, MAX_NOTES, TIMING, field_of, google_reading
from sitemapcrawler.robots.text import MAX_LINE
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.families.robots import GOOGLE, RFC, is_text
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown
from sitemapcrawler.words import counted

UNSUPPORTED = "https://developers.google.com/search/blog/2019/07/a-note-on-unsupported-rules"
WRITTEN = {
    name: name.capitalize() for name in ("user-agent", "allow", "disallow", "crawl-delay", "request-rate", "visit-time")
}
"""How a field is to be written."""
MEANT = {**WRITTEN, "sitemap": "Sitemap"}
"""Fields that a misspelt one may mean."""
NEAR = 0.8
"""Share of letters in common, as difflib counts them, from which a field is taken for another one misspelt."""
RETIRED = ("noindex", "nofollow")
"""Fields that Google read until 2019-09-01: `UNSUPPORTED`"""


def nearest(text: str) -> str | None:
    """The field that a line means whose own field nobody knows, `Sitemap` or such; None where it is like none."""
    near = difflib.get_close_matches(_name(text), MEANT, 1, NEAR)
    return MEANT[near[0]] if near else None


def notes(facts: RobotsFacts, *kinds: Kind) -> list[Note]:
    """The notes of these kinds on the lines of a file that is one of rules."""
    return [note for note in facts.policy.notes if note.kind in kinds] if is_text(facts) else []


def lost(facts: RobotsFacts) -> list[Note]:
    """Lines that mean a field of a group, and that no crawler takes for it."""
    unread = notes(facts, Kind.UNKNOWN_FIELD, Kind.NOT_A_LINE)
    return [note for note in unread if nearest(note.text) in WRITTEN.values()]


def beyond(facts: RobotsFacts, kind: Kind, what: str) -> Iterator[Message]:
    """What is said of lines of which no notes were kept."""
    left = facts.policy.note_counts.get(kind, 0) - MAX_NOTES
    if is_text(facts) and left > 0:
        yield Message(f"{left:,} more {what}")


def _name(text: str) -> str:
    """The field of a line, in lower case. Without a colon: its first word, where a path follows it."""
    name, colon, _ = text.partition(":")
    first, _, rest = text.partition(" ")
    if not colon:
        name = first if rest.lstrip()[:1] in {"/", "*"} else ""
    return " ".join(name.split()).lower()


def _google_reads(note: Note) -> bool:
    """True where Google takes a misspelt field for the one that is meant; it reads no other fields."""
    meaning = FIELDS.get(field_of(note.text)[0])
    return meaning is None or google_reading(note.text)[0] == meaning


def _by_name(found: list[Note]) -> Iterator[tuple[str, Note, str]]:
    """Each field of the lines once, as written: with its first line, and words for the other ones."""
    groups: dict[str, list[Note]] = {}
    for note in found:
        groups.setdefault(field_of(note.text)[0] or _name(note.text), []).append(note)
    for name, (first, *others) in groups.items():
        more = f"{len(others)} or more other lines" if len(found) >= MAX_NOTES else counted(len(others), "more line")
        yield name, first, f" (and {more} like it)" if others else ""


@rule("robots-field-misspelt", Severity.WARNING, f"{RFC}#section-2.2", Needs.ROBOTS)
def robots_field_misspelt(facts: RobotsFacts) -> Iterator[Message]:
    """A field is misspelt, its colon is missing, or what is around it is no blank.

    Why: of the usual misspellings Google reads some, and any field that begins with `Allow`, `Disallow` or
    `User-agent`; other crawlers none. The message says who reads the line.
    Bad: `Dissalow: /cart`, `Disallow /cart`, `Disallowed: /cart`, `User-agnet: *`, a no-break space before `Disallow`
    Good: `User-agent: *`, `Disallow: /cart`
    """
    for name, note, more in _by_name(notes(facts, Kind.MISSPELT_FIELD)):
        meant = WRITTEN[FIELDS.get(name) or TIMING[name]]
        fault = "the colon is missing" if name in WRITTEN else f"the field is written {meant}"
        by_google = "Google reads it all the same, others may not" if _google_reads(note) else "few crawlers read it"
        yield Message(f"{shown(note.text)}{more}: {fault}; {by_google}", note.line, value=note.text)
    for _, note, more in _by_name(notes(facts, Kind.GOOGLE_FIELD)):
        meant = WRITTEN[google_reading(note.text)[0]]
        text = f"{shown(note.text)}{more}: Google reads the field as {meant}, other crawlers skip the line"
        yield Message(text, note.line, value=note.text)
    for _, note, more in _by_name(notes(facts, Kind.NO_BLANK)):
        text = f"{shown(note.text)}{more}: Google does not treat a no-break space or null character as white space"
        yield Message(text, note.line, value=note.text)
    for _, note, more in _by_name(lost(facts)):
        text = f"{shown(note.text)}{more} is passed over by all crawlers: the field is written {nearest(note.text)}"
        yield Message(text, note.line, value=note.text)


@rule("robots-field-unknown", Severity.INFO, GOOGLE, Needs.ROBOTS)
def robots_field_unknown(facts: RobotsFacts) -> Iterator[Message]:
    """A field is none that crawlers are known to read. A warning for `Noindex` and `Nofollow`.

    Why: the line does nothing. Google read `Noindex` and `Nofollow` until 2019-09-01; pages that they were to keep out
    of the index may be in it.
    Bad: `Noindex: /archive/`
    Good: `<meta name="robots" content="noindex">` on the pages, which must not be denied then
    """
    unknown = [note for note in notes(facts, Kind.UNKNOWN_FIELD) if nearest(note.text) is None]
    for name, note, more in _by_name(unknown):
        retired = name in RETIRED
        why = f"Google reads it no longer, see {UNSUPPORTED}" if retired else "no crawler is known to read it"
        text = f"{shown(note.text)}{more}: the field {shown(name)} does nothing, {why}"
        yield Message(text, note.line, value=note.text, severity=Severity.WARNING if retired else None)
    yield from beyond(facts, Kind.UNKNOWN_FIELD, "lines have fields that no crawler is known to read")


@rule("robots-line-without-field", Severity.INFO, f"{RFC}#section-2.2", Needs.ROBOTS)
def robots_line_without_field(facts: RobotsFacts) -> Iterator[Message]:
    """Lines are neither a field with a value, nor empty, nor a comment. Said once, at the first one.

    Why: crawlers pass over them. Perhaps the `#` of a comment is missing, or the answer is an error page.
    Bad: `Not found`, `All crawlers are welcome`
    Good: `# All crawlers are welcome`
    """
    found = [note for note in notes(facts, Kind.NOT_A_LINE) if nearest(note.text) not in WRITTEN.values()]
    if found:
        number = len(found) + max(0, facts.policy.note_counts[Kind.NOT_A_LINE] - MAX_NOTES)
        lines = "a line is" if number == 1 else f"{number:,} lines are"
        text = f"{lines} no field with a value, nor a comment: {shown(found[0].text)}"
        yield Message(text, found[0].line, value=found[0].text)


@rule("robots-line-too-long", Severity.WARNING, "https://github.com/google/robotstxt", Needs.ROBOTS)
def robots_line_too_long(facts: RobotsFacts) -> Iterator[Message]:
    """A line is longer than Google's parser reads: 16,663 characters.

    Why: the rest of it is cut off. As a rule the line breaks of the file are lost.
    Bad: a file whose lines are joined by blanks
    Good: a line for each rule
    """
    for note in notes(facts, Kind.TOO_LONG):
        text = f"{shown(note.text)} is longer than {MAX_LINE:,} characters: the rest of the line is not read"
        yield Message(text, note.line, value=note.text)
