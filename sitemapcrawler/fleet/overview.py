"""Model of a fleet's report: sums and samples of bounded size, and the queries of the rows of domains that fill it.

Text comes from the crawled sites and is untrusted input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from sitemapcrawler.feeds.arrow import Columns, writer
from sitemapcrawler.fleet.domains import DOMAIN, FAILED, FINISHED, PARTIAL, UNREAD, DomainRecord
from sitemapcrawler.fleet.output import Folder, Output
from sitemapcrawler.items import Reach
from sitemapcrawler.jobs.store.files import confine, in_words
from sitemapcrawler.jobs.store.queries import Row
from sitemapcrawler.jobs.store.schema import iso, quoted
from sitemapcrawler.reader.duck import ALONE, Config
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.registry import SEVERITIES

MAX_TROUBLES = 100
"""Domains shown of each incomplete state."""
MAX_DOMAINS = 50
"""Domains shown in each other table."""
MAX_REASONS, MAX_RULES, MAX_AGENTS, MAX_EXAMPLES = 30, 300, 100, 3


@dataclass(slots=True)
class Trouble:
    """A domain without a complete result."""

    domain: str
    state: str
    """failed, unread, partial, or limited (finished at a limit)."""
    reason: str
    """A sentence, or `partial` of the domain's summary; may be empty."""
    attempts: int
    node: str
    urls: int


@dataclass(slots=True)
class TroubleReason:
    """A reason for incomplete results, and the domains it affects."""

    state: str
    reason: str
    """As in `Trouble`, with `...` in place of the domain."""
    domains: int
    examples: Sequence[str] = ()


@dataclass(slots=True)
class RuleSpread:
    """A rule with the domains that have findings of it."""

    rule: str
    severity: str
    """error, warning or info: the highest of its findings in each of these domains."""
    what: str
    """First line of the rule's documentation; empty for unknown rules."""
    domains: int
    urls: int
    """Distinct URLs that it concerns, summed over the domains."""
    files: int
    """Files, in the same way."""
    examples: Mapping[str, int] = field(default_factory=dict)
    """URLs by domain, for the domains with most."""


@dataclass(slots=True)
class Denied:
    """A crawler and the domains whose robots.txt blocks listed URLs for it."""

    agent: str
    domains: int
    """Domains that block at least one URL."""
    wholly: int
    """Domains that block every URL checked against robots.txt."""
    urls: int
    examples: Sequence[str] = ()
    """The largest of these domains."""


@dataclass(slots=True)
class BadShare:
    """A domain with failed or redirected URLs."""

    domain: str
    bad: int
    checked: int
    low: float
    """Lower bound of the 95 % interval of the share of bad URLs."""


@dataclass(slots=True)
class DomainSize:
    """Row of a domain in the tables of largest, slowest and most erroneous domains."""

    domain: str
    urls: int
    sitemaps: int
    errors: int
    warnings: int
    elapsed_s: float
    bytes: int


@dataclass(slots=True)
class Totals:
    """Sums over all domains."""

    domains: int = 0
    urls: int = 0
    sitemaps: int = 0
    findings: int = 0
    bytes: int = 0
    crawl_s: float = 0.0
    median_s: float | None = None
    """Median duration of a crawl; None without crawls."""
    long_s: float | None = None
    """99th percentile of the duration."""
    peak_mb: float = 0.0
    repeated: int = 0
    """Domains with more than one attempt."""
    bad: int = 0
    checked: int = 0
    not_indexable: int = 0
    indexability_checked: int = 0
    """URLs that were requested, or that robots.txt blocks for search engines and us."""
    listing: int = 0
    """Domains that list URLs."""
    with_errors: int = 0
    started: str | None = None
    """Start of the first crawl, ISO 8601 in UTC; None if unknown."""
    ended: str | None = None
    """End of the last task."""
    nodes: int = 0
    with_warnings: int = 0
    """Domains with warnings and no errors."""


