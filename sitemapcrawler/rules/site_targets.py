"""Language versions that were asked after the entry that links to them was judged, or in another run of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sitemapcrawler.quoting import shown
from sitemapcrawler.rules.registry import SiteMessage
from sitemapcrawler.rules.site_facts import SiteFacts, on_entry
from sitemapcrawler.rules.site_links import LINKS
from sitemapcrawler.rules.site_pages import row_of
from sitemapcrawler.rules.site_replies import ENDS

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
