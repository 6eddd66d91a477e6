"""SQL that assigns the files of a crawl to sites.

A site consists of everything found from one host: its robots.txt, home page and well-known paths, and the files its
indexes list, on any host. `http` and `https`, with and without `www.`, are one site; another port is another site. A
crawl of several sites reports on each site what a separate crawl would report.
"""

from __future__ import annotations

from sitemapcrawler.replies.discovery import methods

CARRIED = "carried"
"""Table of baseline entries whose file could not be fetched now. The next crawl is compared with them too."""

ADDED, REMOVED, CHANGED, UNCHANGED = "added", "removed", "changed", "unchanged"
"""Values of `change` of a url record."""
NEW_PROBLEM, SOLVED_PROBLEM = "new problem", "solved problem"
"""Further ones of a change record."""
ROBOTS_CHANGE = "robots.txt"
"""The same, of what a robots.txt says."""
CURRENT = f"change IS DISTINCT FROM '{REMOVED}'"
"""SQL that is true for listed URLs; removed URLs are rows as well."""


def text_key(*columns: str) -> str:
    """SQL for a number of 64 bits that tells texts apart in a fraction of their memory, by MD5. `hash` of DuckDB 2.0.1
    does not: it is equal for 1.7 % of 100,000 URLs such as `/category-35/product-0000335`. Half of `md5_number` takes a
    quarter of the time of `md5_number_lower`."""
    return f"(md5_number(concat_ws(chr(31), {', '.join(columns)})) >> 64)::UBIGINT"


def sql_site_of(url: str) -> str:
    """SQL for the site of a URL, equivalent to `urls.site_of`; empty for a local file."""
    place = r"(?s)^https?://(?:[^/?#]*@)?(?:www\.)?([^/?#]*?)\.?(?::(?:80|443))?(?:[/?#].*)?$"
    return f"regexp_extract(lower({url}), '{place}', 1)"


def sites_of(database: str = "main") -> str:
    """SQL for (sitemap, site) of the files of a crawl.

    A file named by several robots.txt belongs to its own host if that is one of them, else to the first by name. The
    result does not depend on the order of the crawl.
    """
    # These find files in a robots.txt or a page, which is their `parent`.
    naming = tuple(method.name for method in methods() if not method.guesses)
    return f"""
        WITH RECURSIVE found AS (
            SELECT sitemap, parent, found_by IS NOT DISTINCT FROM 'index' AS listed,
                   {sql_site_of("sitemap")} AS own,
                   CASE WHEN found_by IN {naming} AND parent IS NOT NULL THEN {sql_site_of("parent")} ELSE own
                   END AS near
            FROM {database}.sitemaps
        ), named AS (
            SELECT sitemap, coalesce(min(site) FILTER (site = {sql_site_of("sitemap")}), min(site)) AS site
            FROM (SELECT unnest(sitemaps) AS sitemap, {sql_site_of("robots")} AS site FROM {database}.robots)
            WHERE site IN (SELECT near FROM found WHERE NOT listed) GROUP BY sitemap
        ), tops AS (
            SELECT f.sitemap, coalesce(n.site, f.near) AS site
            FROM found f LEFT JOIN named n USING (sitemap) WHERE n.site IS NOT NULL OR NOT f.listed
        ), below AS (
            SELECT f.sitemap, f.parent FROM found f ANTI JOIN tops USING (sitemap)
        ), reached AS (
            SELECT sitemap, site FROM tops
            UNION ALL
            SELECT b.sitemap, r.site FROM reached r JOIN below b ON b.parent = r.sitemap
        )
        SELECT f.sitemap, coalesce(any_value(r.site), any_value(f.near)) AS site
        FROM found f LEFT JOIN reached r USING (sitemap) GROUP BY f.sitemap"""


def sites_before(baseline: str, now: str, complete: bool) -> str:
    """SQL for (sitemap, site) of the files with entries in a baseline.

    `now`: a table of the same columns for this crawl. A file keeps its current site. A file that is gone gets the site
    of the files it shared a site with, since a site may be found in another way. `complete`: every site of this crawl
    was reachable; if crawl and baseline have one site each, the two are compared whatever their names (`force=yes`).
    """
    one = f"(SELECT count(DISTINCT site) FROM {now}) = 1 AND (SELECT count(DISTINCT was) FROM earlier) = 1"
    return f"""
        WITH listing AS (
            SELECT DISTINCT sitemap FROM {baseline}.urls WHERE {CURRENT}
            UNION SELECT DISTINCT sitemap FROM {baseline}.{CARRIED}
        ), earlier AS (
            SELECT l.sitemap, coalesce(e.site, {sql_site_of("l.sitemap")}) AS was, n.site AS site
            FROM listing l LEFT JOIN {now} n USING (sitemap) LEFT JOIN ({sites_of(baseline)}) e USING (sitemap)
        ), moved AS (
            SELECT was, min(site) AS site FROM earlier GROUP BY was HAVING count(*) FILTER (site = was) = 0
        )
        SELECT e.sitemap, CASE WHEN {complete} AND {one} THEN (SELECT min(site) FROM {now})
                               ELSE coalesce(e.site, m.site, e.was) END AS site
        FROM earlier e LEFT JOIN moved m USING (was)"""