@dataclass(slots=True)
class Overview:
    """Content of a fleet's report."""

    totals: Totals = field(default_factory=Totals)
    states: Mapping[str, int] = field(default_factory=dict)
    """Domains by state: finished, or a state of `Trouble`."""
    found: Mapping[str, Reach] = field(default_factory=dict)
    """What the findings of each severity concern, summed over the domains."""
    reasons: Sequence[TroubleReason] = ()
    troubles: Sequence[Trouble] = ()
    rules: Sequence[RuleSpread] = ()
    """By severity, then by number of domains; a rule of several severities has a row for each."""
    replies: Mapping[str, int] = field(default_factory=dict)
    """Url records by kind of reply; empty if nothing was verified."""
    bad: Sequence[BadShare] = ()
    denied: Sequence[Denied] = ()
    """Crawlers, those blocked by most domains first."""
    erroneous: Sequence[DomainSize] = ()
    largest: Sequence[DomainSize] = ()
    slowest: Sequence[DomainSize] = ()
    judged: bool = True
    """False if no rules were applied."""


LIMITED = "limited"
"""State of a domain that finished at a limit."""
STATE = f"CASE WHEN state = '{FINISHED}' AND partial IS NOT NULL THEN '{LIMITED}' ELSE state END"
ORDER = [FAILED, UNREAD, PARTIAL, LIMITED]
"""Incomplete states, the worst first."""
STATES = f"SELECT {STATE} AS name, count(*) AS number FROM domains GROUP BY name ORDER BY number DESC, name"
TOTALS = """
    SELECT count(*) AS domains, sum(urls)::BIGINT AS urls, sum(sitemaps)::BIGINT AS sitemaps,
        sum(findings)::BIGINT AS findings, sum(bytes)::BIGINT AS bytes, sum(elapsed_s) AS crawl_s,
        quantile_cont(elapsed_s, 0.5) FILTER (elapsed_s > 0) AS median_s,
        quantile_cont(elapsed_s, 0.99) FILTER (elapsed_s > 0) AS long_s,
        max(peak_mb) AS peak_mb, count(*) FILTER (attempts > 1) AS repeated,
        coalesce(sum(bad), 0)::BIGINT AS bad, coalesce(sum(checked), 0)::BIGINT AS checked,
        coalesce(sum(not_indexable), 0)::BIGINT AS not_indexable,
        coalesce(sum(indexability_checked), 0)::BIGINT AS indexability_checked,
        count(*) FILTER (urls > 0) AS listing, count(*) FILTER (severities['error'] > 0) AS with_errors,
        count(*) FILTER (severities['warning'] > 0 AND coalesce(severities['error'], 0) = 0) AS with_warnings,
        strftime(min(started), '%xT%XZ') AS started,
        strftime(max(started + to_milliseconds((1000 * wall_s)::BIGINT)), '%xT%XZ') AS ended,
        count(DISTINCT node) FILTER (node <> '') AS nodes
    FROM domains"""
TROUBLES = f"""
    SELECT domain, {STATE} AS kind, coalesce(error, partial, CASE
            WHEN sitemaps > 0 THEN 'no sitemap could be read'
            WHEN state = '{UNREAD}' THEN 'no sitemap was found' ELSE '' END) AS reason,
        attempts, node, urls
    FROM domains WHERE kind <> '{FINISHED}'"""
SHOWN_TROUBLES = f"""
    FROM ({TROUBLES}) QUALIFY row_number() OVER (PARTITION BY kind ORDER BY urls DESC, domain) <= {MAX_TROUBLES}
    ORDER BY list_position({ORDER}, kind), domain"""
REASONS = f"""
    SELECT kind, replace(reason, regexp_replace(domain, '^https?://', ''), '...') AS text,
        count(*) AS number, min(domain, {MAX_EXAMPLES})
    FROM ({TROUBLES}) GROUP BY kind, text
    ORDER BY number DESC, list_position({ORDER}, kind), text LIMIT {MAX_REASONS}"""
