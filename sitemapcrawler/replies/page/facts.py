"""What a page says of itself, in its head and in the headers of its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import chain, islice

from sitemapcrawler import urls
from sitemapcrawler.replies.page.head import BLANK, SAMPLE, HeadReader, HtmlHead, Token, attributes, is_html
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
    header_canonicals,
    json_ld_dates,
    meta_dates,
)
from sitemapcrawler.robots.text import PERCENT

Headers = Mapping[str, Sequence[str]]
"""Header names in lower case -> their values, in the order in which they came."""
WITH_URLS = frozenset(("location", "link", "refresh", "content-location"))


def plain_headers(pairs: Iterable[tuple[bytes, Iterable[bytes]]]) -> dict[str, list[str]]:
    """`Headers` of what came over the network: names, each with its values.

    A value is UTF-8; where it is not, it is Latin-1 (RFC 9110, 5.5), or in a URL its bytes become %XX, which is what
    they are in a request.
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
    """What one page says of itself."""

    url: str
    """The URL that gave the page."""
    complete: bool = False
    """True where all of the head was read, or where there is none, since the page is no HTML: only then is missing what
    is not here."""
    encoding: str | None = None
    """Python's name of the encoding; None for a page that is no HTML."""
    title: str | None = None
    lang: str | None = None
    """`lang` of the `<html>` element, as written."""
    denials: tuple[Denial, ...] = ()
    canonicals: tuple[Canonical, ...] = ()
    refresh: Refresh | None = None
    dates: tuple[PageDate, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    """Code and absolute URL of the `<link rel=alternate hreflang>` elements in the head."""
    broken_by: str | None = None
    """What ended the head before its end: name of an element, or `text`."""
    sample: str = ""
    """Markup that follows the head, as far as it was read."""
    sampled: bool = False
    """True where the sample has its full length, or goes to the end of the page."""

    @property
    def noindex(self) -> bool:
        """True where no crawler may index the page; dates of `unavailable_after` are not looked at."""
        return any(not denial.agent and denial.until is None for denial in self.denials)

    @property
    def noindex_agents(self) -> tuple[str, ...]:
        """Crawlers that are denied by name, lower case, each once."""
        return tuple(dict.fromkeys(denial.agent for denial in self.denials if denial.agent and denial.until is None))

    @property
    def modified(self) -> str | None:
        """The page's own date of its last change, as written; the first that is a date."""
        return next((date.written for date in self.dates if date.kind == MODIFIED and date.moment), None)

    @property
    def canonical(self) -> str | None:
        """The first canonical that counts, absolute: of the head, else of the headers."""
        known = [canonical for canonical in self.canonicals if canonical.url and canonical.place is not Place.BODY]
        known.sort(key=lambda canonical: canonical.place is Place.HEADER)
        return known[0].url if known else None


def read_page(body: bytes, headers: Headers, url: str, whole: bool = True) -> PageFacts:
    """The facts of a page that is there. `whole`: False where the body was cut short."""
    content_type = next(iter(headers.get("content-type", ())), None)
    if not is_html(content_type):
        return page_of(None, headers, url)
    reader = HeadReader(content_type, sample=SAMPLE)
    reader.feed(body)
    return page_of(reader.close(whole), headers, url)


def page_of(head: HtmlHead | None, headers: Headers, url: str) -> PageFacts:
    """The facts of a page from its head and headers.

    `head`: of a `HeadReader`; None for what is no HTML and has none; `HtmlHead()` where no body was asked for, as with
    HEAD: nothing is then known to be missing.
    """
    said = tuple(chain.from_iterable(denials(value, Place.HEADER) for value in headers.get("x-robots-tag", ())))
    linked = tuple(header_canonicals(headers.get("link", ()), url))
    moved = next(filter(None, (refresh(value, url) for value in headers.get("refresh", ()))), None)
    if head is None:
        return PageFacts(url, True, denials=said, canonicals=linked, refresh=moved)
    elements = Elements(head, url)
    return PageFacts(
        url, head.complete, head.encoding, elements.title(), elements.lang(), (*said, *elements.denials()),
        (*elements.canonicals(), *linked), moved or elements.refresh(), tuple(elements.dates()),
        tuple(elements.alternates()), head.broken_by, head.sample, head.sampled,
    )  # fmt: skip


MAX_DELAY = 10**9  # seconds: more than a browser waits
_TIME = re.compile(rf"[{BLANK}]*+(?:([0-9]++)[0-9.]*+|\.[0-9.]*+)(?:(?=[{BLANK};,])[{BLANK}]*+[;,]?+[{BLANK}]*+|\Z)")
_URL = re.compile(rf"(?:url[{BLANK}]*+=[{BLANK}]*+)?+(?:'([^']*+)|\"([^\"]*+)|(.*+))", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refresh:
    """A page that sends its visitor on."""

    delay: int
    """Seconds."""
    url: str | None
    """Where to, absolute; None where that is the page itself, or no web URL."""


def refresh(content: str, base: str) -> Refresh | None:
    """What a refresh says; None where a browser does nothing. `base`: URL that its own is read against."""
    time = _TIME.match(content)
    if time is None:
        return None
    delay = min(int((time[1] or "0")[:10]), MAX_DELAY)
    found = _URL.match(content, time.end())
    reference = (found[1] or found[2] or found[3] or "").strip(BLANK) if found else ""
    return Refresh(delay, urls.resolve(base, reference))


MAX_TITLE = 500  # characters; search engines show some 60
MAX_CANONICALS = 20
MAX_ALTERNATES = 1_000
MAX_DATES = 50
_LINK = re.compile(r"canonical|hreflang", re.IGNORECASE)
"""What is looked for in links; most are styles and icons, and not read any closer."""
_NAMING = ("name", "property", "http-equiv", "itemprop")
_WANTED_NAMES = META_AGENTS | {EVERYBODY, "refresh"} | frozenset(META_DATES)


class Elements:
    """The elements of one head. `url`: where the page is."""

    def __init__(self, head: HtmlHead, url: str) -> None:
        self._tags = head.tags
        self._behind = head.behind
        self._base = self._base_of(url)
        self._metas = list(filter(_is_wanted, (attributes(token.attributes) for token in self._named("meta"))))
        self._links = [attributes(token.attributes) for token in self._named("link") if _LINK.search(token.attributes)]

    def _named(self, name: str) -> Iterator[Token]:
        return (token for token in self._tags if token.name == name)

    def _base_of(self, url: str) -> str:
        for token in self._named("base"):
            href = attributes(token.attributes).get("href")
            if href is not None:
                return urls.resolve(url, href) or url
        return url

    def title(self) -> str | None:
        """Text of the first title, white space as one blank; also of one that stands behind the head, since browsers
        show it."""
        for token in chain(self._tags, self._behind):
            if token.name == "title":
                return " ".join(unescape(token.text[: 4 * MAX_TITLE]).split())[:MAX_TITLE]
        return None

    def lang(self) -> str | None:
        """Language of the document as written; in XHTML it may be `xml:lang` alone."""
        for token in self._named("html"):
            known = attributes(token.attributes)
            return (known.get("lang") or known.get("xml:lang") or "").strip()[:100] or None
        return None

    def denials(self) -> Iterator[Denial]:
        """What robots elements forbid, those behind the head included: whether they count is not documented, and none
        stands there for nothing."""
        for meta in self._metas:
            yield from _meta_denials(meta, Place.HEAD)
        for token in self._behind:
            if token.name == "meta":
                yield from _meta_denials(attributes(token.attributes), Place.BODY)

    def canonicals(self) -> list[Canonical]:
        """Canonicals of link elements, those behind the head after the others."""
        behind = [attributes(token.attributes) for token in self._behind if token.name == "link"]
        found = chain(
            (element_canonical(link, self._base, Place.HEAD) for link in self._links),
            (element_canonical(link, self._base, Place.BODY) for link in behind),
        )
        return list(islice(filter(None, found), MAX_CANONICALS))

    def refresh(self) -> Refresh | None:
        """The first meta refresh that a browser obeys."""
        for meta in self._metas:
            found = refresh(meta.get("content", ""), self._base) if _is_refresh(meta) else None
            if found is not None:
                return found
        return None

    def dates(self) -> list[PageDate]:
        """Dates of `<meta>` elements, then of JSON-LD."""
        metas = chain.from_iterable(map(meta_dates, self._metas))
        scripts = chain.from_iterable(json_ld_dates(token.text) for token in self._named("script"))
        return list(islice(chain(metas, scripts), MAX_DATES))

    def alternates(self) -> list[tuple[str, str]]:
        """Code and absolute URL of the language versions."""
        known = (link for link in self._links if "alternate" in link.get("rel", "").lower().split())
        coded = ((link.get("hreflang", "").strip(), link) for link in known)
        found = ((code, urls.resolve(self._base, link.get("href", ""))) for code, link in coded if code)
        return list(islice(((code, url) for code, url in found if url), MAX_ALTERNATES))


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
