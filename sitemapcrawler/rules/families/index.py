"""Rules on sitemap indexes, and on limits of a file, an entry or a site. `file_bytes.py` checks limits in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

from sitemapcrawler.namespaces.extensions import HREFLANG_EXTENSION
from sitemapcrawler.reader.faults import FULL
from sitemapcrawler.rules.facts.given import ChildFacts, FileFacts, SkippedSite, Unlisted, UrlFacts
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, rule
from sitemapcrawler.urls.display import counted, percent, quoted
from sitemapcrawler.urls.grammar import Form, Standing, folder_of, path_of

INDEX = "https://www.sitemaps.org/protocol.html#index"
INDEX_DATE = "https://www.sitemaps.org/protocol.html#sitemapIndexTagDefinitions"
LARGE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/large-sitemaps"
TOLERANCE = timedelta(days=1)
"""Tolerance when comparing an index with its sitemaps, since a date without time and zone is imprecise."""
child_rule = partial(rule, of=Of.CHILD)
LEFT_OUT = ("loc-empty", "loc-invalid-uri", "loc-placeholder", "xml-entry-without-loc")
"""Faults of entries that the reader leaves out."""


REPORT = "https://support.google.com/webmasters/answer/7451001"
"""Help page of Search Console's sitemaps report."""

MAX_URLS = 50_000
"""Maximum number of URLs in a file. Source: https://www.sitemaps.org/protocol.html#index"""

NEAR_URLS = 45_000
"""90 % of `MAX_URLS`."""

MAX_CHILDREN = 50_000
"""Maximum number of sitemaps in an index; 1,000 until about 2012. Source: as for `MAX_URLS`."""

MAX_INDEXES = 500
"""Maximum number of indexes of a site. Source: `LARGE`."""

MAX_REPORTED = 1_000
"""Maximum number of sitemaps of a site that Search Console shows. Source: `REPORT`."""

MAX_ALTERNATES = 100
"""Maximum number of alternates of a URL that common tools read; no specification sets a limit."""


def _urls(file: FileFacts) -> int:
    """Number of URLs in a file; 0 for an index."""
    return file.record.url_count if file.format.lists == "pages" else 0


@rule(
    "limit-urls-exceeded",
    ERROR,
    INDEX,
    Of.FILE,
    also={
        "Screaming Frog": "XML Sitemap With Over 50k URLs",
        "Lumar": "Sitemaps with >50,000 URLs",
        "Search Console": "Too many URLs",
    },
)
def limit_urls_exceeded(file: FileFacts) -> Iterator[Message]:
    """The file lists more than 50,000 URLs.

    Why: Search engines ignore the other URLs, or reject the whole file.
    Fix: Split the file into several of at most 50,000 URLs, and list them in an index.
    Bad: a file of 60,000 URLs
    Good: two files, named in an index
    """
    count = _urls(file)
    if count > MAX_URLS:
        yield Message(f"{count:,} URLs; {MAX_URLS:,} are allowed", value=str(count))


@rule("limit-urls-near", INFO, INDEX, Of.FILE)
def limit_urls_near(file: FileFacts) -> Iterator[Message]:
    """The file is close to the URL limit. It lists at least 90 % of the 50,000 allowed.

    Why: More entries may take it over the limit, and search engines then reject it.
    Fix: Split the file before it lists more than 50,000 URLs.
    Bad: a file of 49,000 URLs that grows
    Good: files that are split well before, or a generator that splits at the limit
    """
    count = _urls(file)
    if NEAR_URLS <= count <= MAX_URLS:
        yield Message(f"{count:,} of {MAX_URLS:,} allowed URLs ({percent(count, MAX_URLS)})", value=str(count))


@rule("limit-index-entries", ERROR, INDEX, Of.FILE, also={"Search Console": "Too many sitemaps"})
def limit_index_entries(file: FileFacts) -> Iterator[Message]:
    """The index lists more than 50,000 sitemaps.

    Why: Search engines ignore the other sitemaps, or reject the whole index. The limit was 1,000 at first, as old
    guides still say.
    Fix: Split the index in two, and name both in robots.txt.
    Bad: an index of 60,000 sitemaps
    Good: two indexes, each named in robots.txt
    """
    count = file.record.url_count if file.format.is_index else 0
    if count > MAX_CHILDREN:
        text = f"{count:,} sitemaps; {MAX_CHILDREN:,} are allowed (1,000 at first, as old guides still say)"
        yield Message(text, value=str(count))


