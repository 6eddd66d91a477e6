"""Rules on the canonical of a listed page. Of one that is another URL, one rule tells, whatever else there is to it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from sitemapcrawler.page import Canonical, PageFacts, Place
from sitemapcrawler.quoting import shown
from sitemapcrawler.rules.cluster import page_key
from sitemapcrawler.rules.facts import ReplyFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.replied import own_page, trouble
from sitemapcrawler.uri import Form, form_of

CANONICAL = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
CANONICALISED = {"Sitebulb": "Canonicalized URL in XML Sitemaps", "Screaming Frog": "Non-Indexable URLs in Sitemap"}
MAX_NAMED = 3
"""Canonicals that a message names."""


@rule("page-canonical-other", Severity.ERROR, CANONICAL, Needs.REPLY, also=CANONICALISED)
def page_canonical_other(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page names another URL as the one to index. A warning where it is the same but for scheme, `www`, case,
    or a final slash.

    Spellings that make the same request are equal: escapes, fragment, default port.

    Why: a sitemap lists canonical URLs. Search engines mostly follow the page, and leave the listed URL out.
    Bad: `https://example.com/shoes?sort=price` in the sitemap, with the canonical `https://example.com/shoes`
    Good: `https://example.com/shoes` in the sitemap
    """
    other = other_canonical(facts)
    if other is None or _trouble(facts):
        return
    if _rough(other.url or "") == _rough(facts.record.loc):
        text = f"the page names another spelling of its URL as canonical: {_told(other)}"
        yield Message(text, value=other.url, severity=Severity.WARNING)
    else:
        yield Message(f"the page names another URL as canonical: {_told(other)}", value=other.url)


@rule("page-canonical-to-non-200", Severity.ERROR, CANONICAL, Needs.REPLY)
def page_canonical_to_non_200(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page names another URL as the one to index, and that does not answer 200.

    Why: neither of the two may be indexed, or the wrong one.
    Bad: a canonical that answers 404, or redirects back to the page
    Good: a canonical that answers 200 and names itself
    """
    other, wrong = other_canonical(facts), _trouble(facts)
    if other is not None and wrong:
        yield Message(f"the page's canonical {_told(other)} {wrong}", value=other.url)


@rule("page-canonical-missing", Severity.INFO, CANONICAL, Needs.REPLY)
def page_canonical_missing(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page names no canonical that counts.

    Why: it is not needed; it keeps variants of the URL, such as those with tracking parameters, out of the index. One
    behind the end of the head does not count.
    Bad: a page without `<link rel="canonical">`
    Good: `<link rel="canonical" href="https://example.com/shoes">` in the head of that page
    """
    page = _page(facts)
    if page is None or not page.complete or page.encoding is None or page.noindex or _counting(page):
        return
    behind = next((one for one in page.canonicals if one.place is Place.BODY), None)
    if behind is not None:
        by = f", which {'text' if page.broken_by == 'text' else f'<{page.broken_by}>'} ended" if page.broken_by else ""
        yield Message(f"the canonical {shown(behind.href)} stands behind the head{by}", value=behind.href)
    elif page.canonicals:
        href = page.canonicals[0].href
        yield Message(f"the canonical {shown(href)} is no http or https URL", value=href)
    else:
        yield Message("the page names no canonical")


@rule("page-canonical-multiple", Severity.WARNING, CANONICAL, Needs.REPLY)
def page_canonical_multiple(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page names several canonicals that differ, in its head and in Link headers.

    Why: search engines ignore all of them, or take the wrong one. Several of the same do no harm.
    Bad: one `<link rel="canonical">` of the template and another one of a plugin
    Good: one
    """
    page = _page(facts)
    found = _different(page) if page is not None else []
    if len(found) > 1:
        told = ", ".join(map(_told, found[:MAX_NAMED])) + (", ..." if len(found) > MAX_NAMED else "")
        yield Message(f"{len(found)} canonicals: {told}", value=found[1].url)


@rule("page-canonical-relative", Severity.WARNING, CANONICAL, Needs.REPLY)
def page_canonical_relative(facts: ReplyFacts) -> Iterator[Message]:
    """The canonical of a listed page is not an absolute URL.

    Why: it works, until the page is served by a test host, over http, or under another path: then it names that.
    Bad: `<link rel="canonical" href="/shoes">`
    Good: `<link rel="canonical" href="https://example.com/shoes">`
    """
    page = _page(facts)
    if page is None or len(_different(page)) != 1 or other_canonical(facts) is not None:
        return
    for one in _counting(page):
        if form_of(one.href) in (Form.RELATIVE, Form.PROTOCOL_RELATIVE):
            yield Message(f"the canonical {shown(one.href)} is not absolute", value=one.href)
            return


def _page(facts: ReplyFacts) -> PageFacts | None:
    """The listed page; None also where its canonical is beyond doubt: one, absolute, and letter by letter its URL."""
    page = own_page(facts)
    if page is None or len(page.canonicals) != 1:
        return page
    [one] = page.canonicals
    return None if one.href == one.url == facts.record.loc and one.place is not Place.BODY else page


def other_canonical(facts: ReplyFacts) -> Canonical | None:
    """The canonical of the listed page where it is another URL; None where the page does not say for sure."""
    page = _page(facts)
    found = _different(page) if page is not None else []
    if page is None or len(found) != 1:
        return None
    key = _key(found[0].url or "")
    return None if key in (_key(page.url), _key(facts.record.loc)) else found[0]


def _counting(page: PageFacts) -> list[Canonical]:
    return [one for one in page.canonicals if one.url and one.place is not Place.BODY]


def _different(page: PageFacts) -> list[Canonical]:
    """The canonicals that count, one of each URL."""
    return list({_key(one.url or ""): one for one in reversed(_counting(page))}.values())[::-1]


def _key(url: str) -> str:
    """Equal for spellings that search engines take for the same: escapes of any character do not make another page."""
    return unquote(page_key(url), errors="surrogateescape")


def _rough(url: str) -> str:
    place, slash, rest = _key(url).partition("://")[2].lower().partition("/")
    return place.removeprefix("www.") + (slash + rest).rstrip("/?")


def _trouble(facts: ReplyFacts) -> str | None:
    return trouble(facts.canonical) if facts.canonical is not None else None


def _told(canonical: Canonical) -> str:
    where = " (Link header)" if canonical.place is Place.HEADER else ""
    written = f" (written {shown(canonical.href)})" if form_of(canonical.href) is not Form.ABSOLUTE else ""
    return f"{shown(canonical.url)}{written}{where}"
