"""Rules on listed pages as HTML: noindex, refresh, language and canonical URL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sitemapcrawler import urls
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.replies import ReplyKind
from sitemapcrawler.replies.indexability import Indexability, canonical_key, rough_key
from sitemapcrawler.replies.kinds import Reason
from sitemapcrawler.replies.page import PAGE_LIMIT, Canonical, Denial, PageFacts, Place
from sitemapcrawler.robots.agents import SEARCH, agent
from sitemapcrawler.rules.facts.given import ReplyFacts
from sitemapcrawler.rules.facts.languages import DEFAULT, WITHDRAWN, is_language, page_key, read_code
from sitemapcrawler.rules.facts.replied import own_page, trouble
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, rule
from sitemapcrawler.urls.display import counted, quoted
from sitemapcrawler.urls.grammar import Form, form_of

NOINDEX = "https://developers.google.com/search/docs/crawling-indexing/block-indexing"
ROBOTS_META = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
REFRESH = "https://developers.google.com/search/docs/crawling-indexing/301-redirects#metarefresh"
LANGUAGES = "https://www.w3.org/International/questions/qa-html-language-declarations"
JAVASCRIPT = "https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics"
DENIED = {"Sitebulb": "Noindex URL in XML Sitemaps", "Screaming Frog": "Non-Indexable URLs in Sitemap"}
SEARCH_NAMES = frozenset(("msnbot", "slurp", "teoma", "yandex", "naverbot"))
"""Names of search engines in `<meta name>` that robots.txt does not use."""
NEWS = "googlebot-news"
GOOGLEBOT = "https://developers.google.com/search/docs/crawling-indexing/googlebot"
LINKS = "https://developers.google.com/search/docs/crawling-indexing/links-crawlable"
HREFLANG = "https://developers.google.com/search/docs/specialty/international/localized-versions"
FILIPINO = "fil"
ALIKE = {"nb": "no", "nn": "no", "tl": FILIPINO} | WITHDRAWN
"""Languages whose codes are commonly interchanged, without harm."""
MAX_CODES = 5
"""Codes that a message names."""
_Versions = dict[str, dict[str, str]]
"""{code in lower case: {compared form of a URL: the URL}}"""


@rule("page-noindex-meta", ERROR, NOINDEX, Of.REPLY, also=DENIED)
def page_noindex_meta(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page has a noindex `<meta>` element. It tells all search engines not to index the page.

    Why: The sitemap asks to index the page, the page forbids it, and the page wins.
    Fix: Remove the `noindex` element from pages to be indexed, and the other pages from the sitemap.
    Bad: `<meta name="robots" content="noindex">`
    Good: no such element, or no entry
    """
    denials = _for_all(facts)
    metas = [denial for denial in denials if denial.place is not Place.HEADER]
    if metas:
        too = ", and so does the X-Robots-Tag header" if len(metas) < len(denials) else ""
        yield _denial_message(metas[0], f"the page has a robots meta element {quoted(metas[0].written)}{too}")