RULES = f"""
    SELECT rule, count(*) AS domains, sum(reach.urls)::BIGINT, sum(reach.files)::BIGINT,
        min_by({{'domain': domain, 'urls': reach.urls}}, {{'less': -reach.urls, 'domain': domain}}, {MAX_EXAMPLES}),
        reach.severity AS severity
    FROM (SELECT domain, unnest(map_keys(reach)) AS rule, unnest(map_values(reach)) AS reach FROM results)
    GROUP BY rule, severity ORDER BY domains DESC, rule LIMIT {MAX_RULES}"""
FOUND = """
    SELECT severity, sum(reach.urls)::BIGINT, NULL, sum(reach.files)::BIGINT, bool_or(reach.at_least)
    FROM (SELECT unnest(map_keys(severity_reach)) AS severity, unnest(map_values(severity_reach)) AS reach FROM results)
    GROUP BY severity"""
"""What the findings of each severity concern."""
BAD = f"""
    SELECT domain, bad, checked, greatest(0, (share + 1.92 / checked
        - 1.96 * sqrt(share * (1 - share) / checked + 0.96 / checked / checked)) / (1 + 3.84 / checked)) AS low
    FROM (SELECT domain, bad, checked, bad / checked AS share FROM domains WHERE bad > 0)
    ORDER BY low DESC, domain LIMIT {MAX_DOMAINS}"""
"""Highest shares of bad URLs, by the lower bound of Wilson's 95 % interval."""
DENIED = f"""
    SELECT agent, count(*) AS domains, count(*) FILTER (number >= judged), sum(number)::BIGINT,
        min_by(domain, {{'less': -urls, 'domain': domain}}, {MAX_EXAMPLES})
    FROM (SELECT domain, urls, urls - coalesce(skipped['robots'], 0) AS judged,
              unnest(map_keys(agents)) AS agent, unnest(map_values(agents)) AS number FROM results)
    WHERE number > 0 GROUP BY agent ORDER BY domains DESC, agent LIMIT {MAX_AGENTS}"""
SIZE = (
    "domain, urls, sitemaps, coalesce(severity_reach['error'].urls, 0), coalesce(severity_reach['warning'].urls, 0), "
    "elapsed_s, bytes"
)

CONFIG: Config = ALONE | {
    "memory_limit": "512MB",  # enough to sort a million domains
    "threads": 2,
    "preserve_insertion_order": False,
}
AT_ONCE = 500
"""Files read at once. Files are small; each holds one domain."""
ROWS = 50_000
"""Rows per row group."""
STARTS = f"""
    SELECT domain FROM (SELECT domain, row_number() OVER (ORDER BY domain) AS number FROM domains)
    WHERE number % {ROWS} = 1 ORDER BY domain"""
"""First domain of each row group."""
LOAD = "INSERT INTO domains SELECT {columns} FROM read_parquet($paths, hive_partitioning = false)"
RESULTS = f"CREATE VIEW results AS SELECT * FROM domains WHERE state <> '{FAILED}'"
"""SQL view of domains with a result."""