@rule("limit-index-files-gsc", INFO, LARGE, Of.FILE)
def limit_index_files_gsc(file: FileFacts) -> Iterator[Message]:
    """The site has more than 500 indexes. Once per site, on the first one over the limit.

    Why: Search Console accepts 500 per site.
    Fix: Merge indexes until 500 are left, for example into one per year.
    Bad: an index for each day
    Good: an index for each year
    """
    if file.format.is_index and file.indexes == MAX_INDEXES + 1:
        yield Message(f"index number {file.indexes} of this site; Search Console accepts {MAX_INDEXES} per site")


@rule("limit-gsc-report", INFO, REPORT, Of.FILE)
def limit_gsc_report(file: FileFacts) -> Iterator[Message]:
    """The index lists more than 1,000 sitemaps.

    Why: This is allowed, but Search Console's report shows only 1,000 of them.
    Fix: Merge small sitemaps until the index lists at most 1,000.
    Bad: 5,000 sitemaps of 100 URLs
    Good: 10 sitemaps of 50,000 URLs
    """
    count = file.record.url_count if file.format.is_index else 0
    if MAX_REPORTED < count <= MAX_CHILDREN:
        yield Message(f"{count:,} sitemaps; Search Console's report shows {MAX_REPORTED:,}", value=str(count))


@rule(
    "limit-alternates",
    INFO,
    "a limit of common tools; no specification sets one",
    HREFLANG_EXTENSION,
    per=Per.FILE("have more than 100 language versions"),
)
def limit_alternates(entry: UrlFacts) -> Iterator[Message]:
    """The entry has more than 100 language versions.

    Why: Some tools read no more than 100. Each version repeats all the others, so the file grows with the square of
    their number.
    Fix: Keep one version per language or country with content of its own.
    Bad: 150 `<xhtml:link>` in one entry
    Good: one for each language that differs
    """
    count = len(entry.record.alternates)
    if count > MAX_ALTERNATES:
        yield Message(f"{count} language versions; common tools read only {MAX_ALTERNATES}", value=str(count))


@rule("limit-max-sitemaps", INFO, "the argument max_sitemaps: docs/settings.md", Of.FILE)
def limit_max_sitemaps(file: FileFacts) -> Iterator[Message]:
    """Sitemaps were not read because of `max_sitemaps`. The index lists them.

    Why: The results for the site are incomplete.
    Fix: Crawl again with a higher `max_sitemaps`, or without it.
    Bad: `-a max_sitemaps=10` for an index of 20
    Good: a crawl without it
    """
    count = file.left_out["max_sitemaps"]
    if count:
        unread = counted(count, "of its sitemaps was", "of its sitemaps were")
        yield Message(f"{unread} not read: max_sitemaps was reached", value=str(count))


@rule("limit-max-urls", INFO, "the argument max_urls: docs/settings.md", Of.FILE)
def limit_max_urls(file: FileFacts) -> Iterator[Message]:
    """Pages were left out because of `max_urls`. The file lists them.

    Why: The results for the file and the site are incomplete.
    Fix: Crawl again with a higher `max_urls`, or without it.
    Bad: `-a max_urls=100` for a file of 200
    Good: a crawl without it
    """
    fault = file.document.faults.first("limit-stopped")
    if fault is not None and fault.message == FULL:
        yield Message(f"pages that it lists were left out: {FULL}")


@rule("limit-site-time", WARNING, "the setting SITEMAP_MAX_SITE_TIME: docs/settings.md", Of.GIVEN_UP)
def limit_site_time(site: SkippedSite) -> Iterator[Message]:
    """The site exceeded its time budget. Its remaining sitemaps were skipped.

    Why: The results for the site are incomplete, and search engines give up earlier than this.
    Fix: Remove dead and slow sitemaps from the index, or raise `SITEMAP_MAX_SITE_TIME`.
    Bad: an index of 50,000 files that are missing, or that take a minute each
    Good: an index of files that exist and load quickly
    """
    left = f"{counted(site.left, 'sitemap')} found through {site.site} {'was' if site.left == 1 else 'were'} skipped"
    text = f"{left}: the site exceeded its time budget"
    yield Message(text, value=site.site)


