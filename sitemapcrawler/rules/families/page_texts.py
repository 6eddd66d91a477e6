"""Rules on the main content of listed pages, compared with each other: duplicates, thin pages, archives."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from sitemapcrawler.rules.facts.site import FILES, PAGES, SiteFacts, file_of, on_entry, row_of
from sitemapcrawler.rules.facts.site_links import ALIASES, CONTENTS, LINKS, MIN_WORDS, NEAR
from sitemapcrawler.rules.registry import INFO, WARNING, Of, Per, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted
from sitemapcrawler.words import read_words

CANONICALS = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
QUALITY = "https://developers.google.com/search/docs/fundamentals/creating-helpful-content"
BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
THIN = 50
"""Words below which a page is thin: titles, labels and a sentence or two."""
BANDS = ((0, 11), (11, 11), (22, 11), (33, 11), (44, 10), (54, 10))
"""First bit and number of bits."""
MAX_BAND = 500
"""Pages with the same band that are compared with each other. Larger groups share a template and would take minutes."""

VERSIONS = """
    EXISTS (FROM temp.site_links l WHERE l.code IS NOT NULL AND l.source = {one} AND l.target = {other})
    OR EXISTS (FROM temp.site_links l WHERE l.code IS NOT NULL AND l.source = {other} AND l.target = {one})"""
"""SQL that is true for language versions of each other, which may have the same text for two regions."""


@rule(
    "page-duplicate-content",
    WARNING,
    CANONICALS,
    Of.SITE,
    per=Per.FILE("repeat the text of another listed page"),
    also={"Screaming Frog": "Exact Duplicates; Near Duplicates", "Sitebulb": "Duplicate content"},
)
def page_duplicate_content(site: SiteFacts) -> Iterator[SiteMessage]:
    """Listed pages have the same text, or nearly the same. Nearly the same texts differ in a word or a short sentence;
    some with fewer than 200 words are missed.

    Only with `verify=get`. Compares the main text of indexable pages without menus, counters and advertisements. Pages
    whose canonical is another URL, language versions of each other, those of `cross-same-page` and pages of fewer than
    20 words do not count.

    Why: Search engines index the one they choose, and links and visits are split between the pages.
    Fix: Keep one URL, name it as the canonical of the others, and remove those from the sitemap.
    Bad: `https://example.com/lamp` and `https://example.com/sale/lamp` with the same text
    Good: `https://example.com/lamp`, which the other one names as its canonical
    """
    if not site.has("reply"):
        return
    site.need(ALIASES, LINKS)
    if not site.has_rows("temp.site_contents"):
        return
    texts = f"SELECT * FROM temp.site_contents WHERE words >= {MIN_WORDS}"
    if "cross-same-page" in site.rules:
        texts += " AND page NOT IN (SELECT place FROM temp.site_aliases WHERE what = 'same')"
    site.run(f"""
        CREATE OR REPLACE TEMP TABLE site_same AS
        SELECT page, other FROM (
            SELECT page, min(page) OVER (PARTITION BY site, hash) AS other FROM ({texts}))
        WHERE page > other AND NOT ({VERSIONS.format(one="page", other="other")})""")
    bands = " UNION ALL ".join(
        f"SELECT page, site, near, {shift} AS band, (near >> {shift}) & {2**bits - 1} AS value FROM first"
        for shift, bits in BANDS
    )
    faults = f"""
        WITH first AS (
            SELECT min(page) AS page, site, any_value(near) AS near FROM ({texts}) GROUP BY site, hash
        ), bands AS (
            FROM ({bands}) QUALIFY count(*) OVER (PARTITION BY site, band, value) BETWEEN 2 AND {MAX_BAND}
        ), near AS (
            SELECT b.page, min(a.page) AS other
            FROM bands a JOIN bands b USING (site, band, value)
            WHERE a.page < b.page AND bit_count(xor(a.near, b.near)) <= {NEAR}
              AND NOT ({VERSIONS.format(one="a.page", other="b.page")})
            GROUP BY b.page)
        SELECT page AS place, other, 'same' AS what FROM temp.site_same
        UNION ALL
        SELECT page, other, 'near' FROM near WHERE page NOT IN (SELECT page FROM temp.site_same)"""
    for fault in site.faults(faults):
        share = "has" if fault.what == "same" else "has nearly"
        yield SiteMessage(
            f"{share} the same text as {quoted(fault.other or '')}", fault.line, value=fault.other,
            sitemap=fault.sitemap, url=fault.url, times=fault.times,
        )  # fmt: skip


@rule(
    "page-thin-content",
    INFO,
    QUALITY,
    Of.SITE,
    per=Per.FILE("have hardly any text"),
    also={"Screaming Frog": "Low Content Pages", "Lumar": "Thin Pages"},
)
def page_thin_content(site: SiteFacts) -> Iterator[SiteMessage]:
    """Listed page has hardly any text. It has fewer than 50 words.

    Only with `verify=get`. Counts the main text of indexable pages; two Chinese or Japanese characters or four Thai
    ones are a word. Text that a script adds does not count.

    Why: A page of a few words rarely answers a question, and search engines often do not index it. Galleries and tools
    may be fine.
    Fix: Add what visitors look for, merge such pages, or remove them from the sitemap.
    Bad: a product with a name and a price
    Good: a product with its description
    """
    if not site.has("reply"):
        return
    site.need(CONTENTS)
    faults = f"SELECT page AS place, words::BIGINT AS number FROM temp.site_contents WHERE words < {THIN}"
    for fault in site.faults(faults):
        yield on_entry(fault, f"{counted(fault.number or 0, 'word')} of text", str(fault.number or 0))


KINDS = read_words("sitemapcrawler.rules.families", "words")["archives"]
"""Folders of archives, by kind."""
NOUNS = {"tag": "by tag", "category": "by category", "author": "by author", "page": "later pages of a list"}
"""What the URLs of a kind are."""


def _folders(kind: str) -> str:
    """Alternatives of an expression for the folders of a kind, as written in page keys."""
    return "|".join(quote(word) for word in dict.fromkeys(KINDS[kind].split()))


ARCHIVES = {
    "page": rf"(?i)/(?:{_folders('page')})/[0-9]+/?$|[?&](?:paged|page|pagina|seite)=[0-9]+(?:&|$)",
    "tag": rf"(?i)/(?:{_folders('tag')})/[^/?.]+/?$|[?&]tag=",
    "category": rf"(?i)/(?:{_folders('category')})/[^/?.]+(?:/[^/?.]+)?/?$|[?&]cat=[0-9]",
    "author": rf"(?i)/(?:{_folders('author')})/[^/?.]+/?$|[?&]author=[0-9]",
}
"""Expression for the URLs of each kind. The first that matches counts. Below a category there are its subcategories;
what is further down, or has an extension, is a page."""


@rule("page-archive", INFO, BUILD, Of.SITE)
def page_archive(site: SiteFacts) -> Iterator[SiteMessage]:
    """The URL looks like an archive. It is a list by tag, category or author, or a later page of a list.

    Only with `verify`. Judges the URLs of indexable pages, in several languages. Once per site, with the number of each
    kind.

    Why: Such pages repeat excerpts of others. A category that visitors look for belongs in the sitemap; tags, authors
    and later pages rarely do.
    Fix: Remove them from the sitemap, unless visitors look for them; set thin ones to `noindex`.
    Bad: `https://example.com/tag/brass/`, `https://example.com/blog/page/2/`, `https://example.com/?paged=3`
    Good: the articles themselves
    """
    if not site.has("reply"):
        return
    site.need(PAGES, FILES)
    kinds = " ".join(f"WHEN regexp_matches(p.key, '{known}') THEN '{kind}'" for kind, known in ARCHIVES.items())
    site.run(f"""
        CREATE OR REPLACE TEMP TABLE site_archives AS
        SELECT p.page AS place, f.site, u.loc, CASE {kinds} END AS kind
        FROM temp.site_pages p JOIN urls u ON u.rowid = {row_of("p.page")}
        JOIN temp.site_files f ON f.file = {file_of("p.page")} WHERE u.indexable""")
    site.mark("SELECT place FROM temp.site_archives WHERE kind IS NOT NULL")
    sums = """
        SELECT site, list((number, kind) ORDER BY number DESC, kind), sum(number)::BIGINT, min_by(loc, place) FROM (
            SELECT site, kind, count(*) AS number, min(place) AS place, min_by(loc, place) AS loc
            FROM temp.site_archives WHERE kind IS NOT NULL GROUP BY ALL)
        GROUP BY site ORDER BY site"""
    for name, kinds_of, number, first in list(site.query(sums)):
        parts = ", ".join(f"{count:,} {NOUNS[kind]}" for count, kind in kinds_of)
        alike = counted(number, "page looks like an archive", "pages look like archives")
        text = f"{alike} ({parts}), such as {quoted(first)}"
        yield SiteMessage(site.named(name) + text, value=name or None)
