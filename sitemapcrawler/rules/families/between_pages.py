"""Rules on links between files and pages of a site (discovery, hreflang, canonicals, redirects), and on the crawl."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.items import READ
from sitemapcrawler.reader.formats import format_names
from sitemapcrawler.replies.discovery import ARGUMENT, COMMON_PATH, HTML_LINK, INDEX, ROBOTS
from sitemapcrawler.rules.choice import Allowance
from sitemapcrawler.rules.facts.given import Failure
from sitemapcrawler.rules.facts.languages import LOCALIZED
from sitemapcrawler.rules.facts.site import ALONE, SITES, WHOLE, SiteFacts, file_of, on_entry, row_of
from sitemapcrawler.rules.facts.site_links import (
    APART,
    CONTRADICTED,
    ENDS,
    ENTRIES_WITH_LINKS,
    FIRST_LOST,
    LEADING,
    LINKS,
    UNRETURNED,
)
from sitemapcrawler.rules.facts.sites import sql_site_of
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, SiteMessage, rule
from sitemapcrawler.urls import origin, site_of, visit_key
from sitemapcrawler.urls.display import counted, quoted

CANONICAL = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
REDIRECTS = "https://developers.google.com/search/docs/crawling-indexing/301-redirects"
SUBMIT = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#addsitemap"
PROTOCOL = "https://www.sitemaps.org/protocol.html#submit_robots"
NAMED = f"""
    SELECT unnest(sitemaps) FROM robots
    UNION ALL SELECT loc FROM children
    UNION ALL SELECT final_url FROM sitemaps
    WHERE found_by IN {(ROBOTS.name, INDEX.name, ARGUMENT.name)} AND final_url IS NOT NULL"""
"""SQL for the URLs that robots.txt and indexes name, and for their final URLs."""


OF_THE_SITE = f"""
    (final_url IS NULL OR final_url NOT IN (SELECT robots FROM robots))
    AND {sql_site_of("robots")} IN (
        SELECT site FROM temp.site_sites UNION SELECT {sql_site_of("sitemap")} FROM children)"""
"""SQL that is true for the robots.txt of a site of the crawl, unless it redirects to another robots.txt of the
crawl."""


@rule("cross-orphan-sitemap", INFO, SUBMIT, Of.WHOLE_SITE)
def cross_orphan_sitemap(site: SiteFacts) -> Iterator[SiteMessage]:
    """No robots.txt, index or home page names the sitemap. It was found at a common path.
    The home page is read with `probe=always`, or as a listed page with `verify=get`.

    Why: Search engines know it only if it was submitted by hand. It may also be a leftover with outdated URLs. If
    robots.txt names no sitemap, the crawl tries common paths until one answers; `probe=always` tries all of them.
    Fix: Name the sitemap in robots.txt or in the index, or delete the file if it is out of date.
    Bad: `/sitemap.xml`, where robots.txt names `/sitemap_index.xml` only
    Good: a `Sitemap:` line in robots.txt, or an entry in the index that it names
    """
    linked = set(map(visit_key, site.home_links))
    for sitemap, keys in _unnamed_sitemaps(site, COMMON_PATH.name).items():
        if linked.isdisjoint(keys):
            yield SiteMessage("found only at a common path: neither robots.txt nor an index names it", sitemap=sitemap)


@rule("cross-discovery-inconsistent", INFO, PROTOCOL, Of.WHOLE_SITE)
def cross_discovery_inconsistent(site: SiteFacts) -> Iterator[SiteMessage]:
    """robots.txt and the home page name different sitemaps. The home page links to one that neither robots.txt nor an
    index names; or none of those that robots.txt names can be read, but others can. The home page is read with
    `probe=always`, or as a listed page with `verify=get`.

    Why: Search engines read the sitemaps that robots.txt names. They do not know those that only the home page links
    to.
    Fix: Name the same sitemaps in robots.txt and on the home page, and remove those that cannot be read.
    Bad: `<link rel="sitemap" href="/sitemap-new.xml">`, and `Sitemap: https://example.com/sitemap-old.xml`
    Good: the same sitemaps in both
    """
    naming = {site_of(robots) for (robots,) in site.query("SELECT robots FROM robots WHERE len(sitemaps) > 0")}
    for sitemap in _linked_sitemaps(site):
        if site_of(sitemap) in naming:
            yield SiteMessage(
                "linked from the home page, but not named in robots.txt, which names others", sitemap=sitemap
            )
    others = [url for (url,) in site.query(FOUND, list(READ))]
    if not others:
        return
    whole = site.whole_sites
    for robots, number in [one for one in site.query(ALL_UNREAD, list(READ)) if site_of(one[0]) in whole]:
        other = next((url for url in others if origin(url) == origin(robots)), None)
        if other is not None:
            named = "the sitemap that it names" if number == 1 else f"none of the {number} sitemaps that it names"
            text = (
                f"{named} could {'not ' if number == 1 else ''}be read; {quoted(other)}, which it does not name, could"
            )
            yield SiteMessage(text, sitemap=robots, value=other)


@rule("robots-lists-child-and-index", INFO, PROTOCOL, Of.SITE)
def robots_lists_child_and_index(site: SiteFacts) -> Iterator[SiteMessage]:
    """robots.txt names an index, and files that the index lists. Once per robots.txt.

    Why: It does no harm, but each file is named in two places, and one of them is easily forgotten.
    Fix: Name only the index in robots.txt.
    Bad: `Sitemap: https://example.com/index.xml` and `Sitemap: https://example.com/posts.xml`, which the index lists
    Good: the index alone
    """
    if not site.has_rows("children"):
        return
    site.need(SITES)
    both = f"""
        WITH named AS (SELECT robots, unnest(sitemaps) AS sitemap FROM robots WHERE {OF_THE_SITE})
        SELECT n.robots, count(DISTINCT c.loc), min(c.loc), min_by(c.sitemap, c.loc)
        FROM named n JOIN children c ON c.loc = n.sitemap AND c.sitemap <> c.loc
        JOIN named i ON i.robots = n.robots AND i.sitemap = c.sitemap
        GROUP BY n.robots ORDER BY n.robots"""
    for robots, number, child, index in site.query(both):
        more = f" and {counted(number - 1, 'more file')}" if number > 1 else ""
        text = f"names {quoted(child)}{more}, and {quoted(index)}, which lists {'them' if more else 'it'}"
        yield SiteMessage(text, sitemap=robots, value=child)


ALL_UNREAD = f"""
    SELECT r.robots, count(*) FROM (SELECT robots, unnest(sitemaps) AS sitemap FROM robots WHERE {OF_THE_SITE}) r
    LEFT JOIN sitemaps s ON s.sitemap = r.sitemap
    GROUP BY r.robots
    HAVING count(s.outcome) = count(*) AND count(*) FILTER (s.outcome IN ? OR s.outcome = 'truncated') = 0
    ORDER BY r.robots"""
"""SQL for each robots.txt of which all sitemaps were requested and none could be read."""
KNOWN = f"""
    SELECT sitemap, final_url FROM sitemaps UNION ALL SELECT url, NULL FROM ({NAMED}) AS named (url)"""
"""SQL for the URLs of files that were requested or are named somewhere."""
FOUND = f"""
    SELECT sitemap FROM sitemaps WHERE found_by IN {(COMMON_PATH.name, HTML_LINK.name)} AND outcome IN ?
    ORDER BY sitemap"""


def _linked_sitemaps(site: SiteFacts) -> list[str]:
    """Sitemaps that a home page links to and nothing else names, ordered by URL: those that were found by it, at a
    usual path, or not at all, since the home page was read as a listed page."""
    linked = {visit_key(url): url for url in site.home_links}
    guessed = _unnamed_sitemaps(site, COMMON_PATH.name).items() if linked else ()
    found = {*_unnamed_sitemaps(site, HTML_LINK.name), *(url for url, keys in guessed if not keys.isdisjoint(linked))}
    known = {visit_key(url) for row in site.query(KNOWN) for url in row if url is not None} if linked else set()
    whole = site.whole_sites
    return sorted(found.union(url for key, url in linked.items() if key not in known and site_of(url) in whole))


def _unnamed_sitemaps(site: SiteFacts, found_by: str) -> dict[str, set[str]]:
    """Sitemaps found in this way that nothing else names, ordered by URL, each with the keys of its URLs."""
    site.need(WHOLE)
    found = """
        SELECT sitemap, final_url FROM sitemaps JOIN temp.site_sites USING (sitemap)
        WHERE found_by = ? AND outcome IN ? AND format IN ? AND site IN (SELECT site FROM temp.site_whole)"""
    # A home page may link to a feed for its readers.
    formats = format_names(lambda format: format.is_sitemap and not format.is_feed)
    rows = site.query(found, found_by, list(READ), formats)
    unnamed = {sitemap: {visit_key(sitemap), visit_key(final or sitemap)} for sitemap, final in rows}
    keys = {key: sitemap for sitemap, places in unnamed.items() for key in places}
    for (url,) in site.query(NAMED) if keys else ():
        unnamed.pop(keys.get(visit_key(url), ""), None)
    return dict(sorted(unnamed.items()))


GUIDELINES = f"{LOCALIZED}#all-method-guidelines"

FROG = "Screaming Frog"


@rule("hreflang-return-missing", ERROR, GUIDELINES, Of.SITE, also={FROG: "Missing Return Links"})
def hreflang_return_missing(site: SiteFacts) -> Iterator[SiteMessage]:
    """A language version has no return link. Pages link to a listed page as a language version, but its entry does not
    link back to them.

    Does not judge unlisted pages, nor links of a page that does not list itself, which has a finding of its own.

    Why: Search engines ignore a link that is not returned; otherwise any site could claim the pages of another.
    Fix: Add a link back to each page that links here as a language version.
    Bad: `https://example.com/en/` links to `https://example.com/de/`, whose entry has no links
    Good: each of the two links to both
    """
    if not site.has("alternates"):
        return
    site.need(UNRETURNED)
    faults = (
        "SELECT target AS place, count(*) AS number, min(source) AS other FROM temp.site_unreturned GROUP BY target"
    )
    for fault in site.faults(faults):
        pages = f"{fault.number} pages that list it, such as " if (fault.number or 0) > 1 else ""
        text = f"{quoted(fault.url)} does not link back to {pages}{quoted(fault.other)}"
        yield on_entry(fault, text + ("" if pages else ", which lists it"), fault.other)


@rule(
    "hreflang-return-inconsistent",
    ERROR,
    GUIDELINES,
    Of.SITE,
    also={FROG: "Inconsistent Language & Region Return Links"},
)
def hreflang_return_inconsistent(site: SiteFacts) -> Iterator[SiteMessage]:
    """Entries give one page different language codes. An entry links to the page with another code than the page's own
    entry has; `x-default` does not count.

    Why: The two contradict each other, and it is undefined which one search engines use.
    Fix: Use one code for the page in all entries.
    Bad: `hreflang="de"` with `https://example.com/at/`, whose own entry calls it `de-AT`
    Good: `de-AT` in both
    """
    if not site.has("alternates"):
        return
    site.need(CONTRADICTED)
    faults = """
        SELECT source AS place, count(*) AS number, min(target) AS other,
               min_by(code || ' ' || own, target) AS what
        FROM temp.site_contradicted GROUP BY source"""
    for fault in site.faults(faults, entries=ENTRIES_WITH_LINKS):
        code, _, own = (fault.what or "").partition(" ")
        more = f" (and {fault.number - 1} more of its versions)" if fault.number and fault.number > 1 else ""
        yield on_entry(fault, f"{quoted(fault.other)} is {code} here, and {own} in its own entry{more}", code)


@rule("hreflang-cluster-inconsistent", WARNING, GUIDELINES, Of.SITE)
def hreflang_cluster_inconsistent(site: SiteFacts) -> Iterator[SiteMessage]:
    """Language versions list different sets of versions. A page that the entry links to lists more versions, or others.

    Not reported if a page does not list itself, links are not returned, codes contradict or are invalid, or a page has
    several entries with links.

    Why: Search engines can only be sure of the versions of a page if all of them list the same set.
    Fix: List the same language versions in each of their entries.
    Bad: the German entry lists `de` and `en`, the English one lists `de`, `en` and `fr`
    Good: the same links in all entries
    """
    if not site.has("alternates"):
        return
    site.need(APART)
    faults = """
        SELECT a.page AS place, a.other, count(*) AS number, min(l.code) AS what
        FROM temp.site_apart a JOIN temp.site_links l ON l.source = a.other AND l.code IS NOT NULL
        WHERE NOT EXISTS (
            FROM temp.site_back b WHERE b.source = a.page AND b.target = l.target AND b.code = l.code)
        GROUP BY a.page, a.other"""
    for fault in site.faults(faults, entries=ENTRIES_WITH_LINKS):
        more = f" (and {fault.number - 1} more)" if fault.number and fault.number > 1 else ""
        text = f"its version {quoted(fault.other)} has a link for {fault.what}{more} that this entry does not have"
        yield on_entry(fault, text, fault.what)


@rule(
    "hreflang-target-not-in-sitemap",
    WARNING,
    GUIDELINES,
    Of.WHOLE_SITE,
    per=Per.FILE("link to language versions without an entry"),
    also={FROG: "Unlinked Hreflang URLs"},
)
def hreflang_target_not_in_sitemap(site: SiteFacts) -> Iterator[SiteMessage]:
    """A language version is not in any sitemap. Its host was crawled, with or without `www.`.

    URLs that differ only in how host, port or escapes are written are the same; a trailing slash is a difference.

    Why: Only an entry of its own can return the link, and a link that is not returned does not count.
    Fix: Add an entry with exactly this URL for each linked language version that exists. Correct or remove the others.
    Bad: `https://example.com/de` among the links, and `https://example.com/de/` in the sitemap
    Good: an entry with exactly this URL for each linked language version
    """
    if not site.has("alternates"):
        return
    site.need(LINKS)
    faults = f"""
        SELECT l.source AS place, count(*) AS number
        FROM temp.site_links l JOIN temp.site_files f ON f.file = {file_of("l.source")}
        WHERE l.surely AND l.code IS NOT NULL AND l.source NOT IN (SELECT page FROM temp.site_pages WHERE doubtful)
          AND f.site IN (SELECT site FROM temp.site_whole)
        GROUP BY l.source"""
    for fault in site.faults(faults, FIRST_LOST, ENTRIES_WITH_LINKS):
        more = f" (and {fault.number - 1} more of its versions)" if fault.number and fault.number > 1 else ""
        yield on_entry(fault, f"{quoted(fault.what)} has no entry in any sitemap{more}", fault.what)


@rule("page-canonical-other-listed-too", INFO, CANONICAL, Of.SITE, per=Per.FILE("have a canonical that is listed too"))
def page_canonical_other_listed_too(site: SiteFacts) -> Iterator[SiteMessage]:
    """The page and its canonical are both listed.

    `page-canonical-other` reports the canonical itself.

    Why: Nothing is lost, since the canonical is in the sitemap. This entry only wastes crawls.
    Fix: Remove these URLs from the sitemap; their canonicals are listed.
    Bad: both `https://example.com/shoes?sort=price` and its canonical `https://example.com/shoes`
    Good: the canonical alone
    """
    yield from _on_listed_too(site, "ok", "its canonical is")


@rule(
    "status-redirect-target-listed-too", INFO, REDIRECTS, Of.SITE, per=Per.FILE("redirect to a URL that is listed too")
)
def status_redirect_target_listed_too(site: SiteFacts) -> Iterator[SiteMessage]:
    """The URL and its redirect target are both listed.

    `status-redirect` and similar rules report the redirect.

    Why: Nothing is lost, since the target is in the sitemap. This entry only wastes crawls.
    Fix: Remove these URLs from the sitemap; their targets are listed.
    Bad: both `http://example.com/a` and `https://example.com/a`, to which it redirects
    Good: the URL of the page alone
    """
    yield from _on_listed_too(site, "redirected", "it redirects to")


def _on_listed_too(site: SiteFacts, kind: str, what: str) -> Iterator[SiteMessage]:
    """Report entries with this kind of reply that lead to another listed page, unless that page is broken."""
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
    for fault in site.faults(faults, entries=ALONE):
        yield on_entry(fault, f"{what} {quoted(fault.other)}, which is listed too", fault.other)


@rule("internal-rule-failed", WARNING, "a bug in this program, please report it", Of.FAILURE, per=Per.ENTRY)
def internal_rule_failed(failure: Failure) -> Iterator[Message]:
    """A rule raised an exception. Its check is missing from this report.

    Why: A failed check must not look like a passed one. The crawl and the other rules continued.
    Fix: Report the exception from the log. Change nothing on the site.
    Bad: a value that the rule cannot handle
    Good: no exception; the log has what a bug report needs
    """
    error = failure.error
    text = f"the rule {failure.rule} failed with {type(error).__name__}: its check is missing here"
    yield Message(text, value=failure.rule)


@rule("allow-expired", WARNING, "the entry itself says until when", Of.ALLOWANCE)
def allow_expired(allowance: Allowance) -> Iterator[Message]:
    """An entry of the allowlist has expired. It no longer allows anything.

    Why: The problem was to be fixed by that date, so its findings count again.
    Fix: Remove the entry from the allowlist, or give it a later date.
    Bad: `until = 2020-12-31`
    Good: a later date, or no entry
    """
    text = f"the allowance of {allowance.rule} for {allowance.pattern} ended on {allowance.until}"
    yield Message(f"{text}; its reason was: {allowance.reason}", value=allowance.rule)
