"""Names the segments of URLs in the job's database, and counts them and what a policy limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from sitemapcrawler.items import SegmentCounts
from sitemapcrawler.jobs.counting import CONCERNED, ORDER
from sitemapcrawler.jobs.store.schema import literal
from sitemapcrawler.policy import MAX_ERRORS, Limit, Measured, Problems
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.rules.facts.revisits import REVISITS
from sitemapcrawler.rules.facts.site import ROW_BITS, SiteFacts
from sitemapcrawler.rules.facts.sites import ADDED, CURRENT, NEW_PROBLEM, REMOVED, SOLVED_PROBLEM, text_key
from sitemapcrawler.rules.registry import Severity
from sitemapcrawler.urls.segments import OTHER, Segment, UrlPattern

SEGMENT = f"coalesce(segment, '{OTHER}')"
URLS = f"""
    CREATE OR REPLACE TEMP TABLE site_segments AS
    SELECT {SEGMENT} AS segment, {text_key("loc")} AS url, bool_or(indexable) AS indexable,
           coalesce(bool_or(indexability <> '{Indexability.NOT_CHECKED}'), false) AS checked,
           coalesce(bool_and(change = '{REMOVED}'), false) AS removed,
           coalesce(bool_and(change = '{ADDED}'), false) AS added
    FROM urls GROUP BY ALL"""
"""SQL: each listed or removed URL as a number, with its segment."""
COUNTS = """
    SELECT segment, count(*) FILTER (NOT removed), count(*) FILTER (indexable AND NOT removed),
           count(*) FILTER (NOT indexable AND NOT removed),
           count(*) FILTER (checked AND indexable IS NULL AND NOT removed),
           count(*) FILTER (added), count(*) FILTER (removed)
    FROM temp.site_segments GROUP BY GROUPING SETS ((segment), ())"""
PROBLEMS = f"""
    SELECT segment, {
    ", ".join(
        f"count(DISTINCT url) FILTER (rank = {ORDER.index(one) + 1})" for one in (Severity.ERROR, Severity.WARNING)
    )
}
    FROM temp.site_concerned JOIN temp.site_segments USING (url)
    WHERE rule IN (SELECT unnest($1)) GROUP BY GROUPING SETS ((segment), ())"""
"""SQL, by segment: URLs with errors and with warnings. Parameter: ids of rules."""
CHANGED_PROBLEMS = f"""
    SELECT segment, count(*) FILTER (change = '{NEW_PROBLEM}'), count(*) FILTER (change = '{SOLVED_PROBLEM}')
    FROM changes WHERE rule IS NOT NULL AND segment IS NOT NULL GROUP BY segment"""
TRUSTED = f"""
    SELECT segment, sum(number)::BIGINT,
           CASE WHEN bool_or(s.lastmod.trusted IS NOT NULL)
                THEN sum(coalesce(s.lastmod.trusted, 1) * number) / sum(number) END
    FROM (SELECT {SEGMENT} AS segment, sitemap, count(*) AS number FROM urls
          WHERE lastmod_at IS NOT NULL AND {CURRENT} GROUP BY ALL) u
    JOIN sitemaps s USING (sitemap) WHERE s.lastmod IS NOT NULL GROUP BY GROUPING SETS ((segment), ())"""
"""SQL, by segment: entries with a date, and the share that can be trusted by the other entries of their files. As in
the figure of the site, all dates of a file without evidence count as true."""
PROVEN = f"""
    SELECT {{segment}} AS segment, count(*) FILTER (NOT moved AND NOT stayed) / count(*)
    FROM temp.{REVISITS.name} r JOIN urls u ON u.rowid = r.place & {(1 << ROW_BITS) - 1} GROUP BY ALL"""
"""SQL, by segment: share of the dates compared with the baseline that proved true."""
OF_RULES = """
    SELECT count(DISTINCT url), count(DISTINCT sitemap) FILTER (url IS NULL),
           count(DISTINCT rule) FILTER (url IS NULL AND sitemap IS NULL)
    FROM temp.site_concerned WHERE rule IN (SELECT unnest($1)) AND rank <= $2
    AND ($3 IS NULL OR url IN (SELECT url FROM temp.site_segments WHERE segment = $3))"""
"""SQL: what rules concern. Parameters: their ids, the last rank of a severity, and a segment or null."""
WHOLE = None
"""Segment of the rows about the whole site."""
EMPTY: Mapping[str, float] = MappingProxyType({})


def segment_of(segments: Sequence[Segment]) -> str:
    """SQL for the name of the segment of the URL in the column `loc`: the first that matches."""
    cases = "".join(
        f" WHEN regexp_matches(loc, {literal(one.pattern.expression)}) THEN {literal(one.name)}" for one in segments
    )
    return f"CASE{cases} ELSE '{OTHER}' END" if segments else f"'{OTHER}'"


def set_segments(connection: duckdb.DuckDBPyConnection, segments: Sequence[Segment]) -> None:
    """Set `segment` of all url records, in 0.4 s for a million. Raises duckdb.Error."""
    if segments:
        connection.execute(f"UPDATE urls SET segment = {segment_of(segments)}")
    else:
        connection.execute("UPDATE urls SET segment = NULL WHERE segment IS NOT NULL")


def set_segments_of_changes(connection: duckdb.DuckDBPyConnection) -> None:
    """Set `segment` of all change records to that of their URLs. Raises duckdb.Error."""
    connection.execute("UPDATE changes SET segment = NULL WHERE segment IS NOT NULL")
    connection.execute(
        "UPDATE changes SET segment = u.segment "
        "FROM (SELECT DISTINCT loc, segment FROM urls WHERE segment IS NOT NULL) u WHERE u.loc = changes.url"
    )


def proven_dates(site: SiteFacts, segments: Sequence[Segment]) -> dict[str, float]:
    """Share of the dates that proved true since the baseline, by segment; empty without a baseline. Raises
    duckdb.Error."""
    if site.baseline is None or not segments:
        return {}
    site.need(REVISITS)
    return dict(site.query(PROVEN.format(segment=segment_of(segments))))


def count_segments(
    site: SiteFacts, segments: Sequence[Segment], rules: Collection[str], proven: Mapping[str, float] = EMPTY
) -> dict[str | None, SegmentCounts]:
    """Counts by segment in the order of their names, and those of the whole site as `WHOLE`. `rules`: ids of all with
    findings. `proven`: what `proven_dates` gave. Raises duckdb.Error."""
    site.run(URLS)
    names = dict.fromkeys([*(one.name for one in segments), OTHER])
    found: dict[str | None, SegmentCounts] = {name: SegmentCounts(name) for name in names}
    found[WHOLE] = SegmentCounts()
    for name, *counts in site.query(COUNTS):
        one = found[name]
        one.urls, one.indexable, one.not_indexable, one.unknown, one.added, one.removed = counts
    if rules:
        site.need(CONCERNED)
        for name, *problems in site.query(PROBLEMS, list(rules)):
            found[name].errors, found[name].warnings = problems
    for name, *problems in site.query(CHANGED_PROBLEMS):
        found[name].new_problems, found[name].solved_problems = problems
    dated = site.query(TRUSTED) if site.has_rows("sitemaps WHERE lastmod IS NOT NULL") else ()
    for name, *dates in dated:
        found[name].dated, found[name].trusted = dates
    for name, share in proven.items():
        estimate = found[name].trusted
        found[name].trusted = share if estimate is None else min(share, estimate)
    return found


def measure(
    site: SiteFacts,
    segments: Sequence[Segment],
    policy: Sequence[Limit],
    rules: Collection[str],
    proven: Mapping[str, float] = EMPTY,
) -> Measured:
    """Count segments, and what each limit of a policy is about. Parameters as in `count_segments`."""
    found = Measured(count_segments(site, segments, rules, proven))
    for limit in policy:
        if limit.key == MAX_ERRORS:
            found.problems[limit] = _problems(site, limit, rules)
    patterns = {limit: limit.value.expression for limit in policy if isinstance(limit.value, UrlPattern)}
    if patterns:
        found.matches = _matches(site, patterns)
    return found


def _problems(site: SiteFacts, limit: Limit, rules: Collection[str]) -> Problems:
    own = {rule.id for rule in limit.rules}
    chosen = [rule for rule in rules if limit.rule is None or rule in own]
    ranks = len(ORDER) if limit.of_any_severity else 1
    if not chosen:
        return Problems()
    site.need(CONCERNED)
    [counts] = site.query(OF_RULES, chosen, ranks, limit.segment)
    return Problems(*counts)


def _matches(site: SiteFacts, patterns: Mapping[Limit, str]) -> dict[Limit, tuple[int, str | None]]:
    """Listed URLs that match each pattern, in one pass over all."""
    tests, counts = [], []
    for at, (limit, pattern) in enumerate(patterns.items()):
        here = f"{SEGMENT} = {literal(limit.segment)} AND " if limit.segment else ""
        tests.append(f"{here}regexp_matches(loc, {literal(pattern)}) AS m{at}")
        counts.append(f"count(DISTINCT loc) FILTER (m{at}), min(loc) FILTER (m{at})")
    [row] = site.query(f"SELECT {', '.join(counts)} FROM (SELECT loc, {', '.join(tests)} FROM urls WHERE {CURRENT})")
    return {limit: (row[2 * at], row[2 * at + 1]) for at, limit in enumerate(patterns)}
