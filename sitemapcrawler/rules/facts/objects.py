"""Fields, images, videos and articles of an entry, with the XML elements they were read from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Literal, NamedTuple, TypeVar

from sitemapcrawler.namespaces import CORE, find
from sitemapcrawler.namespaces.element import BLANKS, Element
from sitemapcrawler.namespaces.extensions import IMAGE, NEWS, VIDEO, Image, News, Video
from sitemapcrawler.reader.entries import FIELDS
from sitemapcrawler.reader.formats import ATOM, DATES, DUBLIN_CORE, RSS, URLSET, format_named
from sitemapcrawler.rules.facts.given import MARKS, EntryFacts, FileFacts, UrlFacts
from sitemapcrawler.rules.facts.written import Standard
from sitemapcrawler.urls.display import quoted
from sitemapcrawler.urls.grammar import AMPERSAND, BLANK, ENTITY, Form, fault_of, form_of

Object = TypeVar("Object")


def images(entry: UrlFacts, brief: bool = False) -> Iterable[tuple[Image, Element | None]]:
    """Return the images in document order. The element is None if the entry was recovered. `brief`: leave out all
    elements, which have to be parsed."""
    held = entry.record.images
    return _pairs(entry, held, IMAGE, "image", brief) if held else ()


def videos(entry: UrlFacts, brief: bool = False) -> Iterable[tuple[Video, Element | None]]:
    """Return the videos in the same way."""
    held = entry.record.videos
    return _pairs(entry, held, VIDEO, "video", brief) if held else ()


def articles(entry: UrlFacts, brief: bool = False) -> Iterable[tuple[News, Element | None]]:
    """Return the first article of the entry, if any, in the same way."""
    held = entry.record.news
    return _pairs(entry, (held,), NEWS, "news", brief) if held is not None else ()


def elements(entry: UrlFacts, uri: str, name: str) -> list[Element]:
    """Return the entry's children with this name and namespace, including known variants of the namespace URI."""
    whole = entry.element
    return [] if whole is None else [child for child in whole.children if child.name == name and _means(child, uri)]


def _pairs(
    entry: UrlFacts, objects: Sequence[Object], uri: str, name: str, brief: bool
) -> Iterable[tuple[Object, Element | None]]:
    if is_in_feed(entry):  # they come from Media RSS, which has its own rules
        return ()
    found = () if brief else elements(entry, uri, name)
    return zip(objects, chain(found, repeat(None)), strict=False)


def _means(element: Element, uri: str) -> bool:
    if element.uri == uri:
        return True
    namespace = find(element.uri)
    return namespace is not None and namespace.uri == uri


def parts(element: Element, *path: str) -> list[Element]:
    """Return the elements at a path of names in the element's own namespace."""
    found = [element]
    for name in path:
        below = (child for above in found for child in above.children)
        found = [child for child in below if child.name == name and child.uri == element.uri]
    return found


def line_of(element: Element | None, *path: str) -> int | None:
    """Line of the first element at a path of names, or of its nearest ancestor that exists; None without an element."""
    while element is not None:
        found = parts(element, *path)
        if found:
            return found[0].line
        path = path[:-1]
    return None


def lacks(element: Element | None, *path: str) -> bool:
    """True if no element at a path of names has content. Child elements count as content; the schema checks them.

    False without an element: a recovered entry may have lost it.
    """
    return element is not None and not any(part.text or part.has_children for part in parts(element, *path))


def stray(element: Element | None, name: str) -> str:
    """Note on a child of this name in another namespace, the usual reason for a missing element; else empty."""
    found = element is not None and any(child.name == name and child.uri != element.uri for child in element.children)
    return f" (there is a <{name}> of another namespace)" if found else ""


WEB = ("http", "https")

USUAL_ORIGIN = r"https?://(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,3}[a-z]{2,24}"
USUAL_REST = (
    rf"(?:/(?:[A-Za-z0-9\-._~!$'()*+,;=:@/]|%[0-9A-Fa-f]{{2}}|{AMPERSAND})*+)?"
    rf"(?:\?(?:[A-Za-z0-9\-._~!$'()*+,;=:@/?]|%[0-9A-Fa-f]{{2}}|{AMPERSAND})*+)?"
)
USUAL = re.compile(USUAL_ORIGIN + USUAL_REST)
"""A valid URL that was not escaped twice, recognised with one regular expression."""

BLANK_IN_HOST = re.compile(rf"[^:/]*:/*[^/?#]*?{BLANK.pattern}")


class Flaw(NamedTuple):
    """A problem of an image or video URL."""

    kind: Literal["relative", "scheme", "invalid"]
    text: str
    """A sentence with the shortened URL."""
    blank: bool = False
    """True if the URL is valid except for spaces after its host."""