@rule("limit-findings", INFO, "the setting SITEMAP_FINDINGS_PER_RULE: docs/settings.md", Of.UNLISTED)
def limit_findings(unlisted: Unlisted) -> Iterator[Message]:
    """More findings were counted than are listed.

    With `findings=all`, a list has at most 1,000,000 rows per rule for entries that a finding sums up.

    Why: A list with thousands of similar findings hides the others. The counts and the `issues` of entries are
    complete.
    Fix: Crawl again with `findings=all` to list every finding, or read the `issues` of url records.
    Bad: 5,000 relative URLs in one file, of which 100 are listed
    Good: `-a findings=all`, which lists all of them
    """
    number = unlisted.number
    if unlisted.rows is not None:
        entries = f"{counted(number, 'more entry', 'more entries')} with {unlisted.rule}"
        lacks = f"{entries} {'is' if number == 1 else 'are'} not in this list"
        text = f"{lacks}, which has at most {unlisted.rows:,} per rule"
        query = f"SELECT loc FROM 'urls.parquet' WHERE list_contains(issues, '{unlisted.rule}')"
        yield Message(f"{text}; the url records name the rule: {query} (DuckDB)", value=unlisted.rule)
        return
    more = f"{counted(number, 'more finding')} of {unlisted.rule} {'is' if number == 1 else 'are'} counted, not listed"
    yield Message(f"{more}; findings=all lists all", value=unlisted.rule)


@rule("index-nested", ERROR, INDEX, Of.FILE, also={"Search Console": "Nested sitemap indexes"})
def index_nested(file: FileFacts) -> Iterator[Message]:
    """The index is listed in another index.

    Why: An index may list sitemaps only. Search engines do not follow an index in an index; this crawl does.
    Fix: List the sitemaps of the inner index directly, or name both indexes in robots.txt.
    Bad: `sitemap.xml` lists `sitemap-shop.xml`, which lists sitemaps itself
    Good: `sitemap.xml` lists all sitemaps, or robots.txt names both indexes
    """
    if file.format.is_index and file.is_child:
        yield Message(f"an index that is listed in the index {file.record.parent}", value=file.record.parent)


@child_rule("index-self-reference", ERROR, INDEX, also={"Search Console": "Nested sitemap indexes"})
def index_self_reference(child: ChildFacts) -> Iterator[Message]:
    """The index lists itself.

    Why: Readers that follow it loop.
    Fix: Remove the index's own URL from its entries.
    Bad: `https://example.com/sitemap.xml` in `https://example.com/sitemap.xml`
    Good: only the sitemaps of pages
    """
    if child.uri is not None and child.file.is_itself(child.record.loc):
        yield Message("the index lists itself", child.record.line, value=child.record.loc)


@child_rule("index-loop", ERROR, INDEX, also={"Search Console": "Nested sitemap indexes"})
def index_loop(child: ChildFacts) -> Iterator[Message]:
    """The index lists an index that led to it.

    Why: Readers that follow it loop. This crawl reads it once.
    Fix: Remove the entry that leads back to the index.
    Bad: `a.xml` lists `b.xml`, and `b.xml` lists `a.xml`
    Good: only the sitemaps of pages
    """
    url = child.record.loc
    if child.uri is not None and child.file.is_above(url) and not child.file.is_itself(url):
        yield Message("lists an index above it: a loop", child.record.line, value=child.record.loc)


