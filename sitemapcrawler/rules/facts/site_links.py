"""Temporary tables of the links between listed pages: language versions, canonicals and redirects.

Others are of the pages whose content was read, and of those that most servers answer with the same page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sitemapcrawler.replies.indexability import REFERENCE
from sitemapcrawler.replies.page.content import PART_SIZE
from sitemapcrawler.rules.facts.languages import DEFAULT, page_key, read_code
from sitemapcrawler.rules.facts.site import (
    AGAIN,
    FILES,
    ORIGINS,
    PAGES,
    PLACED,
    ROW_BITS,
    SiteFacts,
    Table,
    file_of,
    odd,
    on_entry,
    origin_of,
    page_key_of,
    row_of,
)
from sitemapcrawler.rules.facts.sites import CURRENT, text_key
from sitemapcrawler.rules.registry import SiteMessage
from sitemapcrawler.urls import resolve
from sitemapcrawler.urls.display import quoted

MIN_ENTRIES, MIN_SHARE = 20, 0.1
"""Entries of a host, or their share of a file, that prove that the crawl saw the host's sitemaps, not just a stray
URL."""
HREFS = f"""
    SELECT l.place, l.sitemap, l.alternate.href AS href, l.alternate.hreflang AS hreflang,
           list_contains(map_keys(l.alternate.attributes), 'media') AS of_media
    FROM (SELECT place, sitemap, unnest(alternates) AS alternate FROM ({PLACED})
          WHERE len(alternates) > 0 {{only}}) l
    WHERE l.alternate.href IS NOT NULL"""
"""SQL for all links as written, optionally limited by `only`."""
ALL = HREFS.format(only="")
TO_PAGES = f"""
    SELECT h.place, h.href, h.hreflang, h.of_media, coalesce(s.key, h.href) AS key
    FROM ({HREFS}) h LEFT JOIN temp.site_targets s ON s.url = h.href AND s.base IN ('', h.sitemap)
    WHERE s.key IS DISTINCT FROM ''"""
"""SQL for links with the key of the target page, without links that lead to no page."""


def host_of(url: str) -> str:
    """SQL for the origin of a web address without `www.`: both hosts serve the same pages, or redirect to them."""
    return f"replace({origin_of(url)}, '://www.', '://')"


CRAWLED = f"""
    SELECT {host_of("origin")} AS host, bool_and(whole) AS whole FROM temp.site_origins
    GROUP BY ALL HAVING sum(entries) >= {MIN_ENTRIES} OR max(share) >= {MIN_SHARE}"""
OF_TOLD = """
    AND place IN (
        SELECT place FROM temp.site_told
        UNION ALL SELECT a.place FROM temp.site_again a JOIN temp.site_told t ON t.place = a.page)"""
FIRST_LOST = f"""
    SELECT coalesce(a.page, t.place) AS place, min(t.href) AS what
    FROM ({TO_PAGES.format(only=OF_TOLD)}) t
    LEFT JOIN temp.site_again a ON a.place = t.place
    WHERE NOT EXISTS (FROM temp.site_pages p WHERE p.key = t.key)
      AND {host_of("t.key")} IN (SELECT host FROM ({CRAWLED}) WHERE whole)
    GROUP BY ALL"""
"""SQL for one URL that is not listed, for each page of `site_told`."""


def target_key(base: str, href: str) -> str:
    """Page key of the target of an href; empty if it leads to no page."""
    url = resolve(base, href)
    return page_key(url) if url is not None else ""


def code_of(_: str, written: str) -> str | None:
    """Usual spelling of a code that counts, else None."""
    code = read_code(written)
    return code.canonical if code.counts else None


TARGETS = Table(
    "site_targets",
    f"""
    SELECT DISTINCT CASE WHEN regexp_matches(href, '^[A-Za-z][A-Za-z0-9+.-]*:') THEN '' ELSE sitemap END AS base,
           href AS url
    FROM ({ALL}) WHERE {odd("href")}""",
    of=(FILES,),
    key=target_key,
)
"""Page keys of link targets that are not in normal form. `base`: the file, for relative links."""
CODES = Table(
    "site_codes",
    f"SELECT DISTINCT '' AS base, hreflang AS url FROM ({ALL}) WHERE hreflang IS NOT NULL",
    of=(FILES,),
    key=code_of,
)
"""Usual spelling of the codes that count."""
LINKS = Table(
    "site_links",
    f"""
    SELECT coalesce(a.page, t.place) AS source,
           coalesce(p.page, -1 - ({text_key("t.key")} >> 2)::BIGINT) AS target,
           CASE WHEN NOT coalesce(t.of_media, false) THEN c.key END AS code,
           p.page IS NULL AND o.host IS NOT NULL AS lost,
           lost AND o.whole AS surely
    FROM ({TO_PAGES.format(only="")}) t
    LEFT JOIN temp.site_pages p ON p.key = t.key
    LEFT JOIN temp.site_codes c ON c.url = t.hreflang
    LEFT JOIN temp.site_again a ON a.place = t.place
    LEFT JOIN ({CRAWLED}) o ON p.page IS NULL AND o.host = {host_of("t.key")}""",
    of=(PAGES, AGAIN, ORIGINS, TARGETS, CODES),
)
"""All links between pages. A target that is not listed is a negative number, one per page.

