"""Rules on what a listed page says of itself: whether it may be indexed, where it sends visitors, its language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from sitemapcrawler import urls
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.page import Denial, Place
from sitemapcrawler.quoting import shown
from sitemapcrawler.reader.dates import parse
from sitemapcrawler.robots.agents import SEARCH, agent
from sitemapcrawler.rules.cluster import page_key
from sitemapcrawler.rules.facts import ReplyFacts
from sitemapcrawler.rules.languages import DEFAULT, WITHDRAWN, is_language, read_code
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.replied import own_page

NOINDEX = "https://developers.google.com/search/docs/crawling-indexing/block-indexing"
ROBOTS_META = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
REFRESH = "https://developers.google.com/search/docs/crawling-indexing/301-redirects#metarefresh"
LANGUAGES = "https://www.w3.org/International/questions/qa-html-language-declarations"
DENIED = {"Sitebulb": "Noindex URL in XML Sitemaps", "Screaming Frog": "Non-Indexable URLs in Sitemap"}
SEARCH_NAMES = frozenset(("msnbot", "slurp", "teoma", "yandex", "naverbot"))
"""Names of search engines in `<meta name>` that robots.txt does not have."""
NEWS = "googlebot-news"
FILIPINO = "fil"
ALIKE = {"nb": "no", "nn": "no", "tl": FILIPINO} | WITHDRAWN
"""Languages that are written for another one, without harm."""
MAX_CODES = 5
"""Codes that a message names."""


@rule("page-noindex-meta", Severity.ERROR, NOINDEX, Needs.REPLY, also=DENIED)
def page_noindex_meta(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page tells all search engines not to index it, by a robots `<meta>` element.

    Why: the sitemap asks to index the page, the page forbids it, and the page wins.
    Bad: `<meta name="robots" content="noindex">`
    Good: no such element, or no entry
    """
    denials = _for_all(facts)
    metas = [denial for denial in denials if denial.place is not Place.HEADER]
    if metas:
        too = ", and so does the X-Robots-Tag header" if len(metas) < len(denials) else ""
        yield _denied(metas[0], f"the page has a robots meta element {shown(metas[0].written)}{too}")


@rule("page-noindex-header", Severity.ERROR, NOINDEX, Needs.REPLY, also=DENIED)
def page_noindex_header(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page tells all search engines not to index it, by an X-Robots-Tag header, and by no element besides.

    Why: the sitemap asks to index the page, the header forbids it, and the header wins. It is not seen in the page.
    Bad: `X-Robots-Tag: noindex`, left over from a test server
    Good: no such header, or no entry
    """
    denials = _for_all(facts)
    if denials and all(denial.place is Place.HEADER for denial in denials):
        yield _denied(denials[0], f"the answer has the header X-Robots-Tag {shown(denials[0].written)}")


@rule("page-noindex-for-googlebot-only", Severity.WARNING, ROBOTS_META, Needs.REPLY, also=DENIED)
def page_noindex_for_googlebot_only(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page tells some search engines by name not to index it, such as googlebot. For information where it is
    none of them that are told so, but crawlers of AI, of images, or (the entry being no article) of news.

    Why: the sitemap is for all of them. It may be meant; often it is left over from a move.
    Bad: `<meta name="googlebot" content="noindex">`
    Good: the page is for all search engines, or for none and not listed
    """
    denials = _that_hold(facts)
    if not denials or any(not denial.agent for denial in denials):
        return
    names = list(dict.fromkeys(denial.agent for denial in denials))
    search = any(_is_search(name) or (name == NEWS and facts.record.news is not None) for name in names)
    text = f"noindex for {', '.join(names[:MAX_CODES])}{', ...' if len(names) > MAX_CODES else ''} alone"
    yield Message(text, value=denials[0].written, severity=None if search else Severity.INFO)


@rule("page-meta-refresh", Severity.WARNING, REFRESH, Needs.REPLY)
def page_meta_refresh(facts: ReplyFacts) -> Iterator[Message]:
    """A listed page sends its visitors to another one by a meta refresh, or by a Refresh header.

    Why: Google takes it for a redirect, a permanent one where the visitor does not wait. Then the other page is the one
    to list. Other search engines may index the page in between.
    Bad: `<meta http-equiv="refresh" content="0; url=https://example.com/new">`
    Good: a redirect by status 301, and `https://example.com/new` in the sitemap
    """
    page = own_page(facts)
    if page is None or page.refresh is None or page.refresh.url is None:
        return
    delay, url = page.refresh.delay, page.refresh.url
    if page_key(url) not in (page_key(page.url), page_key(facts.record.loc)):
        yield Message(f"the page sends its visitors to {shown(url)} after {delay} seconds", value=url)


@rule("page-lang-vs-hreflang", Severity.INFO, LANGUAGES, Needs.REPLY)
def page_lang_vs_hreflang(facts: ReplyFacts) -> Iterator[Message]:
    """The page's `<html lang>` is another language than the entry's hreflang for the page itself.

    Why: one of the two is wrong. Google goes by the text of the page; Bing, browsers and screen readers go by `lang`.
    Bad: `<html lang="en">` in a page that the sitemap lists with `hreflang="de"`
    Good: `<html lang="de">`
    """
    page = own_page(facts)
    written = page.lang if page is not None and facts.record.alternates else None
    language = _language(written or "")
    codes = _own_codes(facts.record) if language else []
    if codes and {language, None}.isdisjoint(map(_language, codes)):
        text = f"the page has lang={shown(written)}, its own hreflang is {', '.join(codes[:MAX_CODES])}"
        yield Message(text, value=written)


def _that_hold(facts: ReplyFacts) -> Sequence[Denial]:
    """The denials that hold when the page was asked."""
    page = own_page(facts)
    return [one for one in page.denials if one.until is None or _is_past(one.until, facts.asked_at)] if page else []


def _for_all(facts: ReplyFacts) -> Sequence[Denial]:
    return [denial for denial in _that_hold(facts) if not denial.agent]


def _is_past(until: str, now: datetime) -> bool:
    moment = parse(until)
    return moment is not None and moment < now


def _denied(denial: Denial, told: str) -> Message:
    past = "" if denial.until is None else ", a date that has passed"
    return Message(f"{told}{past}", value=denial.written)


def _is_search(name: str) -> bool:
    try:
        return name in SEARCH_NAMES or agent(name).group == SEARCH
    except ValueError:
        return False


def _own_codes(record: UrlRecord) -> list[str]:
    """Codes under which an entry lists its own page."""
    own, found = page_key(record.loc), []
    for alternate in record.alternates:
        code = read_code(alternate.hreflang or "").canonical
        url = urls.resolve(record.sitemap, alternate.href or "")
        if code is not None and code != DEFAULT and url is not None and page_key(url) == own:
            found.append(code)
    return found


def _language(code: str) -> str | None:
    """The language of a code, one for all that are alike; None where none can be told: three letters may mean the same
    as two."""
    language = code.strip().replace("_", "-").partition("-")[0].lower()
    language = ALIKE.get(language, language)
    return language if language == FILIPINO or (len(language) == 2 and is_language(language)) else None