@lru_cache(maxsize=4096)
def flaw(url: str, schemes: tuple[str, ...] = WEB) -> Flaw | None:
    """Check the URL of an image or video, with surrounding whitespace stripped; None if it is valid.

    With a scheme that is not in `schemes`, the rest of the URL is not checked. Cached, since several rules call it.
    """
    if USUAL.fullmatch(url):
        return None
    form = form_of(url)
    if form in (Form.RELATIVE, Form.PROTOCOL_RELATIVE):
        return Flaw("relative", f"{quoted(url)} is not absolute")
    if form is Form.QUOTED:
        return Flaw("invalid", f"{quoted(url)} is not valid: there is other text around the URL")
    scheme = url.partition(":")[0].lower()
    if scheme not in schemes:
        return Flaw("scheme", f"{quoted(url)} has the scheme {scheme}, not {', '.join(schemes[:-1])} or {schemes[-1]}")
    mark = MARKS.search(url)
    if mark is not None:
        return Flaw("invalid", f"{quoted(url)} has a placeholder that was not filled in: {quoted(mark[0])}")
    blank, fault = BLANK.search(url), fault_of("http" + url[len(scheme) :])
    if blank is not None:
        only = fault is None and not BLANK_IN_HOST.match(url)
        return Flaw("invalid", f"{quoted(url)} contains whitespace (U+{ord(blank[0]):04X})", only)
    return None if fault is None else Flaw("invalid", f"{quoted(url)} is not valid: {fault}")


def left_entity(url: str | None) -> str | None:
    """Say which XML entity is left in a URL, since it was escaped twice; None without one."""
    found = ENTITY.search(url) if url else None
    return found and f"{found[0]} is left in {quoted(url or '')} after parsing the XML: it was escaped twice"


def origin_of(url: str) -> str:
    """Everything before the path of an absolute URL, as written."""
    return "/".join(url.split("/", 3)[:3])


def are_usual(urls: Sequence[str], origin: str) -> bool:
    """True for URLs without a `flaw`, recognised with one regular expression: those on the `origin` of a page, if it
    is valid itself, and those on usual hosts."""
    return _usual_lines(origin).fullmatch("\n".join(urls)) is not None


@lru_cache(maxsize=64)
def _usual_lines(origin: str) -> re.Pattern[str]:
    start = USUAL_ORIGIN if flaw(f"{origin}/") else rf"(?:{re.escape(origin)}(?=[/?\n]|\Z)|{USUAL_ORIGIN})"
    return re.compile(rf"{start}{USUAL_REST}(?:\n{start}{USUAL_REST})*+")


IMAGES = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps"


VIDEOS = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps"


def is_in_feed(entry: EntryFacts) -> bool:
    return format_named(entry.file.document.format).is_feed


def field(entry: EntryFacts, name: str) -> Element | None:
    """Return the element that a field was read from; None if it is missing or the XML is not available."""
    element = entry.element if isinstance(entry, UrlFacts) else None
    return None if element is None or is_in_feed(entry) else _fields(element).get(name)


@lru_cache(maxsize=1)
def _fields(element: Element) -> dict[str, Element]:
    """Map field names to the entry's elements, as the reader selects them. Cached, since rules call it in a row."""
    core = (element.uri, CORE, "")
    found: dict[str, Element] = {}
    for part in element.content:
        if not isinstance(part, str) and part.name in FIELDS and part.uri in core and not part.has_children:
            found.setdefault(part.name, part)
    return found


def date_of(entry: EntryFacts) -> Element | None:
    """Return the element that dates an entry: its lastmod, or in a feed the first date that is not empty."""
    if not is_in_feed(entry):
        return field(entry, "lastmod")
    element = entry.element if isinstance(entry, UrlFacts) else None
    return None if element is None else _date(element)


@lru_cache(maxsize=1)
def _date(item: Element) -> Element | None:
    known = [child for child in item.children if child.name in DATES and child.uri in (*ATOM, *RSS, *DUBLIN_CORE)]
    dates = sorted(known, key=lambda child: DATES.index(child.name))
    return next((child for child in dates if child.text), dates[0] if dates else None)


def standard_of(entry: EntryFacts) -> Standard:
    """Date format that applies to an entry."""
    if not is_in_feed(entry):
        return Standard.W3C
    element = date_of(entry)
    if element is None:  # the entry was read after a repair
        return Standard.W3C if (entry.record.lastmod or "")[:4].isdigit() else Standard.RFC822
    if element.name == "pubDate":
        return Standard.RFC822
    return Standard.RFC3339 if element.uri == ATOM[0] else Standard.W3C


def raw_text(element: Element) -> str:
    """Return the text of an element as written."""
    return "".join(part for part in element.content if isinstance(part, str))


def text_of(element: Element) -> str:
    """Return the text without surrounding XML whitespace; other spaces such as U+00A0 stay."""
    return raw_text(element).strip(BLANKS)


EXPLAINING = (
    "xml-entry-without-loc", "xml-entry-ignored", "xml-unknown-element",
    "loc-empty", "loc-invalid-uri", "loc-placeholder",
)  # fmt: skip
"""Faults that explain a file without entries."""


def is_empty_urlset(file: FileFacts) -> bool:
    """True for a urlset without entries and without a fault that explains it."""
    empty = file.format is URLSET and not file.record.url_count
    return empty and not any(rule in file.document.faults for rule in EXPLAINING)


def declares_news(file: FileFacts) -> bool:
    """True if the file declares Google's news namespace, including known variants of its URI."""
    return any((namespace := find(uri)) is not None and namespace.uri == NEWS for uri in file.document.namespaces)