@rule("index-child-missing", ERROR, INDEX, Of.FILE, also={"Search Console": "HTTP error"})
def index_child_missing(file: FileFacts) -> Iterator[Message]:
    """The index lists a sitemap that is missing. It answers 404 or 410; for a local index, the file does not exist.

    `validate` looks for files and makes no requests. Without `base_url` it assumes the URL folder under which most of
    the listed files exist; if none exists, the finding is a warning.

    Why: Search engines do not learn of its pages, and the index is out of date.
    Fix: Remove the sitemap from the index, or restore the file.
    Bad: an index with a sitemap that was removed
    Good: an index that is written together with its sitemaps
    """
    if file.is_missing_child:
        text = f"status {file.record.status}, although the index {file.record.parent} lists it"
        yield Message(text, value=file.url)
    for one in file.missing:
        hint = f"; {one.hint}" if one.hint else ""
        text = f"no file {quoted(one.path)} beside the index, which lists {quoted(one.url)}{hint}"
        yield Message(text, one.line, value=one.url, severity=None if one.certain else WARNING)


@rule("index-child-is-page", ERROR, INDEX, Of.FILE, also={"Search Console": "Unsupported format"})
def index_child_is_page(file: FileFacts) -> Iterator[Message]:
    """The index lists an HTML page instead of a sitemap. If its name ends in `.xml`, `.gz` or `.txt`, `doc-is-html`
    reports it instead.

    Why: An index lists sitemaps only; search engines ignore pages in it.
    Fix: Remove the page from the index, and list it in a sitemap.
    Bad: `<sitemap><loc>https://example.com/about</loc></sitemap>`
    Good: `<url><loc>https://example.com/about</loc></url>` in a sitemap
    """
    if file.is_page_child:
        yield Message(f"an HTML page, although the index {file.record.parent} lists it as a sitemap", value=file.url)


@child_rule("index-child-relative", ERROR, INDEX, also={"Search Console": "Incomplete URL"})
def index_child_relative(child: ChildFacts) -> Iterator[Message]:
    """The index lists a sitemap by a relative URL.

    Why: Search engines need the full URL. This crawl resolves it against the index and continues.
    Fix: Write the full URL of the sitemap with scheme and host.
    Bad: `<loc>/sitemap-1.xml</loc>`
    Good: `<loc>https://example.com/sitemap-1.xml</loc>`
    """
    if not child.usual and child.form in (Form.RELATIVE, Form.PROTOCOL_RELATIVE) and not child.lacks_site:
        yield Message(f"{child.written!r} is not absolute", child.record.line, value=child.written)


@child_rule("index-child-offsite", ERROR, INDEX, also={"Search Console": "URL not allowed"})
def index_child_offsite(child: ChildFacts) -> Iterator[Message]:
    """The index lists a sitemap on another host. Or on another port. No robots.txt that was read allows it.

    Why: An index lists sitemaps of its own site; search engines ignore others. A host may let another list its sitemaps
    by naming the index in its own robots.txt.
    Fix: Name the index in the robots.txt of the sitemap's host, move the sitemap to the index's, or remove the entry.
    Bad: `https://cdn.example.net/sitemap-1.xml` in `https://example.com/sitemap.xml`
    Good: the sitemap on `https://example.com/`, or the index in `https://cdn.example.net/robots.txt`
    """
    if child.standing is Standing.OTHER_AUTHORITY:
        text = f"{child.parts.netloc.rpartition('@')[2]} is not {child.file.parts.netloc}, the host of the index"
        yield Message(text, child.record.line, value=child.record.loc)


@child_rule("index-child-outside-dir", WARNING, LARGE)
def index_child_outside_dir(child: ChildFacts) -> Iterator[Message]:
    """The index lists a sitemap outside its own folder.

    Why: Google requires sitemaps to be "in the same directory as the sitemap index file, or lower in the site
    hierarchy".
    Fix: Move the index to the root of the site, or the sitemap into the index's folder.
    Bad: `/sitemap-1.xml` in `/maps/sitemap.xml`
    Good: `/maps/sitemap-1.xml` in `/maps/sitemap.xml`, or the index in `/`
    """
    if child.standing is Standing.OUTSIDE_FOLDER:
        path, folder = path_of(child.record.loc), folder_of(child.file.place)
        yield Message(f"{path} is not below {folder}, the folder of the index", child.record.line, value=path)