`lost`: the target is not listed, but other pages of its host are. `surely`: additionally, all sites that list pages of
that host were crawled completely.
"""

LINK_ENDS = Table(
    "site_link_ends",
    f"""
    SELECT l.row, l.position, CASE WHEN l.is_listed THEN coalesce(a.page, l.place) END AS source, p.page AS target
    FROM (
        SELECT u.rowid AS row, generate_subscripts(u.alternates, 1) AS position, u.sitemap,
               unnest(u.alternates).href AS href, (f.file << {ROW_BITS}) + u.rowid AS place, {CURRENT} AS is_listed
        FROM urls u LEFT JOIN temp.site_files f USING (sitemap) WHERE len(u.alternates) > 0) l
    LEFT JOIN temp.site_targets s ON s.url = l.href AND s.base IN ('', l.sitemap)
    LEFT JOIN temp.site_pages p ON p.key = coalesce(s.key, l.href) AND p.key <> ''
    LEFT JOIN temp.site_again a ON a.place = l.place""",
    of=(PAGES, AGAIN, TARGETS),
)
"""Both pages of every link of every row: `source` is null for removed URLs, `target` for pages that are not listed."""


def returned(site: SiteFacts, condition: str) -> Iterator[tuple[str | None]]:
    """Yield whether each link is returned, in the order of rows and links; see `AlternateRecord.returns`. `condition`:
    SQL that is true for the rows of `urls`."""
    site.need(LINK_ENDS)
    yield from site.query(
        f"""
        SELECT CASE WHEN l.source IS NULL THEN NULL WHEN l.target IS NULL THEN 'not listed'
                    WHEN b.source IS NULL THEN 'no' ELSE 'yes' END
        FROM temp.site_link_ends l
        LEFT JOIN (SELECT DISTINCT source, target FROM temp.site_link_ends WHERE source IS NOT NULL) b
            ON b.source = l.target AND b.target = l.source
        WHERE l.row IN (SELECT rowid FROM urls WHERE {condition})
        ORDER BY l.row, l.position"""
    )


SETS = Table(
    "site_sets",
    """
    SELECT source AS page, hash(count(code), sum(mark), bit_xor(mark)) AS fingerprint, count(code) AS links,
           bool_or(source = target) AS self
    FROM (SELECT *, CASE WHEN code IS NOT NULL THEN hash(target, code) END AS mark FROM temp.site_links)
    GROUP BY source""",
    of=(LINKS,),
)
"""The links of each page: equal sets have equal fingerprints; `self` is true if the page links to itself."""
SUSPECTS = Table(
    "site_suspects",
    """
    SELECT l.source, l.target, l.code
    FROM temp.site_links l
    JOIN temp.site_sets s ON s.page = l.source
    LEFT JOIN temp.site_sets t ON t.page = l.target
    WHERE l.code IS NOT NULL AND l.target > 0 AND l.target <> l.source
      AND s.self AND t.fingerprint IS DISTINCT FROM s.fingerprint
      AND l.source NOT IN (SELECT page FROM temp.site_pages WHERE doubtful)
      AND l.target NOT IN (SELECT page FROM temp.site_pages WHERE doubtful)""",
    of=(SETS,),
)
"""Links between listed pages whose sets of links differ. Links between equal sets cannot be wrong, since each page
lists itself. Pages that do not list themselves are reported separately."""
BACK = Table(
    "site_back",
    """
    SELECT source, target, code FROM temp.site_links WHERE source IN (SELECT target FROM temp.site_suspects)""",
    of=(SUSPECTS,),
)
"""The links of the targets of suspects."""
UNRETURNED = Table(
    "site_unreturned",
    """
    SELECT DISTINCT s.source, s.target FROM temp.site_suspects s
    WHERE NOT EXISTS (FROM temp.site_back b WHERE b.source = s.target AND b.target = s.source)""",
    of=(BACK,),
)
"""Links between listed pages without a link back."""
CONTRADICTED = Table(
    "site_contradicted",
    f"""
    SELECT s.source, s.target, min(s.code) AS code, min(own.code) AS own
    FROM temp.site_suspects s JOIN temp.site_back own ON own.source = s.target AND own.target = s.target
    WHERE s.code <> '{DEFAULT}' AND own.code <> '{DEFAULT}'
      AND NOT EXISTS (FROM temp.site_unreturned u WHERE u.source = s.source AND u.target = s.target)
    GROUP BY s.source, s.target HAVING NOT bool_or(s.code = own.code)""",
    of=(UNRETURNED,),
)
"""Links between listed pages with a link back, whose code differs from all codes the target gives itself."""
REPEATED = Table(
    "site_repeated",
    f"""
    SELECT a.page FROM temp.site_again a JOIN urls u ON u.rowid = {row_of("a.place")}
    WHERE len(u.alternates) > 0 GROUP BY a.page HAVING count(*) > 1""",
    of=(AGAIN,),
)
"""Pages with links in several entries."""
APART = Table(
    "site_apart",
    """
    WITH wrong AS MATERIALIZED (
        SELECT unnest([source, target]) AS page FROM temp.site_unreturned
        UNION SELECT unnest([source, target]) FROM temp.site_contradicted
        UNION FROM temp.site_repeated
        UNION SELECT source FROM temp.site_links WHERE code IS NULL)
    SELECT target AS page, max_by(source, (links, -source)) AS other FROM (
        SELECT s.source, s.target, o.links FROM temp.site_suspects s
        JOIN temp.site_sets o ON o.page = s.source
        JOIN temp.site_sets t ON t.page = s.target
        WHERE t.self AND o.links >= t.links)
    WHERE target NOT IN (FROM wrong)
    GROUP BY target HAVING other NOT IN (FROM wrong)""",
    of=(CONTRADICTED, REPEATED),
)
"""Pages whose language version lists at least as many links, but a different set, with one such version each. Excludes
pages with any other problem."""


LEADING = f"""
    SELECT place, CASE WHEN reply.refresh IS NOT NULL THEN 'redirected' ELSE reply.kind END AS kind,
           reply.final_url AS final,
           coalesce(reply.refresh, CASE reply.kind WHEN 'ok' THEN reply.canonical ELSE reply.final_url END) AS url
    FROM ({PLACED}) u WHERE reply.kind IN ('ok', 'redirected') AND reply.noindex IS NOT true AND url <> loc
      AND NOT coalesce(list_contains(issues, 'page-canonical-other-language'), false)"""
"""SQL for entries whose page leads elsewhere, by its canonical, a refresh or redirects. A version in another language
does not take the place of a page."""
ENDS = Table(
    "site_ends",
    f"""
    SELECT * FROM (SELECT DISTINCT '' AS base, unnest([url, final]) AS url FROM ({LEADING}))
    WHERE {odd("url")}""",
    of=(AGAIN,),
    key=page_key_of,
)
"""Page keys of canonical and redirect targets that are not in normal form."""

BROKEN_KINDS = "('http-error', 'redirect-loop', 'timeout', 'dns', 'tls', 'refused', 'reset')"
"""Kinds of replies without a page."""
IS_SOFT_404 = "(o.reply.kind = 'ok' AND o.reply.soft_404 IS NOT NULL)"
NOINDEX = f"coalesce(o.reply.noindex OR list_contains(o.reply.noindex_agents, '{REFERENCE.lower()}'), false)"
NOT_INDEXED = "is noindex"


def names_canonical(canonical: str) -> str:
    """Say that a language version names this canonical."""
    return f"names {quoted(canonical)} as canonical"


@dataclass(frozen=True, slots=True)
class TargetFault:
    """A fault of pages that entries link to as language versions."""

    wrong: str
    """SQL condition on `o`, the entry of such a page."""
    what: str
    """SQL for a value of its reply."""
    said: Callable[[str], str] = str
    """Makes of the value a phrase that follows the URL."""

    def text(self, url: str, what: str | None) -> str:
        """Say what is wrong with a language version."""
        return f"the version {quoted(url)} {self.said(what or '')}"


TARGET_FAULTS: Mapping[str, TargetFault] = {
    "hreflang-target-status": TargetFault(
        f"({IS_SOFT_404} OR o.reply.kind IN {BROKEN_KINDS} AND o.reply.final_status IS DISTINCT FROM 429)",
        """
        CASE o.reply.kind WHEN 'ok' THEN 'is a soft 404: ' || o.reply.soft_404
                          WHEN 'http-error' THEN 'answers ' || o.reply.final_status
                          WHEN 'redirect-loop' THEN 'redirects in a loop'
                          ELSE 'does not answer (' || o.reply.kind || ')' END""",
    ),
    "hreflang-target-redirect": TargetFault(
        "(o.reply.kind = 'redirected' OR o.reply.refresh IS NOT NULL)",
        "coalesce(o.reply.refresh, o.reply.final_url)",
        lambda url: f"redirects to {quoted(url)}",
    ),
    "hreflang-target-noindex": TargetFault(
        f"o.reply.kind = 'ok' AND o.reply.soft_404 IS NULL AND {NOINDEX}", f"'{NOT_INDEXED}'"
    ),
    "hreflang-target-noncanonical": TargetFault(
        "o.indexability = 'canonicalised'", "o.reply.canonical", names_canonical
    ),
}
"""By rule."""


ENTRIES_WITH_LINKS = f"""
    SELECT place FROM temp.site_faults
    UNION ALL SELECT a.place FROM temp.site_again a JOIN temp.site_faults t ON t.place = a.page
    JOIN urls u ON u.rowid = {row_of("a.place")} WHERE u.alternates IS NOT NULL"""
"""SQL for all entries with language versions of the pages that a rule reports."""


def on_targets(site: SiteFacts, rule: str) -> Iterator[SiteMessage]:
    """Yield one message for each page with faulty language versions, unless the rule has already reported it. `rule`:
    one of `TARGET_FAULTS`."""
    if not (site.has("alternates") and site.has("reply")):
        return
    site.need(LINKS, ENDS)
    kind = TARGET_FAULTS[rule]
    faults = f"""
        WITH wrong AS (
            SELECT p.page FROM temp.site_pages p JOIN urls o ON o.rowid = {row_of("p.page")} WHERE {kind.wrong})
        SELECT l.source AS place, count(DISTINCT l.target) AS number, min(l.target) AS other
        FROM temp.site_links l
        JOIN wrong w ON w.page = l.target
        JOIN urls u ON u.rowid = {row_of("l.source")}
        WHERE l.code IS NOT NULL AND l.source <> l.target
          AND coalesce(u.reply.kind NOT IN {BROKEN_KINDS}, true) AND u.reply.soft_404 IS NULL
          AND NOT coalesce(list_contains(u.issues, '{rule}'), false)
        GROUP BY l.source"""
    values = f"SELECT n.place, {kind.what} AS what FROM temp.site_told n JOIN urls o ON o.rowid = {row_of('n.other')}"
    for fault in site.faults(faults, values, ENTRIES_WITH_LINKS):
        more = f" (and {fault.number - 1} more of its language versions)" if fault.number and fault.number > 1 else ""
        yield on_entry(fault, f"{kind.text(fault.other or '', fault.what)}{more}", fault.other)


EXTENSIONS = (".html", ".htm", ".php", ".aspx", ".asp", ".jsp")
"""Extensions of pages. Tests for a suffix take half the time of regular expressions."""
INDEX_PAGES = ("index", "default", "Default")
"""Names of a folder's page, without their extension."""
MIN_WORDS = 20
"""Words of a text that can be a duplicate. Pages that a script fills often share a shorter one."""
NEAR = 5
"""Bits in which the similarity hashes of near duplicates may differ. With one inserted word, 97 % of texts of 400 words
differ in no more, 85 % of 200 and 65 % of 100; sequences of two words would find more of them, and call far more pages
alike that share four fifths of their text. One of six bands is then equal. Source: Manku, Jain and Das Sarma, Detecting
near-duplicates for web crawling, 2007."""
OF_TEXT = f"split_part(u.reply.content_hash, '-', 2)[{2 * PART_SIZE + 1}:]"
"""SQL for the part of a hash that tells texts apart; that of the template is before it, in hexadecimal digits."""
CONTENTS = Table(
    "site_contents",
    f"""
    SELECT p.page, f.site, p.key, u.reply.words AS words, {OF_TEXT} || u.reply.simhash AS hash,
           ('0x' || u.reply.simhash)::UBIGINT AS near
    FROM temp.site_pages p JOIN urls u ON u.rowid = {row_of("p.page")}
    JOIN temp.site_files f ON f.file = {file_of("p.page")}
    WHERE u.indexable AND u.reply.kind = 'ok' AND u.reply.words IS NOT NULL
      AND (u.reply.canonical IS NULL OR u.reply.canonical IN (u.reply.final_url, u.loc))""",
    of=(PAGES, FILES),
)
"""Indexable listed pages whose content was read, and whose canonical is their own URL. `hash` has both hashes: if a
text has paragraphs alone, its content hash has 16 bits, which pages of a large site share."""
_CUT = " ".join(f"WHEN suffix(key, '{end}') THEN left(key, length(key) - {len(end)})" for end in EXTENSIONS)
_IS_INDEX = " OR ".join(f"suffix(stem, '/{name}')" for name in INDEX_PAGES)
_BASES = f"""
    SELECT page, CASE WHEN {_IS_INDEX} THEN 'index' ELSE 'extension' END AS what,
           {text_key(f"CASE WHEN {_IS_INDEX} THEN regexp_replace(stem, '[^/]+$', '') ELSE stem END")} AS base
    FROM (SELECT page, CASE {_CUT} END AS stem FROM temp.site_pages WHERE NOT contains(key, '?'))
    WHERE NOT suffix(stem, '/')"""
ALIASES = Table(
    "site_aliases",
    f"""
    SELECT place, other, CASE WHEN bit_count(xor(a.near, b.near)) <= {NEAR} AND least(a.words, b.words) >= {MIN_WORDS}
                              THEN 'same' ELSE what END AS what
    FROM (SELECT b.page AS place, min(p.page) AS other, min(b.what) AS what
          FROM temp.site_pages p JOIN ({_BASES}) b ON b.base = {text_key("p.key")} GROUP BY b.page)
    LEFT JOIN temp.site_contents a ON a.page = place LEFT JOIN temp.site_contents b ON b.page = other""",
    of=(PAGES, CONTENTS),
)
"""Pages that are listed by another URL too: by that of their folder (`index`), without their extension (`extension`),
or either with the same or nearly the same text (`same`)."""
