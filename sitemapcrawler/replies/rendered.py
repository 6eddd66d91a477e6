"""Compares the answer to the URL of a page with the page that its scripts make of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from sitemapcrawler.items import RenderedRecord
from sitemapcrawler.replies.page import Html, PageFacts, page_of
from sitemapcrawler.replies.page.facts import Headers
from sitemapcrawler.replies.page.tree import shortened

MAX_HTML = 4 * 2**20
"""Characters of a rendered page that are read: twice `page.PAGE_LIMIT`, since scripts add elements."""
MAX_LINKED = 10
"""Links in a record, of those that only the rendered page has."""


class RenderResult(StrEnum):
    """How rendering a page ended."""

    RENDERED = "rendered"
    TIMEOUT = "timeout"
    LIMIT = "limit"
    CRASHED = "crashed"
    REDIRECTED = "redirected"
    STOPPED = "stopped"
    """By the end of the crawl; there is no record."""


def facts_of(html: Html, headers: Headers, url: str) -> PageFacts:
    """What a page states, before or after its scripts have run."""
    return page_of(html, headers, url, with_links=True)


def rendered_html(text: str) -> Html:
    """The elements of a rendered page, as if they had been an answer."""
    short = shortened(text)
    return Html(f"<!doctype html>{short}", "utf-8", whole=len(short) == len(text), is_html=True)


def added_links(raw: PageFacts, seen: PageFacts) -> list[str]:
    """Links that only the rendered page has."""
    if raw.links is None or seen.links is None:
        return []
    known = {*raw.links.followed, *raw.links.nofollow}
    return [url for url in seen.links.followed if url not in known]


def compare(record: RenderedRecord, raw: PageFacts, seen: PageFacts | None, added: Sequence[str]) -> None:
    """Add to a record what the page states before and after its scripts. `seen`: the rendered page, None if it could
    not be read; `added`: listed URLs that only it links to."""
    for prefix, page in (("", raw), ("rendered_", seen)):
        for name, value in _stated(page).items() if page is not None else ():
            setattr(record, f"{prefix}{name}", value)
    if seen is None:
        return
    record.added_links, record.added = len(added), list(added[:MAX_LINKED])
    is_other = {name: getattr(record, name) != getattr(record, f"rendered_{name}") for name in COMPARED} | {
        "hreflang": {*raw.alternates} != {*seen.alternates},
        "links": raw.links is not None and bool(added_links(raw, seen)),
        "text": raw.content is not None
        and seen.content is not None
        and raw.content.content_hash != seen.content.content_hash,
    }
    record.changed = [name for name, differs in is_other.items() if differs]


COMPARED = ("title", "h1", "canonical", "noindex")
"""Fields whose values are compared."""


def _stated(page: PageFacts) -> dict[str, object]:
    """{field of the record: what a page states}."""
    return {
        "title": page.title,
        "h1": page.h1,
        "canonical": page.canonical,
        "noindex": page.noindex or bool(page.noindex_agents),  # for a crawler, or all
        "hreflang": len(page.alternates),
        "links": None if page.links is None else len(page.links.followed),
        "words": None if page.content is None else page.content.words,
    }