@rule("page-noindex-header", ERROR, NOINDEX, Of.REPLY, also=DENIED)
def page_noindex_header(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page has a noindex X-Robots-Tag header. It tells all search engines not to index the page; no `<meta>`
    element does.

    Why: The sitemap asks to index the page, the header forbids it, and the header wins. The HTML does not show it.
    Fix: Remove the `X-Robots-Tag` header from pages to be indexed, and the other pages from the sitemap.
    Bad: `X-Robots-Tag: noindex`, left over from a test server
    Good: no such header, or no entry
    """
    denials = _for_all(facts)
    if denials and all(denial.place is Place.HEADER for denial in denials):
        yield _denial_message(denials[0], f"the response has the header X-Robots-Tag {quoted(denials[0].written)}")


@rule("page-noindex-for-googlebot-only", WARNING, ROBOTS_META, Of.REPLY, also=DENIED)
def page_noindex_for_googlebot_only(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page is noindex for some crawlers. It names search engines such as googlebot. A note if it names only AI
    or image crawlers, or news crawlers on an entry without an article.

    Why: The sitemap is for all search engines. It may be intended; often it is left over from a relaunch.
    Fix: Remove the element that names the crawler, or remove the pages from the sitemap.
    Bad: `<meta name="googlebot" content="noindex">`
    Good: a page that all search engines may index, or an unlisted one
    """
    denials = _denials(facts)
    if not denials or any(not denial.agent for denial in denials):
        return
    names = list(dict.fromkeys(denial.agent for denial in denials))
    search = any(_is_search(name) or (name == NEWS and facts.record.news is not None) for name in names)
    text = f"noindex for {', '.join(names[:MAX_CODES])}{', ...' if len(names) > MAX_CODES else ''} alone"
    yield Message(text, value=denials[0].written, severity=None if search else INFO)


@rule("page-meta-refresh", WARNING, REFRESH, Of.REPLY)
def page_meta_refresh(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page redirects by a meta refresh. Or by a Refresh header.

    Why: Google treats it as a redirect, and an immediate one as permanent: the target is indexed instead. Other search
    engines may index the page that redirects.
    Fix: Remove these URLs, and list their targets unless they are listed already; redirect by status 301.
    Bad: `<meta http-equiv="refresh" content="0; url=https://example.com/new">`
    Good: a redirect by status 301, and `https://example.com/new` in the sitemap
    """
    page = own_page(facts)
    if page is None or page.refresh is None or page.refresh.url is None:
        return
    delay, url = page.refresh.delay, page.refresh.url
    if page_key(url) not in (page_key(page.url), page_key(facts.record.loc)):
        when = f"after {counted(delay, 'second')}" if delay else "immediately"
        yield Message(f"the page redirects visitors to {quoted(url)} {when}", value=url)


@rule(
    "page-lang-vs-hreflang",
    INFO,
    LANGUAGES,
    Of.REPLY,
    per=Per.FILE("have pages in another language than their hreflang"),
)
def page_lang_vs_hreflang(facts: ReplyFacts) -> Iterator[Message]:
    """The page's language differs from its hreflang. Its `<html lang>` is another language than the hreflang that the
    entry gives the page.

    Why: One of the two is wrong. Google uses the text of the page; Bing, browsers and screen readers use `lang`.
    Fix: Correct the page's `<html lang>`, or the code in the sitemap.
    Bad: `<html lang="en">` in a page that the sitemap lists with `hreflang="de"`
    Good: `<html lang="de">`
    """
    page = own_page(facts)
    written = page.lang if page is not None and facts.record.alternates else None
    language = _language(written or "")
    codes = _own_codes(facts.record) if language else []
    if codes and {language, None}.isdisjoint(map(_language, codes)):
        text = f"the page has lang={quoted(written)}, its own hreflang is {', '.join(codes[:MAX_CODES])}"
        yield Message(text, value=written)


@rule(
    "page-hreflang-contradicts",
    WARNING,
    HREFLANG,
    Of.REPLY,
    per=Per.FILE("have other language versions on the page than in the sitemap"),
)
def page_hreflang_contradicts(facts: ReplyFacts) -> Iterator[Message]:
    """The page names another language version than the sitemap. Its `<link rel="alternate">` elements or `Link` headers
    have another URL for the same code.

    Why: Search engines treat both as equal, and may ignore versions that contradict each other.
    Fix: Name the same URL in both, or keep language versions in one place.
    Bad: `hreflang="de"` with `/de/` in the sitemap, and with `/german/` on the page
    Good: `/de/` in both
    """
    listed, named = _versions(facts)
    for code in listed:  # in their order: that of a set differs between two runs
        if code in named and listed[code].keys().isdisjoint(named[code]):
            here, there = (next(iter(versions[code].values())) for versions in (listed, named))
            text = f"hreflang {quoted(code)} is {quoted(there)} on the page, {quoted(here)} in the sitemap"
            yield Message(text, value=there)
            return


@rule(
    "page-hreflang-incomplete",
    INFO,
    HREFLANG,
    Of.REPLY,
    per=Per.FILE("have language versions that only the page or only the sitemap names"),
)
def page_hreflang_incomplete(facts: ReplyFacts) -> Iterator[Message]:
    """The page and the sitemap name versions in different languages. Pages that name none are not reported.

    Why: One of the two was not updated when a language was added or removed.
    Fix: Name the same versions in both, or keep them in one place.
    Bad: `en`, `de` and `fr` in the sitemap, `en` and `de` on the page
    Good: the three in both
    """
    listed, named = _versions(facts)
    found = [
        f"{', '.join(sorted(map(quoted, codes))[:MAX_CODES])} {where}"
        for codes, where in (
            (listed.keys() - named.keys(), "only in the sitemap"),
            (named.keys() - listed.keys(), "only on the page"),
        )
        if codes
    ]
    if listed and named and found:
        yield Message(f"hreflang {' and '.join(found)}")


def _versions(facts: ReplyFacts) -> tuple[_Versions, _Versions]:
    """Language versions in the sitemap and on the page; none on a page that was not read to the end of its head."""
    page = own_page(facts)
    if page is None or not page.complete or not facts.record.alternates:
        return {}, {}
    listed = ((alternate.hreflang, alternate.href) for alternate in facts.record.alternates)
    return _by_code(listed), _by_code(page.alternates)


def _by_code(versions: Iterable[tuple[str | None, str | None]]) -> _Versions:
    found: _Versions = {}
    for code, url in versions:
        if code and url:
            found.setdefault(code.strip().lower().replace("_", "-"), {}).setdefault(page_key(url), url)
    return found


@rule("page-too-long", INFO, GOOGLEBOT, Of.REPLY, per=Per.FILE("are longer than Googlebot reads"))
def page_too_long(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page is longer than Googlebot reads. Its HTML has 2 MB or more, uncompressed.

    Why: Googlebot reads the first 2 MB of a page, and ignores text, links and structured data after them.
    Fix: Move inline scripts, styles and data to separate files, and put the content before the rest.
    Bad: 3 MB of JSON in a `<script>` before the text
    Good: HTML of some hundred kilobytes
    """
    page = own_page(facts)
    if page is not None and page.is_long:
        yield Message(f"the HTML has {PAGE_LIMIT // 2**20} MB or more; Googlebot reads only the first 2 MB")


@rule("page-links-uncrawlable", INFO, LINKS, Of.REPLY, per=Per.FILE("have links that crawlers cannot follow"))
def page_links_uncrawlable(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page has links that crawlers cannot follow. They are `<a>` elements with a `javascript:` URL, or without
    `href` and with a click handler.

    Why: Search engines follow `<a>` elements whose `href` is a web address. They do not find pages that only a script
    opens.
    Fix: Give these links an `href` with the URL of the page, or make them buttons.
    Bad: `<a onclick="open('/prices')">Prices</a>`, `<a href="javascript:go(3)">Next</a>`
    Good: `<a href="/prices">Prices</a>`
    """
    page = own_page(facts)
    if page is not None and page.uncrawlable is not None:
        found = page.uncrawlable
        such_as = f", such as {quoted(found.example)}" if found.number > 1 else f": {quoted(found.example)}"
        yield Message(f"{counted(found.number, 'link')} that crawlers cannot follow{such_as}", value=found.example)


@rule("page-shell", WARNING, JAVASCRIPT, Of.REPLY, per=Per.SITE("have the same HTML as a made-up URL"))
def page_shell(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page has the same HTML as a made-up URL. The HTML therefore does not show whether the page exists, or can
    be indexed. The argument `render` runs the scripts of some pages.

    Why: Scripts render the page, or a login, consent or bot wall hides it. Not all search engines render pages, and
    those that do render them later. If rendering fails, they index nothing.
    Fix: Render the title, canonical and text of each page on the server, and answer 404 for unknown URLs.
    Bad: `<title>App</title>` and `<div id="root"></div>` for each path, with status 200
    Good: HTML with the page's own title and text, and status 404 for a path that does not exist
    """
    if facts.reply.kind == ReplyKind.OK and facts.reply.shell:
        canonical = facts.page.canonical if facts.page is not None else None
        named = f", with the canonical {quoted(canonical)}" if canonical else ""
        yield Message(f"the HTML is the same as for a path that does not exist{named}")


def _denials(facts: ReplyFacts) -> Sequence[Denial]:
    page = own_page(facts)
    return page.denials if page else ()


def _for_all(facts: ReplyFacts) -> Sequence[Denial]:
    return [denial for denial in _denials(facts) if not denial.agent]


def _denial_message(denial: Denial, told: str) -> Message:
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
    """Normalised language of a code; None if it is ambiguous, since three letters may mean the same as two."""
    language = code.strip().replace("_", "-").partition("-")[0].lower()
    language = ALIKE.get(language, language)
    return language if language == FILIPINO or (len(language) == 2 and is_language(language)) else None


CANONICAL = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
CANONICALISED = {"Sitebulb": "Canonicalized URL in XML Sitemaps", "Screaming Frog": "Non-Indexable URLs in Sitemap"}
MAX_NAMED = 3
"""Canonicals that a message names."""
UNFIT = {
    Indexability.BLOCKED: "is blocked by robots.txt",
    Indexability.SOFT_404: "is an error page with a success status",
    Indexability.NOINDEX: "has noindex",
    Indexability.REDIRECT: "redirects by a refresh",
    Indexability.CANONICALISED: "names another canonical itself",
}
"""What keeps a canonical that answers 200 out of the index, as a phrase that follows its URL."""
UNVERIFIED = {
    Reason.OFF_SITE: ", on another site, which was not requested",
    Reason.BLOCKED: ", which robots.txt does not allow this crawl to request",
}


@rule("page-canonical-other", ERROR, CANONICAL, Of.REPLY, also=CANONICALISED)
def page_canonical_other(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page is canonicalised to another URL. A warning if the two differ only in scheme, `www`, case or a
    trailing slash.

    URLs that differ only in escapes, fragment or default port are equal.

    Why: A sitemap should list canonical URLs. Search engines mostly follow the page, and do not index the listed URL.
    Fix: Remove these URLs, and list their canonicals unless they are listed already; or correct the canonicals.
    Bad: `https://example.com/shoes?sort=price` in the sitemap, with the canonical `https://example.com/shoes`
    Good: `https://example.com/shoes` in the sitemap
    """
    other = other_canonical(facts)
    if other is None or _canonical_trouble(facts) or _unfit(facts) or _version_of(facts, other):
        return
    named = f"{_canonical_text(other)}{_unverified(facts)}"
    if rough_key(other.url or "") == rough_key(facts.record.loc):
        text = f"the page names a variant of its URL as canonical: {named}"
        yield Message(text, value=other.url, severity=WARNING)
    else:
        yield Message(f"the page names another URL as canonical: {named}", value=other.url)


@rule("page-canonical-other-language", ERROR, HREFLANG, Of.REPLY, also=CANONICALISED)
def page_canonical_other_language(facts: ReplyFacts) -> Iterator[Message]:
    """Canonical of a listed page is in another language. The entry lists both as language versions.

    Why: Search engines index the other language alone, and ignore the language versions of this page. Versions in
    different languages are no duplicates.
    Fix: Let each language version name itself as canonical.
    Bad: `https://example.com/fr/` with the canonical `https://example.com/de/`
    Good: `https://example.com/fr/` with the canonical `https://example.com/fr/`
    """
    other = other_canonical(facts)
    if other is None or _canonical_trouble(facts) or _unfit(facts):
        return
    if code := _version_of(facts, other):
        yield Message(f"the page names its version for {code} as canonical: {_canonical_text(other)}", value=other.url)


@rule(
    "page-canonical-to-non-200",
    ERROR,
    CANONICAL,
    Of.REPLY,
    per=Per.FILE("have pages with a canonical that does not answer 200", by_value=True),
)
def page_canonical_to_non_200(facts: ReplyFacts) -> Iterator[Message]:
    """Canonical of a listed page does not answer 200.

    Why: Search engines may index neither of the two, or the wrong one.
    Fix: Point the canonical to a URL that answers 200 and is its own canonical.
    Bad: a canonical that answers 404, or redirects back to the page
    Good: a canonical that answers 200 and names itself
    """
    other, wrong = other_canonical(facts), _canonical_trouble(facts)
    if other is not None and wrong:
        yield Message(f"the page's canonical {_canonical_text(other)} {wrong}", value=other.url)


@rule(
    "page-canonical-not-indexable",
    ERROR,
    CANONICAL,
    Of.REPLY,
    per=Per.FILE("have pages with a canonical that cannot be indexed", by_value=True),
    also={"Screaming Frog": "Non-Indexable Canonical"},
)
def page_canonical_not_indexable(facts: ReplyFacts) -> Iterator[Message]:
    """Canonical of a listed page answers, but cannot be indexed.

    Why: Search engines drop this page in favour of one that they cannot index, so people may find neither.
    Fix: Point the canonical to a page that can be indexed, or make its present target indexable.
    Bad: a canonical with noindex, blocked by robots.txt, or with another canonical of its own
    Good: a canonical that can be indexed and names itself
    """
    other, unfit = other_canonical(facts), _unfit(facts)
    if other is not None and unfit and not _canonical_trouble(facts):
        yield Message(f"the page's canonical {_canonical_text(other)} {unfit}", value=other.url)


@rule("page-canonical-missing", INFO, CANONICAL, Of.REPLY, per=Per.FILE("have pages without a canonical"))
def page_canonical_missing(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page has no valid canonical.

    Why: It is optional, but keeps variants of the URL, such as those with tracking parameters, out of the index. A
    canonical after the end of the head does not count.
    Fix: Add `<link rel="canonical">` with the page's own URL to its head.
    Bad: a page without `<link rel="canonical">`
    Good: `<link rel="canonical" href="https://example.com/shoes">` in the head of that page
    """
    page = _doubtful_page(facts)
    if page is None or not page.complete or page.encoding is None or page.noindex or _counting(page):
        return
    behind = next((one for one in page.canonicals if one.place is Place.BODY), None)
    if behind is not None:
        by = f", which {'text' if page.broken_by == 'text' else f'<{page.broken_by}>'} ended" if page.broken_by else ""
        yield Message(f"the canonical {quoted(behind.href)} is after the end of the head{by}", value=behind.href)
    elif page.canonicals:
        href = page.canonicals[0].href
        yield Message(f"the canonical {quoted(href)} is not an http or https URL", value=href)
    else:
        yield Message("the page names no canonical")


@rule("page-canonical-multiple", WARNING, CANONICAL, Of.REPLY)
def page_canonical_multiple(facts: ReplyFacts) -> Iterator[Message]:
    """Listed page has several canonicals. Its head and Link headers name different ones.

    Why: Search engines ignore all of them, or choose the wrong one. Repeating the same one does no harm.
    Fix: Keep one canonical per page; turn off the plugin or header that adds another.
    Bad: one `<link rel="canonical">` of the template and another one of a plugin
    Good: one
    """
    page = _doubtful_page(facts)
    found = _different(page) if page is not None else []
    if len(found) > 1:
        told = ", ".join(map(_canonical_text, found[:MAX_NAMED])) + (", ..." if len(found) > MAX_NAMED else "")
        yield Message(f"{len(found)} canonicals: {told}", value=found[1].url)


@rule("page-canonical-relative", WARNING, CANONICAL, Of.REPLY, per=Per.FILE("have pages with a relative canonical"))
def page_canonical_relative(facts: ReplyFacts) -> Iterator[Message]:
    """Canonical of a listed page is not absolute.

    Why: It works until the page is also served from a test host, over http or under another path. Then that URL becomes
    the canonical.
    Fix: Write the full URL with scheme and host into the canonical.
    Bad: `<link rel="canonical" href="/shoes">`
    Good: `<link rel="canonical" href="https://example.com/shoes">`
    """
    page = _doubtful_page(facts)
    if page is None or len(_different(page)) != 1 or other_canonical(facts) is not None:
        return
    for one in _counting(page):
        if form_of(one.href) in (Form.RELATIVE, Form.PROTOCOL_RELATIVE):
            yield Message(f"the canonical {quoted(one.href)} is not absolute", value=one.href)
            return


def _doubtful_page(facts: ReplyFacts) -> PageFacts | None:
    """The listed page, unless its canonical is beyond doubt: exactly one, absolute and identical to the URL."""
    page = own_page(facts)
    if page is None or len(page.canonicals) != 1:
        return page
    [one] = page.canonicals
    return None if one.href == one.url == facts.record.loc and one.place is not Place.BODY else page


def other_canonical(facts: ReplyFacts) -> Canonical | None:
    """The canonical of the listed page if it is another URL; None if the page is not clear about it, or is left for
    another one at once."""
    page = _doubtful_page(facts)
    found = _different(page) if page is not None and page.moved_to is None else []
    if page is None or len(found) != 1:
        return None
    key = canonical_key(found[0].url or "")
    return None if key in (canonical_key(page.url), canonical_key(facts.record.loc)) else found[0]


def _version_of(facts: ReplyFacts, canonical: Canonical) -> str | None:
    """The code of a canonical that the entry lists as its version in another language."""
    codes: dict[str, list[str]] = {}
    for one in facts.record.alternates:
        url, code = urls.resolve(facts.record.sitemap, one.href or ""), one.hreflang or ""
        if url is not None and _language(code) is not None:
            codes.setdefault(canonical_key(url), []).append(code)
    own, theirs = (codes.get(canonical_key(url), []) for url in (facts.record.loc, canonical.url or ""))
    are_apart = own and theirs and {*map(_language, own)}.isdisjoint(map(_language, theirs))
    return theirs[0] if are_apart else None


def _counting(page: PageFacts) -> list[Canonical]:
    return [one for one in page.canonicals if one.url and one.place is not Place.BODY]


def _different(page: PageFacts) -> list[Canonical]:
    """The canonicals that count, without duplicates."""
    return list({canonical_key(one.url or ""): one for one in reversed(_counting(page))}.values())[::-1]


def _canonical_trouble(facts: ReplyFacts) -> str | None:
    return trouble(facts.canonical) if facts.canonical is not None else None


def _unfit(facts: ReplyFacts) -> str | None:
    target = facts.record.target
    return None if target is None else UNFIT.get(Indexability(target.indexability or Indexability.NOT_CHECKED))


def _unverified(facts: ReplyFacts) -> str:
    target = facts.record.target
    return "" if target is None or target.reason is None else UNVERIFIED.get(Reason(target.reason), "")


def _canonical_text(canonical: Canonical) -> str:
    where = " (Link header)" if canonical.place is Place.HEADER else ""
    written = f" (written {quoted(canonical.href)})" if form_of(canonical.href) is not Form.ABSOLUTE else ""
    return f"{quoted(canonical.url)}{written}{where}"
