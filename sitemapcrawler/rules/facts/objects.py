"""The images, videos and articles of an entry, each with the element it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import TypeVar

from sitemapcrawler.namespaces import find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import IMAGE, NEWS, VIDEO, Image, News, Video
from sitemapcrawler.rules.facts.fields import is_in_feed
from sitemapcrawler.rules.facts.given import UrlFacts

Object = TypeVar("Object")


def images(entry: UrlFacts) -> Iterable[tuple[Image, Element | None]]:
    """The images in document order; without an element where the entry was recovered."""
    held = entry.record.images
    return _pairs(entry, held, IMAGE, "image") if held else ()


def videos(entry: UrlFacts) -> Iterable[tuple[Video, Element | None]]:
    """The videos in document order; without an element where the entry was recovered."""
    held = entry.record.videos
    return _pairs(entry, held, VIDEO, "video") if held else ()


def articles(entry: UrlFacts) -> Iterable[tuple[News, Element | None]]:
    """The article, which is the first one of the entry; without an element where the entry was recovered."""
    held = entry.record.news
    return _pairs(entry, (held,), NEWS, "news") if held is not None else ()


def elements(entry: UrlFacts, uri: str, name: str) -> list[Element]:
    """The entry's own elements of this name and namespace, however its URI is written."""
    whole = entry.element
    return [] if whole is None else [child for child in whole.children if child.name == name and _means(child, uri)]


def _pairs(entry: UrlFacts, objects: Sequence[Object], uri: str, name: str) -> Iterable[tuple[Object, Element | None]]:
    if is_in_feed(entry):  # where they come from Media RSS, which has rules of its own
        return ()
    return zip(objects, chain(elements(entry, uri, name), repeat(None)), strict=False)


def _means(element: Element, uri: str) -> bool:
    if element.uri == uri:
        return True
    namespace = find(element.uri)
    return namespace is not None and namespace.uri == uri


def parts(element: Element, *path: str) -> list[Element]:
    """The elements on a path of names in the element's own namespace."""
    found = [element]
    for name in path:
        below = (child for above in found for child in above.children)
        found = [child for child in below if child.name == name and child.uri == element.uri]
    return found


def line_of(element: Element | None, *path: str) -> int | None:
    """Line of the first element on a path of names, or of the last one above it; None without an element."""
    while element is not None:
        found = parts(element, *path)
        if found:
            return found[0].line
        path = path[:-1]
    return None


def lacks(element: Element | None, *path: str) -> bool:
    """True where no element on a path of names has content. Content that is no text is left to the schema.

    False without an element: a recovered entry may have lost what is not there.
    """
    return element is not None and not any(part.text or part.has_children for part in parts(element, *path))


def stray(element: Element | None, name: str) -> str:
    """A remark on a child of this name in another namespace: the usual reason why one is missing."""
    found = element is not None and any(child.name == name and child.uri != element.uri for child in element.children)
    return f" (there is a <{name}> of another namespace)" if found else ""
