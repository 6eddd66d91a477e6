"""What the page of a fleet shows: sums and samples, so that the page of a million domains is as small as any.

`sums` fills it from the tables of `loading`, `page` makes HTML of it. Text is that of strangers, of any length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MAX_TROUBLES = 100
"""Domains shown of each state that is not a full result."""
MAX_REASONS = 30
"""Reasons shown for that."""
MAX_DOMAINS = 50
"""Domains in each other table."""
MAX_RULES = 300
"""Rules shown; there are fewer, unless a fleet brings many of its own."""
MAX_AGENTS = 100
"""Crawlers shown."""
MAX_EXAMPLES = 3
"""Domains named of a rule, a reason or a crawler."""


@dataclass(slots=True)
class Trouble:
    """A domain of which not everything is there."""

    domain: str
    state: str
    """failed, unread, partial; limited for one that is finished with what a limit allows."""
    reason: str
    """Why: a sentence, or `partial` of its summary; empty where nothing tells."""
    attempts: int
    node: str
    urls: int


@dataclass(slots=True)
class Reason:
    """Domains of which not everything is there for the same reason."""

    state: str
    reason: str
    """As in `Trouble`, `...` in place of the domain's name."""
    domains: int
    examples: Sequence[str] = ()


@dataclass(slots=True)
class RuleSpread:
    """One rule, and the domains on which it found something."""

    rule: str
    severity: str
    """error, warning or info: the heaviest of its findings; that of the rule where none was kept."""
    what: str
    """First line of the rule's documentation; empty where that is not known here."""
    domains: int
    findings: int
    examples: Mapping[str, int] = field(default_factory=dict)
    """Findings of the domains with most."""


@dataclass(slots=True)
class Denied:
    """A crawler, and the domains whose robots.txt denies it listed URLs."""

    agent: str
    domains: int
    """Domains that deny it any."""
    wholly: int
    """Domains that deny it every listed URL that was judged."""
    urls: int
    """Listed URLs that it is denied."""
    examples: Sequence[str] = ()
    """The largest domains that deny it any."""


@dataclass(slots=True)
class BadShare:
    """A domain whose URLs do not all answer with a page at once."""

    domain: str
    bad: int
    checked: int
    low: float
    """Lower end of the 95 % interval of the share of bad ones."""


@dataclass(slots=True)
class DomainSize:
    """A domain as one of the largest, slowest or those with most errors."""

    domain: str
    urls: int
    sitemaps: int
    errors: int
    warnings: int
    elapsed_s: float
    bytes: int


@dataclass(slots=True)
class Format:
    """Sitemap files of one format."""

    format: str
    domains: int
    files: int
    unread: int
    urls: int


@dataclass(slots=True)
class Totals:
    """Sums over all domains that have a result, and over those without one where they have it."""

    domains: int = 0
    urls: int = 0
    sitemaps: int = 0
    findings: int = 0
    bytes: int = 0
    """Size of the data set."""
    crawl_s: float = 0.0
    """Duration of all crawls, one after the other."""
    median_s: float | None = None
    """Duration of the crawl in the middle; None without one."""
    long_s: float | None = None
    """Duration that 99 % of the crawls do not exceed."""
    peak_mb: float = 0.0
    """Memory of the largest."""
    repeated: int = 0
    """Domains that were begun more than once."""
    bad: int = 0
    checked: int = 0
    listing: int = 0
    """Domains with a listed URL."""
    with_errors: int = 0
    """Domains with findings that are errors."""
    started: str | None = None
    """Start of the first crawl, ISO 8601 in UTC; None where none tells."""
    ended: str | None = None
    """End of the last one."""
    nodes: int = 0
    """Machines."""


@dataclass(slots=True)
class Overview:
    """One fleet, summed up."""

    totals: Totals = field(default_factory=Totals)
    states: Mapping[str, int] = field(default_factory=dict)
    """Domains by state, as in `Trouble`, and finished."""
    severities: Mapping[str, int] = field(default_factory=dict)
    """Findings by severity."""
    reasons: Sequence[Reason] = ()
    troubles: Sequence[Trouble] = ()
    rules: Sequence[RuleSpread] = ()
    """By severity, then by domains."""
    replies: Mapping[str, int] = field(default_factory=dict)
    """Url records by kind of reply; empty where nothing was verified."""
    bad: Sequence[BadShare] = ()
    denied: Sequence[Denied] = ()
    """Those that most domains deny something come first."""
    erroneous: Sequence[DomainSize] = ()
    """Those with most errors."""
    largest: Sequence[DomainSize] = ()
    slowest: Sequence[DomainSize] = ()
    sizes: Mapping[int, int] = field(default_factory=dict)
    """Domains with a result by the number of digits of their number of URLs; 0 for those without a URL."""
    formats: Sequence[Format] = ()
    fetched: int = 0
    """Bytes of sitemap files that came over the network."""
    freshness: Mapping[str, int] = field(default_factory=dict)
    """Domains with a URL by the age of the newest date in their files when they were crawled: a key of `AGES`."""


AGES = {
    "week": "within a week",
    "month": "within a month",
    "quarter": "within three months",
    "year": "within a year",
    "older": "longer ago",
    "future": "in the future",
    "undated": "no date",
}
"""How long before the crawl something was modified last, in words."""
