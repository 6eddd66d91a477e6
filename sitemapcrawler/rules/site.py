"""Rules on what the files of a site list together."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.quoting import shown
from sitemapcrawler.rules import site_pages as pages
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.rules.site_facts import SiteFacts, on_entry
from sitemapcrawler.rules.site_pages import LISTED, file_of, row_of
from sitemapcrawler.rules.tally import share

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
NEWS = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap"
PROTOCOL = "https://www.sitemaps.org/protocol.html"
MOVES = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
FROG = "Screaming Frog"
SECONDS_A_DAY = 86_400
DAY = len("2026-01-05")
"""Characters of a day."""


@rule("cross-duplicate-url", Severity.WARNING, BUILD, Needs.SITE, also={FROG: "URLs In Multiple Sitemaps"})
def cross_duplicate_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """Several files list the same page. Once for a page, in the first of them.

    Files of news, of images and of videos repeat pages by their nature: they are compared with their like, and those of
    news with none.

    Why: each of them costs visits, they may contradict each other, and counts by section mean nothing.
    Bad: `https://example.com/a` in `posts.xml` and in `all.xml`
    Good: each page in one file
    """
    site.need(pages.AGAIN)
    faults = f"""
        SELECT min(place) AS place, count(DISTINCT file) AS number, max(place) AS other
        FROM (SELECT a.page, a.place, f.file, f.kind FROM temp.site_again a
              JOIN temp.site_files f ON f.file = {file_of("a.place")} WHERE f.news = 0)
        GROUP BY page, kind HAVING min(file) < max(file)"""
    for fault in site.faults(faults):
        more = f" and in {fault.number - 2} more files" if fault.number and fault.number > 2 else ""
        text = f"{shown(fault.url)} is listed in {shown(fault.other_sitemap)}{more} too"
        yield on_entry(fault, text, fault.other_sitemap)


@rule("cross-conflicting-lastmod", Severity.WARNING, BUILD, Needs.SITE)
def cross_conflicting_lastmod(site: SiteFacts) -> Iterator[SiteMessage]:
    """Several files list the same page with different dates. Once for a page, in the file with the older one.

    A day alone does not contradict a time within a day of it.

    Why: at most one of them is true, and search engines trust dates only where they prove to be true.
    Bad: `2026-01-05` for `https://example.com/a` in one file, `2025-07-01` in another
    Good: the same date in both, or one file
    """
    site.need(pages.AGAIN)
    faults = f"""
        SELECT min_by(place, (moment, place)) AS place, max_by(place, (moment, -place)) AS other, NULL AS number,
               min_by(written, (moment, place)) || ' ' || max_by(written, (moment, -place)) AS what
        FROM (SELECT a.page, a.place, trim(u.lastmod) AS written,
                     try_cast(rtrim(u.lastmod_at, 'Z') AS TIMESTAMP) AS moment
              FROM temp.site_again a JOIN urls u ON u.rowid = {row_of("a.place")})
        WHERE moment IS NOT NULL AND length(written) >= {DAY}
        GROUP BY page
        HAVING min({file_of("place")}) < max({file_of("place")}) AND min(moment) < max(moment)
           AND min_by({file_of("place")}, (moment, place)) <> max_by({file_of("place")}, (moment, -place))
           AND (min(length(written)) > {DAY} OR epoch(max(moment)) - epoch(min(moment)) > {SECONDS_A_DAY})"""
    for fault in site.faults(faults):
        here, _, there = (fault.what or "").partition(" ")
        yield on_entry(fault, f"dated {here} here, and {there} in {shown(fault.other_sitemap)}", here)


@rule("cross-mixed-host", Severity.WARNING, MOVES, Needs.SITE)
def cross_mixed_host(site: SiteFacts) -> Iterator[SiteMessage]:
    """Pages of one site are listed with and without `www`. Once for a site, in the first file with fewer of them.

    Entries that their own file tells apart are not counted: `loc-www-mismatch` has told of them.

    Why: one of the two redirects to the other or doubles it, and a sitemap is to list what is indexed.
    Bad: `https://www.example.com/a` in one file, `https://example.com/b` in another
    Good: the same host in all of them
    """
    host = "regexp_replace(origin, '^https?://', '')"
    yield from _mixed(site, host, f"regexp_replace({host}, '^www[.]', '')", ("loc-www-mismatch", "loc-offsite"))


@rule(
    "cross-mixed-protocol", Severity.WARNING, MOVES, Needs.SITE, also={"Semrush": "HTTP URLs in sitemap for HTTPS site"}
)
def cross_mixed_protocol(site: SiteFacts) -> Iterator[SiteMessage]:
    """Pages of one host are listed with http and with https. Once for a host, in the first file with fewer of them.

    Entries that their own file tells apart are not counted: `loc-protocol-mismatch` has told of them.

    Why: one of the two redirects to the other or doubles it, and a sitemap is to list what is indexed.
    Bad: `http://example.com/a` in one file, `https://example.com/b` in another
    Good: https in all of them
    """
    host = "regexp_replace(origin, '^https?://', '')"
    yield from _mixed(site, "origin", host, ("loc-protocol-mismatch", "loc-offsite"))


def _mixed(site: SiteFacts, part: str, whole: str, told: tuple[str, ...]) -> Iterator[SiteMessage]:
    """Sites that have several parts, by SQL for the two; `told`: rules that told of an entry by itself."""
    site.need(pages.ENTRIES)
    issues = ", ".join(f"'{rule}'" for rule in told)
    faults = f"""
        WITH origins AS (
            SELECT {pages.origin_of("e.key")} AS origin, count(*) AS number, min(place) AS place
            FROM temp.site_entries e JOIN urls u ON u.rowid = {row_of("e.place")}
            WHERE NOT coalesce(list_has_any(u.issues, [{issues}]), false)
            GROUP BY origin HAVING origin <> ''
        ), parts AS (
            SELECT {part} AS part, {whole} AS site, sum(number) AS number, min(place) AS place
            FROM origins GROUP BY ALL)
        SELECT min_by(place, (number, part)) AS place, min_by(number, (number, part))::BIGINT AS number,
               min_by(part, (number, part)) || ' ' || max_by(part, (number, part)) AS what
        FROM parts GROUP BY site HAVING count(*) > 1"""
    for fault in site.faults(faults):
        less, _, more = (fault.what or "").partition(" ")
        many = f"{fault.number} pages are" if (fault.number or 0) > 1 else "1 page is"
        yield on_entry(fault, f"{many} listed on {less}, such as {shown(fault.url)}; most are on {more}", less)


@rule("cross-news-in-general", Severity.INFO, NEWS, Needs.SITE)
def cross_news_in_general(site: SiteFacts) -> Iterator[SiteMessage]:
    """A file of pages holds some news articles: less than half of its entries are.

    Why: it is allowed. A file of news alone is smaller and may be visited every few minutes, and an article leaves it
    after two days without a trace in the others.
    Bad: 50 articles with `<news:news>` among 20,000 products
    Good: a news sitemap beside those of the products
    """
    files = """
        SELECT sitemap, counts.news, url_count FROM sitemaps
        WHERE format = 'xml-urlset' AND counts.news > 0 AND counts.news * 2 < url_count
        ORDER BY sitemap"""
    for sitemap, news, entries in site.query(files):
        yield SiteMessage(f"{share(news, entries, 'entries')} are of news", sitemap=sitemap)


@rule("cross-lastmod-coverage", Severity.INFO, BUILD, Needs.WHOLE_SITE)
def cross_lastmod_coverage(site: SiteFacts) -> Iterator[SiteMessage]:
    """Of a site with several files some entries have a date and some have none. News and text files are apart.

    Why: search engines visit changed pages sooner when they learn of the change; of pages without a date they do not.
    The message has the share of the site, and how many files have no date at all.
    Bad: dates in the sitemap of the posts only
    Good: the date of its last change for each page, where it is known
    """
    sums = f"""
        SELECT sum(dated), sum(entries), count(*), count(*) FILTER (dated = 0), min(sitemap) FILTER (dated = 0)
        FROM (SELECT u.sitemap, count(u.lastmod) AS dated, count(*) AS entries
              FROM ({LISTED}) u JOIN sitemaps s ON s.sitemap = u.sitemap
              WHERE s.format NOT IN ('text', 'list') AND u.news IS NULL GROUP BY u.sitemap)"""
    [(dated, entries, files, without, first)] = list(site.query(sums))
    if files > 1 and 0 < dated < entries:
        none = f"; {without} of {files} files have none, such as {shown(first)}" if without else ""
        yield SiteMessage(f"{share(int(dated), int(entries), 'entries')} of all files have a date{none}")
