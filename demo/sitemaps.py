"""Correct sitemaps of the demo site."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from demo.answer import HTML, Answer, moved
from demo.pages import ARCHIVE_SIZE, CATALOGUE_SIZE

XML = "application/xml"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
CORE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

CHILDREN = (
    "/sitemaps/pages.xml",
    "/sitemaps/catalogue.xml.gz",
    "/sitemaps/media.xml",
    "/sitemaps/archive-index.xml",
    "/sitemaps/pages.txt",
    "/feeds/news.rss",
    "/feeds/blog.atom",
    "/sitemaps/moved.xml",
    "/sitemaps/missing.xml",
    "/sitemaps/login.xml",
    "/sitemaps/truncated.xml",
    "/sitemaps/ampersand.xml",
    "/sitemaps/defects.xml",
    "/private/drafts.xml",
)
"""Files that the index lists, in order."""

PAGES = (
    "/",
    "/visit",
    "/about",
    "/collection",
    "/exhibitions",
    "/tickets",
    "/opening-hours",
    "/exhibitions/lighthouses",
    "/exhibitions/old-lamps",
    "/guestbook",
    "/private/press-kit",
)
"""Pages that `/sitemaps/pages.xml` lists, in order."""

MEDIA = (
    DECLARATION
    + f"""<urlset {CORE}
    xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
    xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
    xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
    xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>BASE/collection/harbour-lamp</loc>
    <image:image>
      <image:loc>BASE/media/harbour-lamp.svg</image:loc>
      <image:caption>A brass lamp &amp; its bracket</image:caption>
      <image:geo_location>Bergen, Norway</image:geo_location>
      <image:title>Harbour lamp</image:title>
      <image:license>BASE/about</image:license>
    </image:image>
    <image:image><image:loc>BASE/media/harbour-lamp-detail.svg</image:loc></image:image>
  </url>
  <url>
    <loc>BASE/films/lamp-lighting</loc>
    <video:video>
      <video:thumbnail_loc>BASE/media/lamp-lighting.svg</video:thumbnail_loc>
      <video:title>Lighting a lamp</video:title>
      <video:description>How a lamp was lit in 1870.</video:description>
      <video:content_loc>BASE/media/lamp-lighting.mp4</video:content_loc>
      <video:player_loc>BASE/films/player</video:player_loc>
      <video:duration>95</video:duration>
      <video:expiration_date>2099-12-31</video:expiration_date>
      <video:rating>4.5</video:rating>
      <video:view_count>1204</video:view_count>
      <video:publication_date>2025-03-01T09:00:00+01:00</video:publication_date>
      <video:family_friendly>yes</video:family_friendly>
      <video:restriction relationship="allow">DE NO GB</video:restriction>
      <video:platform relationship="deny">tv</video:platform>
      <video:requires_subscription>no</video:requires_subscription>
      <video:uploader info="BASE/about">The Lantern Museum</video:uploader>
      <video:live>no</video:live>
      <video:tag>lamp</video:tag>
      <video:tag>fire</video:tag>
    </video:video>
  </url>
  <url>
    <loc>BASE/news/night-opening</loc>
    <news:news>
      <news:publication><news:name>Lantern News</news:name><news:language>en</news:language></news:publication>
      <news:publication_date>2026-05-02</news:publication_date>
      <news:title>The museum opens at night</news:title>
    </news:news>
  </url>
  <url>
    <loc>BASE/en/visit</loc>
    <xhtml:link rel="alternate" hreflang="en" href="BASE/en/visit"/>
    <xhtml:link rel="alternate" hreflang="de" href="BASE/de/visit"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="BASE/visit"/>
  </url>
  <url>
    <loc>BASE/de/visit</loc>
    <xhtml:link rel="alternate" hreflang="en" href="BASE/en/visit"/>
    <xhtml:link rel="alternate" hreflang="de" href="BASE/de/visit"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="BASE/visit"/>
  </url>
</urlset>
"""
)
"""Urlset with all four namespaces; BASE stands for the site's base URL."""


def sitemaps(base: str) -> dict[str, Answer]:
    """Return the correct sitemaps by path, for a site with this base URL."""
    catalogue = urlset(f"{base}/catalogue/{number}" for number in range(1, CATALOGUE_SIZE + 1))
    nested = ("/sitemaps/archive-2024.xml", "/sitemaps/archive-2025.xml", "/sitemap-index.xml")
    return {
        "/sitemap-index.xml": Answer(XML, index(base + path for path in CHILDREN)),
        "/sitemaps/pages.xml": Answer(XML, urlset(base + path for path in PAGES)),
        "/sitemaps/catalogue.xml.gz": Answer("application/gzip", gzip.compress(catalogue, mtime=0)),
        "/sitemaps/media.xml": Answer("text/xml; charset=utf-8", MEDIA.replace("BASE", base).encode()),
        "/sitemaps/archive-index.xml": Answer(XML, index(base + path for path in nested)),
        "/sitemaps/archive-2024.xml": Answer(XML, archive(base, 2024)),
        "/sitemaps/archive-2025.xml": Answer(HTML, archive(base, 2025)),
        "/sitemaps/pages.txt": Answer("text/plain", f"{base}/contact\n{base}/jobs\n{base}/press\n".encode()),
        "/sitemaps/moved.xml": moved(f"{base}/sitemaps/shop.xml"),
        "/sitemaps/shop.xml": Answer(XML, urlset([f"{base}/shop", f"{base}/shop/books"])),
    }


def index(locs: Iterable[str]) -> bytes:
    """Return a sitemap index of the given files."""
    entries = "".join(f"  <sitemap><loc>{loc}</loc></sitemap>\n" for loc in locs)
    return f"{DECLARATION}<sitemapindex {CORE}>\n{entries}</sitemapindex>\n".encode()


def urlset(locs: Iterable[str]) -> bytes:
    """Return a urlset of the given pages, each with every optional element."""
    rest = "<lastmod>2026-04-30T08:15:00+02:00</lastmod><changefreq>weekly</changefreq><priority>0.8</priority>"
    entries = "".join(f"  <url><loc>{loc}</loc>{rest}</url>\n" for loc in locs)
    return f"{DECLARATION}<urlset {CORE}>\n{entries}</urlset>\n".encode()


def archive(base: str, year: int) -> bytes:
    """Return the urlset of one year's archive."""
    return urlset(f"{base}/archive/{year}/{number}" for number in range(1, ARCHIVE_SIZE + 1))
