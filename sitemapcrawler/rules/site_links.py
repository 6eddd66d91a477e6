"""The table of the links between language versions, by page.

Which links count is what `cluster.Link` says: the code names a language, the URL is one, and there is no `media`. One
that does not count has no `code` here; it still leads somewhere, so nobody is told that it is missing.
"""

from __future__ import annotations

from sitemapcrawler.rules.cluster import page_key
from sitemapcrawler.rules.languages import read_code
from sitemapcrawler.rules.site_pages import (
    AGAIN,
    FILES,
    LISTED,
    ORIGINS,
    PAGES,
    ROW_BITS,
    odd,
    origin_of,
    spell,
)
from sitemapcrawler.rules.site_tables import Database, Table
from sitemapcrawler.urls import resolve

MIN_ENTRIES, MIN_SHARE = 20, 0.1
"""Entries of a host, or their share of a file, by which the crawl has seen the sitemaps of that host, and not just a
stray URL of it."""
HREFS = f"""
    SELECT l.place, l.sitemap, l.alternate.href AS href, l.alternate.hreflang AS hreflang,
           list_contains(map_keys(l.alternate.attributes), 'media') AS of_media
    FROM (SELECT (f.file << {ROW_BITS}) + u.row AS place, u.sitemap, unnest(u.alternates) AS alternate
          FROM ({LISTED}) u JOIN temp.site_files f USING (sitemap)
          WHERE len(u.alternates) > 0 {{only}}) l
    WHERE l.alternate.href IS NOT NULL"""
"""SQL for all links, as written, or those that `only` leaves."""
ALL = HREFS.format(only="")
TO_PAGES = f"""
    SELECT h.place, h.href, h.hreflang, h.of_media, coalesce(s.key, h.href) AS key
    FROM ({HREFS}) h LEFT JOIN temp.site_targets s ON s.url = h.href AND s.base IN ('', h.sitemap)
    WHERE s.key IS DISTINCT FROM ''"""
"""SQL for links with the key of the page that they lead to; those that lead to none are left out."""


CRAWLED = f"SELECT origin FROM temp.site_origins WHERE entries >= {MIN_ENTRIES} OR share >= {MIN_SHARE}"
OF_TOLD = f"""
    AND (f.file << {ROW_BITS}) + u.row IN (
        SELECT place FROM temp.site_told
        UNION ALL SELECT a.place FROM temp.site_again a JOIN temp.site_told t ON t.place = a.page)"""
FIRST_LOST = f"""
    SELECT coalesce(a.page, t.place) AS place, min(t.href) AS what
    FROM ({TO_PAGES.format(only=OF_TOLD)}) t
    LEFT JOIN temp.site_again a ON a.place = t.place
    WHERE NOT EXISTS (FROM temp.site_pages p WHERE p.key = t.key) AND {origin_of("t.key")} IN ({CRAWLED})
    GROUP BY ALL"""
"""SQL for a URL that is not listed, for each page of `site_told`."""


def target_key(base: str, href: str) -> str:
    """The key of the page that an href leads to; empty where it leads to none."""
    url = resolve(base, href)
    return page_key(url) if url is not None else ""


def code_of(_: str, written: str) -> str | None:
    """The usual spelling of a code that counts."""
    code = read_code(written)
    return code.canonical if code.counts else None


def _spell_targets(database: Database) -> None:
    absolute = "regexp_matches(href, '^[A-Za-z][A-Za-z0-9+.-]*:')"
    of = f"SELECT DISTINCT CASE WHEN {absolute} THEN '' ELSE sitemap END AS base, href AS url FROM ({ALL})"
    spell(database, "site_targets", f"{of} WHERE {odd('href')}", target_key)


def _read_codes(database: Database) -> None:
    of = f"SELECT DISTINCT '' AS base, hreflang AS url FROM ({ALL}) WHERE hreflang IS NOT NULL"
    spell(database, "site_codes", of, code_of)


TARGETS = Table(
    "site_targets",
    ("CREATE TEMP TABLE site_targets (base VARCHAR, url VARCHAR, key VARCHAR)",),
    of=(FILES,),
    fill=_spell_targets,
)
"""The keys of linked URLs that are not in normal form; `base`: the file, where it matters."""
CODES = Table(
    "site_codes",
    ("CREATE TEMP TABLE site_codes (base VARCHAR, written VARCHAR, code VARCHAR)",),
    of=(FILES,),
    fill=_read_codes,
)
"""The codes that count, in their usual spelling."""
LINKS = Table(
    "site_links",
    (
        f"""
        CREATE TEMP TABLE site_links AS
        SELECT coalesce(a.page, t.place) AS source,
               coalesce(p.page, -1 - (hash(t.key) >> 2)::BIGINT) AS target,
               CASE WHEN NOT coalesce(t.of_media, false) THEN c.code END AS code,
               p.page IS NULL AND o.origin IS NOT NULL AS lost
        FROM ({TO_PAGES.format(only="")}) t
        LEFT JOIN temp.site_pages p ON p.key = t.key
        LEFT JOIN temp.site_codes c ON c.written = t.hreflang
        LEFT JOIN temp.site_again a ON a.place = t.place
        LEFT JOIN ({CRAWLED}) o ON p.page IS NULL AND o.origin = {origin_of("t.key")}""",
    ),
    of=(PAGES, AGAIN, ORIGINS, TARGETS, CODES),
)
"""All links from page to page. A target that is not listed is a negative number, the same for the same page; `lost`
where its host is that of listed pages."""
