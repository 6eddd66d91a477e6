"""Where the fields of an entry stand in the file: lastmod, changefreq, priority, and what dates an item of a feed."""

from __future__ import annotations

from functools import lru_cache

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.feed import ATOM, DATES, DUBLIN_CORE, RSS
from sitemapcrawler.reader.notes import FIELDS
from sitemapcrawler.rules.facts.given import Listed
from sitemapcrawler.rules.facts.suspects import BLANKS
from sitemapcrawler.rules.facts.written import Standard

FEEDS = ("rss", "atom")


def is_in_feed(entry: Listed) -> bool:
    """True for an item of a feed."""
    return entry.file.document.format in FEEDS


def field(entry: Listed, name: str) -> Element | None:
    """The element that gave a field its value; None where there is none, and where the entry's is not at hand."""
    element: Element | None = getattr(entry.record, "element", None)
    return None if element is None or is_in_feed(entry) else _fields(element).get(name)


@lru_cache(maxsize=1)
def _fields(element: Element) -> dict[str, Element]:
    """The protocol's elements of an entry by name, as the reader takes them. Kept, since several rules ask in a row."""
    core = (element.uri, CORE, "")
    found: dict[str, Element] = {}
    for part in element.content:
        if not isinstance(part, str) and part.name in FIELDS and part.uri in core and not part.has_children:
            found.setdefault(part.name, part)
    return found


def date_of(entry: Listed) -> Element | None:
    """The element that dates an entry: its lastmod; of an item of a feed the first date, or else an empty one."""
    if not is_in_feed(entry):
        return field(entry, "lastmod")
    element: Element | None = getattr(entry.record, "element", None)
    return None if element is None else _date(element)


@lru_cache(maxsize=1)
def _date(item: Element) -> Element | None:
    known = [child for child in item.children if child.name in DATES and child.uri in (*ATOM, *RSS, *DUBLIN_CORE)]
    dates = sorted(known, key=lambda child: DATES.index(child.name))
    return next((child for child in dates if child.text), dates[0] if dates else None)


def standard_of(entry: Listed) -> Standard:
    """How the date of an entry is to be written."""
    if not is_in_feed(entry):
        return Standard.W3C
    element = date_of(entry)
    if element is None:  # an entry read after repair
        return Standard.W3C if (entry.record.lastmod or "")[:4].isdigit() else Standard.RFC822
    if element.name == "pubDate":
        return Standard.RFC822
    return Standard.RFC3339 if element.uri == ATOM[0] else Standard.W3C


def raw_text(element: Element) -> str:
    """The text of an element as written."""
    return "".join(part for part in element.content if isinstance(part, str))


def text_of(element: Element) -> str:
    """The same, white space of XML around it stripped, and nothing else (a no-break space stays)."""
    return raw_text(element).strip(BLANKS)
