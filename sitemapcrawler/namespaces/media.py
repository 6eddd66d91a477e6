"""Reads Media RSS in feeds: images and videos of an item. Source: https://www.rssboard.org/media-rss"""

from __future__ import annotations

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import Image, Video

MEDIA = "http://search.yahoo.com/mrss/"
GROUP = "group"


def media_of(item: Element) -> tuple[list[Image], list[Video]]:
    """Return the images and videos of a feed item, as the image and video namespaces would state them.

    Other media (audio, documents, ratings, credits) stay in the item's `extra`.
    """
    images: list[Image] = []
    videos: list[Video] = []
    shared = _firsts(item)
    for child in item.children:
        if child.uri == MEDIA and child.name == "content":
            _add(child, (shared,), images, videos)
        elif child.uri == MEDIA and child.name == GROUP:
            group = _firsts(child)
            for content in child.children:
                if content.name == "content":
                    _add(content, (group, shared), images, videos)
    return images, videos


Firsts = dict[str, Element]
"""Name -> the first child of that name."""


def _firsts(element: Element) -> Firsts:
    firsts: Firsts = {}
    for child in element.children:
        if child.uri == MEDIA:
            firsts.setdefault(child.name, child)
    return firsts


def _add(content: Element, around: tuple[Firsts, ...], images: list[Image], videos: list[Video]) -> None:
    """Add the image or video of a `media:content`. Titles and thumbnails may come from `around`, nearest first."""
    places = (_firsts(content), *around)
    if _is(content, "image"):
        images.append(Image(content.attributes.get("url"), title=_text("title", places)))
    elif _is(content, "video"):
        videos.append(_video(content, places))


def _is(content: Element, medium: str) -> bool:
    given = content.attributes.get("medium")
    return given == medium or (given is None and content.attributes.get("type", "").startswith(f"{medium}/"))


def _video(content: Element, places: tuple[Firsts, ...]) -> Video:
    return Video(
        thumbnail_loc=_url("thumbnail", places),
        title=_text("title", places),
        description=_text("description", places),
        content_loc=content.attributes.get("url"),
        player_loc=_url("player", places),
        duration=content.attributes.get("duration"),
    )


def _nearest(name: str, places: tuple[Firsts, ...]) -> Element | None:
    return next((place[name] for place in places if name in place), None)


def _text(name: str, places: tuple[Firsts, ...]) -> str | None:
    element = _nearest(name, places)
    return None if element is None else element.text


def _url(name: str, places: tuple[Firsts, ...]) -> str | None:
    element = _nearest(name, places)
    return None if element is None else element.attributes.get("url")
