"""Model of a fleet's report: sums and samples of bounded size, with the SQL queries that fill it.

Text comes from the crawled sites and is untrusted input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from sitemapcrawler.fleet.domains import FAILED, FINISHED, PARTIAL, UNREAD
from sitemapcrawler.items import Reach
from sitemapcrawler.jobs.store.queries import Row
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.registry import SEVERITIES

MAX_TROUBLES = 100
"""Maximum number of domains shown per incomplete state."""
MAX_REASONS = 30
"""Maximum number of reasons shown."""
MAX_DOMAINS = 50
"""Maximum number of domains in each other table."""
MAX_RULES = 300
"""Maximum number of rules shown."""
MAX_AGENTS = 100
"""Maximum number of crawlers shown."""
MAX_EXAMPLES = 3
"""Maximum number of example domains per rule, reason or crawler."""


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
    """Blocked listed URLs."""
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
    """URLs with errors."""
    warnings: int
    """URLs with warnings."""
    elapsed_s: float
    bytes: int


@dataclass(slots=True)
class Format:
    """Totals of sitemap files in one format."""

    format: str
    domains: int
    files: int
    unread: int
    urls: int


@dataclass(slots=True)
class Totals:
    """Sums over all domains."""

    domains: int = 0
    urls: int = 0
    sitemaps: int = 0
    findings: int = 0
    bytes: int = 0
    """Size of the data set in bytes."""
    crawl_s: float = 0.0
    """Total duration of all crawls in seconds."""
    median_s: float | None = None
    """Median duration of a crawl in seconds; None without crawls."""
    long_s: float | None = None
    """99th percentile of the duration in seconds."""
    peak_mb: float = 0.0
    """Highest peak memory of a crawl in MiB."""
    repeated: int = 0
    """Domains with more than one attempt."""
    bad: int = 0
    checked: int = 0
    not_indexable: int = 0
    indexability_checked: int = 0
    """URLs that were requested, or that robots.txt blocks for search engines and us."""
    listing: int = 0
    """Domains with at least one listed URL."""
    with_errors: int = 0
    """Domains with at least one error."""
    started: str | None = None
    """Start of the first crawl, ISO 8601 in UTC; None if unknown."""
    ended: str | None = None
    """End of the last task, ISO 8601 in UTC; None if unknown."""
    nodes: int = 0
    """Number of machines."""
    with_warnings: int = 0
    """Domains with at least one warning and no error."""


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
    """Domains with most errors."""
    largest: Sequence[DomainSize] = ()
    slowest: Sequence[DomainSize] = ()
    sizes: Mapping[int, int] = field(default_factory=dict)
    """Domains with a result, by number of digits of their URL count; 0 if they list no URL."""
    formats: Sequence[Format] = ()
    fetched: int = 0
    """Bytes of sitemap files as transferred."""
    freshness: Mapping[str, int] = field(default_factory=dict)
    """Domains with URLs, by age of their newest lastmod; keys as in `AGES`."""
    judged: bool = True
    """False if no rules were applied."""


AGES = {
    "week": "within a week",
    "month": "within a month",
    "quarter": "within three months",
    "year": "within a year",
    "older": "longer ago",
    "future": "in the future",
    "undated": "no date",
}
"""Wording of the age of the newest lastmod at the time of the crawl."""


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
            WHEN sitemaps > 0 THEN concat_ws(': ', 'no sitemap could be read', why)
            WHEN state = '{UNREAD}' THEN 'no sitemap was found' ELSE '' END) AS reason,
        attempts, node, urls
    FROM domains LEFT JOIN (SELECT domain, min(error) AS why FROM files GROUP BY domain) USING (domain)
    WHERE kind <> '{FINISHED}'"""
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
SIZES = """
    SELECT CASE urls WHEN 0 THEN 0 ELSE length(urls::VARCHAR) END AS digits, count(*) FROM results
    GROUP BY digits ORDER BY digits"""
FORMATS = """
    SELECT format, count(*), sum(files)::BIGINT AS number, sum(unread)::BIGINT, coalesce(sum(f.urls), 0)::BIGINT
    FROM files f SEMI JOIN results USING (domain) GROUP BY format ORDER BY number DESC, format"""
FETCHED = "SELECT coalesce(sum(fetched), 0)::BIGINT FROM files SEMI JOIN results USING (domain)"
AGE = "started - past"
FRESHNESS = f"""
    SELECT CASE WHEN past IS NULL AND newest IS NOT NULL THEN 'future' WHEN past IS NULL THEN 'undated'
        WHEN {AGE} <= INTERVAL 7 DAY THEN 'week' WHEN {AGE} <= INTERVAL 31 DAY THEN 'month'
        WHEN {AGE} <= INTERVAL 92 DAY THEN 'quarter' WHEN {AGE} <= INTERVAL 366 DAY THEN 'year' ELSE 'older' END AS age,
        count(*)
    FROM results LEFT JOIN
        (SELECT domain, max(newest) AS newest, max(past) AS past FROM files GROUP BY domain) USING (domain)
    WHERE urls > 0 GROUP BY age"""


def summarize(connection: duckdb.DuckDBPyConnection) -> Overview:
    """Run the queries. Raises duckdb.Error."""

    def ask(query: str) -> list[Row]:
        return connection.execute(query).fetchall()

    ages: dict[str, int] = dict(ask(FRESHNESS))
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
        sizes=dict(ask(SIZES)),
        formats=[Format(*row) for row in ask(FORMATS)],
        fetched=ask(FETCHED)[0][0],
        freshness={age: ages[age] for age in AGES if age in ages},
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
