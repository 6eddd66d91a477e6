"""Rules that compare all files of a site: duplicates, contradictions, repeated media, changes since a baseline."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reader.formats import URLSET, format_names
from sitemapcrawler.rules.facts.objects import IMAGES as IMAGES
from sitemapcrawler.rules.facts.objects import VIDEOS as VIDEOS
from sitemapcrawler.rules.facts.site import (
    AGAIN,
    FILES,
    LISTED,
    ORIGINS,
    PLACED,
    REPEATING,
    WHOLE,
    SiteFacts,
    file_of,
    on_entry,
    origin_of,
    row_of,
)
from sitemapcrawler.rules.facts.site_links import ALIASES
from sitemapcrawler.rules.facts.sites import text_key
from sitemapcrawler.rules.facts.tally import ENTRY_NOUNS, share
from sitemapcrawler.rules.registry import INFO, WARNING, Of, Per, SiteMessage, rule
from sitemapcrawler.urls.display import counted, percent, quoted

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
NEWS = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap"
PROTOCOL = "https://www.sitemaps.org/protocol.html"
MOVES = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
FROG = "Screaming Frog"
SECONDS_A_DAY = 86_400
DAY = len("2026-01-05")
"""Length of a day, in characters."""
BETWEEN = "\x1f"
"""Separates two dates as written, which may contain spaces; no XML document can contain it."""
OWN_LISTS = ("feed", "news", "list")
"""Kinds of files that repeat pages by design: the latest pages, or those selected by a user. Source:
https://developers.google.com/search/blog/2014/10/best-practices-for-xml-sitemaps-rssatom"""
ADDED_IMAGES = "list_sort([image.loc FOR image IN u.images])::VARCHAR"
ADDED_VIDEOS = "list_sort([coalesce(video.content_loc, video.thumbnail_loc) FOR video IN u.videos])::VARCHAR"
ADDED = f"""
    CASE WHEN f.kind IN ('image', 'video')
         THEN {text_key(ADDED_IMAGES, ADDED_VIDEOS)} END"""
"""SQL for what an entry of an image or video file adds."""
RELISTED = f"""
    temp.site_again a JOIN temp.site_repeating f ON f.file = {file_of("a.place")}
    JOIN urls u ON u.rowid = {row_of("a.place")}
    WHERE f.kind NOT IN {OWN_LISTS} AND u.news IS NULL"""
"""SQL for repeated entries of pages, in files that may list all pages."""
DATED = f"""
    SELECT a.page, a.place, f.site, f.kind, {ADDED} AS added, trim(u.lastmod) AS written, u.lastmod_at AS moment
    FROM {RELISTED} AND u.lastmod_at IS NOT NULL AND length(written) >= {DAY}"""
"""SQL for those with a date."""


@rule(
    "cross-duplicate-url",
    WARNING,
    BUILD,
    Of.SITE,
    per=Per.FILE("are listed in other files too"),
    also={FROG: "URLs In Multiple Sitemaps"},
)
def cross_duplicate_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """Several files of a site list the same page.

    Files that add something do not count: feeds and news, which list the latest pages again, and separate files of
    images, videos or language versions, if other files list at least half of their pages. Two files with the same
    images or videos of a page add nothing.

    Why: Search engines read each entry, the entries may contradict each other, and counts by section mean little.
    Fix: List each page in one file only.
    Bad: `https://example.com/a` in `posts.xml` and in `all.xml`
    Good: each page in one file
    """
    site.need(AGAIN)
    if not site.has_rows("temp.site_again"):
        return
    site.need(REPEATING)
    listed = f"SELECT a.page, a.place, f.file, f.site, f.kind, f.versions, {ADDED} AS added FROM {RELISTED}"
    faults = f"""
        SELECT min(place) AS place, count(DISTINCT file) AS number, max(place) AS other
        FROM ({listed}) GROUP BY page, site, kind, versions, added HAVING min(file) < max(file)
        QUALIFY row_number() OVER (PARTITION BY page, site ORDER BY min(place), number DESC) = 1"""
    entries = f"""
        SELECT place FROM ({listed}) WINDOW alike AS (PARTITION BY page, site, kind, versions, added)
        QUALIFY min(file) OVER alike < max(file) OVER alike"""
    for fault in site.faults(faults, entries=entries):
        more = f" and in {counted(fault.number - 2, 'more file')}" if fault.number and fault.number > 2 else ""
        text = f"{quoted(fault.url)} is listed in {quoted(fault.other_sitemap)}{more} too"
        yield on_entry(fault, text, fault.other_sitemap)


