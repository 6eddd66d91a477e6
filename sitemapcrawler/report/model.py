"""Model of the HTML report: sums and samples of bounded size, and a packed table of at most `MAX_ENTRIES` rows.

`jobs.report` fills it from the job's database; `page` renders it. Text comes from the crawled site and is untrusted
input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sitemapcrawler.items import (
    UNREAD,
    ChangeRecord,
    FindingRecord,
    PageRecord,
    Reach,
    RobotsRecord,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
)
from sitemapcrawler.rules.facts.sites import ADDED, CHANGED, NEW_PROBLEM, REMOVED, ROBOTS_CHANGE, SOLVED_PROBLEM

MAX_EXAMPLES = 500
"""Maximum number of findings shown per rule."""
MAX_FINDINGS = 2000
"""Maximum number of findings shown of all rules together, of usual length about one megabyte."""
MIN_EXAMPLES = 20
"""Number of findings of each rule that are shown, however many rules have some."""
MAX_SITEMAPS = 1000
"""Maximum number of files shown, those with the most severe problems first."""
MAX_ROBOTS = 200
"""Maximum number of robots.txt files shown, those with the most listed URLs first."""
MAX_DENIED = 20
"""Maximum number of folders with URLs in `Report.denied` that one robots.txt denies the same crawlers."""
MAX_DENIED_IN_ALL = 1000
"""Maximum number of these folders in all, those with the most such URLs first: a site may list URLs on many hosts."""
MAX_LANGUAGES = 300
"""Maximum number of languages shown, the most frequent first."""
MAX_CHANGED = 1000
"""Maximum number of changes shown per kind, of usual length about 200 kilobytes."""
CHANGES = (ROBOTS_CHANGE, NEW_PROBLEM, SOLVED_PROBLEM, CHANGED, ADDED, REMOVED)
"""Kinds of change, in the order in which they are shown."""
MAX_NOT_INDEXABLE = 200
"""Maximum number of URLs shown that are not indexable."""
MAX_LINKED = 200
"""Maximum number of pages shown that are not listed, and that are not linked."""
MAX_ENTRIES = 200_000
"""Maximum number of entries in the table of all URLs; a sample of more."""
MAX_COMPARED = 200
"""Maximum number of pages shown that are in lists and not listed, and that are listed and in no list."""
MAX_FETCHED = 200
"""Maximum number of sitemaps shown with what crawlers fetched of them, the largest ones."""
MAX_MONTHS = 360
"""Maximum number of months in `Report.months`, those with the most entries: thirty years."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A listed URL that leads to another page, by redirect or canonical."""

    url: str
    target: str
    step: str
    """What to do about the entry, as `todo.next_step` says."""


@dataclass(slots=True)
class RuleReach:
    """A rule with findings."""

    rule: str
    reach: Reach
    count: int
    """Number of findings, including those not kept."""
    what: str
    """First line of the rule's documentation."""
    why: str
    """Why the rule matters; empty if it has no documentation here."""
    source: str
    """URL or title of the specification behind the rule."""
    examples: Sequence[FindingRecord] = ()
    """At most `MAX_EXAMPLES`, from as many files as possible."""
    fix: str = ""
    """What to do, in the imperative; empty if the rule does not say."""
    main_file: str | None = None
    """File with most of the URLs; None if the rule concerns no listed URL."""
    in_main_file: int = 0
    """Number of these URLs in it."""
    main_value: str | None = None
    """Most frequent value of the stored findings; None if they have none."""
    with_main_value: int = 0
    """Number of stored findings with it."""
    kept: int | None = None
    """Findings in the feeds, at most `SITEMAP_FINDINGS_PER_RULE` per file; None if unknown."""
    left_out: int = 0
    """Rows that the files of findings lack (`SummaryRecord.findings_left_out`)."""
    page: str = ""
    """URL of the rule's documentation; empty if it has none."""
    lead: Lead | None = None
    """One of the concerned URLs, if the rule reports that they lead to other pages."""

    @property
    def severity(self) -> str:
        """error, warning or info: the worst of its findings."""
        return self.reach.severity


@dataclass(slots=True)
class FileProblems:
    """A sitemap file and its problems by severity: how many of its URLs have one, plus 1 if the file itself has."""

    record: SitemapRecord
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    checked: int = 0
    """Its URLs of which it is known whether they can be indexed."""
    not_indexable: int = 0
    """Number of these that cannot."""
    error_urls: int = 0
    """Its URLs with errors, without the file itself."""

    @property
    def is_unread(self) -> bool:
        """True if nothing was read of it."""
        return self.record.outcome in UNREAD


@dataclass(slots=True)
class Language:
    """A language of hreflang links."""

    code: str
    """Normalized code, such as `de-AT` or `x-default`."""
    links: int
    """Links from listed pages to pages in this language, including links to themselves."""
    unreturned: int
    """Links of these without a return link (rule `hreflang-return-missing`)."""
    unlisted: int
    """Links of these to unlisted pages of crawled hosts."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run of a job, in its history."""

    started: str
    """Start, ISO 8601 in UTC."""
    found: Mapping[str, Reach] | None = None
    """What findings of each severity concern; None as a gap in a chart, and for runs of versions that counted
    findings."""
    urls: int = 0
    """Number of url records."""
    indexable: int | None = None
    """Number of distinct indexable URLs; None if nothing was verified."""
    checkable: int | None = None
    """Number of distinct URLs that `indexable` is of; None if nothing was verified."""
    unknown: int = 0
    """Number of these that may be indexable or not."""
    sampled: bool = False
    """True if `indexable` and `unknown` are estimated from a sample."""
    partial: str | None = None
    """Why the run ended early; None if it is complete."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Arguments that decide what the run finds."""

    def reach(self, severity: str) -> Reach | None:
        """What findings of a severity concern; None if that is unknown."""
        return None if self.found is None else self.found.get(severity, Reach(severity))

    @property
    def not_indexable(self) -> int | None:
        """Number of distinct URLs that are not indexable; None if nothing was verified."""
        if self.indexable is None or self.checkable is None:
            return None
        return self.checkable - self.indexable - self.unknown


