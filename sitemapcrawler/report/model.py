"""What the report page shows: sums and samples, never whole tables, so that the page stays small.

`gathering` fills it from the job's database, `page` makes HTML of it. Text is that of strangers, of any length; no text
holds half of a surrogate pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord, UrlRecord

MAX_EXAMPLES = 5
"""Findings shown of a rule."""
MAX_SITEMAPS = 1000
"""Files in the table of files, those with the heaviest problems first; charts draw fewer."""
MAX_ROBOTS = 200
"""robots.txt files in the matrix, those with the most listed URLs first."""
MAX_LANGUAGES = 300
"""Languages in their table, the most frequent first."""
MAX_CHANGED = 100
"""Pages shown of each kind of change."""
MAX_BAD = 200
"""URLs shown that do not work."""
MAX_MONTHS = 360
"""Months that entries are counted by, those with the most: thirty years, where every entry has a date of its own."""


@dataclass(slots=True)
class RuleReach:
    """One rule that found something, and how far it reaches."""

    rule: str
    severity: str
    """error, warning or info."""
    count: int
    """Findings, complete."""
    files: int
    """Files with at least one, as far as findings were kept."""
    what: str
    """First line of the rule's documentation."""
    why: str
    """Why it matters; empty for rules that are not documented here."""
    source: str
    """URL or title of the text that the rule implements."""
    examples: Sequence[FindingRecord] = ()
    """At most MAX_EXAMPLES."""
    bad: str = ""
    """An example of what is wrong, of the rule's documentation; empty where that has none."""
    good: str = ""
    """What is right instead in that example; empty where there is none."""
    kept: int | None = None
    """Findings that the feeds hold, at most `SITEMAP_FINDINGS_PER_RULE` of each file; None: not known."""


@dataclass(slots=True)
class FileProblems:
    """One sitemap file and the number of its findings by severity: complete, but for those of rules on the whole site
    beyond `SITEMAP_FINDINGS_PER_RULE`."""

    record: SitemapRecord
    errors: int = 0
    warnings: int = 0
    infos: int = 0


@dataclass(slots=True)
class Language:
    """A language version that pages point to (hreflang)."""

    code: str
    """In its usual spelling, such as `de-AT` or `x-default`."""
    links: int
    """Links from listed pages to pages of this language, to themselves included."""
    unreturned: int
    """Of these, links to a listed page that does not link back, as the rule `hreflang-return-missing` has it."""
    unlisted: int
    """Of these, links to a page of a host that was crawled which no file lists."""


@dataclass(slots=True)
class Report:
    """One crawl, summed up."""

    summary: SummaryRecord
    rules: Sequence[RuleReach] = ()
    """By severity, then by count."""
    files: Sequence[FileProblems] = ()
    """At most MAX_SITEMAPS, by problems."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Entries by month of `lastmod_at` (`2024-05`), in order of time."""
    other_months: int = 0
    """Entries of months beyond MAX_MONTHS."""
    undated: int = 0
    """Entries without a lastmod that can be read."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Checked entries by HTTP status of the last answer, or by kind of reply where there is none; the most frequent
    first; empty where nothing was verified."""
    bad: Sequence[UrlRecord] = ()
    """URLs that do not answer with a page at once, each once, at most MAX_BAD: those without a page first, then those
    that redirect. Of the record, `loc`, `sitemap`, `line` and `reply` are there."""
    robots: Sequence[RobotsRecord] = ()
    """At most MAX_ROBOTS, by listed URLs; of `sitemaps` the first ones only."""
    robots_count: int = 0
    """robots.txt files, also those that are not shown."""
    judged_agents: Sequence[str] = ()
    """Crawlers that robots.txt was judged for."""
    languages: Sequence[Language] = ()
    """At most MAX_LANGUAGES, by links."""
    language_count: int = 0
    """Languages, also those that are not shown."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """Entries added, removed, changed and unchanged since the baseline; empty without one."""
    changed: Mapping[str, Sequence[UrlRecord]] = field(default_factory=dict)
    """At most MAX_CHANGED entries added, removed and changed. Of the record, `loc`, `sitemap`, `line`, `lastmod`,
    `lastmod_at`, `change` and `changed_fields` are there."""
    changed_fields: Mapping[str, int] = field(default_factory=dict)
    """Changed entries by field that changed, the most frequent first."""
    feeds: Sequence[str] = ()
    """Names of the files beside the page, to link to."""
    left_out: Sequence[str] = ()
    """Fields of this model that are empty only because there was no time to fill them, after a stop, or no room."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The spider's arguments as given, for those who want to crawl the same way again."""
    judged: int | None = None
    """Rules that were applied; 0 where nothing was judged (`select=none`), None where it is not known."""

    @property
    def listed(self) -> int:
        """Entries of all files, also those that `only=changes` leaves out of the feeds; pages that were removed since
        the baseline are none."""
        counted = sum(self.months.values()) + self.other_months + self.undated
        return self.summary.urls if "months" in self.left_out else counted