@rule("cross-conflicting-lastmod", WARNING, BUILD, Of.SITE, per=Per.FILE("have a newer date in another file"))
def cross_conflicting_lastmod(site: SiteFacts) -> Iterator[SiteMessage]:
    """Sitemaps list the same page with different dates.

    A date without a time does not contradict a time within a day of it. Files that `cross-duplicate-url` does not count
    are not compared: feeds and news date the publication, and files of images or videos may date these.

    Why: At most one of them is right, and search engines trust dates only if they prove to be right.
    Fix: Write the same date in all files, or list the page in one file only.
    Bad: `2026-01-05` for `https://example.com/a` in one file, `2025-07-01` in another
    Good: the same date in both, or one file
    """
    site.need(AGAIN)
    if not site.has_rows("temp.site_again"):
        return
    site.need(REPEATING)
    faults = f"""
        SELECT min_by(place, (moment, place)) AS place, max_by(place, (moment, -place)) AS other, NULL AS number,
               min_by(written, (moment, place)) || '{BETWEEN}' || max_by(written, (moment, -place)) AS what
        FROM ({DATED}) GROUP BY page, site, kind, added HAVING {_conflict()}
        QUALIFY row_number() OVER (PARTITION BY page, site ORDER BY min_by(place, (moment, place))) = 1"""
    entries = f"""
        SELECT place FROM ({DATED}) WINDOW alike AS (PARTITION BY page, site, kind, added)
        QUALIFY {_conflict(" OVER alike")}"""
    for fault in site.faults(faults, entries=entries):
        here, _, there = (fault.what or "").partition(BETWEEN)
        yield on_entry(fault, f"dated {here} here, and {there} in {quoted(fault.other_sitemap)}", here)


def _conflict(over: str = "") -> str:
    """SQL that is true for a group of dated entries of a page with different dates in different files. `over`: window
    of the group."""
    file = file_of("place")
    return f"""
        min({file}){over} < max({file}){over} AND min(moment){over} < max(moment){over}
        AND min_by({file}, (moment, place)){over} <> max_by({file}, (moment, -place)){over}
        AND (min(length(written)){over} > {DAY}
             OR epoch(max(moment){over}) - epoch(min(moment){over}) > {SECONDS_A_DAY})"""


@rule("cross-mixed-host", WARNING, MOVES, Of.SITE)
def cross_mixed_host(site: SiteFacts) -> Iterator[SiteMessage]:
    """Pages of one site are listed with and without `www`. Once per site, on the first file with the rarer form.

    Entries that differ from their own file do not count: `loc-www-mismatch` reports them.

    Why: One of the two redirects to the other or duplicates it, and a sitemap should list the indexed one.
    Fix: List all pages on the host that does not redirect, with or without `www`.
    Bad: `https://www.example.com/a` in one file, `https://example.com/b` in another
    Good: the same host in all of them
    """
    host = "regexp_replace(origin, '^https?://', '')"
    yield from _mixed(site, host, f"regexp_replace({host}, '^www[.]', '')", ("loc-www-mismatch", "loc-offsite"))


@rule("cross-mixed-protocol", WARNING, MOVES, Of.SITE, also={"Semrush": "HTTP URLs in sitemap for HTTPS site"})
def cross_mixed_protocol(site: SiteFacts) -> Iterator[SiteMessage]:
    """Pages of one host are listed with http and https. Once per host, on the first file with the rarer form.

    Entries that differ from their own file do not count: `loc-protocol-mismatch` reports them.

    Why: One of the two redirects to the other or duplicates it, and a sitemap should list the indexed one.
    Fix: List all pages with https.
    Bad: `http://example.com/a` in one file, `https://example.com/b` in another
    Good: https in all of them
    """
    host = "regexp_replace(origin, '^https?://', '')"
    yield from _mixed(site, "origin", host, ("loc-protocol-mismatch", "loc-offsite"))


