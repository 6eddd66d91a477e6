"""Pages that a crawl and its baseline have both read, and what their dates said of the change in between."""

from __future__ import annotations

from sitemapcrawler.items import FileRevisits, Revisits
from sitemapcrawler.reader.dates import DATE_LENGTH
from sitemapcrawler.rules.facts.contents import TEMPLATE, number, version, volatile
from sitemapcrawler.rules.facts.site import FILES, ROW_BITS, SiteFacts, Table
from sitemapcrawler.rules.facts.sites import CURRENT

DAY_ENDS = "INTERVAL 36 HOUR"
"""From the start of a day in UTC to its end in the westernmost time zone, UTC-12."""
MAX_FILES = 20
"""Files of a summary."""
READ = f"""
    {CURRENT} AND lastmod_at IS NOT NULL AND reply.kind = 'ok' AND reply.status = 200 AND reply.content_hash IS NOT NULL
    AND reply.soft_404 IS NULL AND reply.shell IS DISTINCT FROM true"""
"""SQL that is true for a dated entry whose page was read and is one."""
OTHERS = " OR ".join(
    f"n.reply.{name} IS DISTINCT FROM b.reply.{name}"
    for name in ("title", "h1", "canonical", "noindex", "noindex_agents")
)
"""SQL that is true if something else on the page has changed, for which its date may move."""

DIFFERING = f"xor({number('n.reply.content_hash')}, {number('b.reply.content_hash')})"
"""SQL for the differing bits of two hashes, of which only those of the parts that are compared count."""
SAME_VERSION = f"{version('n.reply.content_hash')} = {version('b.reply.content_hash')}"
PAIRS = f"""
    SELECT {number("any_value(n.reply.content_hash)")} AS now, {number("any_value(b.reply.content_hash)")} AS before
    FROM urls n JOIN {{baseline}}.urls b USING (loc) WHERE {SAME_VERSION} GROUP BY loc"""
"""SQL for the hashes of the pages that both crawls have read."""


COMPARED = Table("site_compared", lambda site: (volatile(PAIRS.format(baseline=site.baseline)),))
"""By template, the parts of its pages' hashes that can be compared."""


def _revisits(site: SiteFacts) -> tuple[object, ...]:
    both_times = f"least(length(n.written), length(b.written)) > {DATE_LENGTH}"
    sql = f"""
        WITH now AS (
            SELECT rowid AS row, loc, sitemap, trim(lastmod) AS written, lastmod_at AS moment, reply
            FROM urls WHERE {READ}
        ), before AS (
            SELECT line, loc, sitemap, trim(lastmod) AS written, lastmod_at AS moment, reply
            FROM {site.baseline}.urls WHERE {READ}
        ), pairs AS (
            SELECT (f.file << {ROW_BITS}) + n.row AS place, f.file, f.sitemap, n.written, b.written AS was, n.moment,
                   CASE WHEN {both_times} THEN n.moment - b.moment
                        ELSE date_trunc('day', n.moment) - date_trunc('day', b.moment) END AS step,
                   {DIFFERING} & compared <> 0 AS is_other, {OTHERS} AS is_touched,
                   {DIFFERING} & compared <> 0 AND {DIFFERING} & certain = 0 AS is_doubtful,
                   n.moment + CASE WHEN length(n.written) > {DATE_LENGTH} THEN INTERVAL 0 HOUR ELSE {DAY_ENDS} END
                   <= coalesce(?::TIMESTAMP, 'infinity') AS is_before,
                   step > INTERVAL 0 HOUR AND coalesce(
                       n.moment BETWEEN date_trunc('day', h.changed_after) AND h.changed_at, false) AND NOT is_other
                   AS is_corrected
            FROM now n JOIN before b
            ON b.loc = n.loc AND {SAME_VERSION}
            JOIN temp.site_files f ON f.sitemap = n.sitemap
            LEFT JOIN {site.baseline}.contents h ON h.url = n.loc
            JOIN site_compared c ON c.template = {number("n.reply.content_hash")} {TEMPLATE}
            QUALIFY row_number() OVER (PARTITION BY n.row
                ORDER BY b.sitemap <> n.sitemap, b.sitemap, b.written <> n.written, b.line) = 1)
        SELECT * EXCLUDE (step, is_other, is_touched, is_doubtful, is_before, is_corrected),
               step > INTERVAL 0 HOUR AND NOT is_other AND NOT is_touched AS moved,
               step = INTERVAL 0 HOUR AND is_other AND is_before AS stayed
        FROM pairs WHERE step >= INTERVAL 0 HOUR AND (is_touched OR NOT is_doubtful) AND NOT is_corrected"""
    return sql, site.since


REVISITS = Table("site_revisits", _revisits, of=(FILES, COMPARED))
"""Dated entries of pages that both crawls have read with the same version of the extraction: `moved` if the date is
newer although nothing on the page has changed, `stayed` if the content has changed and the date is older than the crawl
before, which saw the old content. Left out are corrections: dates that moved back, or to the time at which the baseline
saw the content change."""


def revisits(site: SiteFacts) -> Revisits | None:
    """How many dates proved true; None if none could be compared."""
    if site.baseline is None:
        return None
    site.need(REVISITS)
    rows = site.query(
        """
        SELECT sitemap, count(*), count(*) FILTER (NOT moved AND NOT stayed), count(*) FILTER (moved),
               count(*) FILTER (stayed)
        FROM temp.site_revisits GROUP BY sitemap
        ORDER BY count(*) FILTER (NOT moved AND NOT stayed) / count(*), count(*) DESC, sitemap"""
    )
    files = [FileRevisits(*row) for row in rows]
    sums = {name: sum(getattr(one, name) for one in files) for name in ("compared", "true", "moved", "stayed")}
    return Revisits(**sums, files=files[:MAX_FILES]) if files else None
