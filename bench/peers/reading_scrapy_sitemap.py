"""What scrapy.utils.sitemap.Sitemap reads from the sitemaps of a site, given their bytes (gzip unpacked once).

reading_scrapy_sitemap.py ORIGIN OUT.json
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from urllib.request import urlopen

import scrapy
from scrapy.utils.sitemap import Sitemap, sitemap_urls_from_robots

GZIP = b"\x1f\x8b"


def fetch(url: str) -> bytes:
    """Fetch a body as SitemapSpider would pass it on."""
    with urlopen(url) as response:
        body: bytes = response.read()
        coded = response.headers.get("Content-Encoding") == "gzip"
    for _ in range(1 + coded):
        body = gzip.decompress(body) if body.startswith(GZIP) else body
    return body


def main(origin: str, out: str) -> None:
    """Read the sitemaps that robots.txt names and, once each, those that indexes list on this site."""
    named = sitemap_urls_from_robots(fetch(f"{origin}/robots.txt"), base_url=origin)
    waiting = [scrapy.Request(url).url for url in named]
    pages: list[str] = []
    children: list[str] = []
    errors: list[str] = []
    for url in waiting:
        try:
            sitemap = Sitemap(fetch(url))
            locs = [entry["loc"] for entry in sitemap]
        except Exception as error:
            errors.append(type(error).__name__)
            continue
        if sitemap.type == "sitemapindex":
            children += locs
            waiting += [loc for loc in locs if loc.startswith(origin) and loc not in waiting]
        elif sitemap.type == "urlset":
            pages += locs
    found = {"version": scrapy.__version__, "pages": pages, "children": children, "error": ", ".join(errors)}
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
