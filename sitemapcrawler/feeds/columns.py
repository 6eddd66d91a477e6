"""Columns for people: the URLs of a crawl as a flat table, which the formats csv and xlsx share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import OWN, Namespace

FLAT = "flat"
CELLS = (FLAT, "json")
"""Values of the setting SITEMAP_CSV_CELLS and of the option `cells` of a CSV feed: flat columns, or a column for each
field, with lists and objects as JSON."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    """Header, and its name in `fields`."""
    width: int
    """In characters, in the format xlsx; 0: not in that format."""
    value: Callable[[Any], object]  # Any: each table has a record type of its own
    """Value of a record: text, a number, True, False, texts to join, or None for an empty cell."""
    is_link: bool = False
    """True if http(s) URLs become hyperlinks there."""
    needs: str = ""
    """Field without which the cell is empty, so that `value` need not be called."""


def _status(url: UrlRecord) -> object:
    """HTTP status, or the kind of failure; None if the URL was not requested."""
    if url.reply is None or url.reply.kind == "unchecked":
        return None
    return url.reply.status if url.reply.status is not None else url.reply.kind


def _final_url(url: UrlRecord) -> str | None:
    """URL that a redirect led to."""
    return url.reply.final_url if url.reply is not None and url.reply.final_url != url.loc else None


def _noindex(url: UrlRecord) -> object:
    """True or False; the names of the crawlers if the page tells only some of them."""
    if url.reply is None or url.reply.noindex:
        return url.reply and True
    return url.reply.noindex_agents or url.reply.noindex


def _number(namespace: Namespace, url: UrlRecord) -> int | None:
    """Number of objects of a namespace."""
    return len(namespace.objects(url)) or None


def _blocked_for(url: UrlRecord) -> object:
    """Names of the crawlers; `none` if robots.txt allows all; None if it was not judged."""
    return None if url.blocked_for is None else url.blocked_for or "none"


URLS = (
    Column("loc", 60, attrgetter("loc"), is_link=True),
    Column("status", 10, _status, needs="reply"),
    Column("indexable", 11, attrgetter("indexable")),
    Column("indexability", 16, attrgetter("indexability")),
    Column("final_url", 40, _final_url, needs="reply"),
    Column("canonical", 40, lambda url: url.reply and url.reply.canonical, needs="reply"),
    Column("noindex", 10, _noindex, needs="reply"),
    Column("blocked_for", 20, _blocked_for),
    Column("lastmod", 22, attrgetter("lastmod")),
    Column("changefreq", 12, attrgetter("changefreq")),
    Column("priority", 9, attrgetter("priority")),
    *(Column(one.field, max(9, len(one.field) + 1), partial(_number, one), needs=one.field) for one in OWN),
    Column("problems", 40, attrgetter("issues"), needs="issues"),
    Column("sitemap", 50, attrgetter("sitemap")),
    Column("line", 9, attrgetter("line")),
    Column("change", 11, attrgetter("change")),
    Column("changed_fields", 0, attrgetter("changed_fields"), needs="changed_fields"),
    Column("unchecked", 0, lambda url: url.reply and url.reply.reason, needs="reply"),
    Column("redirects", 0, lambda url: url.reply and (len(url.reply.hops) or None), needs="reply"),
    Column("elapsed_ms", 0, lambda url: url.reply and url.reply.elapsed_ms, needs="reply"),
    Column("error", 0, lambda url: url.reply and url.reply.error, needs="reply"),
    Column("loc_raw", 0, attrgetter("loc_raw")),
    Column("lastmod_at", 0, attrgetter("lastmod_at")),
    Column("extra", 0, lambda url: url.extra and list(url.extra), needs="extra"),
    Column("recovered", 0, attrgetter("recovered")),
)
"""Columns of url records, in order."""
