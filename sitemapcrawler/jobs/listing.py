"""The rows that complete the list of `findings=all`: one for each entry that a finding on its file or site sums up."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from itertools import islice

import msgspec

from sitemapcrawler.envelopes import FindingBatch
from sitemapcrawler.items import FindingRecord
from sitemapcrawler.jobs.counting import ORDER, RANK
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import fetched
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.row_details import ROW_DETAILS
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.sites import CURRENT, UNCHANGED, text_key
from sitemapcrawler.rules.judge import shown
from sitemapcrawler.rules.reach import own_severity
from sitemapcrawler.rules.registry import RULES, title_of
from sitemapcrawler.urls.display import masked

MAX_ROWS = 1_000_000
"""Rows for the entries of one rule; a worksheet has 1,048,576."""
AT_ONCE = 1000
"""Rows in memory."""
ENTRIES = f"urls WHERE issues IS NOT NULL AND {CURRENT} AND {{only}}"
"""SQL for the entries that rules concern."""
NAMED = f"""
    SELECT {text_key("rule", "sitemap", "url")} AS key, count(DISTINCT coalesce(line, 0)) AS entries FROM findings
    WHERE url IS NOT NULL GROUP BY key"""
"""SQL for the URLs that findings of a rule have in a file, with the number of entries: a file may list a URL twice.
Hashes of URLs take a fraction of their memory."""
UNNAMED = f"""
    SELECT rule, sum(number)::BIGINT FROM (
        SELECT rule, count(*) - coalesce(any_value(f.entries), 0) AS number
        FROM (SELECT sitemap, loc, unnest(issues) AS rule FROM {ENTRIES}) p
        LEFT JOIN ({NAMED}) f ON f.key = {text_key("p.rule", "p.sitemap", "p.loc")}
        GROUP BY rule, f.key)
    WHERE number > 0 GROUP BY rule"""
"""SQL, by rule: number of entries that no finding has."""
ROWS = f"""
    WITH concerned AS NOT MATERIALIZED (
        SELECT rowid AS row, sitemap, line, loc, {text_key("$1", "sitemap", "loc")} AS key
        FROM {ENTRIES} AND list_contains(issues, $1)),
    named AS ({NAMED})
    SELECT sitemap, line, loc, other, what FROM (
        SELECT row, sitemap, line, loc FROM concerned ANTI JOIN named USING (key)
        UNION ALL
        SELECT row, sitemap, line, loc FROM concerned JOIN named USING (key)
        QUALIFY row_number() OVER (PARTITION BY key ORDER BY line) > entries
        LIMIT $2)
    {{details}}"""
"""SQL for these entries, with their details. Parameters: the rule, and how many."""
NO_DETAILS = "CROSS JOIN (SELECT NULL AS other, NULL AS what)"
RANKS = f"SELECT sitemap, max({RANK}) FROM findings WHERE rule = $1 GROUP BY sitemap"
"""SQL for the severities of a rule, by file: the lowest, as where they are counted."""


class Listing:
    """The rows, in a temporary file until they are sent."""

    def __init__(self, store: Store, only_changes: bool) -> None:
        all_rules()  # loads them: rows have the title of their rule
        self._store = store
        self._only = f"change IS DISTINCT FROM '{UNCHANGED}'" if only_changes else "TRUE"
        self._lines = msgspec.json.Encoder().encode_lines
        self._spool = store.spool()
        self.left_out: dict[str, int] = {}
        """Number of rows that the list lacks, by rule."""

    def fill(self, connection: duckdb.DuckDBPyConnection, site: SiteFacts | None = None) -> None:
        """Find the rows, rule by rule. `site`: facts of a finished job on this connection, to find details with.
        Raises duckdb.Error, OSError; an error ends a transaction of the caller."""
        self.discard()
        self._spool = self._store.spool()
        for rule in self.count(connection):
            self._put_entries(connection, rule, site)

    def count(self, connection: duckdb.DuckDBPyConnection) -> Sequence[str]:
        """Set `left_out`, and return the rules that have rows. Raises duckdb.Error."""
        counts: dict[str, int] = dict(connection.execute(UNNAMED.format(only=self._only)).fetchall())
        self.left_out = {rule: number - MAX_ROWS for rule, number in sorted(counts.items()) if number > MAX_ROWS}
        return sorted(counts)

    def batches(self) -> Generator[FindingBatch]:
        """Yield the rows. Raises OSError."""
        decode = msgspec.json.Decoder(FindingRecord).decode
        lines = self._spool.lines()
        while some := [*islice(lines, AT_ONCE)]:
            yield FindingBatch([*map(decode, some)])

    def discard(self) -> None:
        """Drop the rows."""
        self._spool.discard()

    def _put_entries(self, connection: duckdb.DuckDBPyConnection, rule: str, site: SiteFacts | None) -> None:
        ranks: Mapping[str | None, int] = dict(connection.execute(RANKS, [rule]).fetchall())
        usual = ORDER[max(ranks.values()) - 1] if ranks else own_severity(rule)
        source = RULES[rule].source or None if rule in RULES else None
        detail, details, title = ROW_DETAILS.get(rule), NO_DETAILS, title_of(rule)
        if detail is not None and site is not None:
            site.need(detail.needs)
            details = f"LEFT JOIN ({detail.rows}) USING (row)"
        query = ROWS.format(only=self._only, details=details)
        for rows in fetched(connection.execute(query, [rule, MAX_ROWS])):
            found = []
            for sitemap, line, url, other, what in rows:
                severity = ORDER[ranks[sitemap] - 1] if sitemap in ranks else usual
                text = title if other is None or detail is None else masked(detail.text(other, what))
                found.append(FindingRecord(rule, severity, text, sitemap, line, None, url, shown(other), source))
            self._spool.write(self._lines(found), len(found))