@contextmanager
def loaded(output: Output, failed: Sequence[DomainRecord], folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Temporary database in `folder`, with the table `domains`, in which failed ones without a row have one, and the
    view `results`.

    Raises OSError, also during queries, if the data set cannot be read or the folder cannot be written.
    """
    with TemporaryDirectory(prefix=".overview.", dir=folder) as scratch:
        copies, rows = Path(scratch, "copies"), Columns(DomainRecord).table(failed)
        copies.mkdir()
        try:
            with duckdb.connect(Path(scratch, "overview.duckdb"), config=CONFIG) as connection:
                confine(connection, [folder, *([output.root] if isinstance(output, Folder) else [])])
                connection.register("failed", rows)
                connection.execute("CREATE TABLE domains AS FROM failed LIMIT 0")
                for files in output.partitions(DOMAIN):
                    for start in range(0, len(files), AT_ONCE):
                        paths = output.paths(files[start : start + AT_ONCE], copies)
                        connection.execute(LOAD.format(columns=_names(rows.schema)), {"paths": paths})
                connection.execute("INSERT INTO domains FROM failed ANTI JOIN domains USING (domain)")
                connection.execute(RESULTS)
                yield connection
        except duckdb.Error as error:
            raise OSError(in_words(error)) from error


def write_domains(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write all domains to a Parquet file, sorted by name, with the descriptions of columns, and the start of the first
    crawl as metadata. DuckDB sorts `ROWS` at a time: rows with a map for each rule take too much memory together."""
    schema = Columns(DomainRecord).schema
    [(first,)] = connection.execute(f"SELECT {iso('min(started)')} FROM domains").fetchall()
    facts = {} if first is None else {"started": first}
    starts = [name for (name,) in connection.execute(STARTS).fetchall()]
    with writer(path, schema, facts, compression="zstd") as file:
        for start, end in zip_longest(starts, starts[1:]):
            found = f"SELECT {_names(schema)} FROM domains WHERE domain >= $start AND (domain < $end) IS NOT false"
            rows = connection.sql(f"{found} ORDER BY domain", params={"start": start, "end": end}).to_arrow_table()
            file.write_table(rows.cast(schema))


def _names(schema: pa.Schema) -> str:
    return ", ".join(map(quoted, schema.names))


def summarize(connection: duckdb.DuckDBPyConnection) -> Overview:
    """Run the queries. Raises duckdb.Error."""

    def ask(query: str) -> list[Row]:
        return connection.execute(query).fetchall()

    return Overview(
        totals=_totals(connection),
        states=dict(ask(STATES)),
        found={severity: Reach(severity, *counts) for severity, *counts in ask(FOUND)},
        reasons=[TroubleReason(*row) for row in ask(REASONS)],
        troubles=[Trouble(*row) for row in ask(SHOWN_TROUBLES)],
        rules=_rules(ask(RULES)),
        replies=_summed(connection, "replies"),
        bad=[BadShare(*row) for row in ask(BAD)],
        denied=[Denied(*row) for row in ask(DENIED)],
        erroneous=_most(connection, "severity_reach['error'].urls"),
        largest=_most(connection, "urls"),
        slowest=_most(connection, "elapsed_s"),
    )


def _totals(connection: duckdb.DuckDBPyConnection) -> Totals:
    found = connection.execute(TOTALS)
    names = [column[0] for column in found.description or ()]
    [values] = found.fetchall()
    # Sums over no domains are null.
    return Totals(**{name: value for name, value in zip(names, values, strict=True) if value is not None})


def _summed(connection: duckdb.DuckDBPyConnection, column: str) -> Mapping[str, int]:
    """Sums of a column that maps names to counts, the largest first."""
    return dict(
        connection.execute(f"""
            SELECT name, sum(number)::BIGINT AS total
            FROM (SELECT unnest(map_keys({column})) AS name, unnest(map_values({column})) AS number FROM results)
            GROUP BY name ORDER BY total DESC, name""").fetchall()
    )


def _most(connection: duckdb.DuckDBPyConnection, value: str) -> list[DomainSize]:
    """Domains with the highest values above 0."""
    query = f"SELECT {SIZE} FROM results WHERE {value} > 0 ORDER BY {value} DESC, domain LIMIT {MAX_DOMAINS}"
    return [DomainSize(*row) for row in connection.execute(query).fetchall()]


def _rules(found: list[Row]) -> list[RuleSpread]:
    whats = {rule.id: rule.what for rule in all_rules()}
    rules = []
    for id, domains, urls, files, most, severity in found:
        examples = {one["domain"]: one["urls"] for one in most}
        rules.append(RuleSpread(id, severity, whats.get(id, ""), domains, urls, files, examples))
    return sorted(rules, key=lambda rule: (SEVERITIES.index(rule.severity), -rule.domains, -rule.urls, rule.rule))
