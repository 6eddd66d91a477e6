"""The SQL of queries: rows read from and written as JSON lines, and the sites of a crawl told apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import duckdb

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.store.files import is_out_of_memory
from sitemapcrawler.jobs.store.schema import (
    CARRIED,
    CURRENT,
    ENTRY,
    MORE,
    ODD,
    RECORDS,
    columns,
    items_of,
    json_line,
    json_object,
    literal,
    quoted,
    tables,
)

T = TypeVar("T")
AT_ONCE = 1000
"""Rows that are read together, as many as in a batch."""
FEW = 64
"""Rows that are read together where more do not fit."""
_MARK = re.compile("\x01([a-z]+) ([0-9]{1,18})\x01")
"""What stands in the JSON of a long list for its other items: field and number of the entry."""


def fetched(result: duckdb.DuckDBPyConnection) -> Iterator[list[Any]]:
    """The rows of a query, up to `AT_ONCE` at a time."""
    while rows := result.fetchmany(AT_ONCE):
        yield rows


def with_memory(query: Callable[[], T], more_memory: Callable[[], bool]) -> T:
    """What a query gives, which is begun anew as often as it can get more memory."""
    while True:
        try:
            return query()
        except duckdb.Error as error:
            if not (is_out_of_memory(error) and more_memory()):
                raise


def fetched_with_memory(
    cursor: duckdb.DuckDBPyConnection, query: str, more_memory: Callable[[], bool], parameters: Sequence[Any] = ()
) -> Iterator[list[Any]]:
    """The rows of a query, up to `AT_ONCE` at a time; with more memory where it does not begin without."""
    first = with_memory(lambda: cursor.execute(query, parameters).fetchmany(AT_ONCE), more_memory)
    if first:
        yield first
        yield from fetched(cursor)


def prefix_of(column: str) -> str:
    """SQL for a URL up to its path."""
    return f"regexp_extract({column}, '^[^:/?#]+://[^/?#]*')"


def reading(held: Mapping[str, str], longest: int) -> str:
    """The SQL of a table function that reads JSON lines from files, whose paths are its parameter. `held`: {column: SQL
    type}; `longest`: bytes of a line at most."""
    typed = f"{{{', '.join(f'{literal(name)}: {literal(kind)}' for name, kind in held.items())}}}"
    return (
        f"read_json(?, format = 'newline_delimited', columns = {typed}, maximum_object_size = {longest}, "
        "auto_detect = false)"
    )


def line_of(table: str, prefix: str = "", absent: frozenset[str] = frozenset()) -> str:
    """The SQL of the JSON line of a row, for `completed`. `prefix`: of its columns, such as `s.`; `absent`:
    those that hold nothing."""
    split = frozenset(MORE) if ENTRY in tables()[table].keys() - absent else frozenset()
    text = json_line(RECORDS[table], prefix, absent, split)
    return f"coalesce({quoted(ODD)}, {text})" if ODD in tables()[table].keys() - absent else text


def completed(
    cursor: duckdb.DuckDBPyConnection, rows: Sequence[Any], column: int, database: str = "main"
) -> Iterator[Sequence[Any]]:
    """Rows whose `column` is the JSON of url records, few at a time where these have long lists: with the items that
    stand in tables of their own. Ends what the cursor is doing. Raises duckdb.Error."""
    if not any("\x01" in row[column] for row in rows):
        yield rows
        return
    for first in range(0, len(rows), FEW):
        few = rows[first : first + FEW]
        items = _items(cursor, [row[column] for row in few], database)
        yield [(*row[:column], _with_items(row[column], items), *row[column + 1 :]) for row in few]


def _items(cursor: duckdb.DuckDBPyConnection, lines: Sequence[str], database: str) -> dict[tuple[str, str], str]:
    """{(field, entry): JSON of its items, with a comma before each} of the marks in lines."""
    marks = {mark for line in lines for mark in _MARK.findall(line)}
    found: dict[tuple[str, str], str] = {}
    for field, table in MORE.items():
        item = items_of(UrlRecord, field)
        cursor.execute(
            f"SELECT {ENTRY}::VARCHAR, string_agg({json_object(item, columns(item))}, ',' ORDER BY rowid) "
            f"FROM {database}.{table} WHERE {ENTRY} IN (SELECT unnest(?)) GROUP BY ALL",
            [[int(entry) for name, entry in marks if name == field]],
        )
        found |= {(field, entry): f",{items}" for entry, items in cursor.fetchall()}
    return found


def _with_items(line: str, items: Mapping[tuple[str, str], str]) -> str:
    return _MARK.sub(lambda mark: items.get((mark[1], mark[2]), ""), line)


BY_NAME = "found_by IN ('robots', 'html-link')"
"""SQL: true for a file that a robots.txt or a page names, which then stands in `parent`."""


def site_of(url: str) -> str:
    """SQL for the site of a URL, as `urls.site_of` has it; an empty text for a file of this machine."""
    place = r"(?s)^https?://(?:[^/?#]*@)?(?:www\.)?([^/?#]*?)\.?(?::(?:80|443))?(?:[/?#].*)?$"
    return f"regexp_extract(lower({url}), '{place}', 1)"


def sites_of(database: str = "main") -> str:
    """SQL for (sitemap, site) of the files of a crawl.

    A file that several robots.txt name belongs to its own host, where that is among them, else to the first by name:
    which of them came first in the crawl is chance.
    """
    return f"""
        WITH RECURSIVE found AS (
            SELECT sitemap, parent, found_by IS NOT DISTINCT FROM 'index' AS listed,
                   {site_of("sitemap")} AS own,
                   CASE WHEN {BY_NAME} AND parent IS NOT NULL THEN {site_of("parent")} ELSE own END AS near
            FROM {database}.sitemaps
        ), named AS (
            SELECT sitemap, coalesce(min(site) FILTER (site = {site_of("sitemap")}), min(site)) AS site
            FROM (SELECT unnest(sitemaps) AS sitemap, {site_of("robots")} AS site FROM {database}.robots)
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
    """SQL for (sitemap, site) of the files that a baseline has entries of. `now`: a table of the same of this crawl, to
    which they are compared: a file has the site that it has now. One that is gone has that of the files with which it
    was of one site, since a site may be found in another way. `complete`: no site of this crawl was out of reach; if it
    and the baseline have a single site each, these are compared, whatever their names (`force=yes`)."""
    one = f"(SELECT count(DISTINCT site) FROM {now}) = 1 AND (SELECT count(DISTINCT was) FROM earlier) = 1"
    return f"""
        WITH listing AS (
            SELECT DISTINCT sitemap FROM {baseline}.urls WHERE {CURRENT}
            UNION SELECT DISTINCT sitemap FROM {baseline}.{CARRIED}
        ), earlier AS (
            SELECT l.sitemap, coalesce(e.site, {site_of("l.sitemap")}) AS was, n.site AS site
            FROM listing l LEFT JOIN {now} n USING (sitemap) LEFT JOIN ({sites_of(baseline)}) e USING (sitemap)
        ), moved AS (
            SELECT was, min(site) AS site FROM earlier GROUP BY was HAVING count(*) FILTER (site = was) = 0
        )
        SELECT e.sitemap, CASE WHEN {complete} AND {one} THEN (SELECT min(site) FROM {now})
                               ELSE coalesce(e.site, m.site, e.was) END AS site
        FROM earlier e LEFT JOIN moved m USING (was)"""
