"""Collects the facts that a page states in its head and response headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler import urls
from sitemapcrawler.replies.indexability import names_other
from sitemapcrawler.replies.page.anchors import (
    PageLinks,
    UncrawlableLinks,
    forbids_following,
    links_of,
    sitemap_files,
    uncrawlable_links,
)
from sitemapcrawler.replies.page.body import Html, PageReader, is_html, joined
from sitemapcrawler.replies.page.content import Content, content_of
from sitemapcrawler.replies.page.metadata import (
    EVERYBODY,
    META_AGENTS,
    META_DATES,
    MODIFIED,
    Canonical,
    Denial,
    PageDate,
    Place,
    denials,
    element_canonical,
    header_alternates,
    header_canonicals,
    json_ld_dates,
    meta_dates,
)
from sitemapcrawler.replies.page.preferences import META_NAMES as USAGE_NAMES
from sitemapcrawler.replies.page.preferences import PageUsage, page_usage
from sitemapcrawler.replies.page.shown_text import Shown, heading, joined_text, shown
from sitemapcrawler.replies.page.tree import BLANK, HEAD_END, attributes, base_of, is_data, parsed
from sitemapcrawler.robots.text import PERCENT

Headers = Mapping[str, Sequence[str]]
"""Lower-case header name -> its values, in order of arrival."""
WITH_URLS = frozenset(("location", "link", "refresh", "content-location"))


def plain_headers(pairs: Iterable[tuple[bytes, Iterable[bytes]]]) -> dict[str, list[str]]:
    """Decode header names and values from the network.

    Values are UTF-8. Otherwise they are Latin-1 (RFC 9110, 5.5), or in URLs their bytes become %XX, as in a request.
    """
    plain: dict[str, list[str]] = {}
    for name, values in pairs:
        key = name.decode("latin-1").lower()
        plain.setdefault(key, []).extend(_text(value, key in WITH_URLS) for value in values)
    return plain


def _text(value: bytes, is_url: bool) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("utf-8", PERCENT) if is_url else value.decode("latin-1")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts that one page states about itself."""

    url: str
    """URL of the page, after redirects."""
    complete: bool = False
    """True if the whole head was read, or if the Content-Type is that of another format. Only then is an absent value
    really missing."""
    encoding: str | None = None
    """Python's name of the encoding; None if the page is not HTML."""
    title: str | None = None
    lang: str | None = None
    """`lang` of the `<html>` element, as written."""
    denials: tuple[Denial, ...] = ()
    canonicals: tuple[Canonical, ...] = ()
    refresh: Refresh | None = None
    dates: tuple[PageDate, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    """Code and absolute URL of each `<link rel=alternate hreflang>` in the head, and in the `Link` headers."""
    sitemaps: tuple[str, ...] = ()
    """Absolute URL of each `<link rel=sitemap>` in the head."""
    files: tuple[str, ...] = ()
    """Of a home page: absolute URLs of its links to files that may be sitemaps, by their names."""
    broken_by: str | None = None
    """What ended the head before a canonical: an element name, or `text`. None if no canonical comes after it, or if
    the page has `</head>` or `<body>` before it."""
    links: PageLinks | None = None
    """Its links; None if they were not wanted, or if it is not HTML."""
    uncrawlable: UncrawlableLinks | None = None
    """Its links that crawlers cannot follow; None if it has none."""
    is_long: bool = False
    """True if it is longer than `body.PAGE_LIMIT`."""
    shown: Shown | None = None
    """What it shows; None if nothing of it was read, or once it has been judged."""
    about: str = ""
    """What its head says about the content: description, Open Graph, JSON-LD, at most `MAX_ABOUT` characters."""
    h1: str | None = None
    """Text of the first main heading; None if there is none."""
    content: Content | None = None
    """Its main content; None if it was not read to its end, or if it is not HTML."""
    usage: PageUsage | None = None
    """What it states on the use of its content; None for nothing."""

    @property
    def noindex(self) -> bool:
        """True if no crawler may index the page."""
        return any(not denial.agent for denial in self.denials)

    @property
    def noindex_agents(self) -> tuple[str, ...]:
        """Crawlers denied by name, in lower case, without duplicates."""
        return tuple(dict.fromkeys(denial.agent for denial in self.denials if denial.agent))

    @property
    def modified(self) -> str | None:
        """First valid modification date that the page states, as written."""
        return next((date.written for date in self.dates if date.kind == MODIFIED and date.moment), None)

    @property
    def canonical(self) -> str | None:
        """First canonical that counts, absolute: from the head, else from the headers."""
        known = [canonical for canonical in self.canonicals if canonical.url and canonical.place is not Place.BODY]
        known.sort(key=lambda canonical: canonical.place is Place.HEADER)
        return known[0].url if known else None

    @property
    def moved_to(self) -> str | None:
        """URL of another page to which a refresh leads at once, which Google takes for a permanent redirect. None
        behind a delay.
        Source: https://developers.google.com/search/docs/crawling-indexing/301-redirects#metarefresh"""
        if self.refresh is None or self.refresh.delay or not names_other(self.refresh.url, self.url):
            return None
        return self.refresh.url

    @property
    def successor(self) -> str | None:
        """URL of another page that it names in its place: where a refresh leads at once, or else its canonical."""
        named = self.moved_to or self.canonical
        return named if names_other(named, self.url) else None


def read_page(body: bytes, headers: Headers, url: str, whole: bool = True) -> PageFacts:
    """Return the facts of a downloaded page. `whole`: False if the body was cut."""
    content_type = joined(headers.get("content-type", ()))
    if not is_html(content_type):
        return page_of(None, headers, url)
    reader = PageReader(content_type)
    reader.feed(body)
    return page_of(reader.close(whole), headers, url)


def page_of(html: Html | None, headers: Headers, url: str, with_links: bool = False) -> PageFacts:
    """Combine the facts from a page and its headers.

    `html`: from a `PageReader`; None for a page that is not HTML; `Html()` if no body was requested, as with HEAD, so
    that nothing counts as missing.
    """
    said = tuple(chain.from_iterable(denials(value, Place.HEADER) for value in headers.get("x-robots-tag", ())))
    linked = tuple(islice(header_canonicals(headers.get("link", ()), url), MAX_CANONICALS))
    versions = tuple(islice(header_alternates(headers.get("link", ()), url), MAX_ALTERNATES))
    moved = next(filter(None, (refresh(value, url) for value in headers.get("refresh", ()))), None)
    if html is None:
        return PageFacts(
            url, True, denials=said, canonicals=linked, refresh=moved, alternates=versions, usage=page_usage(headers)
        )
    tree = parsed(html.text)
    elements = Elements(tree, url)
    complete = html.is_html and (html.whole or elements.is_ended) and not elements.are_cut
    denied = forbids_following(headers.get("x-robots-tag", ()), prefixed=True)
    found = elements.canonicals()
    return PageFacts(
        url,
        complete,
        html.encoding,
        elements.title() if html.whole or elements.is_ended else None,
        elements.lang(),
        (*said, *elements.denials()),
        (*found, *linked),
        moved or elements.refresh(),
        tuple(elements.dates()),
        (*elements.alternates(), *versions),
        tuple(elements.sitemaps()),
        tuple(sitemap_files(tree, elements.base, url)) if _HOME.fullmatch(url) else (),
        _broken_by(tree, html.text) if any(canonical.place is Place.BODY for canonical in found) else None,
        links_of(tree, elements.base, html.encoding, denied, html.whole) if with_links else None,
        uncrawlable=uncrawlable_links(tree),
        is_long=html.is_long,
        about=elements.about(),
        h1=heading(tree),
        shown=shown(tree, html) if html.text or html.whole else None,
        content=content_of(tree) if html.whole and html.is_html else None,  # changes the tree, like `shown`
        usage=page_usage(headers, elements.metas),
    )


_HOME = re.compile(r"https?://[^/?#]+/?(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?", re.IGNORECASE)
"""A home page, or that of a language, such as `/de/` and `/de-at`."""


def _broken_by(tree: LexborHTMLParser, text: str) -> str | None:
    """Return what the body begins with, if neither `</head>` nor `<body>` stands before a canonical."""
    canonical = _CANONICAL.search(text)
    if tree.body is None or HEAD_END.search(text, 0, canonical.start() if canonical else len(text)):
        return None
    first = next(tree.body.iter(include_text=True), None)
    if first is None or first.tag in _OF_HEAD:  # a control character, which the tree has not
        return None
    return "text" if first.is_text_node else first.tag


_OF_HEAD = frozenset(("base", "link", "meta", "script", "style", "title"))
_CANONICAL = re.compile("canonical", re.IGNORECASE)

MAX_DELAY = 10**9  # seconds: more than a browser waits
_TIME = re.compile(rf"[{BLANK}]*+(?:([0-9]++)[0-9.]*+|\.[0-9.]*+)(?:(?=[{BLANK};,])[{BLANK}]*+[;,]?+[{BLANK}]*+|\Z)")
_URL = re.compile(rf"(?:url[{BLANK}]*+=[{BLANK}]*+)?+(?:'([^']*+)|\"([^\"]*+)|(.*+))", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refresh:
    """Redirect by a Refresh header or `<meta>`."""

    delay: int
    """Seconds."""
    url: str | None
    """Absolute target; None if it is the page itself, or not a web URL."""


def refresh(content: str, base: str) -> Refresh | None:
    """Parse a refresh; None if browsers ignore it. Its URL is resolved against `base`."""
    time = _TIME.match(content)
    if time is None:
        return None
    delay = min(int((time[1] or "0")[:10]), MAX_DELAY)
    found = _URL.match(content, time.end())
    reference = (found[1] or found[2] or found[3] or "").strip(BLANK) if found else ""
    return Refresh(delay, urls.resolve(base, reference))


MAX_TITLE = 500  # characters; search engines show some 60
MAX_ELEMENTS = 4_000
"""Elements of one kind read of one head; 100 languages with a link each need far fewer."""
MAX_CANONICALS = 20
MAX_ALTERNATES = 1_000
MAX_SITEMAPS = 20
MAX_DATES = 50
MAX_ABOUT = 4_000  # characters; a description has some 160, an article in JSON-LD some hundreds
_ABOUT = re.compile(r"description|(?:og|twitter|article|product):.*", re.IGNORECASE)
"""`<meta>` names of statements about the content."""
_NAMING = ("name", "property", "http-equiv", "itemprop")
_WANTED_NAMES = META_AGENTS | {EVERYBODY, "refresh"} | frozenset(META_DATES) | USAGE_NAMES


class Elements:
    """Metadata elements of one page: those of the head count. `url`: the page's URL."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        self._tree = tree
        self.base = base_of(tree, url)
        """URL that references are relative to."""
        metas, links = self._of_head("meta"), self._of_head("link[href]")
        self.are_cut = max(len(metas), len(links)) == MAX_ELEMENTS
        """True if the head has more elements than are read."""
        self.metas = list(filter(_is_wanted, metas))
        """Attributes of `<meta>` elements with a name of interest."""
        self._about = [meta.get("content", "") for meta in metas if _ABOUT.fullmatch(_name(meta))]
        self._links = [(link.get("rel", "").lower().split(), link) for link in links]
        self._data = [
            script.text() for script in _inside(tree.head, "script[type]") if is_data(attributes(script)["type"])
        ]

    def _of_head(self, selector: str) -> list[dict[str, str]]:
        return list(map(attributes, _inside(self._tree.head, selector)[:MAX_ELEMENTS]))

    @property
    def is_ended(self) -> bool:
        """True if something stands after the head."""
        return self._tree.body is None or self._tree.body.first_child is not None

    def title(self) -> str | None:
        """Return the text of the first title, with single blanks; also from the body, since browsers show it."""
        found = self._tree.css_first("title:not(svg title)")
        return None if found is None else joined_text(found)[:MAX_TITLE]

    def lang(self) -> str | None:
        """Return the document's language as written. XHTML may have only `xml:lang`."""
        root = self._tree.root
        known = attributes(root) if root is not None else {}
        return (known.get("lang") or known.get("xml:lang") or "").strip()[:100] or None

    def denials(self) -> Iterator[Denial]:
        """Yield what robots elements forbid, including those in the body: whether these count is undocumented, but
        they are intended."""
        for meta in self.metas:
            yield from _meta_denials(meta, Place.HEAD)
        for element in _inside(self._tree.body, "meta[name]")[:MAX_ELEMENTS]:
            yield from _meta_denials(attributes(element), Place.BODY)

    def canonicals(self) -> list[Canonical]:
        """Return the canonicals of link elements, those in the body last."""
        behind = map(attributes, _inside(self._tree.body, "link[rel][href]"))
        found = chain(
            (element_canonical(link, self.base, Place.HEAD) for _, link in self._links),
            (element_canonical(link, self.base, Place.BODY) for link in behind),
        )
        return list(islice(filter(None, found), MAX_CANONICALS))

    def refresh(self) -> Refresh | None:
        """Return the first meta refresh that browsers obey."""
        for meta in self.metas:
            found = refresh(meta.get("content", ""), self.base) if _is_refresh(meta) else None
            if found is not None:
                return found
        return None

    def dates(self) -> list[PageDate]:
        """Return the dates of `<meta>` elements, then of JSON-LD."""
        metas = chain.from_iterable(map(meta_dates, self.metas))
        return list(islice(chain(metas, chain.from_iterable(map(json_ld_dates, self._data))), MAX_DATES))

    def about(self) -> str:
        """Return what the head says about the content of the page."""
        return " ".join(chain(self._about, self._data))[:MAX_ABOUT]

    def sitemaps(self) -> list[str]:
        """Return the absolute URLs of sitemaps that the head links to."""
        found = (urls.resolve(self.base, link["href"]) for rel, link in self._links if "sitemap" in rel)
        return list(islice(dict.fromkeys(url for url in found if url), MAX_SITEMAPS))

    def alternates(self) -> list[tuple[str, str]]:
        """Return code and absolute URL of each language version."""
        coded = ((link.get("hreflang", "").strip(), link["href"]) for rel, link in self._links if "alternate" in rel)
        found = ((code, urls.resolve(self.base, href)) for code, href in coded if code)
        return list(islice(((code, url) for code, url in found if url), MAX_ALTERNATES))


def _inside(element: LexborNode | None, selector: str) -> list[LexborNode]:
    return element.css(selector) if element is not None else []


def _name(meta: dict[str, str]) -> str:
    return (meta.get("name") or meta.get("property") or "").strip()


def _is_wanted(meta: dict[str, str]) -> bool:
    for key in _NAMING:
        name = meta.get(key)
        if name and name.strip().lower() in _WANTED_NAMES:
            return True
    return False


def _is_refresh(meta: dict[str, str]) -> bool:
    return meta.get("http-equiv", "").strip().lower() == "refresh"


def _meta_denials(meta: dict[str, str], place: Place) -> Iterator[Denial]:
    name = meta.get("name", "").strip().lower()
    if name == EVERYBODY or name in META_AGENTS:
        yield from denials(meta.get("content", ""), place, "" if name == EVERYBODY else name)
