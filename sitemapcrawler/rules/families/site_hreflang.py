"""Rules on the language versions of pages over all files. Each is told once for a page, on the entry at fault."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.facts import site_links
from sitemapcrawler.rules.facts.cluster import GOOGLE
from sitemapcrawler.rules.facts.site import SiteFacts, on_entry
from sitemapcrawler.rules.facts.site_pages import file_of
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.urls.display import shown

GUIDELINES = f"{GOOGLE}#all-method-guidelines"
FROG = "Screaming Frog"


@rule("hreflang-return-missing", Severity.ERROR, GUIDELINES, Needs.SITE, also={FROG: "Missing Return Links"})
def hreflang_return_missing(site: SiteFacts) -> Iterator[SiteMessage]:
    """Pages link to a listed page as a language version, and its entry does not link back to them.

    Nothing is said of pages that are not listed, and of links by a page that does not list itself, which is told.

    Why: search engines ignore a link that is not returned, lest anybody could claim the pages of another site.
    Bad: `https://example.com/en/` links to `https://example.com/de/`, whose entry has no links
    Good: each of the two links to both
    """
    if not site.has("alternates"):
        return
    site.need(site_links.UNRETURNED)
    faults = (
        "SELECT target AS place, count(*) AS number, min(source) AS other FROM temp.site_unreturned GROUP BY target"
    )
    for fault in site.faults(faults):
        pages = f"{fault.number} pages that list it, such as " if (fault.number or 0) > 1 else ""
        text = f"{shown(fault.url)} does not link back to {pages}{shown(fault.other)}"
        yield on_entry(fault, text + ("" if pages else ", which lists it"), fault.other)


@rule(
    "hreflang-return-inconsistent", Severity.ERROR, GUIDELINES, Needs.SITE,
    also={FROG: "Inconsistent Language & Region Return Links"},
)  # fmt: skip
def hreflang_return_inconsistent(site: SiteFacts) -> Iterator[SiteMessage]:
    """The entry gives a listed page another code than that page's own entry does, `x-default` apart.

    Why: the two contradict each other, and which of them search engines believe is not defined.
    Bad: `hreflang="de"` with `https://example.com/at/`, whose own entry calls it `de-AT`
    Good: `de-AT` in both
    """
    if not site.has("alternates"):
        return
    site.need(site_links.CONTRADICTED)
    faults = """
        SELECT source AS place, count(*) AS number, min(target) AS other,
               min_by(code || ' ' || own, target) AS what
        FROM temp.site_contradicted GROUP BY source"""
    for fault in site.faults(faults):
        code, _, own = (fault.what or "").partition(" ")
        more = f" (and {fault.number - 1} more of its versions)" if fault.number and fault.number > 1 else ""
        yield on_entry(fault, f"{shown(fault.other)} is {code} here, and {own} in its own entry{more}", code)


@rule("hreflang-cluster-inconsistent", Severity.WARNING, GUIDELINES, Needs.SITE)
def hreflang_cluster_inconsistent(site: SiteFacts) -> Iterator[SiteMessage]:
    """One of the versions that the entry lists lists more, or others.

    Silent where a page does not list itself, links are not returned or codes contradict, and where a page has several
    entries with links.

    Why: search engines know the versions of a page for sure only where all of them list the same.
    Bad: the German entry lists `de` and `en`, the English one lists `de`, `en` and `fr`
    Good: the same links in all entries
    """
    if not site.has("alternates"):
        return
    site.need(site_links.APART)
    faults = """
        SELECT a.page AS place, a.other, count(*) AS number, min(l.code) AS what
        FROM temp.site_apart a JOIN temp.site_links l ON l.source = a.other AND l.code IS NOT NULL
        WHERE NOT EXISTS (
            FROM temp.site_back b WHERE b.source = a.page AND b.target = l.target AND b.code = l.code)
        GROUP BY a.page, a.other"""
    for fault in site.faults(faults):
        more = f" (and {fault.number - 1} more)" if fault.number and fault.number > 1 else ""
        text = f"its version {shown(fault.other)} links for {fault.what}{more} to a page that it does not list for that"
        yield on_entry(fault, text, fault.what)


@rule(
    "hreflang-target-not-in-sitemap", Severity.WARNING, GUIDELINES, Needs.WHOLE_SITE,
    also={FROG: "Unlinked Hreflang URLs"},
)  # fmt: skip
def hreflang_target_not_in_sitemap(site: SiteFacts) -> Iterator[SiteMessage]:
    """Language versions that the entry links to have no entry in any file, though their host was crawled.

    URLs that differ in nothing but the spelling of host, port or escapes are the same; a final slash is a difference.

    Why: in a sitemap only an entry can return the link, and a link that is not returned does not count.
    Bad: `https://example.com/de` among the links, and `https://example.com/de/` in the sitemap
    Good: an entry, letter by letter, for each URL that is linked to
    """
    if not site.has("alternates"):
        return
    site.need(site_links.LINKS)
    faults = f"""
        SELECT l.source AS place, count(*) AS number
        FROM temp.site_links l JOIN temp.site_files f ON f.file = {file_of("l.source")}
        WHERE l.surely AND l.code IS NOT NULL AND l.source NOT IN (SELECT page FROM temp.site_pages WHERE doubtful)
          AND f.site IN (SELECT site FROM temp.site_whole)
        GROUP BY l.source"""
    for fault in site.faults(faults, site_links.FIRST_LOST):
        more = f" (and {fault.number - 1} more of its versions)" if fault.number and fault.number > 1 else ""
        yield on_entry(fault, f"{shown(fault.what)} has no entry in any sitemap{more}", fault.what)
