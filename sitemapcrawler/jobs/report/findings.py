"""What was found: rule by rule, and file by file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sitemapcrawler.items import FindingRecord, SitemapRecord
from sitemapcrawler.jobs.store.columns import json_line
from sitemapcrawler.report.model import MAX_EXAMPLES, MAX_SITEMAPS, FileProblems, RuleReach
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.registry import SEVERITIES, Rule, Severity

ORDER = list(SEVERITIES)
"""Severities, the worst first."""
RANK = f"list_position({ORDER}, severity)"
REACH = f"SELECT rule, min({RANK}), count(DISTINCT sitemap), count(*) FROM findings GROUP BY rule"
"""SQL for each rule: the number of its worst severity, from 1, its files, and its findings that were kept."""
EXAMPLES = f"""
    SELECT {json_line(FindingRecord, "f.")} FROM findings f JOIN (
        SELECT rule, row, row_number() OVER (PARTITION BY rule ORDER BY nth, row) AS number FROM (
            SELECT rule, rowid AS row, row_number() OVER (PARTITION BY rule, sitemap ORDER BY rowid) AS nth
            FROM findings)
        WHERE nth <= {MAX_EXAMPLES}
        QUALIFY number <= {MAX_EXAMPLES}) e ON e.row = f.rowid
    ORDER BY e.rule, e.number"""
"""SQL for findings of each rule, of as many files as there are."""
PROBLEMS = f"""
    WITH told AS (
        SELECT sitemap, rule, severity, whole_site IS NULL AS own, count(*) AS number
        FROM findings WHERE sitemap IS NOT NULL GROUP BY ALL),
    counted AS (
        SELECT sitemap, unnest(map_keys(counts)) AS rule, unnest(map_values(counts)) AS number
        FROM (SELECT sitemap, (tally->'findings')::MAP(VARCHAR, BIGINT) AS counts FROM files)),
    untold AS (
        SELECT c.sitemap, c.rule, coalesce(t.severity, k.severity, 'warning') AS severity,
               c.number - coalesce(t.number, 0) AS number
        FROM counted c
        LEFT JOIN (SELECT sitemap, rule, min_by(severity, {RANK}) AS severity, sum(number) AS number
                   FROM told WHERE own GROUP BY ALL) t USING (sitemap, rule)
        LEFT JOIN (SELECT unnest($1) AS rule, unnest($2) AS severity) k USING (rule)
        WHERE c.number > coalesce(t.number, 0)),
    problems AS (
        SELECT sitemap, {", ".join(f"sum(number) FILTER (severity = '{one}') AS {one}s" for one in ORDER)}
        FROM (SELECT sitemap, severity, number FROM told UNION ALL SELECT sitemap, severity, number FROM untold)
        GROUP BY sitemap),
    worst AS (
        SELECT s.*, {", ".join(f"coalesce({one}s, 0)::BIGINT AS {one}s" for one in ORDER)}
        FROM sitemaps s LEFT JOIN problems USING (sitemap)
        ORDER BY {", ".join(f"{one}s DESC" for one in ORDER)}, url_count DESC, sitemap LIMIT {MAX_SITEMAPS})
    SELECT {json_line(SitemapRecord)}, {", ".join(f"{one}s" for one in ORDER)} FROM worst
    ORDER BY {", ".join(f"{one}s DESC" for one in ORDER)}, url_count DESC, sitemap"""
"""SQL for the worst files: what became records, and of each rule in a file what was only counted. Of a rule with two
severities the latter is taken to be of the worse one. Parameters: ids and severities of rules."""

_finding = msgspec.json.Decoder(FindingRecord).decode
_sitemap = msgspec.json.Decoder(SitemapRecord).decode


def rules(site: SiteFacts, counts: Mapping[str, int]) -> dict[str, Any]:
    """The rules that found something, the worst first. `counts`: complete, by rule."""
    known = _known()
    reach = {rule: found for rule, *found in site.query(REACH)}
    examples: dict[str, list[FindingRecord]] = {}
    for (line,) in site.query(EXAMPLES):
        found = _finding(line)
        examples.setdefault(found.rule, []).append(found)
    made = []
    for id, count in counts.items():
        rule = known.get(id)
        rank, files, kept = reach.get(id, (None, 0, 0))
        severity = ORDER[rank - 1] if rank else str(rule.severity) if rule else Severity.WARNING
        told = (rule.what, rule.why, rule.source) if rule else ("", "", "")
        example = (rule.bad, rule.good) if rule else ("", "")
        made.append(RuleReach(id, severity, count, files, *told, examples.get(id, ()), *example, kept))
    made.sort(key=lambda one: (ORDER.index(one.severity), -one.count, one.rule))
    return {"rules": made}


def files(site: SiteFacts) -> dict[str, Any]:
    """The files with the heaviest problems."""
    rules = _known()
    severities = [str(rule.severity) for rule in rules.values()]
    rows = site.query(PROBLEMS, list(rules), severities)
    return {"files": [FileProblems(_sitemap(line), *counts) for line, *counts in rows]}


def _known() -> dict[str, Rule]:
    return {rule.id: rule for rule in all_rules()}