@dataclass(slots=True)
class MissingPage:
    """A page that is in a list, and that no sitemap lists."""

    url: str
    lists: Sequence[str]
    rows: int
    indexable: bool
    """True if it was requested and can be indexed; False if that is not known."""


@dataclass(slots=True)
class Denied:
    """A listed URL that robots.txt denies some crawlers, as an example."""

    robots: str
    """URL of the robots.txt."""
    url: str
    agents: Sequence[str]
    lines: Mapping[str, str] = field(default_factory=dict)
    """The deciding line by crawler, with its number: `line 2, Disallow: /private/`. Without crawlers of which it is
    unknown."""


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """What access logs say of a crawler and a sitemap."""

    sitemap: str
    crawler: str
    """In lower case."""
    listed: int
    """Distinct URLs in the file."""
    fetched: int
    """Those of them that the crawler requested."""
    errors: int
    """Those of which the last request was answered with status 400 or more."""
    last: str | None
    """Time of the last request for one of them."""
    requests: int
    """Requests for the file itself."""
    requested: str | None
    """Time of the last of these."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of all files, packed for the page's script (`jobs/url_table.py`)."""

    packed: bytes
    """Result of `Packer.packed`, about 15 bytes for each entry."""
    shown: int
    """Number of packed entries, at most `MAX_ENTRIES`."""
    total: int
    """Number of entries; if it is larger, the packed ones are a sample of each kind."""


@dataclass(slots=True)
class Report:
    """Content of the report on one crawl."""

    summary: SummaryRecord
    rules: Sequence[RuleReach] = ()
    """By severity, then by count."""
    files: Sequence[FileProblems] = ()
    """At most `MAX_SITEMAPS`, by problems."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Entries by month of `lastmod_at` (`2024-05`), in chronological order."""
    urls: int | None = None
    """Number of listed URLs, each counted once; None if unknown."""
    other_months: int = 0
    """Entries of all other months."""
    undated: int = 0
    """Entries without a readable lastmod."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Checked URLs by HTTP status of the first response, or by kind of failure if there is none; the most frequent
    first. Empty if nothing was verified."""
    not_requested: Mapping[str, int] = field(default_factory=dict)
    """URLs that were not requested, by reason."""
    indexability: Mapping[str, int] = field(default_factory=dict)
    """URLs by indexability. Empty if nothing was verified."""
    response_times: Sequence[float] = ()
    """Response times of verified URLs in milliseconds: median, 90th and 99th percentile, maximum; empty if unknown."""
    not_indexable: Sequence[UrlRecord] = ()
    """Distinct URLs that are not indexable, by reason, at most `MAX_NOT_INDEXABLE`, as many of each as there is room
    for. Only `loc`, `sitemap`, `line`, `reply` and `indexability` are set."""
    robots: Sequence[RobotsRecord] = ()
    """At most `MAX_ROBOTS`, by listed URLs. `sitemaps` holds only the first ones."""
    robots_count: int = 0
    """Number of robots.txt files, including those not shown."""
    judged_agents: Sequence[str] = ()
    """Crawlers for which robots.txt was checked."""
    denied: Sequence[Denied] = ()
    """Examples of URLs that robots.txt denies: for each robots.txt and set of crawlers, two of each folder of at most
    `MAX_DENIED`, those with the most such URLs first."""
    fetched_files: Sequence[FetchedFile] = ()
    """What crawlers requested of at most `MAX_FETCHED` files; empty without access logs."""
    languages: Sequence[Language] = ()
    """At most `MAX_LANGUAGES`, by links."""
    language_count: int = 0
    """Number of languages, including those not shown."""
    unlisted: Sequence[PageRecord] = ()
    """At most `MAX_LINKED` pages that are linked, not listed, and indexable as far as known, by links."""
    not_linked: Sequence[PageRecord] = ()
    """At most `MAX_LINKED` listed pages that no page read links to and that can be indexed, as far as known."""
    depths: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Numbers of listed and of unlisted pages, by clicks from the home page; -1 for pages that cannot be reached."""
    missing: Sequence[MissingPage] = ()
    """At most `MAX_COMPARED` pages that are in a list and no sitemap lists, those in the most lists first."""
    listed_only: Sequence[str] = ()
    """At most `MAX_COMPARED` listed URLs that are in none of the lists."""
    changed: Mapping[str, Sequence[ChangeRecord]] = field(default_factory=dict)
    """Changes by kind, at most `MAX_CHANGED` of each."""
    entries: Entries | None = None
    """All entries, including those removed since the baseline; None if there are none."""
    feeds: Sequence[str] = ()
    """Names of the files next to the page, which it links to."""
    left_out: Sequence[str] = ()
    """Fields left empty for lack of time or memory."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    """Runs of the job, the oldest first, this one last; empty if it has no history."""
    judged: int | None = None
    """Number of applied rules: 0 for `select=none`, None if unknown."""
    true_before: float = 1.0
    """Share of the dates that had proved true in the baseline; 1 if it could compare none."""
    broken_before: frozenset[str] = frozenset()
    """Limits of the policy that were broken in the baseline; not those that only lacked a baseline of its own."""

    @property
    def listed(self) -> int:
        """Number of entries in all files, including those that `only=changes` leaves out of the feeds, but without
        pages removed since the baseline."""
        counted = sum(self.months.values()) + self.other_months + self.undated
        return self.summary.urls if "months" in self.left_out else counted
