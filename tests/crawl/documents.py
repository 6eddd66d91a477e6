"""Sitemaps to serve, written by hand so that they owe nothing to the reader."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape

CORE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
EXTENSIONS = (
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
URLSET_START = f"{DECLARATION}<urlset {CORE}>\n"


def entry(loc: str, more: str = "") -> str:
    """One `<url>`; `more` are further elements, as markup."""
    return f"<url><loc>{escape(loc)}</loc>{more}</url>\n"


def urlset(*locs: str) -> bytes:
    """A urlset that lists these pages."""
    return f"{URLSET_START}{''.join(map(entry, locs))}</urlset>".encode()


def dated(pages: Mapping[str, str]) -> bytes:
    """A urlset of pages with their lastmod; none of an empty one."""
    entries = (entry(loc, f"<lastmod>{date}</lastmod>" if date else "") for loc, date in pages.items())
    return f"{URLSET_START}{''.join(entries)}</urlset>".encode()


def beginning(*locs: str) -> bytes:
    """A urlset that ends after these pages, in the middle of another one's URL."""
    return f"{URLSET_START}{''.join(map(entry, locs))}<url><loc>https://cut.example/half".encode()


def index(*locs: str) -> bytes:
    """An index that names these sitemaps."""
    children = "".join(f"<sitemap><loc>{escape(loc)}</loc></sitemap>\n" for loc in locs)
    return f"{DECLARATION}<sitemapindex {CORE}>\n{children}</sitemapindex>".encode()


def rss(*links: str) -> bytes:
    """An RSS feed with an item for each page."""
    items = "".join(f"<item><title>Page</title><link>{escape(link)}</link></item>\n" for link in links)
    return f'{DECLARATION}<rss version="2.0"><channel><title>Feed</title>{items}</channel></rss>'.encode()


def text(*locs: str) -> bytes:
    """A text sitemap."""
    return "".join(f"{loc}\n" for loc in locs).encode()


def page(*head: str) -> bytes:
    """An HTML page with these elements in its head."""
    return f"<!doctype html>\n<html><head><title>Home</title>{''.join(head)}</head><body>Hello.</body></html>".encode()


def robots(*sitemaps: str, rules: Iterable[str] = ()) -> bytes:
    """A robots.txt that names these sitemaps; `rules` bind all agents."""
    lines = [*(f"Sitemap: {sitemap}" for sitemap in sitemaps), "User-agent: *", *rules]
    return "".join(f"{line}\n" for line in lines).encode()


def packed(body: bytes) -> bytes:
    """The body as gzip."""
    return gzip.compress(body, mtime=0)


def pages(prefix: str, count: int) -> list[str]:
    """So many page URLs that begin alike."""
    return [f"https://pages.example/{prefix}/{number}" for number in range(1, count + 1)]
