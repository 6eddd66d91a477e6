"""Media RSS in feeds: images and videos of an item. Source: https://www.rssboard.org/media-rss"""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.element import Element
from sitemapcrawler.namespaces.image import Image
from sitemapcrawler.namespaces.video import Video

URI = "http://search.yahoo.com/mrss/"
GROUP = "group"


def read(item: Element) -> tuple[list[Image], list[Video]]:
    """Images and videos of a feed item, as the image and video namespaces would state them.

    What is neither (audio, documents, ratings, credits) stays with the item's `extra`.
    """
    images: list[Image] = []
    videos: list[Video] = []
    for content, around in _contents(item):
        if _is(content, "image"):
            images.append(Image(content.attributes.get("url"), title=_text("title", content, *around)))
        elif _is(content, "video"):
            videos.append(_video(content, around))
    return images, videos


def _contents(item: Element) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    """Each `media:content` with the elements whose titles and thumbnails it shares, the nearest first."""
    for child in item.children:
        if child.uri == URI and child.name == "content":
            yield child, (item,)
        elif child.uri == URI and child.name == GROUP:
            yield from ((content, (child, item)) for content in child.children if content.name == "content")


def _is(content: Element, medium: str) -> bool:
    given = content.attributes.get("medium")
    return given == medium or (given is None and content.attributes.get("type", "").startswith(f"{medium}/"))


def _video(content: Element, around: tuple[Element, ...]) -> Video:
    places = (content, *around)
    return Video(
        thumbnail_loc=_attribute("thumbnail", "url", *places),
        title=_text("title", *places),
        description=_text("description", *places),
        content_loc=content.attributes.get("url"),
        player_loc=_attribute("player", "url", *places),
        duration=content.attributes.get("duration"),
    )


def _named(name: str, places: tuple[Element, ...]) -> Iterator[Element]:
    for place in places:
        yield from (child for child in place.children if child.uri == URI and child.name == name)


def _text(name: str, *places: Element) -> str | None:
    return next((element.text for element in _named(name, places)), None)


def _attribute(name: str, attribute: str, *places: Element) -> str | None:
    return next((element.attributes.get(attribute) for element in _named(name, places)), None)
