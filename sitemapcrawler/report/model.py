"""What the report page shows: sums and samples, never whole tables, so that the page stays small.

`gathering` fills it from the job's database, `page` makes HTML of it.
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


@dataclass(slots=True)
class FileProblems:
    """One sitemap file and the number of its findings by severity."""

    record: SitemapRecord
    errors: int = 0
    warnings: int = 0
    infos: int = 0


@dataclass(slots=True)
class Language:
    """A language version that pages point to (hreflang)."""

    code: str
    """As written in hreflang, lower case."""
    links: int
    """Links to pages of this language."""
    unreturned: int
    """Of these, links to a listed page that does not link back."""
    unlisted: int
    """Of these, links to a page that no sitemap lists."""


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
    undated: int = 0
    """Entries without a lastmod that can be read."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Checked URLs by HTTP status, or by kind of reply where there is none; empty where nothing was verified."""
    bad: Sequence[UrlRecord] = ()
    """URLs that do not work, at most MAX_BAD."""
    robots: Sequence[RobotsRecord] = ()
    """At most MAX_ROBOTS, by listed URLs."""
    judged_agents: Sequence[str] = ()
    """Crawlers that robots.txt was judged for."""
    languages: Sequence[Language] = ()
    """At most MAX_LANGUAGES, by links."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """Pages added, removed, changed and unchanged since the baseline; empty without one."""
    changed: Mapping[str, Sequence[UrlRecord]] = field(default_factory=dict)
    """At most MAX_CHANGED pages added, removed and changed."""
    changed_fields: Mapping[str, int] = field(default_factory=dict)
    """Changed pages by field that changed."""
    feeds: Sequence[str] = ()
    """Names of the feeds beside the page, to link to."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The spider's arguments as given, for those who want to crawl the same way again."""
    judged: int | None = None
    """Rules that were applied; 0 where nothing was judged (`select=none`), None where it is not known."""
