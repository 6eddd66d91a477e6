"""Language versions that were asked after the entry that links to them was judged, or in another run of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sitemapcrawler.rules.facts.cluster import page_key
from sitemapcrawler.rules.facts.site import SiteFacts, on_entry
from sitemapcrawler.rules.facts.site_links import LINKS
from sitemapcrawler.rules.facts.site_pages import AGAIN, LISTED, ROW_BITS, Database, Table, odd, row_of, spell
from sitemapcrawler.rules.families.page import CANONICAL
from sitemapcrawler.rules.families.status_redirects import REDIRECTS
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.urls.display import shown

LEADING = f"""
    SELECT (f.file << {ROW_BITS}) + u.row AS place, u.reply.kind AS kind, u.reply.final_url AS final,
           CASE u.reply.kind WHEN 'ok' THEN u.reply.canonical ELSE u.reply.final_url END AS url
    FROM ({LISTED}) u JOIN temp.site_files f USING (sitemap)
    WHERE u.reply.kind IN ('ok', 'redirected') AND u.reply.noindex IS NOT true AND url <> u.loc"""
"""SQL for entries whose page leads elsewhere: by its canonical, or by redirects."""


def _spell_ends(database: Database) -> None:
    of = f"SELECT DISTINCT '' AS base, unnest([url, final]) AS url FROM ({LEADING})"
    spell(database, "site_ends", f"SELECT * FROM ({of}) WHERE {odd('url')}", lambda _, url: page_key(url))


ENDS = Table(
    "site_ends",
    ("CREATE TEMP TABLE site_ends (base VARCHAR, url VARCHAR, key VARCHAR)",),
    of=(AGAIN,),
    fill=_spell_ends,
)
"""The keys of URLs that pages lead to and that are not in normal form."""


@rule("page-canonical-other-listed-too", Severity.INFO, CANONICAL, Needs.SITE)
def page_canonical_other_listed_too(site: SiteFacts) -> Iterator[SiteMessage]:
    """A listed page names another URL as the one to index, and that is listed, too.

    That the page names another one is told by `page-canonical-other`.

    Why: nothing is lost, since the canonical is in the sitemap; this entry only costs visits, and can go.
    Bad: both `https://example.com/shoes?sort=price` and its canonical `https://example.com/shoes`
    Good: the canonical alone
    """
    yield from _listed_too(site, "ok", "its canonical is")


@rule("status-redirect-target-listed-too", Severity.INFO, REDIRECTS, Needs.SITE)
def status_redirect_target_listed_too(site: SiteFacts) -> Iterator[SiteMessage]:
    """A listed URL redirects to another one that is listed, too.

    That it redirects is told by `status-redirect` and its like.

    Why: nothing is lost, since the page is in the sitemap; this entry only costs visits, and can go.
    Bad: both `http://example.com/a` and `https://example.com/a`, to which it redirects
    Good: the URL of the page alone
    """
    yield from _listed_too(site, "redirected", "it redirects to")


def _listed_too(site: SiteFacts, kind: str, what: str) -> Iterator[SiteMessage]:
    """Entries with this kind of reply that lead to another listed page; not to one that does not work, as is told."""
    if not site.has("reply"):
        return
    site.need(ENDS)
    faults = f"""
        SELECT l.place, p.page AS other
        FROM ({LEADING}) l
        LEFT JOIN temp.site_ends s ON s.url = l.url
        LEFT JOIN temp.site_ends e ON e.url = l.final
        LEFT JOIN temp.site_again a ON a.place = l.place
        JOIN temp.site_pages p ON p.key = coalesce(s.key, l.url)
        JOIN urls u ON u.rowid = {row_of("p.page")}
        WHERE l.kind = '{kind}' AND p.page <> coalesce(a.page, l.place)
          AND (l.kind = 'redirected' OR p.key <> coalesce(e.key, l.final))
          AND coalesce(u.reply.kind, 'unchecked') IN ('ok', 'unchecked')"""
    for fault in site.faults(faults):
        yield on_entry(fault, f"{what} {shown(fault.other)}, which is listed too", fault.other)


BROKEN = "('http-error', 'redirect-loop', 'timeout', 'dns', 'tls', 'refused', 'reset')"
"""Kinds of replies that are no page."""
STATUS = f"o.reply.kind IN {BROKEN} AND o.reply.status IS DISTINCT FROM 429"
REDIRECT = "o.reply.kind = 'redirected'"
NOINDEX = "o.reply.kind = 'ok' AND o.reply.noindex"
NONCANONICAL = """
    o.reply.kind = 'ok' AND o.reply.noindex IS NOT true AND o.reply.canonical <> o.reply.final_url
    AND coalesce((SELECT any_value(key) FROM temp.site_ends WHERE url = o.reply.canonical), o.reply.canonical)
     <> coalesce((SELECT any_value(key) FROM temp.site_ends WHERE url = o.reply.final_url), o.reply.final_url)"""
"""SQL for what may be wrong with the reply to a language version, `o`."""
TROUBLE = """
    CASE o.reply.kind WHEN 'http-error' THEN 'answers ' || o.reply.status
                      WHEN 'redirect-loop' THEN 'redirects without end'
                      ELSE 'gives no answer (' || o.reply.kind || ')' END"""
"""SQL for a broken one in words."""


def later(
    site: SiteFacts, rule: str, wrong: str, what: str, said: Callable[[str], str] = lambda what: what
) -> Iterator[SiteMessage]:
    """One message for each page with such language versions, but for those that the rule has told of already.

    `wrong`: one of the above. `what`: SQL for a value of the reply, of which `said` makes words that follow the URL.
    """
    if not (site.has("alternates") and site.has("reply")):
        return
    site.need(LINKS, ENDS)
    faults = f"""
        WITH wrong AS (
            SELECT p.page FROM temp.site_pages p JOIN urls o ON o.rowid = {row_of("p.page")} WHERE {wrong})
        SELECT l.source AS place, count(DISTINCT l.target) AS number, min(l.target) AS other
        FROM temp.site_links l
        JOIN wrong w ON w.page = l.target
        JOIN urls u ON u.rowid = {row_of("l.source")}
        WHERE l.code IS NOT NULL AND l.source <> l.target
          AND coalesce(u.reply.kind NOT IN {BROKEN}, true) AND NOT coalesce(list_contains(u.issues, '{rule}'), false)
        GROUP BY l.source"""
    values = f"SELECT n.place, {what} AS what FROM temp.site_told n JOIN urls o ON o.rowid = {row_of('n.other')}"
    for fault in site.faults(faults, values):
        more = f" (and {fault.number - 1} more of its language versions)" if fault.number and fault.number > 1 else ""
        text = f"the version {shown(fault.other)} {said(fault.what or '')}{more}"
        yield on_entry(fault, text, fault.other)
