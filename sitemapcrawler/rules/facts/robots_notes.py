"""Which robots.txt files are judged, the notes on their lines, and the names of crawlers in messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from sitemapcrawler.robots import Content, LineNote, NoteKind, RobotsOutcome, RobotsSitemap, robots_url
from sitemapcrawler.robots.agents import BY_NAME
from sitemapcrawler.robots.parser import MAX_NOTES
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.registry import Message

RFC = "https://www.rfc-editor.org/rfc/rfc9309"

NO_RULES = {Content.MARKUP: "an HTML page or other markup", Content.JSON: "JSON", Content.BINARY: "binary data"}


def is_of_site(facts: RobotsFacts) -> bool:
    """True for the robots.txt of a site of the crawl. One that redirects to another site's file is reported there."""
    final = facts.record.final_url
    return facts.start and (final is None or final != robots_url(final))


def is_parsed(facts: RobotsFacts) -> bool:
    """True for a robots.txt of a site that was fetched and parsed."""
    return is_of_site(facts) and facts.policy.outcome is RobotsOutcome.PARSED


def is_text(facts: RobotsFacts) -> bool:
    """True for a parsed robots.txt that consists of rules, not of markup or binary data."""
    return is_parsed(facts) and facts.policy.facts.content not in NO_RULES


WRITTEN = {
    name: name.capitalize() for name in ("user-agent", "allow", "disallow", "crawl-delay", "request-rate", "visit-time")
}
"""Usual spelling of the fields of a group."""

MEANT = {**WRITTEN, "sitemap": "Sitemap"}
"""Fields that a misspelt field may mean."""

NEAR = 0.8
"""Minimum similarity (difflib ratio) for a field to count as misspelt."""


def nearest(text: str) -> str | None:
    """Usual spelling of the field that an unknown field resembles; None if there is none."""
    near = difflib.get_close_matches(field_name(text), MEANT, 1, NEAR)
    return MEANT[near[0]] if near else None


def notes(facts: RobotsFacts, *kinds: NoteKind) -> list[LineNote]:
    """Return the notes of these kinds, if the file consists of rules."""
    return [note for note in facts.policy.notes if note.kind in kinds] if is_text(facts) else []


def sitemap_lines(facts: RobotsFacts) -> list[RobotsSitemap]:
    """Return the Sitemap lines, if the file consists of rules."""
    return facts.policy.sitemap_lines if is_text(facts) else []


def misspelt_notes(facts: RobotsFacts) -> list[LineNote]:
    """Return notes on lines with a misspelt group field that no crawler recognises."""
    unread = notes(facts, NoteKind.UNKNOWN_FIELD, NoteKind.NOT_A_LINE)
    return [note for note in unread if nearest(note.text) in WRITTEN.values()]


def beyond_notes(facts: RobotsFacts, kind: NoteKind, what: str) -> Iterator[Message]:
    """Yield a message on the number of lines beyond `MAX_NOTES`, if any."""
    left = facts.policy.note_counts.get(kind, 0) - MAX_NOTES
    if is_text(facts) and left > 0:
        yield Message(f"{left:,} more {what}")


def field_name(text: str) -> str:
    """Field of a line, in lower case. Without a colon: the first word, if a path follows."""
    name, colon, _ = text.partition(":")
    first, _, rest = text.partition(" ")
    if not colon:
        name = first if rest.lstrip()[:1] in {"/", "*"} else ""
    return " ".join(name.split()).lower()


FILE_URL = re.compile(r"sitemaps?[ \t]*:[ \t]*(file|s?ftps?):\S*(?:\s+#.*)?", re.IGNORECASE)
"""Sitemap line with one URL that reads a disk or asks a service that is not the web."""


def file_scheme(sitemap: RobotsSitemap) -> str | None:
    """Scheme of a Sitemap line that names a file in place of a web page, such as `file`; else None."""
    found = FILE_URL.fullmatch(sitemap.raw) if not sitemap.url else None
    return found[1].lower() if found else None


MAX_NAMES = 8


def crawler_names(tokens: Sequence[str]) -> str:
    """Name the first `MAX_NAMES` crawlers and count the rest."""
    names = [BY_NAME[token.lower()].name if token.lower() in BY_NAME else token for token in tokens[:MAX_NAMES]]
    more = len(tokens) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt"
