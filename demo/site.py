"""Responses of the demo site to all paths. N stands for a number.

robots.txt names the index and disallows `/private/`, for GPTBot also `/news/`.

    /robots.txt

Sitemaps and their content:

    /sitemap-index.xml              index of the 14 files below that are not marked otherwise
    /sitemaps/pages.xml             urlset, 11 pages
    /sitemaps/catalogue.xml.gz      urlset, 60 pages, gzip
    /sitemaps/media.xml             urlset, 5 pages: 2 images, 1 video, 1 news article, 6 language versions
    /sitemaps/archive-index.xml     index of the two archives, and of the index above it
    /sitemaps/archive-2024.xml      urlset, 5 pages; in the archive's index
    /sitemaps/archive-2025.xml      urlset, 5 pages, served as text/html; in the archive's index
    /sitemaps/pages.txt             text, 3 pages
    /feeds/news.rss                 RSS 2.0, 3 items
    /feeds/blog.atom                Atom 1.0, 3 entries
    /sitemaps/moved.xml             301 to shop.xml
    /sitemaps/shop.xml              urlset, 2 pages; in no index
    /sitemaps/missing.xml           404
    /sitemaps/login.xml             HTML, 200
    /sitemaps/truncated.xml         urlset, 3 pages, cut off in the URL of a fourth
    /sitemaps/ampersand.xml         urlset, 4 pages, a raw ampersand in the URL of the second
    /sitemaps/defects.xml           urlset, 10 pages: relative URL, dates, priorities, a duplicate, another host
    /private/drafts.xml             urlset, 1 page, disallowed by robots.txt

Pages that answer 200:

    / /visit /about /collection /collection/harbour-lamp /exhibitions /tickets /shop /shop/books /contact /jobs
    /press /search /en/visit /de/visit /films/lamp-lighting /films/player /news/night-opening /private/press-kit
    /catalogue/N (1 to 60) /archive/2023/N /archive/2024/N /archive/2025/N (1 to 5) /news/N /blog/N (1 to 3)
    /defects/N (1 to 8)
    /media/harbour-lamp.svg /media/harbour-lamp-detail.svg /media/lamp-lighting.svg /media/night-opening.svg
    /media/lamp-lighting.mp4

Pages with another status, all of them listed in a sitemap:

    /opening-hours /catalogue/21                301
    /catalogue/13 /exhibitions/lighthouses      404
    /exhibitions/old-lamps                      410
    /guestbook                                  500

Any other path answers 404.

On day 2, /sitemaps/defects.xml is what `fix` makes of it, /exhibitions/lighthouses answers 200, and /shop/books 404.
"""

from __future__ import annotations

from demo.answer import Answer, page
from demo.faulty import faulty, repaired
from demo.feeds import feeds
from demo.pages import pages
from demo.sitemaps import XML, sitemaps

NOT_FOUND = page("Not found", status=404)


def build(base: str, day: int = 1) -> dict[str, Answer]:
    """Return the responses by path; `base` (`http://127.0.0.1:8000`) is the start of the URLs in the files. `day`: 2
    for the site with what has changed since the day before."""
    first = {
        "/robots.txt": Answer("text/plain; charset=utf-8", robots(base).encode()),
        **sitemaps(base),
        **feeds(base),
        **faulty(base),
        **pages(base),
    }
    return first if day == 1 else first | changed(base)


def changed(base: str) -> dict[str, Answer]:
    """The responses that differ on the second day."""
    return {
        "/sitemaps/defects.xml": Answer(XML, repaired(base)),
        "/exhibitions/lighthouses": page("Lighthouses"),
        "/shop/books": page("No such page", status=404),
    }


def robots(base: str) -> str:
    groups = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /private/\nDisallow: /news/\n"
    return f"{groups}\nSitemap: {base}/sitemap-index.xml\n"
