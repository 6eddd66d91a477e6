"""Rules on what scripts make of pages, with the argument `render`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sitemapcrawler.rules.facts.site import FILES, PLACED, EntryFault, SiteFacts, on_entry
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Of, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

BASICS = "https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics"
CANONICALS = "https://developers.google.com/search/docs/crawling-indexing/canonicalization"
CRAWLABLE = "https://developers.google.com/search/docs/crawling-indexing/links-crawlable"
FEW = 0.2
"""Share of the rendered words up to which the HTML of the server is empty: a notice, or a menu."""
MIN_WORDS = 20
"""Words that an empty page has once it is rendered."""
SHOWN = 60
"""Characters of a title in a message."""
RENDERED = f"""
    SELECT min(u.place) AS place, any_value({{number}}) AS number, any_value({{what}}) AS what
    FROM ({PLACED}) u JOIN rendered p ON p.url = u.loc
    WHERE {{where}} GROUP BY p.url"""
"""SQL for rendered pages that a condition is true of."""
LACKING = "failed + coalesce(len(blocked), 0)"
"""SQL for the number of requests that a page made and got nothing from."""


def _pages(site: SiteFacts, where: str, what: str = "NULL", number: str = LACKING) -> Iterator[EntryFault]:
    """The rendered pages that an SQL condition is true of, with a text and a number of each."""
    if not site.has_rows("rendered"):
        return iter(())
    site.need(FILES)
    return site.faults(RENDERED.format(where=where, what=what, number=number))


def _lacking(fault: EntryFault) -> str:
    """What may be the reason that a page is not as its visitors see it."""
    return f" ({counted(fault.number, 'request')} of its scripts failed)" if fault.number else ""


@rule("render-empty-without-javascript", WARNING, BASICS, Of.SITE)
def render_empty_without_javascript(site: SiteFacts) -> Iterator[SiteMessage]:
    """The server sends a page without its text. Scripts add it. Only with `render`: the HTML has at most a fifth of the
    words of the rendered page.

    Why: Google indexes the text once it has rendered the page, which may take a while. Most other search engines and AI
    crawlers run no scripts: to them the page is empty.
    Fix: Render the page on the server or at build time, so that the HTML contains its text.
    Bad: `<div id="root"></div>`, which a script fills
    Good: HTML with the text, which a script makes interactive
    """
    where = f"rendered_words >= {MIN_WORDS} AND words <= {FEW} * rendered_words"
    texts = "words || ' of ' || rendered_words"
    for fault in _pages(site, where, texts):
        yield on_entry(fault, f"the HTML of {quoted(fault.url)} has {fault.what} words{_lacking(fault)}")


@rule("render-noindex-set", ERROR, BASICS, Of.SITE)
def render_noindex_set(site: SiteFacts) -> Iterator[SiteMessage]:
    """A script sets noindex on a listed page. Only with `render`.

    Why: Google drops the page once it has rendered it. Scripts often set noindex after an error, such as data that
    failed to load; then find that error.
    Fix: Remove noindex from the script, or remove the page from the sitemap.
    Bad: `<meta name="robots" content="noindex">`, added by a script
    Good: no noindex, or noindex in the HTML of the server and no entry in the sitemap
    """
    for fault in _pages(site, "rendered_noindex AND NOT noindex"):
        yield on_entry(fault, f"a script sets noindex on {quoted(fault.url)}{_lacking(fault)}")


@rule("render-noindex-removed", ERROR, BASICS, Of.SITE)
def render_noindex_removed(site: SiteFacts) -> Iterator[SiteMessage]:
    """A script removes the noindex of a listed page. Only with `render`.

    Why: Google may not render a page with noindex, and then never sees that a script removes it. Most others run no
    scripts.
    Fix: Remove noindex from the HTML that the server sends.
    Bad: `<meta name="robots" content="noindex">` in the HTML, which a script replaces with `index`
    Good: HTML without noindex
    """
    for fault in _pages(site, "noindex AND NOT rendered_noindex"):
        yield on_entry(fault, f"a script removes the noindex of {quoted(fault.url)}, which Google may never notice")


@rule("render-canonical-changed", WARNING, CANONICALS, Of.SITE)
def render_canonical_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """A script changes the canonical of a page. Only with `render`. A note if the HTML has no canonical and a script
    adds one.

    Why: Crawlers that run no scripts use the canonical in the HTML; Google uses one of the two.
    Fix: Send the right canonical in the HTML, and do not change it by script.
    Bad: the canonical `https://example.com/` in the HTML of each page, which a script replaces
    Good: the canonical of the page in its HTML
    """
    what = "coalesce(canonical, '') || ' ' || coalesce(rendered_canonical, '')"
    where = "rendered_words IS NOT NULL AND canonical IS DISTINCT FROM rendered_canonical"
    for fault in _pages(site, where, what):
        before, _, after = (fault.what or "").partition(" ")
        if not before:
            yield replace(on_entry(fault, f"a script adds the canonical {quoted(after)}", after), severity=INFO)
        else:
            change = f"replaces the canonical {quoted(before)} with {quoted(after)}"
            change = change if after else "removes the canonical"
            yield on_entry(fault, f"a script {change}", after or before)


@rule("render-links-added", WARNING, CRAWLABLE, Of.SITE)
def render_links_added(site: SiteFacts) -> Iterator[SiteMessage]:
    """Listed pages are linked only once scripts have run. Only with `render`: the rendered page links to them, but the
    server's HTML does not.

    Why: Crawlers that run no scripts do not find these pages through links, and Google finds them later.
    Fix: Send the links as `<a href>` in the HTML.
    Bad: `<nav id="menu"></nav>`, which a script fills
    Good: `<nav><a href="/prices">Prices</a></nav>`
    """
    for fault in _pages(site, "added_links > 0", "added[1]", "added_links"):
        many = counted(fault.number or 0, "listed page")
        text = f"{quoted(fault.url)} links to {many} only once it is rendered, such as {quoted(fault.what)}"
        yield on_entry(fault, text, fault.what)


@rule("render-title-changed", INFO, BASICS, Of.SITE)
def render_title_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """A script changes the title of a page. Only with `render`.

    Why: Link previews, and crawlers that run no scripts, show the title in the HTML.
    Fix: Send the page's title in its HTML.
    Bad: `<title>Loading</title>`, which a script replaces
    Good: the title of the page in its HTML
    """
    where = "rendered_title IS NOT NULL AND title IS NOT NULL AND title <> rendered_title"
    for fault in _pages(site, where, "title || chr(10) || rendered_title"):
        before, _, after = (fault.what or "").partition("\n")
        change = f"{quoted(before[:SHOWN])} to {quoted(after[:SHOWN])}" if before else f"to {quoted(after[:SHOWN])}"
        yield on_entry(fault, f"a script changes the title {change}", after)


@rule("render-failed", INFO, BASICS, Of.SITE)
def render_failed(site: SiteFacts) -> Iterator[SiteMessage]:
    """A page cannot be rendered properly. Only with `render`: its scripts do not finish, exceed a limit, crash the
    browser, or lead to another page.

    Why: Google also limits the time, memory and requests of a page, and indexes what is there at that point.
    Fix: Open the page and the browser's console, and repair the failing script; or list the page it leads to.
    Bad: a script that runs in an endless loop
    Good: a page that is complete some seconds after it was opened
    """
    for fault in _pages(site, "result <> 'rendered'", "result || ': ' || coalesce(note, '')"):
        yield on_entry(fault, f"rendering {quoted(fault.url)} ended early: {fault.what}")
