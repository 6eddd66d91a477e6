"""Model of the HTML report: sums and samples of bounded size, never whole tables.

`jobs.report` fills it from the job's database, `page` renders it. Text comes from the crawled site and is untrusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sitemapcrawler.items import UNREAD, FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord, UrlRecord

MAX_EXAMPLES = 5
"""Most findings shown of a rule."""
MAX_SITEMAPS = 1000
"""Most files shown, those with the heaviest problems first."""
MAX_ROBOTS = 200
"""Most robots.txt files shown, those with the most listed URLs first."""
MAX_LANGUAGES = 300
"""Most languages shown, the most frequent first."""
MAX_CHANGED = 100
"""Most pages shown of each kind of change."""
MAX_BAD = 200
"""Most failed or redirected URLs shown."""
MAX_MONTHS = 360
"""Most months that entries are counted by, those with the most entries: thirty years."""


@dataclass(slots=True)
class RuleReach:
    """A rule with findings."""

    rule: str
    severity: str
    """error, warning or info."""
    count: int
    """Findings, complete."""
    files: int
    """Files with at least one stored finding."""
    what: str
    """First line of the rule's documentation."""
    why: str
    """Why it matters; empty for rules that are not documented here."""
    source: str
    """URL or title of the text that the rule implements."""
    examples: Sequence[FindingRecord] = ()
    """At most MAX_EXAMPLES."""
    bad: str = ""
    """Wrong example of the rule's documentation; may be empty."""
    good: str = ""
    """Right example of the rule's documentation; may be empty."""
    kept: int | None = None
    """Findings in the feeds, at most `SITEMAP_FINDINGS_PER_RULE` of each file; None if unknown."""


@dataclass(slots=True)
class FileProblems:
    """A sitemap file and its number of findings by severity; findings of whole-site rules beyond
    `SITEMAP_FINDINGS_PER_RULE` are not included."""

    record: SitemapRecord
    errors: int = 0
    warnings: int = 0
    infos: int = 0

    @property
    def state(self) -> str:
        """unread, error, warning or ok: its worst problem."""
        if self.record.outcome in UNREAD:
            return "unread"
        return "error" if self.errors else "warning" if self.warnings else "ok"


@dataclass(slots=True)
class Language:
    """A language that pages link to (hreflang)."""

    code: str
    """In its usual spelling, such as `de-AT` or `x-default`."""
    links: int
    """Links from listed pages to pages of this language, including links to themselves."""
    unreturned: int
    """Of these, links that are not returned (rule `hreflang-return-missing`)."""
    unlisted: int
    """Of these, links to unlisted pages of crawled hosts."""


@dataclass(slots=True)
class Report:
    """Everything that the report on one crawl shows."""

    summary: SummaryRecord
    rules: Sequence[RuleReach] = ()
    """By severity, then by count."""
    files: Sequence[FileProblems] = ()
    """At most MAX_SITEMAPS, by problems."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Entries by month of `lastmod_at` (`2024-05`), in order of time."""
    other_months: int = 0
    """Entries of further months."""
    undated: int = 0
    """Entries without a lastmod that can be read."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Checked entries by HTTP status of the last answer, or by kind of reply where there is none; the most frequent
    first; empty where nothing was verified."""
    bad: Sequence[UrlRecord] = ()
    """URLs that failed, then those that redirected, each once, at most MAX_BAD. Only `loc`, `sitemap`, `line` and
    `reply` are set."""
    robots: Sequence[RobotsRecord] = ()
    """At most MAX_ROBOTS, by listed URLs; of `sitemaps` the first ones only."""
    robots_count: int = 0
    """All robots.txt files, including those not shown."""
    judged_agents: Sequence[str] = ()
    """Crawlers that robots.txt was judged for."""
    languages: Sequence[Language] = ()
    """At most MAX_LANGUAGES, by links."""
    language_count: int = 0
    """All languages, including those not shown."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """Entries added, removed, changed and unchanged since the baseline; empty without one."""
    changed: Mapping[str, Sequence[UrlRecord]] = field(default_factory=dict)
    """At most MAX_CHANGED entries added, removed and changed. Only `loc`, `sitemap`, `line`, `lastmod`, `lastmod_at`,
    `change` and `changed_fields` are set."""
    changed_fields: Mapping[str, int] = field(default_factory=dict)
    """Changed entries by field that changed, the most frequent first."""
    feeds: Sequence[str] = ()
    """Names of the files beside the page, to link to."""
    left_out: Sequence[str] = ()
    """Fields that are empty because there was no time or memory to fill them."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Arguments of the spider."""
    judged: int | None = None
    """Number of applied rules; 0 for `select=none`, None if unknown."""

    @property
    def listed(self) -> int:
        """Entries of all files, including those that `only=changes` leaves out of the feeds, without pages removed
        since the baseline."""
        counted = sum(self.months.values()) + self.other_months + self.undated
        return self.summary.urls if "months" in self.left_out else counted
