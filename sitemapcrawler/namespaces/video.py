"""Google's video namespace. Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.namespaces.element import Element, Fields, attributed, fill, nested, text

URI = "http://www.google.com/schemas/sitemap-video/1.1"


@dataclass(slots=True)
class Video:
    """One `<video:video>`; every value as written, white space stripped.

    An element that carries attributes is {`value`, and each attribute}.
    """

    thumbnail_loc: str | None = None
    """URL of the thumbnail image."""
    title: str | None = None
    """Title."""
    description: str | None = None
    """Description, 2,048 characters at most."""
    content_loc: str | None = None
    """URL of the media file."""
    player_loc: str | dict[str, str] | None = None
    """URL of the player; with the retired attributes {`value`, `allow_embed`, `autoplay`}."""
    duration: str | None = None
    """Length in seconds, 1 to 28,800."""
    expiration_date: str | None = None
    """Last day the video is available (W3C Datetime)."""
    rating: str | None = None
    """Rating, 0.0 to 5.0."""
    view_count: str | None = None
    """Number of views."""
    publication_date: str | None = None
    """When the video was published (W3C Datetime)."""
    family_friendly: str | None = None
    """yes or no."""
    restriction: dict[str, str] | None = None
    """{`value`: ISO 3166 country codes separated by blanks, `relationship`: allow or deny}."""
    platform: dict[str, str] | None = None
    """{`value`: web, mobile, tv separated by blanks, `relationship`: allow or deny}."""
    requires_subscription: str | None = None
    """yes or no."""
    uploader: dict[str, str] | None = None
    """{`value`: name, 255 characters at most, `info`: URL}."""
    live: str | None = None
    """yes or no."""
    tag: list[str] = field(default_factory=list)
    """Tags, 32 at most."""
    category: str | None = None
    """Category (retired 2022)."""
    gallery_loc: dict[str, str] | None = None
    """{`value`: URL, `title`} of the gallery (retired 2022)."""
    price: list[dict[str, str]] = field(default_factory=list)
    """Prices: {`value`, `currency`, `type`, `resolution`} (retired 2022)."""
    tvshow: dict[str, str] | None = None
    """{`show_title`, `video_type`, `episode_title`, `season_number`, `episode_number`,
    `premier_date`} (retired 2022)."""
    id: list[dict[str, str]] = field(default_factory=list)
    """Identifiers: {`value`, `type`} (retired)."""
    content_segment_loc: list[dict[str, str]] = field(default_factory=list)
    """Parts of the media file: {`value`: URL, `duration`: seconds} (retired)."""
    extra: list[dict[str, Any]] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


def _player(element: Element) -> str | dict[str, str]:
    return attributed(element) if element.attributes else element.text


TEXTS = (
    "thumbnail_loc", "title", "description", "content_loc", "duration", "expiration_date", "rating", "view_count",
    "publication_date", "family_friendly", "requires_subscription", "live", "tag", "category",
)  # fmt: skip
ATTRIBUTED = ("restriction", "platform", "uploader", "gallery_loc", "price", "id", "content_segment_loc")
FIELDS: Fields = {
    **dict.fromkeys(TEXTS, text),
    **dict.fromkeys(ATTRIBUTED, attributed),
    "player_loc": _player,
    "tvshow": nested,
}


def read(element: Element) -> Video | None:
    """The video a `<video:video>` states; None for another element of the namespace."""
    if element.name != "video":
        return None
    video = Video()
    fill(video, element, FIELDS)
    return video
