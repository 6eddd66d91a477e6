"""Counts what each rule concerns, in distinct listed URLs, entries and files, and what crawlers get and may do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from sitemapcrawler.items import CrawlerAccess, Reach, UsageCounts
from sitemapcrawler.replies.crawler_answers import AnswerVerdict
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.robots.usage import Use
from sitemapcrawler.rules.facts.site import SiteFacts, Table
from sitemapcrawler.rules.facts.sites import CURRENT, text_key
from sitemapcrawler.rules.reach import Reaches, completed, own_severity
from sitemapcrawler.rules.registry import RULES, SEVERITIES

ORDER = list(SEVERITIES)
"""Severities, the worst first."""
RANK = f"list_position({ORDER}, severity)"
"""SQL for the rank of a severity, from 1."""
FINDINGS = f"""
    CREATE OR REPLACE TEMP TABLE site_finding_ranks AS
    SELECT rule, sitemap, if(url IS NULL, NULL, {text_key("url")}) AS url, {RANK} AS rank
    FROM findings GROUP BY ALL"""
"""SQL: what findings are about, with the rank of their severity."""
ENTRIES = f"""
    SELECT rule, sitemap, {text_key("loc")} AS url, count(*) AS entries
    FROM (SELECT unnest(issues) AS rule, sitemap, loc FROM urls WHERE len(issues) > 0 AND {CURRENT})
    GROUP BY ALL"""
"""SQL: the listed URLs that rules concern."""
MARKED = f"""
    CREATE OR REPLACE TEMP TABLE site_concerned AS
    WITH severities AS (SELECT rule, min(rank) AS worst, max(rank) AS least FROM temp.site_finding_ranks GROUP BY rule),
    mixed AS (FROM temp.site_finding_ranks SEMI JOIN (FROM severities WHERE worst < least) USING (rule)),
    reported AS (SELECT rule, url, min(rank) AS rank FROM mixed GROUP BY ALL),
    in_file AS (
        SELECT rule, sitemap, if(list_contains($1::VARCHAR[], rule), min(rank), max(rank)) AS rank
        FROM mixed GROUP BY rule, sitemap)
    SELECT e.*, coalesce(t.rank, f.rank, s.least) AS rank FROM ({ENTRIES}) e LEFT JOIN severities s USING (rule)
    LEFT JOIN reported t USING (rule, url) LEFT JOIN in_file f USING (rule, sitemap)"""
"""SQL: the same with severities. Of a rule with several, a URL without a finding of its own has the lowest of its file,
or else of the rule. Parameter: rules that report each value once, of whose URLs the highest of the file counts."""
OTHERS = """
    INSERT INTO temp.site_concerned BY NAME
    SELECT rule, sitemap, url, min(rank) AS rank, 0 AS entries FROM (
        SELECT rule, sitemap, if(sitemap IS NULL, url, NULL) AS url, rank FROM temp.site_finding_ranks
        UNION ALL SELECT unnest(issues), sitemap, NULL, NULL FROM sitemaps
        UNION ALL SELECT unnest(issues), robots, NULL, NULL FROM robots) o
    WHERE NOT EXISTS (
        FROM temp.site_concerned c
        WHERE c.rule = o.rule AND c.sitemap = o.sitemap AND coalesce(c.rank <= o.rank, true))
    GROUP BY ALL"""
"""SQL: sitemaps and robots.txt files that rules concern more severely than any URL in them, pages that no file lists,
and the site as a whole, where both are NULL."""
WORST = "(SELECT rule, min(rank) AS worst FROM temp.site_concerned GROUP BY rule)"
BY_RULE = f"""
    SELECT rule, worst, count(DISTINCT url) FILTER (counts), sum(entries) FILTER (counts)::BIGINT,
           count(DISTINCT sitemap) FILTER (counts), count(DISTINCT url)
    FROM (SELECT *, rank = worst OR rule IN (SELECT unnest($2::VARCHAR[])) AS counts
          FROM temp.site_concerned JOIN {WORST} USING (rule) WHERE rule IN (SELECT unnest($1)))
    GROUP BY rule, worst"""
BY_SEVERITY = """
    SELECT rank, count(DISTINCT url), NULL, count(DISTINCT sitemap) FROM temp.site_concerned
    WHERE rule IN (SELECT unnest($1)) GROUP BY rank"""


def _place(site: SiteFacts) -> tuple[()]:
    """Make the table. A rule without findings in the database has its own severity."""
    site.run(FINDINGS)
    site.run(MARKED, [rule.id for rule in RULES.values() if rule.by_value])
    site.run(OTHERS)
    for (rule,) in list(site.query("SELECT DISTINCT rule FROM temp.site_concerned WHERE rank IS NULL")):
        rank = ORDER.index(own_severity(rule)) + 1
        site.run("UPDATE temp.site_concerned SET rank = ? WHERE rank IS NULL AND rule = ?", rank, rule)
    return ()


CONCERNED = Table("site_concerned", _place)
"""(rule, sitemap, url, entries, rank): each URL that a rule concerns, as a hash, with its entries in this file and
the rank of the severity from 1; without a URL what the rule concerns besides."""


def reaches(site: SiteFacts, rules: Iterable[str], unlisted: Iterable[str] = ()) -> Reaches:
    """What each rule concerns, and each severity. `rules`: all with findings; records also name those whose finding
    another rule replaces (`Rule.instead_of`). `unlisted`: rules with findings that are no records, so that the severity
    of some URLs is unknown; they count with the worst. Raises duckdb.Error."""
    counted = list(rules)
    if not counted:
        return completed({}, {}, ())
    site.need(CONCERNED)
    by_rule = {
        rule: Reach(ORDER[rank - 1], urls, entries, files, milder=every - urls)
        for rule, rank, urls, entries, files, every in site.query(BY_RULE, counted, [*unlisted])
    }
    by_severity = {
        ORDER[rank - 1]: Reach(ORDER[rank - 1], *counts) for rank, *counts in site.query(BY_SEVERITY, counted)
    }
    return completed(by_rule, by_severity, counted)


ACCESS = f"""
    SELECT blocked_for, count(DISTINCT {text_key("loc")}) FROM urls
    WHERE blocked_for IS NOT NULL AND {CURRENT} GROUP BY blocked_for"""
"""SQL: distinct listed URLs by the crawlers that robots.txt denies them."""


def count_access(site: SiteFacts, crawlers: Iterable[CrawlerAccess]) -> None:
    """Set how many listed URLs each crawler may fetch, of those that robots.txt was checked for."""
    denied, judged = Counter[str](), 0
    for names, number in site.query(ACCESS):
        judged += number
        denied.update(dict.fromkeys(names, number))
    for one in crawlers:
        if one.may_fetch is None:
            continue
        one.may_not_fetch = denied[one.crawler]
        one.may_fetch = judged - one.may_not_fetch


def with_answers(site: SiteFacts, crawlers: Sequence[CrawlerAccess]) -> Sequence[CrawlerAccess]:
    """Set what crawlers get for pages. Returns them, followed by those that robots.txt was not checked for."""
    notes: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for name, verdict, note in site.query("SELECT crawler, verdict, note FROM answers ORDER BY rowid"):
        notes[name][verdict][note or ""] += 1
    known = {one.crawler: one for one in crawlers}
    for name, found in notes.items():
        one = known.setdefault(name, CrawlerAccess(name, agent(name).operator, agent(name).purpose))
        one.pages = {str(verdict): found[verdict].total() for verdict in AnswerVerdict if verdict in found}
        one.gets = worst = next(iter(one.pages))
        one.difference = max(sorted(found[worst]), key=found[worst].__getitem__) or None
    return list(known.values())


ANY_USAGE = f"SELECT 1 FROM urls WHERE usage IS NOT NULL AND {CURRENT} LIMIT 1"
USAGE = f"""
    SELECT {", ".join(f"usage.{use}" for use in Use)}, count(DISTINCT {text_key("loc")})
    FROM urls WHERE {CURRENT} GROUP BY ALL"""
"""SQL: distinct listed URLs by preference on each use."""


def count_usage(site: SiteFacts) -> dict[str, UsageCounts]:
    """Count listed URLs by preference on each use; empty if none has any."""
    if not list(site.query(ANY_USAGE)):
        return {}
    counts = {use.value: UsageCounts() for use in Use}
    for *preferences, number in site.query(USAGE):
        for use, preference in zip(counts, preferences, strict=True):
            name = preference or "unsaid"
            setattr(counts[use], name, getattr(counts[use], name) + number)
    return counts
