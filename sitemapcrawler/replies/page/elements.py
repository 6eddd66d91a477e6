"""What the elements of a head say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain, islice

from sitemapcrawler import urls
from sitemapcrawler.replies.page import canonical, dates, directives
from sitemapcrawler.replies.page.canonical import Canonical
from sitemapcrawler.replies.page.dates import META_DATES, PageDate
from sitemapcrawler.replies.page.directives import EVERYBODY, META_AGENTS, Denial, Place
from sitemapcrawler.replies.page.head import Head
from sitemapcrawler.replies.page.markup import BLANK, Token, attributes

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

    def __init__(self, head: Head, url: str) -> None:
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
            yield from _denials(meta, Place.HEAD)
        for token in self._behind:
            if token.name == "meta":
                yield from _denials(attributes(token.attributes), Place.BODY)

    def canonicals(self) -> list[Canonical]:
        """Canonicals of link elements, those behind the head after the others."""
        behind = [attributes(token.attributes) for token in self._behind if token.name == "link"]
        found = chain(
            (canonical.of_element(link, self._base, Place.HEAD) for link in self._links),
            (canonical.of_element(link, self._base, Place.BODY) for link in behind),
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
        metas = chain.from_iterable(map(dates.of_meta, self._metas))
        scripts = chain.from_iterable(dates.of_json_ld(token.text) for token in self._named("script"))
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


def _denials(meta: dict[str, str], place: Place) -> Iterator[Denial]:
    name = meta.get("name", "").strip().lower()
    if name == EVERYBODY or name in META_AGENTS:
        yield from directives.denials(meta.get("content", ""), place, "" if name == EVERYBODY else name)
