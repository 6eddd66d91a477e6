"""The list of `findings=all`: which findings feeds write as they come, and the rows at the end that complete it.

Rules may have more findings than a list holds. So feeds write the first findings of each rule at once, and the others
wait in the database. At the end, the room that is left is shared by the rules: with the findings that wait, and with a
row for each entry that a finding on its file or site sums up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from sitemapcrawler.envelopes import FindingBatch, RecordBatch
from sitemapcrawler.items import FindingRecord
from sitemapcrawler.jobs.counting import ORDER, RANK
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import fetched
from sitemapcrawler.jobs.store.schema import HELD, json_line, literal
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.rules import Per, all_rules
from sitemapcrawler.rules.facts.sites import CURRENT, UNCHANGED, text_key
from sitemapcrawler.rules.reach import own_severity
from sitemapcrawler.rules.registry import RULES, title_of

MAX_ROWS = 1_000_000
"""Rows of a list of findings; a worksheet has 1,048,576."""
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
        SELECT sitemap, line, loc, {text_key("$1", "sitemap", "loc")} AS key
        FROM {ENTRIES} AND list_contains(issues, $1)),
    named AS ({NAMED})
    SELECT sitemap, line, loc FROM concerned ANTI JOIN named USING (key)
    UNION ALL
    SELECT sitemap, line, loc FROM concerned JOIN named USING (key)
    QUALIFY row_number() OVER (PARTITION BY key ORDER BY line) > entries
    LIMIT $2"""
"""SQL for these entries. Parameters: the rule, and how many."""
RANKS = f"SELECT sitemap, max({RANK}) FROM findings WHERE rule = $1 GROUP BY sitemap"
"""SQL for the severities of a rule, by file: the lowest, as where they are counted."""


class FirstFindings:
    """Decides which findings feeds write as they come: the first ones of each rule."""

    def __init__(self) -> None:
        self._most = MAX_ROWS // max(1, len({rule.id for rule in all_rules()}))
        self._counts: Counter[str] = Counter()

    def restore(self, store: Store) -> None:
        """Count those of earlier runs."""
        query = f"SELECT rule, count(*) FROM findings WHERE {HELD} IS NULL GROUP BY rule"
        self._counts.update(dict(store.execute(query)))

    def has(self, finding: FindingRecord) -> bool:
        """Count a finding. True if it is one of the first."""
        self._counts[finding.rule] += 1
        return self._counts[finding.rule] <= self._most


def of_changes() -> str:
    """SQL condition for the findings that `only=changes` keeps: none on an unchanged entry."""
    of_files = ", ".join(literal(rule.id) for rule in all_rules() if rule.per is not Per.ENTRY)
    return (
        f"(url IS NULL OR whole_site OR rule IN ({of_files}) OR NOT EXISTS (SELECT 1 FROM urls one "
        f"WHERE one.sitemap = findings.sitemap AND one.loc = findings.url AND one.change = '{UNCHANGED}'))"
    )


class Listing:
    """The rows at the end, in temporary files until they are sent."""

    def __init__(self, store: Store, only_changes: bool) -> None:
        all_rules()  # loads them: rows have the title of their rule
        self._store = store
        self._held = f"{HELD} AND {of_changes()}" if only_changes else HELD
        self._only = f"change IS DISTINCT FROM '{UNCHANGED}'" if only_changes else "TRUE"
        self._lines = msgspec.json.Encoder().encode_lines
        self._spools = {kind: store.spool() for kind in (RecordBatch, FindingBatch)}
        self.left_out: dict[str, int] = {}
        """Number of rows that the list lacks, by rule."""

    def fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Find the rows, rule by rule. Raises duckdb.Error, OSError; an error ends a transaction of the caller."""
        self.discard()
        self._spools = {kind: self._store.spool() for kind in self._spools}
        waiting = self._counts(connection, f"SELECT rule, count(*) FROM findings WHERE {self._held} GROUP BY rule")
        counts = waiting + self._counts(connection, UNNAMED.format(only=self._only))
        [(listed,)] = connection.execute(f"SELECT count(*) FROM findings WHERE {HELD} IS NULL").fetchall()
        each = share(counts.values(), max(0, MAX_ROWS - listed))
        self.left_out = {rule: number - each for rule, number in sorted(counts.items()) if number > each}
        for rule in sorted(counts):
            room = each - min(each, waiting[rule])
            if waiting[rule]:
                self._put_waiting(connection, rule, each)
            if room:
                self._put_entries(connection, rule, room)

    def batches(self) -> Iterator[RecordBatch]:
        """Yield the rows: those of findings, then those of entries. Raises OSError."""
        decode = msgspec.json.Decoder(FindingRecord).decode
        for kind, spool in self._spools.items():
            found: list[FindingRecord] = []
            for line in spool.lines():
                found.append(decode(line))
                if len(found) == AT_ONCE:
                    yield kind(found)
                    found = []
            if found:
                yield kind(found)

    def discard(self) -> None:
        """Drop the rows."""
        for spool in self._spools.values():
            spool.discard()

    def _counts(self, connection: duckdb.DuckDBPyConnection, query: str) -> Counter[str]:
        return Counter(dict(connection.execute(query).fetchall()))

    def _put_waiting(self, connection: duckdb.DuckDBPyConnection, rule: str, most: int) -> None:
        query = f"SELECT {json_line(FindingRecord)} FROM findings WHERE {self._held} AND rule = $1 LIMIT $2"
        for rows in fetched(connection.execute(query, [rule, most])):
            self._spools[RecordBatch].write("".join(f"{line}\n" for (line,) in rows).encode(), len(rows))

    def _put_entries(self, connection: duckdb.DuckDBPyConnection, rule: str, most: int) -> None:
        ranks: Mapping[str | None, int] = dict(connection.execute(RANKS, [rule]).fetchall())
        usual = ORDER[max(ranks.values()) - 1] if ranks else own_severity(rule)
        source = RULES[rule].source or None if rule in RULES else None
        query = ROWS.format(only=self._only)
        for rows in fetched(connection.execute(query, [rule, most])):
            found = []
            for sitemap, line, url in rows:
                severity = ORDER[ranks[sitemap] - 1] if sitemap in ranks else usual
                found.append(FindingRecord(rule, severity, title_of(rule), sitemap, line, None, url, None, source))
            self._spools[FindingBatch].write(self._lines(found), len(found))


def share(counts: Iterable[int], room: int) -> int:
    """Maximum number of rows of each kind, so that all kinds together fit. Kinds with few rows leave room to others."""
    left = sorted(counts)
    for place, count in enumerate(left):
        each = room // (len(left) - place)
        if count > each:
            return each
        room -= count
    return max(left, default=0)
