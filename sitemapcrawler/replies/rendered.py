"""Compares the answer to the URL of a page with the page that its scripts make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class Rendering:
    """What rendering a page took, and how it ended."""

    result: RenderResult = RenderResult.RENDERED
    note: str | None = None
    requests: int = 0
    """Requests that were made."""
    failed: int = 0
    """Of these and of those that limits refuse, how many got no answer, or an error."""
    blocked: list[str] = field(default_factory=list)
    """URLs that robots.txt denies."""
    elapsed_ms: int = 0


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


def record(
    url: str, crawler: str | None, raw: PageFacts, seen: PageFacts | None, how: Rendering, added: Sequence[str]
) -> RenderedRecord:
    """The record of a rendered page. `seen`: the rendered page, None if it could not be read; `added`: listed URLs that
    only it links to."""
    found = RenderedRecord(
        url, how.result, how.note, title=raw.title, h1=raw.h1, canonical=raw.canonical, noindex=_noindex(raw),
        hreflang=len(raw.alternates), links=_links(raw), words=_words(raw), requests=how.requests, failed=how.failed,
        blocked=how.blocked[:MAX_LINKED], elapsed_ms=how.elapsed_ms, crawler=crawler,
    )  # fmt: skip
    if seen is not None:
        found.rendered_title, found.rendered_h1 = seen.title, seen.h1
        found.rendered_canonical, found.rendered_noindex = seen.canonical, _noindex(seen)
        found.rendered_hreflang, found.rendered_links = len(seen.alternates), _links(seen)
        found.rendered_words, found.added_links, found.added = _words(seen), len(added), list(added[:MAX_LINKED])
        found.changed = [
            name
            for name, is_other in {
                "title": raw.title != seen.title,
                "h1": raw.h1 != seen.h1,
                "canonical": raw.canonical != seen.canonical,
                "noindex": _noindex(raw) != _noindex(seen),
                "hreflang": {*raw.alternates} != {*seen.alternates},
                "links": raw.links is not None and bool(added_links(raw, seen)),
                "text": raw.content is not None
                and seen.content is not None
                and raw.content.content_hash != seen.content.content_hash,
            }.items()
            if is_other
        ]
    return found


def _noindex(page: PageFacts) -> bool:
    """True if the page tells a crawler, or all, not to index it."""
    return page.noindex or bool(page.noindex_agents)


def _links(page: PageFacts) -> int | None:
    return None if page.links is None else len(page.links.followed)


def _words(page: PageFacts) -> int | None:
    return None if page.content is None else page.content.words