def _mixed(site: SiteFacts, part: str, whole: str, told: tuple[str, ...]) -> Iterator[SiteMessage]:
    """Report sites with several values of `part` per `whole`, both SQL. `told`: rules that report single entries."""
    site.need(ORIGINS)
    if not site.has_rows("temp.site_origins HAVING count(*) > 1"):
        return
    hosts = f"SELECT {whole} AS host FROM temp.site_origins WHERE origin <> '' GROUP BY host"
    if not any(site.query(f"{hosts} HAVING count(DISTINCT {part}) > 1 LIMIT 1")):  # counting entries takes longer
        return
    issues = ", ".join(f"'{rule}'" for rule in told)
    entries = f"""
        SELECT f.site, {origin_of("e.key")} AS origin, e.place
        FROM temp.site_entries e JOIN urls u ON u.rowid = {row_of("e.place")}
        JOIN temp.site_files f ON f.file = {file_of("e.place")}
        WHERE NOT coalesce(list_has_any(u.issues, [{issues}]), false) AND origin <> ''"""
    faults = f"""
        WITH origins AS (
            SELECT site, origin, count(*) AS number, min(place) AS place FROM ({entries}) GROUP BY site, origin
        ), parts AS (
            SELECT site, {part} AS part, {whole} AS host, sum(number) AS number, min(place) AS place
            FROM origins GROUP BY ALL)
        SELECT site, min_by(part, (number, part)) AS part,
               min_by(place, (number, part)) AS place, min_by(number, (number, part))::BIGINT AS number,
               min_by(part, (number, part)) || ' ' || max_by(part, (number, part)) AS what
        FROM parts GROUP BY site, host HAVING count(*) > 1"""
    less_listed = f"SELECT e.place FROM ({entries}) e JOIN temp.site_faults t ON t.site = e.site AND t.part = {part}"
    for fault in site.faults(faults, entries=less_listed):
        less, _, more = (fault.what or "").partition(" ")
        many = f"{fault.number} pages are" if (fault.number or 0) > 1 else "1 page is"
        yield on_entry(fault, f"{many} listed on {less}, such as {quoted(fault.url)}; most are on {more}", less)


@rule("cross-news-in-general", INFO, NEWS, Of.SITE)
def cross_news_in_general(site: SiteFacts) -> Iterator[SiteMessage]:
    """A general sitemap contains some news articles. They are fewer than half of its entries.

    Why: This is allowed, but a separate news sitemap is smaller, so search engines can fetch it every few minutes.
    Articles that leave it after two days do not change other files.
    Fix: Move the articles to a news sitemap of their own.
    Bad: 50 articles with `<news:news>` among 20,000 products
    Good: a news sitemap beside those of the products
    """
    files = f"""
        SELECT sitemap, counts.news, url_count FROM sitemaps
        WHERE format = '{URLSET.name}' AND counts.news > 0 AND counts.news * 2 < url_count
        ORDER BY sitemap"""
    for sitemap, news, entries in list(site.query(files)):
        site.mark(f"FROM ({PLACED}) WHERE news IS NOT NULL AND sitemap = ?", sitemap)
        text = share(news, entries, ENTRY_NOUNS, ("is a news article", "are news articles"))
        yield SiteMessage(text, sitemap=sitemap)


