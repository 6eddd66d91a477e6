"""When a page says that it was published and changed: its own word, to hold a sitemap's lastmod against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from sitemapcrawler.reader.dates import parse

PUBLISHED, MODIFIED = "published", "modified"
META_DATES = {
    "article:published_time": PUBLISHED,  # https://ogp.me/#type_article
    "article:modified_time": MODIFIED,
    "og:updated_time": MODIFIED,  # older Open Graph, still written by plugins
    "datepublished": PUBLISHED,  # https://schema.org/datePublished as itemprop
    "datemodified": MODIFIED,
    "dcterms.created": PUBLISHED,  # https://www.dublincore.org/specifications/dublin-core/dcmi-terms/
    "dcterms.modified": MODIFIED,
    "last-modified": MODIFIED,
}
"""Name, property or itemprop of a `<meta>`, lower case -> what its content is the date of."""
PAGE_TYPES = ("Article", "Page", "Posting", "Report", "Recipe", "Guide")
"""How the types of schema.org end that stand for a page; a comment's or a product review's date is not the page's."""
MAX_JSON = 128 * 2**10  # characters of one JSON-LD script; Yoast's have 5,000
MAX_NODES = 500  # nodes of one graph that are looked at


@dataclass(frozen=True, slots=True)
class PageDate:
    """One date of a page."""

    kind: str
    """published or modified."""
    written: str
    """As written."""
    source: str
    """Name of the `<meta>`, or `json-ld`."""

    @property
    def moment(self) -> datetime | None:
        """In UTC; None where it is no date."""
        return parse(self.written)


def of_meta(attributes: dict[str, str]) -> Iterator[PageDate]:
    """The date in a `<meta>`, if it has one."""
    for name in ("property", "name", "itemprop"):
        kind = META_DATES.get(attributes.get(name, "").strip().lower())
        written = attributes.get("content", "").strip()
        if kind is not None and written:
            yield PageDate(kind, written[:100], attributes[name].strip().lower())
            return


def of_json_ld(script: str) -> Iterator[PageDate]:
    """The dates of the page itself in a JSON-LD script: of its top nodes, or those of its graph."""
    for node in _nodes(script):
        if not _is_page(node.get("@type")):
            continue
        for key, kind in (("datePublished", PUBLISHED), ("dateModified", MODIFIED)):
            written = node.get(key)
            if isinstance(written, str) and written.strip():
                yield PageDate(kind, written.strip()[:100], "json-ld")


def _nodes(script: str) -> list[dict[str, Any]]:
    if len(script) > MAX_JSON or '"date' not in script:
        return []
    try:
        read = msgspec.json.decode(script)
    except (msgspec.DecodeError, UnicodeError, RecursionError):  # the last: brackets without end
        return []
    graph = read.get("@graph", read) if isinstance(read, dict) else read
    nodes = graph if isinstance(graph, list) else [graph]
    return [node for node in nodes[:MAX_NODES] if isinstance(node, dict)]


def _is_page(types: Any) -> bool:
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name.endswith(PAGE_TYPES) for name in names)
