"""Feeds of the demo site, which count as sitemaps too."""

from __future__ import annotations

from demo.answer import Answer

DAYS = {1: "Mon", 2: "Tue", 3: "Wed"}
"""Weekdays of the first days of June 2026, the dates of the items."""


def feeds(base: str) -> dict[str, Answer]:
    """Return the feeds by path, for a site with this base URL."""
    return {
        "/feeds/news.rss": Answer("application/rss+xml", rss(base).encode()),
        "/feeds/blog.atom": Answer("application/atom+xml", atom(base).encode()),
    }


def rss(base: str) -> str:
    """RSS 2.0 feed of the news."""
    items = "".join(
        f"    <item><title>News {number}</title><link>{base}/news/{number}</link>"
        f"<pubDate>{day}, 0{number} Jun 2026 07:30:00 GMT</pubDate></item>\n"
        for number, day in DAYS.items()
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0">\n  <channel>\n    <title>Lantern News</title>\n'
        f"    <link>{base}/</link>\n    <description>News of the museum</description>\n{items}  </channel>\n</rss>\n"
    )


def atom(base: str) -> str:
    """Atom 1.0 feed of the blog."""
    entries = "".join(
        f"  <entry><title>Post {number}</title><id>{base}/blog/{number}</id>"
        f'<link rel="alternate" href="{base}/blog/{number}"/><updated>2026-06-0{number}T12:00:00Z</updated></entry>\n'
        for number in DAYS
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f'  <title>Lantern Blog</title>\n  <id>{base}/</id>\n  <link rel="self" href="{base}/feeds/blog.atom"/>\n'
        f"  <updated>2026-06-03T12:00:00Z</updated>\n{entries}</feed>\n"
    )
