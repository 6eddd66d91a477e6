"""Rules on what many pages of a site share: one page under two URLs, one image or video on very many pages."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.facts.site import SiteFacts, on_entry
from sitemapcrawler.rules.facts.site_pages import FILES, LISTED, PAGES, ROW_BITS, origin_of
from sitemapcrawler.rules.families.image import GOOGLE as IMAGES
from sitemapcrawler.rules.families.video import GOOGLE as VIDEOS
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.urls.display import shown

CANONICAL = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
EXTENSION = r"\.(?:html?|php|aspx?|jsp)$"
INDEX_PAGE = rf"^([^?]*/)(?:index|[Dd]efault){EXTENSION}"
WITH_EXTENSION = rf"^([^?]*[^/?]){EXTENSION}"
MIN_PAGES = 50
"""Pages with one image or video that are very many: fewer may share one on purpose."""
MIN_SHARE = 0.1
"""Their share of the pages of their host with images or videos."""
BUCKETS = 2**20
"""Counts that are made first, of which the few high ones are looked at: so memory does not grow with the images."""


@rule("cross-same-page", Severity.WARNING, CANONICAL, Needs.SITE)
def cross_same_page(site: SiteFacts) -> Iterator[SiteMessage]:
    """A folder and its index page are both listed. For information: a URL with and without an extension.

    Why: most servers answer both with the same page; search engines choose one of them. Once for a page.
    Bad: `https://example.com/` and `https://example.com/index.html`, `/about` and `/about.html`
    Good: the URL that the page names as its canonical
    """
    site.need(PAGES)
    bases = f"""
        SELECT page, CASE WHEN regexp_matches(key, '{INDEX_PAGE}') THEN 'index' ELSE 'extension' END AS what,
               hash(CASE WHEN regexp_matches(key, '{INDEX_PAGE}') THEN regexp_extract(key, '{INDEX_PAGE}', 1)
                         ELSE regexp_extract(key, '{WITH_EXTENSION}', 1) END) AS base
        FROM temp.site_pages WHERE regexp_matches(key, '{WITH_EXTENSION}')"""
    faults = f"""
        SELECT b.page AS place, min(p.page) AS other, min(b.what) AS what
        FROM temp.site_pages p JOIN ({bases}) b ON b.base = hash(p.key) GROUP BY b.page"""
    for fault in site.faults(faults):
        text = f"{shown(fault.url)} and {shown(fault.other)} are both listed, and are the same page on most servers"
        found = on_entry(fault, text, fault.other)
        yield found if fault.what == "index" else SiteMessage(
            text, fault.line, value=fault.other, severity=Severity.INFO, sitemap=fault.sitemap, url=fault.url,
            times=fault.times,
        )  # fmt: skip


@rule("image-repeated", Severity.INFO, IMAGES, Needs.SITE)
def image_repeated(site: SiteFacts) -> Iterator[SiteMessage]:
    """One image is listed for 50 pages and more, and for a tenth of the pages of their host that list images. Once for
    an image, on its first page.

    Why: it is a placeholder or a logo as a rule, and says nothing about these pages in image search.
    Bad: `https://example.com/no-image.png` for 2,000 products
    Good: the images that show what the page is about
    """
    yield from _repeated(site, "images", "[image.loc FOR image IN images]", "image")


@rule("video-repeated", Severity.INFO, VIDEOS, Needs.SITE)
def video_repeated(site: SiteFacts) -> Iterator[SiteMessage]:
    """One video file is listed for 50 pages and more, and for a tenth of the pages of their host that list videos. Once
    for a video, on its first page.

    Why: search engines show a video with one page, the one whose main content it is.
    Bad: the film about the company as the video of every page
    Good: the video in the entry of its own page
    """
    yield from _repeated(site, "videos", "[video.content_loc FOR video IN videos]", "video")


def _repeated(site: SiteFacts, column: str, locs: str, name: str) -> Iterator[SiteMessage]:
    if not site.has(column):
        return
    site.need(FILES)
    of_media = f"FROM ({LISTED}) u JOIN temp.site_files f USING (sitemap) WHERE len(u.{column}) > 0"
    listed = f"""
        SELECT (f.file << {ROW_BITS}) + u.row AS place, {origin_of("u.loc")} AS host,
               unnest(list_distinct({locs})) AS asset
        {of_media}"""
    site.run(f"""
        CREATE OR REPLACE TEMP TABLE site_buckets AS
        SELECT hash(host, asset) % {BUCKETS} AS bucket
        FROM (SELECT {origin_of("u.loc")} AS host, unnest({locs}) AS asset {of_media})
        GROUP BY bucket HAVING count(*) >= {MIN_PAGES}""")
    site.run(f"""
        CREATE OR REPLACE TEMP TABLE site_hosts AS
        SELECT {origin_of("loc")} AS host, count(*) AS pages FROM ({LISTED}) WHERE len({column}) > 0 GROUP BY host""")
    faults = f"""
        SELECT min(l.place) AS place, count(*) AS number, l.asset AS what
        FROM ({listed}) l JOIN temp.site_hosts h USING (host)
        WHERE hash(l.host, l.asset) % {BUCKETS} IN (SELECT bucket FROM temp.site_buckets)
        GROUP BY l.host, l.asset HAVING count(*) >= {MIN_PAGES} AND count(*) >= {MIN_SHARE} * any_value(h.pages)"""
    for fault in site.faults(faults):
        text = f"the {name} {shown(fault.what or '')} is listed for {fault.number:,} pages"
        yield on_entry(fault, text, fault.what)
