"""What a page says of itself, in its head and in the headers of its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sitemapcrawler.replies.page import canonical
from sitemapcrawler.replies.page.canonical import Canonical
from sitemapcrawler.replies.page.dates import MODIFIED, PageDate
from sitemapcrawler.replies.page.directives import Denial, Place, denials
from sitemapcrawler.replies.page.elements import Elements, Refresh, refresh
from sitemapcrawler.replies.page.head import SAMPLE, Head, HeadReader, is_html
from sitemapcrawler.robots.text import escaped

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
        return escaped(value.decode("utf-8", "surrogateescape")) if is_url else value.decode("latin-1")


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


def page_of(head: Head | None, headers: Headers, url: str) -> PageFacts:
    """The facts of a page from its head and headers.

    `head`: of a `HeadReader`; None for what is no HTML and has none; `Head()` where no body was asked for, as with
    HEAD: nothing is then known to be missing.
    """
    said = tuple(chain.from_iterable(denials(value, Place.HEADER) for value in headers.get("x-robots-tag", ())))
    linked = tuple(canonical.of_headers(headers.get("link", ()), url))
    moved = next(filter(None, (refresh(value, url) for value in headers.get("refresh", ()))), None)
    if head is None:
        return PageFacts(url, True, denials=said, canonicals=linked, refresh=moved)
    elements = Elements(head, url)
    return PageFacts(
        url, head.complete, head.encoding, elements.title(), elements.lang(), (*said, *elements.denials()),
        (*elements.canonicals(), *linked), moved or elements.refresh(), tuple(elements.dates()),
        tuple(elements.alternates()), head.broken_by, head.sample, head.sampled,
    )  # fmt: skip
