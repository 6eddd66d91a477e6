"""Rules on how much one file, one entry or one site may hold. Bytes are judged in `document.py`."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reader.limits import FULL
from sitemapcrawler.rules.facts.given import FileFacts, GivenUp, UrlFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.words import counted, percent

INDEX = "https://www.sitemaps.org/protocol.html#index"
LARGE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/large-sitemaps"
REPORT = "https://support.google.com/webmasters/answer/7451001"
"""Help of Search Console's sitemaps report."""
MAX_URLS = 50_000
"""URLs of one file. Source: https://www.sitemaps.org/protocol.html#index"""
NEAR_URLS = 45_000
"""90 % of them."""
MAX_CHILDREN = 50_000
"""Sitemaps of one index; 1,000 until about 2012. Source: the same."""
MAX_INDEXES = 500
"""Indexes of one site. Source: `LARGE`."""
MAX_REPORTED = 1_000
"""Sitemaps of one site that Search Console shows. Source: `REPORT`."""
MAX_ALTERNATES = 100
"""Alternates of one URL that common tools read; no specification sets a limit."""
LISTS = ("xml-urlset", "rss", "atom", "text")


def _urls(file: FileFacts) -> int:
    """URLs listed in a file; 0 in an index."""
    return file.record.url_count if file.record.format in LISTS else 0


@rule(
    "limit-urls-exceeded",
    Severity.ERROR,
    INDEX,
    Needs.FILE,
    also={
        "Screaming Frog": "XML Sitemap With Over 50k URLs",
        "Lumar": "Sitemaps with >50,000 URLs",
        "Search Console": "Too many URLs",
    },
)
def limit_urls_exceeded(file: FileFacts) -> Iterator[Message]:
    """The file lists more than 50,000 URLs.

    Why: search engines read no more, or refuse the whole file.
    Bad: a file of 60,000 URLs
    Good: two files, named in an index
    """
    count = _urls(file)
    if count > MAX_URLS:
        yield Message(f"{count:,} URLs; {MAX_URLS:,} are allowed", value=str(count))


@rule("limit-urls-near", Severity.INFO, INDEX, Needs.FILE)
def limit_urls_near(file: FileFacts) -> Iterator[Message]:
    """The file lists 90 % of the 50,000 URLs that are allowed, or more.

    Why: the next entries may take it over the limit, and then it is refused.
    Bad: a file of 49,000 URLs that grows
    Good: files that are split well before, or a generator that splits at the limit
    """
    count = _urls(file)
    if NEAR_URLS <= count <= MAX_URLS:
        yield Message(f"{count:,} of {MAX_URLS:,} URLs that are allowed ({percent(count, MAX_URLS)})", value=str(count))


@rule("limit-index-entries", Severity.ERROR, INDEX, Needs.FILE, also={"Search Console": "Too many sitemaps"})
def limit_index_entries(file: FileFacts) -> Iterator[Message]:
    """The index lists more than 50,000 sitemaps.

    Why: search engines read no more, or refuse the whole index. The limit was 1,000 at first, which old
    guides still say.
    Bad: an index of 60,000 sitemaps
    Good: two indexes, each named in robots.txt
    """
    count = file.record.url_count if file.record.format == "xml-index" else 0
    if count > MAX_CHILDREN:
        text = f"{count:,} sitemaps; {MAX_CHILDREN:,} are allowed (1,000 at first, which old guides still say)"
        yield Message(text, value=str(count))


@rule("limit-index-files-gsc", Severity.INFO, LARGE, Needs.FILE)
def limit_index_files_gsc(file: FileFacts) -> Iterator[Message]:
    """The site has more than 500 indexes. Told once, with the one that is too many.

    Why: Search Console takes 500 for each site.
    Bad: an index for each day
    Good: an index for each year
    """
    if file.record.format == "xml-index" and file.indexes == MAX_INDEXES + 1:
        yield Message(f"index number {file.indexes} of this site; Search Console takes {MAX_INDEXES} for each site")


@rule("limit-gsc-report", Severity.INFO, REPORT, Needs.FILE)
def limit_gsc_report(file: FileFacts) -> Iterator[Message]:
    """The index lists more than 1,000 sitemaps.

    Why: nothing is wrong with it, but Search Console's report shows 1,000, and says nothing of the others.
    Bad: 5,000 sitemaps of 100 URLs
    Good: 10 sitemaps of 50,000 URLs
    """
    count = file.record.url_count if file.record.format == "xml-index" else 0
    if MAX_REPORTED < count <= MAX_CHILDREN:
        yield Message(f"{count:,} sitemaps; Search Console's report shows {MAX_REPORTED:,}", value=str(count))


@rule("limit-alternates", Severity.INFO, "a limit of common tools; no specification sets one")
def limit_alternates(entry: UrlFacts) -> Iterator[Message]:
    """The entry has more than 100 language versions.

    Why: some tools read no more than 100, and each version repeats all of them, so that the file grows by the square.
    Bad: 150 `<xhtml:link>` in one entry
    Good: one for each language that differs
    """
    count = len(entry.record.alternates)
    if count > MAX_ALTERNATES:
        yield Message(f"{count} language versions; common tools read {MAX_ALTERNATES}", value=str(count))


@rule("limit-max-sitemaps", Severity.INFO, "the argument max_sitemaps: docs/settings.md", Needs.FILE)
def limit_max_sitemaps(file: FileFacts) -> Iterator[Message]:
    """Files that the index lists were not read, since `max_sitemaps` was reached.

    Why: what this crawl says about the site is not all.
    Bad: `-a max_sitemaps=10` for an index of 20
    Good: a crawl without it
    """
    count = file.left_out["max_sitemaps"]
    if count:
        unread = counted(count, "of its sitemaps was", "of its sitemaps were")
        yield Message(f"{unread} not read: max_sitemaps was reached", value=str(count))


@rule("limit-max-urls", Severity.INFO, "the argument max_urls: docs/settings.md", Needs.FILE)
def limit_max_urls(file: FileFacts) -> Iterator[Message]:
    """Pages that the file lists were left out, since `max_urls` was reached.

    Why: what this crawl says about the file and the site is not all.
    Bad: `-a max_urls=100` for a file of 200
    Good: a crawl without it
    """
    fault = file.document.faults.first("limit-stopped")
    if fault is not None and fault.message == FULL:
        yield Message(f"pages that it lists were left out: {FULL}")


@rule("limit-site-time", Severity.WARNING, "the setting SITEMAP_MAX_SITE_TIME: docs/settings.md", Needs.GIVEN_UP)
def limit_site_time(site: GivenUp) -> Iterator[Message]:
    """The site exceeded its time budget; its remaining sitemaps were skipped.

    Why: what this crawl says about the site is not all; a search engine gives up earlier.
    Bad: an index of 50,000 files, none of which is there, or each of which comes after a minute
    Good: an index of files that are there, and come soon
    """
    left = f"{counted(site.left, 'sitemap')} that {site.site} led to {'was' if site.left == 1 else 'were'} skipped"
    text = f"{left}: the site exceeded its time budget"
    yield Message(text, value=site.site)
