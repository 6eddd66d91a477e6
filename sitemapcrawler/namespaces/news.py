"""Google's news namespace. Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.namespaces.element import Element, Fields, fill, nested, text

URI = "http://www.google.com/schemas/sitemap-news/0.9"


@dataclass(slots=True)
class News:
    """One `<news:news>`; every value as written, white space stripped."""

    publication: dict[str, str] | None = None
    """{`name`, `language`} of the publication."""
    publication_date: str | None = None
    """When the article was published (W3C Datetime)."""
    title: str | None = None
    """Title of the article."""
    access: str | None = None
    """Subscription or Registration (retired)."""
    genres: str | None = None
    """Comma separated genres (retired)."""
    keywords: str | None = None
    """Comma separated keywords (retired)."""
    stock_tickers: str | None = None
    """Comma separated tickers (retired)."""
    geo_locations: str | None = None
    """Places (retired)."""
    extra: list[dict[str, Any]] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


FIELDS: Fields = {
    "publication": nested,
    **dict.fromkeys(
        ("publication_date", "title", "access", "genres", "keywords", "stock_tickers", "geo_locations"), text
    ),
}


def read(element: Element) -> News | None:
    """The article a `<news:news>` states; None for another element of the namespace."""
    if element.name != "news":
        return None
    news = News()
    fill(news, element, FIELDS)
    return news