@child_rule("index-child-duplicate", WARNING, INDEX)
def index_child_duplicate(child: ChildFacts) -> Iterator[Message]:
    """The index lists a sitemap more than once.

    Why: Search engines read it once, and it is undefined which of two dates counts.
    Fix: Remove all but one of the entries.
    Bad: two entries with `https://example.com/sitemap-1.xml`
    Good: one entry for each sitemap
    """
    if child.repeated:
        yield Message("the index lists the same sitemap earlier", child.record.line, value=child.record.loc)


@rule("index-empty", WARNING, INDEX, Of.WHOLE, also={"Search Console": "Empty sitemap"})
def index_empty(file: FileFacts) -> Iterator[Message]:
    """The index lists nothing.

    Why: The schema requires at least one sitemap. Usually the script that writes the index has failed.
    Fix: Repair the script that writes the index, or remove the index from robots.txt.
    Bad: `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>`
    Good: an index with entries, or none at all
    """
    left_out = any(rule in file.document.faults for rule in LEFT_OUT)
    if file.format.is_index and not file.record.url_count and not left_out:
        yield Message("the index has no entries", file.document.root_line)


@rule("index-only-one-child", INFO, INDEX, Of.WHOLE)
def index_only_one_child(file: FileFacts) -> Iterator[Message]:
    """The index lists only one sitemap.

    Why: Naming the sitemap directly saves a request. Many generators write such an index anyway.
    Fix: Name the sitemap in robots.txt directly, unless the index will grow.
    Bad: an index of one small sitemap
    Good: the sitemap itself in robots.txt
    """
    if file.format.is_index and file.record.url_count == 1 and not file.document.faults.lost:
        yield Message("the index lists a single sitemap")


@rule("index-depth-exceeded", WARNING, INDEX, Of.FILE)
def index_depth_exceeded(file: FileFacts) -> Iterator[Message]:
    """The index is nested too deeply to be read. Its children were skipped.

    Why: One level is allowed. This crawl skips what is deeper than the argument `max_depth`, by default 10.
    Fix: List all sitemaps in one index instead of nesting indexes.
    Bad: an index in an index in an index, and so on
    Good: one index that lists all sitemaps
    """
    count = file.left_out["max_depth"]
    if count:
        unread = counted(count, "of its sitemaps was", "of its sitemaps were")
        deep = counted(file.record.depth, "index", "indexes")
        text = f"{unread} not read: it is {deep} deep, the limit of max_depth"
        yield Message(text, value=str(file.record.depth))


@rule("index-lastmod-missing", INFO, INDEX_DATE, Of.FILE)
def index_lastmod_missing(file: FileFacts) -> Iterator[Message]:
    """Sitemaps in the index have no lastmod. Once per index.

    Why: With it, a search engine fetches only the sitemaps that have changed.
    Fix: Add a `<lastmod>` to each sitemap: the time at which its file was last written.
    Bad: `<sitemap><loc>https://example.com/sitemap-1.xml</loc></sitemap>`
    Good: `<sitemap><loc>https://example.com/sitemap-1.xml</loc><lastmod>2026-01-05T10:00:00+00:00</lastmod></sitemap>`
    """
    missing = file.child_count - file.dated_children
    if file.format.is_index and missing:
        has = "has" if missing == 1 else "have"
        yield Message(f"{missing:,} of {counted(file.child_count, 'sitemap')} {has} no lastmod", value=str(missing))


@rule("index-lastmod-older-than-child", WARNING, INDEX_DATE, Of.FILE)
def index_lastmod_older_than_child(file: FileFacts) -> Iterator[Message]:
    """A sitemap is newer than its lastmod in the index. Its newest entry is more than a day newer.

    Why: A search engine that trusts the index does not fetch the sitemap, and misses its new entries.
    Fix: Update a sitemap's `<lastmod>` in the index whenever you write the sitemap.
    Bad: `<lastmod>2025-01-05</lastmod>` in the index, for a file with an entry of 2026-01-05
    Good: the date on which the file was written
    """
    listed, newest = _moment(file.listed_at), _moment(file.record.lastmod_max)
    if listed is not None and newest is not None and listed + TOLERANCE < newest <= file.fetched_at:
        text = f"the index dates it {file.listed_at}, but its newest entry is dated {file.record.lastmod_max}"
        yield Message(text, value=file.listed_at)


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