@rule("cross-lastmod-coverage", INFO, BUILD, Of.WHOLE_SITE, per=Per.SITE(instead_of="lastmod-missing"))
def cross_lastmod_coverage(site: SiteFacts) -> Iterator[SiteMessage]:
    """Only some entries of the site have a date. The site has several files. News, feeds and text files do not count,
    nor pages that have a date in another file.

    It replaces `lastmod-missing`, which judges single files. That rule remains for a site without any date, with one
    file, or that was not crawled completely.

    Why: Search engines revisit a changed page sooner if they learn of the change; without a date they do not. The
    message gives the share of the site's entries, and the number of files without any date.
    Fix: Write `<lastmod>` in all files, as the dated ones do.
    Bad: dates in the sitemap of the posts only
    Good: the date of its last change for each page, where it is known
    """
    site.need(AGAIN, WHOLE)
    if not site.has_rows("temp.site_files GROUP BY site HAVING count(*) > 1"):
        return
    undated = tuple(format_names(lambda format: format.is_feed or not format.has_dates))
    judged = f"""
        WITH again AS (
            SELECT a.place, a.page, u.rowid AS row, u.lastmod IS NOT NULL AS dated
            FROM temp.site_again a JOIN urls u ON u.rowid = {row_of("a.place")}
        ), elsewhere AS (
            SELECT row FROM again WHERE NOT dated AND page IN (SELECT page FROM again WHERE dated))
        SELECT u.site, u.sitemap, u.lastmod, u.place FROM ({PLACED}) u JOIN sitemaps s USING (sitemap)
        WHERE s.format NOT IN {undated} AND u.news IS NULL AND u.row NOT IN (SELECT row FROM elsewhere)"""
    sums = f"""
        SELECT site, sum(dated), sum(entries), count(*), count(*) FILTER (dated = 0), min(sitemap) FILTER (dated = 0)
        FROM (SELECT site, sitemap, count(lastmod) AS dated, count(*) AS entries FROM ({judged}) GROUP BY ALL)
        WHERE site IN (SELECT site FROM temp.site_whole) GROUP BY site ORDER BY site"""
    for name, dated, entries, files, without, first in list(site.query(sums)):
        if files > 1 and 0 < dated < entries:
            site.mark(f"SELECT place FROM ({judged}) WHERE lastmod IS NULL AND site = ?", name)
            missing = share(int(entries - dated), int(entries), ENTRY_NOUNS, ("has no date", "have no date"))
            has = "has no date at all" if without == 1 else "have no date at all"
            none = f"; {without:,} of {files:,} files {has}, such as {quoted(first)}" if without else ""
            yield SiteMessage(f"{site.named(name)}{missing}{none}", value=name or None)


LOST = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/overview"
MIN_DROP = 0.1
"""Share of URLs that must be gone. A site loses some pages every day."""


@rule("cross-count-drop", WARNING, LOST, Of.BASELINE)
def cross_count_drop(site: SiteFacts) -> Iterator[SiteMessage]:
    """The site lists far fewer URLs than before. At least a tenth fewer than in the previous crawl.

    Why: It may take weeks to notice that a generator stopped halfway, or that a section is missing.
    Fix: Check the generator and the missing sections; compare the URLs with the previous crawl.
    Bad: 60,000 URLs today and 100,000 yesterday
    Good: about as many as before
    """
    count = f"SELECT site, count(*) FROM ({LISTED}) JOIN temp.site_sites USING (sitemap) GROUP BY site"
    listed = dict(site.query(count))
    for name, before in site.urls_before.items():
        now = listed.get(name, 0)
        if before - now >= before * MIN_DROP:
            text = f"{counted(now, 'URL')}, {before:,} in the previous crawl: {percent(before - now, before)} fewer"
            yield SiteMessage(f"{site.named(name)}{text}", value=name or None)


@rule("cross-removed-url", INFO, LOST, Of.BASELINE)
def cross_removed_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """URLs of the previous crawl are no longer listed. Once per file, with their number.

    Why: Removed pages should answer 404 or redirect. If they still work, they were left out by mistake.
    Fix: Check that these pages are gone or redirect; list them again if they are still there.
    Bad: a page that still works, but is no longer listed
    Good: a page that answers 404 or redirects
    """
    yield from _changed(site, "removed", "site_before", "no longer listed")


@rule("cross-added-url", INFO, LOST, Of.BASELINE)
def cross_added_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """URLs are new since the previous crawl. Once per file, with their number.

    Why: A sudden rise may come from filters or a calendar that were included by mistake.
    Fix: Check that these are pages that people should find, not filters, calendars or search results.
    Bad: a million URLs of search results
    Good: the new pages
    """
    yield from _changed(site, "added", "site_sites", "new")


def _changed(site: SiteFacts, change: str, sites: str, said: str) -> Iterator[SiteMessage]:
    """Yield one message per file with changed URLs. `sites`: table of the files' sites; `said`: what changed."""
    files = f"""
        SELECT sitemap, count(*), min(loc) FROM urls JOIN temp.{sites} USING (sitemap)
        WHERE change = ? AND site IN ? GROUP BY sitemap ORDER BY sitemap"""
    for sitemap, number, first in site.query(files, change, list(site.urls_before)):
        urls = counted(number, "URL is", "URLs are")
        yield SiteMessage(f"{urls} {said}, such as {quoted(first)}", sitemap=sitemap, value=first)


MIN_PAGES = 50
"""Number of pages with the same image or video to report. Fewer may share one on purpose."""

