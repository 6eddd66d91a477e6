"""What the hreflang rules see of one entry: the links to its language versions, worked out once for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sitemapcrawler.namespaces import find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import HREFLANG, Alternate, alternate_of
from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.facts.languages import Code, read_code
from sitemapcrawler.urls import resolve, visit_key

GOOGLE = "https://developers.google.com/search/docs/specialty/international/localized-versions"
USUAL_URL = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(?:/[!-~]*)?")
"""An absolute URL that needs no second look."""
NORMAL_URL = re.compile(r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/[!$&(-;=?-Z_a-z~]*")
"""A URL that normalisation leaves as it is: without user, port, fragment, escapes, and what a request escapes."""
UNRESERVED = re.compile(r"%(?:2D|2E|3[0-9]|4[1-9A-F]|5[0-9A]|5F|6[1-9A-F]|7[0-9A]|7E)")
"""Escapes that mean the same as their character. Source: RFC 3986, 6.2.2.2."""
APPS = re.compile(r"(?:android|ios)-app:", re.IGNORECASE)
"""Deep links into apps, which are no pages."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a language version that is not spotless at first sight."""

    position: int
    """Which of the entry's alternates it is, from 0."""
    alternate: Alternate
    code: Code
    """Its code; an empty one where it has none."""
    url: str | None
    """Its absolute URL; None where there is none."""

    @property
    def counts(self) -> bool:
        """True where it names a language and a page; one with a `media` is another form of a page that counts."""
        return self.code.counts and self.url is not None and "media" not in self.alternate.attributes


class Cluster:
    """The language versions that one entry lists."""

    def __init__(self, entry: UrlFacts) -> None:
        self.loc = entry.record.loc
        self.odd: list[Link] = []
        """Links that something may be said about, in document order."""
        self.codes: list[str] = []
        """Codes of the links that count, in their usual spelling."""
        self.urls: list[str] = []
        """Their URLs."""
        self.positions: list[int] = []
        """Their places among the alternates."""
        self._entry = entry
        for position, alternate in enumerate(entry.record.alternates):
            self._add(position, alternate)

    def _add(self, position: int, alternate: Alternate) -> None:
        value, href = alternate.hreflang, alternate.href
        if value is not None and href is not None and alternate.rel is None and not alternate.attributes:
            code = read_code(value)
            if code.usual and USUAL_URL.fullmatch(href) is not None:
                self._count(position, value, href)
                return
        if _is_version(alternate):
            link = Link(position, alternate, read_code(value or ""), resolve(self._entry.file.place, href or ""))
            self.odd.append(link)
            if link.counts:
                self._count(position, link.code.canonical or "", link.url or "")

    def _count(self, position: int, code: str, url: str) -> None:
        self.codes.append(code)
        self.urls.append(url)
        self.positions.append(position)

    @cached_property
    def lists_self(self) -> bool:
        """True where one of the links, whatever its code, leads to the entry's own page."""
        if self.loc in self.urls:
            return True
        page = page_key(self.loc)
        return any(page_key(url) == page for url in self._all_urls())

    @cached_property
    def nearly_self(self) -> str | None:
        """A linked URL that differs from the entry's own by scheme, `www`, case or a final slash only."""
        if self.lists_self:
            return None
        rough = _rough(self.loc)
        return next((url for url in self._all_urls() if _rough(url) == rough), None)

    def _all_urls(self) -> Iterator[str]:
        yield from self.urls
        yield from (link.url for link in self.odd if link.url is not None)

    def line_of(self, position: int) -> int | None:
        """Line of an alternate; None where the XML is not at hand."""
        return self._lines[position] if position < len(self._lines) else None

    @cached_property
    def _lines(self) -> Sequence[int]:
        element = self._entry.element
        return [child.line for child in element.children if _is_alternate(child)] if element is not None else ()


def cluster_of(entry: UrlFacts) -> Cluster | None:
    """The cluster of an entry, made once for all rules; None where it lists no language versions."""
    if not entry.record.alternates:
        return None
    known = vars(entry)
    if "cluster" not in known:
        known["cluster"] = Cluster(entry)
    made: Cluster = known["cluster"]
    return made


def page_key(url: str) -> str:
    """The key by which two URLs are the same page: host, port and escapes normalised; a final slash is a difference.

    Source: RFC 3986, 6.2.2.
    """
    if NORMAL_URL.fullmatch(url):
        return url
    return UNRESERVED.sub(lambda escape: chr(int(escape[0][1:], 16)), visit_key(url))


def _rough(url: str) -> str:
    place, slash, path = page_key(url).partition("://")[2].lower().partition("/")
    return place.removeprefix("www.") + (slash + path).rstrip("/")


def _is_version(alternate: Alternate) -> bool:
    """False for links to an app, and for those to other forms of a page, such as a feed, that name no language."""
    href = alternate.href or ""
    if APPS.match(href):
        return False
    other = "type" in alternate.attributes or (SCHEME.match(href) is not None and not href.lower().startswith("http"))
    return alternate.hreflang is not None or not other


def _is_alternate(element: Element) -> bool:
    namespace = find(element.uri)
    return namespace is not None and namespace.uri == HREFLANG and alternate_of(element) is not None
