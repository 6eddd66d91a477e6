"""SQL queries that fill a crawl's report from its job's database."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec

from sitemapcrawler.items import (
    ChangeRecord,
    FindingRecord,
    PageRecord,
    RobotsRecord,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
)
from sitemapcrawler.jobs.counting import CONCERNED, ORDER, WORST
from sitemapcrawler.jobs.coverage import FOLDER
from sitemapcrawler.jobs.store.files import in_words
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.jobs.store.schema import iso, json_line, json_object
from sitemapcrawler.jobs.url_table import entries
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.report.advice import LEADING
from sitemapcrawler.report.model import (
    CHANGES,
    MAX_CHANGED,
    MAX_COMPARED,
    MAX_DENIED,
    MAX_DENIED_IN_ALL,
    MAX_EXAMPLES,
    MAX_FETCHED,
    MAX_FINDINGS,
    MAX_LANGUAGES,
    MAX_LINKED,
    MAX_MONTHS,
    MAX_NOT_INDEXABLE,
    MAX_ROBOTS,
    MAX_SITEMAPS,
    MIN_EXAMPLES,
    Denied,
    FetchedFile,
    FileProblems,
    Language,
    Lead,
    MissingPage,
    Report,
    RuleReach,
)
from sitemapcrawler.report.todo import leads_to, next_step
from sitemapcrawler.robots.policy import robots_url
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import SiteFacts, origin_of
from sitemapcrawler.rules.facts.site_links import UNRETURNED
from sitemapcrawler.rules.facts.sites import CURRENT, text_key
from sitemapcrawler.rules.facts.unlisted import MISSING, NOT_LINKED, ONLY, UNLISTED

logger = logging.getLogger(__name__)

MONTHS = f"SELECT strftime(lastmod_at, '%Y-%m') AS month, count(*) FROM urls WHERE {CURRENT} GROUP BY month"
STATUSES = f"""
    SELECT coalesce(reply.status::VARCHAR, reply.kind) AS answer, count(DISTINCT {text_key("loc")}) AS number FROM urls
    WHERE (reply.status IS NOT NULL OR reply.kind <> 'unchecked') AND {CURRENT}
    GROUP BY answer ORDER BY number DESC, answer"""
NOT_REQUESTED = f"""
    SELECT reply.reason, count(DISTINCT {text_key("loc")}) FROM urls
    WHERE reply.kind = 'unchecked' AND reply.reason IS NOT NULL AND {CURRENT} GROUP BY ALL"""
INDEXABILITIES = f"""
    SELECT indexability, count(DISTINCT {text_key("loc")}) AS number
    FROM urls WHERE indexability IS NOT NULL AND {CURRENT} GROUP BY indexability ORDER BY number DESC, indexability"""
LISTED = f"SELECT count(DISTINCT {text_key('loc')}) FROM urls WHERE {CURRENT}"
TIMES = f"""
    SELECT quantile_cont(reply.elapsed_ms, [0.5, 0.9, 0.99]), max(reply.elapsed_ms) FROM urls
    WHERE reply.elapsed_ms IS NOT NULL AND {CURRENT}"""
REASONS = [value.value for value in Indexability]
NOT_INDEXABLE = f"""
    SELECT {json_object(UrlRecord, ("loc", "sitemap", "line", "reply", "indexability"))} FROM urls JOIN (
        SELECT row, why FROM (
            SELECT min(rowid) AS row, min(list_position({REASONS}, indexability)) AS why FROM urls
            WHERE NOT indexable AND {CURRENT} GROUP BY loc)
        ORDER BY row_number() OVER (PARTITION BY why ORDER BY row), why LIMIT {MAX_NOT_INDEXABLE}) b
    ON b.row = urls.rowid
    ORDER BY why, row"""
"""First entry of each URL that is not indexable, by reason; if there are too many, as many of each reason."""
CHANGED = f"SELECT {json_line(ChangeRecord)} FROM changes WHERE change = ? ORDER BY rowid LIMIT {MAX_CHANGED}"

_url = msgspec.json.Decoder(UrlRecord).decode
_change = msgspec.json.Decoder(ChangeRecord).decode


def months(site: SiteFacts) -> dict[str, object]:
    """Entries by month of lastmod."""
    counts = dict(site.query(MONTHS))
    undated = counts.pop(None, 0)
    most = sorted(counts, key=lambda month: (-counts[month], month))[:MAX_MONTHS]
    shown = {month: counts[month] for month in sorted(most)}
    return {"months": shown, "other_months": sum(counts.values()) - sum(shown.values()), "undated": undated}


def statuses(site: SiteFacts) -> dict[str, object]:
    """Requested URLs by status of the first answer, or by kind of failure, response times, and URLs that were not
    requested."""
    [(times, slowest)] = site.query(TIMES)
    found = {"statuses": dict(site.query(STATUSES)), "not_requested": dict(site.query(NOT_REQUESTED))}
    return found | {"response_times": () if times is None else (*times, slowest)}


def indexabilities(site: SiteFacts) -> dict[str, object]:
    """URLs by indexability."""
    return {"indexability": dict(site.query(INDEXABILITIES))}


def listed(site: SiteFacts) -> dict[str, object]:
    """Number of listed URLs."""
    [(number,)] = site.query(LISTED)
    return {"urls": number}


def not_indexable(site: SiteFacts) -> dict[str, object]:
    """URLs that are not indexable."""
    return {"not_indexable": [_url(line) for (line,) in site.query(NOT_INDEXABLE)]}


def changed(site: SiteFacts) -> dict[str, object]:
    """What has changed since the baseline."""
    found = {change: [_change(line) for (line,) in site.query(CHANGED, change)] for change in CHANGES}
    return {"changed": {change: records for change, records in found.items() if records}}


KEPT = "SELECT rule, count(*) FROM findings GROUP BY rule"
EXAMPLES = f"""
    SELECT {json_line(FindingRecord, "f.")} FROM findings f JOIN (
        SELECT rule, row, row_number() OVER (PARTITION BY rule ORDER BY nth, row) AS number FROM (
            SELECT rule, rowid AS row, row_number() OVER (PARTITION BY rule, sitemap ORDER BY rowid) AS nth
            FROM findings)
        WHERE nth <= $1
        QUALIFY number <= $1) e ON e.row = f.rowid
    ORDER BY e.rule, e.number"""
"""SQL: some findings of each rule, from as many different files as possible. Parameter: how many."""
MAIN_FILES = f"""
    SELECT rule, sitemap, count(DISTINCT url) AS number FROM temp.site_concerned JOIN {WORST} USING (rule)
    WHERE sitemap IS NOT NULL AND url IS NOT NULL
      AND (rank = worst OR rule NOT IN (SELECT unnest($1::VARCHAR[]))) GROUP BY rule, sitemap
    QUALIFY row_number() OVER (PARTITION BY rule ORDER BY number DESC, sitemap) = 1"""
"""SQL, by rule: the file with most of its URLs that have its worst severity, and their number. Parameter: rules that
have others."""
MAIN_VALUES = """
    SELECT rule, value, number FROM (
        SELECT rule, value, count(*) AS number FROM findings WHERE value <> '' GROUP BY ALL)
    QUALIFY row_number() OVER (PARTITION BY rule ORDER BY number DESC, value) = 1"""
"""SQL, by rule: the most frequent value of stored findings, and how often it occurs."""
CHECKED = f"""
    SELECT sitemap, count(DISTINCT key) AS checked, count(DISTINCT key) FILTER (NOT indexable) AS bad
    FROM (SELECT sitemap, indexable, {text_key("loc")} AS key FROM urls WHERE indexable IS NOT NULL AND {CURRENT})
    GROUP BY sitemap"""
"""SQL, by file: its URLs of which it is known whether they can be indexed, and those that cannot."""
PROBLEMS = f"""
    WITH problems AS (
        SELECT sitemap, {", ".join(f"sum(number) FILTER (rank = {n}) AS {one}s" for n, one in enumerate(ORDER, 1))},
               sum(urls) FILTER (rank = 1) AS error_urls
        FROM (SELECT sitemap, rank, count(DISTINCT url) AS urls, urls + max((url IS NULL)::INTEGER) AS number
              FROM temp.site_concerned GROUP BY ALL)
        GROUP BY sitemap),
    worst AS (
        SELECT s.*, {", ".join(f"coalesce({one}s, 0)::BIGINT AS {one}s" for one in ORDER)},
               coalesce(error_urls, 0)::BIGINT AS error_urls
        FROM sitemaps s LEFT JOIN problems USING (sitemap)
        ORDER BY {", ".join(f"{one}s DESC" for one in ORDER)}, url_count DESC, sitemap LIMIT {MAX_SITEMAPS})
    SELECT {json_line(SitemapRecord)}, {", ".join(f"{one}s" for one in ORDER)}, coalesce(checked, 0), coalesce(bad, 0),
           error_urls
    FROM worst LEFT JOIN ({CHECKED}) USING (sitemap)
    ORDER BY {", ".join(f"{one}s DESC" for one in ORDER)}, url_count DESC, sitemap"""
"""SQL: files with the most severe problems: number of their URLs with each severity, and of the file itself."""

MOVED = (Indexability.REDIRECT, Indexability.CANONICALISED)
"""Of URLs that another page takes the place of."""
LEADS = f"""
    SELECT {json_object(UrlRecord, ("loc", "reply", "indexability", "target", "issues"))} FROM urls
    WHERE loc IN (SELECT unnest($1)) AND {CURRENT}"""
"""SQL: what takes the place of listed URLs. Parameter: the URLs."""

_finding = msgspec.json.Decoder(FindingRecord).decode
_sitemap = msgspec.json.Decoder(SitemapRecord).decode


def share(counts: Iterable[int], room: int) -> int:
    """Maximum number of rows of each kind, so that all kinds together fit. Kinds with few rows leave room to others."""
    left = sorted(counts)
    for place, count in enumerate(left):
        each = room // (len(left) - place)
        if count > each:
            return each
        room -= count
    return max(left, default=0)


def most_each(kept: Iterable[int]) -> int:
    """How many findings of each rule are shown: what rules with few of them leave goes to the others."""
    counts = list(kept)
    if sum(counts) <= MAX_FINDINGS:
        return MAX_EXAMPLES
    return min(MAX_EXAMPLES, max(MIN_EXAMPLES, share(counts, MAX_FINDINGS)))


def rules(site: SiteFacts, summary: SummaryRecord) -> dict[str, object]:
    """Rules with findings, in the order of the summary."""
    known = {rule.id: rule for rule in all_rules()}
    site.need(CONCERNED)
    kept = dict(site.query(KEPT))
    milder = [rule for rule, reach in summary.reach.items() if reach.milder]
    main_files = {rule: found for rule, *found in site.query(MAIN_FILES, milder)}
    main_values = {rule: found for rule, *found in site.query(MAIN_VALUES)}
    examples: dict[str, list[FindingRecord]] = {}
    for (line,) in site.query(EXAMPLES, most_each(kept.values())):
        found = _finding(line)
        examples.setdefault(found.rule, []).append(found)
    made = []
    for id, reach in summary.reach.items():
        rule = known.get(id)
        text = (rule.what, rule.why, rule.source) if rule else ("", "", "")
        one = RuleReach(id, reach, summary.rules.get(id, 0), *text, examples.get(id, ()), rule.fix if rule else "")
        one.kept = kept.get(id, 0)
        one.left_out = summary.findings_left_out.get(id, 0)
        one.page = rule.address if rule else ""
        one.main_file, one.in_main_file = main_files.get(id, (None, 0))
        one.main_value, one.with_main_value = main_values.get(id, (None, 0))
        made.append(one)
    _set_leads(site, [rule for rule in made if rule.rule in LEADING])
    return {"rules": made}


def _set_leads(site: SiteFacts, rules: Sequence[RuleReach]) -> None:
    """Give rules on URLs that lead to other pages the first of them as an example that is not indexable for this reason
    alone: the next step of a noindex page is about its noindex."""
    shown = {one.url for rule in rules for one in rule.examples if one.url}
    records = {record.loc: record for record in (_url(line) for (line,) in site.query(LEADS, [*shown]))}
    for rule in rules:
        for record in filter(None, (records.get(one.url or "") for one in rule.examples)):
            if record.indexability in MOVED and (target := leads_to(record)) is not None:
                rule.lead = Lead(record.loc, target, next_step(record))
                break


def files(site: SiteFacts) -> dict[str, object]:
    """Files with the most severe problems."""
    site.need(CONCERNED)
    return {"files": [FileProblems(_sitemap(line), *counts) for line, *counts in site.query(PROBLEMS)]}


FIRST_SITEMAPS = 100
"""Number of sitemaps kept per robots.txt."""
ROBOTS = f"""
    SELECT {json_line(RobotsRecord)} FROM (
        SELECT * REPLACE (sitemaps[:{FIRST_SITEMAPS}] AS sitemaps) FROM robots
        ORDER BY urls DESC, robots LIMIT {MAX_ROBOTS})
    ORDER BY urls DESC, robots"""
DENIED = f"""
    SELECT min(loc) AS first, max(loc) AS last, blocked_for FROM (
        SELECT loc, blocked_for, {origin_of("loc")} AS origin,
               {FOLDER.format(url="loc")} AS folder
        FROM urls WHERE len(blocked_for) > 0 AND {CURRENT})
    GROUP BY origin, blocked_for, folder
    QUALIFY row_number() OVER (PARTITION BY origin, blocked_for ORDER BY count(*) DESC, first) <= {MAX_DENIED}
    ORDER BY count(*) DESC, first LIMIT $1"""
"""SQL: examples of URLs that robots.txt denies, the first and last of each folder. Parameter: folders in all."""
LANGUAGES = """
    SELECT l.code, count(*) AS links, coalesce(any_value(u.number), 0) AS unreturned, count(*) FILTER (l.lost) AS lost
    FROM temp.site_links l
    LEFT JOIN (SELECT s.code, count(*) AS number FROM temp.site_suspects s
               JOIN temp.site_unreturned r ON r.source = s.source AND r.target = s.target
               GROUP BY s.code) u ON u.code = l.code
    WHERE l.code IS NOT NULL GROUP BY l.code ORDER BY links DESC, l.code"""

_robots = msgspec.json.Decoder(RobotsRecord).decode


def robots(site: SiteFacts) -> dict[str, object]:
    """robots.txt files, those with the most listed URLs first."""
    [(count,)] = site.query("SELECT count(*) FROM robots")
    denied = [
        Denied(robots_url(url) or "", url, agents)
        for *ends, agents in site.query(DENIED, MAX_DENIED_IN_ALL)
        for url in dict.fromkeys(ends)
    ]
    return {"robots": [_robots(line) for (line,) in site.query(ROBOTS)], "robots_count": count, "denied": denied}


def languages(site: SiteFacts) -> dict[str, object]:
    """Languages of alternate pages, from the tables of the hreflang rules."""
    if not site.has("alternates"):
        return {}
    site.need(UNRETURNED)
    found = [Language(*row) for row in site.query(LANGUAGES)]
    return {"languages": found[:MAX_LANGUAGES], "language_count": len(found)}


DEPTHS = """
    SELECT coalesce(depth, -1) AS clicks, count(*) FILTER (listed), count(*) FILTER (NOT listed) FROM pages
    GROUP BY clicks ORDER BY clicks = -1, clicks"""
_page = msgspec.json.Decoder(PageRecord).decode


def links(site: SiteFacts) -> dict[str, object]:
    """Pages that are linked and not listed, or listed and not linked, and clicks from the home page."""
    line = json_line(PageRecord)
    unlisted = site.query(
        f"SELECT {line} FROM ({UNLISTED}) WHERE grouped IS NULL ORDER BY inlinks DESC, url LIMIT {MAX_LINKED}"
    )
    found = {"unlisted": [_page(row) for (row,) in unlisted]}
    not_linked = site.query(f"SELECT {line} FROM ({NOT_LINKED}) ORDER BY url LIMIT {MAX_LINKED}")
    orphans = [_page(row) for (row,) in not_linked]
    depths = {clicks: numbers for clicks, *numbers in site.query(DEPTHS)}
    return {**found, "not_linked": orphans, "depths": depths}


def coverage(site: SiteFacts) -> dict[str, object]:
    """Pages that are in lists and in no sitemap, and the other way round."""
    names = dict(site.query("SELECT number, name FROM compared_lists ORDER BY number"))
    rows = site.query(
        f"SELECT url, lists, rows, coalesce(indexable, false) FROM ({MISSING}) WHERE grouped IS NULL "
        f"ORDER BY indexable DESC NULLS LAST, bit_count(lists) DESC, rows DESC, url LIMIT {MAX_COMPARED}"
    )
    missing = [
        MissingPage(url, [name for number, name in names.items() if lists >> number & 1], number, indexable)
        for url, lists, number, indexable in rows
    ]
    only = site.query(f"SELECT loc FROM ({ONLY}) WHERE grouped IS NULL ORDER BY loc LIMIT {MAX_COMPARED}")
    return {"missing": missing, "listed_only": [loc for (loc,) in only]}


FETCHED_FILES = f"""
    SELECT sitemap, crawler, listed, fetched, errors, {iso("last")}, requests, {iso("requested_at")} FROM fetched_files
    WHERE sitemap IN (
        SELECT sitemap FROM fetched_files GROUP BY sitemap ORDER BY max(listed) DESC, sitemap LIMIT {MAX_FETCHED})
    ORDER BY listed DESC, sitemap, crawler"""


def fetched_files(site: SiteFacts) -> dict[str, object]:
    """What crawlers requested of each sitemap."""
    return {"fetched_files": [FetchedFile(*row) for row in site.query(FETCHED_FILES)]}


Fields = Mapping[str, Any]  # Any: the class of the report states the types
Query = Callable[[SiteFacts], Fields]
"""Returns some fields of the report."""


def queries(summary: SummaryRecord) -> dict[str, Query]:
    """Queries by the report field that they fill; the slowest come last."""
    verified = {"statuses": statuses, "indexability": indexabilities} if summary.replies else {}
    return {
        "rules": partial(rules, summary=summary),
        "files": files,
        "robots": robots,
        "not_indexable": not_indexable,
        **verified,
        "months": months,
        "urls": listed,
        "changed": changed,
        "languages": languages,
        **({"unlisted": links} if summary.graph is not None else {}),
        **({"missing": coverage} if summary.coverage is not None else {}),
        **({"fetched_files": fetched_files} if any(one.fetches for one in summary.crawlers) else {}),
        "entries": entries,
    }


def gather(
    connection: duckdb.DuckDBPyConnection,
    summary: SummaryRecord,
    agents: Sequence[str] = (),
    feeds: Sequence[str] = (),
    late: Callable[[], bool] = lambda: False,
    known: Fields = MappingProxyType({}),
) -> Report:
    """Build the report from a job's database, which may be read-only.

    `agents`: crawlers for which robots.txt was checked; `feeds`: names of the files next to the page; `late`: returns
    true once no time is left, and queries can be interrupted; `known`: fields that are already filled. `left_out`
    names the fields whose queries failed, were interrupted or ran out of memory or disk space.
    """
    site = SiteFacts(rows_of(connection))
    found = dict(known)
    left_out = []
    for name, query in queries(summary).items():
        try:
            if name in found:
                continue
            if not late():
                found |= query(site)
                continue
        except duckdb.InterruptException:
            pass
        except (duckdb.Error, OSError) as error:
            logger.warning("the report has no %s: %s", name, in_words(error))
        except Exception:
            logger.exception("the report has no %s: internal error", name)
        left_out.append(name)
    return Report(summary, judged_agents=agents, feeds=feeds, left_out=left_out, **found)