MIN_SHARE = 0.1
"""Share of such pages among those of their host with images or videos."""

BUCKETS = 2**20
"""Buckets of a first, rough count. Only the few high ones are counted exactly, which bounds memory."""


@rule("cross-same-page", WARNING, MOVES, Of.SITE, per=Per.FILE("are listed under another URL too"))
def cross_same_page(site: SiteFacts) -> Iterator[SiteMessage]:
    """A folder and its index page are both listed. Or a URL with and without an extension: a note, unless `verify=get`
    finds the same text. Once per page.

    Why: Most servers answer both with the same page; search engines choose one of them.
    Fix: Keep the URL that the page names as its canonical, and redirect the other one to it.
    Bad: `https://example.com/` and `https://example.com/index.html`, `/about` and `/about.html`
    Good: the URL that the page names as its canonical
    """
    site.need(ALIASES)
    for fault in site.faults("SELECT place, other, what FROM temp.site_aliases"):
        alike = "have the same text" if fault.what == "same" else "are the same page on most servers"
        text = f"{quoted(fault.url)} and {quoted(fault.other)} are both listed, and {alike}"
        severity = INFO if fault.what == "extension" else None
        yield SiteMessage(
            text, fault.line, value=fault.other, severity=severity, sitemap=fault.sitemap, url=fault.url,
            times=fault.times,
        )  # fmt: skip


@rule("image-repeated", INFO, IMAGES, Of.SITE)
def image_repeated(site: SiteFacts) -> Iterator[SiteMessage]:
    """One image is listed for many pages. For at least 50, and at least a tenth of the host's pages that list images.
    Once per image, on its first page.

    Why: It is usually a placeholder or a logo, and tells image search nothing about these pages.
    Fix: List the pages' own images, and omit placeholders and logos.
    Bad: `https://example.com/no-image.png` for 2,000 products
    Good: the images that show what the page is about
    """
    yield from _repeated(site, "images", "[image.loc FOR image IN images]", "image")


@rule("video-repeated", INFO, VIDEOS, Of.SITE)
def video_repeated(site: SiteFacts) -> Iterator[SiteMessage]:
    """One video is listed for many pages. For at least 50, and at least a tenth of the host's pages that list videos.
    Once per video, on its first page.

    Why: Search engines show a video with one page only: the page whose main content it is.
    Fix: List the video only with the page whose main content it is.
    Bad: the company video in the entry of every page
    Good: the video in the entry of its own page
    """
    yield from _repeated(site, "videos", "[video.content_loc FOR video IN videos]", "video")


def _repeated(site: SiteFacts, column: str, locs: str, name: str) -> Iterator[SiteMessage]:
    if not site.has(column):
        return
    site.need(FILES)
    of_media = f"FROM ({PLACED}) WHERE len({column}) > 0"
    listed = f"SELECT place, {origin_of('loc')} AS host, unnest(list_distinct({locs})) AS asset {of_media}"
    site.run(f"""
        CREATE OR REPLACE TEMP TABLE site_buckets AS
        SELECT hash(host, asset) % {BUCKETS} AS bucket
        FROM (SELECT {origin_of("loc")} AS host, unnest({locs}) AS asset {of_media})
        GROUP BY bucket HAVING count(*) >= {MIN_PAGES}""")
    site.run(f"""
        CREATE OR REPLACE TEMP TABLE site_hosts AS
        SELECT {origin_of("loc")} AS host, count(*) AS pages FROM ({LISTED}) WHERE len({column}) > 0 GROUP BY host""")
    faults = f"""
        SELECT min(l.place) AS place, count(*) AS number, l.asset AS what, l.host
        FROM ({listed}) l JOIN temp.site_hosts h USING (host)
        WHERE hash(l.host, l.asset) % {BUCKETS} IN (SELECT bucket FROM temp.site_buckets)
        GROUP BY l.host, l.asset HAVING count(*) >= {MIN_PAGES} AND count(*) >= {MIN_SHARE} * any_value(h.pages)"""
    entries = f"SELECT l.place FROM ({listed}) l JOIN temp.site_faults t ON t.host = l.host AND t.what = l.asset"
    for fault in site.faults(faults, entries=entries):
        text = f"the {name} {quoted(fault.what or '')} is listed for {fault.number:,} pages"
        yield on_entry(fault, text, fault.what)
